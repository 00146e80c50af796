"""Rules of the gateway's codec that whole streams seldom come near, each with the least that shows it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wire import PARIS_MODEL, content, frame, start, thinking, usage
from translate import (
    Append,
    CarryError,
    Close,
    Event,
    Failure,
    Finish,
    Foreign,
    GrammarError,
    Open,
    Report,
    State,
    TokenCounts,
    convert,
    decode,
    encode,
)


def states(units: list[Any], **more: Any) -> list[State]:
    return [event.state for event in decode(units, "gateway", **more) if type(event) is Append and event.state]


def carried(namespace: str | None, values: Any, length: int = 2) -> Any:
    state = {"values": values} if namespace is None else {"namespace": namespace, "values": values}
    return {"events": [{"as": "append", "length": length, "state": state}]}


def x(**values: Any) -> State:
    return State("x", values)


def run(data: Any, *carries: Any) -> list[Any]:
    """A thinking run whose fragments have carries."""
    opening, *middle, end = thinking(*["Hm"] * len(carries), data=data)
    return [
        opening,
        *({**unit, "carry": carry} if carry else unit for unit, carry in zip(middle, carries, strict=True)),
        end,
    ]


def test_what_fragments_said_of_a_state_is_not_said_again_at_its_end() -> None:
    a, b = carried("x", {"a": 1}), carried("x", {"b": 2})
    cases: list[tuple[Any, list[Any], list[State]]] = [
        ({"x.a": 1}, [a], [x(a=1)]),
        ({"x.a": 1, "x.b": 2}, [a, b], [x(a=1), x(b=2)]),
        ({"x.a": 1, "x.b": 2, "x.c": 3}, [a, b], [x(a=1), x(b=2), x(c=3)]),
        ({"x.a": 1, "y.b": 2}, [a], [x(a=1), State("", {"y.b": 2})]),
        ({"x.b": 2}, [None, b], [x(b=2)]),
        ({"x.b": 2}, [None, None], [x(b=2)]),
    ]
    for data, carries, expected in cases:
        assert states([start(), *run(data, *carries), usage()]) == expected
    two = [start(), *run({"x.a": 1}, a), *run({"x.a": 2}, None), usage()]
    assert states(two) == [x(a=1), x(a=2)], "of one run, not of the next"


@pytest.mark.parametrize("data", [{"x.a": 2}, {"x.b": 1}, {"x.a": 2, "x.b": 1}, None])
def test_a_run_that_ends_with_another_state_than_its_fragments_had(data: Any) -> None:
    units = [start(), *run(data, carried("x", {"a": 1})), usage()]
    with pytest.raises(CarryError, match="thinkingEnd"):
        states(units)
    report = Report()
    native = [State("x", {key[2:]: value for key, value in data.items()})] if data else []
    assert states(units, strict=False, report=report) == native
    assert report.counts == {("repairs", "state"): 1}


def test_one_of_two_states_that_is_another_is_another() -> None:
    units = [start(), *run({"x.a": 1, "x.b": 5}, carried("x", {"a": 1, "b": 2})), usage()]
    with pytest.raises(CarryError, match="thinkingEnd"):
        states(units)


def test_an_issuer_that_was_guessed_is_known_again() -> None:
    model = {**PARIS_MODEL, "publisher": "Anthropic"}
    units = [start(model), *run({"anthropic.a": 1}, carried(None, {"a": 1})), usage()]
    assert states(units) == [State(None, {"a": 1})]
    assert states([start(model), *run({"a": 1}, carried("", {"a": 1})), usage()]) == [State("", {"a": 1})]


@pytest.mark.parametrize(
    "unit", [{"success": False, "code": 500, "message": "m", "x": 1}, {"success": False, "code": 402, "message": "m"}]
)
def test_an_error_alone_comes_home(unit: Any) -> None:
    assert list(convert([unit], "gateway", "gateway", errors="encode")) == [unit]
    assert [event.residue for event in decode([unit], "gateway")] == [
        {"gateway": {"patch": [[["x"], 1]]} if "x" in unit else {}}
    ]


def test_what_has_no_start_gets_one_before_all_but_foreign_units() -> None:
    events: list[Event] = [Open("text", residue={"gateway": {}}), Append("a"), Close(), Finish()]
    units = list(encode(events, "gateway"))
    assert [unit["value"]["type"] for unit in units] == ["streamStart", "contentStart", "content", "contentEnd", "stop"]
    assert units[0]["carry"]["synthetic"] is True
    ahead = Foreign("gateway", frame("hello"))
    assert [unit["value"]["type"] for unit in encode([ahead, *events], "gateway")][:2] == ["hello", "streamStart"]
    other = Foreign("other", {"a": 1})
    assert [unit["value"]["type"] for unit in encode([other, *events], "gateway")][:2] == [
        "streamStart",
        "contentStart",
    ]
    failed: list[Event] = [Failure(500, "m")]
    assert [unit["success"] for unit in convert(failed, "events", "gateway", errors="encode")] == [True, False]


@pytest.mark.parametrize(
    ("units", "kinds"),
    [
        ([frame("content", value="a"), usage()], ["Open", "Append", "Close", "Finish"]),
        ([usage()], ["Start", "Finish"]),
        (
            [start(), frame("thinking", value="a"), frame("content", value="a"), usage()],
            ["Start", "Open", "Append", "Close", "Open", "Append", "Close", "Finish"],
        ),
        (
            [start(), frame("contentStart"), frame("thinkingStart"), frame("thinkingEnd"), usage()],
            ["Start", "Open", "Close", "Open", "Close", "Finish"],
        ),
    ],
)
def test_missing_frames_are_put_in_in_lenient_mode(units: list[Any], kinds: list[str]) -> None:
    report = Report()
    assert [type(event).__name__ for event in decode(units, "gateway", strict=False, report=report)] == kinds
    assert report.counts
    with pytest.raises(GrammarError):
        list(decode(units, "gateway"))


@pytest.mark.parametrize("strict", [True, False])
def test_a_run_that_breaks_off_before_another_stream_is_not_mended(strict: bool) -> None:
    """It is no run that lacks its end: what it said stands beside what another said of the same."""
    for run in ([frame("contentStart")], content("a")[:-1], thinking("a")[:-1]):
        with pytest.raises(GrammarError, match="a streamStart frame in a"):
            list(decode([start(), *run, start(), usage()], "gateway", strict=strict))


@pytest.mark.parametrize("kind", ["contentEnd", "thinkingEnd"])
def test_an_end_of_nothing_is_not_mended(kind: str) -> None:
    for before in ([], [start()], [start(), *content("a")]):
        with pytest.raises(GrammarError):
            list(decode([*before, frame(kind), usage()], "gateway", strict=False))


def test_the_provider_of_a_stop_is_the_models_or_its_own() -> None:
    for provider, read in (("anthropic", None), ("Anthropic", "Anthropic"), ("openai", "openai")):
        end = frame("stop", usage={"provider": provider, "inputTokens": 1, "outputTokens": 2, "finishReason": "stop"})
        (*_, finish) = decode([start(PARIS_MODEL), end], "gateway")
        assert type(finish) is Finish
        assert finish.usage == TokenCounts(1, 2, provider=read)
        assert list(convert([start(PARIS_MODEL), end], "gateway", "gateway")) == [start(PARIS_MODEL), end]
