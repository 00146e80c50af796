"""Metrics of streams for Prometheus. Needs prometheus-client.

With ``prefix="translate"``, all with the labels ``src`` and ``dst``, which are names of formats:

``translate_stream_started_total``, ``translate_stream_active``
``translate_stream_ended_total``     also by ``outcome``: see :data:`translate.adapters.Outcome`
``translate_stream_duration_seconds``, ``translate_stream_time_to_first_unit_seconds``
``translate_latency_seconds``        the time that translation added to a piece of input that held units
``translate_units_total``
``translate_received_bytes_total``, ``translate_sent_bytes_total``, ``translate_keepalives_total``  known at the end
``translate_losses_total``           of content, also by ``field``: a part's kind and the like

Of requests to the sidecar, those that were refused among them:

``translate_requests_total``         also by ``status``, the one that was sent; 0: none was
``translate_request_ended_total``    also by ``reason``: the stream's outcome, or why it was refused
``translate_upstream_answers_total`` also by ``status``: 2xx, 4xx and so on
``translate_request_duration_seconds``
"""

from __future__ import annotations

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder

from ._measures import INSTRUMENTS, Instrument, Measuring, Move

_SUFFIXES = {"s": "_seconds", "By": "_bytes"}


class PrometheusObserver(Measuring):
    """Counts and times streams, for any number of adapters at once.

    ``registry``  where the metrics are kept, the client's own unless given
    ``prefix``    what their names begin with

    A registry takes one observer of a prefix; a second raises ``ValueError``. Labels hold nothing of what streams hold.
    """

    def __init__(self, registry: CollectorRegistry | None = None, *, prefix: str = "translate") -> None:
        super().__init__()
        self.registry = REGISTRY if registry is None else registry
        self._metrics = {each: self._metric(each, prefix) for each in INSTRUMENTS}

    def _metric(self, it: Instrument, prefix: str) -> Counter | Gauge | Histogram:
        name = f"{prefix}_{it.name.replace('.', '_')}{_SUFFIXES.get(it.unit, '')}"
        labels = tuple(it.labels("", "", None))
        if it.kind == "histogram":
            return Histogram(name, it.what, labels, registry=self.registry, buckets=it.bounds)
        if it.kind == "gauge":
            # where processes share their metrics: of those that live
            return Gauge(name, it.what, labels, registry=self.registry, multiprocess_mode="livesum")
        return Counter(name, it.what, labels, registry=self.registry)

    def bind(self, instrument: Instrument, src: str, dst: str, label: str | None = None) -> Move:
        """What moves one series."""
        series = self._metrics[instrument].labels(**instrument.labels(src, dst, label))
        return series.observe if isinstance(series, Histogram) else series.inc


def exposition(registry: CollectorRegistry | None = None) -> tuple[bytes, str]:
    """All metrics of a registry as an endpoint serves them, and their content type."""
    # not asked for by the request: the choice fails on headers that are not well-formed
    encode, content_type = choose_encoder("")
    return encode(REGISTRY if registry is None else registry), content_type
