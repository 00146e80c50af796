"""Gemini Interactions, by the numbers of the hazards: what each stream means, that it comes home, what is written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.codecs.gemini_streams import (
    CLOCK,
    CREATED,
    begin,
    call,
    chunk,
    completed,
    delta,
    event,
    native,
    said,
    say,
    sign,
    sse,
    stop,
    text,
    think,
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
from translate.algebra.events import Annotate, Event, Handover, Model, State, bare
from translate.errors import ToolArgumentsError
from translate.testing import at_home

FORMAT = "gemini-interactions-sse"
DONE = b"event: done\ndata: [DONE]\n\n"
STOP = "finish stop completed None None"
HI = ["start", "foreign", "open text", "+Hi"]
S, F = begin("model_output"), begin("function_call", id="c", name="f", arguments={})
F1 = begin("function_call", id="c", name="f", arguments={"a": 1})
CALL = ["start", "open tool_call c f"]
COUNTS = {
    "total_input_tokens": 9,
    "total_tool_use_tokens": 2,
    "total_output_tokens": 20,
    "total_thought_tokens": 200,
    "total_tokens": 231,
    "input_tokens_by_modality": [{"modality": "text", "tokens": 9}],
}
UPDATE = event("interaction.status_update", interaction_id="i", status="in_progress")
ROWS: dict[str, tuple[list[Any], list[str]]] = {
    "1 text": (
        [CREATED, UPDATE, S, say("Hi"), stop(), completed(), DONE],
        ["start", "foreign", *HI[1:], "close", STOP],
    ),
    "2 without the end marker": ([CREATED, S, say("Hi"), stop(), completed()], [*HI, "close", STOP]),
    "3 the end marker alone": ([CREATED, S, say("Hi"), stop(), DONE], [*HI, "close", "TruncatedStream"]),
    "4 signatures, the first of them empty": (
        [CREATED, begin("thought"), sign(""), sign("s"), stop(), completed()],
        ["start", "open thinking", "+", "+ [google:signature=s]", "close", STOP],
    ),
    "5 signatures between summaries": (
        [CREATED, begin("thought"), think("A"), sign(""), think("B"), sign("s"), stop(), completed()],
        ["start", "open thinking", "+A", "+", "+B", "+ [google:signature=s]", "close", STOP],
    ),
    "6 an empty thought": (
        [CREATED, begin("thought"), stop(), completed()],
        ["start", "open thinking", "close", STOP],
    ),
    "members that are of other events": (
        [{**CREATED, "error": None}, S, say("Hi"), {**stop(), "error": True, "step": {"type": "x"}}, completed()],
        [*HI, "close", STOP],
    ),
    "7 an empty output": ([CREATED, S, stop(), completed()], ["start", "foreign", "foreign", STOP]),
    "8 arguments after an empty object": (
        [CREATED, F, delta("arguments_delta", arguments='{"a":1}'), stop(), completed("requires_action")],
        [*CALL, '+{"a":1}', "close", "finish tool_call requires_action None None"],
    ),
    "9 arguments at the start": ([CREATED, F1, stop(), completed()], [*CALL, '+{"a":1}', "close", STOP]),
    "10 arguments in pieces": (
        [CREATED, F, *(delta("arguments_delta", arguments=p) for p in ("", '{"a":', "1}")), stop(), completed()],
        [*CALL, "+", '+{"a":', "+1}", "close", STOP],
    ),
    "a call that is signed": (
        [CREATED, begin("function_call", id="c", name="f", arguments={}, signature="s"), stop(), completed()],
        [*CALL, "+ [google:signature=s]", "close", STOP],
    ),
    "12 incomplete": (
        [CREATED, S, say("Hi"), stop(), completed("incomplete")],
        [*HI, "close", "finish unknown incomplete None None"],
    ),
    **{
        f"13 {status}": (
            [CREATED, S, say("Hi"), stop(), completed(status)],
            [*HI, "close", f"failure 502 the interaction is {status}"],
        )
        for status in ("failed", "cancelled", "budget_exceeded")
    },
    "14 the end within a step": ([CREATED, S, say("Hi"), completed()], [*HI, "GrammarError"]),
    "15 a delta without a step": ([CREATED, say("Hi")], ["start", "GrammarError"]),
    "15 a step that stops twice": (
        [CREATED, S, say("Hi"), stop(), stop()],
        [*HI, "close", "GrammarError"],
    ),
    "16 an error with a status": (
        [CREATED, S, say("Hi"), event("error", error={"code": "429", "message": "slow"})],
        [*HI, "failure 429 slow"],
    ),
    "16 an error with a word": ([event("error", error={"code": "QUOTA", "message": "m"})], ["failure 502 m"]),
    "17 a tool of the server": (
        [
            CREATED,
            begin("google_search_call", id="g", arguments={}),
            delta("google_search_call", arguments={"queries": ["q"]}),
            stop(),
            begin("google_search_result", 1, call_id="g", result=[]),
            delta("google_search_result", 1, result=[{"t": 1}]),
            stop(1),
            completed(),
        ],
        [
            *("start", "open server_tool_call g google_search_call", '+{"arguments":{"queries":["q"]}}', "close"),
            *("open server_tool_result g google_search_result", '+{"result":[{"t":1}]}', "close", STOP),
        ],
    ),
    "18 an annotation": (
        [CREATED, S, say("Hi"), delta("text_annotation_delta", annotations=[{"a": 1}]), stop(), completed()],
        [*HI, "note google", "close", STOP],
    ),
    "19 and 20 counts on the way": (
        [
            {**CREATED, "metadata": {"usage": {"total_input_tokens": 9}}},
            S,
            {**say("Hi"), "metadata": {"total_usage": {"total_input_tokens": 9, "total_output_tokens": 1}}},
            {**say("!"), "metadata": {"usage": {"total_output_tokens": 2}}},
            stop(),
            completed(usage=COUNTS),
        ],
        [
            *("start", "usage 9 None", "foreign", "open text", "+Hi", "usage None 1", "+!", "usage None 2", "close"),
            "finish stop completed 11 220",
        ],
    ),
    "21 what nobody knows": (
        [
            *(CREATED, event("new", a=1), begin("new_step"), delta("text", text="?"), stop()),
            *(begin("model_output", 1), delta("new_delta", 1), say("Hi", 1), delta("image", 1, uri="u"), stop(1)),
            completed(),
        ],
        ["start", *["foreign"] * 6, "open text", "+Hi", "foreign", "close", STOP],
    ),
    "22 text, image, text": (
        [CREATED, S, say("Hi"), delta("image", data="AAE=", mime_type="image/png"), say("b"), stop(), completed()],
        [*HI, "close", "open inline_data", "+b'\\x00\\x01'", "close", "open text", "+b", "close", STOP],
    ),
    "an image amid a thought": (
        [
            *(CREATED, begin("thought"), think("A")),
            delta("thought_summary", content={"type": "image", "data": "AAE=", "mime_type": "image/png"}),
            *(think("B"), stop(), completed()),
        ],
        [
            *("start", "open thinking", "+A", "close", "open inline_thinking", "+b'\\x00\\x01'", "close"),
            *("open thinking", "+B", "close", STOP),
        ],
    ),
    "27 steps counted from another number": (
        [CREATED, begin("model_output", 3), say("Hi", 3), stop(3), begin("model_output", 4), stop(4), completed()],
        [*HI, "close", "foreign", "foreign", STOP],
    ),
}
ENDS = ("TruncatedStream", "GrammarError", "DecodeError")


@pytest.mark.parametrize("row", ROWS)
def test_what_it_says(row: str) -> None:
    units, events = ROWS[row]
    assert said(sse(units), FORMAT) == events


VIA = ((), ("events-jsonl",), ("gateway-sse",), ("unievent-sse",), ("gemini-sse",), ("gateway-jsonl", "unievent-sse"))


@pytest.mark.parametrize("via", VIA, ids=" ".join)
@pytest.mark.parametrize("row", [row for row, (_, events) in ROWS.items() if events[-1] not in ENDS])
def test_it_comes_home(row: str, via: tuple[str, ...]) -> None:
    stream = sse(ROWS[row][0])
    home = through(stream, FORMAT, *via, *via[-2::-1], FORMAT)
    assert native(home) == native(stream)
    assert b": carry" not in home
    assert home.endswith(b"data: [DONE]\n\n") == ("failure" not in ROWS[row][1][-1])


# ---- written for others

END = Finish(TokenCounts(), Reason("stop"))
TEXT: list[Event] = [Open("text"), Append("Hi"), Close()]


def written(*events: Event) -> list[str]:
    """The types of what is written of events, without carries: those of steps and deltas, where they have one."""
    units = encode(events, "gemini-interactions", clock=lambda: CLOCK, loss="drop")
    return [(unit.get("step") or unit.get("delta") or {"type": unit["event_type"]})["type"] for unit in units]


def home(events: list[Event]) -> list[Event]:
    """What comes back of events, but for what was made up on the way."""
    back = decode(encode(events, FORMAT), FORMAT)
    return [bare(each) for each in at_home(back, "gemini-interactions")]


def test_23_each_text_is_a_step() -> None:
    step = ["model_output", "text", "step.stop"]
    assert written(*TEXT, *TEXT, END) == ["interaction.created", *step, *step, "interaction.completed"]
    assert home([*TEXT, *TEXT, END]) == [*TEXT, *TEXT, END]


def test_24_a_text_that_a_handover_ends_is_stopped() -> None:
    events: list[Event] = [Open("text"), Append("Hi"), Handover(Model("m")), *TEXT, END]
    assert written(*events)[1:4] == ["model_output", "text", "step.stop"]
    assert home(events) == events


@pytest.mark.parametrize("end", [Handover(Model("m")), Close(cut=True)], ids=["a handover", "a cut"])
def test_25_a_call_that_broke_off_is_none(end: Event) -> None:
    with pytest.raises(ToolArgumentsError):
        written(Open("tool_call", "c", "f"), Append('{"a":'), end, END)
    events: list[Event] = [Open("tool_call", "c", "f"), end, END]
    assert home(events) == events


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (State("google", {"signature": "s"}), True),
        (State(None, {"signature": "AAAA"}), True),
        (State("anthropic", {"signature": "s"}), False),
        (State("google", {"signature": "s", "more": 1}), False),
    ],
    ids=str,
)
def test_26_only_its_own_states_are_signatures(state: State, says: bool) -> None:
    events: list[Event] = [Open("thinking"), Append("T"), Append("", state), Close(), END]
    assert ("thought_signature" in written(*events)) == says
    assert home(events) == events
    together: list[Event] = [Open("thinking"), Append("T", state), Close(), END]
    assert ("thought_signature" in written(*together)) == says
    assert home(together) == together


def test_a_state_on_a_whole_call_is_the_signature_of_its_step() -> None:
    state = State("google", {"signature": "s"})
    for raw in ('{"a": 1}', "", "{}"):
        events: list[Event] = [Open("tool_call", "c", "f"), Append(raw, state), Close(), END]
        units = list(encode(events, "gemini-interactions", loss="drop"))
        assert units[1]["step"]["signature"] == "s"
        assert home(events) == events
    later: list[Event] = [Open("tool_call", "c", "f"), Append("{"), Append("}", state), Close(), END]
    assert home(later) == later


def test_28_clients_run_calls_on_their_own_word() -> None:
    units = [chunk(call("f", {"x": 1}), reason="STOP")]
    report = Report()
    out = list(convert(units, "gemini", "gemini-interactions", report=report, loss="drop"))
    assert out[-1]["interaction"]["status"] == "requires_action"
    assert "reason" in [found.field for found in report.guesses]
    stream = sse([chunk(text("a"), call("f", {"x": 1}), reason="STOP")])
    assert native(through(stream, "gemini-sse", FORMAT, "gemini-sse")) == native(stream)


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        (Reason("stop"), "completed"),
        (Reason("tool_call"), "requires_action"),
        (Reason("length"), "incomplete"),
        (Reason("pause"), "incomplete"),
        (Reason("unknown", "completed"), "incomplete"),
    ],
    ids=str,
)
def test_the_words_for_reasons(reason: Reason, status: str) -> None:
    events: list[Event] = [*TEXT, Finish(TokenCounts(100, 12, 80, 5), reason)]
    end = list(encode(events, "gemini-interactions", loss="drop"))[-1]["interaction"]
    assert end["status"] == status
    assert end["usage"] == {
        "total_tokens": 112,
        "total_input_tokens": 100,
        "total_cached_tokens": 80,
        "total_output_tokens": 7,
        "total_thought_tokens": 5,
    }
    assert home(events) == events


def test_data_and_annotations_are_written() -> None:
    note = Annotate("google", {"annotations": [{"a": 1}]})
    events: list[Event] = [Open("text"), Append("Hi"), note, Close()]
    events += [Open("inline_data", mime_type="audio/pcm"), Append(b"a"), Append(b"b"), Close()]
    events += [Open("inline_thinking", mime_type="x/y"), Append(b"c"), Close(), END]
    assert written(*events)[1:] == [
        *("model_output", "text", "text_annotation_delta", "step.stop"),
        *("model_output", "audio", "step.stop", "model_output", "document", "step.stop", "interaction.completed"),
    ]
    assert home(events) == events


@pytest.mark.parametrize("code", [429, None], ids=str)
def test_a_failure_is_an_error(code: int | None) -> None:
    events: list[Event] = [Open("text"), Append("Hi"), Failure(code, "m", "k", {"a": 1})]
    last = list(encode(events, "gemini-interactions", loss="drop"))[-1]
    assert last == event("error", error={"code": str(code or 502), "message": "m"})
    assert home(events) == events


# ---- the rest


@pytest.mark.parametrize(
    "unit",
    [
        {"a": 1},
        event("interaction.created"),
        event("step.start", index="0", step={"type": "thought"}),
        event("step.start", index=0, step={}),
        event("step.delta", index=0, delta={}),
        event("error", error="m"),
        event("step.start", index=0, step={"type": "function_call", "name": ""}),
        {**CREATED, "metadata": {"usage": {"total_input_tokens": "9"}}},
    ],
    ids=str,
)
def test_what_is_no_event_is_refused(unit: dict[str, Any]) -> None:
    assert said([unit], "gemini-interactions")[-1] == "DecodeError"


def test_an_event_name_that_disagrees_is_left_out_in_lenient_mode() -> None:
    stream = sse([CREATED, completed()]).replace(b"event: interaction.created", b"event: x")
    assert said(stream, FORMAT) == ["DecodeError"]
    assert said(stream, FORMAT, strict=False) == ["start", STOP]


def test_the_whole_interaction() -> None:
    units = [
        *(CREATED, begin("thought"), think("A"), sign("s"), stop()),
        *(begin("model_output", 1), say("Hi", 1), delta("image", 1, data="AAE=", mime_type="image/png"), stop(1)),
        *(
            begin("function_call", 2, id="c", name="f", arguments={"a": 1}),
            stop(2),
            completed("requires_action", COUNTS),
        ),
    ]
    message = assemble(units, "gemini-interactions", "gemini-interactions")
    assert message["steps"] == [
        {"type": "thought", "signature": "s", "summary": [{"type": "text", "text": "A"}]},
        {
            "type": "model_output",
            "content": [
                {"type": "text", "text": "Hi"},
                {"type": "image", "data": "AAE=", "mime_type": "image/png"},
            ],
        },
        {"type": "function_call", "id": "c", "name": "f", "arguments": {"a": 1}},
    ]
    assert (message["id"], message["model"], message["status"]) == ("i", "m", "requires_action")
    assert message["usage"]["total_input_tokens"] == 11


def test_what_is_shown_of_a_unit() -> None:
    known = codec("gemini-interactions")
    assert [known.kind(unit) for unit in (CREATED, {"event_type": 1})] == ["interaction.created", ""]
    assert known.time(event("interaction.completed", interaction={"updated": "1970-01-01T00:00:02Z"})) == 2000
    assert known.time(event("interaction.completed", interaction={"updated": "soon"})) is None
    assert known.is_terminal(completed())
    assert not known.is_terminal(stop())
    assert check([CREATED, S, say("Hi"), stop(), completed()], "gemini-interactions") == []


def test_who_answers_is_said() -> None:
    units = list(encode([Start(Model("m"), "i"), *TEXT, END], "gemini-interactions", loss="drop"))
    assert units[0] == CREATED
    assert units[-1] == completed()


@pytest.mark.parametrize(("signature", "is_said"), [("AAAA", True), ("no base64!", False)])
def test_a_signature_of_an_unknown_issuer_is_said_if_it_is_base64(signature: str, is_said: bool) -> None:
    state = State(None, {"signature": signature})
    events: list[Event] = [Open("thinking"), Append("T", state), Close(), Finish(TokenCounts(1, 1), Reason("stop"))]
    out = b"".join(encode(events, "gemini-interactions-sse", loss="drop", clock=lambda: 0))
    assert (signature.encode() in out) is is_said
    # what came from here is said again, whatever it is
    ours = [Open("thinking"), Append("T", State("google", {"signature": signature})), *events[2:]]
    assert signature.encode() in b"".join(encode(ours, "gemini-interactions-sse", loss="drop", clock=lambda: 0))
