"""What observers and the log are told of streams: all that is counted, and nothing of what a stream holds."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any, cast, get_args
from unittest.mock import patch

import anyio
import pytest
from hypothesis import given

from tests import wire
from tests.adapters.meters import NAMES, Meter, OpenTelemetry, Prometheus, each, ignore
from tests.peers.scripts import EVENTS, FRAMES
from tests.peers.serving import PATIENCE
from tests.strategies import FORMATS, Source, sources
from tests.wire import Object, blocks, content, delta, failed, frame, item, lines, start, stop, tool
from translate import Finding, Report, StreamStopped, convert
from translate.adapters import Observer, Outcome, Stats, Timeouts, relay
from translate.adapters._instruments import FIELDS, INSTRUMENTS, OF_REQUESTS, Instrument
from translate.adapters.pump import Pump
from translate.adapters.upstream import Upstream

pytestmark = pytest.mark.anyio
SRC, DST = "gateway-sse", "unievent-sse"
TURN = [blocks([unit]) for unit in FRAMES["turn"]]
SECRET = "Xyzzy"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[Prometheus, OpenTelemetry])
def meter(request: pytest.FixtureRequest) -> Meter:
    return cast("Meter", request.param())


# ---- what is counted -------------------------------------------------------------------------------------

ENDINGS: dict[Outcome, list[bytes]] = {
    "finished": TURN,
    "passed": [b"<html>", b"</html>"],
    "failed": [blocks([unit]) for unit in FRAMES["error"]],
    "cut": TURN[:-1],
    "broken": [*TURN[:4], b"data: [1]\n\n"],
    "timed out": [],
    "stopped": TURN[:5],
    "disconnected": TURN,
    "cancelled": TURN[:6],
}
"""The pieces that the source of a stream gives before it ends so; each is one unit, but where nothing is translated."""


async def run(outcome: Outcome, meter: Meter, taken: list[bytes]) -> Stats | None:
    """A stream that ends so. ``taken``: what its receiver takes."""
    pumps: list[Pump] = []
    with anyio.fail_after(PATIENCE), anyio.CancelScope() as scope:

        async def source() -> AsyncIterator[bytes]:
            for piece in ENDINGS[outcome]:
                yield piece
            if outcome == "stopped":
                pumps[0].stop(StreamStopped("closing time"))
            if outcome == "cancelled":
                scope.cancel()
            if outcome in ("stopped", "cancelled", "timed out"):
                await anyio.sleep_forever()

        async def sink(data: bytes) -> None:
            running = meter.series()
            assert running["stream.active", SRC, DST] == running["stream.started", SRC, DST] == 1
            if outcome == "disconnected" and len(taken) == 3:
                raise ConnectionResetError("gone")
            taken.append(data)

        if outcome in ("passed", "stopped"):
            pumps.append(Pump(SRC, DST, sink, observers=[meter.observer]))

            async def head(upstream: Upstream) -> None:
                if outcome == "passed":
                    pumps[0].course.happens("passes")

            return await pumps[0].pull(source(), head=head)
        limits = Timeouts(first=0.05) if outcome == "timed out" else None
        return await relay(source(), sink, SRC, DST, timeouts=limits, observer=meter.observer)
    return None


@pytest.mark.parametrize("outcome", get_args(Outcome))
async def test_a_stream_is_counted_however_it_ends(outcome: Outcome, meter: Meter) -> None:
    taken: list[bytes] = []
    stats = await run(outcome, meter, taken)
    assert (stats is None) == (outcome == "cancelled")
    series, pieces = meter.series(), ENDINGS[outcome]
    sums = {key[0]: series.pop(key) for key in list(series) if key[0].endswith(".sum")}
    if outcome == "disconnected":
        # one unit's output was refused, and nothing read after it
        pieces = pieces[: int(series["units", SRC, DST])]
        assert 3 < len(pieces) < len(TURN)
    measured = {
        "stream.started": 1,
        "stream.active": 0,
        "stream.duration.count": 1,
        "received": sum(map(len, pieces)),
        "sent": sum(map(len, taken)),
        "keepalives": 0,
    }
    if outcome not in ("passed", "timed out"):
        measured |= {"stream.time_to_first_unit.count": 1, "units": len(pieces), "latency.count": 1}
        measured |= {"stream.time_per_unit.count": 1} if len(pieces) > 1 else {}
    expected: dict[tuple[str, ...], float] = {(name, SRC, DST): value for name, value in measured.items()}
    assert series == expected | {("stream.ended", SRC, DST, outcome): 1}
    assert ("units" in measured) == (sums.get("latency.sum", 0) > 0)
    assert sums["stream.duration.sum"] < PATIENCE
    if stats is not None:
        assert stats.outcome == outcome
        assert sums["stream.duration.sum"] == pytest.approx(stats.duration)
        assert sums.get("latency.sum", 0) <= stats.translating + 1e-9
        assert sums.get("stream.time_to_first_unit.sum") == (pytest.approx(stats.first) if stats.first else None)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, bytes.decode])
async def test_a_unit_that_only_the_end_completes_is_counted(kind: Any, meter: Meter) -> None:
    data = lines(FRAMES["turn"]).rstrip(b"\n")
    stats = await relay(each(kind(data)), ignore, "gateway-jsonl", DST, observer=meter.observer)
    assert (stats.outcome, stats.units, stats.bytes_in) == ("finished", len(TURN), len(data))
    series = meter.series()
    assert series["units", "gateway-jsonl", DST] == len(TURN)
    assert series["latency.count", "gateway-jsonl", DST] == 1


async def test_streams_at_once(meter: Meter) -> None:
    opened, shut, open_now = anyio.Event(), anyio.Event(), 0
    running: dict[tuple[str, ...], float] = {}

    async def source(whole: bool) -> AsyncIterator[bytes]:
        nonlocal open_now
        yield TURN[0]
        open_now += 1
        if open_now == 20:
            opened.set()
        await shut.wait()
        for piece in TURN[1:] if whole else ():
            yield piece

    async def one(number: int) -> None:
        target = (DST, SRC)[number % 2]
        await relay(source(number < 12), ignore, SRC, target, observer=meter.observer)

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(one, number)
            await opened.wait()
            running |= meter.series()
            shut.set()
    ended = meter.series()
    assert not any(key[0] == "stream.ended" for key in running)
    for target in (DST, SRC):
        assert running["stream.active", SRC, target] == 10
        assert ended["stream.active", SRC, target] == 0
        assert (ended["stream.ended", SRC, target, "finished"], ended["stream.ended", SRC, target, "cut"]) == (6, 4)
        assert ended["units", SRC, target] == 6 * len(TURN) + 4


async def test_keep_alives_are_counted(meter: Meter) -> None:
    pings = 0
    enough = anyio.Event()

    async def source() -> AsyncIterator[bytes]:
        await enough.wait()
        for piece in TURN:
            yield piece

    async def sink(data: bytes) -> None:
        nonlocal pings
        pings += not enough.is_set()
        if pings == 3:
            enough.set()

    with anyio.fail_after(PATIENCE):
        await relay(source(), sink, SRC, DST, ping=0.01, observer=meter.observer)
    assert meter.series()["keepalives", SRC, DST] == pings == 3


async def test_losses_are_counted_by_what_is_lost(meter: Meter) -> None:
    vector = [delta(item("embedding.delta", [0.5])), delta(item("embedding.done", [0.5])), stop()]
    stats = await relay(each(blocks(vector)), ignore, DST, SRC, observer=meter.observer)
    found = {key[-1]: count for key, count in meter.series().items() if key[0] == "losses"}
    assert found == {name: count for (kind, name), count in stats.report.counts.items() if kind == "losses"}
    assert found["embedding"] == 1
    for name in (SECRET, "id_123"):
        meter.observer.on_loss(stats, Finding(0, name, SECRET, content=True))
    assert meter.series()["losses", DST, SRC, "other"] == 2
    assert SECRET not in meter.text()


def content_lost(stream: Any, src: str, dst: str) -> set[str]:
    report = Report(incidental=False)
    list(convert(stream, src, dst, report=report, errors="encode", clock=lambda: 7))
    return {loss.field for loss in report.losses}


@pytest.mark.parametrize("dst", FORMATS)
@given(source=sources())
def test_the_fields_of_losses_are_few(dst: str, source: Source) -> None:
    assert content_lost(source.stream, source.format, dst) <= FIELDS


def test_the_fields_of_losses_are_named() -> None:
    assert {"embedding", "append", "annotate"} <= content_lost(EVENTS, "events", "gateway") <= FIELDS


async def test_each_series_is_looked_up_once(meter: Meter) -> None:
    with patch.object(Instrument, "labels", autospec=True, side_effect=Instrument.labels) as labels:
        for _ in range(3):
            await relay(each(*TURN), ignore, SRC, DST, observer=meter.observer)
    assert meter.series()["stream.started", SRC, DST] == 3
    # nothing was lost
    assert labels.call_count == len(INSTRUMENTS) - len(OF_REQUESTS) - 1


# ---- nothing of what streams hold ------------------------------------------------------------------------

_MODEL = dict.fromkeys(wire.PARIS_MODEL, SECRET)
_SAID = [start(_MODEL), *wire.thinking(SECRET, data={SECRET: SECRET}), *content(SECRET), tool(SECRET, SECRET, "{}")]
_CARRIES: dict[int, Object] = {0: {"v": 1, SECRET.lower(): {SECRET: SECRET}}}
_EVENTS = [
    *wire.text_group(SECRET),
    *wire.call_group(f'{{"{SECRET}":1}}', {SECRET: 1}, SECRET, SECRET),
    delta(wire.inline("inline_data.delta", SECRET + "abc", f"audio/{SECRET}")),
    delta(wire.inline("inline_data.done", SECRET + "abc", f"audio/{SECRET}")),
    delta({"type": SECRET, SECRET: SECRET}),
    delta(item("embedding.delta", [0.5])),
    delta(item("embedding.done", [0.5])),
    stop(SECRET),
]
SECRETIVE: dict[str, tuple[str, str, bytes]] = {
    "finished": (SRC, DST, blocks([*_SAID, frame(SECRET, id=SECRET), FRAMES["turn"][-1]], _CARRIES)),
    "failed": (SRC, DST, blocks([*_SAID, failed(503, SECRET, type=SECRET)])),
    "cut": (SRC, DST, blocks(_SAID)),
    "not json": (SRC, DST, blocks(_SAID) + b"data: " + SECRET.encode() + b"\n\n"),
    "not a unit": (
        SRC,
        DST,
        blocks([*_SAID, {**start(), "value": {"type": SECRET, SECRET: 1}}, start() | {"code": SECRET}]),
    ),
    "bad arguments": (SRC, DST, blocks([*_SAID, tool(SECRET, SECRET, "[" + SECRET), FRAMES["turn"][-1]])),
    "bad carry": (SRC, DST, blocks(_SAID, {0: {"v": 1, "events": [{"event": SECRET}]}})),
    "lossy": (DST, SRC, blocks(_EVENTS, done=True)),
}


class Failing(Observer):
    """An observer whose every method raises."""

    def on_start(self, stats: Stats) -> None:
        raise RuntimeError(SECRET)

    def on_unit(self, stats: Stats, count: int, seconds: float) -> None:
        raise RuntimeError from stats.failure

    def on_loss(self, stats: Stats, loss: Finding) -> None:
        raise RuntimeError(loss.reason)

    def on_end(self, stats: Stats) -> None:
        raise RuntimeError(stats.failure)


async def secretive(name: str, ends: str, observer: Observer, **options: Any) -> Any:
    """A stream that is full of secrets; so are the errors of its source and of its sink."""
    src, dst, data = SECRETIVE[name]

    async def source() -> AsyncIterator[bytes]:
        for at in range(0, len(data), 100):
            yield data[at : at + 100]
        if ends == "source":
            raise RuntimeError(SECRET)

    async def sink(piece: bytes) -> None:
        if ends == "sink":
            raise OSError(SECRET)

    with anyio.fail_after(PATIENCE):
        try:
            return await relay(source(), sink, src, dst, observer=observer, **options)
        except Exception as error:
            return error


each_secret = pytest.mark.parametrize(
    ("name", "ends"), [*((name, "") for name in SECRETIVE), ("cut", "source"), ("finished", "sink")]
)


@each_secret
@pytest.mark.parametrize("loss", ["carry", "drop", "raise"])
async def test_labels_hold_nothing_of_a_stream(name: str, ends: str, loss: Any, meter: Meter) -> None:
    assert SECRET in SECRETIVE[name][2].decode()
    await secretive(name, ends, meter.observer, loss=loss)
    assert sum(count for key, count in meter.series().items() if key[0] == "stream.ended") == 1
    assert SECRET.lower() not in meter.text().lower()


@each_secret
@pytest.mark.parametrize("errors", ["encode", "raise"])
@pytest.mark.parametrize("observer", [Observer, Failing])
async def test_the_log_holds_nothing_of_a_stream(
    name: str, ends: str, errors: Any, observer: type[Observer], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "translate"):
        await secretive(name, ends, observer(), errors=errors)
    messages = [record.getMessage() for record in caplog.records]
    assert sum(text.startswith("stream of ") for text in messages) == 1
    if observer is Failing:
        told = [text.partition(" of an observer failed: RuntimeError\n") for text in messages]
        assert {"on_start", "on_unit", "on_end"} <= {hook for hook, _, where in told if "raise RuntimeError" in where}
    assert SECRET.lower() not in caplog.text.lower()
    assert all(record.exc_info is None for record in caplog.records)


# ---- registries, meters and packages ---------------------------------------------------------------------


async def test_a_registry_takes_one_observer_of_a_prefix() -> None:
    meter = Prometheus()
    kind: Any = type(meter.observer)
    with pytest.raises(ValueError, match="Duplicated"):
        kind(meter.registry)
    other = kind(meter.registry, prefix="other")
    await relay(each(*TURN), ignore, SRC, DST, observer=other)
    labels = {"src": SRC, "dst": DST}
    units = [meter.registry.get_sample_value(f"{prefix}_units_total", labels) for prefix in ("translate", "other")]
    assert units == [None, len(TURN)]


async def test_observers_of_one_meter_add_up() -> None:
    meter = OpenTelemetry()
    for observer in (meter.observer, cast("Any", type(meter.observer))(meter.meter)):
        await relay(each(*TURN), ignore, SRC, DST, observer=observer)
    assert meter.series()["units", SRC, DST] == 2 * len(TURN)


async def test_the_exposition_is_read_back() -> None:
    meter = Prometheus()
    await relay(each(*TURN), ignore, SRC, DST, observer=meter.observer)
    from prometheus_client.parser import text_string_to_metric_families

    from translate.adapters.prometheus import exposition

    text, content_type = exposition(meter.registry)
    assert content_type.startswith("text/plain; version=0.0.4")
    found = {metric.name: metric for metric in text_string_to_metric_families(text.decode())}
    assert {name.removesuffix("_total") for name in NAMES.values()} <= found.keys()
    (units,) = found["translate_units"].samples
    assert (units.labels, units.value) == ({"src": SRC, "dst": DST}, len(TURN))


async def test_the_registry_of_the_client_is_the_default() -> None:
    meter = Prometheus()
    from translate.adapters import prometheus

    with patch.object(prometheus, "REGISTRY", type(meter.registry)()) as registry:
        await relay(each(*TURN), ignore, SRC, DST, observer=prometheus.PrometheusObserver())
        assert registry.get_sample_value("translate_units_total", {"src": SRC, "dst": DST}) == len(TURN)
        assert b"translate_units_total{" in prometheus.exposition()[0]


async def test_histograms_have_bounds_in_seconds() -> None:
    meter = OpenTelemetry()
    await relay(each(*TURN), ignore, SRC, DST, observer=meter.observer)
    for metric in meter.metrics():
        for point in metric.data.data_points:
            if hasattr(point, "explicit_bounds"):
                assert metric.unit == "s"
                assert 0 < point.explicit_bounds[0] <= 0.1


async def test_without_an_sdk_nothing_is_measured_and_nothing_fails(caplog: pytest.LogCaptureFixture) -> None:
    OpenTelemetry()
    from translate.adapters.opentelemetry import OpenTelemetryObserver

    stats = await relay(each(*TURN), ignore, SRC, DST, observer=OpenTelemetryObserver())
    assert stats.outcome == "finished"
    assert "failed" not in caplog.text


OPTIONAL = ("prometheus_client", "opentelemetry", "httpx", "httpx2", "starlette", "uvicorn", "h11")


@pytest.mark.parametrize("package", [None, *OPTIONAL[:5]])
def test_a_package_is_imported_by_its_own_module_alone(package: str | None) -> None:
    if package is not None:
        pytest.importorskip(package, reason=f"{package} is not installed")
    module = f".{package.removesuffix('_client')}" if package else ""
    code = f"import sys, translate.adapters{module}; print(*{{*{OPTIONAL}}} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=PATIENCE, check=True, text=True)
    # a client of HTTP may bring its own parser
    assert set(done.stdout.split()) - ({"h11"} if package else set()) == ({package} if package else set())
