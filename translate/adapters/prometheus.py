"""Metrics of streams for Prometheus. Needs prometheus-client.

With ``prefix="translate"``, all with the labels ``src`` and ``dst``, which are names of formats:

``translate_stream_started_total``, ``translate_stream_active``
``translate_stream_ended_total``     also by ``outcome``: see :data:`translate.adapters.Outcome`
``translate_stream_duration_seconds``, ``translate_stream_time_to_first_unit_seconds``
``translate_latency_seconds``        the mean time that translation added to a unit of a stream
``translate_units_total``
``translate_received_bytes_total``, ``translate_sent_bytes_total``, ``translate_keepalives_total``  known at the end
``translate_losses_total``           of content, also by ``field``: a part's kind and the like

``translate_stream_time_per_unit_seconds``  the mean time from a unit to the next, of streams that ended

Of the sidecar, requests that were refused among them:

``translate_requests_total``         also by ``status``, the one that was sent (0: none was), and ``reason``: the
                                     stream's outcome, or why it was refused
``translate_requests_active``, ``translate_request_duration_seconds``
``translate_upstream_answers_total`` also by ``status``: 2xx, 4xx and so on
``translate_connections``, ``translate_connections_waiting``, ``translate_held_bytes``  of the process, without labels

With ``gen_ai=True`` also ``gen_ai_server_request_duration_seconds``, ``gen_ai_server_time_to_first_token_seconds``,
``gen_ai_server_time_per_output_token_seconds`` and ``gen_ai_client_token_usage``, by OpenTelemetry's conventions.
"""

from __future__ import annotations

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder

from ._gen_ai import GEN_AI
from ._instruments import INSTRUMENTS, Instrument, Move
from ._measures import Measuring

_SUFFIXES = {"s": "_seconds", "By": "_bytes"}


class PrometheusObserver(Measuring):
    """Counts and times streams, for any number of adapters at once.

    ``registry``  where the metrics are kept, the client's own unless given
    ``prefix``    what their names begin with, but for those of ``gen_ai``
    ``gen_ai``    also figures that tell models apart, by names that the streams say: a hundred different ones at most

    A registry takes one observer of a prefix, and one with ``gen_ai``; a second raises ``ValueError``. Labels hold
    nothing else of what streams hold.
    """

    def __init__(
        self, registry: CollectorRegistry | None = None, *, prefix: str = "translate", gen_ai: bool = False
    ) -> None:
        super().__init__(gen_ai=gen_ai)
        self.registry = REGISTRY if registry is None else registry
        wanted = (*INSTRUMENTS, *GEN_AI) if gen_ai else INSTRUMENTS
        self._metrics = {each: self._metric(each, prefix) for each in wanted}

    def _metric(self, it: Instrument, prefix: str) -> Counter | Gauge | Histogram:
        name = f"{'' if it.general else prefix + '_'}{_plain(it.name)}{_SUFFIXES.get(it.unit, '')}"
        labels = tuple(map(_plain, it.names))
        if it.kind == "histogram":
            return Histogram(name, it.what, labels, registry=self.registry, buckets=it.bounds)
        if it.kind == "gauge":
            # where processes share their metrics: of those that live
            return Gauge(name, it.what, labels, registry=self.registry, multiprocess_mode="livesum")
        return Counter(name, it.what, labels, registry=self.registry)

    def bind(self, instrument: Instrument, *values: str) -> Move:
        """What moves one series."""
        metric = self._metrics[instrument]
        labels = {_plain(name): value for name, value in instrument.labels(*values).items()}
        series = metric.labels(**labels) if labels else metric
        return series.observe if isinstance(series, Histogram) else series.inc


def _plain(name: str) -> str:
    return name.replace(".", "_")


def exposition(registry: CollectorRegistry | None = None, *, shared: bool = False) -> tuple[bytes, str]:
    """All metrics of a registry as an endpoint serves them, and their content type. ``shared``: those of all processes
    that share them by ``PROMETHEUS_MULTIPROC_DIR``.
    """
    if shared:
        from prometheus_client.multiprocess import MultiProcessCollector

        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    # not asked for by the request: the choice fails on headers that are not well-formed
    encode, content_type = choose_encoder("")
    return encode(REGISTRY if registry is None else registry), content_type
