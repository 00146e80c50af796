"""Anthropic Messages as people meet it: what each odd stream means, and that it comes home."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from tests.codecs.anthropic_streams import (
    CLOCK,
    PING,
    STOP,
    S,
    Units,
    args,
    block,
    delta,
    end,
    fails,
    home,
    signed,
    sse,
    start,
    stop,
    text,
    thinks,
)
from tests.codecs.chat_streams import said
from translate import check, convert, decode
from translate.algebra.events import Failure, Finish, Open
from translate.carry.losses import Report
from translate.errors import LossError, TruncatedStream

HEAD = ["start", "usage 15 1"]
OVER = ["usage 15 9", "finish stop 15 9"]
CALL = "open tool_call toolu_0 f"
HI = ["open text", "+Hi", "close"]
BIG = {"n": 12345678901234567890123}


class Row(NamedTuple):
    """``units`` mean ``events``, in short words; ``takes``: the formats that they go through, and come home from."""

    units: Units
    events: list[str]
    takes: tuple[str, ...] = ("unievent", "unievent-sse", "gateway", "gateway-sse", "openai-chat-sse", "events-jsonl")


RAW = ("gateway", "gateway-sse", "openai-chat-sse", "events-jsonl")
TEXT = [block(0, "text"), text(0, "Hi"), stop(0)]
ROWS: dict[str, Row] = {
    "a later count replaces its own alone": Row(
        [S, *TEXT, end("end_turn", usage={"input_tokens": 8, "output_tokens": 9}), STOP],
        [*HEAD, *HI, "usage 16 9", "finish stop 16 9"],
    ),
    "a later unit without counts of input": Row(
        [S, *TEXT, end("end_turn", 2), STOP], [*HEAD, *HI, "usage 15 2", "finish stop 15 2"]
    ),
    "zeros at the start are no counts": Row(
        [start(), *TEXT, end("end_turn", usage={"input_tokens": 3, "output_tokens": 2}), STOP],
        ["start", *HI, "usage 3 2", "finish stop 3 2"],
    ),
    "null leaves a count as it was": Row(
        [S, *TEXT, end("end_turn", usage={"output_tokens": 9, "cache_read_input_tokens": None}), STOP],
        [*HEAD, *HI, *OVER],
    ),
    "two message_deltas": Row(
        [S, *TEXT, end(None, 4), end("end_turn", 5), STOP],
        [*HEAD, *HI, "usage 15 4", "usage 15 5", "finish stop 15 5"],
    ),
    "a signature": Row(
        [S, block(0, "thinking"), thinks(0, "hm"), signed(0, "S"), stop(0), end("end_turn"), STOP],
        [*HEAD, "open thinking", "+hm", "+ [anthropic:signature=S]", "close", *OVER],
    ),
    "a signature without text": Row(
        [S, block(0, "thinking"), signed(0, "S"), stop(0), block(1, "text"), stop(1), end("end_turn"), STOP],
        [*HEAD, "open thinking", "+ [anthropic:signature=S]", "close", "open text", "close", *OVER],
    ),
    "two signatures": Row(
        [S, block(0, "thinking"), signed(0, "A"), signed(0, "B"), stop(0), end("end_turn"), STOP],
        [*HEAD, "open thinking", "+ [anthropic:signature=A]", "+ [anthropic:signature=B]", "close", *OVER],
    ),
    "the same signature twice": Row(
        [S, block(0, "thinking"), signed(0, "A"), signed(0, "A"), stop(0), end("end_turn"), STOP],
        [*HEAD, "open thinking", "+ [anthropic:signature=A]", "+ [anthropic:signature=A]", "close", *OVER],
    ),
    "redacted, twice": Row(
        [
            S,
            *(block(0, "redacted_thinking", data="D"), stop(0), block(1, "redacted_thinking", data="E"), stop(1)),
            *(end("end_turn"), STOP),
        ],
        [
            *HEAD,
            *("open thinking", "+_REDACTED_THINKING [anthropic:signature=D]", "close"),
            *("open thinking", "+_REDACTED_THINKING [anthropic:signature=E]", "close"),
            *OVER,
        ],
    ),
    "thinking that is the text of redacted thinking": Row(
        [S, block(0, "thinking"), thinks(0, "_REDACTED_THINKING"), signed(0, "S"), stop(0), end("end_turn"), STOP],
        [*HEAD, "open thinking", "+_REDACTED_THINKING", "+ [anthropic:signature=S]", "close", *OVER],
    ),
    "thinking and signature at the start": Row(
        [S, block(0, "thinking", thinking="hm", signature="S"), stop(0), end("end_turn"), STOP],
        [*HEAD, "open thinking", "+hm [anthropic:signature=S]", "close", *OVER],
    ),
    "text at the start": Row(
        [S, block(0, "text", text="Hi", citations=None), stop(0), end("end_turn"), STOP], [*HEAD, *HI, *OVER]
    ),
    "blank arguments": Row(
        [S, block(0, "tool_use"), args(0, ""), stop(0), end("tool_use"), STOP],
        [*HEAD, CALL, "+", "foreign", "close", "usage 15 9", "finish tool_call 15 9"],
    ),
    "no arguments at all": Row(
        [S, block(0, "tool_use"), stop(0), end("tool_use"), STOP],
        [*HEAD, CALL, "foreign", "close", "usage 15 9", "finish tool_call 15 9"],
    ),
    "whole input at the start": Row(
        [S, block(0, "tool_use", input={"n": 10}), stop(0), end("tool_use"), STOP],
        [*HEAD, CALL, '+{"n":10}', "close", "usage 15 9", "finish tool_call 15 9"],
    ),
    "a number beyond a double": Row(
        [S, block(0, "tool_use", input=BIG), stop(0), end("tool_use"), STOP],
        [*HEAD, CALL, '+{"n":12345678901234567890123}', "close", "usage 15 9", "finish tool_call 15 9"],
    ),
    "half a call": Row(
        [S, block(0, "tool_use"), args(0, '{"a": "b'), end("max_tokens"), STOP],
        [*HEAD, CALL, '+{"a": "b', "cut", "usage 15 9", "finish length 15 9"],
        RAW,
    ),
    "half a call, and its end": Row(
        [S, block(0, "tool_use"), args(0, '{"a": "b'), stop(0), end("max_tokens"), STOP],
        [*HEAD, CALL, '+{"a": "b', "foreign", "cut", "usage 15 9", "finish length 15 9"],
        RAW,
    ),
    "a call of which nothing came": Row(
        [S, block(0, "tool_use"), stop(0), end("max_tokens"), STOP],
        [*HEAD, CALL, "foreign", "cut", "usage 15 9", "finish length 15 9"],
        RAW,
    ),
    "half a call, and a reason later": Row(
        [S, block(0, "tool_use"), args(0, "{"), stop(0), PING, end(None, 4), end("max_tokens"), STOP],
        [*HEAD, CALL, "+{", "foreign", "usage 15 4", "cut", "usage 15 9", "finish length 15 9"],
        RAW,
    ),
    "a whole call when the tokens ran out": Row(
        [S, block(0, "tool_use"), args(0, "{}"), stop(0), end("max_tokens"), STOP],
        [*HEAD, CALL, "+{}", "close", "usage 15 9", "finish length 15 9"],
    ),
    "blank arguments, then text": Row(
        [S, block(0, "tool_use"), stop(0), block(1, "text"), text(1, "Hi"), stop(1), end("max_tokens"), STOP],
        [*HEAD, CALL, "foreign", "close", *HI, "usage 15 9", "finish length 15 9"],
    ),
    "text that is open when the tokens ran out": Row(
        [S, block(0, "text"), text(0, "Hi"), end("max_tokens"), STOP],
        [*HEAD, "open text", "+Hi", "cut", "usage 15 9", "finish length 15 9"],
    ),
    "an index that is not the count": Row(
        [S, block(3, "text"), text(3, "Hi"), stop(3), end("end_turn"), STOP], [*HEAD, *HI, *OVER]
    ),
    "a block without a kind": Row(
        [
            *(S, block(0, "x_new"), delta(0, "x_delta"), stop(0)),
            *(block(1, "text"), text(1, "Hi"), stop(1), end("end_turn"), STOP),
        ],
        [*HEAD, "foreign", "foreign", "foreign", *HI, *OVER],
    ),
    "a delta of unknown type": Row(
        [S, block(0, "text"), delta(0, "future_delta", x=1), text(0, "Hi"), stop(0), end("end_turn"), STOP],
        [*HEAD, "open text", "foreign", "+Hi", "close", *OVER],
    ),
    "a unit of unknown type": Row(
        [{"type": "x_early"}, S, {"type": "x_late"}, *TEXT, end("end_turn"), STOP],
        ["foreign", *HEAD, "foreign", *HI, *OVER],
    ),
    "a ping before the first fragment": Row(
        [S, block(0, "thinking"), PING, thinks(0, "Hi"), stop(0), end("end_turn"), STOP],
        [*HEAD, "open thinking", "+Hi", "close", *OVER],
    ),
    "server tools and citations": Row(
        [
            S,
            *(block(0, "server_tool_use"), args(0, '{"query":"x"}'), stop(0)),
            *(block(1, "web_search_tool_result", tool_use_id="toolu_0", content=[{"u": 1.5}], caller={}), stop(1)),
            *(block(2, "text"), delta(2, "citations_delta", citation={"u": 1}), text(2, "so"), stop(2)),
            *(block(3, "mcp_tool_use", id="m", name="f", input={}, server_name="s"), stop(3)),
            *(block(4, "mcp_tool_result", tool_use_id="m", is_error=True), stop(4)),
            *(end("end_turn"), STOP),
        ],
        [
            *(*HEAD, "open server_tool_call toolu_0 f", '+{"query":"x"}', "close"),
            *("open server_tool_result toolu_0 web_search", '+[{"u":1.5}]', "close"),
            *("open text", "note anthropic", "+so", "close"),
            *("open server_tool_call m f", "close", "open server_tool_result m mcp", "close", *OVER),
        ],
    ),
    "a result whose call is in the message before": Row(
        [S, block(0, "code_execution_tool_result", tool_use_id="x", content={}), stop(0), end("pause_turn"), STOP],
        [*HEAD, "open server_tool_result x code_execution", "+{}", "close", "usage 15 9", "finish pause 15 9"],
    ),
    "a refusal without a block": Row(
        [S, end("refusal", delta={"stop_reason": "refusal", "stop_details": {"explanation": "why"}}), STOP],
        [*HEAD, "usage 15 9", "finish refusal 15 9"],
    ),
    "a reason without a word": Row(
        [S, end("compaction"), STOP], [*HEAD, "usage 15 9", "finish unknown compaction 15 9"]
    ),
    "a stop sequence": Row(
        [S, end("stop_sequence", delta={"stop_reason": "stop_sequence", "stop_sequence": "x"}), STOP],
        [*HEAD, "usage 15 9", "finish stop stop_sequence 15 9"],
    ),
    "an error in a block": Row(
        [S, block(0, "text"), text(0, "x"), fails("overloaded_error")],
        [*HEAD, "open text", "+x", "failure 529 no"],
    ),
    "an error after blank arguments": Row(
        [S, block(0, "tool_use"), stop(0), fails("api_error")],
        [*HEAD, CALL, "foreign", "close", "failure 500 no"],
    ),
    "an error of an unknown word": Row(
        [{**fails("x_error", at=1), "request_id": "r"}], ["failure 502 no"], ("unievent", "gateway-sse", "events-jsonl")
    ),
    "an error first": Row([fails("rate_limit_error")], ["failure 429 no"]),
    "blocks and a reason at the start": Row(
        [
            start(
                {"input_tokens": 7, "output_tokens": 1},
                content=[
                    {"type": "text", "text": "Hi"},
                    {"type": "tool_use", "id": "t", "name": "f", "input": {"n": 1}, "caller": {"type": "x"}},
                ],
                stop_reason="tool_use",
                container={"id": "c"},
            ),
            {**STOP, "amazon-bedrock-invocationMetrics": {"inputTokenCount": 7}},
        ],
        [
            *("start", "usage 7 1", *HI, "open tool_call t f", '+{"n":1}', "close"),
            "finish tool_call 7 1",
        ],
    ),
    "a last block at the start that was cut": Row(
        [start(content=[{"type": "tool_use", "id": "t", "name": "f", "input": {}}], stop_reason="max_tokens"), STOP],
        ["start", "open tool_call t f", "cut", "finish length None None"],
        RAW,
    ),
    "thinking without text": Row(
        [
            *(S, block(0, "thinking"), delta(0, "thinking_delta", thinking="", estimated_tokens=5), stop(0)),
            *(end("end_turn"), STOP),
        ],
        [*HEAD, "open thinking", "+", "close", *OVER],
    ),
    "no content at all": Row([S, end("end_turn"), STOP], [*HEAD, *OVER]),
    "a part without a fragment": Row(
        [S, block(0, "text"), stop(0), end("end_turn"), STOP], [*HEAD, "open text", "close", *OVER]
    ),
    "no counts and no reason": Row(
        [start(usage=None, model=None, id=None), {"type": "message_delta", "delta": {}}, STOP],
        ["start", "usage None None", "finish unknown None None"],
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_stream_means(name: str) -> None:
    row = ROWS[name]
    for strict in (True, False):
        assert said(row.units, "anthropic", strict=strict) == row.events
        assert said(sse(row.units), "anthropic-sse", strict=strict) == row.events


@pytest.mark.parametrize("name", ROWS)
def test_a_stream_comes_home(name: str) -> None:
    row = ROWS[name]
    assert home(row.units) == row.units
    for format in row.takes:
        assert home(row.units, format) == row.units, format
    assert home(row.units, *row.takes[:2], *row.takes[1::-1][1:]) == row.units


def test_a_whole_input_is_text_as_it_stands() -> None:
    units = [S, block(0, "tool_use", input={"n": ["odd"]}), stop(0), end("tool_use"), STOP]
    odd = b"[1.50,1e2,0.1234567890123456789]"
    data = sse(units).replace(b'["odd"]', odd)
    assert f'+{{"n":{odd.decode()}}}' in said(data, "anthropic-sse")
    assert not check([data], "anthropic-sse")
    for format in ("anthropic", "anthropic-jsonl", "unievent", "gateway-sse", "openai-chat-sse", "events-jsonl"):
        mid = list(convert([data], "anthropic-sse", format, clock=lambda: CLOCK))
        back = b"".join(convert(mid, format, "anthropic-sse"))
        assert odd in back, format
        assert b"carry" not in back, format
    unit = list(convert([data], "anthropic-sse", "anthropic"))[1]
    assert "carry" not in unit
    assert json.loads(json.dumps(unit))["content_block"]["input"] == {"n": [1.5, 100.0, 0.1234567890123456789]}


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.takes == RAW])
def test_half_a_call_is_never_said_as_a_whole_one(name: str) -> None:
    units = ROWS[name].units
    assert said(list(convert(units, "anthropic", "unievent", errors="encode")), "unievent")[-1].startswith("failure")
    frames = list(convert(units, "anthropic", "gateway", loss="drop"))
    assert not any(frame["value"]["type"] == "tool" for frame in frames)
    with pytest.raises(LossError):
        list(convert(units, "anthropic", "gateway", loss="raise"))


STATES: dict[str, Units] = {
    "after the last stop": ROWS["a signature"].units[:-2],
    "after message_delta": ROWS["a signature"].units[:-1],
    "after the end of half a call": ROWS["half a call, and its end"].units[:-2],
    "before anything": [],
}


@pytest.mark.parametrize("name", STATES)
def test_an_end_of_input_before_the_end_is_no_success(name: str) -> None:
    with pytest.raises(TruncatedStream):
        list(decode(STATES[name], "anthropic"))
    out = list(convert(STATES[name], "anthropic", "anthropic", errors="encode"))
    assert out[-1]["type"] == "error"


REFUSED: dict[str, tuple[Units, str, list[str] | None]] = {
    "the same message_start again": ([S, S, *TEXT, end("end_turn"), STOP], "GrammarError", [*HEAD, *HI, *OVER]),
    "a second message_start": ([S, start()], "GrammarError", None),
    "a block in a block": (
        [S, block(0, "text"), block(1, "text"), text(1, "Hi"), stop(1), end("end_turn"), STOP],
        "GrammarError",
        [*HEAD, "open text", "close", *HI, *OVER],
    ),
    "a block in a block without a kind": (
        [S, block(0, "x_new"), block(1, "text"), text(1, "Hi"), stop(1), end("end_turn"), STOP],
        "GrammarError",
        [*HEAD, "foreign", "foreign", *HI, *OVER],
    ),
    "no message_delta": ([S, STOP], "GrammarError", [*HEAD, "usage 15 1", "finish unknown 15 1"]),
    "a delta of another block": ([S, block(0, "text"), text(1, "x")], "GrammarError", None),
    "the end of another block": ([S, block(0, "text"), stop(1)], "GrammarError", None),
    "a delta of another kind": ([S, block(0, "text"), thinks(0, "x")], "GrammarError", None),
    "a delta in a result": ([S, block(0, "x_tool_result", tool_use_id="x"), text(0, "x")], "GrammarError", None),
    "a delta before a block": ([S, text(0, "x")], "GrammarError", None),
    "a block after message_delta": ([S, end("end_turn"), block(0, "text")], "GrammarError", None),
    "a block before message_start": ([block(0, "text")], "GrammarError", None),
    "the end in a block": ([S, block(0, "text"), STOP], "GrammarError", None),
    "text without text": ([S, {**block(0, "x"), "content_block": {"type": "text"}}], "DecodeError", None),
    "a call without an id": ([S, block(0, "tool_use", id=None)], "DecodeError", None),
    "a call without a name": ([S, block(0, "tool_use", name=1)], "DecodeError", None),
    "redacted thinking without data": ([S, block(0, "redacted_thinking")], "DecodeError", None),
    "a result without its call": ([S, block(0, "web_search_tool_result")], "DecodeError", None),
    "input that is no object": ([S, block(0, "tool_use", input=[])], "DecodeError", None),
    "a fragment that is no text": ([S, block(0, "text"), delta(0, "text_delta", text=1)], "DecodeError", None),
    "a citation that is not there": ([S, block(0, "text"), delta(0, "citations_delta")], "DecodeError", None),
    "a count that is no integer": ([start({"input_tokens": "7"})], "DecodeError", None),
    "content that is no list": ([start(content={})], "DecodeError", None),
    "a block that is no object": ([start(content=[1])], "DecodeError", None),
    "no type": ([{"x": 1}], "DecodeError", None),
    "an error that is no object": ([{"type": "error", "error": "x"}], "DecodeError", None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_strict_and_lenient(name: str) -> None:
    units, error, mended = REFUSED[name]
    assert said(units, "anthropic")[-1] == error
    found = said(units, "anthropic", strict=False)
    if mended is None:
        assert found[-1] == error
        return
    assert found == mended
    report = Report()
    list(convert(units, "anthropic", "unievent", strict=False, report=report))
    assert len(report.repairs) == 1


def test_a_name_unlike_the_type_is_the_types_in_lenient_mode() -> None:
    data = sse([S, *TEXT, end("end_turn"), STOP]).replace(b"event: message_stop", b"event: x")
    assert said(data, "anthropic-sse")[-1] == "DecodeError"
    assert said(data, "anthropic-sse", strict=False) == [*HEAD, *HI, *OVER]
    without = b"\n".join(line for line in data.split(b"\n") if not line.startswith(b"event:"))
    assert said(without, "anthropic-sse") == [*HEAD, *HI, *OVER]


EXPLAINED = {"type": "refusal", "explanation": "why"}


@pytest.mark.parametrize(
    "units",
    [
        [S, end("refusal", delta={"stop_reason": "refusal", "stop_details": EXPLAINED}), STOP],
        [start(stop_reason="refusal", stop_details=EXPLAINED), STOP],
        # through a format that says none of it
        list(convert(ROWS["a refusal without a block"].units, "anthropic", "gateway", clock=lambda: CLOCK)),
    ],
    ids=["with the counts", "with the start", "in a carry"],
)
@pytest.mark.parametrize("dst", ["openai-chat", "openai-chat-sse", "unievent", "gateway"])
def test_the_explanation_of_a_refusal_is_content(units: Units, dst: str) -> None:
    src = "anthropic" if units[0].get("type") else "gateway"
    report = Report()
    list(convert(units, src, dst, report=report))
    assert [f.content for f in report.losses if "in words for the user" in f.reason] == [True]
    with pytest.raises(LossError, match="in words for the user"):
        list(convert(units, src, dst, loss="raise"))


@pytest.mark.parametrize("details", [None, {}, {"type": "refusal", "explanation": None}, [], "x"])
def test_details_without_an_explanation_are_no_content(details: Any) -> None:
    units = [S, end("end_turn", delta={"stop_reason": "end_turn", "stop_details": details}), STOP]
    report = Report()
    list(convert(units, "anthropic", "openai-chat", report=report))
    assert not any(finding.content for finding in report.losses)
    list(convert(units, "anthropic", "openai-chat", loss="raise"))


def test_an_end_marker_is_read_and_never_written() -> None:
    units = [S, *TEXT, end("end_turn"), STOP]
    for marker in (b"data: [DONE]\n\n", b"event: data\ndata: [DONE]\n\n"):
        data = sse(units) + marker
        assert said(data, "anthropic-sse") == [*HEAD, *HI, *OVER]
        assert b"[DONE]" not in b"".join(convert([data], "anthropic-sse", "anthropic-sse"))


def test_no_reader_of_chat_joins_two_redacted_blocks() -> None:
    units = ROWS["redacted, twice"].units
    chunks: list[Any] = list(convert(units, "anthropic", "openai-chat", loss="drop", clock=lambda: CLOCK))
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    entries = [entry for delta in deltas for entry in delta.get("reasoning_details", ())]
    assert [(e["data"], e["index"]) for e in entries] == [("D", 0), ("E", 1)]


def test_no_start_is_made_up_for_an_error() -> None:
    for format in ("unievent", "openai-chat"):
        assert len(list(convert([fails("api_error")], "anthropic", format, errors="encode"))) == 1
    assert [type(event) for event in decode([fails("api_error")], "anthropic")] == [Failure]


def test_a_count_that_the_end_of_the_message_has_is_all_that_is_known() -> None:
    *_, finish = decode(ROWS["a later count replaces its own alone"].units, "anthropic")
    assert isinstance(finish, Finish)
    assert (finish.usage.cached_tokens, finish.usage.other) == (5, {"cache_creation_input_tokens": 3})
    opened = [e.kind for e in decode(ROWS["server tools and citations"].units, "anthropic") if isinstance(e, Open)]
    assert opened == ["server_tool_call", "server_tool_result", "text", "server_tool_call", "server_tool_result"]
