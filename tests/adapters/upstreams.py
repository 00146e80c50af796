"""Sources that a client leaves in a certain state, and that note when they are left."""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any, Literal, TypeAlias, get_args

import anyio
import anyio.lowlevel
from anyio.abc import SocketAttribute, SocketStream

from tests.peers.serving import HOST, PATIENCE
from tests.sources import FRAMES, frame
from translate import convert

State: TypeAlias = Literal["before the first unit", "idle", "in mid-part", "under backpressure"]
STATES: tuple[State, ...] = get_args(State)
UNITS = list(convert(FRAMES, "gateway", "gateway-sse"))
"""A short stream, a unit each."""
LARGE = list(convert([*FRAMES[:2], frame("content", value="x" * 50_000)], "gateway", "gateway-sse", errors="encode"))[2]
"""A large unit amid a part."""
PAUSE = 0.002


class Upstream:
    """A gateway's stream that gets into a state, and stays there until it is left."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.given = 0
        """Chunks that were asked for."""
        self.opened = anyio.Event()
        self.ended = anyio.Event()
        self.left: float | None = None
        """When it was cancelled or closed."""
        self.iterator: weakref.ref[Any] | None = None

    def chunks(self) -> AsyncIterator[bytes]:
        """The stream, as an asynchronous generator."""
        chunks = self._chunks()
        self.iterator = weakref.ref(chunks)
        return chunks

    async def _chunks(self) -> AsyncIterator[bytes]:
        try:
            self.opened.set()
            if self.state != "before the first unit":
                for unit in UNITS[:3]:
                    self.given += 1
                    yield unit
            while self.state in ("in mid-part", "under backpressure"):
                await (anyio.sleep(PAUSE) if self.state == "in mid-part" else anyio.lowlevel.checkpoint())
                self.given += 1
                yield UNITS[2] if self.state == "in mid-part" else LARGE
            await anyio.sleep_forever()
        finally:
            self.leave()

    def leave(self) -> None:
        """Note the time."""
        self.left = perf_counter()
        self.ended.set()


class Head(dict[str, str]):
    """Fields of an answer, in lower case."""

    @property
    def raw(self) -> list[tuple[bytes, bytes]]:
        return [(name.encode(), value.encode()) for name, value in self.items()]


class Answer:
    """The same as a response of an HTTP client that was asked for as a stream: what counts is that it is closed."""

    status_code = 200

    def __init__(self, upstream: Upstream) -> None:
        self.headers = Head({"content-type": "text/event-stream"})
        self.closed = 0
        self._upstream = upstream

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        return self._upstream.chunks()

    aiter_raw = aiter_bytes

    async def aclose(self) -> None:
        self.closed += 1
        self._upstream.leave()


async def stalled(count: Callable[[], int], still: float = 0.02) -> int:
    """Wait until something is no longer counted up."""
    last, since = -1, perf_counter()
    while perf_counter() - since < still:
        if count() != last:
            last, since = count(), perf_counter()
        await anyio.sleep(still / 10)
    return last


@asynccontextmanager
async def gateway(hung_up: Callable[[], None]) -> AsyncIterator[int]:
    """A real server whose answers stop amid a part, and which notes that its client hangs up; its port."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

    async def answer(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(head + b"".join(b"%x\r\n%b\r\n" % (len(unit), unit) for unit in UNITS[:3]))
            try:
                with anyio.fail_after(PATIENCE):
                    await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                hung_up()

    async with await anyio.create_tcp_listener(local_host=HOST) as listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, answer)
        yield listener.extra(SocketAttribute.local_port)
        group.cancel_scope.cancel()
