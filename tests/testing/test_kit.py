"""The built-in codecs keep the contract that every codec must keep, and the kit sees where one does not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.strategies import KNOBS
from translate import codec, convert, registry
from translate.algebra.events import Append, Close, Event, Finish, Foreign, Open, Reason, Start, TokenCounts
from translate.codec import Hot, Options, Pieces, Said, Written
from translate.testing import check_codec
from translate.testing.kit import _Case
from translate.testing.strategies import usual_streams
from translate_codecs.gateway import Gateway
from translate_codecs.gateway.encoder import GatewayEncoder

EXAMPLES = 30 if settings().derandomize else 1000


@pytest.mark.parametrize(
    "name",
    ["unievent", "gateway", "anthropic", "openai-chat", "openai-responses", "gemini", "gemini-interactions"],
)
def test_built_in_codecs_keep_the_contract(name: str) -> None:
    knobs = replace(KNOBS, broken_calls=name == "gateway")
    check_codec(codec(name), knobs=knobs, examples=EXAMPLES, streams=streams(name))


def streams(name: str) -> list[list[Any]]:
    """Whole streams of a format's own units: those of the vectors that are valid, and have no carry."""
    found = []
    for path in sorted((Path(__file__).parents[1] / "vectors").glob("*.json")):
        for case in json.loads(path.read_bytes()).get("cases", ()):
            ours = case.get("from") in (name, f"{name}-jsonl", f"{name}-sse") and case["id"].startswith("y_")
            if not ours or {"error", "strict"} & case.keys():
                continue
            units = [unit_of(each) for each in case["input"] if "[DONE]" not in each]
            if all(isinstance(unit, dict) and "carry" not in unit for unit in units) and is_whole(name, units):
                found.append(units)
    assert len(found) > 20
    return found


def is_whole(name: str, units: list[Any]) -> bool:
    """Whether the units end a stream without the end marker of a shape."""
    lines = [json.dumps(unit).encode() + b"\n" for unit in units]
    return type(list(convert(lines, f"{name}-jsonl", "events", errors="encode"))[-1]) is Finish


def unit_of(given: Any) -> Any:
    """The unit of an entry of a vector's input, if it is one."""
    if not isinstance(given, dict):
        return None
    return given["unit"] if {*given} == {"unit"} else given.get("block", {}).get("data")


END = Finish(TokenCounts(3, 2), Reason("stop"))
STREAM: list[Event] = [Start(), Open("text"), Append("Hel"), Append("lo"), Close(), END]


class BentEncoder(GatewayEncoder):
    """The gateway's, which breaks one clause."""

    def write(self, events: Sequence[Event]) -> Pieces:
        pieces, event, bend = super().write(events), events[-1], self.codec.bend  # type: ignore[attr-defined]
        if type(event) is Append and bend == "pure":
            event.data = "changed"
        if type(event) is Append and event.data == "lo" and bend == "complete":
            return []
        if type(event) is Close and event.cut and bend == "honest":
            # half a call as a whole one
            return super().write([*events[:-1], replace(event, cut=False)])
        if type(event) is Foreign and bend == "recorded":
            return [Written(None, events)]
        return pieces

    def say(self, events: Sequence[Event]) -> Said | None:
        said = super().say(events)
        if said is not None and self.codec.bend == "short":  # type: ignore[attr-defined]
            return said[0], said[1], True
        return said


    def hot(self) -> Hot | None:
        hot = super().hot()
        if hot is None or self.codec.bend != "hot":  # type: ignore[attr-defined]
            return hot
        return Hot(json.loads(json.dumps(hot.unit).replace("200", "201")), hot.codec, hot.name)


class Bent(Gateway):
    """The gateway's codec, which breaks one clause."""

    def __init__(self, bend: str) -> None:
        self.bend = bend

    def encoder(self, options: Options) -> GatewayEncoder:
        return BentEncoder(self, options)

    def agrees(self, said: Event, meant: Event) -> bool:
        return True if self.bend == "agrees" else super().agrees(said, meant)

    def sayable(self, event: Event) -> bool:
        return super().sayable(event) and not (self.bend == "sayable" and type(event) is Start)


def test_the_kit_sees_half_a_call_that_is_said_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[Event] = [Start(), Open("tool_call", "i", "f"), Append('{"a"'), Close(cut=True), END]
    _Case(codec("gateway"), "gateway", [replace(event) for event in cut], []).half_calls()
    monkeypatch.setitem(registry._registered, "gateway", Bent("honest"))
    with pytest.raises(AssertionError, match=r"the call 'f' was cut off after '\{\"a\"', and is said as a whole one"):
        _Case(codec("gateway"), "gateway", [replace(event) for event in cut], []).half_calls()


@pytest.mark.parametrize("bend", ["short", "complete", "agrees", "sayable", "pure"])
def test_the_kit_names_the_clause_that_a_codec_breaks(bend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._registered, "gateway", Bent(bend))
    with pytest.raises(AssertionError, match=f"clause '{bend}' is broken"):
        _Case(codec("gateway"), "gateway", [replace(event) for event in STREAM], []).hold()


def test_the_kit_sees_fragments_that_are_read_together_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._registered, "gateway", Bent("hot"))
    with pytest.raises(AssertionError, match="clause 'short' is broken"):
        _Case(codec("gateway"), "gateway-jsonl", usual_streams()[0], []).hold()


def test_the_kit_sees_units_that_do_not_come_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._registered, "gateway", Bent("recorded"))
    first, *rest = streams("gateway")[0]
    foreign = {"success": True, "code": 200, "value": {"type": "x"}}
    with pytest.raises(AssertionError, match="clause 'recorded' is broken"):
        check_codec(codec("gateway"), examples=1, streams=[[first, foreign, *rest]])


def test_what_is_wrong_is_seen_in_a_usual_stream_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._registered, "gateway", Bent("agrees"))
    with pytest.raises(AssertionError, match="clause 'agrees' is broken") as broken:
        check_codec(codec("gateway"))
    (note,) = broken.value.__notes__
    assert note == f"with the events {usual_streams()[0]}"
