"""What is measured of streams, and when: the same for every system of metrics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from ..algebra.events import PART_KINDS
from ..carry.losses import Finding
from .observe import Observer, Request, Stats

Move: TypeAlias = Callable[[float], None]
"""Adds to a counter or a gauge, or records in a histogram."""

FIELDS = frozenset(
    {*PART_KINDS, "annotate", "append", "append.text", "append.bytes", "append.vector", "append.state", "finish.reason"}
)
"""What a loss of content can be about. Codecs of others might name more: that is ``other``, so that labels stay few."""


@dataclass(frozen=True, slots=True, eq=False)
class Instrument:
    """``unit`` is one of UCUM; ``label`` tells its series apart, beside ``src`` and ``dst``."""

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    unit: str
    what: str
    label: Literal["outcome", "field", "status", "reason"] | None = None
    bounds: tuple[float, ...] = ()

    def labels(self, src: str, dst: str, label: str | None) -> dict[str, str]:
        """The labels of one series: never an id, or what a stream holds."""
        labels = {"src": src, "dst": dst}
        return labels if self.label is None else {**labels, self.label: label or ""}


_WAITS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_LENGTHS = (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)
_LATENCIES = (1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 1e-2, 0.1, 1)

STARTED = Instrument("counter", "stream.started", "{stream}", "Streams that began")
ACTIVE = Instrument("gauge", "stream.active", "{stream}", "Streams that run")
ENDED = Instrument("counter", "stream.ended", "{stream}", "Streams that ended, by how they did", "outcome")
DURATION = Instrument("histogram", "stream.duration", "s", "From a stream's start to its end", bounds=_LENGTHS)
FIRST = Instrument(
    "histogram", "stream.time_to_first_unit", "s", "From a stream's start to the output of a unit", bounds=_WAITS
)
LATENCY = Instrument(
    "histogram", "latency", "s", "Time that translation added to a piece of input with units", bounds=_LATENCIES
)
UNITS = Instrument("counter", "units", "{unit}", "Units of the source that were read")
RECEIVED = Instrument("counter", "received", "By", "Bytes of streams that ended, as they came")
SENT = Instrument("counter", "sent", "By", "Bytes of streams that ended, as they went out")
KEEPALIVES = Instrument("counter", "keepalives", "{keepalive}", "Keep-alives made up, of streams that ended")
LOSSES = Instrument("counter", "losses", "{loss}", "Content that the target cannot say natively", "field")
REQUESTS = Instrument("counter", "requests", "{request}", "Requests to the sidecar, by the status sent", "status")
REASONS = Instrument(
    "counter", "request.ended", "{request}", "Requests, by how they ended, or why they were refused", "reason"
)
UPSTREAM = Instrument("counter", "upstream.answers", "{answer}", "Answers of the upstream, by their status", "status")
REQUEST = Instrument("histogram", "request.duration", "s", "From a request's head to its answer's end", bounds=_LENGTHS)

OF_REQUESTS = (REQUESTS, REASONS, UPSTREAM, REQUEST)
INSTRUMENTS = (
    *(STARTED, ACTIVE, ENDED, DURATION, FIRST, LATENCY, UNITS, RECEIVED, SENT, KEEPALIVES, LOSSES),
    *OF_REQUESTS,
)


class Measuring(Observer, ABC):
    """Moves the instruments as streams run. Each series is looked up once."""

    def __init__(self) -> None:
        self._move: Callable[..., Move] = cache(self.bind)

    @abstractmethod
    def bind(self, instrument: Instrument, src: str, dst: str, label: str | None = None) -> Move:
        """What moves one series of an instrument."""

    def on_start(self, stats: Stats) -> None:
        """One more runs."""
        self._move(STARTED, stats.src, stats.dst)(1)
        self._move(ACTIVE, stats.src, stats.dst)(1)

    def on_unit(self, stats: Stats, count: int, seconds: float) -> None:
        """Units, and the latency of what they came in."""
        src, dst = stats.src, stats.dst
        self._move(UNITS, src, dst)(count)
        self._move(LATENCY, src, dst)(seconds)

    def on_loss(self, stats: Stats, loss: Finding) -> None:
        """A loss, by its field."""
        self._move(LOSSES, stats.src, stats.dst, loss.field if loss.field in FIELDS else "other")(1)

    def on_end(self, stats: Stats) -> None:
        """All that is known only now."""
        src, dst = stats.src, stats.dst
        self._move(ACTIVE, src, dst)(-1)
        self._move(ENDED, src, dst, stats.outcome)(1)
        self._move(DURATION, src, dst)(stats.duration)
        if stats.first is not None:
            self._move(FIRST, src, dst)(stats.first)
        self._move(RECEIVED, src, dst)(stats.bytes_in)
        self._move(SENT, src, dst)(stats.bytes_out)
        self._move(KEEPALIVES, src, dst)(stats.pings)

    def on_request(self, request: Request) -> None:
        """A request, and what the upstream answered: its class of status, or none."""
        src, dst = request.src, request.dst
        refused = request.outcome == "refused" and request.cause is not None
        self._move(REQUESTS, src, dst, str(request.status))(1)
        self._move(REASONS, src, dst, request.cause if refused else request.outcome)(1)
        self._move(REQUEST, src, dst)(request.seconds)
        if request.upstream is not None:
            self._move(UPSTREAM, src, dst, f"{request.upstream // 100}xx")(1)
