"""Laws of the comparison, over generated streams, and its words."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.strategies import FORMATS, KNOBS, Source, clock, sources, to
from translate import (
    Annotate,
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Foreign,
    GrammarError,
    Handover,
    Model,
    Open,
    Ping,
    Reason,
    Start,
    State,
    TokenCounts,
    Usage,
    decode,
    encode,
)
from translate.compare import Difference, compare
from translate.jsontext import Beyond
from translate.testing import PLAIN, Knobs, event_streams

each_format = pytest.mark.parametrize("format", FORMATS)
NATIVE = Knobs(
    kinds=("text", "thinking", "tool_call"),
    states=0,
    notes=frozenset(),
    failures=False,
    residues=(),
    words=PLAIN,
)
"""What every format has words for, ends apart."""


def events(source: Source) -> list[Event]:
    return list(decode(source.stream, source.format))


def levels(found: list[Difference]) -> set[str]:
    return {difference.level for difference in found}


def part(data: Any = "a", kind: Any = "text", **more: Any) -> list[Event]:
    return [Open(kind, **more), Append(data), Close()]


@each_format
@given(data=st.data())
def test_a_stream_and_itself_by_way_of_another_format_are_the_same(format: str, data: st.DataObject) -> None:
    source = data.draw(sources())
    home = to(to(source, format, errors="encode"), source.format, errors="encode")
    found = compare(events(source), events(home))
    # keep-alives are transport: only SSE and events have a place for them
    assert [difference for difference in found if difference.what != "keep-alives"] == []


@each_format
@given(data=st.data())
def test_a_stream_and_its_translation_differ_incidentally_only(format: str, data: st.DataObject) -> None:
    source = data.draw(sources())
    assert levels(compare(events(source), events(to(source, format, errors="encode")))) <= {"incidental"}


@each_format
@given(data=st.data())
def test_without_a_carry_that_holds_for_what_both_can_say(format: str, data: st.DataObject) -> None:
    stream = data.draw(event_streams(NATIVE))
    assume(all(type(event) is not Open or event.kind != "tool_call" or (event.id and event.name) for event in stream))
    stream = [
        replace(event, id=None) if type(event) is Open and event.kind != "tool_call" else event for event in stream
    ]
    stream[-1] = Finish(TokenCounts(5, 7), Reason(data.draw(st.sampled_from(("stop", "length", "tool_call")))))
    there = encode(stream, format, clock=clock, loss="drop")
    assert levels(compare(stream, decode(list(there), format))) <= {"incidental"}


@given(stream=event_streams(replace(KNOBS, residues=())), cut=st.data())
def test_where_fragments_are_cut_is_incidental(stream: list[Event], cut: st.DataObject) -> None:
    out: list[Event] = []
    for event in stream:
        if type(event) is Append:
            at = cut.draw(st.integers(0, len(event.data)))
            out += [Append(event.data[:at]), Append(event.data[at:], event.state)]
        else:
            out.append(event)
    assert levels(compare(stream, out)) <= {"incidental"}
    assert (stream == out) == (compare(stream, out) == [])


Change = Callable[[Any], Event | None]
CHANGES: dict[type[Event], list[Change]] = {
    Start: [lambda e: replace(e, model=replace(e.model, name="changed")), lambda e: replace(e, id="changed")],
    Open: [
        lambda e: replace(e, name="changed"),
        lambda e: replace(e, id="changed"),
        lambda e: replace(e, mime_type="changed/x"),
        lambda e: replace(e, kind="refusal" if e.kind == "text" else "text") if e.kind in ("text", "refusal") else None,
    ],
    Append: [
        lambda e: replace(e, data=e.data + ("!" if type(e.data) is str else b"!" if type(e.data) is bytes else [7])),
        lambda e: replace(e, data=e.data[1:]) if len(e.data) and not str(e.data[:1]).isspace() else None,
        lambda e: replace(e, state=State(e.state.namespace, {**e.state.values, "changed": 1.5})) if e.state else None,
    ],
    Annotate: [lambda e: replace(e, data=[e.data]), lambda e: replace(e, namespace="changed")],
    Close: [lambda e: Handover(), lambda e: replace(e, cut=not e.cut)],
    Handover: [lambda e: replace(e, model=replace(e.model, provider="changed"))],
    Foreign: [lambda e: replace(e, unit={**e.unit, "changed": None}), lambda e: replace(e, codec="changed")],
    Finish: [
        lambda e: replace(e, usage=replace(e.usage, output_tokens=-5)),
        lambda e: replace(e, usage=replace(e.usage, other={**e.usage.other, "changed": Beyond("1e999")})),
        lambda e: replace(e, reason=Reason("stop" if e.reason.word != "stop" else "length", e.reason.raw)),
        lambda e: replace(e, reason=replace(e.reason, raw="changed")),
        lambda e: Failure(502, "changed"),
    ],
    Failure: [
        lambda e: replace(e, code=-5),
        lambda e: replace(e, message=e.message + "!"),
        lambda e: replace(e, kind="changed"),
        lambda e: replace(e, details={**e.details, "changed": float("nan")}),
    ],
}


def test_there_is_a_change_for_every_event_with_content() -> None:
    assert {Start, Open, Append, Annotate, Close, Handover, Foreign, Finish, Failure} == set(CHANGES)


@pytest.mark.parametrize("kind", CHANGES, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_any_single_change_of_content_is_found(kind: type[Event], data: st.DataObject) -> None:
    stream = data.draw(event_streams(replace(KNOBS, residues=())))
    places = [i for i, event in enumerate(stream) if type(event) is kind]
    assume(places)
    at = data.draw(st.sampled_from(places))
    changed = data.draw(st.sampled_from(CHANGES[kind]))(stream[at])
    if changed is None:
        return
    other = [*stream[:at], changed, *stream[at + 1 :]]
    found = compare(stream, other)
    assert found
    assert levels(found) - {"incidental"}
    # which side is which changes no more than the order of the two
    assert {(d.level, d.what) for d in compare(other, stream)} == {(d.level, d.what) for d in found}


@given(stream=event_streams(replace(KNOBS, residues=())), data=st.data())
def test_a_part_that_one_side_lacks_is_found(stream: list[Event], data: st.DataObject) -> None:
    at = data.draw(st.sampled_from([i for i, event in enumerate(stream) if type(event) is Open] or [len(stream) - 1]))
    assume(type(stream[at]) in (Open, Finish))
    inside = 0
    for event in stream[:at]:
        inside = 1 if type(event) is Open else 0 if type(event) in (Close, Handover) else inside
    assume(not inside)
    other = [*stream[:at], *part("only there"), *stream[at:]]
    found = [d for d in compare(stream, other) if d.level == "message"]
    assert ("", None) in [(d.what, d.a) for d in found]


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (part("x" * 200 + "cat"), part("x" * 200 + "dog"), "part 1 (text): text, after 200 characters: "
         f"…'{'x' * 16}cat' | …'{'x' * 16}dog'"),
        (part([1, float("nan")], "embedding"), part([1, 2.5], "embedding"),
         "part 1 (embedding): vector, after 1 numbers: [1,NaN] | [1,2.5]"),
        (part(b"\0\1", "inline_data"), part(b"\0\2", "inline_data"),
         "part 1 (inline_data): bytes, after 1 bytes: 00 01 | 00 02"),
        (part("", "tool_call", id="1"), part('{"a":null}', "tool_call", id="1"),
         "part 1 (tool_call): arguments.a: nothing | null"),
        (part("{", "tool_call", id="1"), part("{}", "tool_call", id="1"),
         "part 1 (tool_call): arguments: '{' | '{}'"),
        (part("\ud83d"), part("\ude00"), "part 1 (text): text: '\\ud83d' | '\\ude00'"),
        (part(), part("a", "thinking"), "part 1: kind: 'text' | 'thinking'"),
        ([Foreign("x", {"a": 10**30})], [Foreign("x", {"a": 10**30 + 1})],
         f"a unit of x: a: {10**30} | {10**30 + 1}"),
        ([Start(Model("m"))], [], "start: {\"name\":\"m\"} | nothing"),
    ],
    ids=lambda value: None,
)  # fmt: skip
def test_a_difference_is_said_plainly(a: list[Event], b: list[Event], said: str) -> None:
    (found,) = compare([*a, Finish()], [*b, Finish()])
    assert str(found) == said


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (part('{"a":1,"b":"\\u00e9"}', "tool_call"), part('{ "b":"é", "a":1 }', "tool_call")),
        (part("", "tool_call"), part("{}", "tool_call")),
        ([Start(created=1)], [Start(created=2)]),
        ([Ping()], []),
        ([Usage(TokenCounts(1))], [Usage(TokenCounts(2))]),
        ([Start(residue={"gateway": {"synthetic": True}})], []),
        ([Start()], []),
        ([Open("text"), Append("ab"), Annotate("x", 1), Close()], [Open("text"), Append("a"), Annotate("x", 1),
         Append("b"), Close()]),
        ([Open("text"), Append("", State("x", {"a": 1, "b": 2})), Close()],
         [Open("text"), Append("", State("x", {"a": 1})), Append("", State("x", {"b": 2})), Close()]),
        ([Open("text"), Append("", State("x", {"a": 1})), Close()],
         [Open("text"), Append("", State(None, {"a": 1})), Close()]),
        ([Open("text", residue={"x": {"at": 1}}), Close()], [Open("text", residue={"x": {"at": 2}}), Close()]),
    ],
    ids=lambda value: None,
)  # fmt: skip
def test_what_changes_no_meaning_is_incidental(a: list[Event], b: list[Event]) -> None:
    assert levels(compare([*a, Finish()], [*b, Finish()])) == {"incidental"}


def test_annotations_of_the_message_are_its_content() -> None:
    noted: list[Event] = [Annotate("x", {"a": 1}), *part("a"), Finish()]
    assert compare(noted, noted) == []
    others: list[list[Event]] = [[Annotate("x", {"a": 2}), *part("a"), Finish()], [*part("a"), Finish()]]
    for other in others:
        (found,) = (each for each in compare(noted, other) if each.level == "message")
        assert (found.where, found.what.partition("[")[0]) == ("message", "annotations")


def test_blank_arguments_are_an_object_only_where_the_call_was_not_cut_off() -> None:
    def call(arguments: str, cut: bool) -> list[Event]:
        return [Open("tool_call", "c", "f"), Append(arguments), Close(cut), Finish()]

    whole, cut, said, said_cut = (call(arguments, cut) for arguments in ("", "{}") for cut in (False, True))
    assert levels(compare(whole, said)) == {"incidental"}
    assert [d.what for d in compare(cut, said_cut) if d.level == "message"] == ["arguments"]
    assert [d.what for d in compare(whole, cut) if d.level == "message"] == ["end"]


def test_numbers_and_text_are_compared_as_json_values() -> None:
    vector = part([0.0, float("nan"), 1], "embedding")
    assert compare([*vector, Finish()], [*part([0.0, float("nan"), 1], "embedding"), Finish()]) == []
    others: list[list[Any]] = [[-0.0, float("nan"), 1], [0.0, float("nan"), 1.0], [0.0, float("inf"), 1]]
    for other in others:
        assert levels(compare([*vector, Finish()], [*part(other, "embedding"), Finish()])) == {"message"}
    pair: list[Event] = [Open("text"), Append("\ud83d"), Append("\ude00"), Close(), Finish()]
    assert levels(compare(pair, [*part("😀"), Finish()])) == {"incidental"}


def test_an_additional_part_leaves_the_others_in_pairs() -> None:
    texts = [event for i in range(50) for event in part(f"text {i}")]
    (found,) = compare([*texts, Finish()], [*texts[:60], *part("new", "thinking"), *texts[60:], Finish()])
    assert (found.where, found.a, found.b) == ("part 21 (thinking)", None, "'new'")


def test_the_last_counts_stand_where_the_stream_failed() -> None:
    end = Failure(502, "x")
    assert "message" in levels(compare([Usage(TokenCounts(1)), end], [Usage(TokenCounts(2)), end]))


def test_events_that_break_the_grammar_are_no_stream() -> None:
    with pytest.raises(GrammarError):
        compare([Close()], [Finish()])


@pytest.mark.parametrize("other", ["a", "b"])
def test_many_parts_and_long_texts_take_their_time_once(other: str) -> None:
    many = [event for _ in range(10_000) for event in part("a")]
    also = [event for i in range(10_001) for event in part(other if i % 2 else "a")]
    began = time.process_time()
    compare([*many, Finish()], [*also, Finish()])
    (found,) = compare([*part("x" * 5_000_000 + "a"), Finish()], [*part("x" * 5_000_000 + "b"), Finish()])
    assert found.position == 5_000_000
    assert time.process_time() - began < 10
