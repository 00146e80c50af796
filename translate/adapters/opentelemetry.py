"""Metrics of streams for OpenTelemetry. Needs opentelemetry-api; without an SDK it measures nothing.

All with the attributes ``src`` and ``dst``, which are names of formats; times in seconds, sizes in bytes:

``translate.stream.started``, ``translate.stream.active``
``translate.stream.ended``     also by ``outcome``: see :data:`translate.adapters.Outcome`
``translate.stream.duration``, ``translate.stream.time_to_first_unit``
``translate.latency``          the time that translation added to a piece of input that held units
``translate.units``
``translate.received``, ``translate.sent``, ``translate.keepalives``  known at the end
``translate.losses``           of content, also by ``field``: a part's kind and the like

Of requests to the sidecar, those that were refused among them:

``translate.requests``         also by ``status``, the one that was sent; 0: none was
``translate.request.ended``    also by ``reason``: the stream's outcome, or why it was refused
``translate.upstream.answers`` also by ``status``: 2xx, 4xx and so on
``translate.request.duration``
"""

from __future__ import annotations

from functools import partial

from opentelemetry.metrics import Counter, Histogram, Meter, UpDownCounter, get_meter

from .. import __version__
from ._measures import INSTRUMENTS, Instrument, Measuring, Move


class OpenTelemetryObserver(Measuring):
    """Counts and times streams, for any number of adapters at once.

    ``meter``: that of the global provider unless given. Observers of one meter add to the same instruments: give each
    stream one. Attributes hold nothing of what streams hold.
    """

    def __init__(self, meter: Meter | None = None) -> None:
        super().__init__()
        meter = get_meter("translate", __version__) if meter is None else meter
        self._instruments = {each: _made(meter, each) for each in INSTRUMENTS}

    def bind(self, instrument: Instrument, src: str, dst: str, label: str | None = None) -> Move:
        """What moves one series."""
        made = self._instruments[instrument]
        move = made.record if isinstance(made, Histogram) else made.add
        return partial(move, attributes=instrument.labels(src, dst, label))


def _made(meter: Meter, it: Instrument) -> Counter | UpDownCounter | Histogram:
    name = f"translate.{it.name}"
    if it.kind == "histogram":
        return meter.create_histogram(name, it.unit, it.what, explicit_bucket_boundaries_advisory=it.bounds)
    if it.kind == "gauge":
        return meter.create_up_down_counter(name, it.unit, it.what)
    return meter.create_counter(name, it.unit, it.what)
