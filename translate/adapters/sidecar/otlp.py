"""Figures and spans of the sidecar on their way to a collector, by OTLP over HTTP. Needs the extra ``otlp``."""

from __future__ import annotations

from collections.abc import Callable

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from ... import __version__
from ..opentelemetry import OpenTelemetryObserver
from ..tracing import Tracing

_NAME = "translate-streams"


def exporting(endpoint: str) -> tuple[OpenTelemetryObserver, Tracing, Callable[[], None]]:
    """An observer and spans that go to a collector below ``endpoint``, an URL; and what sends the rest at the end.

    They are sent by threads of the SDK's own. Its variables of the environment hold: ``OTEL_EXPORTER_OTLP_HEADERS``,
    ``OTEL_METRIC_EXPORT_INTERVAL``, ``OTEL_SERVICE_NAME``, ``OTEL_TRACES_SAMPLER`` and so on.
    """
    base = endpoint.rstrip("/")
    resource = Resource.create({"service.name": _NAME, "service.version": __version__})
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=f"{base}/v1/metrics"))
    meters = MeterProvider([reader], resource=resource)
    tracers = TracerProvider(resource=resource)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{base}/v1/traces")))

    def end() -> None:
        meters.shutdown()
        tracers.shutdown()

    observer = OpenTelemetryObserver(meters.get_meter("translate", __version__), gen_ai=True)
    return observer, Tracing(tracers.get_tracer("translate", __version__)), end
