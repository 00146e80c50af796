"""Calls that were cut off: none becomes one that can be run, and what is whole is said as any other."""

from __future__ import annotations

from typing import Any

import pytest

from translate import (
    Append,
    Close,
    Event,
    Failure,
    Finish,
    LossError,
    Open,
    Reason,
    Report,
    ToolArgumentsError,
    convert,
    decode,
    encode,
)

HALVES = ["", " \n", '{"a"', "[1]", "null", "5", '{"a":1} x']
each_half = pytest.mark.parametrize("raw", HALVES)


def stream(raw: str, *, cut: bool = True) -> list[Event]:
    call: list[Event] = [Open("tool_call", "t", "f"), *map(Append, raw), Close(cut=cut)]
    return [Open("text"), Append("a"), Close(), *call, Finish(reason=Reason("length"))]


@each_half
def test_to_uni_event_it_is_an_error_in_place_of_the_done(raw: str) -> None:
    writing = convert(stream(raw), "events", "unievent")
    out: list[Any] = []
    with pytest.raises(ToolArgumentsError) as caught:
        out.extend(writing)
    assert (caught.value.name, caught.value.id) == ("f", "t")
    assert [unit["content_items"][0]["type"] for unit in out] == [
        *("text.delta", "text.done"),
        *["tool_call.delta"] * len(raw),
    ]


@each_half
@pytest.mark.parametrize("dst", ["gateway", "gateway-sse", "gateway-jsonl"])
def test_to_the_gateway_it_is_no_tool(raw: str, dst: str) -> None:
    dropped = str(list(convert(stream(raw), "events", dst, loss="drop")))
    assert "contentEnd" in dropped
    assert "tool" not in dropped


@each_half
@pytest.mark.parametrize("dst", ["gateway", "gateway-sse", "gateway-jsonl"])
def test_from_the_gateway_it_comes_home(raw: str, dst: str) -> None:
    assert list(decode(list(convert(stream(raw), "events", dst)), dst))[1:] == stream(raw)


@each_half
def test_to_the_gateway_its_loss_is_one_of_content(raw: str) -> None:
    report = Report()
    list(convert(stream(raw), "events", "gateway", report=report))
    assert "tool_call" in {finding.field for finding in report.losses if finding.content}
    with pytest.raises(LossError):
        list(convert(stream(raw), "events", "gateway", loss="raise"))


@pytest.mark.parametrize("raw", ["{}", '{"a": 1}', ' {"a":{"b":[1]}}\n'])
@pytest.mark.parametrize("name", ["unievent", "gateway"])
def test_a_whole_object_is_said_as_any_other(raw: str, name: str) -> None:
    cut, whole = (list(encode(stream(raw, cut=cut), name, clock=lambda: 7, loss="drop")) for cut in (True, False))
    assert cut == whole
    home = list(decode(list(encode(stream(raw), name, clock=lambda: 7)), name))
    assert [event.cut for event in home if type(event) is Close] == [False, True]


@pytest.mark.parametrize("name", ["unievent", "gateway"])
def test_blank_means_no_arguments_only_where_nothing_was_cut(name: str) -> None:
    assert not any(type(event) is Failure for event in decode(list(encode(stream("", cut=False), name)), name))


def test_a_text_that_was_cut_comes_home_so() -> None:
    events: list[Event] = [Open("text"), Append("a"), Close(cut=True), Finish(reason=Reason("length"))]
    for via in ("unievent-sse", "gateway-jsonl", "events-jsonl"):
        out = list(convert(events, "events", via))
        assert [event.cut for event in decode(out, via) if type(event) is Close] == [True]
