"""Peers that misbehave: an upstream that acts by a script, and a client on a raw socket."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import h11

from tests.peers.serving import HOST, PATIENCE
from translate import Append, Close, Event, Failure, Finish, Open
from translate.engine.translator import EventWriter

SECRET = "où est la clé"
"""Content: never logged."""
REPORTED = "the model is overloaded"
"""What the stream itself reports: its clients are told, the log is not."""


@dataclass(frozen=True)
class Wire:
    """What an upstream of a format says."""

    format: str

    def said(self, *events: Event) -> list[bytes]:
        """The units of each event."""
        writer = EventWriter(self.format, clock=lambda: 0, loss="drop")
        return [b"".join(writer.feed(event)) for event in events]

    @cached_property
    def turn(self) -> list[bytes]:
        return self.said(Open("text"), Append(SECRET), Append("é!"), Close(), Finish())

    @cached_property
    def begin(self) -> bytes:
        """The first units; the last of them holds content."""
        return self.turn[0] + self.turn[1]

    @cached_property
    def more(self) -> bytes:
        """One unit of the same part."""
        return self.turn[2]

    @cached_property
    def rest(self) -> bytes:
        """The end of the part and of the stream."""
        return self.turn[3] + self.turn[4]

    @cached_property
    def whole(self) -> bytes:
        return b"".join(self.turn)

    @cached_property
    def failure(self) -> bytes:
        """A stream that is nothing but a failure, as a first unit and as a later one."""
        unit = self.said(Failure(429, REPORTED, "Overloaded"))[0]
        return unit[unit.rindex(b"event: error") :] if b"event: error" in unit else unit

    @cached_property
    def lump(self) -> bytes:
        """More units of the same part."""
        return b"".join(self.said(Open("text"), *[Append("x" * 1000)] * 10)[2:])

    @cached_property
    def parts(self) -> bytes:
        """Many whole parts: more than sockets hold."""
        part = (Open("text"), Append(SECRET + "x" * 1000), Close())
        return b"".join(self.said(*(part * 600)))


Step: TypeAlias = bytes | float | Callable[[Wire], bytes] | Literal["reset", "half-close"]
"""Bytes are sent, a number is waited for in seconds; half-closed, the connection waits for the other side."""


def head(kind: str = "text/event-stream", *, status: str = "200 OK", **fields: str) -> bytes:
    """A head; of a body in chunks, unless a length is given."""
    lines = [f"HTTP/1.1 {status}", *([f"content-type: {kind}"] if kind else [])]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    if "content_length" not in fields:
        lines.append("transfer-encoding: chunked")
    return "\r\n".join([*lines, "", ""]).encode()


def chunk(data: bytes | str | Callable[[Wire], bytes]) -> Callable[[Wire], bytes]:
    """A chunk of HTTP: bytes, what a function gives, or attributes of the wire, joined by ``+``."""

    def made(wire: Wire) -> bytes:
        if isinstance(data, str):
            body = b"".join(getattr(wire, name) for name in data.split("+"))
        else:
            body = data if isinstance(data, bytes) else data(wire)
        return b"%x\r\n%b\r\n" % (len(body), body)

    return made


@dataclass
class Upstream:
    """What an upstream saw."""

    url: str
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    connections: int = 0
    requests: int = 0
    open: int = 0


@asynccontextmanager
async def upstream(wire: Wire, steps: Sequence[Step] | Literal["refuse", "no answer"]) -> AsyncIterator[Upstream]:
    """An upstream that does the same for each request."""
    with socket.create_server((HOST, 0), backlog=0 if steps == "no answer" else 8) as listener:
        seen = Upstream(f"http://{HOST}:{listener.getsockname()[1]}")
        if isinstance(steps, str):
            if steps == "refuse":
                listener.close()
            fillers = [] if steps == "refuse" else _fill(listener)
            try:
                yield seen
            finally:
                for each in fillers:
                    each.close()
            return
        acting: set[asyncio.Task[None]] = set()

        async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            acting.add(task)
            seen.connections += 1
            seen.open += 1
            try:
                with suppress(ConnectionError, asyncio.IncompleteReadError):
                    while True:
                        await reader.readuntil(b"\r\n\r\n")
                        seen.requests += 1
                        seen.asked.set()
                        if not await _acted(writer, wire, steps):
                            break
                    await reader.read()
            finally:
                seen.open -= 1
                writer.transport.abort()

        server = await asyncio.start_server(act, sock=listener)
        try:
            yield seen
        finally:
            server.close()
            for task in acting:
                task.cancel()
            await asyncio.gather(*acting, return_exceptions=True)


async def _acted(writer: asyncio.StreamWriter, wire: Wire, steps: Sequence[Step]) -> bool:
    """Whether another request may follow."""
    for step in steps:
        if step == "reset":
            sock = writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            raise ConnectionResetError
        if step == "half-close":
            writer.write_eof()
            return False
        if isinstance(step, (int, float)):
            await asyncio.sleep(step)
        else:
            assert not isinstance(step, str)
            writer.write(step if isinstance(step, bytes) else step(wire))
            await writer.drain()
    return True


def _fill(listener: socket.socket) -> list[socket.socket]:
    """Connections that wait to be accepted, as many as may."""
    waiting = []
    for _ in range(4):
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(listener.getsockname())
        waiting.append(one)
    return waiting


# ---- the client ----------------------------------------------------------------------------------------------


@dataclass
class Answer:
    """What a client was answered."""

    status: int | None = None
    fields: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    ended: bool = False
    """Whether the answer was whole."""


class Client:
    """A client on a socket with little room."""

    def __init__(self, port: int) -> None:
        self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.sock.setblocking(False)
        self._port = port
        self._loop = asyncio.get_running_loop()

    async def send(self, data: bytes) -> None:
        """Connect, and send."""
        await self._loop.sock_connect(self.sock, (HOST, self._port))
        with suppress(ConnectionError):
            await self._loop.sock_sendall(self.sock, data)

    async def answer(self) -> Answer:
        """Read to the end of the answer, or of the connection."""
        async with asyncio.timeout(PATIENCE):
            return await self._answer()

    async def _answer(self) -> Answer:
        found, http = Answer(), h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
        http.send(h11.Request(method="POST", target="/", headers=[("host", "h"), ("content-length", "0")]))
        http.send(h11.EndOfMessage())
        with suppress(h11.RemoteProtocolError):
            while not found.ended:
                event = http.next_event()
                if event is h11.NEED_DATA:
                    http.receive_data(await self._received())
                elif isinstance(event, h11.Response):
                    found.status = event.status_code
                    found.fields = {name.decode(): value.decode("latin-1") for name, value in event.headers}
                elif isinstance(event, h11.Data):
                    found.body += event.data
                elif isinstance(event, h11.EndOfMessage):
                    found.ended = True
                else:
                    break
        return found

    async def _received(self) -> bytes:
        try:
            return await self._loop.sock_recv(self.sock, 65536)
        except ConnectionError:
            return b""

    def close(self) -> None:
        """Leave."""
        self.sock.close()
