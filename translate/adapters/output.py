"""The receiver's side of a stream: one thing at a time is written, and what the receiver raises is told apart."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from .budget import SMALL, Share
from .course import WRITES, Course
from .observe import Stats
from .options import Sink

GRACE = 1.0
"""Seconds that a receiver has to take the failure unit of a stream that was ended."""
LEFT = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)
"""What a sink raises when the receiver has left."""


class SinkError(Exception):
    """The sink raised ``error``: no fault of the stream."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error

    @property
    def left(self) -> bool:
        """Whether it says that the receiver has left."""
        return isinstance(self.error, LEFT)


def loop_clock() -> Callable[[], float]:
    """``anyio.current_time`` of the event loop that runs, without its search for the loop at each call."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return anyio.current_time
    if asyncio.current_task() is None:
        # it hosts trio as a guest
        return anyio.current_time
    return time.monotonic if type(loop).time is asyncio.BaseEventLoop.time else loop.time


class Output:
    """A sink, one thing at a time. Every method raises :class:`SinkError` where the sink raises."""

    def __init__(
        self, course: Course, sink: Sink, refuse: Callable[[Exception], Awaitable[None]] | None, stats: Stats
    ) -> None:
        self._course = course
        self._sink = sink
        self._refuse = refuse
        self._stats = stats
        self.held: list[bytes] = []
        """Output that is to be written, once nothing else is."""
        self._idle: anyio.Event | None = None
        """Set when what is being written was, if someone waits for it."""
        self.clock: Callable[[], float] | None = None
        """The clock of ``since`` and ``written``, where someone looks at them."""
        self.since: float | None = None
        """Since when something is being written, ``None`` while nothing is."""
        self.written = 0.0
        """When that was last so."""
        self.spent = 0.0
        """Seconds for which something was being written, in all."""
        self.error: SinkError | None = None

    async def quiet(self) -> None:
        """Wait until nothing is being written."""
        while self._course.receiver in WRITES:
            self._idle = self._idle or anyio.Event()
            await self._idle.wait()

    def put(self, share: Share | None = None) -> Awaitable[None]:
        """Write what is held, when it is quiet. ``share`` has it meanwhile, where it is large: :class:`OverBudget`."""
        held, self.held = self.held, []
        data = held[0] if len(held) == 1 else b"".join(held)
        if share is None or len(data) <= SMALL:
            return self._write("given", self._sink, data, len(data))
        return self._lent(share, data)

    async def _lent(self, share: Share, data: bytes) -> None:
        with share.lent(len(data)):
            await self._write("given", self._sink, data, len(data))

    async def refuse(self, error: Exception) -> None:
        """Answer with ``error`` alone, when it is quiet."""
        assert self._refuse is not None
        await self._write("refused", self._refuse, error, 0)

    async def ping(self, data: bytes) -> None:
        """Write a keep-alive; others wait meanwhile."""
        await self._write("pinged", self._sink, data, len(data))
        self._stats.pings += 1

    async def _write(self, event: str, write: Callable[[Any], Awaitable[None]], what: Any, size: int) -> None:
        course, clock = self._course, self.clock
        course.receives(event)
        if clock is not None:
            self.since = clock()
        try:
            await write(what)
        except Exception as error:
            course.receives("leaves")
            self.error = SinkError(error)
            raise self.error from error
        except BaseException:
            course.receives("tears")
            raise
        else:
            course.receives("takes")
            self._stats.bytes_out += size
            if clock is not None:
                began, self.since, self.written = self.since, None, clock()
                self.spent += self.written - (began or self.written)
        finally:
            if self._idle is not None:
                self._idle.set()
                self._idle = None
