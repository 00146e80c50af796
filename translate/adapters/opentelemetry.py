"""Metrics of streams for OpenTelemetry. Needs opentelemetry-api; without an SDK it measures nothing.

All with the attributes ``src`` and ``dst``, which are names of formats; times in seconds, sizes in bytes:

``translate.stream.started``, ``translate.stream.active``
``translate.stream.ended``     also by ``outcome``: see :data:`translate.adapters.Outcome`
``translate.stream.duration``, ``translate.stream.time_to_first_unit``
``translate.latency``          the mean time that translation added to a unit of a stream
``translate.units``
``translate.received``, ``translate.sent``, ``translate.keepalives``  known at the end
``translate.losses``           of content, also by ``field``: a part's kind and the like

``translate.stream.time_per_unit``  the mean time from a unit to the next, of streams that ended

Of the sidecar, requests that were refused among them:

``translate.requests``         also by ``status``, the one that was sent (0: none was), and ``reason``: the stream's
                               outcome, or why it was refused
``translate.requests.active``, ``translate.request.duration``
``translate.upstream.answers`` also by ``status``: 2xx, 4xx and so on
``translate.connections``, ``translate.connections.waiting``, ``translate.held``  of the process, without attributes

With ``gen_ai=True`` also ``gen_ai.server.request.duration``, ``gen_ai.server.time_to_first_token``,
``gen_ai.server.time_per_output_token`` and ``gen_ai.client.token.usage``, by OpenTelemetry's conventions.
"""

from __future__ import annotations

from functools import partial

from opentelemetry.metrics import Counter, Histogram, Meter, UpDownCounter, get_meter

from .. import __version__
from ._gen_ai import GEN_AI
from ._instruments import INSTRUMENTS, Instrument, Move
from ._measures import Measuring


class OpenTelemetryObserver(Measuring):
    """Counts and times streams, for any number of adapters at once.

    ``meter``: that of the global provider unless given. Observers of one meter add to the same instruments: give each
    stream one. ``gen_ai``: also figures that tell models apart, by names that the streams say: a hundred different ones
    at most. Attributes hold nothing else of what streams hold.
    """

    def __init__(self, meter: Meter | None = None, *, gen_ai: bool = False) -> None:
        super().__init__(gen_ai=gen_ai)
        meter = get_meter("translate", __version__) if meter is None else meter
        wanted = (*INSTRUMENTS, *GEN_AI) if gen_ai else INSTRUMENTS
        self._instruments = {each: _made(meter, each) for each in wanted}

    def bind(self, instrument: Instrument, *values: str) -> Move:
        """What moves one series."""
        made = self._instruments[instrument]
        move = made.record if isinstance(made, Histogram) else made.add
        labels = {name: value for name, value in instrument.labels(*values).items() if value}
        return partial(move, attributes=labels)


def _made(meter: Meter, it: Instrument) -> Counter | UpDownCounter | Histogram:
    name = it.name if it.general else f"translate.{it.name}"
    if it.kind == "histogram":
        return meter.create_histogram(name, it.unit, it.what, explicit_bucket_boundaries_advisory=it.bounds)
    if it.kind == "gauge":
        return meter.create_up_down_counter(name, it.unit, it.what)
    return meter.create_counter(name, it.unit, it.what)
