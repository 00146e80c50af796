"""Corners that no whole stream comes near: what a carry, a residue or a codec must do wrong to be met there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from tests.wire import call_group, content, delta, item, start, stop, text_group, thinking, usage
from translate import (
    Append,
    CarryError,
    Close,
    Codec,
    CodecError,
    DecodeError,
    Encoder,
    Event,
    Finish,
    Foreign,
    GrammarError,
    Handover,
    Limits,
    Open,
    Options,
    Report,
    State,
    ToolArgumentsError,
    UnknownFormat,
    Written,
    check,
    codec,
    convert,
    decode,
    formats,
    registry,
)
from translate.carry.making import script
from translate.carry.reading import CarryReader
from translate.codec import Pieces
from translate.engine.options import make_options
from translate.engine.translator import EventWriter
from translate.registry import _registered
from translate.shapes.objects import Objects

GATEWAY, UNIEVENT = codec("gateway"), codec("unievent")


def sse(*blocks: bytes) -> bytes:
    return b"".join(block + b"\n\n" for block in blocks)


def beside(unit: Any, carry: Any = None) -> Any:
    return {**unit, "carry": carry} if carry is not None else unit


def said_twice(first: str, second: str) -> list[Any]:
    """A thinking run whose fragment's carry and whose end say a state each."""
    run = thinking("Hm", data={"signature": second})
    carry = {"events": [{"as": "append", "length": 2, "state": {"namespace": "", "values": {"signature": first}}}]}
    return [start(), run[0], beside(run[1], carry), *run[2:], usage()]


def test_a_state_that_its_run_ends_without() -> None:
    assert list(convert(said_twice("a", "a"), "gateway", "unievent"))
    with pytest.raises(CarryError, match="is not that of its thinkingEnd"):
        list(convert(said_twice("a", "b"), "gateway", "unievent"))
    report = Report()
    list(convert(said_twice("a", "b"), "gateway", "unievent", strict=False, report=report))
    assert report.counts["repairs", "state"] == 1


def test_an_error_under_another_name() -> None:
    error = json.dumps({"success": False, "code": 500, "message": "m"}).encode()
    with pytest.raises(DecodeError, match="the event name 'stop' disagrees with the type 'error'"):
        list(decode(sse(b"event: stop\ndata: " + error), "gateway-sse"))


def test_an_issuer_in_a_carry_must_be_the_one_that_the_keys_name() -> None:
    said = Append("", State("anthropic", {"signature": "s"}))
    for namespace, agrees in (("anthropic", True), ("openai", False)):
        assert GATEWAY.agrees(said, Append("", State(namespace, {"signature": "s"}))) is agrees


def test_a_time_stamp_on_an_error() -> None:
    stream = [{"error": {"type": "X", "message": "m"}, "created_at": 7}]
    assert list(convert(stream, "unievent", "unievent", errors="encode")) == stream


def test_a_message_needs_an_end() -> None:
    with pytest.raises(GrammarError, match="no finish"):
        UNIEVENT.assemble([Open("text"), Append("a"), Close()])


def test_numbers_beyond_a_double_compare_as_doubles() -> None:
    units = [*call_group('{"n":1e400}', {"n": 10**400}, "f", "1"), stop()]
    assert list(convert(units, "unievent", "unievent")) == units


TWO: list[Event] = [Append("ab"), Append("cd", State("x", {"k": 1}))]
"""What a unit of a format that says two fragments at once would say."""


@pytest.mark.parametrize(
    "meant",
    [
        [Append("a"), Append("b"), Append("cd", State("x", {"k": 1}))],
        [Append("ab"), Append("c"), Append("d", State("x", {"k": 1}))],
        [Append("ab"), Append("cd", State("x", {"k": 1}))],
    ],
)
def test_units_that_say_more_than_one_fragment(meant: list[Event]) -> None:
    entries = script(TWO, meant)
    carry = {} if entries is None else {"events": entries}
    assert CarryReader(GATEWAY).read(list(TWO), carry) == meant


def test_a_state_of_other_values_is_said_whole() -> None:
    assert script([Append("", State("x", {"k": 1}))], [Append("", State("x", {"k": 2}))]) == [
        {"as": "append", "length": 0, "state": {"namespace": "x", "values": {"k": 2}}}
    ]


@pytest.mark.parametrize(
    "patch",
    [[[[], 5]], [[["value"], {"type": "tool", "value": {"id": "i", "name": "n", "arguments": "{}"}}]]],
    ids=["no unit", "another unit"],
)
def test_a_residue_that_makes_something_else_of_its_unit(patch: Any) -> None:
    group = text_group("a")
    units = [beside(group[0], {"gateway": {"patch": patch}}), *group[1:], stop()]
    what = "does not fit its unit: it makes a unit that says something else"
    with pytest.raises(CarryError, match=what) as raised:
        list(convert(units, "unievent", "gateway"))
    # it came with the source: the error has its place there
    assert (raised.value.format, raised.value.unit) == ("unievent", 0)


class Plain(Codec):
    """The least that is a codec. Its units name the events to say, and it ends by itself."""

    name = "plain"
    shapes = {"": Objects()}  # noqa: RUF012
    says = frozenset({"text", "finish"})
    leaves_out = frozenset({"finish"})

    def encoder(self, options: Options) -> PlainEncoder:
        return PlainEncoder(self, options)


class PlainEncoder(Encoder):
    @property
    def state(self) -> str:
        return "anywhere"

    def read(self, unit: dict[str, Any], name: str | None) -> list[Event]:
        events: dict[str, Event] = {"open": Open("text"), "append": Append("a"), "close": Close()}
        return [events[unit["say"]]]

    def take(self, unit: dict[str, Any] | None, meant: Sequence[Event]) -> None:
        """Nothing need be known."""

    def write(self, events: Sequence[Event]) -> Pieces:
        words: dict[type[Event], str] = {Open: "open", Append: "append", Close: "close"}
        word = words.get(type(events[-1]))
        return [Written({"say": word} if word else None, events)]

    def close(self, *, marked: bool) -> list[Event]:
        return [Finish()]


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Plain:
    found = Plain()
    monkeypatch.setitem(_registered, "plain", found)
    return found


def test_a_format_may_end_with_its_input(plain: Plain) -> None:
    events = list(decode([{"say": say} for say in ("open", "append", "close")], "plain"))
    assert events == [Open("text"), Append("a"), Close(), Finish()]


def test_a_codec_that_breaks_the_grammar_is_named(plain: Plain) -> None:
    with pytest.raises(CodecError, match="the codec 'plain' broke the grammar of events") as caught:
        list(decode([{"say": "open"}, {"say": "open"}], "plain"))
    assert caught.value.unit == 1


def test_what_a_codec_need_not_have(plain: Plain) -> None:
    assert plain.agrees(Close(), Close())
    assert (plain.is_terminal({}), plain.kind({}), plain.time({})) == (False, "", None)
    encoder = plain.encoder(make_options())
    assert (encoder.plain({}, None), encoder.say([Close()]), encoder.hot()) == (None, None, None)
    assert not encoder.holds([])
    assert (encoder.mark({}), [*encoder.ahead(Close())]) == (None, [])
    assert encoder.mend({}, None, GrammarError("x")) is None
    assert plain.models() == {}
    assert plain.schemas() == {}
    with pytest.raises(CodecError, match="'plain' has no form for an assembled message"):
        plain.assemble([])


def test_schemas_are_those_of_the_models() -> None:
    assert {name: set(codec(name).schemas()) for name in ("unievent", "gateway", "events")} == {
        "unievent": {"unit", "message"},
        "gateway": {"unit", "message"},
        "events": {"unit"},
    }


def test_an_unfinished_line_that_is_json_but_no_unit() -> None:
    lines = b"".join(json.dumps(unit).encode() + b"\n" for unit in [*text_group("a"), stop()])
    assert type(list(decode([lines, b"5"], "unievent-jsonl"))[-1]) is Finish


def test_a_comment_that_looks_like_a_carry_and_is_not_utf8() -> None:
    stream = sse(b": carry \xff", *(b"data: " + json.dumps(unit).encode() for unit in [*text_group("a"), stop()]))
    with pytest.raises(DecodeError, match="not UTF-8"):
        list(decode(stream, "unievent-sse"))
    assert type(list(decode(stream, "unievent-sse", strict=False))[-1]) is Finish


def test_a_carry_within_a_line_has_its_own_limit() -> None:
    unit = beside(stop(), {"other": {"x": "y" * 100}})
    lines = b"".join(json.dumps(unit).encode() + b"\n" for unit in [*text_group("a"), unit])
    assert list(decode(lines, "unievent-jsonl"))
    with pytest.raises(CarryError, match="too large"):
        list(decode(lines, "unievent-jsonl", limits=Limits(carry=50)))


def test_what_native_readers_do_not_see() -> None:
    report = Report()
    list(convert([*text_group("a"), stop()], "unievent", "gateway", report=report))
    assert report.hidden == report.losses
    dropped = Report()
    list(convert([*text_group("a"), stop()], "unievent", "gateway", loss="drop", report=dropped))
    assert dropped.losses
    assert dropped.hidden == []


def test_a_reader_that_fails_at_the_end_of_input() -> None:
    stream = sse(b"data: " + json.dumps(delta(item("text.delta", "a"))).encode()) + b"event: \xff\ndata: {"
    reading = decode(stream, "unievent-sse")
    assert type(next(reading)) is Open
    assert type(next(reading)) is Append
    with pytest.raises(DecodeError, match="not UTF-8") as caught:
        next(reading)
    assert caught.value.unit == 1


def test_a_carry_that_may_not_stand_there() -> None:
    opened = {"event": "open", "kind": "server_tool_call"}
    carry = {"events": [opened, opened]}
    stream = sse(b": carry " + json.dumps(carry).encode(), b"data: " + json.dumps(stop()).encode())
    with pytest.raises(CarryError, match="the carry makes no valid stream"):
        list(decode(stream, "unievent-sse"))
    report = Report()
    assert len(list(decode(stream, "unievent-sse", strict=False, report=report))) == 1
    assert report.counts["repairs", "carry"] == 1


def test_a_carry_that_the_next_unit_does_not_fit() -> None:
    carry = {"events": [{"event": "open", "kind": "server_tool_call"}]}
    blocks = [b": carry " + json.dumps(carry).encode()]
    blocks += [b"data: " + json.dumps(unit).encode() for unit in content("a")]
    first = b"data: " + json.dumps(start()).encode()
    with pytest.raises(CarryError, match="the carries make no valid stream"):
        list(decode(sse(first, *blocks), "gateway-sse"))


@pytest.mark.parametrize("via", ["unievent", "unievent-jsonl", "gateway", "gateway-sse"])
def test_base64_with_bits_to_spare_comes_home(via: str) -> None:
    items: list[Any] = [{"type": f"inline_data.{it}", "data": "QR==", "mime_type": "x/y"} for it in ("delta", "done")]
    lines = b"".join(json.dumps(unit).encode() + b"\n" for unit in [*map(delta, items), stop()])
    home = b"".join(convert(list(convert(lines, "unievent-jsonl", via)), via, "unievent-jsonl"))
    assert [json.loads(line) for line in home.splitlines()] == [json.loads(line) for line in lines.splitlines()]


def test_a_codec_that_cannot_be_loaded_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("broken", "no_such_module:CODEC", "translate.codecs")
    monkeypatch.setattr(registry, "_found", {**registry._entry_points(), "broken": broken})
    with pytest.raises(CodecError, match="the codec 'broken'"):
        formats()
    with pytest.raises(UnknownFormat, match="did you mean 'gateway'") as caught:
        codec("gatway")
    assert "unievent-sse" in caught.value.known


def claude() -> list[Any]:
    items: list[Any] = [
        {"type": "thinking.delta", "thinking": "a"},
        {"type": "thinking.delta", "thinking": "", "fidelity": {"signature": "s"}},
        {"type": "thinking.done", "thinking": "a", "fidelity": {"signature": "s"}},
    ]
    return [*map(delta, items), stop()]


@pytest.mark.parametrize("publisher", ["Z.ai", "Anthropic", ".", "a.b.c."])
def test_a_publisher_with_a_dot_may_be_guessed(publisher: str) -> None:
    out = list(convert(claude(), "unievent", "gateway", model={"publisher": publisher}))
    assert check(out, "gateway") == []
    assert list(convert(out, "gateway", "unievent")) == claude()


def test_a_member_that_would_become_a_carry() -> None:
    group = text_group("a")
    stream = [beside(group[0], {"member": {"v": 2}}), *group[1:], stop()]
    with pytest.raises(CarryError, match="'member' is an object"):
        list(convert(stream, "unievent", "unievent"))
    assert list(convert(stream, "unievent", "unievent", strict=False)) == [*group, stop()]
    foreign: list[Event] = [Foreign("unievent", {"event_type": "w", "carry": {"v": 2}}), Finish()]
    with pytest.raises(CarryError, match="a foreign unit"):
        list(convert(foreign, "events", "unievent"))


@pytest.mark.parametrize("namespace", [None, "", "x"])
def test_a_state_without_values(namespace: str | None) -> None:
    events: list[Event] = [Open("text"), Append("x", State(namespace, {})), Close(), Finish()]
    for via in ("unievent", "gateway"):
        out = list(convert(events, "events", via))
        assert check(out, via) == []
        assert list(convert(out, via, "events")) == events


def test_what_comes_after_the_end_marker_is_nothing_however_it_is_cut() -> None:
    data = b"data: [DONE]\n\n: x\n\n"
    cuts = ([data], [data[:14], data[14:]])
    whole, cut = (list(convert(chunks, "unievent-sse", "gateway-sse", errors="encode")) for chunks in cuts)
    assert whole == cut


def test_a_cut_comment_is_no_ping() -> None:
    assert b"keep-alive" not in b"".join(convert([b": carr"], "unievent-sse", "gateway-sse", errors="encode"))


@pytest.mark.parametrize("raw", ['{"a"', "{}"], ids=["half", "whole"])
def test_a_call_that_broke_off_at_a_handover_is_never_one_that_runs(raw: str) -> None:
    events: list[Event] = [Open("tool_call", "1", "f"), Append(raw), Handover(), Finish()]
    writing = convert(events, "events", "unievent")
    assert next(writing)["content_items"][0]["type"] == "tool_call.delta"
    with pytest.raises(ToolArgumentsError, match="broke off at a handover") as caught:
        next(writing)
    assert (caught.value.name, caught.value.id, caught.value.raw) == ("f", "1", raw)
    # where nothing of it was said, it is carried
    assert list(convert([events[0], *events[2:]], "events", "unievent"))


def test_a_unit_with_a_carry_beside_and_one_inside() -> None:
    unit = json.dumps(beside(stop(), {"other": {}})).encode()
    stream = sse(b': carry {"other":{}}\ndata: ' + unit)
    with pytest.raises(CarryError, match="two carries"):
        list(decode(stream, "unievent-sse"))
    assert len(list(decode(stream, "unievent-sse", strict=False))) == 1


def test_a_report_keeps_so_much_and_counts_all() -> None:
    report = Report(limit=2)
    list(convert([*text_group(*"abc"), stop()], "unievent", "gateway", report=report))
    assert len(report.losses) == 2
    assert report.counts["losses", "unievent residue"] == 5


def test_an_event_is_read_as_itself() -> None:
    encoder = EventWriter("events-jsonl")._writing.encoder
    assert encoder.read({"event": "open", "kind": "text"}, None) == [Open("text")]
    encoder.take(None, [Open("text")])
    assert encoder.read({"event": "close"}, None) == [Close()]
    with pytest.raises(GrammarError, match="'open' may not stand in a part"):
        encoder.read({"event": "open", "kind": "text"}, None)
