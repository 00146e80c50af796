"""The streams that run, for whoever has to end them: a service that shuts down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from ..errors import StreamStopped

if TYPE_CHECKING:
    from .pump import Pump

_PAUSE = 0.05
_LAST = 2.0
"""Seconds that streams have to say their failure units."""


class Running:
    """Streams that run, of all adapters that are given it; as many as ``len``. See :meth:`drain`."""

    def __init__(self) -> None:
        self._pumps: set[Pump] = set()
        self.draining = False
        """Whether new streams are stopped as they begin: before a unit, that is the status 503."""
        self.hurried = False
        """Whether there is no grace any more."""

    def __len__(self) -> int:
        return len(self._pumps)

    async def drain(self, grace: float) -> None:
        """Take no new streams; let those that run end within ``grace`` seconds, then end the others in a failure unit.

        Returns when none runs any more, or 2 seconds after that.
        """
        self.draining = True
        with anyio.move_on_after(grace):
            while self._pumps and not self.hurried:
                await anyio.sleep(_PAUSE)
        for pump in list(self._pumps):
            pump.stop(_stopped())
        with anyio.move_on_after(_LAST):
            while self._pumps:
                await anyio.sleep(_PAUSE)

    def hurry(self) -> None:
        """Drain with no grace any more."""
        self.hurried = True

    def add(self, pump: Pump) -> None:
        """A stream begins."""
        self._pumps.add(pump)
        if self.draining:
            pump.stop(_stopped())

    def discard(self, pump: Pump) -> None:
        """It has ended."""
        self._pumps.discard(pump)


def _stopped() -> StreamStopped:
    return StreamStopped("the service shuts down")
