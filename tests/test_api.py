"""The calls of the library: what they take, and what they say of what is wrong."""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.sources import BAD, ERROR, FRAMES, AsyncSource, Source, acollect, collect
from translate import (
    Append,
    Close,
    Event,
    Failure,
    Finding,
    Finish,
    GrammarError,
    Handover,
    LimitExceeded,
    Limits,
    LossError,
    Model,
    Open,
    Ping,
    Report,
    Start,
    TruncatedStream,
    UnknownFormat,
    UpstreamFailure,
    Usage,
    assemble,
    check,
    convert,
    decode,
    encode,
    registry,
)
from translate.engine.streams import AsyncStream, Stream
from translate_codecs.events import Events

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_one_chunk_alone(tmp_path: Path) -> None:
    data = b"".join(convert(FRAMES, "gateway", "gateway-sse"))
    for chunk in (data, data.decode(), bytearray(data), memoryview(data)):
        assert list(convert(chunk, "gateway-sse", "gateway")) == FRAMES
        assert list(convert(chunk, "gateway", "gateway")) == FRAMES
    path = tmp_path / "log"
    path.write_bytes(data)
    with path.open("rb") as binary, path.open() as text:
        assert list(convert(binary, "gateway-sse", "gateway")) == FRAMES
        assert list(convert(text, "gateway-sse", "gateway")) == FRAMES
        assert binary.closed
        assert text.closed
    assert list(convert(io.BytesIO(data), "gateway-sse", "gateway")) == FRAMES


Call: TypeAlias = Callable[[Any], Any]
CALLS: list[Call] = [
    lambda stream: convert(stream, "gateway", "unievent"),
    lambda stream: decode(stream, "gateway"),
    lambda stream: encode(stream, "gateway"),
    lambda stream: check(stream, "gateway"),
    lambda stream: assemble(stream, "gateway", "gateway"),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("stream", [None, 1, {"a": 1}, FRAMES[0], object(), Start(), list])
def test_what_is_no_stream(call: Call, stream: Any) -> None:
    with pytest.raises(TypeError, match="a stream is an iterable or asynchronous iterable of chunks, not"):
        call(stream)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "path", ["a/path.sse", "stream.jsonl", "C:\\logs\\a b.sse", "~/x.gz", "https://host/x", Path("a/path")]
)
def test_a_path_is_not_what_it_holds(call: Call, path: Any) -> None:
    with pytest.raises(TypeError, match=r"not its path .*: pass open\(path, 'rb'\)"):
        call(path)


@pytest.mark.parametrize("text", ['{"a":"x.sse"}', "data: 1\n\n", "[1.e]", "hello", "", '"a.b"', "a.b\n"])
def test_a_text_is_a_stream(text: str) -> None:
    assert isinstance(convert(text, "gateway-sse", "events"), Stream)


@pytest.mark.parametrize(
    ("option", "value", "takes"),
    [
        ("limits", 5, "a translate.Limits, or None, not 5"),
        ("limits", {"unit": 1}, "a translate.Limits, or None"),
        ("strict", "no", "True or False, not 'no'"),
        ("strict", 1, "True or False, not 1"),
        ("report", [], "a translate.Report, or None"),
        ("trace", True, "a translate.Trace, or None"),
        ("model", 7, "a translate.Model, a mapping of its fields, its name, or None, not 7"),
        ("clock", 7, "a function that gives milliseconds, or None, not 7"),
    ],
)
def test_a_wrong_value_of_an_option_fails_at_the_call(option: str, value: Any, takes: str) -> None:
    with pytest.raises(TypeError, match=f"{option} is {takes}"):
        convert([], "gateway", "unievent", **{option: value})


def test_options_that_do_not_exist_fail_at_the_call() -> None:
    wrong: dict[str, Any] = {"stict": True}
    with pytest.raises(TypeError, match=r"convert\(\) has no option 'stict'; did you mean 'strict'\? Its options are"):
        convert([], "gateway", "unievent", **wrong)
    only = r"decode\(\) has no option 'loss'\. Its options are clock, limits, report, strict$"
    with pytest.raises(TypeError, match=only):
        decode([], "gateway", **{"loss": "drop"})  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"encode\(\) has no option 'strict'"):
        encode([], "gateway", **{"strict": True})  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"limits is a translate\.Limits"):
        check([], "gateway", limits=5)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="model has no field 'nme': its fields are name, tier, publisher, provider"):
        convert([], "gateway", "unievent", model={"nme": "x"})
    for value in ("8M", -1, 1.5, True):
        with pytest.raises(ValueError, match="the limit 'unit' is a whole number from 0"):
            Limits(unit=value)  # type: ignore[arg-type]


async def test_the_colour_of_the_output_is_that_of_the_input() -> None:
    assert isinstance(convert(FRAMES, "gateway", "unievent"), Stream)
    assert isinstance(convert(AsyncSource(), "gateway", "unievent"), AsyncStream)
    assert isinstance(encode([], "gateway"), Stream)
    assert isinstance(encode(AsyncSource(), "gateway"), AsyncStream)
    assert isinstance(decode([], "gateway"), Stream)
    assert isinstance(decode(AsyncSource(), "gateway"), AsyncStream)


async def test_every_call_takes_asynchronous_streams() -> None:
    events, _ = collect(decode(FRAMES, "gateway"))
    assert await acollect(decode(AsyncSource(*FRAMES), "gateway")) == (events, None)
    assert await acollect(encode(AsyncSource(*events), "gateway")) == (FRAMES, None)
    message: Awaitable[Any] = assemble(AsyncSource(*FRAMES), "gateway", "gateway")
    assert await message == assemble(FRAMES, "gateway", "gateway") == [{"type": "content", "value": "ab"}]
    assert await check(AsyncSource(*FRAMES), "gateway") == check(FRAMES, "gateway") == []
    wrong = [*FRAMES[:2], BAD, BAD]
    found = await check(AsyncSource(*wrong), "gateway")
    assert found == check(wrong, "gateway")
    assert [finding.unit for finding in found] == [3]
    with pytest.raises(UpstreamFailure, match="down"):
        await assemble(AsyncSource(*FRAMES[:2], ERROR), "gateway", "gateway")


UNKNOWN: list[Callable[[Any, str], Any]] = [
    lambda stream, name: convert(stream, name, "gateway"),
    lambda stream, name: convert(stream, "gateway", name),
    decode,
    encode,
    check,
    lambda stream, name: assemble(stream, name, "gateway"),
    lambda stream, name: assemble(stream, "gateway", name),
]


@pytest.mark.parametrize("call", UNKNOWN)
def test_an_unknown_format_is_refused_before_anything_is_read(call: Callable[[Any, str], Any]) -> None:
    for stream in (FRAMES, AsyncSource(*FRAMES)):
        with pytest.raises(UnknownFormat, match="did you mean 'gateway-sse'"):
            call(stream, "gateway-see")


# ---- options ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("option", "value"), [("loss", "x"), ("errors", "x"), ("loss", None), ("errors", "carry")])
def test_options_are_of_their_words(option: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{option} is one of "):
        convert([], "gateway", "unievent", **{option: value})
    if option == "loss":
        with pytest.raises(ValueError, match="loss is one of"):
            encode([], "unievent", loss=value)


@pytest.mark.parametrize("model", ["m", {"name": "m"}, Model("m"), None])
def test_the_model(model: Any) -> None:
    events: list[Event] = [Open("text"), Append("a"), Close(), Finish()]
    for units in (encode(events, "gateway", model=model), convert(events, "events", "gateway", model=model)):
        assert next(units)["value"]["model"]["name"] == ("m" if model else "unknown")


def test_the_clock() -> None:
    assert next(convert(FRAMES, "gateway", "unievent", clock=lambda: 42))["created_at"] == 42
    stamped = next(convert(FRAMES, "gateway", "unievent"))["created_at"]
    assert type(stamped) is int
    assert stamped > 1_600_000_000_000


# ---- decode, encode ---------------------------------------------------------------------------


def test_a_failure_is_yielded() -> None:
    assert list(decode([*FRAMES[:2], ERROR], "gateway"))[-1] == Failure(503, "down")


def test_decode_is_strict_unless_told_otherwise() -> None:
    report = Report()
    units = [FRAMES[0], *FRAMES[2:]]
    assert isinstance(collect(decode(units, "gateway"))[1], GrammarError)
    assert len(list(decode(units, "gateway", strict=False, report=report))) == 6
    assert report.repairs
    assert isinstance(collect(decode(FRAMES, "gateway", limits=Limits(part=1)))[1], LimitExceeded)


GRAMMAR: list[tuple[list[Any], int, str]] = [
    ([Append("a")], 0, "'append' may not stand between parts"),
    ([Start(), Close()], 1, "'close' may not stand between parts"),
    ([Open("text"), Open("text")], 1, "'open' may not stand in a part"),
    ([Open("text"), Start()], 1, "'start' may not stand in a part"),
    ([Open("text"), Finish()], 1, "'finish' may not stand in a part"),
    ([Open("text"), Append(b"a")], 1, "a part of kind 'text' cannot grow by this"),
    ([Open("embedding"), Append("a")], 1, "a part of kind 'embedding' cannot grow by this"),
    ([Open("x")], 0, "no part is of kind 'x'"),  # type: ignore[arg-type]
    ([Finish(), Ping()], 1, "'ping' may not stand ended"),
    ([Finish(), Finish()], 1, "'finish' may not stand ended"),
    ([Failure(500, "x"), Usage()], 1, "'usage' may not stand ended"),
    ([Handover(), 1], 1, "'int' may not stand between parts"),
    ([{"event": "ping"}], 0, "'dict' may not stand between parts"),
]


@pytest.mark.parametrize("dst", ["gateway", "unievent-sse", "events-jsonl", "events"])
@pytest.mark.parametrize(("events", "unit", "what"), GRAMMAR)
def test_events_that_break_the_grammar(events: list[Any], unit: int, what: str, dst: str) -> None:
    error = collect(encode(events, dst))[1]
    assert isinstance(error, GrammarError)
    assert what in error.what
    assert error.expected
    assert (error.format, error.unit) == ("events", unit)


@pytest.mark.parametrize("events", [[], [Start()], [Open("text"), Append("a")], [Open("text"), Append("a"), Close()]])
def test_events_without_an_end(events: list[Event]) -> None:
    for dst in ("gateway", "unievent", "events"):
        error = collect(encode(events, dst))[1]
        assert isinstance(error, TruncatedStream)
        assert error.expected


def test_what_was_pending_is_on_the_error() -> None:
    events: list[Event] = [Start(), Open("embedding"), Append([1.0]), Close()]
    found, error = collect(encode(events, "gateway"))
    assert len(found) == 1
    assert isinstance(error, TruncatedStream)
    entries = [entry for carry in error.pending for entry in carry["events"]]
    assert [entry["event"] for entry in entries] == ["open", "append", "close"]


def test_the_loss_of_events() -> None:
    events: list[Event] = [Start(), Open("embedding"), Append([1.0]), Close(), Finish()]
    found, error = collect(encode(events, "gateway", loss="raise"))
    assert isinstance(error, LossError)
    assert error.unit == 1
    report = Report()
    assert len(list(encode(events, "gateway", loss="drop", report=report))) == len(found) + 1
    assert {finding.unit for finding in report.losses} >= {1, 2}


# ---- check, assemble --------------------------------------------------------------------------


def test_check_finds_every_fault_of_form() -> None:
    units = [FRAMES[0], FRAMES[1], {**FRAMES[2], "code": "x"}, FRAMES[3]]
    findings = check(units, "gateway")
    assert {finding.unit for finding in findings} == {2}
    assert all(isinstance(finding, Finding) and finding.content for finding in findings)
    assert findings[-1].field == "DecodeError"
    assert findings[0].field.endswith("code")


def test_check_of_every_shape() -> None:
    for dst in ("gateway-sse", "gateway-jsonl", "unievent", "unievent-sse", "unievent-jsonl", "events", "events-jsonl"):
        units = list(convert(FRAMES, "gateway", dst))
        assert check(units, dst) == []
        assert [finding.field for finding in check(units[:-1], dst)] == ["TruncatedStream"]


def test_check_of_events_looks_at_their_form() -> None:
    events = [Start(created="x"), Finish()]  # type: ignore[arg-type]
    assert [finding.unit for finding in check(events, "events")] == [0, 0, 0]
    assert check([Failure(None, "", None, {"$number": "x", "a": float("nan")})], "events") == []
    assert check([Failure(None, "", None, {"a": {"$number": "x"}})], "events") == []


def test_check_raises_what_is_no_fault_of_the_stream() -> None:
    def source() -> Any:
        raise OSError("gone")
        yield

    with pytest.raises(OSError, match="gone"):
        check(source(), "gateway")


def test_check_keeps_limits() -> None:
    assert [finding.field for finding in check(FRAMES, "gateway", limits=Limits(part=1))] == ["LimitExceeded"]


def test_assemble() -> None:
    with pytest.raises(TruncatedStream):
        assemble(FRAMES[:3], "gateway", "unievent")
    message = assemble(FRAMES, "gateway", "unievent")
    assert message["content_items"] == [{"type": "text.done", "text": "ab"}]
    with pytest.raises(UnknownFormat):
        assemble(FRAMES, "gateway", "x")
    with pytest.raises(LimitExceeded):
        assemble(FRAMES, "gateway", "gateway", limits=Limits(part=1))
    lenient = [FRAMES[0], *FRAMES[2:]]
    assert assemble(lenient, "gateway", "gateway", strict=False) == assemble(FRAMES, "gateway", "gateway")


class WithoutModels(Events):
    """A codec that describes no unit."""

    name = "modelless"

    def models(self) -> dict[str, Any]:
        return {}


def test_check_of_a_codec_without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._registered, "modelless", WithoutModels())
    assert check([Finish()], "modelless") == []
    assert [finding.field for finding in check([Finish(), Finish()], "modelless")] == ["GrammarError"]


async def test_an_exception_of_the_source_of_events() -> None:
    boom = OSError("gone")
    assert collect(encode(Source(Start(), boom), "gateway"))[1] is boom
    assert (await acollect(encode(AsyncSource(Start(), boom), "gateway")))[1] is boom


def test_a_stream_tells_what_its_failure_unit_stands_for() -> None:
    start = {"success": True, "code": 200, "value": {"type": "streamStart", "model": {}}}
    cut = convert([start], "gateway", "unievent", errors="encode")
    assert cut.failure is None
    assert "error" in list(cut)[-1]
    assert isinstance(cut.failure, TruncatedStream)
    failed = convert([{"success": False, "code": 429, "message": "later"}], "gateway", "unievent", errors="encode")
    assert len(list(failed)) == 1
    assert isinstance(failed.failure, UpstreamFailure)
    assert failed.failure.code == 429
