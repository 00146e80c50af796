"""Gemini: its ends, what strict and lenient reading do, and what is written for others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.codecs.gemini_streams import CLOCK, at, call, chunk, data, native, piece, said, sse, text, through
from translate import (
    Append,
    Close,
    Failure,
    Finish,
    Limits,
    Open,
    Reason,
    Report,
    Start,
    TokenCounts,
    assemble,
    check,
    codec,
    convert,
    decode,
    encode,
)
from translate.algebra.events import Annotate, Event, Handover, Model, Ping, State, Usage, bare
from translate.errors import LimitExceeded, ToolArgumentsError
from translate.testing import at_home

TOOLS = "toolUsePromptTokenCount"
STOP = Finish(TokenCounts(), Reason("stop"))
TEXT: list[Event] = [Open("text"), Append("Hi"), Close()]


def written(*events: Event, **options: Any) -> list[Any]:
    """What is written of events, without carries."""
    return list(encode(events, "gemini", clock=lambda: CLOCK, loss="drop", **options))


def parts(*events: Event, **options: Any) -> list[Any]:
    """The parts that are written of events, chunk by chunk."""
    return [unit["candidates"][0]["content"]["parts"] for unit in written(*events, **options)]


def home(events: list[Event]) -> list[Event]:
    """What comes back of events, but for what was made up on the way."""
    return [bare(event) for event in at_home(decode(encode(events, "gemini-sse"), "gemini-sse"), "gemini")]


# ---- ends


def test_7_an_array_without_its_bracket_was_cut_short() -> None:
    body = json.dumps([chunk(text("a"), reason="STOP")]).encode()
    assert said(body, "gemini-array")[-1] == "finish stop STOP None None"
    assert said(body[:-1], "gemini-array")[-1] == "TruncatedStream"
    assert said(b'{"error": {"code": 400, "message": "m"}}', "gemini-array") == ["failure 400 m"]


def test_an_array_comes_home_and_is_recognised_as_objects() -> None:
    body = json.dumps([chunk(text("a")), chunk(text("b"), reason="STOP")], indent=1).encode()
    back = through(body, "gemini-array", "unievent-sse", "gemini-array")
    assert json.loads(back) == json.loads(body)
    assert said(body, "gemini") == said(body, "gemini-array")
    assert said(body[:-1], "gemini")[-1] == "TruncatedStream"


@pytest.mark.parametrize("stream", [b'{"a": 1}\n\n', b"[{}]\n\n"], ids=["an object", "a list"])
def test_a_bare_body_that_is_no_error_is_refused(stream: bytes) -> None:
    assert said(sse([chunk(text("a"), reason="STOP")]) + stream, "gemini-sse")[-1] == "DecodeError"


def test_a_unit_after_an_error_breaks_the_grammar() -> None:
    units = [{"error": {"code": 500, "message": "m"}}, chunk(text("a"))]
    assert said(sse(units), "gemini-sse") == ["failure 500 m", "GrammarError"]
    assert said(sse(units), "gemini-sse", strict=False) == ["failure 500 m"]


# ---- bad input


@pytest.mark.parametrize(
    "unit",
    [
        {"candidates": [1]},
        {"candidates": {}},
        chunk(1),  # type: ignore[arg-type]
        chunk({"text": 1}),
        chunk(data("image/png", "no base64!")),
        chunk(call("f", [])),
        chunk(text("a"), reason=[]),
        {"usageMetadata": {"promptTokenCount": "9"}},
        {"error": 5},
        chunk(call("f", willContinue=True), piece(at("a", 1))),
        chunk(call("f", willContinue=True), piece(at("$[0]", 1))),
        chunk(call("f", willContinue=True), piece(at("$.a[99999999]", 1))),
        chunk(call("f", willContinue=True), piece({"jsonPath": "$.a", "numberValue": "1"})),
    ],
    ids=str,
)
@pytest.mark.parametrize("strict", [True, False])
def test_what_is_no_chunk_is_refused(unit: dict[str, Any], strict: bool) -> None:
    assert said([unit], "gemini", strict=strict)[-1] == "DecodeError"


@pytest.mark.parametrize("part", [piece(at("$.a", 1)), {"functionCall": {}}], ids=["a piece", "an empty call"])
def test_a_call_goes_on_only_where_one_is_open(part: dict[str, Any]) -> None:
    assert said([chunk(part)], "gemini") == ["GrammarError"]


def test_another_part_while_a_call_goes_on_closes_it_in_lenient_mode() -> None:
    units = [chunk(call("f", willContinue=True), piece(at("$.a", "x"))), chunk(text("b"), reason="STOP")]
    assert said(units, "gemini")[-1] == "GrammarError"
    report = Report()
    events = said(units, "gemini", strict=False, report=report)
    assert events[1:] == [
        *("open tool_call made_r_0 f", '+{"a":"x', '+"}', "close", "open text", "+b", "close"),
        "finish stop STOP None None",
    ]
    assert [found.field for found in report.repairs] == ["call"]


def test_paths_are_held_to_the_limits() -> None:
    grows = [chunk(call("f", willContinue=True)), *(chunk(piece(at("$.a[1].b", "x" * 100))) for _ in range(20))]
    with pytest.raises(LimitExceeded):
        list(decode(grows, "gemini", limits=Limits(part=1000)))
    deep = chunk(call("f", willContinue=True), piece(at("$" + ".a" * 300, 1)))
    with pytest.raises(LimitExceeded):
        list(decode([deep], "gemini"))


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([at("$.a", "x"), at("$.b", 1)], {"a": "x", "b": 1}),
        ([at("$.a", "x", more=True), at("$.a", ""), at("$.a", "y")], {"a": "xy"}),
        ([at("$.a", 1), at("$.a", 2)], {"a": 2}),
        ([at("$.a[1]", 1), at("$.a[0]", 2)], {"a": [2, 1]}),
        ([at("$.a[0]", 1), at("$.a[2]", 3), at("$.b", 4)], {"a": [1, None, 3], "b": 4}),
        ([at("$.a.b", 1), at("$.a", 2)], {"a": 2}),
        ([at("$.a", 1), at("$.a.b", 2)], {"a": {"b": 2}}),
        ([at("$.a[0].b[0]", 1), at("$.a[0].b[1]", 2), at("$.a[1].b[0]", 3)], {"a": [{"b": [1, 2]}, {"b": [3]}]}),
        ([at('$["x\\"y"].z', "é\n"), at("$.k", False)], {'x"y': {"z": "é\n"}, "k": False}),
        ([{"jsonPath": "$.a", "willContinue": True}, at("$.a", "z")], {"a": "z"}),
        ([{"jsonPath": "$.a"}], {"a": None}),
    ],
)
@pytest.mark.parametrize("apart", [True, False], ids=["chunk by chunk", "in one chunk"])
def test_pieces_join_to_the_arguments(pieces: list[Any], expected: Any, apart: bool) -> None:
    first, last = call("f", willContinue=True), piece(more=False)
    held = [first, *(piece(each) for each in pieces), last] if apart else [first, piece(*pieces), last]
    units = [*(chunk(each) for each in held), chunk(reason="STOP")] if apart else [chunk(*held, reason="STOP")]
    grown = [event.data for event in decode(units, "gemini") if type(event) is Append]
    assert json.loads("".join(map(str, grown))) == expected
    assert native(through(sse(units), "gemini-sse", "unievent-sse", "gemini-sse")) == units


# ---- written for others


def test_each_fragment_is_a_chunk_and_the_end_one_more() -> None:
    usage = TokenCounts(100, 12, 80, 5)
    units = written(Start(Model("m"), "r"), *TEXT, Finish(usage, Reason("length")))
    assert [unit["candidates"][0]["content"] for unit in units] == [
        {"parts": [{"text": said}], "role": "model"} for said in ("", "Hi", "")
    ]
    assert all((unit["modelVersion"], unit["responseId"]) == ("m", "r") for unit in units)
    assert units[-1]["candidates"][0]["finishReason"] == "MAX_TOKENS"
    assert units[-1]["usageMetadata"] == {
        "promptTokenCount": 100,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 5,
        "cachedContentTokenCount": 80,
        "totalTokenCount": 112,
    }


def test_the_first_content_opens_a_stream_that_nobody_opened() -> None:
    assert parts(*TEXT, STOP) == [[{"text": "Hi"}], [{"text": ""}]]
    assert home([*TEXT, STOP]) == [*TEXT, STOP]


@pytest.mark.parametrize(
    ("word", "raw", "written_as"),
    [
        ("stop", None, "STOP"),
        ("tool_call", None, "STOP"),
        ("refusal", None, "SAFETY"),
        ("content_filter", "RECITATION", "RECITATION"),
        ("content_filter", "STOP", "SAFETY"),
        ("pause", None, "OTHER"),
        ("unknown", "LANGUAGE", "LANGUAGE"),
        ("unknown", "odd", "OTHER"),
    ],
)
def test_the_words_for_reasons(word: Any, raw: str | None, written_as: str) -> None:
    end = Finish(TokenCounts(), Reason(word, raw))
    assert written(*TEXT, end)[-1]["candidates"][0]["finishReason"] == written_as
    assert home([*TEXT, end]) == [*TEXT, end]


def test_29_a_state_of_another_issuer_is_no_signature() -> None:
    events: list[Event] = [Open("thinking"), Append("T", State("anthropic", {"signature": "AAAA"})), Close(), STOP]
    assert parts(*events)[0] == [{"text": "T", "thought": True}]
    assert home(events) == events


@pytest.mark.parametrize(
    ("state", "signature"),
    [
        (State("google", {"signature": "AAAA"}), "AAAA"),
        (State("google", {"signature": "AA-_", "format": "google-gemini-v1"}), "AA-_"),
        (State(None, {"signature": "AAAA"}), "AAAA"),
        (State("google", {"signature": "no base64!"}), None),
        (State("google", {"signature": "AAAA", "more": 1}), None),
        (State("openai", {"encrypted_content": "AAAA"}), None),
        (State("", {"signature": "AAAA"}), None),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["text", "thinking", "tool_call"])
def test_which_states_are_signatures(state: State, signature: str | None, kind: Any) -> None:
    head = Open(kind, "c", "f") if kind == "tool_call" else Open(kind)
    events: list[Event] = [head, Append("{}", state), Close(), STOP]
    assert parts(*events)[0][0].get("thoughtSignature") == signature
    assert home(events) == events


def test_a_state_of_an_unknown_issuer_is_carried_where_another_provider_answers() -> None:
    state = State(None, {"signature": "AAAA"})
    events: list[Event] = [Start(Model("m", publisher="Anthropic")), Open("thinking"), Append("T", state)]
    assert parts(*events, Close(), STOP)[1] == [{"text": "T", "thought": True}]


def test_a_part_has_one_signature() -> None:
    one, two = (State("google", {"signature": value}) for value in ("AAAA", "BBBB"))
    events: list[Event] = [Open("text"), Append("a", one), Append("b", two), Close(), STOP]
    assert parts(*events)[:2] == [[{"text": "a", "thoughtSignature": "AAAA"}], [{"text": "b"}]]
    assert home(events) == events


def test_30_two_texts_in_a_row_stay_two_by_the_carry() -> None:
    events: list[Event] = [*TEXT, *TEXT, STOP]
    assert home(events) == events
    bare_units = encode(events, "gemini", loss="drop")
    assert [type(event) for event in decode(bare_units, "gemini")].count(Open) == 1


def test_11_a_call_is_never_lost_for_want_of_an_id() -> None:
    units = [chunk(call("f", {"x": 1})), chunk(call("f", {"x": 2}), reason="STOP")]
    out = list(convert(units, "gemini", "unievent", loss="drop"))
    ids = [item["tool_call_id"] for unit in out for item in unit["content_items"] if item["type"] == "tool_call.done"]
    assert ids == ["made_r_0", "made_r_1"]


def test_ids_are_made_of_the_clock_where_the_wire_has_none_and_go_home_as_absent() -> None:
    units = [{"candidates": chunk(call("f", {}), reason="STOP")["candidates"]}]
    opened = next(event for event in decode(units, "gemini", clock=lambda: 255) if type(event) is Open)
    assert opened.id == "made_ff_0"
    # by other clocks, there and back
    assert (
        native(through(sse(units), "gemini-sse", "unievent-sse", "gateway-sse", "unievent-sse", "gemini-sse")) == units
    )


def test_36_arguments_are_an_object_and_their_spelling_comes_home() -> None:
    events: list[Event] = [Open("tool_call", "c", "f"), Append('{"a":1, '), Append('"a":2}'), Close(), STOP]
    assert parts(*events)[0] == [{"functionCall": {"name": "f", "args": {"a": 2}, "id": "c"}}]
    assert home(events) == events
    with pytest.raises(ToolArgumentsError):
        written(Open("tool_call", "c", "f"), Append("[1]"), Close(), STOP)


@pytest.mark.parametrize("raw", ["", " ", "{"])
def test_a_call_that_was_cut_is_no_call(raw: str) -> None:
    events: list[Event] = [Open("tool_call", "c", "f"), Append(raw), Close(cut=True), STOP]
    assert parts(*events) == [[{"text": ""}], [{"text": ""}]]
    assert home(events) == events


def test_a_call_without_a_name_and_tools_of_others_are_carried() -> None:
    events: list[Event] = [Open("tool_call", "c"), Append("{}"), Close()]
    events += [Open("server_tool_call", "s", "x"), Append("{}"), Close()]
    events += [Annotate("openai", {"a": 1}), Usage(TokenCounts(1)), STOP]
    assert len(written(*events)) == 2
    assert home(events) == events


def test_37_an_empty_text_is_no_chunk() -> None:
    events: list[Event] = [Open("text"), Append(""), Close(), STOP]
    assert parts(*events) == [[{"text": ""}], [{"text": ""}]]
    assert home(events) == events


def test_33_an_error_stands_first_and_its_carry_last() -> None:
    events: list[Event] = [*TEXT, Failure(429, "slow", "rate_limit_error", {"a": 1})]
    last = b"".join(encode(events, "gemini-sse")).split(b"\n\n")[-2]
    assert last.startswith(b'data: {"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}')
    assert b',"carry":{' in last
    assert home(events) == events


@pytest.mark.parametrize("end", [Failure(500, "m"), Handover(Model("m"))], ids=["a failure", "a handover"])
def test_data_that_broke_off_comes_home(end: Event) -> None:
    events: list[Event] = [Open("inline_data", mime_type="image/png"), Append(b"a"), Append(b"b"), end]
    events += [] if type(end) is Failure else [STOP]
    assert home(events) == events


def test_32_nothing_is_written_on_sse_but_data() -> None:
    events: list[Event] = [Ping(), *TEXT, Ping(), Handover(Model("m")), *TEXT, STOP]
    out = b"".join(encode(events, "gemini-sse"))
    assert all(line.startswith(b"data: {") for line in out.split(b"\n") if line)


def test_the_whole_response() -> None:
    units = [
        chunk(text("T", thought=True), text("a", "AAAA")),
        chunk(text("b"), call("f", {"x": 1}), call("g"), data("image/png", "AAE="), groundingMetadata={"q": 1}),
        chunk(text("c"), reason="STOP", usage={"promptTokenCount": 3, TOOLS: 1, "totalTokenCount": 4}),
    ]
    message = assemble(units, "gemini", "gemini")
    candidate = message["candidates"][0]
    assert candidate["content"]["parts"] == [
        text("T", thought=True),
        text("ab", "AAAA"),
        call("f", {"x": 1}),
        call("g", {}),
        data("image/png", "AAE="),
        text("c"),
    ]
    assert (candidate["finishReason"], message["modelVersion"], message["responseId"]) == ("STOP", "m", "r")
    assert message["usageMetadata"] == {"promptTokenCount": 3, "totalTokenCount": 4, TOOLS: 1}
    assert codec("gemini").assemble(decode([message], "gemini")) == message


def test_what_is_shown_of_a_unit() -> None:
    gemini = codec("gemini")
    kinds = [
        chunk(text("a")),
        chunk(text("a", thought=True)),
        chunk(call("f")),
        chunk(text(""), reason="STOP"),
        chunk(),
    ]
    assert [gemini.kind(unit) for unit in kinds] == ["text", "thought", "functionCall", "STOP", ""]
    assert gemini.kind({"error": {}}) == ""
    assert gemini.kind({"error": {"code": 1}}) == "error"
    assert gemini.kind({"usageMetadata": {"a": 1}}) == "usage"
    assert gemini.time({"createTime": "1970-01-01T00:00:02.5Z"}) == 2500
    assert gemini.time({"createTime": "soon"}) is None
    assert gemini.is_terminal({"error": {"code": 1}})


def test_the_check_names_what_readers_may_refuse() -> None:
    assert check(written(*TEXT, STOP), "gemini") == []
    assert [fault.unit for fault in check([chunk(text("a"), reason="STOP"), {"candidates": [{}, {}]}], "gemini")] == [
        1
    ] * 2
