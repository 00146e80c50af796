"""A reader of carries by itself: what may stand in a carry, what it means, and what contradicts its unit.

The rules are those of docs/carry.md. The units here say more than those of the formats do, so that each rule counts.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.carry.test_carry import GATEWAY, IN_A_CALL, SCRIPTS, S
from translate import (
    Annotate,
    Append,
    CarryError,
    Close,
    Event,
    Failure,
    Finish,
    Foreign,
    Handover,
    Open,
    Ping,
    Start,
    State,
    TokenCounts,
    Usage,
    codec,
)
from translate.algebra.events import WHOLE, made_up_by_another, with_residue
from translate.algebra.grammar import Grammar
from translate.carry.reading import CarryReader

READABLE = [name for name in SCRIPTS if "state" not in name and name not in ("a member changed", "a member unknown")]


def within(part: Open | None, name: str = "gateway") -> CarryReader:
    """A reader of the carries of a stream in which ``part`` is open."""
    grammar = Grammar(name)
    grammar.check([part] if part is not None else [])
    return CarryReader(codec(name), grammar)


@pytest.mark.parametrize("name", READABLE)
def test_entries_are_read_as_they_were_meant(name: str) -> None:
    said, meant, entries = SCRIPTS[name]
    assert within(IN_A_CALL).read(list(said), {"events": entries}) == meant


# ---- what a carry may not say ------------------------------------------------------------------------


def read(said: list[Event], carry: Any) -> list[Event]:
    return CarryReader(GATEWAY).read(said, carry)


@pytest.mark.parametrize(
    ("said", "entries"),
    [
        ([Append("ab")], [1]),
        ([Append("ab")], [3]),
        ([Append("ab")], [3, {"as": "append", "text": ""}]),
        ([Append("ab")], [1, 2, {"as": "append", "text": ""}]),
        ([Append("{}")], [1]),
        ([Append("a"), Append("", S)], ["append"]),
        ([Append("ab", State("", {"k": 1}))], [{"as": "append", "length": 2, "namespace": 0}]),
        ([Append(b"a")], [{"as": "append", "bytes": "Yg=="}]),
        ([Append([1.0])], [{"as": "append", "vector": [2.0]}]),
        ([Ping()], ["ping", {"event": ["ping"]}]),
        ([Ping()], ["ping", {"event": {}}]),
        ([Append("ab")], [-1, 3]),
        ([Append("ab")], [2, 1]),
        ([Append("ab"), Append("c")], [2]),
        ([Append("ab"), Append("c")], [3]),
        ([Append("ab"), Append("c")], [1, "append"]),
        ([], [0]),
        ([], ["append"]),
        ([], ["close"]),
        ([Append("ab")], ["append", "append"]),
        ([Append("ab", S)], [2]),
        ([Append("", S)], [0]),
        ([Append("ab", S), Ping()], [2, "ping"]),
        ([Append("ab", S)], [{"as": "append", "length": 2, "state": None}]),
        ([Append("ab", S)], [{"as": "append", "length": 2, "state": {"namespace": "x", "values": {"k": 2}}}]),
        ([Append("ab", S)], [{"as": "append", "length": 2, "namespace": "y"}]),
        ([Append("ab", S)], [{"as": "append", "length": 2, "namespace": 5}]),
        ([Append("ab")], [{"as": "append", "length": 2, "namespace": "x"}]),
        ([Append("ab")], [{"as": "append", "length": True}]),
        ([Append("ab")], [{"as": "append", "length": "2"}]),
        ([Append("ab")], [{"as": "append", "length": None}]),
        ([Append("ab")], [{"as": "append", "text": "ac"}]),
        ([Append("ab")], [{"as": "append", "text": "a"}]),
        ([Append("ab")], [{"as": "append", "text": 5}]),
        ([Open("text"), Ping()], ["ping"]),
        ([Close(), Ping()], ["ping"]),
        ([Ping(), Close()], ["ping"]),
        ([Ping()], ["usage"]),
        ([Ping()], []),
        ([Ping()], ["ping", "ping"]),
        ([Ping()], ["ping", None]),
        ([Ping()], ["ping", True]),
        ([Ping()], ["ping", ["ping"]]),
        ([Ping()], ["ping", {}]),
        ([Ping()], ["ping", {"event": "pong"}]),
        ([Ping()], ["ping", {"event": 5}]),
        ([Ping()], ["ping", {"event": "usage", "residue": {}}]),
        ([Ping()], ["ping", {"event": "open"}]),
        ([Ping()], "ping"),
        ([Ping()], None),
        ([Open("text")], [{"as": "open", "kind": "thinking"}]),
        ([Open("text")], [{"as": "open", "nothing": 1}]),
        ([Finish(TokenCounts(5, 6))], [{"as": "finish", "usage": {"input_tokens": 6}}]),
        ([Finish(TokenCounts(5, 6))], [{"as": "finish", "usage": 5}]),
        ([Failure(500, "m")], [{"as": "failure", "message": "n"}]),
    ],
)
def test_entries_that_contradict_the_unit(said: list[Event], entries: Any) -> None:
    with pytest.raises(CarryError):
        read(said, {"events": entries})


@pytest.mark.parametrize(
    ("said", "entries", "meant"),
    [
        ([Append(""), Ping()], ["ping"], [Ping()]),
        ([Append("a"), Close()], ["append", {"event": "ping"}, "close"], [Append("a"), Ping(), Close()]),
        ([Append("ab")], [{"as": "append"}], [Append("ab")]),
        ([Append("ab")], [1, {"as": "append", "length": 1}], [Append("a"), Append("b")]),
        ([Append("ab")], [{"as": "append", "text": "ab"}], [Append("ab")]),
        ([Append("", S)], ["append"], [Append("", S)]),
        ([Append("abc", S)], [1, "append"], [Append("a"), Append("bc", S)]),
        ([Append("abc", S)], [1, {"as": "append"}], [Append("a"), Append("bc", S)]),
        ([Append(b"ab")], [{"as": "append", "bytes": "YWI="}], [Append(b"ab")]),
        ([Append([1.0, 2.0])], [{"as": "append", "vector": [1.0, 2.0]}], [Append([1.0, 2.0])]),
        ([Append("ab")], [0, 0, "append"], [Append(""), Append(""), Append("ab")]),
        ([Append("a"), Append("b")], ["append", 0, "append"], [Append("a"), Append(""), Append("b")]),
        ([Append("a", S)], ["append"], [Append("a", S)]),
        ([Append("a", S)], [0, "append"], [Append(""), Append("a", S)]),
        ([Append("a")], [{"as": "append", "state": {"values": {"k": 1}}}], [Append("a", State(None, {"k": 1}))]),
        (
            [Append("a", State("", {"k": 1}))],
            [{"as": "append", "namespace": None}],
            [Append("a", State(None, {"k": 1}))],
        ),
        ([Ping()], ["ping", {"event": "usage"}], [Ping(), Usage()]),
        ([Ping()], [{"event": "foreign", "codec": "x", "unit": {}}, "ping"], [Foreign("x", {}), Ping()]),
        ([Open("text")], ["open", {"event": "annotate", "data": 1}], [Open("text"), Annotate(None, 1)]),
        ([Open("text")], ["open", {"event": "append", "text": ""}], [Open("text"), Append("")]),
        (
            [Finish(TokenCounts(5, 6))],
            [{"as": "finish", "usage": {"cached_tokens": 2}}],
            [Finish(TokenCounts(5, 6, 2))],
        ),
        ([Finish(TokenCounts(5, 6))], [{"as": "finish", "raw": "x"}], None),
    ],
)
def test_entries_that_do_not(said: list[Event], entries: Any, meant: list[Event] | None) -> None:
    if meant is None:
        assert read(said, {"events": entries})
    else:
        assert read(said, {"events": entries}) == meant


@pytest.mark.parametrize(
    "carry",
    [
        {"synthetic": 1},
        {"synthetic": False},
        {"x": 5},
        {"x": "a"},
        {"x": [5]},
        {"x": [{}, {}]},
        {"x": [None, None]},
        {"v": 2},
        {"v": True},
        {"v": "1"},
        {"v": None},
        {"events": []},
    ],
    ids=repr,
)
def test_members_that_are_wrong(carry: Any) -> None:
    with pytest.raises(CarryError):
        read([Ping()], carry)
    assert read([Ping()], {"v": 1}) == [Ping()]


def test_a_mark_needs_a_unit() -> None:
    assert read([Ping()], {"synthetic": True}) == [Ping({"gateway": {"synthetic": True}})]
    marked: list[Event] = [Ping({"gateway": {"a": 1}})]
    assert read(marked, {"synthetic": True}) == [Ping({"gateway": {"a": 1, "synthetic": True}})]
    for said, events in (([], [{"event": "ping"}]), ([Append("")], [])):
        with pytest.raises(CarryError, match="marks nothing"):
            read([*said], {"synthetic": True, "events": events})


def test_the_residue_that_a_unit_says_is_kept() -> None:
    said: list[Event] = [Open("text", residue={"gateway": {"a": 1}}), Append("b", residue={"gateway": {"a": 2}})]
    assert read(said, {"x": {"y": 1}})[0].residue == {"gateway": {"a": 1}, "x": {"y": 1}}
    first, second = read(said, {"x": [None, {"y": 1}]})
    assert (first.residue, second.residue) == ({"gateway": {"a": 1}}, {"gateway": {"a": 2}, "x": {"y": 1}})
    assert [event.residue for event in said] == [{"gateway": {"a": 1}}, {"gateway": {"a": 2}}], "what was said stands"
    assert read([Append("", residue={"gateway": {"a": 1}})], {"events": []}) == []
    whole = read(said, {"events": ["open", "append"]})
    assert [event.residue for event in whole] == [{"gateway": {"a": 1}}, None]


# ---- what a carry may add ----------------------------------------------------------------------------

CLOSED, CUT = {"event": "close"}, {"event": "handover"}
VECTOR, PIECE = {"event": "open", "kind": "embedding"}, {"event": "append", "vector": [1.0]}
CALL, TEXT = {"event": "open", "kind": "tool_call"}, {"event": "append", "text": "a"}
NAMED, RUN = {**CALL, "id": "i", "name": "n"}, {"event": "open", "kind": "text"}


@pytest.mark.parametrize(
    ("units", "allowed"),
    [
        ([([], [VECTOR, PIECE, CLOSED])], True),
        ([([], [VECTOR]), ([], [PIECE]), ([], [CLOSED])], True),
        ([([], [PIECE])], False),
        ([([], [CLOSED])], False),
        ([([], [VECTOR, CLOSED, PIECE])], False),
        ([([], [VECTOR, CLOSED, CLOSED])], False),
        ([([], [CALL, TEXT, CLOSED])], True),
        ([([], [NAMED, TEXT])], True),
        ([([], [NAMED, CLOSED])], False),
        ([([], [RUN])], True),
        ([([], [RUN, TEXT])], False),
        ([([], [RUN, CLOSED])], False),
        ([([], [VECTOR]), ([Handover()], None), ([], [PIECE])], False),
        ([([], [VECTOR]), ([Handover()], None), ([], [CLOSED])], False),
        ([([], [VECTOR]), ([Handover()], ["handover"]), ([], [PIECE])], False),
        ([([], [VECTOR]), ([Handover()], [{"as": "handover"}]), ([], [PIECE])], False),
        ([([], [VECTOR]), ([Ping(), Handover()], None), ([], [PIECE])], False),
        ([([Handover()], ["handover", VECTOR]), ([], [PIECE])], True),
        ([([Ping(), Handover(), Ping()], ["ping", "handover", VECTOR, "ping", PIECE])], True),
        ([([], [VECTOR]), ([Ping()], None), ([], [PIECE])], True),
        ([([], [VECTOR]), ([Ping()], ["ping"]), ([], [PIECE])], True),
        ([([], [CUT])], False),
        ([([], [{"event": "start"}])], False),
        ([([], [{"event": "finish"}])], False),
        ([([], [{"event": "failure", "message": ""}])], False),
    ],
)
def test_what_is_not_said_may_be_added_where_the_format_has_no_words(units: list[Any], allowed: bool) -> None:
    reader = CarryReader(GATEWAY)

    def run() -> None:
        for said, entries in units:
            reader.read(said, {} if entries is None else {"events": entries})

    if allowed:
        run()
    else:
        with pytest.raises(CarryError):
            run()


@pytest.mark.parametrize("name", ["start", "handover"])
def test_a_format_without_words_for_starts_takes_them_from_carries(name: str) -> None:
    assert CarryReader(codec("unievent")).read([], {"events": [{"event": name}]}) in ([Start()], [Handover()])


def test_a_handover_stands_for_a_close() -> None:
    reader = within(Open("text"), "unievent")
    assert reader.read([Close()], {"events": [CUT]}) == [Handover()]
    assert reader.read([Close()], {"events": [{"event": "ping"}, CUT]}) == [Ping(), Handover()]
    for said, entries, what in (
        ([Ping(), Close()], [CUT], "leaves out"),
        ([Close()], [], "leaves out"),
        ([], [CUT], "goes on"),
        ([Append("a")], ["append", CUT], "goes on"),
    ):
        with pytest.raises(CarryError, match=what):
            reader.read([*said], {"events": entries})
    with pytest.raises(CarryError, match="breaks off a call"):
        within(IN_A_CALL, "unievent").read([Close()], {"events": [CUT]})
    reader = CarryReader(codec("unievent"))
    reader.read([], {"events": [{"event": "open", "kind": "server_tool_call"}, CUT]})
    with pytest.raises(CarryError, match="may not add"):
        reader.read([], {"events": [TEXT]})


# ---- versions and what rides ahead -------------------------------------------------------------------


def test_after_a_carry_of_another_version_none_is_read() -> None:
    reader = CarryReader(GATEWAY)
    assert (reader.trusted, reader.used) == (True, False)
    reader.read([Ping()], {})
    assert (reader.trusted, reader.used) == (True, True)
    fresh = CarryReader(GATEWAY)
    for carry in ({"v": 2}, {"v": 1}, {}):
        with pytest.raises(CarryError) as caught:
            fresh.read([Ping()], carry)
        assert caught.value.expected == "version 1"
    assert (fresh.trusted, fresh.used) == (False, False)


def test_what_rides_ahead() -> None:
    reader = CarryReader(GATEWAY)
    carry = {"before": [{"events": [VECTOR], "x": {"a": 1}}, {"events": [PIECE]}], "events": [CLOSED, "ping"]}
    assert reader.ahead([Ping()], carry) == [Open("embedding", residue={"x": {"a": 1}}), Append([1.0])]
    assert reader.used
    assert reader.read([Ping()], carry) == [Close(), Ping()]
    assert reader.ahead([Ping()], {}) == []
    wrongs: list[Any] = [
        {},
        None,
        [5],
        ["ping"],
        [{"events": [CLOSED]}],
        [{"x": {}}],
        [{"synthetic": True, "events": [VECTOR]}],
    ]
    for wrong in wrongs:
        with pytest.raises(CarryError):
            reader.ahead([Ping()], {"before": wrong})
    with pytest.raises(CarryError):
        reader.ahead([Ping()], {"before": [], "v": 2})
    assert not reader.trusted


def test_a_residue_within_an_entry() -> None:
    with pytest.raises(CarryError, match="has a residue, which stands beside them"):
        CarryReader(GATEWAY).read([Close()], {"events": [{"as": "close", "residue": {"toy": {}}}]})


# ---- formats that leave words out --------------------------------------------------------------------


class Terse(type(GATEWAY)):  # type: ignore[misc]
    """As the gateway, but its format says neither that a part is over nor the end, and one ``Start`` alone."""

    leaves_out = frozenset({"close", "finish", "start"})

    def agrees(self, said: Event, meant: Event) -> bool:
        """Its words of a fragment imply a state."""
        if type(said) is Append and type(meant) is Append and meant.state is None:
            return bool(said.data == meant.data)
        return bool(super().agrees(said, meant))


def terse(*before: Event) -> CarryReader:
    """A reader of its carries, after these events."""
    grammar = Grammar("terse")
    grammar.check(before)
    return CarryReader(Terse(), grammar)  # pyright: ignore[reportAbstractUsage]


def test_a_close_that_the_format_never_says() -> None:
    reader = terse(Open("text"), Append("a"))
    assert reader.read([], {"events": [CLOSED]}) == [Close()]
    assert reader.read([], {"events": [CLOSED, RUN]}) == [Close(), Open("text")]
    said: list[Event] = [Append("b")]
    assert reader.read(said, {"events": [CLOSED, RUN, "append"]}) == [Close(), Open("text"), Append("b")]
    for entries in ([CLOSED, CLOSED], [CLOSED, {"event": "open", "kind": "thinking"}, "append"], [CLOSED, VECTOR, 1]):
        with pytest.raises(CarryError):
            reader.read([*said], {"events": entries})
    with pytest.raises(CarryError, match="may not add an event 'close'"):
        terse().read([], {"events": [CLOSED]})
    with pytest.raises(CarryError, match="may not add an event 'close'"):
        within(Open("text")).read([], {"events": [CLOSED]})


def test_a_second_start_of_a_format_that_says_one() -> None:
    again = {"events": [{"event": "start"}]}
    assert terse(Start()).read([], again) == [Start()]
    for reader in (terse(), within(None), within(None, "gateway")):
        with pytest.raises(CarryError, match="may not add an event 'start'"):
            reader.read([], again)


def test_a_state_that_the_words_imply_may_be_left_out() -> None:
    said: list[Event] = [Append("a", S)]
    assert terse(Open("thinking")).read([*said], {"events": [1]}) == [Append("a")]
    with pytest.raises(CarryError, match="leaves out a state"):
        within(Open("thinking")).read([*said], {"events": [1]})


def test_the_end_has_a_carry_of_its_own() -> None:
    usage = {"as": "finish", "usage": {"cached_tokens": 0, "input_tokens": 5}}
    end = {"toy": [None, {"a": 1}], "events": ["close", usage]}
    said: list[Event] = [Close(), Finish(TokenCounts(5, 6))]
    meant = [Close(), Finish(TokenCounts(5, 6, 0), residue={"toy": {"a": 1}})]
    reader = terse(Open("text"))
    assert reader.read([Append("a")], {"end": end}) == [Append("a")]
    assert reader.end([*said]) == meant
    assert reader.end([*said]) == said, "once"
    reader.read([Append("a")], {"end": end})
    reader.native([Append("b")])
    assert reader.end([*said]) == said, "of the last unit alone"
    reader.read([Append("a")], {"end": end})
    reader.read([Append("a")], {"toy": {"a": 1}})
    assert reader.end([*said]) == said
    reader.read([Append("a")], {"end": {"events": ["close", {"as": "finish", "usage": {"input_tokens": 9}}]}})
    with pytest.raises(CarryError, match="not what the unit says"):
        reader.end([*said])
    wrongs: list[Any] = [1, None, [], {"v": 1}, {"before": []}, {"member": 1}, {"end": {}}]
    for wrong in wrongs:
        with pytest.raises(CarryError, match="no carry of events"):
            reader.read([Append("a")], {"end": wrong})
    with pytest.raises(CarryError, match="an end that a unit says"):
        within(None).read([Finish()], {"end": {}})


def test_what_was_made_up_as_a_whole_may_be_left_out() -> None:
    said: list[Event] = [Start(), Usage(TokenCounts(1)), Foreign("gateway", {})]
    carry = {"synthetic": True, "events": ["start", {"event": "ping"}]}
    assert read([*said], carry) == [Start(residue={"gateway": {"synthetic": True}}), Ping()]
    with pytest.raises(CarryError, match="leaves out"):
        read([*said], {"events": carry["events"]})
    with pytest.raises(CarryError, match="leaves out"):
        read([Start(), Ping()], {"synthetic": True, "events": ["start"]})


@pytest.mark.parametrize("event", [Start(), Usage(), Foreign("x", {}), Ping(), Handover()], ids=repr)
def test_what_another_codec_made_up(event: Event) -> None:
    marked = with_residue(event, {"gateway": {"synthetic": True}})
    assert made_up_by_another(marked, "unievent") == (type(event) in WHOLE)
    assert not made_up_by_another(marked, "gateway")
    assert not made_up_by_another(event, "gateway")


def test_the_end_of_a_part_that_was_lost_on_the_way() -> None:
    assert within(Open("text")).loose_end() is None
    for entries, end in (([VECTOR], Close()), ([NAMED, TEXT], Handover()), ([CALL], Close()), ([VECTOR, CLOSED], None)):
        reader = CarryReader(GATEWAY)
        ahead = reader.read([], {"events": entries})
        assert reader.loose_end() == CarryReader(GATEWAY).loose_end(ahead) == end
