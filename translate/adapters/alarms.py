"""The waits of a stream, and those that take too long, noticed by a task beside the one that waits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields

import anyio

from .course import Course
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
    """Since when each wait of a stream goes on; whether it does is in the table of :mod:`.course`. Times are those of
    the event loop.

    | wait | is for | since |
    | --- | --- | --- |
    | ``write`` | the receiver, to take something | it was given it |
    | ``total`` | the end; where all was said, ``late``, for the receiver to take it within ``GRACE`` | the start |
    | ``first`` | the first unit | the start |
    | ``between`` | the next unit | the last unit, or the start, but for what ``write`` took |
    | ``idle`` | the next piece of input, once the receiver has all that came before | the last one, or the start |
    | ``ping`` | anything to be written | the last output |

    Where ``first`` is bounded, ``between`` waits for the first unit, and ``idle`` for the first byte.
    """

    course: Course
    output: Output
    stats: Stats
    alarms: Alarms
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
        does, writes = self.course.does(wait), self.output.since
        if does == "-":
            return None
        if does == "late":
            return None if writes is None else writes + GRACE - self.alarms.seconds[wait]
        units, first = self.stats.units, "first" in self.alarms.seconds and self.course.source != "passing"
        match wait:
            case "write":
                return writes
            case "total":
                return self.start
            case "first":
                return None if units else self.start
            case "between":
                taken = self.output.spent - self.spent + (0 if writes is None else anyio.current_time() - writes)
                return self.unit + taken if units or not first else None
            case "idle":
                return self.read if not self.output.held and (self.stats.bytes_in or not first) else None
            case _:
                return self.output.written
