"""The carry by itself: what :func:`compose` makes of events said and meant, and what a reader makes of that again.

The rules are those of docs/carry.md. The units here say more than those of the formats do, so that each rule counts.
"""

from __future__ import annotations

from typing import Any

import pytest

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
    Model,
    Open,
    Ping,
    Reason,
    Start,
    State,
    TokenCounts,
    Usage,
    codec,
)
from translate.carry import Pieces, bare, compose, join, same_event, size
from translate.carry_reader import CarryReader

GATEWAY = codec("gateway")
S, T = State("x", {"k": 1}), State("x", {"k": 2})
COUNTS = [Usage(TokenCounts(n)) for n in range(3)]


# ---- data --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "length"),
    [("", 0), ("ab", 2), ("é", 1), ("é😀", 3), ("\ud83d", 1), (b"", 0), (b"\xff\x00", 2), ([], 0), ([1.0, 2, 3], 3)],
)
def test_data_is_counted_in_code_units_bytes_and_elements(data: Any, length: int) -> None:
    assert size(data) == Pieces(data).size == length
    assert Pieces(data).cut(0, length) == data


@pytest.mark.parametrize(
    ("data", "start", "length", "piece"),
    [
        ("abcd", 1, 2, "bc"),
        ("aé😀b", 1, 3, "é😀"),
        ("é😀", 1, 1, "\ud83d"),
        ("é😀", 2, 1, "\ude00"),
        (b"\xff\xfe\xfd", 1, 1, b"\xfe"),
        ([1.0, 2.0, 3.0], 1, 1, [2.0]),
    ],
)
def test_a_piece(data: Any, start: int, length: int, piece: Any) -> None:
    assert Pieces(data).cut(start, length) == piece


@pytest.mark.parametrize(
    ("pieces", "data"),
    [
        ([], ""),
        (["a", "", "b"], "ab"),
        ([b"a", b"b"], b"ab"),
        ([[1.0], [], [2.0]], [1.0, 2.0]),
        ([b""], b""),
        ([[]], []),
    ],
)
def test_pieces_join_to_data_of_their_type(pieces: list[Any], data: Any) -> None:
    assert join(pieces) == data


def test_an_event_without_its_residue() -> None:
    event = Append("a", S, residue={"x": {}})
    assert bare(event) == Append("a", S)
    assert event.residue == {"x": {}}, "the event itself keeps it"
    assert bare(plain := Close()) is plain


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (Append("a", residue={"x": {}}), Append("a"), True),
        (Append("a"), Append("b"), False),
        (Append("a", S), Append("a", State("x", {"k": 1})), True),
        (Append("a", S), Append("a", T), False),
        (Append("a", S), Append("a"), False),
        (Append([1]), Append([1.0]), False),
        (Open("text"), Close(), False),
        (Open("text", "i", "n", "m"), Open("text", "i", "n", "m"), True),
        (Open("text"), Open("thinking"), False),
        (Open("text", "i"), Open("text", "j"), False),
        (Open("text", None, "n"), Open("text", None, "m"), False),
        (Open("inline_data", mime_type="a/b"), Open("inline_data", mime_type="a/c"), False),
        (Close({"x": {}}), Close(), True),
        (Annotate(None, 1), Annotate(None, True), False),
        (Annotate(None, 1), Annotate("x", 1), False),
        (Ping(), Ping(), True),
    ],
)
def test_equality_but_for_residues(a: Event, b: Event, same: bool) -> None:
    assert same_event(a, b) == same_event(b, a) == same


# ---- events ------------------------------------------------------------------------------------------

SCRIPTS: dict[str, tuple[list[Event], list[Event], list[Any]]] = {
    "pieces of one": ([Append("abcd")], [Append("ab"), Append("cd")], [2, 2]),
    "pieces, one empty": ([Append("ab")], [Append(""), Append("ab")], [0, "append"]),
    "an empty piece last": ([Append("ab")], [Append("ab"), Append("")], ["append", 0]),
    "code units": ([Append("é😀")], [Append("é\ud83d"), Append("\ude00")], [2, 1]),
    "bytes": ([Append(b"\xff\xfe")], [Append(b"\xff"), Append(b"\xfe")], [1, 1]),
    "elements": ([Append([1.0, 2.0])], [Append([1.0]), Append([2.0])], [1, 1]),
    "pieces of two": (
        [Append("ab"), Append("cd")],
        [Append("a"), Append("b"), Append("c"), Append("d")],
        [1, 1, 1, 1],
    ),
    "one whole, one in pieces": (
        [Append("ab"), Append("cd")],
        [Append("ab"), Append("c"), Append("d")],
        ["append", 1, 1],
    ),
    "one in pieces, one whole": (
        [Append("abc"), Append("de")],
        [Append("a"), Append("b"), Append("c"), Append("de")],
        [1, 1, 1, "append"],
    ),
    "three": (
        [Append("ab"), Append("c"), Append("de")],
        [Append("a"), Append("b"), Append("c"), Append("d"), Append("e")],
        [1, 1, "append", 1, 1],
    ),
    "an event between pieces": ([Append("ab")], [Append("a"), Ping(), Append("b")], [1, {"event": "ping"}, 1]),
    "an event ahead": (
        [Open("text"), Append("a")],
        [Ping(), Open("text"), Append("a")],
        [{"event": "ping"}, "open", "append"],
    ),
    "an event behind": ([Usage(TokenCounts(1))], [Usage(TokenCounts(1)), Ping()], ["usage", {"event": "ping"}]),
    "events of one name": ([*COUNTS], [*COUNTS, Ping()], ["usage", "usage", "usage", {"event": "ping"}]),
    "a part that is not said": (
        [],
        [Open("embedding"), Append([0.5]), Close()],
        [{"event": "open", "kind": "embedding"}, {"event": "append", "vector": [0.5]}, {"event": "close"}],
    ),
    "other words": (
        [Open("tool_call", "i", "n"), Append("{}"), Close()],
        [Open("tool_call", "i", "n"), Append(" "), Append(""), Close()],
        ["open", {"as": "append", "text": " "}, {"as": "append", "text": ""}, "close"],
    ),
    "a state kept by the first piece": (
        [Append("ab", S)],
        [Append("a", S), Append("b")],
        [{"as": "append", "length": 1}, {"as": "append", "length": 1, "state": None}],
    ),
    "a state that is not said": (
        [Append("ab")],
        [Append("ab", S)],
        [{"as": "append", "length": 2, "state": {"namespace": "x", "values": {"k": 1}}}],
    ),
    "another issuer": (
        [Append("ab", State("", {"k": 1}))],
        [Append("ab", State(None, {"k": 1}))],
        [{"as": "append", "length": 2, "namespace": None}],
    ),
    "a whole with its state": ([Append("ab", S)], [Append("ab", S), Ping()], ["append", {"event": "ping"}]),
    "a member changed": (
        [Open("text")],
        [Open("text", "i")],
        [{"as": "open", "id": "i"}],
    ),
    "a member unknown": (
        [Handover(Model("m")), Close()],
        [Handover(Model()), Close()],
        [{"as": "handover", "model": {}}, "close"],
    ),
    "counts": (
        [Finish(TokenCounts(5, 6), Reason("stop"))],
        [Finish(TokenCounts(5, 6, 2, 3, "p"), Reason("stop", "end"))],
        [
            {
                "as": "finish",
                "usage": {
                    "cached_tokens": 2,
                    "reasoning_tokens": 3,
                    "provider": "p",
                    "input_tokens": 5,
                    "output_tokens": 6,
                },
                "raw": "end",
            }
        ],
    ),
    "no cached tokens": (
        [Finish(TokenCounts(5, 6))],
        [Finish(TokenCounts(5, 6, 0))],
        [{"as": "finish", "usage": {"cached_tokens": 0}}],
    ),
}
each_script = pytest.mark.parametrize(("said", "meant", "entries"), SCRIPTS.values(), ids=SCRIPTS)


@each_script
def test_the_entries(said: list[Event], meant: list[Event], entries: list[Any]) -> None:
    assert compose(said, meant, "gateway", made_up=False) == {"events": entries}
    assert compose(meant, meant, "gateway", made_up=False) == {}


READABLE = [name for name in SCRIPTS if "state" not in name and name not in ("a member changed", "a member unknown")]


@pytest.mark.parametrize("name", READABLE)
def test_entries_are_read_as_they_were_meant(name: str) -> None:
    said, meant, entries = SCRIPTS[name]
    assert CarryReader(GATEWAY).read(list(said), {"events": entries}) == meant


@pytest.mark.parametrize(
    ("said", "meant", "carry"),
    [
        ([Ping()], [Ping({"unievent": {"at": 1}})], {"unievent": {"at": 1}}),
        ([Ping()], [Ping({"gateway": {"patch": []}})], {}),
        ([Ping()], [Ping({"gateway": {"synthetic": True}, "x": {"synthetic": True, "y": 1}})], {}),
        (
            [],
            [Start(residue={"gateway": {"patch": []}})],
            {"gateway": {"patch": []}, "events": [{"event": "start", "model": {}}]},
        ),
        (
            [Open("text"), Append("a"), Close()],
            [Open("text"), Append("a", residue={"gateway": {"a": 1}}), Close({"x": {}})],
            {"gateway": [None, {"a": 1}], "x": [None, None, {}]},
        ),
        (
            [Open("text"), Append("a")],
            [Open("text", residue={"x": {"a": 1}}), Append("a", residue={"x": {"a": 2}})],
            {"x": [{"a": 1}, {"a": 2}]},
        ),
        ([Ping(), Ping()], [Ping({"x": {"a": 1}}), Ping()], {"x": {"a": 1}}),
    ],
)
def test_residues(said: list[Event], meant: list[Event], carry: Any) -> None:
    assert compose(said, meant, "gateway", made_up=False) == carry
    assert compose(said, meant, "gateway", made_up=True) == {"synthetic": True, **carry}


# ---- what a carry may not say ------------------------------------------------------------------------


def read(said: list[Event], carry: Any) -> list[Event]:
    return CarryReader(GATEWAY).read(said, carry)


@pytest.mark.parametrize(
    ("said", "entries"),
    [
        ([Append("ab")], [1]),
        ([Append("ab")], [3]),
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
        ([Append("{}"), Ping()], ["ping"], [Ping()]),
        ([Append("a"), Close()], ["append", {"event": "ping"}, "close"], [Append("a"), Ping(), Close()]),
        ([Append("ab")], [{"as": "append"}], [Append("ab")]),
        ([Append("ab")], [1, {"as": "append", "length": 1}], [Append("a"), Append("b")]),
        ([Append("ab")], [{"as": "append", "text": "ab"}], [Append("ab")]),
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
    assert read([Ping()], {"synthetic": True, "gateway": {"a": 1}}) == [Ping({"gateway": {"a": 1, "synthetic": True}})]
    for said, events in (([], [{"event": "ping"}]), ([Append("")], [])):
        with pytest.raises(CarryError, match="marks nothing"):
            read([*said], {"synthetic": True, "events": events})


def test_the_residue_that_a_unit_says_is_kept() -> None:
    said = [Open("text", residue={"gateway": {"a": 1}}), Append("b", residue={"gateway": {"a": 2}})]
    assert read(said, {"x": {"y": 1}})[0].residue == {"gateway": {"a": 1}, "x": {"y": 1}}
    first, second = read(said, {"x": [None, {"y": 1}]})
    assert (first.residue, second.residue) == ({"gateway": {"a": 1}}, {"gateway": {"a": 2}, "x": {"y": 1}})
    assert [event.residue for event in said] == [{"gateway": {"a": 1}}, {"gateway": {"a": 2}}], "what was said stands"
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
    reader = CarryReader(codec("unievent"))
    assert reader.read([Close()], {"events": [CUT]}) == [Handover()]
    with pytest.raises(CarryError, match="leaves out"):
        reader.read([Ping(), Close()], {"events": [CUT]})
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
    for wrong in (
        {},
        None,
        [5],
        ["ping"],
        [{"events": [CLOSED]}],
        [{"x": {}}],
        [{"synthetic": True, "events": [VECTOR]}],
    ):
        with pytest.raises(CarryError):
            reader.ahead([Ping()], {"before": wrong})
    with pytest.raises(CarryError):
        reader.ahead([Ping()], {"before": [], "v": 2})
    assert not reader.trusted
