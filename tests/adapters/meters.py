"""Both systems of metrics, read alike, and the plainest streams to measure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from translate.adapters import Observer

NAMES = {
    "stream.started": "translate_stream_started_total",
    "stream.active": "translate_stream_active",
    "stream.ended": "translate_stream_ended_total",
    "stream.duration": "translate_stream_duration_seconds",
    "stream.time_to_first_unit": "translate_stream_time_to_first_unit_seconds",
    "stream.time_per_unit": "translate_stream_time_per_unit_seconds",
    "latency": "translate_latency_seconds",
    "units": "translate_units_total",
    "received": "translate_received_bytes_total",
    "sent": "translate_sent_bytes_total",
    "keepalives": "translate_keepalives_total",
    "losses": "translate_losses_total",
}
"""Name with OpenTelemetry, but for its prefix → name with Prometheus."""
OURS = {theirs + end: ours + end.replace("_", ".") for ours, theirs in NAMES.items() for end in ("", "_count", "_sum")}


async def each(*pieces: Any) -> AsyncIterator[Any]:
    """A source of these."""
    for piece in pieces:
        yield piece


async def ignore(data: bytes) -> None:
    """A sink."""


class Meter(ABC):
    """An observer, and what it has measured."""

    observer: Observer

    @abstractmethod
    def series(self) -> dict[tuple[str, ...], float]:
        """Name, source, target and the further label, if any, of each series; of histograms their counts and sums."""

    @abstractmethod
    def text(self) -> str:
        """All there is to see."""


class Prometheus(Meter):
    """On a registry of its own."""

    def __init__(self) -> None:
        client = pytest.importorskip("prometheus_client", reason="prometheus-client is not installed")
        from translate.adapters.prometheus import PrometheusObserver

        self.registry = client.CollectorRegistry()
        self.observer = PrometheusObserver(self.registry)

    def series(self) -> dict[tuple[str, ...], float]:
        found: dict[tuple[str, ...], float] = {}
        for metric in self.registry.collect():
            for sample in metric.samples:
                labels = dict(sample.labels)
                if sample.name.endswith("_bucket"):
                    labels.pop("le")
                if "src" not in labels:
                    # of the process
                    continue
                key = labels.pop("src"), labels.pop("dst"), *labels.values()
                assert labels.keys() <= {"outcome", "field"}
                if not sample.name.endswith(("_bucket", "_created")):
                    found[OURS[sample.name], *key] = sample.value
        return found

    def text(self) -> str:
        from translate.adapters.prometheus import exposition

        return exposition(self.registry)[0].decode()


class OpenTelemetry(Meter):
    """On a provider of its own, with a reader that keeps all."""

    def __init__(self) -> None:
        pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader

        from translate.adapters.opentelemetry import OpenTelemetryObserver

        self.reader = InMemoryMetricReader()
        self.meter = MeterProvider(metric_readers=[self.reader]).get_meter("tests")
        self.observer = OpenTelemetryObserver(self.meter)

    def metrics(self) -> list[Any]:
        data = self.reader.get_metrics_data()
        return list(data.resource_metrics[0].scope_metrics[0].metrics) if data is not None else []

    def series(self) -> dict[tuple[str, ...], float]:
        found: dict[tuple[str, ...], float] = {}
        for metric in self.metrics():
            name = metric.name.removeprefix("translate.")
            for point in cast("Any", metric.data).data_points:
                labels = dict(point.attributes)
                key = labels.pop("src"), labels.pop("dst"), *labels.values()
                assert labels.keys() <= {"outcome", "field"}
                if hasattr(point, "count"):
                    found |= {(f"{name}.count", *key): point.count, (f"{name}.sum", *key): point.sum}
                else:
                    found[name, *key] = point.value
        return found

    def text(self) -> str:
        data = self.reader.get_metrics_data()
        assert data is not None
        return str(data.to_json())
