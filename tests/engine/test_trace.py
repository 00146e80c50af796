"""Provenance: which units each unit came from, and that asking for it changes nothing."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sources import BAD, FRAMES, USAGE, collect, frame
from tests.strategies import FORMATS, Source, clock, sources
from translate import (
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Open,
    Ping,
    Report,
    Start,
    Trace,
    Translator,
    Usage,
    convert,
    jsontext,
)
from translate.algebra.events import is_synthetic
from translate.carry.losses import ErrorPolicy, LossPolicy
from translate.engine.runs import Run
from translate.engine.trace import SourceUnit, Tracer, TracingOpener, TracingSink, TracingWriter
from translate.engine.writing import Writing

LOSSES: tuple[LossPolicy, ...] = ("carry", "drop", "raise")
CONTENT = (Open, Append)


def traced(source: Source, dst: str, **options: Any) -> tuple[Trace, list[Any], BaseException | None]:
    trace = Trace()
    out, error = collect(convert(source.stream, source.format, dst, clock=clock, trace=trace, **options))
    return trace, out, error


def joined(out: list[Any]) -> Any:
    return b"".join(out) if out and isinstance(out[0], bytes) else repr(out)


def native(target: Any) -> set[int]:
    return set(target.sources) - set(target.carried)


@pytest.mark.parametrize("dst", FORMATS)
@given(st.data())
def test_the_output_with_a_trace_is_the_output_without(dst: str, data: st.DataObject) -> None:
    source = data.draw(sources())
    loss, errors = data.draw(st.sampled_from(LOSSES)), data.draw(st.sampled_from(("raise", "encode")))
    options: dict[str, Any] = {"loss": loss, "errors": errors}
    plain, before = collect(convert(source.stream, source.format, dst, clock=clock, **options))
    trace, out, error = traced(source, dst, **options)
    assert joined(out) == joined(plain)
    assert (type(error), str(error)) == (type(before), str(before))
    told = [target.output for target in trace.targets]
    if out and isinstance(out[0], bytes):
        rest = b"".join(out)
        for piece in told:
            ahead, found, rest = rest.partition(piece)
            assert found, piece
            assert not ahead.replace(b": keep-alive\n\n", b""), "what is between units is transport"
        assert not rest.replace(b": keep-alive\n\n", b"").replace(b"data: [DONE]\n\n", b"")
    else:
        assert repr(told) == repr(out)


@pytest.mark.parametrize("traced", [False, True])
def test_what_is_not_asked_for_costs_nothing(traced: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    runs: list[int] = []
    for each in (Tracer, TracingOpener, TracingSink, TracingWriter):
        init = each.__init__

        def counted(self: Any, *args: Any, init: Any = init, **options: Any) -> None:
            made.append(type(self).__name__)
            init(self, *args, **options)

        monkeypatch.setattr(each, "__init__", counted)
    passed = Writing.run

    def run(self: Writing, run: Run) -> bool:
        runs.append(len(run.texts))
        return passed(self, run)

    monkeypatch.setattr(Writing, "run", run)
    words = [frame("content", value=f"word {i}") for i in range(20)]
    stream = b"".join(jsontext.dumps(unit) + b"\n" for unit in [*FRAMES[:2], *words, *FRAMES[-2:]])
    list(convert(stream, "gateway-jsonl", "unievent-jsonl", trace=Trace() if traced else None))
    assert bool(made) == traced
    # the first is learnt from
    assert (sum(runs) >= 19) != traced
    assert bool(runs) != traced


@pytest.mark.parametrize("dst", [pytest.param(dst) if dst.startswith("unievent") else dst for dst in FORMATS])
@given(st.data())
def test_every_unit_comes_from_units_in_order(dst: str, data: st.DataObject) -> None:
    source = data.draw(sources())
    trace, _, _ = traced(source, dst, loss=data.draw(st.sampled_from(LOSSES)))
    assert [unit.index for unit in trace.sources] == list(range(len(trace.sources)))
    flat = [index for target in trace.targets for index in target.sources]
    assert flat == sorted(flat), "what was read first is said first"
    assert all(0 <= index < len(trace.sources) for index in flat)
    ats = [target.at for target in trace.targets if target.at is not None]
    assert all(a <= b for a, b in pairwise(ats))
    for target in trace.targets:
        assert set(target.carried) <= set(target.sources)
        assert target.at is None or all(index <= target.at for index in target.sources)
        if target.made_up:
            assert all(is_made_up(event) for event in target.means), "what someone said has a source"


def is_made_up(event: Event) -> bool:
    return type(event) is Start and is_synthetic(event, "gateway")


@pytest.mark.parametrize("dst", [dst if dst.startswith("events") else pytest.param(dst) for dst in FORMATS])
@given(st.data())
def test_content_is_the_source_of_something_or_lost_and_reported(dst: str, data: st.DataObject) -> None:
    source = data.draw(sources())
    report = Report()
    trace, _, error = traced(source, dst, loss=data.draw(st.sampled_from(LOSSES)), report=report, errors="encode")
    if error is not None or (trace.targets and trace.targets[-1].at is None):
        return
    said = {index for target in trace.targets for index in target.sources}
    lost = {finding.unit for finding in report.losses if not finding.carried}
    for unit in trace.sources:
        if any(isinstance(event, CONTENT) for event in unit.events):
            assert unit.index in said or unit.dropped in lost
            assert (unit.said is not None) == (unit.index in said)


@pytest.mark.parametrize("src", ["events", "events-jsonl", "unievent-sse", "unievent"])
@pytest.mark.parametrize("dst", ["gateway", "gateway-sse"])
def test_the_fragments_of_a_call_lead_to_its_one_frame(src: str, dst: str) -> None:
    call: list[Event] = [Open("tool_call", "1", "f"), Append('{"a":'), Usage(), Append("1"), Append("}"), Close()]
    events: list[Event] = [Open("text"), Append("x"), Close(), *call, Finish()]
    source = Source(src, list(convert(events, "events", src, clock=clock)))
    trace, _, error = traced(source, dst)
    assert error is None
    (tool,) = (target for target in trace.targets if target.unit and target.unit.get("value", {}).get("type") == "tool")
    fragments = [unit for unit in trace.sources if any(event in call[:-1] for event in unit.events)]
    ours = {unit.index for unit in trace.sources if open_call(unit)}
    first = min(ours)
    last = next(u.index for u in trace.sources if u.index >= first and any(type(e) is Close for e in u.events))
    assert fragments
    assert tool.sources == tuple(range(first, last + 1))
    assert {trace.sources[index].said for index in tool.sources} == {last}
    other = {index for target in trace.targets if target is not tool for index in target.sources}
    assert not other & set(tool.sources)
    if src == "events":
        assert tool.carried == (first + 2,), "the counts have no place in the frame: only the carry speaks of them"


def open_call(unit: SourceUnit) -> bool:
    return any(type(event) is Open and event.kind == "tool_call" for event in unit.events)


def test_an_event_object_that_comes_twice_is_two_units() -> None:
    more = Append("x")
    events: list[Event] = [Open("tool_call", "1", "f"), more, more, Close(), Open("text"), more, Close(), Finish()]
    trace, _, _ = traced(Source("events", events), "gateway")
    by_frame = {target.unit["value"]["type"]: target.sources for target in trace.targets if target.unit}
    assert by_frame["tool"] == (0, 1, 2, 3)
    assert by_frame["content"] == (5,)


def test_what_no_unit_says_is_made_up() -> None:
    trace, _, _ = traced(Source("events", [Open("text"), Append("x"), Close(), Finish()]), "gateway")
    assert [target.made_up for target in trace.targets] == [True, False, False, False, False]
    assert trace.targets[0].unit is not None
    assert trace.targets[0].unit["value"]["type"] == "streamStart"


@pytest.mark.parametrize("dst", ["gateway", "unievent", "events"])
@pytest.mark.parametrize("errors", ["raise", "encode"])
def test_the_failure_that_stands_for_a_broken_stream_is_made_up(dst: str, errors: ErrorPolicy) -> None:
    trace, _, error = traced(Source("gateway", [*FRAMES[:3], frame("tool")]), dst, errors=errors)
    assert len(trace.sources) == 4, "the broken unit, too"
    assert trace.sources[-1].events == []
    last = trace.targets[-1]
    if errors == "encode":
        assert error is None
        assert last.made_up
        assert last.at is None
        assert [type(event) for event in last.means] == [Failure]
    else:
        assert not last.made_up


def test_a_unit_that_is_not_json_is_kept_as_it_came() -> None:
    trace, _, error = traced(Source("gateway-jsonl", [b'{"success":true,"code"\n']), "unievent")
    assert error is not None
    (unit,) = trace.sources
    assert (unit.data, unit.unit, unit.offset) == (b'{"success":true,"code"', None, 0)


def test_a_carry_that_rides_on_the_next_unit_is_part_of_it() -> None:
    events: list[Event] = [Usage(), Open("embedding"), Append([1.0]), Close(), Open("text"), Append("x"), Close()]
    source = Source("events", [*events, Finish()])
    lines, _, _ = traced(source, "gateway-jsonl")
    stream, _, _ = traced(source, "gateway-sse")
    start = [target for target in lines.targets if target.unit and target.unit["value"]["type"] == "contentStart"]
    assert [(target.sources, target.carried) for target in start] == [((0, 1, 2, 3, 4), (0, 1, 2, 3))]
    assert start[0].carry is not None
    assert len(start[0].carry["before"]) == 4
    alone = [target for target in stream.targets if target.unit is None]
    assert [target.sources for target in alone] == [(0,), (1,), (2,), (3,)]
    assert all(target.carry and native(target) == set() for target in alone)


def test_what_is_left_out_comes_to_nothing() -> None:
    events: list[Event] = [Open("embedding"), Append([1.0]), Close(), Open("text"), Append("x"), Close(), Finish()]
    trace, _, _ = traced(Source("events", events), "gateway", loss="drop")
    assert [unit.said for unit in trace.sources] == [None, None, None, 3, 4, 5, 6]


def test_a_keep_alive_of_the_engine_is_made_up_where_it_is_a_unit() -> None:
    trace = Trace()
    translator = Translator("gateway", "events", trace=trace)
    translator.feed(FRAMES[0])
    assert translator.ping() == [Ping()]
    assert [target.made_up for target in trace.targets] == [False, True]
    translator.feed(FRAMES[1])
    assert trace.targets[-1].sources == (1,)


def test_comments_and_carries_are_of_the_unit_that_comes() -> None:
    stream = b': hello\n\n: carry {"v":1,"events":[{"event":"usage","usage":{"input_tokens":3}}]}\n\n'
    units = b"".join(convert([*FRAMES[:5], frame("stop", usage=USAGE)], "gateway", "gateway-sse"))
    trace, _, error = traced(Source("gateway-sse", [stream + units]), "events")
    assert error is None
    assert [type(event) for event in trace.sources[0].events] == [Ping, Usage, Start]
    assert len(trace.sources[0].carries) == 1
    assert [target.sources for target in trace.targets[:3]] == [(0,), (0,), (0,)]


def test_a_unit_after_the_end_is_of_the_trace_and_came_to_nothing() -> None:
    trace, _, error = traced(Source("gateway", [*FRAMES, BAD]), "unievent")
    assert error is not None
    assert len(trace.sources) == len(FRAMES) + 1
    assert trace.sources[-1].said is None
