"""What others' events are in Anthropic Messages, and that they come home from there."""

from __future__ import annotations

from typing import Any

import pytest

from tests.codecs.anthropic_streams import CLOCK, Units, block, delta, end, signed, start, stop, text, thinks, written
from translate import assemble, check, convert, decode, encode
from translate.algebra.events import (
    Annotate,
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Foreign,
    Handover,
    Model,
    Open,
    Ping,
    Reason,
    Start,
    State,
    TokenCounts,
    Usage,
)
from translate.carry.losses import Report
from translate.errors import ToolArgumentsError
from translate.testing import at_home

BEGIN = Start(Model("m"), "msg_1")
END = Finish(TokenCounts(3, 2), Reason("stop"))
SIGNED = State("anthropic", {"signature": "S"})
UNKNOWN = State(None, {"signature": "S"})
STOPPED = [end("end_turn", usage={"input_tokens": 3, "output_tokens": 2}), {"type": "message_stop"}]
RED = "_REDACTED_THINKING"


def thinking(*fragments: Append) -> list[Event]:
    return [Open("thinking"), *fragments, Close()]


PARTS: dict[str, tuple[list[Event], Units]] = {
    "a refusal": ([Open("refusal"), Append("no"), Close()], [block(0, "text"), text(0, "no"), stop(0)]),
    "text that was cut off": ([Open("text"), Append("a"), Close(cut=True)], [block(0, "text"), text(0, "a"), stop(0)]),
    "a whole call that was cut off": (
        [Open("tool_call", "a", "f"), Append("{}"), Close(cut=True)],
        [block(0, "tool_use", id="a"), delta(0, "input_json_delta", partial_json="{}"), stop(0)],
    ),
    "half a call that was cut off": (
        [Open("tool_call", "a", "f"), Append("{"), Close(cut=True)],
        [block(0, "tool_use", id="a"), delta(0, "input_json_delta", partial_json="{"), stop(0)],
    ),
    "a part without a fragment": ([Open("text"), Close()], [block(0, "text"), stop(0)]),
    "thinking without a fragment": (thinking(), [block(0, "thinking"), stop(0)]),
    "redacted": (thinking(Append(RED, UNKNOWN)), [block(0, "redacted_thinking", data="S"), stop(0)]),
    "redacted, the state after it": (
        thinking(Append(RED), Append("", SIGNED)),
        [block(0, "redacted_thinking", data="S"), stop(0)],
    ),
    "its text alone": (thinking(Append(RED)), [block(0, "thinking"), thinks(0, RED), stop(0)]),
    "its text with the state of another": (
        thinking(Append(RED, State("google", {"signature": "S"}))),
        [block(0, "thinking"), thinks(0, RED), stop(0)],
    ),
    "its text, and more": (
        thinking(Append(RED), Append("!"), Append("", SIGNED)),
        [block(0, "thinking"), thinks(0, RED), thinks(0, "!"), signed(0, "S"), stop(0)],
    ),
    "a state on the first of three fragments": (
        thinking(Append("a", UNKNOWN), Append("b"), Append("c")),
        [block(0, "thinking"), thinks(0, "a"), signed(0, "S"), thinks(0, "b"), thinks(0, "c"), stop(0)],
    ),
    "the state of another issuer": (
        thinking(Append("a"), Append("", State("google", {"signature": "S"}))),
        [block(0, "thinking"), thinks(0, "a"), thinks(0, ""), stop(0)],
    ),
    "a state that holds more": (
        thinking(Append("", State("anthropic", {"signature": "S", "format": "anthropic-claude-v1"}))),
        [block(0, "thinking"), signed(0, "S"), stop(0)],
    ),
    "a state of unknown issuer whose format names another": (
        thinking(Append("", State(None, {"signature": "S", "format": "google-gemini-v1"}))),
        [block(0, "thinking"), thinks(0, ""), stop(0)],
    ),
    "a state of unknown issuer that holds more": (
        thinking(Append("", State(None, {"signature": "S", "x": 1}))),
        [block(0, "thinking"), thinks(0, ""), stop(0)],
    ),
    "a state on text": ([Open("text"), Append("a", SIGNED), Close()], [block(0, "text"), text(0, "a"), stop(0)]),
    "a call without an id": (
        [Open("tool_call", None, "f"), Append("{}"), Close()],
        [block(0, "tool_use", id="made_0"), delta(0, "input_json_delta", partial_json="{}"), stop(0)],
    ),
    "a call without a name": ([Open("tool_call", "a"), Append("{}"), Close()], []),
    "a call of blank arguments": (
        [Open("tool_call", "a", "f"), Append(" "), Close()],
        [block(0, "tool_use", id="a"), delta(0, "input_json_delta", partial_json=" "), stop(0)],
    ),
    "arguments that are no object": (
        [Open("tool_call", "a", "f"), Append("[1"), Close()],
        [block(0, "tool_use", id="a"), delta(0, "input_json_delta", partial_json="[1"), stop(0)],
    ),
    "another's server tool": ([Open("server_tool_call", "a", "f"), Append("{}"), Close()], []),
    "bytes": ([Open("inline_data", mime_type="image/png"), Append(b"x"), Close()], []),
    "its own citation": (
        [Open("text"), Annotate("anthropic", {"u": 1}), Append("a"), Close()],
        [block(0, "text"), delta(0, "citations_delta", citation={"u": 1}), text(0, "a"), stop(0)],
    ),
    "another's citation, and one of the message": (
        [Annotate("anthropic", 1), Open("text"), Annotate("openai", {"u": 1}), Append("a"), Close()],
        [block(0, "text"), text(0, "a"), stop(0)],
    ),
    "notes": (
        [Usage(TokenCounts(1, 1)), Open("text"), Foreign("elsewhere", {}), Append("a"), Close()],
        [block(0, "text"), text(0, "a"), stop(0)],
    ),
    "a handover in a part, and a second model": (
        [Open("text"), Append("a"), Handover(Model("m")), Start(Model("n")), Open("text"), Append("b"), Close()],
        [block(0, "text"), text(0, "a"), stop(0), block(1, "text"), text(1, "b"), stop(1)],
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_others_are_said_and_come_home(name: str) -> None:
    events, units = PARTS[name]
    stream: list[Event] = [BEGIN, *events, END]
    calls = any(unit.get("content_block", {}).get("type") == "tool_use" for unit in units)
    reason = "tool_use" if calls else "end_turn"
    stopped = [end(reason, usage=STOPPED[0]["usage"]), STOPPED[1]]
    assert written(stream) == [start(), *units, *stopped]
    out = list(encode(stream, "anthropic", clock=lambda: CLOCK))
    assert at_home(decode(out, "anthropic"), "anthropic") == stream
    assert not check(out, "anthropic")
    assert not check(written(stream), "anthropic")


def test_a_state_of_unknown_issuer_is_a_guess_and_not_that_of_another_publisher() -> None:
    for publisher, said, guesses in ((None, True, 1), ("Anthropic", True, 1), ("Google", False, 0)):
        report = Report()
        stream: list[Event] = [Start(Model("m", publisher=publisher)), *thinking(Append("", UNKNOWN)), END]
        units = written(stream, report=report)
        assert (signed(0, "S") in units) is said
        assert sum(finding.field == "namespace" for finding in report.guesses) == guesses


def test_a_start_is_made_up_once_it_is_needed() -> None:
    (error,) = written([Failure(500, "no")])
    assert error["type"] == "error"
    first, *_ = list(encode([Open("text"), Close(), END], "anthropic", clock=lambda: CLOCK, model=Model("x")))
    assert first == {**start(id=f"msg_{CLOCK:x}", model="x"), "carry": {"v": 1, "synthetic": True}}
    assert written([END])[0] == start(id=f"msg_{CLOCK:x}", model="unknown")
    (begun, *_) = encode([Start(), END], "anthropic", clock=lambda: CLOCK)
    assert begun["carry"] == {"v": 1, "events": [{"as": "start", "id": None}]}


COUNTS: dict[str, tuple[TokenCounts, dict[str, Any]]] = {
    "more cached than there are": (TokenCounts(3, 2, 8), {"input_tokens": 0, "cache_read_input_tokens": 8}),
    "cached, created, thought": (
        TokenCounts(20, 2, 5, 1, None, {"cache_creation_input_tokens": 3}),
        {
            "input_tokens": 12,
            "cache_creation_input_tokens": 3,
            "cache_read_input_tokens": 5,
            "output_tokens_details": {"thinking_tokens": 1},
        },
    ),
    "of input unknown": (TokenCounts(None, 2, 5), {"cache_read_input_tokens": 5}),
    "by name": (
        TokenCounts(1, 2, other={"server_tool_use": {"n": 1}, "x": 1}),
        {"input_tokens": 1, "server_tool_use": {"n": 1}},
    ),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_others(name: str) -> None:
    counts, words = COUNTS[name]
    stream: list[Event] = [BEGIN, Finish(counts, Reason("stop"))]
    assert written(stream)[1]["usage"] == {**words, "output_tokens": 2}
    assert at_home(decode(encode(stream, "anthropic"), "anthropic"), "anthropic") == stream


def test_counts_that_came_before_the_end_are_said_at_it() -> None:
    stream: list[Event] = [BEGIN, Usage(TokenCounts(3, 1)), Finish(TokenCounts(None, 2), Reason("stop"))]
    assert written(stream)[1:] == STOPPED
    assert at_home(decode(encode(stream, "anthropic"), "anthropic"), "anthropic") == stream


SAID: list[tuple[Reason, bool, str, int]] = [
    (Reason("stop"), False, "end_turn", 0),
    (Reason("stop", "stop_sequence"), False, "stop_sequence", 0),
    (Reason("stop", "STOP"), False, "end_turn", 0),
    (Reason("stop"), True, "tool_use", 1),
    (Reason("length"), True, "max_tokens", 0),
    (Reason("length", "model_context_window_exceeded"), False, "model_context_window_exceeded", 0),
    (Reason("tool_call"), True, "tool_use", 0),
    (Reason("refusal"), False, "refusal", 0),
    (Reason("content_filter"), False, "refusal", 0),
    (Reason("pause"), False, "pause_turn", 0),
    (Reason("unknown"), False, "end_turn", 1),
    (Reason("unknown", "eos"), False, "end_turn", 1),
]


@pytest.mark.parametrize(("reason", "calls", "word", "guesses"), SAID)
def test_reasons_of_others(reason: Reason, calls: bool, word: str, guesses: int) -> None:
    parts: list[Event] = [Open("tool_call", "a", "f"), Append("{}"), Close()] if calls else []
    stream: list[Event] = [BEGIN, *parts, Finish(TokenCounts(), reason)]
    report = Report()
    assert written(stream, report=report)[-2]["delta"] == {"stop_reason": word, "stop_sequence": None}
    assert len(report.guesses) == guesses
    assert at_home(decode(encode(stream, "anthropic"), "anthropic"), "anthropic") == stream


ERRORS = [
    *((400, "invalid_request_error"), (422, "invalid_request_error"), (401, "authentication_error")),
    *((402, "billing_error"), (403, "permission_error"), (404, "not_found_error"), (408, "timeout_error")),
    *((413, "request_too_large"), (429, "rate_limit_error"), (500, "api_error"), (502, "api_error")),
    (None, "api_error"),
    *((503, "overloaded_error"), (504, "timeout_error"), (529, "overloaded_error")),
]


@pytest.mark.parametrize(("code", "kind"), ERRORS)
def test_failures_of_others(code: int | None, kind: str) -> None:
    failure = Failure(code, "no", "X", {"a": 1})
    assert written([failure]) == [{"type": "error", "error": {"type": kind, "message": "no"}}]
    assert at_home(decode(encode([failure], "anthropic"), "anthropic"), "anthropic") == [failure]
    named = Failure(code, "no", "billing_error")
    assert written([named])[0]["error"]["type"] == "billing_error"


def test_a_call_that_breaks_off_at_a_handover_is_never_one_that_can_be_run() -> None:
    for raw in ("", '{"a', "{}"):
        stream: list[Event] = [BEGIN, Open("tool_call", "a", "f"), Append(raw), Handover(), END]
        with pytest.raises(ToolArgumentsError):
            written(stream)


def test_pings_of_others_are_what_the_shape_has() -> None:
    stream: list[Event] = [BEGIN, Open("thinking"), Ping(), Append("a"), Close(), END]
    assert not any(unit["type"] == "ping" for unit in written(stream))
    assert b"".join(encode(stream, "anthropic-sse")).count(b": keep-alive\n\n") == 1


def test_the_assembled_message() -> None:
    stream: list[Event] = [
        *(BEGIN, Usage(TokenCounts(3, 1)), *thinking(Append("hm"), Append("", SIGNED)), *thinking(Append(RED, SIGNED))),
        *(Open("text"), Append("a"), Annotate("anthropic", {"u": 1}), Close()),
        *(Open("tool_call", "a", "f"), Append('{"n": 1}'), Close(), END),
    ]
    assert assemble(stream, "events", "anthropic") == {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "S"},
            {"type": "redacted_thinking", "data": "S"},
            {"type": "text", "text": "a", "citations": [{"u": 1}]},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"n": 1}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }
    with pytest.raises(ToolArgumentsError):
        assemble([BEGIN, Open("tool_call", "a", "f"), Append("[1"), Close(), END], "events", "anthropic")


def test_a_plain_stream_costs_nothing_but_its_start_and_its_end() -> None:
    units = [start(), block(0, "text"), *(text(0, f"{i}") for i in range(100)), stop(0), *STOPPED]
    out = list(convert(units, "anthropic", "gateway", clock=lambda: CLOCK))
    assert [i for i, frame in enumerate(out) if "carry" in frame] == [0, len(out) - 1]
