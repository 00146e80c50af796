"""The instruments that measure streams and requests: the same for every system of metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..algebra.events import PART_KINDS

Move: TypeAlias = Callable[[float], None]
"""Adds to a counter or a gauge, or records in a histogram."""

FIELDS = frozenset(
    {*PART_KINDS, "annotate", "append", "append.text", "append.bytes", "append.vector", "append.state", "finish.reason"}
)
"""What a loss of content can be about. Codecs of others might name more: that is ``other``, so that labels stay few."""


_FORMATS = ("src", "dst")


@dataclass(frozen=True, slots=True, eq=False)
class Instrument:
    """``unit`` is one of UCUM; ``names`` are those of the labels that tell its series apart."""

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    unit: str
    what: str
    names: tuple[str, ...] = _FORMATS
    bounds: tuple[float, ...] = ()
    general: bool = False
    """Whether the name is one that others use, too, and has no prefix."""

    def labels(self, *values: str) -> dict[str, str]:
        """The labels of one series: never an id, or what a stream holds."""
        return dict(zip(self.names, values, strict=True))


_WAITS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_LENGTHS = (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)
_LATENCIES = (1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 1e-2, 0.1, 1)

STARTED = Instrument("counter", "stream.started", "{stream}", "Streams that began")
ACTIVE = Instrument("gauge", "stream.active", "{stream}", "Streams that run")
ENDED = Instrument("counter", "stream.ended", "{stream}", "Streams that ended, by how they did", (*_FORMATS, "outcome"))
DURATION = Instrument("histogram", "stream.duration", "s", "From a stream's start to its end", bounds=_LENGTHS)
FIRST = Instrument(
    "histogram", "stream.time_to_first_unit", "s", "From a stream's start to the output of a unit", bounds=_WAITS
)
LATENCY = Instrument(
    "histogram", "latency", "s", "Mean time that translation added to a unit of a stream", bounds=_LATENCIES
)
UNITS = Instrument("counter", "units", "{unit}", "Units of streams that ended, as they came")
RECEIVED = Instrument("counter", "received", "By", "Bytes of streams that ended, as they came")
SENT = Instrument("counter", "sent", "By", "Bytes of streams that ended, as they went out")
KEEPALIVES = Instrument("counter", "keepalives", "{keepalive}", "Keep-alives made up, of streams that ended")
LOSSES = Instrument("counter", "losses", "{loss}", "Content that the target cannot say natively", (*_FORMATS, "field"))
PER_UNIT = Instrument(
    "histogram", "stream.time_per_unit", "s", "Mean time from a unit to the next, behind the first", bounds=_LATENCIES
)
REQUESTS = Instrument(
    *("counter", "requests", "{request}", "Requests, by the status sent, and how they ended or why they were refused"),
    (*_FORMATS, "status", "reason"),
)
IN_FLIGHT = Instrument("gauge", "requests.active", "{request}", "Requests that run")
UPSTREAM = Instrument(
    *("counter", "upstream.answers", "{answer}", "Answers of the upstream, by their status"), (*_FORMATS, "status")
)
REQUEST = Instrument("histogram", "request.duration", "s", "From a request's head to its answer's end", bounds=_LENGTHS)
CONNECTIONS = Instrument("gauge", "connections", "{connection}", "Connections of clients", ())
QUEUE = Instrument("gauge", "connections.waiting", "{connection}", "Connections that wait to be accepted", ())
HELD = Instrument("gauge", "held", "By", "Memory that all requests hold, of what they may", ())

OF_REQUESTS = (REQUESTS, IN_FLIGHT, UPSTREAM, REQUEST, CONNECTIONS, QUEUE, HELD)
INSTRUMENTS = (
    *(STARTED, ACTIVE, ENDED, DURATION, FIRST, PER_UNIT, LATENCY, UNITS, RECEIVED, SENT, KEEPALIVES, LOSSES),
    *OF_REQUESTS,
)
