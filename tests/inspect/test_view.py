"""Both sides of a conversion as one object."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.inspect.streams import CASES, EXAMPLES, NOW, Case, blocks, clock, delta, lines, stop
from tests.sources import MODEL, USAGE, frame
from tests.strategies import FORMATS, sources
from translate import Event, Ping, Start, Trace, TranslateError, UnknownFormat, convert
from translate.carry.losses import LossPolicy
from translate.inspect import view
from translate.inspect.words import LONG
from translate.registry import codec

LOSSES: tuple[LossPolicy, ...] = ("carry", "drop", "raise")
BY_NAME = {case.name: case for case in CASES}
UNIT = {"index", "kind", "label", "time", "part", "raw", "failed", "marks"}
SOURCE_MARKS = {"held", "merged", "lost", "carried", "silent"}
TARGET_MARKS = {"made up", "filled in", "merged", "carry", "restored"}
FINDING = {"unit", "field", "reason", "content", "carried"}


def conforms(found: dict[str, Any]) -> None:
    """Whether a view is as it is described."""
    assert json.loads(json.dumps(found)) == found
    assert found.keys() == {
        *("source", "target", "parts", "losses", "guesses", "repairs", "error"),
        *("about", "fate", "folds", "message"),
    }
    assert found["about"].keys() == {"file", "model", "loss", "strict", "version", "time"}
    assert found["fate"].endswith(".")
    for fold in found["folds"]:
        assert fold.keys() == {"line", "count", "source", "target", "labels"}
        assert fold["count"] >= 4
    for message in found["message"].values():
        assert message.keys() == {"model", "parts", "end"}
    sources, targets = found["source"]["units"], found["target"]["units"]
    for units, others, link, back in ((sources, targets, "to", "from"), (targets, sources, "from", "to")):
        assert [unit["index"] for unit in units] == list(range(len(units)))
        for unit in units:
            assert unit[link] == sorted(set(unit[link]))
            assert all(unit["index"] in others[at][back] for at in unit[link])
            assert unit["part"] is None or 0 <= unit["part"] < len(found["parts"])
            assert len(unit["label"]) <= LONG
            assert unit["kind"]
    assert all(unit.keys() == UNIT | {"to"} and set(unit["marks"]) <= SOURCE_MARKS for unit in sources)
    assert all(unit.keys() == UNIT | {"from", "carried", "carry"} for unit in targets)
    assert all(set(unit["marks"]) <= TARGET_MARKS for unit in targets)
    for part in found["parts"]:
        assert part.keys() == {"kind", "source", "target", "native"}
        assert part["target"] is not None or not part["native"]
        assert 0 <= part["source"][0] <= part["source"][1] < len(sources)
        assert part["target"] is None or 0 <= part["target"][0] <= part["target"][1] < len(targets)
    for unit in targets:
        assert {*unit["carried"]} <= {*unit["from"]}
    for finding in [*found["losses"], *found["guesses"], *found["repairs"]]:
        assert finding.keys() == FINDING
        assert finding["unit"] is None or 0 <= finding["unit"] < len(sources)
    if found["error"] is not None:
        assert found["error"].keys() == {"type", "message", "unit", "offset"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_is_as_described(case: Case) -> None:
    conforms(case.view())


@pytest.mark.parametrize("dst", FORMATS)
@given(st.data())
def test_it_is_as_described_for_any_stream(dst: str, data: st.DataObject) -> None:
    source = data.draw(sources([format for format in FORMATS if "-" in format]))
    cut = source.joined[: data.draw(st.integers(0, len(source.joined)))]
    loss, strict = data.draw(st.sampled_from(LOSSES)), data.draw(st.booleans())
    found = view(cut, source.format, dst, loss=loss, strict=strict, clock=clock)
    conforms(found)
    for unit in found["source"]["units"]:
        assert bool(unit["to"]) or {"silent", "lost"} & {*unit["marks"]} or found["error"] is not None
        assert not ({"lost", "silent"} <= {*unit["marks"]})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_its_units_are_those_of_the_conversion(case: Case) -> None:
    found = case.view()
    native = case.src.partition("-")[0]
    try:
        units = list(convert(case.stream, case.src, case.dst.partition("-")[0], clock=clock, **case.options))
    except TranslateError:
        assert found["error"] is not None
        return
    shown = [json.loads(unit["raw"]) for unit in found["target"]["units"] if unit["raw"]]
    if case.dst.startswith("events"):
        assert len(shown) == len(units)
    else:
        assert shown == [{key: unit[key] for key in unit if key != "carry"} for unit in units]
    assert native in found["source"]["format"]


def test_a_held_call_is_held_and_merged() -> None:
    found = BY_NAME["parallel"].view()
    sources, targets = found["source"]["units"], found["target"]["units"]
    assert [unit["marks"] for unit in sources[2:7]] == [["held", "merged"]] * 4 + [["merged"]]
    assert {tuple(unit["to"]) for unit in sources[2:7]} == {(4,)}
    assert targets[4]["from"] == [2, 3, 4, 5, 6]
    assert found["parts"][1] == {"kind": "tool_call", "source": [2, 6], "target": [4, 4], "native": True}


def test_a_part_without_native_words_is_only_carried() -> None:
    found = BY_NAME["inline"].view()
    assert found["parts"] == [{"kind": "inline_data", "source": [0, 2], "target": [1, 4], "native": False}]
    assert [unit["marks"] for unit in found["source"]["units"]] == [["carried"]] * 3 + [[]]
    assert [unit["kind"] for unit in found["target"]["units"][1:5]] == ["carry"] * 4
    assert all(unit["raw"] == "" and unit["carry"] for unit in found["target"]["units"][1:5])


def test_a_carry_that_rides_is_no_part_of_what_it_rides_on() -> None:
    stream = lines([delta(0, "text.delta", text="a"), delta(1, "text.done", text="a"), *inline(), stop(9)])
    targets = view(stream, "unievent-jsonl", "gateway-jsonl", clock=clock)["target"]["units"]
    assert targets[-1]["kind"] == "stop"
    assert (targets[-1]["from"], targets[-1]["carried"]) == ([2, 3, 4], [2, 3])


def inline() -> list[dict[str, Any]]:
    members = {"mime_type": "image/png", "data": "AAAA"}
    return [delta(2, "inline_data.delta", **members), delta(3, "inline_data.done", **members)]


def test_a_call_that_was_cut_off_surrounds_its_carry_and_not_the_error() -> None:
    found = BY_NAME["error"].view()
    targets = found["target"]["units"]
    call = found["parts"][-1]
    assert call == {"kind": "tool_call", "source": [7, 10], "target": [9, 9], "native": False}
    assert [targets[at]["kind"] for at in (9, 10)] == ["carry", "error"]
    assert (targets[10]["part"], found["source"]["units"][11]["part"]) == (None, None)
    assert [unit["index"] for unit in targets if unit["failed"]] == [10]
    assert [unit["index"] for unit in found["source"]["units"] if unit["failed"]] == [11]


def test_a_start_that_was_made_up_is_not_lost_when_the_stream_is_cut() -> None:
    turn = (EXAMPLES / "claude-turn.unievent.sse").read_bytes()
    whole = b"".join(convert(turn, "unievent-sse", "gateway-sse", clock=clock))
    found = view(whole[: whole.index(b"data:", 500)], "gateway-sse", "unievent-sse", clock=clock)
    assert found["error"]["type"] == "TruncatedStream"
    assert not any(loss["content"] for loss in found["losses"])
    assert found["source"]["units"][0]["kind"] == "streamStart"
    assert [unit["marks"] for unit in found["source"]["units"] if "lost" in unit["marks"]] == []


@pytest.mark.parametrize("dst", ["gateway-sse", "unievent-sse"])
@given(st.data())
def test_nothing_is_marked_lost_that_says_nothing(dst: str, data: st.DataObject) -> None:
    source = data.draw(sources([format for format in FORMATS if "-" in format]))
    cut = source.joined[: data.draw(st.integers(0, len(source.joined)))]
    trace = Trace()
    found = view(cut, source.format, dst, clock=clock)
    with contextlib.suppress(TranslateError):
        list(convert(cut, source.format, dst, clock=clock, trace=trace, errors="encode"))
    about = {loss["unit"] for loss in found["losses"] if loss["content"]}
    for unit, seen in zip(trace.sources, found["source"]["units"], strict=True):
        if "lost" in seen["marks"]:
            said = [type(event) for event in unit.events if not is_made_up(event)]
            assert unit.index in about or (found["error"] is not None and said)


def is_made_up(event: Event) -> bool:
    synthetic = any(own.get("synthetic") for own in (event.residue or {}).values())
    return type(event) is Ping or (type(event) is Start and synthetic)


@pytest.mark.parametrize("dst", ["gateway-sse", "gateway-jsonl"])
def test_counts_that_nobody_knows_are_marked(dst: str) -> None:
    unknown = stop(9)
    unknown["usage_metadata"] = dict.fromkeys(unknown["usage_metadata"])
    stream = lines([delta(0, "text.delta", text="a"), delta(1, "text.done", text="a"), unknown])
    last = view(stream, "unievent-jsonl", dst, clock=clock)["target"]["units"][-1]
    assert last["marks"] == ["filled in"]
    assert last["label"] == "stop, 0 in, 0 out (made up: input_tokens, output_tokens)"
    known = view(lines([*map(json.loads, stream.splitlines()[:2]), stop(9)]), "unievent-jsonl", dst, clock=clock)
    assert known["target"]["units"][-1]["marks"] == []


def test_what_is_dropped_is_lost() -> None:
    found = BY_NAME["vector-dropped"].view()
    assert [unit["marks"] for unit in found["source"]["units"]] == [["lost"], ["lost"], ["lost"], []]
    assert any(loss["content"] and not loss["carried"] for loss in found["losses"])
    assert all(unit["carry"] is None for unit in found["target"]["units"])


def test_what_comes_home_is_restored() -> None:
    found = BY_NAME["home"].view()
    tools = [unit for unit in found["target"]["units"] if unit["kind"].startswith("tool_call")]
    assert tools
    assert all("restored" in unit["marks"] for unit in tools)
    texts = [unit for unit in found["target"]["units"] if unit["kind"] == "text.delta"]
    assert all("restored" not in unit["marks"] for unit in texts)
    start = found["source"]["units"][0]
    assert (start["kind"], start["marks"]) == ("streamStart", ["silent"]), "what was made up says nothing at home"


@pytest.mark.parametrize(
    ("name", "type", "unit"),
    [
        *(("error", "UpstreamFailure", 11), ("cut", "TruncatedStream", 20), ("broken", "GrammarError", 3)),
        *(("no-json", "DecodeError", 1), ("empty", "TruncatedStream", None), ("vector-refused", "LossError", 0)),
    ],
)
def test_an_error_is_said_with_all_before_it(name: str, type: str, unit: int | None) -> None:
    found = BY_NAME[name].view()
    assert (found["error"]["type"], found["error"]["unit"]) == (type, unit)
    last = found["target"]["units"][-1]
    assert last["kind"] == "error"
    assert ("made up" in last["marks"]) == (name != "error"), "the source said that it failed, or no one did"


def test_an_offset_is_where_the_unit_begins() -> None:
    case = BY_NAME["broken"]
    error = case.view()["error"]
    assert case.stream[error["offset"] :].startswith(b"data: ")
    assert b"thinkingStart" in case.stream[error["offset"] :].partition(b"\n\n")[0]


def test_repairs_are_told_with_their_unit() -> None:
    found = BY_NAME["mended"].view()
    assert found["error"] is None
    assert [repair["unit"] for repair in found["repairs"]] == [3, 5]


def test_times_are_those_of_the_units() -> None:
    stream = lines([delta(0, "text.delta", text="a"), delta(1.5, "text.done", text="a"), stop(True)])
    found = view(stream, "unievent-jsonl", "gateway-sse", clock=clock)
    assert [unit["time"] for unit in found["source"]["units"]] == [NOW, NOW + 1.5, NOW + 1]
    assert {unit["time"] for unit in found["target"]["units"]} == {None}


@pytest.mark.parametrize(
    ("at", "time"),
    [
        *((10**400, None), (-(10**400), None), (1e15, None), (-1e15, None), (float("inf"), None), (True, None)),
        *((10**15 - 1, 10**15 - 1), (-1.5, -1.5), ("1", None), (float("nan"), None)),
    ],
)
def test_a_time_is_a_number_that_a_clock_may_show(at: object, time: object) -> None:
    unit = {**delta(0, "text.delta", text="a"), "created_at": at}
    assert codec("unievent-jsonl").time(unit) == time
    assert view(lines([unit]), "unievent-jsonl", "gateway-sse", clock=clock)["source"]["units"][0]["time"] == time


def test_units_stand_for_objects_too() -> None:
    stream = blocks([frame("streamStart", model=MODEL), frame("stop", usage=USAGE)])
    found = view(stream, "gateway", "events", clock=clock)
    conforms(found)
    assert [unit["kind"] for unit in found["target"]["units"]] == ["start", "finish"]
    assert json.loads(found["target"]["units"][0]["raw"])["event"] == "start"


def test_a_format_that_is_unknown_raises() -> None:
    with pytest.raises(UnknownFormat):
        view(b"", "unievent-ssse", "gateway")


def test_ten_thousand_units_take_a_moment() -> None:
    words = [frame("content", value=f"word {i}") for i in range(10_000)]
    stream = lines([frame("streamStart", model=MODEL), frame("contentStart"), *words])
    began = time.perf_counter()
    found = view(stream, "gateway-jsonl", "unievent-jsonl", clock=clock)
    assert time.perf_counter() - began < 20
    assert len(found["source"]["units"]) == 10_002
