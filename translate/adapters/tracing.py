"""A span for each request to a sidecar, by OpenTelemetry. Needs opentelemetry-api; without an SDK none is recorded.

A span continues the trace of the request's ``traceparent``, and the upstream is sent the span's own: without an SDK
that is the one that came. Its attributes are those of the conventions for HTTP and for generative AI, and
``translate.src``, ``translate.dst``, ``translate.id`` and ``translate.outcome``.
"""

from __future__ import annotations

from opentelemetry.trace import Span as OtelSpan
from opentelemetry.trace import SpanKind, StatusCode, Tracer, get_tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from .. import __version__
from ._gen_ai import OPERATION
from .fields import Fields
from .observe import Request

_CARRIER = TraceContextTextMapPropagator()
_NAMES = (b"traceparent", b"tracestate")
_FINE = frozenset(("finished", "passed", "answered", "disconnected"))


class Tracing:
    """Begins spans. ``tracer``: that of the global provider unless given."""

    def __init__(self, tracer: Tracer | None = None) -> None:
        self._tracer = get_tracer("translate", __version__) if tracer is None else tracer

    def begin(self, method: str, fields: Fields) -> Span:
        """The span of a request with these fields."""
        given = {name.decode(): value.decode("latin-1") for name, value in fields if name in _NAMES}
        return Span(self._tracer.start_span(method, _CARRIER.extract(given), SpanKind.SERVER))


class Span:
    """One request."""

    def __init__(self, span: OtelSpan) -> None:
        self._span = span

    def sent(self, fields: Fields) -> Fields:
        """Fields for the upstream, whose work becomes part of this."""
        carrier: dict[str, str] = {}
        _CARRIER.inject(carrier, set_span_in_context(self._span))
        if not carrier:
            return fields
        return [
            *(field for field in fields if field[0] not in _NAMES),
            *((name.encode(), value.encode("latin-1")) for name, value in carrier.items()),
        ]

    def end(self, request: Request) -> None:
        """It is over, and that came of it."""
        stats, fine = request.stats, request.outcome in _FINE and request.status < 500
        found = {
            "http.request.method": request.method,
            "http.response.status_code": request.status or None,
            "error.type": None if fine else request.outcome,
            "translate.src": request.src,
            "translate.dst": request.dst,
            "translate.id": request.id,
            "translate.outcome": request.outcome,
        }
        if stats is not None and request.outcome != "passed":
            found |= {
                "gen_ai.operation.name": OPERATION,
                "gen_ai.provider.name": stats.provider,
                "gen_ai.response.model": stats.model,
                "gen_ai.usage.input_tokens": stats.input_tokens,
                "gen_ai.usage.output_tokens": stats.output_tokens,
            }
            self._span.update_name(f"{OPERATION} {stats.model}" if stats.model else OPERATION)
        self._span.set_attributes({name: value for name, value in found.items() if value is not None})
        if not fine:
            self._span.set_status(StatusCode.ERROR, request.cause)
        self._span.end()
