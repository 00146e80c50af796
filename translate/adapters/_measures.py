"""What is measured of streams, and when: the same for every system of metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache

from ..carry.losses import Finding
from ._gen_ai import Names, moves_of
from ._instruments import (
    ACTIVE,
    CONNECTIONS,
    DURATION,
    ENDED,
    FIELDS,
    FIRST,
    HELD,
    IN_FLIGHT,
    KEEPALIVES,
    LATENCY,
    LOSSES,
    PER_UNIT,
    QUEUE,
    RECEIVED,
    REQUEST,
    REQUESTS,
    SENT,
    STARTED,
    UNITS,
    UPSTREAM,
    Instrument,
    Move,
)
from .observe import Observer, Request, Stats


class Measuring(Observer, ABC):
    """Moves the instruments as streams run. Each series is looked up once.

    ``gen_ai``: also those of :mod:`translate.adapters._gen_ai`, whose labels have names of models, as streams say them.
    """

    def __init__(self, *, gen_ai: bool = False) -> None:
        self._move: Callable[..., Move] = cache(self.bind)
        self._names = Names() if gen_ai else None
        self._loads: dict[Instrument, float] = {}

    @abstractmethod
    def bind(self, instrument: Instrument, *values: str) -> Move:
        """What moves one series of an instrument: that of these labels."""

    def on_start(self, stats: Stats) -> None:
        """One more runs."""
        self._move(STARTED, stats.src, stats.dst)(1)
        self._move(ACTIVE, stats.src, stats.dst)(1)

    def on_loss(self, stats: Stats, loss: Finding) -> None:
        """A loss, by its field."""
        self._move(LOSSES, stats.src, stats.dst, loss.field if loss.field in FIELDS else "other")(1)

    def on_end(self, stats: Stats) -> None:
        """All that is known only now."""
        src, dst = stats.src, stats.dst
        self._move(ACTIVE, src, dst)(-1)
        self._move(ENDED, src, dst, stats.outcome or "")(1)
        self._move(DURATION, src, dst)(stats.duration)
        if stats.first is not None:
            self._move(FIRST, src, dst)(stats.first)
        if stats.per_unit is not None:
            self._move(PER_UNIT, src, dst)(stats.per_unit)
        if stats.units:
            self._move(UNITS, src, dst)(stats.units)
            self._move(LATENCY, src, dst)(stats.translating / stats.units)
        self._move(RECEIVED, src, dst)(stats.bytes_in)
        self._move(SENT, src, dst)(stats.bytes_out)
        self._move(KEEPALIVES, src, dst)(stats.pings)

        if self._names is not None:
            for instrument, value, labels in moves_of(stats, self._names):
                self._move(instrument, *labels)(value)

    def on_request_start(self, src: str, dst: str) -> None:
        """One more is in flight."""
        self._move(IN_FLIGHT, src, dst)(1)

    def on_request(self, request: Request) -> None:
        """A request, and what the upstream answered: its class of status, or none."""
        src, dst = request.src, request.dst
        refused = request.outcome == "refused" and request.cause is not None
        self._move(IN_FLIGHT, src, dst)(-1)
        self._move(REQUESTS, src, dst, str(request.status), request.cause if refused else request.outcome)(1)
        self._move(REQUEST, src, dst)(request.seconds)
        if request.upstream is not None:
            self._move(UPSTREAM, src, dst, f"{request.upstream // 100}xx")(1)

    def on_load(self, connections: int, waiting: int, held: int) -> None:
        """What there is now, by how much it differs from the last time."""
        for instrument, now in ((CONNECTIONS, connections), (QUEUE, waiting), (HELD, held)):
            last = self._loads.get(instrument, 0)
            if now != last or instrument not in self._loads:
                self._move(instrument)(now - last)
                self._loads[instrument] = now
