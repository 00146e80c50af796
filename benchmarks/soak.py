"""A sidecar under mixed load for long: whether its memory and its descriptors stay flat, and every answer is right.

``python -m benchmarks.soak --seconds 1800``: streams, whole and paced, clients that leave, that stall, that ask for
what is refused, bodies, upstreams that break off or say errors. Prints a line each so many seconds, then a verdict.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from translate import convert

from .load_ends import HOST, said

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_KINDS = ("whole", "whole", "paced", "leaves", "stalls", "refused", "large", "breaks", "error", "plain", "upload")
_SHORT = 20
_BROKEN = b"HTTP/1.1 429 Slow\r\nretry-after: 1\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


class Soak:
    """The upstream and the clients, on one loop."""

    def __init__(self, clients: int) -> None:
        self.clients = clients
        self.turns = [said(number, 60 if number < _SHORT else 3000) for number in range(_SHORT + 4)]
        self.expected = [b"".join(convert(b"".join(turn), "unievent-sse", "gateway-sse")) for turn in self.turns]
        self.counts: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []
        self.until = 0.0
        self.port = 0

    async def upstream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer requests by what their path asks for: ``/kind/number``."""
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError, ValueError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lengths = [line[15:] for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"]
                await reader.readexactly(sum(map(int, lengths)))
                _, kind, number = head.split(b" ")[1].decode().split("/")
                if kind in ("plain", "upload"):
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\nfine")
                    continue
                if kind == "error":
                    writer.write(_BROKEN)
                    continue
                writer.write(_HEAD)
                for at, unit in enumerate(self.turns[int(number)]):
                    if kind == "breaks" and at == 20:
                        writer.transport.abort()
                        return
                    writer.write(b"%x\r\n%b\r\n" % (len(unit), unit))
                    await writer.drain()
                    if kind in ("paced", "leaves"):
                        await asyncio.sleep(0.02)
                writer.write(b"0\r\n\r\n")
        writer.close()

    async def client(self, number: int) -> None:
        """Ask, again and again."""
        rng = random.Random(number)
        while time.monotonic() < self.until:
            kind, turn = rng.choice(_KINDS), rng.randrange(_SHORT)
            if kind in ("large", "stalls"):
                turn = rng.randrange(_SHORT, len(self.turns))
            try:
                async with asyncio.timeout(60):
                    found = await self.ask(kind, turn, rng)
                self.counts[f"{kind} {found}"] += 1
            except (OSError, asyncio.IncompleteReadError, TimeoutError, ValueError, IndexError) as error:
                self.counts[f"{kind} {type(error).__name__}"] += 1
            await asyncio.sleep(rng.random() * 0.2)

    async def ask(self, kind: str, turn: int, rng: random.Random) -> str:
        """One request; what came of it."""
        reader, writer = await asyncio.open_connection(HOST, self.port)
        try:
            body = b"x" * rng.choice((10, 100_000, 1_000_000)) if kind == "upload" else b"{}"
            target = "/../x" if kind == "refused" else f"/{kind}/{turn}"
            head = f"POST {target} HTTP/1.1\r\nhost: {HOST}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
            first = await reader.readuntil(b"\r\n")
            if kind == "leaves":
                await reader.read(rng.randrange(1, 5000))
                writer.transport.abort()
                return "left"
            if kind == "stalls":
                await asyncio.sleep(rng.random() * 3)
                writer.transport.abort()
                return "left"
            data = await reader.read()
            while piece := await reader.read():
                data += piece
            status = first.split(b" ")[1].decode()
            if kind in ("whole", "paced", "large") and status == "200":
                got = _unchunked(data.partition(b"\r\n\r\n")[2])
                # stamps of time differ
                if got.count(b"\n\n") != self.expected[turn].count(b"\n\n") or f"{turn}.".encode() not in got:
                    self.wrong.append(f"{kind} {turn}: {len(got)} bytes")
            return status
        finally:
            writer.close()


def _unchunked(data: bytes) -> bytes:
    out = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        if not length:
            return out
        out, data = out + data[:length], data[length + 2 :]
    raise ValueError("the body has no end")


def state(pid: int) -> tuple[float, int]:
    """MiB that are resident, and descriptors that are open."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024, len(os.listdir(f"/proc/{pid}/fd"))


async def soak(seconds: float, clients: int, every: float) -> bool:
    """Run, print what there is, and return whether it stayed flat and right."""
    made = Soak(clients)
    server = await asyncio.start_server(made.upstream, HOST, 0)
    there = f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
    options = ["--from", "unievent-sse", "--to", "gateway-sse", "--port", "0", "--log-level", "warning"]
    # a port that is free, as no line of the log says it at this level
    probe = await asyncio.start_server(lambda _, writer: writer.close(), HOST, 0)
    made.port = probe.sockets[0].getsockname()[1]
    probe.close()
    await probe.wait_closed()
    options[options.index("0")] = str(made.port)
    process = subprocess.Popen([sys.executable, "-m", "translate", "serve", "--upstream", there, *options])
    seen: list[tuple[float, int]] = []
    try:
        while True:
            await asyncio.sleep(0.2)
            with suppress(OSError):
                _, writer = await asyncio.open_connection(HOST, made.port)
                writer.close()
                break
        began = time.monotonic()
        made.until = began + seconds
        tasks = [asyncio.create_task(made.client(number)) for number in range(clients)]
        while time.monotonic() < made.until:
            await asyncio.sleep(min(every, max(made.until - time.monotonic(), 0.1)))
            seen.append(state(process.pid))
            told = f"{time.monotonic() - began:6.0f} s  {seen[-1][0]:6.1f} MiB  {seen[-1][1]:4d} descriptors"
            print(told, f" {sum(made.counts.values())} requests, {len(made.wrong)} wrong", flush=True)
        await asyncio.gather(*tasks)
        await asyncio.sleep(3)
        last = state(process.pid)
    finally:
        process.terminate()
        # the upstream goes on meanwhile
        code = await asyncio.to_thread(process.wait, 120)
        server.close()
    for name, count in sorted(made.counts.items()):
        print(f"{count:8d} {name}")
    early, late = seen[len(seen) // 6 : len(seen) // 2], seen[len(seen) // 2 :]
    grown = [max(each[at] for each in late) / max(each[at] for each in early or late) for at in (0, 1)]
    flat = max(grown) <= 1.1
    print(f"after it: {last[0]:.1f} MiB, {last[1]} descriptors; exit {code}; wrong: {made.wrong[:5]}")
    print(f"second half to first: memory {grown[0]:.3f}, descriptors {grown[1]:.3f}; flat: {flat}")
    return flat and not made.wrong and code == 0


def main() -> int:
    """Run as the arguments say."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--clients", type=int, default=60)
    parser.add_argument("--every", type=float, default=30)
    options = parser.parse_args()
    return 0 if asyncio.run(soak(options.seconds, options.clients, options.every)) else 1


if __name__ == "__main__":
    sys.exit(main())
