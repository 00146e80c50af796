"""Waits that take too long, noticed by a task beside the one that waits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields

import anyio

from .options import Timeouts


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
