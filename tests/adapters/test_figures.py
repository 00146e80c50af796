"""Figures that tell models apart, those of a sidecar as a whole, and spans: with both systems, and by OTLP."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import pytest

from tests.adapters.meters import OpenTelemetry, Prometheus, each, ignore
from tests.adapters.sidecars import ROOT, Asked, Wire, ask, request, sidecar, streams, until, upstream
from tests.peers.serving import HOST
from translate import Append, Close, Finish, Model, Open, Start, TokenCounts, Translator, convert
from translate.adapters import Stats, relay
from translate.adapters._gen_ai import GEN_AI, Names, moves_of
from translate.cli._parser import build_parser

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

from translate.adapters.sidecar.descriptors import Room

EVENTS = (Start(Model("m-1", provider="p")), Open("text"), Append("a"), Append("b"), Close(), Finish(TokenCounts(7, 5)))
TURN = [*convert(EVENTS, "events", "gateway-sse")]
SRC, DST = "gateway-sse", "unievent-sse"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_a_translator_knows_who_answers_and_what_it_took() -> None:
    translator = Translator(SRC, DST)
    assert (translator.model, translator.usage) == (None, None)
    for piece in TURN:
        translator.feed(piece)
    model, usage = translator.model, translator.usage
    assert model is not None
    assert usage is not None
    assert (model.name, model.provider, usage.input_tokens, usage.output_tokens) == ("m-1", "p", 7, 5)


def test_names_that_become_labels_are_few_and_look_like_names() -> None:
    names = Names()
    assert [names(each) for each in ("gpt-5.2/x", None, "unknown", "a b", "x" * 65, "é")] == [
        *("gpt-5.2/x", "unknown", "unknown"),
        *("other", "other", "other"),
    ]
    assert [names(f"m{number}") for number in range(200)].count("other") == 101
    assert names("m3") == "m3"


def test_what_is_no_stream_has_no_model() -> None:
    assert [*moves_of(Stats(SRC, DST, outcome="passed"), Names())] == []
    stats = Stats(SRC, DST, outcome="cut", first=1.0, last=3.0, duration=4.0, output_tokens=5, model="m")
    labels = ("chat", SRC, "m")
    found = {instrument.name: (value, values) for instrument, value, values in moves_of(stats, Names())}
    assert found == {
        "gen_ai.server.request.duration": (4.0, (*labels, "cut")),
        "gen_ai.server.time_to_first_token": (1.0, labels),
        "gen_ai.server.time_per_output_token": (0.5, labels),
        "gen_ai.client.token.usage": (5, (*labels, "output")),
    }


@pytest.mark.anyio
async def test_figures_of_models_have_the_names_of_the_conventions() -> None:
    meter = OpenTelemetry()
    await relay(each(*TURN), ignore, SRC, DST, observer=cast("Any", type(meter.observer))(meter.meter, gen_ai=True))
    found = {metric.name: metric for metric in meter.metrics()}
    said = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "p", "gen_ai.response.model": "m-1"}
    assert {each.name for each in GEN_AI} <= found.keys()
    duration, usage = found["gen_ai.server.request.duration"], found["gen_ai.client.token.usage"]
    # the attribute error.type is there where it failed
    assert [dict(point.attributes) for point in duration.data.data_points] == [said]
    assert (duration.unit, duration.data.data_points[0].explicit_bounds[:3]) == ("s", (0.01, 0.02, 0.04))
    tokens = {point.attributes["gen_ai.token.type"]: point.sum for point in usage.data.data_points}
    assert (usage.unit, tokens) == ("{token}", {"input": 7, "output": 5})
    prometheus = Prometheus()
    registry = type(prometheus.registry)()
    observer = cast("Any", type(prometheus.observer))(registry, gen_ai=True)
    await relay(each(*TURN), ignore, SRC, DST, observer=observer)
    labels = {name.replace(".", "_"): value for name, value in said.items()}
    for name, more in (
        ("gen_ai_server_request_duration_seconds_count", {"error_type": ""}),
        ("gen_ai_server_time_to_first_token_seconds_count", {}),
        ("gen_ai_server_time_per_output_token_seconds_count", {}),
        ("gen_ai_client_token_usage_count", {"gen_ai_token_type": "input"}),
    ):
        assert registry.get_sample_value(name, {**labels, **more}) == 1, name


# ---- of a sidecar -----------------------------------------------------------------------------------------


def value(text: str, name: str) -> float:
    (line,) = [line for line in text.splitlines() if line.startswith((name + " ", name + "{"))]
    return float(line.rpartition(" ")[2])


def test_figures_have_a_port_of_their_own() -> None:
    go = threading.Event()

    def says(asked: Asked) -> Iterator[bytes]:
        def live() -> Iterator[bytes]:
            yield TURN[0]
            go.wait(20)
            yield from TURN[1:]

        return streams(live())

    with upstream(says) as up, sidecar(up.url, "--metrics-port", "0") as made:
        port = made.port
        until(lambda: "figures are on" in made.log)
        apart = int(made.log.partition("figures are on http://127.0.0.1:")[2].partition("/")[0])
        assert ask(port, request("/metrics")).status == 404
        assert ask(apart, request("/x")).status == 404
        assert ask(apart, request("/readyz")).body == b"ready\n"

        def text() -> str:
            return ask(apart, request("/metrics")).body.decode()

        with Wire(port, request("/x")) as wire:
            wire.head()
            until(lambda: value(text(), "translate_connections") == 1)
            assert value(text(), "translate_requests_active") == 1
            assert value(text(), "translate_connections_waiting") == 0
            go.set()
            while wire.chunk():
                pass
        until(lambda: value(text(), "translate_requests_active") == 0)
        assert value(text(), "gen_ai_server_request_duration_seconds_count") == 1
        assert 'gen_ai_response_model="m-1"' in text()
        until(lambda: value(text(), "translate_held_bytes") == 0)


class Collector(ThreadingHTTPServer):
    """A collector that keeps the paths and the bodies that it is sent."""

    daemon_threads = True

    def __init__(self) -> None:
        self.got: list[tuple[str, bytes]] = []
        super().__init__((HOST, 0), _Collecting)

    def __enter__(self) -> Collector:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Collecting(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        cast("Collector", self.server).got.append((self.path, body))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


PARENT = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_figures_and_spans_go_to_a_collector() -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra otlp is not installed")
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    with Collector() as collector, upstream(lambda _: streams(TURN)) as up:
        there = f"http://{HOST}:{collector.server_address[1]}"
        with sidecar(up.url, "--otlp", there, OTEL_EXPORTER_OTLP_COMPRESSION="none") as made:
            assert ask(made.port, request("/x", b"traceparent: " + PARENT, b"X-Request-Id: me")).status == 200
        traces, metrics = ExportTraceServiceRequest(), ExportMetricsServiceRequest()
        traces.ParseFromString(b"".join(body for path, body in collector.got if path == "/v1/traces"))
        metrics.ParseFromString(b"".join(body for path, body in collector.got if path == "/v1/metrics"))
    (sent,) = up.asked[0].all("traceparent")
    (span,) = [each for of in traces.resource_spans for scope in of.scope_spans for each in scope.spans]
    assert sent == b"00-%b-%b-01" % (span.trace_id.hex().encode(), span.span_id.hex().encode())
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (PARENT[3:35].decode(), PARENT[36:52].decode())
    said = {each.key: each.value for each in span.attributes}
    assert (said["gen_ai.response.model"].string_value, said["gen_ai.usage.output_tokens"].int_value) == ("m-1", 5)
    assert (said["http.response.status_code"].int_value, said["translate.id"].string_value) == (200, "me")
    names = {each.name for of in metrics.resource_metrics for scope in of.scope_metrics for each in scope.metrics}
    assert {"translate.requests", "gen_ai.server.request.duration", "gen_ai.client.token.usage"} <= names


def test_a_failed_request_is_a_failed_span() -> None:
    pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from translate.adapters.observe import Request
    from translate.adapters.tracing import Tracing

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    for tracing in (Tracing(provider.get_tracer("x")), Tracing()):
        span = tracing.begin("GET", [(b"traceparent", PARENT), (b"tracestate", b"a=b")])
        sent = dict(span.sent([(b"traceparent", b"x"), (b"x", b"y")]))
        assert (sent[b"x"], sent[b"traceparent"][:36], sent[b"tracestate"]) == (b"y", PARENT[:36], b"a=b")
        span.end(Request(SRC, DST, "id", "GET", 502, "cut", "refused by the upstream", 0.1, None, None))
    # the other one has no SDK: it passes on what came
    assert sent[b"traceparent"] == PARENT
    (kept,) = exporter.get_finished_spans()
    assert (kept.status.is_ok, kept.status.description) == (False, "refused by the upstream")
    assert json.loads(kept.to_json())["attributes"]["error.type"] == "cut"


# ---- the page ---------------------------------------------------------------------------------------------

PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


def test_the_page_names_all_figures_and_no_others() -> None:
    meter = Prometheus()
    observer = cast("Any", type(meter.observer))(type(meter.registry)(), gen_ai=True)
    there = {
        instrument: metric._name + ("_total" if instrument.kind == "counter" else "")
        for instrument, metric in observer._metrics.items()
    }
    rows = re.findall(r"^\| `(\w+)` \| `([\w.]+)` \|", PAGE, re.M)
    assert sorted(rows) == sorted(
        (name, each.name if each.general else f"translate.{each.name}") for each, name in there.items()
    )
    asked = {name.removesuffix("_bucket") for name in re.findall(r"\btranslate_\w+", PAGE)}
    assert asked == {name for name in there.values() if name.startswith("translate_")}


def test_what_the_page_says_is_shown_is_there() -> None:
    table = PAGE.partition("## What operators ask for")[2]
    for name in re.findall(r"`((?:tests/cli/)?test_\w+\.py)`", table):
        assert ((ROOT if "/" in name else ROOT / "tests" / "adapters") / name).is_file(), name
    for name in re.findall(r"`(examples/[\w./-]+|docs/[\w./-]+)`", PAGE):
        assert (ROOT / name).is_file(), name
    options = {name for action in build_parser()._actions for name in action.option_strings}
    (commands,) = [action for action in build_parser()._actions if hasattr(action, "choices") and action.choices]
    options |= {name for action in cast("Any", commands).choices["serve"]._actions for name in action.option_strings}
    ours = re.sub(r"`python -m benchmarks[^`]*`", "", PAGE)
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", ours)) <= options


def test_sizes_are_what_the_formula_gives() -> None:
    for row in re.findall(r"^\| \d+ MiB.* \|$", PAGE, re.M):
        found = dict(re.findall(r"--max-([a-z]+) (\d+)M?", row))
        defaults = {"concurrent": 1000, "memory": 128, "body": 32, "unit": 16}
        requests, memory, body, unit = (int(found.get(name, value)) for name, value in defaults.items())
        connections = Room.within(1 << 20, requests).connections
        size = 60 + memory + connections * 80 / 1024 + requests * 100 / 1024 + max(body, 2 * unit)
        said = int(re.findall(r"(\d+) MiB", row)[1])
        assert abs(size - said) <= 2, (row, size)
