"""The words of the two wires, spelled out: what each event is there, and what each unit says."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, get_args

import pytest

from tests.wire import call, delta, frame, inline, item, stop
from translate import (
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Model,
    Open,
    Reason,
    State,
    TokenCounts,
    ToolArgumentsError,
    codec,
    decode,
    encode,
)
from translate.algebra.calls import parse_arguments
from translate.algebra.events import ReasonWord
from translate.codec import NUMBER, TEXT
from translate_codecs.gateway import words as gateway_units
from translate_codecs.gateway.words import (
    arguments_of,
    error_envelope,
    guessed_issuer,
    same_data,
    same_finish,
    same_state,
)
from translate_codecs.unievent import words as unievent_units
from translate_codecs.unievent.words import close_enough, error_unit, read_error

UNIEVENT, GATEWAY = codec("unievent"), codec("gateway")


# ---- runs ----------------------------------------------------------------------------------------------


def test_hot_units_are_the_canonical_ones_with_holes() -> None:
    assert {word: hot.unit for word, hot in gateway_units.HOT.items()} == {
        "content": frame("content", value=TEXT),
        "thinking": frame("thinking", value=TEXT),
    }
    assert {(hot.codec, hot.name, hot.stamp) for hot in gateway_units.HOT.values()} == {
        ("gateway", "content", None),
        ("gateway", "thinking", None),
    }
    assert {kind: hot.unit for kind, hot in unievent_units.HOT.items()} == {
        "text": delta(item("text.delta", TEXT), NUMBER),
        "thinking": delta(item("thinking.delta", TEXT), NUMBER),
        "tool_call": delta(call("delta", TEXT), NUMBER),
    }
    assert {(hot.codec, hot.name, hot.stamp) for hot in unievent_units.HOT.values()} == {("unievent", None, "at")}


def test_runs_are_named_after_their_kind() -> None:
    for kind, word in (("text", "content"), ("refusal", "content"), ("thinking", "thinking")):
        units = list(encode([Open(kind), Append("a"), Close(), Finish()], "gateway"))  # type: ignore[arg-type]
        assert [unit["value"]["type"] for unit in units[1:-1]] == [f"{word}Start", word, f"{word}End"]


def inlines(kind: str, mime_type: str) -> list[Any]:
    return [inline(f"{kind}.{phase}", b"a", mime_type) for phase in ("delta", "done")]


@pytest.mark.parametrize(
    ("head", "data", "first", "done"),
    [
        (Open("text"), "a", item("text.delta", "a"), item("text.done", "a")),
        (Open("refusal"), "a", item("text.delta", "a"), item("text.done", "a")),
        (Open("thinking"), "a", item("thinking.delta", "a"), item("thinking.done", "a")),
        (Open("tool_call", "t", "f"), '{"a":1}', call("delta", '{"a":1}', "f", "t"), call("done", {"a": 1}, "f", "t")),
        (
            Open("inline_data"),
            b"a",
            *inlines("inline_data", "application/octet-stream"),
        ),
        (
            Open("inline_thinking", mime_type="a/b"),
            b"a",
            *inlines("inline_thinking", "a/b"),
        ),
        (Open("embedding"), [1.0], item("embedding.delta", [1.0]), item("embedding.done", [1.0])),
    ],
)
def test_the_item_of_a_kind(head: Open, data: Any, first: Any, done: Any) -> None:
    events: list[Event] = [head, Append(data), Close(), Finish()]
    units = list(encode(events, "unievent", clock=lambda: 7))
    assert [unit["content_items"] for unit in units] == [[first], [done], []]
    assert UNIEVENT.assemble(events)["content_items"] == [done]
    empty: Any = type(data)()
    events[1] = Append(empty)
    (made,) = UNIEVENT.assemble(events)["content_items"]
    field = unievent_units.FIELD["text" if head.kind == "refusal" else head.kind]
    assert made == {**done, field: {} if field == "arguments" else empty}


# ---- ends ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", get_args(ReasonWord))
def test_reasons(word: Any) -> None:
    end = Finish(reason=Reason(word))
    assert GATEWAY.agrees(end, end)
    *_, frame_ = encode([end], "gateway")
    assert frame_["value"]["usage"]["finishReason"] == {
        "stop": "stop",
        "length": "length",
        "tool_call": "toolCall",
    }.get(word, "unknown")
    (unit,) = encode([end], "unievent")
    assert unit["finish_reason"] == (word if word in ("stop", "length", "tool_call") else "unknown")
    for read in (decode([*encode([end], "gateway")], "gateway"), decode([*encode([end], "unievent")], "unievent")):
        *_, last = read
        assert type(last) is Finish
        assert last.reason == end.reason


@pytest.mark.parametrize(
    ("cached", "prompt", "total"),
    [(None, None, None), (None, 5, 5), (3, None, 3), (3, 5, 8), (0, None, 0), (None, 0, 0)],
)
def test_parts_of_a_sum(cached: Any, prompt: Any, total: Any) -> None:
    (event,) = decode([stop(cached=cached, prompt=prompt, thoughts=cached, response=prompt)], "unievent")
    assert type(event) is Finish
    assert event.usage == TokenCounts(total, total, cached, cached)


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (TokenCounts(), (None, None, None, None)),
        (TokenCounts(8, 9), (None, 8, None, 9)),
        (TokenCounts(8, 9, 3, 4), (3, 5, 4, 5)),
        (TokenCounts(None, None, 3, 4), (3, None, 4, None)),
        (TokenCounts(3, 4, 3, 4), (3, 0, 4, 0)),
    ],
)
def test_sums_and_their_parts(usage: TokenCounts, counts: Any) -> None:
    (unit,) = encode([Finish(usage)], "unievent")
    names = ("cached_tokens", "prompt_tokens", "thoughts_tokens", "response_tokens")
    assert unit["usage_metadata"] == dict(zip(names, counts, strict=True))


def test_an_end_agrees_with_one_of_the_same_words() -> None:
    def end(n: int = 1, provider: str | None = None, word: Any = "stop") -> Finish:
        return Finish(TokenCounts(n, 2, provider=provider), Reason(word))

    for a, b, same in (
        (end(), end(), True),
        (end(provider="a"), end(provider="a"), True),
        (end(provider="a"), end(), False),
        (end(), end(provider="b"), True),
        (end(provider="a"), end(provider="b"), False),
        (end(1), end(2), False),
        (end(), end(word="length"), False),
        (end(), end(2, "a"), False),
        (replace(end(), reason=Reason("stop", "end")), end(), False),
        (end(), replace(end(), reason=Reason("stop", "end")), True),
    ):
        assert same_finish(a, b) is same


CODES = [(None, 502), (0, 502), (399, 502), (400, 400), (404, 404), (599, 599), (600, 502)]


@pytest.mark.parametrize(("code", "status"), CODES)
def test_the_code_of_a_failure_is_one_of_http(code: int | None, status: int) -> None:
    assert error_envelope(Failure(code, "m")) == {"success": False, "code": status, "message": "m"}
    given = {} if code is None else {"status": code}
    assert read_error({"type": "X", "message": "m", **given}) == Failure(status, "m", "X", given)


@pytest.mark.parametrize("status", [True, "404", 404.0, None])
def test_a_status_that_is_no_integer_is_none(status: Any) -> None:
    assert read_error({"status": status}) == Failure(502, "", None, {"status": status})


def test_errors_in_uni_event() -> None:
    for kind, code in (("UnsupportedParameterError", 400), ("UnsupportedOperationError", 400), ("OtherError", 502)):
        assert read_error({"type": kind, "message": "m"}) == Failure(code, "m", kind)
    assert read_error({"type": "UnsupportedParameterError", "status": 503}).code == 503
    home = Failure(502, "m", "K", {"a": 1, "type": "L", "message": "n"})
    assert error_unit(home, at_home=True) == {"error": {"type": "K", "message": "m", "a": 1}}
    assert error_unit(Failure(502, "m"), at_home=True) == {"error": {"message": "m"}}
    assert error_unit(home, at_home=False) == {"error": {"type": "UpstreamError", "message": "m", "status": 502}}
    other = replace(home, code=500)
    assert error_unit(other, at_home=True) == error_unit(other, at_home=False), "its own words would say another code"
    assert error_unit(Failure(None, "m"), at_home=False) == {"error": {"type": "UpstreamError", "message": "m"}}
    assert error_unit(Failure(502, "m", "ToolArgumentsError", {"raw": "x", "message": "n"}), at_home=False) == {
        "error": {"type": "ToolCallArgumentParseError", "message": "m", "client": "translate-streams", "raw": "x"}
    }


# ---- calls ---------------------------------------------------------------------------------------------


def test_arguments() -> None:
    assert [arguments_of(raw) for raw in ("", " \n", ' {"a":1} ')] == ["{}", "{}", ' {"a":1} ']
    assert [parse_arguments(raw, "f", "t", 256) for raw in ("", " \n", ' {"a":1} ')] == [{}, {}, {"a": 1}]
    for raw, position in (('{"a":x}', 5), ("[]", None), ("5", None)):
        with pytest.raises(ToolArgumentsError) as caught:
            UNIEVENT.assemble([Open("tool_call", "t", "f"), Append(raw), Close(), Finish()])
        error = caught.value
        assert (error.name, error.id, error.raw, error.position) == ("f", "t", raw, position)


@pytest.mark.parametrize(
    ("done", "parsed", "close"),
    [
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": 2}, False),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, False),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1, "a"], [1.0, "a"], True),
        ([1, 2], [1, 3], False),
        ([1], [1, 2], False),
        ([1, 2], [1], False),
        ([], [], True),
        ({}, [], False),
        ([], {}, False),
        ({}, 5, False),
        (5, {}, False),
        ([], 5, False),
        (5, [], False),
        (1, "1", False),
        ("1", 1, False),
        (1, True, False),
        (True, 1, False),
        (True, True, True),
        (None, None, True),
        (None, 0, False),
        ("a", "a", True),
        (2**53, float(2**53), True),
        (2**53 + 1, float(2**53), True),
        (10**400, math.inf, True),
        (-(10**400), -math.inf, True),
        (10**400, -math.inf, False),
        (-(10**400), math.inf, False),
    ],
)
def test_arguments_that_some_reader_made_of_the_fragments(done: Any, parsed: Any, close: bool) -> None:
    assert close_enough(done, parsed) is close


def test_blank_arguments_are_said_as_none() -> None:
    for meant, same in (("{}", True), ("", True), (" \t", True), ("{ }", False), (b"", False), ([], False)):
        assert same_data(Append("{}"), Append(meant)) is same
    assert not same_data(Append("a"), Append(""))


# ---- who says it ---------------------------------------------------------------------------------------


def test_who_issued_a_state() -> None:
    assert [guessed_issuer(Model(publisher=name)) for name in ("OpenAI", "unknown", "", None)] == [
        "openai",
        None,
        None,
        None,
    ]
    for said, meant, same in (
        (None, None, True),
        (None, State("", {"k": 1}), False),
        (State("", {"k": 1}), None, False),
        (State("x", {"k": 1}), State("x", {"k": 1}), True),
        (State("x", {"k": 1}), State("", {"x.k": 1}), True),
        (State("x", {"k": 1}), State("y", {"k": 1}), False),
        (State("x", {"k": 1}), State("x", {"k": 2}), False),
        (State("", {"k": 1}), State(None, {"k": 1}), True),
        (State("x", {"k": 1}), State(None, {"k": 1}), True),
        (State("", {"xk": 1}), State(None, {"k": 1}), False),
        (State("x", {"k": 1}), State(None, {"k": 2}), False),
        (State("x", {"k": 1}), State(None, {"m": 1}), False),
        (State("x", {"k": 1, "ak": 2}), State(None, {"k": 1, "ak": 2}), True),
        (State("", {"x.k": 1, "y.m": 2}), State(None, {"k": 1, "m": 2}), False),
    ):
        assert same_state(said, meant) is same, (said, meant)


def test_a_message_of_the_unary_route() -> None:
    signed = State("x", {"k": 1})
    events: list[Event] = [
        *(Open("text"), Append("a", signed), Close()),
        *(Open("refusal"), Append("no"), Close()),
        *(Open("thinking"), Append("b"), Close()),
        *(Open("thinking"), Append("c", signed), Close()),
        *(Open("tool_call", "t", "f"), Append(" "), Close()),
        *(Open("embedding"), Append([1.0]), Close()),
        Finish(),
    ]
    assert GATEWAY.assemble(events) == [
        {"type": "content", "value": "a"},
        {"type": "content", "value": "no"},
        {"type": "thinking", "value": "b"},
        {"type": "thinking", "value": "c", "data": {"x.k": 1}},
        {"type": "toolCall", "value": {"id": "t", "name": "f", "arguments": "{}"}},
    ]


def test_the_unknown_model_is_nobody() -> None:
    first, *_ = encode([Finish()], "gateway")
    assert first["value"]["model"] == dict.fromkeys(("name", "tier", "publisher", "provider"), "unknown")
