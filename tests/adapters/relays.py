"""What tests of the relay are made of: a source that follows a script, a receiver that keeps a log, a clock to skip."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
from trio.testing import MockClock

from tests.peers.serving import PATIENCE
from tests.sources import ERROR, FRAMES
from translate import Finding, StreamTimeout, convert
from translate.adapters import Observer, Stats, relay

SRC, DST = "gateway-sse", "unievent-sse"
UNITS = [bytes(unit) for unit in convert(FRAMES, "gateway", SRC)]
"""A stream, unit by unit."""
KEEP_ALIVE = b": keep-alive\n\n"


def now() -> int:
    """A clock that stands still."""
    return 0


def direct(source: Any, src: str = SRC, dst: str = DST) -> bytes:
    """What becomes of a source without a relay."""
    return b"".join(convert(source, src, dst, errors="encode", clock=now))


ONE = b"".join(UNITS)
FAILED = direct([ERROR], "gateway", SRC)
MESS = b"data: {\n\n"


class Feed:
    """A source. Of its script a number is a silence of so many seconds, an exception is raised, an async callable
    awaited for a chunk, and all else is a chunk; then it ends.
    """

    def __init__(self, *script: Any, closing: Callable[[], Awaitable[Any]] = anyio.lowlevel.checkpoint) -> None:
        self.script = list(script)
        self.asked = self.given = self.closed = 0
        self.on_close: Callable[[], None] = lambda: None
        self._closing = closing

    def __aiter__(self) -> Feed:
        return self

    async def __anext__(self) -> Any:
        assert not self.closed
        self.asked += 1
        await anyio.lowlevel.checkpoint()
        while self.script:
            step = self.script.pop(0)
            if isinstance(step, (int, float)):
                await anyio.sleep(step)
                continue
            if isinstance(step, BaseException):
                raise step
            self.given += 1
            if not callable(step):
                return step
            wait: Any = step
            return await wait()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed += 1
        self.on_close()
        await self._closing()


class Receiver:
    """A sink. Of its script, one step a piece, a number is how long it takes, an exception what it raises, and an
    async callable is awaited.
    """

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.pieces: list[bytes] = []
        self.calls = 0
        self.busy = False

    @property
    def data(self) -> bytes:
        return b"".join(self.pieces)

    async def __call__(self, data: bytes) -> None:
        assert not self.busy, "two writes overlap"
        assert isinstance(data, bytes)
        assert data
        self.calls += 1
        self.busy = True
        try:
            await anyio.lowlevel.checkpoint()
            step = self.script.pop(0) if self.script else 0
            if isinstance(step, BaseException):
                raise step
            if callable(step):
                wait: Any = step
                await wait()
            elif step:
                await anyio.sleep(step)
            self.pieces.append(data)
        finally:
            self.busy = False


class Log(Observer):
    """An observer that keeps all it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.units = 0
        self.losses: list[Finding] = []
        self.ended: list[Stats] = []

    def on_start(self, stats: Stats) -> None:
        self.told.append("start")

    def on_unit(self, stats: Stats, count: int, seconds: float) -> None:
        assert count > 0
        assert seconds >= 0
        self.told.append("unit")
        self.units += count
        assert self.units == stats.units

    def on_loss(self, stats: Stats, loss: Finding) -> None:
        self.told.append("loss")
        self.losses.append(loss)

    def on_end(self, stats: Stats) -> None:
        assert stats.outcome is not None
        self.told.append("end")
        self.ended.append(stats)


def tasks() -> set[Any]:
    """Those that run; none on trio, where none can outlive the call that it belongs to."""
    try:
        return asyncio.all_tasks()
    except RuntimeError:
        return set()


async def run(
    source: Any, sink: Any = None, src: str = SRC, dst: str = DST, patience: float = PATIENCE, **options: Any
) -> Stats:
    """Relay a stream, and see that nothing is left of it."""
    before = tasks()
    try:
        with anyio.fail_after(patience):
            return await relay(source, Receiver() if sink is None else sink, src, dst, clock=now, **options)
    finally:
        assert tasks() <= before


def times_out(stats: Stats, phase: str) -> None:
    """A stream did, and says of what."""
    assert stats.outcome == "timed out"
    assert isinstance(stats.failure, StreamTimeout)
    assert (stats.failure.phase, stats.failure.code) == (phase, 504)


def plain(data: bytes) -> bytes:
    """Output without its keep-alives."""
    return data.replace(KEEP_ALIVE, b"")


def simulated(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """A test on trio, in a time that passes only while all wait, and then at once."""

    @functools.wraps(test)
    def run(**arguments: Any) -> None:
        clock = MockClock(autojump_threshold=0)
        anyio.run(functools.partial(test, **arguments), backend="trio", backend_options={"clock": clock})

    return run
