"""OpenAI Responses as people meet it: each hazard of the wire, by its number, what it means, and that it comes home."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.codecs.chat_streams import said
from tests.codecs.responses_streams import (
    CREATED,
    LENGTH,
    R,
    Unit,
    Units,
    added,
    args,
    begin,
    call,
    custom,
    done,
    end,
    home,
    message,
    numbered,
    of,
    part,
    piece,
    reasoning,
    response,
    sse,
    summary,
    text,
    whole_args,
    written,
)
from translate import assemble, convert, decode
from translate.algebra.events import Append, Close, Failure, Finish, Foreign, Handover, Open, Reason, Start, State
from translate.carry.losses import Report
from translate.errors import LossError, ToolArgumentsError, TruncatedStream, UpstreamFailure


class Row(NamedTuple):
    """``units`` mean ``events``, in short words; ``takes``: the formats that they go through, and come home from."""

    units: Units
    events: list[str]
    takes: tuple[str, ...] = ("unievent", "gateway-sse", "anthropic", "openai-chat-sse", "events-jsonl")


RAW = ("gateway-sse", "anthropic", "openai-chat-sse", "events-jsonl")
"""Formats that take half a call."""
OK = response("completed")
HI = ["open text", "+Hi", "close"]
STOP = "finish stop completed None None"
CALL = "open tool_call c0 f"
CUT = ["cut", "finish length None None"]
SAY = [*begin(), text("Hi"), *end("Hi")]
NOTE = {"type": "url_citation", "url": "u"}
NOTED: Units = [
    of(0, "output_text.done", text="Hi"),
    of(0, "content_part.done", part=part("Hi", annotations=[NOTE])),
    done(0, message(0, status="completed", content=[part("Hi", annotations=[NOTE])])),
]
LIST: Unit = {"id": "l", "type": "mcp_list_tools", "server_label": "x", "tools": []}
CANCELLED: Unit = {**OK, "response": {**OK["response"], "status": "cancelled"}}
ASKED: Unit = {"id": "a", "type": "mcp_approval_request", "name": "x", "arguments": "{}"}
NAMED = {**CREATED, "response": {**CREATED["response"], "tools": [{"type": "x_search"}]}}
ERROR: Unit = {"type": "error", "error": {"type": "server_error", "code": "x", "message": "first"}}
SUMMARIES = [{"type": "summary_text", "text": each} for each in "AB"]


def without(unit: Unit, key: str) -> Unit:
    return {k: v for k, v in unit.items() if k != key}


ROWS: dict[str, Row] = {
    "1 an empty output": Row([CREATED, *SAY, OK], ["start", *HI, STOP]),
    "2 no output": Row([CREATED, *SAY, {**OK, "response": without(OK["response"], "output")}], ["start", *HI, STOP]),
    "2 null for an output": Row(
        [CREATED, *SAY, {**OK, "response": {**OK["response"], "output": None}}], ["start", *HI, STOP]
    ),
    "3 nothing was streamed": Row([CREATED, response("completed", [message(0, "Hi")])], ["start", *HI, STOP]),
    "5 arguments at their end": Row(
        [CREATED, added(0, call(0)), whole_args(0, '{"a":1}'), done(0, call(0, '{"a":1}')), OK],
        ["start", CALL, '+{"a":1}', "close", STOP],
    ),
    "6 arguments with the item": Row(
        [CREATED, added(0, call(0)), done(0, call(0, '{"a":1}')), OK], ["start", CALL, '+{"a":1}', "close", STOP]
    ),
    "7 no arguments": Row(
        [CREATED, added(0, call(0, "{}")), done(0, call(0, "{}")), OK], ["start", CALL, "+{}", "close", STOP]
    ),
    "8 calls that interleave": Row(
        [
            *(CREATED, added(0, call(0)), added(1, call(1)), args(1, '{"b":2}'), args(0, '{"a":1}')),
            *(done(0, call(0, '{"a":1}')), done(1, call(1, '{"b":2}')), OK),
        ],
        [
            *("start", CALL, "foreign", "foreign", '+{"a":1}', "close"),
            *("open tool_call c1 f", '+{"b":2}', "close", STOP),
        ],
    ),
    "10 ids that change": Row(
        [CREATED, added(0, call(0)), args(0, "{}", item_id="i2"), done(0, call(0, "{}", id="i3")), OK],
        ["start", CALL, "+{}", "close", STOP],
    ),
    "11 no index at the end": Row(
        [CREATED, added(0, call(0)), args(0, "{}"), without(done(0, call(0, "{}")), "output_index"), OK],
        ["start", CALL, "+{}", "close", STOP],
    ),
    "12 numbers": Row(numbered([CREATED, *SAY, OK]), ["start", *HI, STOP]),
    "13 taken up again": Row(numbered([{**CREATED, "type": R + "in_progress"}, *SAY, OK], 7), ["start", *HI, STOP]),
    "14 three values of a state": Row(
        [
            *(CREATED, added(0, reasoning(encrypted_content="x")), done(0, reasoning(encrypted_content="y"))),
            response("completed", [reasoning(encrypted_content="z")]),
        ],
        ["start", "open thinking rs0", "+ [openai:reasoning_id=rs0,encrypted_content=y]", "close", STOP],
    ),
    "15 reasoning without anything": Row(
        [CREATED, added(0, reasoning()), done(0, reasoning()), OK], ["start", "open thinking rs0", "close", STOP]
    ),
    "16 two parts of a summary": Row(
        [CREATED, added(0, reasoning()), *summary(0, "A"), *summary(1, "B"), done(0, reasoning(summary=SUMMARIES)), OK],
        ["start", "open thinking rs0", "+A", "+B", "close", STOP],
    ),
    "19 a phase": Row(
        [CREATED, *begin(phase="commentary"), text("Hi"), *end("Hi", phase="commentary"), OK],
        ["start", "open text", "+ [openai:phase=commentary]", "+Hi", "close", STOP],
    ),
    "20 a refusal": Row(
        [CREATED, *begin(kind="refusal"), of(0, "refusal.delta", delta="No."), *end("No.", kind="refusal"), OK],
        ["start", "open refusal", "+No.", "close", STOP],
    ),
    "21 half a call": Row(
        [CREATED, added(0, call(0)), args(0, '{"a":'), done(0, call(0, '{"a":', status="incomplete")), LENGTH],
        ["start", CALL, '+{"a":', *CUT],
        RAW,
    ),
    "22 cut at once": Row([CREATED, *begin(), text("Hi"), LENGTH], ["start", "open text", "+Hi", *CUT]),
    "27 an end marker, left out": Row([CREATED, *SAY, OK], ["start", *HI, STOP]),
    "29 padding": Row([CREATED, *begin(), text("Hi", obfuscation="zz"), *end("Hi"), OK], ["start", *HI, STOP]),
    "30 free text": Row(
        [CREATED, added(0, custom("")), piece('p("'), piece('x")'), done(0, custom('p("x")')), OK],
        ["start", "open tool_call c0 p", '+{"input":"p(\\"', '+x\\")', '+"}', "close", STOP],
    ),
    "31 halves of a character": Row(
        [CREATED, *begin(), text("\ud83d"), text("\ude00"), *end("😀"), OK],
        ["start", "open text", "+\ud83d", "+\ude00", "close", STOP],
    ),
    "32 an unknown unit in a part": Row(
        [CREATED, *begin(), text("H"), {"type": R + "future.thing", "x": 1}, text("i"), *end("Hi"), OK],
        ["start", "open text", "+H", "foreign", "+i", "close", STOP],
    ),
    "33 an annotation, then more text": Row(
        [
            *(CREATED, *begin(), text("H")),
            *(of(0, "output_text.annotation.added", annotation_index=0, annotation=NOTE), text("i"), *NOTED, OK),
        ],
        ["start", "open text", "+H", "note openai", "+i", "close", STOP],
    ),
    "35 a keep-alive": Row(
        numbered([CREATED, *begin()[:1], {"type": "keepalive"}, *begin()[1:], text("Hi"), *end("Hi"), OK]),
        ["start", *HI, STOP],
    ),
    "38 an item without a kind that is never done": Row(
        [
            *(CREATED, added(0, LIST), *begin(1), text("Hi", 1), *end("Hi", 1)),
            response("completed", [{**LIST, "tools": [1]}, message(1, "Hi")]),
        ],
        ["start", *HI, STOP],
    ),
    "41 a tool that the provider ran": Row(
        [NAMED, added(0, custom("", "x_search")), piece("q"), done(0, custom("q", "x_search")), OK],
        ["start", "open server_tool_call c0 x_search", "close", STOP],
    ),
    "42 half a call, with all that is usual": Row(
        [
            *(CREATED, added(0, call(0)), args(0, '{"a":'), whole_args(0, '{"a":')),
            *(done(0, call(0, '{"a":', status="incomplete")), LENGTH),
        ],
        ["start", CALL, '+{"a":', *CUT],
        RAW,
    ),
    "43 a blank call that was cut": Row(
        [CREATED, added(0, call(0)), done(0, call(0, status="incomplete")), LENGTH], ["start", CALL, *CUT], RAW
    ),
    "44 an item that makes no other wait": Row(
        [CREATED, added(0, LIST), *begin(1), text("Hi", 1), *end("Hi", 1), done(0, LIST), OK], ["start", *HI, STOP]
    ),
    "45 a state of another issuer": Row(
        [CREATED, added(0, reasoning()), done(0, reasoning(encrypted_content="e", format="google-gemini-v1")), OK],
        [
            *("start", "open thinking rs0"),
            *("+ [google:reasoning_id=rs0,encrypted_content=e]", "close", STOP),
        ],
    ),
    "46 a name beside the arguments": Row(
        [CREATED, added(0, call(0)), args(0, "{}"), whole_args(0, "{}", name="f"), done(0, call(0, "{}")), OK],
        ["start", CALL, "+{}", "close", STOP],
    ),
    "48 a refusal without logprobs": Row(
        [CREATED, *begin(kind="refusal"), of(0, "refusal.delta", delta="No"), *end("No", kind="refusal"), OK],
        ["start", "open refusal", "+No", "close", STOP],
    ),
    "49 what the client is asked": Row([CREATED, added(0, ASKED), OK], ["start", STOP]),
}


def content(units: Units, **options: Any) -> list[str]:
    """The events in short words, without those that say nothing here."""
    return [word for word in said(units, "openai-responses", **options) if word != "foreign"]


@pytest.mark.parametrize("name", ROWS)
def test_a_stream_means_and_comes_home(name: str) -> None:
    row = ROWS[name]
    if name.startswith("41 "):
        found = said(row.units, "openai-responses")
        assert [word for word in found if word != "foreign" and not word.startswith("+")] == row.events
    else:
        assert content(row.units) == [word for word in row.events if word != "foreign"]
    assert home(row.units) == row.units
    for format in row.takes:
        assert home(row.units, format) == row.units, format
    assert home(row.units, *row.takes[:2], *row.takes[1::-1][1:]) == row.units


def test_4_a_repeat_that_contradicts() -> None:
    units = [CREATED, *begin(), text("Hel"), text("lo"), *end("Help"), OK]
    assert content(units) == ["start", "open text", "+Hel", "+lo", "GrammarError"]
    with pytest.raises(Exception, match="unit 5") as error:
        list(decode(units, "openai-responses"))
    assert error.value.unit == 5  # type: ignore[attr-defined]
    assert content(units, strict=False) == ["start", "open text", "+Hel", "+lo", "close", STOP]


def test_9_a_late_delta_belongs_to_no_other_call() -> None:
    late = [CREATED, added(0, call(0)), args(0, "{}"), done(0, call(0, "{}")), added(1, call(1)), args(0, "x")]
    assert content(late)[-1] == content(late, strict=False)[-1] == "GrammarError"


def test_17_and_18_states_of_others() -> None:
    def events(state: State) -> list[Any]:
        return [Start(), Open("thinking"), Append("hm", state), Close(), Finish()]

    report, bound = Report(), State(None, {"id": "rs_9", "encrypted_content": "e"})
    units = written(events(State("anthropic", {"signature": "s"})), report=report)
    assert "encrypted_content" not in str(units)
    assert "'s'" not in str(units)
    kept = list(convert(events(State("anthropic", {"signature": "s"})), "events", "openai-responses"))
    back = [event.state for event in convert(kept, "openai-responses", "events") if isinstance(event, Append)]
    assert back == [State("anthropic", {"signature": "s"})]

    last: list[Any] = [Start(), Open("thinking"), Append("hm"), Append("", bound), Close(), Finish()]
    assert written(last, report=report)[-2]["item"]["encrypted_content"] == "e"
    units = written(events(bound), report=report)
    items = [unit["item"] for unit in units if "item" in unit]
    assert {item["id"] for item in items} == {"rs_18bcfe56800_0"}
    assert items[1]["encrypted_content"] == units[-1]["response"]["output"][0]["encrypted_content"] == "e"
    assert any("'rs_9'" in guess.reason for guess in report.guesses)


def test_23_24_and_25_failures() -> None:
    failed = response("failed", error={"code": "server_error", "message": "second"})
    units = [CREATED, ERROR, failed]
    *_, failure = decode(units, "openai-responses")
    assert isinstance(failure, Failure)
    assert (failure.code, failure.message, failure.kind) == (500, "second", "server_error")
    flat: Unit = {"type": "error", "code": "rate_limit_exceeded", "message": "flat", "param": None}
    *_, failure = decode([CREATED, flat], "openai-responses")
    assert isinstance(failure, Failure)
    assert (failure.code, failure.message) == (429, "flat")
    empty = response("failed", error=None)
    *_, failure = decode([CREATED, empty], "openai-responses")
    assert isinstance(failure, Failure)
    assert (failure.code, failure.message) == (502, "")
    for stream in (units, [CREATED, flat], [CREATED, empty]):
        with pytest.raises(UpstreamFailure):
            list(convert(stream, "openai-responses", "gateway"))
        for format in ("unievent", "gateway-sse", "anthropic", "openai-chat-sse", "events-jsonl"):
            assert home(stream, format) == stream


def test_26_27_and_28_the_end() -> None:
    cut = [CREATED, *SAY]
    with pytest.raises(TruncatedStream):
        list(decode(cut, "openai-responses"))
    assert content(cut) == ["start", *HI, "TruncatedStream"]
    marker = b"data: [DONE]\n\n"
    assert said(sse(cut) + marker, "openai-responses-sse")[-1] == "TruncatedStream"
    whole = sse([*cut, OK]) + marker
    assert said(whole, "openai-responses-sse")[-1] == STOP
    assert b"[DONE]" not in b"".join(convert([whole], "openai-responses-sse", "openai-responses-sse"))
    assert said(b":\n\n" + whole, "openai-responses-sse")[-1] == STOP


def test_34_two_texts_are_two_messages() -> None:
    units = written([Start(), Open("text"), Append("a"), Close(), Open("text"), Append("b"), Close(), Finish()])
    assert [unit["output_index"] for unit in units if unit["type"] == R + "output_item.added"] == [0, 1]
    assert [unit["sequence_number"] for unit in units] == [*range(len(units))]
    assert len(units[-1]["response"]["output"]) == 2


def test_36_what_the_request_holds_is_carried_once() -> None:
    tools = [{"type": "function", "name": "f", "description": "x" * 10_000}]
    told = {**CREATED["response"], "tools": tools}
    units = [
        *({**CREATED, "response": told}, {"type": R + "in_progress", "response": {**told, "status": "in_progress"}}),
        *(*begin(), text("H"), text("i"), *end("Hi"), response("completed", [message(0, "Hi")], tools=tools)),
    ]
    out = b"".join(convert(units, "openai-responses", "gateway-sse"))
    assert out.count(b"x" * 10_000) == 1
    assert home(units, "gateway-sse") == units


def test_37_and_38_no_success() -> None:
    *_, failure = decode([CREATED, CANCELLED], "openai-responses")
    assert isinstance(failure, Failure)
    for strict in (True, False):
        found = content([CREATED, added(0, call(0)), args(0, '{"a'), OK], strict=strict)
        assert found == ["start", CALL, '+{"a', "GrammarError"]


def test_39_a_call_that_broke_off_is_none() -> None:
    events = [Start(), Open("tool_call", "c", "f"), Append('{"a":1}'), Handover(), Finish()]
    with pytest.raises(ToolArgumentsError):
        list(convert(events, "events", "openai-responses"))


def test_40_and_47_many_deltas() -> None:
    many = 5000
    units = numbered([CREATED, *begin(), *(text("ab", logprobs=[]) for _ in range(many)), *end("ab" * many), OK])
    assert home(units, "gateway-sse") == units
    out = b"".join(convert(units, "openai-responses", "gateway-sse"))
    # an empty output costs no more than a delta does
    assert len(out) / many < 110


def test_42_half_a_call_is_written_so() -> None:
    cut = Finish(reason=Reason("length"))
    events: list[Any] = [Start(), Open("tool_call", "c", "f"), Append('{"a":'), Close(True), cut]
    units = written(events)
    assert [unit["type"].removeprefix(R) for unit in units] == [
        *("created", "output_item.added", "function_call_arguments.delta", "function_call_arguments.done"),
        *("output_item.done", "incomplete"),
    ]
    assert units[4]["item"]["status"] == "incomplete"
    assert units[4]["item"]["arguments"] == units[3]["arguments"] == '{"a":'


def test_49_the_loss_of_what_the_next_turn_needs_is_content() -> None:
    with pytest.raises(LossError):
        list(convert(ROWS["49 what the client is asked"].units, "openai-responses", "gateway", loss="raise"))
    assert list(convert([CREATED, *SAY, OK], "openai-responses", "gateway", loss="raise"))


def test_every_hazard_has_a_test() -> None:
    tests = " ".join([*ROWS, *(name.replace("_", " ") for name in globals() if name.startswith("test_"))])
    numbers = {int(word) for word in tests.split() if word.isdigit()}
    assert numbers >= {*range(1, 50)}


REFUSED: dict[str, tuple[Units, str, list[str] | None]] = {
    "a text unlike its fragments": ([CREATED, *begin(), text("Hi"), *end("Ho"), OK], "GrammarError", [*HI, STOP]),
    "an item unlike its fragments": (
        [CREATED, *begin(), text("Hi"), *end("Hi")[:2], done(0, message(0, "Ho")), OK],
        "GrammarError",
        [*HI, STOP],
    ),
    "an output unlike what was said": (
        [CREATED, *SAY, response("completed", [message(0, "Ho")])],
        "GrammarError",
        [*HI, STOP],
    ),
    "arguments unlike their fragments": (
        [CREATED, added(0, call(0)), args(0, '{"a":1}'), whole_args(0, '{"b":1}'), done(0, call(0, '{"a":1}')), OK],
        "GrammarError",
        [CALL, '+{"a":1}', "close", STOP],
    ),
    "no content_part.added": (
        [CREATED, begin()[0], text("Hi"), *end("Hi"), OK],
        "GrammarError",
        [*HI, STOP],
    ),
    "no content_part.done": (
        [CREATED, *begin(), text("Hi"), done(0, message(0, "Hi")), OK],
        "GrammarError",
        [*HI, STOP],
    ),
    "the same response.created again": ([CREATED, CREATED, *SAY, OK], "GrammarError", [*HI, STOP]),
    "another response.created": (
        [CREATED, {**CREATED, "response": {"id": "r2"}}, *SAY, OK],
        "GrammarError",
        None,
    ),
    "a second item at an open index": ([CREATED, added(0, call(0)), added(0, call(1))], "GrammarError", None),
    "an end of no item": ([CREATED, done(0, call(0))], "GrammarError", None),
    "a unit after the end": ([CREATED, OK, OK], "GrammarError", None),
    "no type": ([{"x": 1}], "DecodeError", None),
    "no response": ([{"type": R + "created"}], "DecodeError", None),
    "an item that is no object": ([CREATED, {"type": R + "output_item.added", "item": 1}], "DecodeError", None),
    "an item without a type": ([CREATED, added(0, {"id": "x"})], "DecodeError", None),
    "a delta that is no text": ([CREATED, *begin(), {**text("x"), "delta": 1}], "DecodeError", None),
    "a part that is no object": ([CREATED, begin()[0], of(0, "content_part.added", part=1)], "DecodeError", None),
    "an output that is no list": ([CREATED, response("completed", {})], "DecodeError", None),
    "a count that is no integer": ([CREATED, response("completed", usage={"input_tokens": "7"})], "DecodeError", None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_strict_and_lenient(name: str) -> None:
    units, error, mended = REFUSED[name]
    assert content(units)[-1] == error
    found = content(units, strict=False)
    if mended is None:
        assert found[-1] == error
        return
    assert found == ["start", *mended]
    report = Report()
    list(convert(units, "openai-responses", "gateway", strict=False, report=report))
    assert report.repairs


def test_a_name_unlike_the_type_is_the_types_in_lenient_mode() -> None:
    data = sse([CREATED, *SAY, OK]).replace(b"event: response.completed", b"event: x")
    assert said(data, "openai-responses-sse")[-1] == "DecodeError"
    assert said(data, "openai-responses-sse", strict=False)[-1] == STOP
    named = b"\n".join(line for line in data.split(b"\n") if not line.startswith(b"event:"))
    assert said(named, "openai-responses-sse")[-1] == STOP


def test_a_response_is_assembled() -> None:
    units = [CREATED, added(0, reasoning()), *summary(0, "A"), done(0, reasoning(summary=SUMMARIES[:1])), *begin(1)]
    units += [text("Hi", 1), *end("Hi", 1), added(2, call(2)), args(2, "{}"), done(2, call(2, "{}")), OK]
    found = assemble(units, "openai-responses", "openai-responses")
    assert [item["type"] for item in found["output"]] == ["reasoning", "message", "function_call"]
    assert found["output"][1]["content"][0]["text"] == "Hi"
    assert found["status"] == "completed"
    assert found["output"][2]["call_id"] == "c2"


def test_a_foreign_unit_that_does_not_fit_is_refused() -> None:
    kept = Foreign("openai-responses", {"type": R + "output_text.done", "patch": [[["no", "such"], 1]]})
    events = [Start(), kept, Finish()]
    with pytest.raises(Exception, match="does not fit"):
        list(convert(events, "events", "openai-responses"))
    units = list(convert(events, "events", "openai-responses", strict=False))
    assert [unit["type"] for unit in units] == [R + "created", R + "completed"]
