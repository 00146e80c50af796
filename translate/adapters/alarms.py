"""The waits of a stream, and those that take too long, noticed by a task beside the one that waits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Literal

import anyio

from .observe import Stats
from .options import Timeouts
from .output import GRACE, Output


class Alarms:
    """How long each wait may take, by its name: those of :class:`Timeouts`, and ``ping``. False if none is bounded."""

    def __init__(self, timeouts: Timeouts | None, ping: float | None) -> None:
        limits = timeouts or Timeouts()
        self.seconds = {each.name: seconds for each in fields(limits) if (seconds := getattr(limits, each.name))}
        if ping:
            self.seconds["ping"] = ping

    def __bool__(self) -> bool:
        return bool(self.seconds)

    async def watch(self, since: Callable[[str], float | None], ring: Callable[[str, float], None]) -> None:
        """Call ``ring`` with the name and the seconds of each wait that took too long.

        ``since``: since when a wait goes on, ``None`` where it does not.
        """
        while True:
            now = anyio.current_time()
            wake = math.inf
            for name, seconds in self.seconds.items():
                began = since(name)
                if began is not None and began + seconds <= now:
                    ring(name, seconds)
                    began = now
                wake = min(wake, (now if began is None else began) + seconds)
            await anyio.sleep(wake - now)


@dataclass(slots=True, eq=False)
class Waits:
    """Since when each wait of a stream goes on. Times are those of the event loop.

    | wait | while | since |
    | --- | --- | --- |
    | ``write`` | the receiver takes something | it was given it |
    | ``total`` | the stream runs, or takes longer than ``GRACE`` to say its end | its start |
    | ``first`` | its source is read, no unit has come, and it is a stream | its start |
    | ``between`` | its source is read, and it is a stream | the last unit, or its start, but for what ``write`` took |
    | ``idle`` | its source is read, and the receiver has all of it | the last piece of input, or its start |
    | ``ping`` | its source is read, open unless this is ``eager``, and nothing is written | the last output |

    Where ``first`` is bounded, ``between`` waits for the first unit, and ``idle`` for the first byte.
    """

    output: Output
    stats: Stats
    alarms: Alarms
    eager: bool
    """Whether keep-alives are sent before the source is open."""
    state: Literal["reading", "closing", "done"] = "reading"
    open: bool = False
    """Whether the source is open."""
    passes: bool = False
    """Whether it is no stream."""
    finished: bool = False
    """Whether all was said, or is: whoever runs the stream may take longer."""
    held: bool = False
    """Whether output waits until a keep-alive was taken."""
    start: float = 0.0
    read: float = 0.0
    unit: float = 0.0
    spent: float = 0.0
    """What ``write`` had taken up to ``unit``."""

    def unit_came(self) -> None:
        """The receiver has what came of a unit."""
        self.unit, self.spent = self.read, self.output.spent

    def begin(self) -> None:
        """The stream begins."""
        self.start = self.read = self.unit = self.output.written = anyio.current_time()

    def since(self, wait: str) -> float | None:
        """Since when a wait goes on, ``None`` where it does not."""
        writes = self.output.since
        if wait == "write":
            return writes
        if self.finished:
            late = None if writes is None else writes + GRACE - self.alarms.seconds[wait]
            return late if wait == "total" else None
        reads = self.state == "reading"
        waits = reads and not self.output.busy and not self.held
        first = "first" in self.alarms.seconds and not self.passes
        match wait:
            case "total":
                return self.start
            case "first":
                return self.start if reads and not self.passes and not self.stats.units else None
            case "between":
                taken = self.output.spent - self.spent + (0 if writes is None else anyio.current_time() - writes)
                return self.unit + taken if reads and not self.passes and (self.stats.units or not first) else None
            case "idle":
                return self.read if waits and (self.stats.bytes_in or not first) else None
            case _:
                return self.output.written if reads and writes is None and (self.eager or self.open) else None
