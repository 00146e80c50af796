"""Chat Completions: its ends, what strict and lenient reading do, and what is written for others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.codecs.chat_streams import (
    CLOCK,
    COUNTS,
    DONE,
    HEAD,
    S,
    U,
    call,
    chunk,
    end,
    entry,
    more,
    native,
    said,
    say,
    sse,
    through,
)
from translate import (
    Append,
    Close,
    Failure,
    Finish,
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
from translate.algebra.events import Annotate, Event, Foreign, Handover, Model, State, Usage, bare
from translate.errors import ToolArgumentsError

HI = ["start", "open text", "+Hi"]
TEXT: list[Event] = [Open("text"), Append("Hi"), Close()]
STOP = Finish(TokenCounts(), Reason("stop"))


def written(*events: Event, **options: Any) -> list[Any]:
    """What is written of events, without carries."""
    return list(encode(events, "openai-chat", clock=lambda: CLOCK, loss="drop", **options))


def home(events: list[Event]) -> list[Event]:
    """What comes back of events, but for the start and what was made up."""
    back = decode(encode(events, "openai-chat-sse"), "openai-chat-sse")
    return [bare(event) for event in back if type(event) not in (Start, Foreign)]


def deltas(units: list[Any]) -> list[Any]:
    return [unit["choices"][0]["delta"] for unit in units if unit.get("choices")]


# ---- ends


def test_a_missing_end_marker_is_reported() -> None:
    units = [S, say(content="Hi"), end("stop")]
    for strict in (True, False):
        report = Report()
        assert said(sse(units, done=False), strict=strict, report=report) == [*HI, "close", "finish stop None None"]
        assert [(repair.field, repair.reason) for repair in report.repairs] == [
            ("end of input", "the end marker is missing")
        ]
    assert said(units, "openai-chat")[-1] == "finish stop None None"


@pytest.mark.parametrize("format", ["openai-chat-sse", "openai-chat-jsonl", "openai-chat"])
def test_without_a_reason_the_end_of_input_is_no_end(format: str) -> None:
    units = [S, say(content="Hi")]
    data: Any = {
        "openai-chat-sse": sse(units, done=False),
        "openai-chat-jsonl": b"".join(json.dumps(unit).encode() + b"\n" for unit in units),
        "openai-chat": units,
    }[format]
    assert said(data, format) == [*HI, "TruncatedStream"]


def test_what_waits_is_delivered_before_an_input_is_cut_short() -> None:
    units = [S, call(0, "a", "f", "{"), call(1, "b", "g", "{}")]
    events = ["start", "open tool_call a f", "+{", "foreign", "cut", "open tool_call b g", "+{}", "TruncatedStream"]
    assert said(sse(units, done=False)) == events


def test_white_space_behind_the_end_marker() -> None:
    data = sse([S, say(content="Hi"), end("stop")], done=False) + b"data: [DONE] \n\n"
    assert said(data)[-1] == "finish stop None None"


def test_a_chunk_after_an_error_is_left_out_in_lenient_mode_alone() -> None:
    units = [{"error": "x"}, say(content="Hi")]
    report = Report()
    assert said(sse(units, done=False)) == ["failure 502 x", "GrammarError"]
    assert said(sse(units, done=False), strict=False, report=report) == ["failure 502 x"]
    assert [repair.field for repair in report.repairs] == ["end"]
    assert said(sse(units[:1])) == ["failure 502 x"]


def test_a_chunk_after_the_end_marker_is_an_error() -> None:
    data = sse([S, end("stop")]) + sse([say(content="Hi")])
    for strict in (True, False):
        assert said(data, strict=strict)[-1] == "GrammarError"


@pytest.mark.parametrize(
    "unit",
    [say(), chunk(None), {**HEAD, "choices": [{"index": 0}]}, say(x=1), {**HEAD, "y": 2}, chunk({}, None, z=[])],
    ids=str,
)
def test_what_is_accepted(unit: Any) -> None:
    for strict in (True, False):
        assert said(sse([S, unit, end("stop")]), strict=strict) == [
            "start",
            "foreign",
            "foreign",
            "finish stop None None",
        ]
    assert check([sse([S, unit, end("stop")])], "openai-chat-sse") == []


def test_a_piece_of_a_call_that_is_over_is_an_error() -> None:
    units = [S, call(0, "a", "f", "{}"), call(1, "b", "g", "{}"), more(0, '{"x":1}')]
    for strict in (True, False):
        assert said(sse(units), strict=strict)[-1] == "GrammarError"


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize(
    "wrong",
    [
        {**HEAD, "choices": [*chunk({})["choices"], *chunk({})["choices"]]},
        {**HEAD, "choices": [{"index": 1, "delta": {}}]},
        say(content=1),
        say(tool_calls={}),
        say(tool_calls=[1]),
        say(reasoning=[]),
        say(refusal={}),
        chunk([]),
        chunk({}, usage="x"),
        end("stop", usage={"prompt_tokens": "3"}),
        {**HEAD, "choices": {}},
        {"error": 7},
    ],
    ids=lambda unit: str(unit)[-60:],
)
def test_what_is_refused(wrong: Any, done: bool) -> None:
    for strict in (True, False):
        assert said(sse([S, say(content="Hi"), wrong], done=done), strict=strict) == [*HI, "DecodeError"]


CUT = {
    "cut with its chunk": [S, chunk({"tool_calls": [entry(0, "a", "f", "")]}, "length")],
    "cut in the next chunk": [S, call(0, "a", "f", ""), end("length")],
}


@pytest.mark.parametrize("row", CUT)
def test_a_call_that_was_cut_is_never_said_as_whole(row: str) -> None:
    data = sse(CUT[row])
    assert said(data) == ["start", "open tool_call a f", "cut", "finish length None None"]
    with pytest.raises(ToolArgumentsError):
        list(convert([data], "openai-chat-sse", "unievent"))
    assert [u["value"]["type"] for u in convert([data], "openai-chat-sse", "gateway")] == ["streamStart", "stop"]
    assert native(through(data, "gateway-sse", "openai-chat-sse")) == CUT[row]


# ---- written for others


def test_a_stream_for_others() -> None:
    start = Start(Model("m"), "i", 7)
    units = written(start, *TEXT, Finish(TokenCounts(3, 2, 1, 1), Reason("stop")))
    head = {"id": "i", "object": "chat.completion.chunk", "created": 7, "model": "m"}
    choice = {"index": 0, "finish_reason": None}
    assert units == [
        {**head, "choices": [{**choice, "delta": {"role": "assistant", "content": ""}}]},
        {**head, "choices": [{**choice, "delta": {"content": "Hi"}}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {
            **head,
            "choices": [],
            "usage": {
                "prompt_tokens": 3,
                "completion_tokens": 2,
                "total_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 1},
                "completion_tokens_details": {"reasoning_tokens": 1},
            },
        },
    ]


def test_who_opened_the_stream_may_be_unknown() -> None:
    units = written(*TEXT, STOP, model={"name": "x"})
    assert {(u["id"], u["created"], u["model"]) for u in units} == {("chatcmpl-18bcfe56800", 1_700_000_000, "x")}
    assert len(units) == 3


def test_the_end_marker_follows_success_alone() -> None:
    for last, marked in ((STOP, True), (Failure(500, "no"), False)):
        data = b"".join(encode([*TEXT, last], "openai-chat-sse"))
        assert data.endswith(DONE) == marked


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        (400, 400, "invalid_request_error"),
        (401, 401, "authentication_error"),
        (403, 403, "permission_error"),
        (404, 404, "not_found_error"),
        (429, 429, "rate_limit_error"),
        (529, 529, "server_error"),
        (200, 502, "server_error"),
        (None, 502, "server_error"),
    ],
)
def test_failures_for_others(code: int | None, status: int, kind: str) -> None:
    assert written(Failure(code, "no", "Other", {"x": 1})) == [
        {"error": {"message": "no", "type": kind, "code": status}}
    ]


@pytest.mark.parametrize(
    ("word", "calls", "native"),
    [
        ("stop", False, "stop"),
        ("stop", True, "tool_calls"),
        ("length", True, "length"),
        ("tool_call", False, "tool_calls"),
        ("content_filter", False, "content_filter"),
        ("refusal", False, "content_filter"),
        ("pause", False, "stop"),
        ("unknown", True, "stop"),
    ],
)
def test_reasons_for_others(word: Any, calls: bool, native: str) -> None:
    report = Report()
    part: list[Event] = [Open("tool_call", "a", "f"), Append("{}"), Close()] if calls else TEXT
    events = [Start(), *part, Finish(TokenCounts(), Reason(word))]
    assert written(*events, report=report)[-1]["choices"][0]["finish_reason"] == native
    guessed = word in ("pause", "unknown") or (word == "stop" and calls)
    assert [guess.field for guess in report.guesses] == ["reason"] * guessed
    assert home(events)[-1] == Finish(TokenCounts(), Reason(word))


def test_a_call_that_stayed_blank_gets_an_object() -> None:
    units = written(Start(), Open("tool_call", "a", "f"), Append(" "), Close(), STOP)
    assert [d["tool_calls"][0]["function"]["arguments"] for d in deltas(units)[1:-1]] == ["", " ", "{}"]
    cut = written(Start(), Open("tool_call", "a", "f"), Close(cut=True), Finish(TokenCounts(), Reason("length")))
    assert [d["tool_calls"][0]["function"]["arguments"] for d in deltas(cut)[1:-1]] == [""]


def test_calls_are_told_apart_by_their_index() -> None:
    events = [e for n in "abc" for e in (Open("tool_call", n if n != "b" else None, "f"), Append("{}"), Close())]
    heads = [d["tool_calls"][0] for d in deltas(written(Start(), *events, STOP)) if d.get("tool_calls")]
    assert [(h["index"], h["id"]) for h in heads if "id" in h] == [(0, "a"), (1, "made_1"), (2, "c")]


def test_a_call_without_a_name_is_carried() -> None:
    assert len(written(Start(), Open("tool_call", "a"), Append("{}"), Close(), STOP)) == 2


def test_a_handover_breaks_off_no_call() -> None:
    with pytest.raises(ToolArgumentsError):
        list(encode([Start(), Open("tool_call", "a", "f"), Append("{"), Handover(), STOP], "openai-chat"))
    text: list[Event] = [Start(), Open("text"), Append("a"), Handover(), STOP]
    assert home(text) == text[1:]


def test_states_are_entries_with_an_index_of_their_own() -> None:
    events: list[Event] = [Start()]
    for namespace in ("anthropic", "google", None):
        events += [Open("thinking"), Append("r"), Append("", State(namespace, {"signature": f"S{namespace}"})), Close()]
    for issuer in ("anthropic", None):
        redacted = State(issuer, {"signature": "D"})
        events += [Open("thinking"), Append("_REDACTED_THINKING", redacted), Close()]
    events.append(STOP)
    entries = [entry for d in deltas(written(*events)) for entry in d.get("reasoning_details", ())]
    assert [(e["type"], e["index"], e["format"]) for e in entries] == [
        ("reasoning.text", 0, "anthropic-claude-v1"),
        ("reasoning.text", 1, "google-gemini-v1"),
        ("reasoning.text", 2, None),
        ("reasoning.encrypted", 3, "anthropic-claude-v1"),
        ("reasoning.encrypted", 4, "anthropic-claude-v1"),
    ]
    assert home(events) == events[1:]


def test_thinking_that_came_in_both_members_names_neither() -> None:
    data = sse([S, say(reasoning="r", reasoning_content="r"), say(content="t"), end("stop")])
    assert said(data)[1:4] == ["open thinking", "+r", "close"]
    assert native(through(data, "unievent-sse", "openai-chat-sse")) == native(data)


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_the_member_of_thinking_is_the_one_it_came_in(field: str) -> None:
    hint = State("", {"reasoning_field": field})
    units = written(Start(), Open("thinking"), Append("r", hint), Append("s"), Close(), STOP)
    assert deltas(units)[1:3] == [{field: "r"}, {field: "s"}]


def test_in_unievent_the_member_waits_for_the_end_of_its_part() -> None:
    units = [S, say(reasoning="r"), say(reasoning="s"), end("stop")]
    items = [
        u["content_items"][0]
        for u in convert([sse(units)], "openai-chat-sse", "unievent", loss="drop")
        if u["content_items"]
    ]
    assert [(i["type"], i["thinking"], i.get("fidelity")) for i in items] == [
        ("thinking.delta", "r", None),
        ("thinking.delta", "s", None),
        ("thinking.delta", "", {"reasoning_field": "reasoning"}),
        ("thinking.done", "rs", {"reasoning_field": "reasoning"}),
    ]


def test_notes_and_counts_of_others_are_carried() -> None:
    events = [Start(), *TEXT, Annotate("x", 1), Usage(TokenCounts(1)), STOP]
    assert len(written(*events)) == 4
    assert home(events)[3:5] == [Annotate("x", 1), Usage(TokenCounts(1))]


# ---- what repeats


def test_what_repeats_is_carried_once() -> None:
    units = [
        chunk(delta, None, system_fingerprint="fp_1234567890", usage=None, service_tier="default")
        for delta in ({"role": "assistant", "content": "", "refusal": None}, *({"content": t} for t in "abcdefgh"))
    ]
    out = through(sse([*units, end("stop", system_fingerprint="fp_1234567890")]), "gateway-sse")
    assert out.count(b"fp_1234567890") == 1
    assert out.count(b": carry") <= 4


def test_what_is_written_for_others_has_no_residue() -> None:
    data = b"".join(encode([Start(Model("m"), "i", 7), *TEXT, STOP], "openai-chat-sse"))
    residues = [event.residue for event in decode([data], "openai-chat-sse") if event.residue]
    assert all(residue == {"openai-chat": {"synthetic": True}} for residue in residues)


# ---- the codec


def test_a_message() -> None:
    units = [S, say(reasoning_content="r"), say(content="t"), call(0, "a", "f", "{}"), end("tool_calls"), U]
    assert assemble([sse(units)], "openai-chat-sse", "openai-chat") == {
        "object": "chat.completion",
        "id": "c1",
        "created": 5,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "t",
                    "reasoning_content": "r",
                    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": COUNTS,
    }


def test_what_people_call_a_chunk() -> None:
    chat = codec("openai-chat")
    units = [S, say(content="x"), say(tool_calls=[1]), end("stop"), U, {"error": "x"}, {}, {"choices": [1]}]
    assert [chat.kind(unit) for unit in units] == ["role", "content", "tool_calls", "stop", "usage", "error", "", ""]
    assert [chat.time(unit) for unit in ({"created": 5}, {"created": "x"}, {})] == [5000, None, None]
    assert [chat.is_terminal(unit) for unit in units] == [False] * 5 + [True, False, False]
    assert native(sse([S])) == [S]
