"""The receiver's side of a stream: one thing at a time is written, and what the receiver raises is told apart."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any

import anyio

from .budget import SMALL, Share
from .observe import Stats
from .options import Sink

GRACE = 1.0
"""Seconds that a receiver has to take the failure unit of a stream that was ended."""
LEFT = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)
"""What a sink raises when the receiver has left."""
_NOTHING = nullcontext()


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
        # a loop that hosts trio as a guest runs no task then
        return asyncio.get_running_loop().time if asyncio.current_task() is not None else anyio.current_time
    except RuntimeError:
        return anyio.current_time


class Output:
    """A sink, and what is known of it. Every method raises :class:`SinkError` where the sink raises."""

    def __init__(self, sink: Sink, refuse: Callable[[Exception], Awaitable[None]] | None, stats: Stats) -> None:
        self._sink = sink
        self._refuse = refuse
        self._stats = stats
        self._pinging: anyio.Event | None = None
        self.clock: Callable[[], float] | None = None
        """The clock of ``since`` and ``written``, where someone looks at them."""
        self.since: float | None = None
        """Since when something is being written, ``None`` while nothing is."""
        self.written = 0.0
        """When that was last so."""
        self.spent = 0.0
        """Seconds for which something was being written, in all."""
        self.busy = False
        """Whether the sink has a piece that it has not taken yet; for ever, where that was cancelled: it may be torn.
        """
        self.refused = False
        """Whether the stream was refused: then it has no output."""
        self.error: SinkError | None = None

    @property
    def refusable(self) -> bool:
        """Whether there is another answer than a stream still, and someone who gives it."""
        return self._refuse is not None and not self._stats.bytes_out

    async def quiet(self) -> None:
        """Wait until no keep-alive is being written."""
        while self._pinging is not None:
            await self._pinging.wait()

    async def put(self, data: bytes, share: Share | None = None) -> None:
        """Write a piece, when it is quiet. ``share`` holds it meanwhile, where it is large: :class:`OverBudget`."""
        if self.error is not None:
            raise self.error
        with share.lent(len(data)) if share is not None and len(data) > SMALL else _NOTHING:
            self.busy = True
            await self._write(self._sink, data)
        self._stats.bytes_out += len(data)
        self.busy = False

    async def refuse(self, error: Exception) -> None:
        """Answer with ``error`` alone, once, when it is quiet."""
        if self._refuse is not None and not self.refused:
            self.refused = self.busy = True
            await self._write(self._refuse, error)
            self.busy = False

    async def ping(self, data: bytes) -> None:
        """Write a keep-alive; others wait meanwhile."""
        self._pinging = anyio.Event()
        try:
            await self._write(self._sink, data)
            self._stats.bytes_out += len(data)
            self._stats.pings += 1
        finally:
            self._pinging.set()
            self._pinging = None

    async def _write(self, write: Callable[[Any], Awaitable[None]], what: Any) -> None:
        clock = self.clock
        if clock is not None:
            self.since = clock()
        try:
            await write(what)
        except Exception as error:
            self.error = SinkError(error)
            raise self.error from error
        if clock is not None:
            began, self.since, self.written = self.since, None, clock()
            self.spent += self.written - (began or self.written)
