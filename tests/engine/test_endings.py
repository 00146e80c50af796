"""How streams end, by the two source documents and the facts about both wires: stop, error, or nothing at all."""

import json

import pytest

from tests import wire
from tests.wire import (
    CLOCK,
    PARIS_MODEL,
    Object,
    attempt,
    call,
    chained,
    content,
    delta,
    failed,
    frame,
    item,
    shaped,
    start,
    stop,
    stripped,
    text_group,
    tool,
    translated,
    usage,
)
from translate import Failure, ToolArgumentsError, TranslateError, TruncatedStream, UpstreamFailure, check

SHAPE = ["", "-jsonl", "-sse"]

MID_ANSWER = [start(PARIS_MODEL), frame("contentStart"), frame("content", value="Par")]
CLOSED = failed(502, "The provider closed the connection mid-answer.")
# (the units that end a gateway stream, code, message, delivered before)
GATEWAY_FAILURES = {
    "error": ([*MID_ANSWER, failed(429, "Slow down.")], 429, "Slow down.", 1),
    "error 502 mid-answer": ([*MID_ANSWER, CLOSED], 502, CLOSED["message"], 1),
    "error 502, nothing produced": ([start(PARIS_MODEL), CLOSED], 502, CLOSED["message"], 0),
    "error alone": ([CLOSED], 502, CLOSED["message"], 0),
}


@pytest.mark.parametrize("shape", SHAPE)
@pytest.mark.parametrize("name", GATEWAY_FAILURES)
def test_gateway_stream_ends_in_an_error(name: str, shape: str) -> None:
    units, code, message, said = GATEWAY_FAILURES[name]
    src, dst = "gateway" + shape, "unievent" + shape
    stream = shaped(units, src)
    before = [delta(item("text.delta", "Par"), CLOCK)][:said]
    expected = [*before, {"error": {"type": "UpstreamError", "message": message, "status": code}}]

    out, error = attempt(stream, src, dst, loss="drop")
    assert isinstance(error, UpstreamFailure)
    assert (error.code, error.message) == (code, message)
    assert wire.read(out, dst) == before

    assert translated(stream, src, dst, loss="drop", errors="encode") == shaped(expected, dst)
    carried = translated(stream, src, dst, errors="encode")
    assert stripped(carried, dst) == shaped(expected, dst)
    assert check(carried, dst) == []
    assert translated(carried, dst, src, errors="encode") == stream


UPSTREAM: dict[str, tuple[Object, int]] = {
    "any class, a status": ({"type": "APIStatusError", "message": "Overloaded", "status": 529}, 529),
    "a status of 200": ({"type": "APIStatusError", "message": "Overloaded", "status": 200}, 502),
    "no status": ({"type": "APIConnectionError", "message": "gone"}, 502),
    "unsupported parameter": (
        {"type": "UnsupportedParameterError", "message": "no", "client": "c", "parameter": "p"},
        400,
    ),
    "unsupported operation": (
        {"type": "UnsupportedOperationError", "message": "no", "client": "c", "operation": "o"},
        400,
    ),
    "empty response": (
        {
            "type": "EmptyResponseError",
            "message": "nothing",
            "client": "c",
            "finish_reason": "length",
            "usage_metadata": {"cached_tokens": None, "prompt_tokens": 3, "thoughts_tokens": 9, "response_tokens": 0},
        },
        502,
    ),
    "arguments": (
        {
            "type": "ToolCallArgumentParseError",
            "message": "bad",
            "client": "c",
            "tool_name": "get_weather",
            "tool_call_id": "toolu_1",
            "raw_arguments_length": 3,
            "raw_arguments_preview": '{"a',
        },
        502,
    ),
    "only a message": ({"message": "?"}, 502),
    "protocol": ({"type": "StreamProtocolError", "message": "", "client": "c"}, 502),
}


@pytest.mark.parametrize("shape", SHAPE)
@pytest.mark.parametrize("name", UPSTREAM)
def test_unievent_stream_ends_in_an_error(name: str, shape: str) -> None:
    report, code = UPSTREAM[name]
    src, dst = "unievent" + shape, "gateway" + shape
    stream = shaped([delta(item("text.delta", "Par")), {"error": report}], src)
    expected = [start(), *content("Par")[:-1], failed(code, report["message"])]

    out, error = attempt(stream, src, dst, loss="drop")
    assert isinstance(error, UpstreamFailure)
    assert (error.code, error.message, error.kind) == (code, report["message"], report.get("type"))
    assert wire.read(out, dst) == expected[:-1]

    assert translated(stream, src, dst, loss="drop", errors="encode") == shaped(expected, dst)
    carried = translated(stream, src, dst, errors="encode")
    assert stripped(carried, dst) == shaped(expected, dst)
    assert check(carried, dst) == []
    assert translated(carried, dst, src, errors="encode") == stream


@pytest.mark.parametrize(
    ("reported", "said"), [(399, 502), (400, 400), (599, 599), (600, 502), (200, 502), (-1, 502), (None, 502)]
)
def test_a_code_is_a_status_of_an_error(reported: int | None, said: int) -> None:
    """Wherever the failure comes from; what it reported comes home."""
    failure = Failure(reported, "x")
    assert translated([failure], "events", "gateway", loss="drop", errors="encode") == [start(), failed(said, "x")]
    assert chained([failure], "events", "gateway-sse", "events", errors="encode")[-1] == failure
    units = [{"error": {"type": "E", "message": "x", "status": reported}}]
    assert translated(units, "unievent", "gateway", loss="drop", errors="encode") == [start(), failed(said, "x")]
    assert chained(units, "unievent", "gateway-jsonl", "unievent", errors="encode") == units


@pytest.mark.parametrize("shape", SHAPE)
def test_end_with_neither_is_a_failure(shape: str) -> None:
    gateway, unievent = "gateway" + shape, "unievent" + shape
    half = [delta(item("text.delta", "Par"))]
    for src, dst, units, before in (
        (gateway, unievent, MID_ANSWER, [delta(item("text.delta", "Par"), CLOCK)]),
        (unievent, gateway, half, [start(), *content("Par")[:-1]]),
        # a whole run is no answer either
        (unievent, gateway, text_group("Paris"), [start(), *content("Paris")]),
    ):
        # the reader of an event stream must not be told of its end by [DONE]
        stream = shaped(units, src).replace(b"data: [DONE]\n\n", b"") if shape == "-sse" else shaped(units, src)
        out, error = attempt(stream, src, dst, loss="drop")
        assert isinstance(error, TruncatedStream)
        assert wire.read(out, dst) == before
        *same, last = wire.read(translated(stream, src, dst, loss="drop", errors="encode"), dst)
        assert same == before
        said = last.get("error", last)
        assert said.get("status", said.get("code")) == 502
        assert "without a terminal unit" in said["message"]


@pytest.mark.parametrize("raw", ['{"location": "Par', "[]", '"Paris"', "null", "Paris", "{} {}"])
def test_malformed_arguments_raise_in_place_of_the_done(raw: str) -> None:
    units = [start(), tool("toolu_1", "get_weather", raw), usage(1, 1, "toolCall")]
    first = delta(call("delta", raw, "get_weather", "toolu_1"), CLOCK)
    out, error = attempt(units, "gateway", "unievent", loss="drop")
    assert out == [first]
    assert isinstance(error, ToolArgumentsError)
    assert (error.name, error.id, error.raw) == ("get_weather", "toolu_1", raw)

    *before, last = translated(units, "gateway", "unievent", loss="drop", errors="encode")
    assert before == [first]
    assert {k: v for k, v in last["error"].items() if k not in ("message", "client")} == {
        "type": "ToolCallArgumentParseError",
        "tool_name": "get_weather",
        "tool_call_id": "toolu_1",
        "raw_arguments_length": len(raw),
        "raw_arguments_preview": raw,
    }


def test_nothing_follows_an_end() -> None:
    for units in (
        [stop(), stop()],
        [stop(), {"error": {"message": "late"}}],
        [*text_group("a"), stop(), *text_group("b")],
    ):
        _, error = attempt(units, "unievent", "gateway")
        assert isinstance(error, TranslateError)
        assert error.state == "ended"


def test_error_event_has_no_value() -> None:
    text = b'event: error\ndata: {"success":false,"code":502,"message":"x"}\n\n'
    out = translated(text, "gateway-sse", "gateway", errors="encode")
    assert out == [json.loads(text.split(b"data: ")[1])]
    assert "value" not in out[0]
