"""A sidecar among hostile clients: whether anything passes that must not, anything leaks, or anything is left.

``python -m benchmarks.hostile --requests 20000``: targets that climb, framing that two servers read differently, header
fields that end early, names that were made to point here, heads and bodies without an end, chunks that are none,
clients that leave amid anything. Between them honest requests, each of which has to get its own answer. Prints what was
answered, then a verdict.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from .load import started
from .load_ends import HOST
from .soak import state

_PATHS = (
    *(b"/../x", b"/a/../../x", b"/%2e%2e/x", b"/%252e%252e/x", b"/..%2fx", b"/..\\x", b"/%c0%ae%c0%ae/x"),
    *(b"/..;/x", b"/..%00/x", b"/..%20/x", b"//other/x", b"http://other/x", b"/x#y", b"/x\x01y", b"/" + b"x" * 9000),
    *(b"*", b"x", b"/\xff", b"/x y", b"/%u002e./x"),
)
_UNCLEAR = (
    *(b"Content-Length: 5\r\nTransfer-Encoding: chunked", b"Content-Length: 5\r\nContent-Length: 6"),
    *(b"Transfer-Encoding: chunked, chunked", b"Transfer-Encoding: xchunked", b"Transfer-Encoding: identity"),
    *(b"Content-Length: +5", b"Content-Length : 5", b"Content-Length: " + b"9" * 20, b"Transfer_Encoding: chunked"),
    *(b"X: a\x00b", b"X: a\rTransfer-Encoding: chunked", b"X Y: z", b": z", b"X", b"Host: other\r\nHost: another"),
)
_MANY = b"\r\n".join(b"X-%d: yyyyyyyyyyyy" % at for at in range(3000))
_LARGE = (b"X: " + b"y" * 40_000, _MANY, b"Content-Length: 4000000000")
_HOSTS = (b"evil.example", b"127.0.0.1.evil.example", b"[::1", b"localhost:99999", b"a b", b"@localhost", b"\xff")
_CHUNKS = (b"-5\r\nhello\r\n", b"5x\r\nhello\r\n", b"0x5\r\nhello\r\n", b"f" * 21 + b"\r\n", b"5\r\nhelloXX0\r\n\r\n")
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
_ALLOWED = {"honest": b"2", "field": b"2", "noise": b"24"}
"""The classes of status that are no fault."""
_SLOW = 0.3
"""Seconds that a client dawdles before it leaves."""
_PATIENCE = 5.0
"""Seconds after which it leaves a connection that is still open; an honest one has ten times as many."""


def attack(rng: random.Random) -> tuple[str, list[bytes], bool]:
    """What a client does: by name, in pieces, and whether it then leaves without waiting."""

    def head(target: bytes = b"/x", host: bytes = b"localhost", *lines: bytes, method: bytes = b"POST") -> bytes:
        return b"\r\n".join([method + b" " + target + b" HTTP/1.1", b"Host: " + host, *lines, b"", b""])

    def piece() -> bytes:
        return rng.randbytes(rng.randrange(1, 2000))

    whole: dict[str, Callable[[], bytes]] = {
        "climbs": lambda: head(rng.choice(_PATHS)),
        "framing": lambda: head(b"/x", b"localhost", rng.choice(_UNCLEAR)) + SMUGGLED,
        "large": lambda: head(b"/x", b"localhost", rng.choice(_LARGE)),
        "rebinds": lambda: head(b"/x", rng.choice(_HOSTS)),
        "chunks": lambda: head(b"/x", b"localhost", b"Transfer-Encoding: chunked") + rng.choice(_CHUNKS) + SMUGGLED,
        "method": lambda: head(method=rng.choice((b"CONNECT", b"TRACE", b"get", b"\xc3\xa9", b"X" * 99))),
        "noise": piece,
        "cross-site": lambda: head(b"/x", b"localhost", b"Sec-Fetch-Site: cross-site", b"Content-Length: 0"),
        "field": lambda: head(b"/x", b"localhost", b"X-Request-Id: a%0d%0ab", b"Connection: host, x-request-id, close"),
    }
    cut: dict[str, Callable[[], list[bytes]]] = {
        "slow head": lambda: [b"POST /x HTTP/1.1\r\n", b"Host: localho"],
        "slow body": lambda: [head(b"/x", b"localhost", b"Content-Length: 1000000"), piece(), piece()],
        "slow chunks": lambda: [head(b"/x", b"localhost", b"Transfer-Encoding: chunked"), b"5\r\nhe"],
        "leaves": lambda: [head(b"/stream", b"localhost", b"Content-Length: 0")],
    }
    name = rng.choice((*whole, *cut))
    return (name, [whole[name]()], False) if name in whole else (name, cut[name](), True)


class Hostile:
    """The upstream, and the clients."""

    def __init__(self, requests: int) -> None:
        self.left = requests
        self.counts: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []
        self.port = 0

    async def upstream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer what may arrive, and note what may not."""
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                line, *lines = head[:-4].split(b"\r\n")
                fields = [each.partition(b":")[::2] for each in lines]
                lengths = [int(value) for name, value in fields if name.lower() == b"content-length"]
                await reader.readexactly(sum(lengths))
                target = line.split(b" ")[1]
                names = [name.lower() for name, _ in fields]
                if not target.startswith(b"/base/") or b"smuggled" in target or b".." in target:
                    self.wrong.append(f"the upstream was asked {line!r}")
                if names.count(b"host") != 1 or b"transfer-encoding" in names or len(lengths) > 1:
                    self.wrong.append(f"the upstream was sent {names!r}")
                if target == b"/base/stream":
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
                    while True:
                        writer.write(b": still here\n\n")
                        await writer.drain()
                        await asyncio.sleep(0.05)
                said = target.rpartition(b"/")[2]
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(said), said))
        writer.close()

    async def client(self, number: int) -> None:
        """Attack, again and again; now and then ask as one should."""
        rng = random.Random(number)
        while self.left > 0:
            self.left -= 1
            honest = rng.random() < 0.1
            name, pieces, leaves = ("honest", [], False) if honest else attack(rng)
            mark = b"%d-%d" % (number, self.left)
            if honest:
                pieces = [b"GET /%b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % mark]
            found = b""
            with suppress(OSError):
                found = await self.ask(pieces, leaves, 10 * _PATIENCE if honest else _PATIENCE)
            self.counts[f"{name} {found[9:12].decode('latin-1') or '-'}"] += 1
            allowed = _ALLOWED.get(name, b"4")
            if found and found[9:10] not in allowed:
                self.wrong.append(f"{name} got {found[:100]!r} for {pieces[0][:200]!r}")
            if honest and not (found.startswith(b"HTTP/1.1 200") and found.endswith(mark)):
                self.wrong.append(f"an honest request got {found[:100]!r}")
            if b"smuggled" in found:
                self.wrong.append(f"{name} got what was smuggled")

    async def ask(self, pieces: list[bytes], leaves: bool, patience: float = _PATIENCE) -> bytes:
        """All that is answered on a connection of its own."""
        reader, writer = await asyncio.open_connection(HOST, self.port)
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            if leaves:
                await asyncio.sleep(_SLOW)
                return b""
            found = b""
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    while data := await reader.read(1 << 16):
                        found += data
            return found
        finally:
            writer.transport.abort()


async def hostile(requests: int, clients: int) -> bool:
    """Run, print what came of it, and return whether all was as it should be."""
    made = Hostile(requests)
    server = await asyncio.start_server(made.upstream, HOST, 0)
    base = f"http://{HOST}:{server.sockets[0].getsockname()[1]}/base"
    command = ["translate", "serve", "--upstream", base, "--from", "unievent-sse", "--to", "gateway-sse", "--port", "0"]
    with started([*command, "--max-memory", "32M"]) as (process, url, said):
        made.port = urlsplit(url).port or 80
        warm = requests // 5
        made.left = warm
        await asyncio.gather(*(made.client(number) for number in range(clients)))
        await asyncio.sleep(2)
        before = state(process.pid)
        made.left = requests - warm
        await asyncio.gather(*(made.client(clients + number) for number in range(clients)))
        answer = await made.ask([b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"], leaves=False)
        await asyncio.sleep(2)
        after = state(process.pid)
        traces = said().count("Traceback")
        if traces:
            print(said()[said().index("Traceback") - 1000 :][:5000])
        server.close()
    for name, count in sorted(made.counts.items()):
        print(f"{count:8d} {name}")
    print("; ".join(f"{mib:.1f} MiB, {files} descriptors" for mib, files in (before, after)))
    print(f"exit {process.returncode}; tracebacks: {traces}; wrong: {len(made.wrong)}, {made.wrong[:5]}")
    kept = after[0] <= before[0] * 1.1 + 2 and after[1] <= before[1] + 2
    return answer.startswith(b"HTTP/1.1 200") and not made.wrong and not traces and kept and process.returncode == 0


def main() -> int:
    """Run as the arguments say."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hostile", description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=100)
    options = parser.parse_args()
    return 0 if asyncio.run(hostile(options.requests, options.clients)) else 1


if __name__ == "__main__":
    sys.exit(main())
