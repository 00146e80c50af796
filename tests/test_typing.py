"""What type checkers and readers see: types by format, and events without what is as it always is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, assert_type, get_args

import pytest

import translate
from translate import (
    Append,
    AsyncStream,
    ByteFormat,
    Event,
    EventFormat,
    Failure,
    Finish,
    JsonObject,
    Model,
    ObjectFormat,
    Open,
    Reason,
    Start,
    State,
    Stream,
    TokenCounts,
    Translator,
    TruncatedStream,
    codec,
    convert,
    decode,
    encode,
)
from translate.registry import resolve


def some_format() -> str:
    return "gateway"


async def nothing() -> AsyncIterator[Event]:
    events: tuple[Event, ...] = ()
    for event in events:
        yield event


def test_streams_are_typed_by_format() -> None:
    """``mypy`` checks these; running them shows that the calls are real."""
    assert_type(convert([], "gateway", "unievent-sse"), Stream[bytes])
    assert_type(encode([], "gateway-sse"), Stream[bytes])
    assert_type(encode([], "gateway"), Stream[JsonObject])
    assert_type(encode([], "events"), Stream[Event])
    assert_type(encode(nothing(), "gateway-sse"), AsyncStream[bytes])
    assert_type(encode(nothing(), "gateway"), AsyncStream[JsonObject])
    assert_type(encode(nothing(), "events"), AsyncStream[Event])
    assert_type(encode([], some_format()), Stream[Any])
    assert isinstance(encode([], some_format()), Stream)
    assert_type(Translator("gateway", "unievent-sse"), Translator[bytes])
    assert_type(Translator("unievent-sse", "gateway-sse").feed(TURN), list[bytes])
    assert_type(Translator("unievent-sse", "gateway").feed(TURN), list[JsonObject])
    assert_type(Translator("gateway-sse", "events", errors="encode").ping(), list[Event])
    assert_type(Translator("gateway-sse", some_format()).ping(), list[Any])
    annotated: Translator = Translator("gateway-sse", some_format())
    assert annotated.ping() == []


def test_the_names_of_formats_in_types_are_those_of_the_built_in_codecs() -> None:
    named = {*get_args(ByteFormat), *get_args(ObjectFormat), *get_args(EventFormat)}
    built_in = [name for name in translate.formats() if type(codec(name)).__module__.startswith("translate_codecs.")]
    assert named == {*built_in}
    assert {*get_args(ByteFormat)} == {name for name in built_in if not resolve(name)[1].objects}


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (Open("text"), "Open(kind='text')"),
        (Open("tool_call", "c", "f"), "Open(kind='tool_call', id='c', name='f')"),
        (Append("x"), "Append(data='x')"),
        (Append("x", State(None, {})), "Append(data='x', state=State(namespace=None, values={}))"),
        (Start(), "Start()"),
        (Start(Model("m")), "Start(model=Model(name='m'))"),
        (Finish(TokenCounts(1)), "Finish(usage=TokenCounts(input_tokens=1))"),
        (Finish(reason=Reason("stop")), "Finish(reason=Reason(word='stop'))"),
        (Failure(None, "no"), "Failure(code=None, message='no')"),
        (Start(residue={"gateway": {}}), "Start(residue={'gateway': {}})"),
    ],
)
def test_an_event_is_shown_without_its_defaults(event: Event, shown: str) -> None:
    assert repr(event) == shown
    names = {name: getattr(translate, name) for name in translate.__all__}
    assert eval(shown, names) == event


TURN = (Path(__file__).resolve().parents[1] / "examples" / "claude-turn.unievent.sse").read_bytes()


def test_what_runs_says_its_formats_and_how_far_it_is() -> None:
    machine = Translator("gateway-sse", "unievent")
    assert repr(machine) == "<Translator gateway-sse to unievent: 0 units read, 0 written, open>"
    stream = convert(iter([TURN]), "unievent-sse", "gateway")
    assert repr(stream) == "<Stream unievent-sse to gateway: 0 units read, 0 written, open>"
    next(stream)
    assert repr(stream) == "<Stream unievent-sse to gateway: 84 units read, 70 written, ended>"
    assert [*stream]
    assert repr(stream) == "<Stream unievent-sse to gateway: 84 units read, 70 written, ended, closed>"
    cut = convert(TURN[:3000], "unievent-sse", "gateway-sse")
    with pytest.raises(TruncatedStream):
        b"".join(cut)
    assert repr(cut).endswith(" 15 units read, 17 written, failed (TruncatedStream), closed>")
    said = convert(TURN[:3000], "unievent-sse", "gateway-sse", errors="encode")
    assert b"".join(said)
    assert "18 written, failed (TruncatedStream), closed>" in repr(said)
    assert repr(encode([], "gateway")) == "<Stream events to gateway: 0 events read, 0 units written, open>"
    assert repr(decode([], "gateway")) == "<Stream gateway to events: 0 units read, open>"
    assert repr(codec("gateway")) == "<codec gateway: gateway, gateway-jsonl, gateway-sse>"
