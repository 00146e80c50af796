"""The carry by itself: what :func:`compose` makes of events said and meant, and of residues.

The rules are those of docs/carry.md. The units here say more than those of the formats do, so that each rule counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translate import (
    Annotate,
    Append,
    Close,
    Event,
    Finish,
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
    jsontext,
)
from translate.algebra.events import bare
from translate.algebra.json_form import same_event
from translate.algebra.parts import Pieces, join, size
from translate.carry import making
from translate.carry.making import compose, script
from translate.carry.reading import CarryReader

GATEWAY = codec("gateway")
S, T = State("x", {"k": 1}), State("x", {"k": 2})
IN_A_CALL = Open("tool_call", "i", "n")
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
        (Close(residue={"x": {}}), Close(), True),
        (Annotate(None, 1), Annotate(None, True), False),
        (Annotate(None, 1), Annotate("x", 1), False),
        (Ping(), Ping(), True),
    ],
)
def test_equality_but_for_residues(a: Event, b: Event, same: bool) -> None:
    assert same_event(a, b) == same_event(b, a) == same


# ---- events ------------------------------------------------------------------------------------------

SCRIPTS: dict[str, tuple[list[Event], list[Event], list[Any]]] = {
    "parts of two types": (
        [Open("text"), Append("ab"), Close(), Open("inline_data"), Append(b"c"), Close()],
        [Open("text"), Append("a"), Append("b"), Close(), Open("inline_data"), Append(b"c"), Close()],
        ["open", 1, 1, "close", "open", "append", "close"],
    ),
    "a part that is not said before one that is": (
        [Open("text"), Append("ab")],
        [Open("embedding"), Append([1.0]), Close(), Open("text"), Append("ab")],
        [
            {"event": "open", "kind": "embedding"},
            {"event": "append", "vector": [1.0]},
            {"event": "close"},
            "open",
            "append",
        ],
    ),
    "other words in one of two calls": (
        [Open("tool_call", "i", "n"), Append("{}"), Close(), Open("tool_call", "j", "n"), Append("[1]"), Close()],
        [Open("tool_call", "i", "n"), Append(" "), Close(), Open("tool_call", "j", "n"), Append("[1]"), Close()],
        ["open", {"as": "append", "text": " "}, "close", "open", "append", "close"],
    ),
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
    "other words, and more": (
        [Append("{}")],
        [Append("  "), Append("   ", S)],
        [
            {"as": "append", "text": "  "},
            {"as": "append", "text": "   ", "state": {"namespace": "x", "values": {"k": 1}}},
        ],
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
    "states, each on an empty piece": (
        [Append("", S), Append("", T)],
        [Append("", S), Append("", T), Close()],
        ["append", "append", {"event": "close"}],
    ),
    "a state behind pieces of what has none": (
        [Append("ab"), Append("", S)],
        [Append("a"), Append("b"), Append("", S)],
        [1, 1, "append"],
    ),
    "two empty pieces of one": (
        [Append("", S)],
        [Append("", S), Append("")],
        ["append", {"as": "append", "length": 0, "state": None}],
    ),
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
        [{"as": "finish", "usage": {"cached_tokens": 0, "input_tokens": 5}}],
    ),
}
each_script = pytest.mark.parametrize(("said", "meant", "entries"), SCRIPTS.values(), ids=SCRIPTS)


@each_script
def test_the_entries(said: list[Event], meant: list[Event], entries: list[Any]) -> None:
    assert compose(said, meant, "gateway", made_up=False) == {"events": entries}
    assert compose(meant, meant, "gateway", made_up=False) == {}


@pytest.mark.parametrize("name", ["states, each on an empty piece", "a state behind pieces of what has none"])
def test_each_empty_piece_is_of_the_one_that_says_its_state(name: str) -> None:
    said, meant, entries = SCRIPTS[name]
    chat = CarryReader(codec("openai-chat"))
    chat.native([Open("thinking")])
    assert chat.read(said, {"events": entries}) == meant


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
            [Open("text"), Append("a", residue={"gateway": {"a": 1}}), Close(residue={"x": {}})],
            {"gateway": [None, {"a": 1}], "x": [2, {}]},
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


# ---- growth --------------------------------------------------------------------------------------------

FRAGMENTS: dict[str, Callable[[int], list[Event]]] = {
    "stamped": lambda n: [Append("x", residue={"unievent": {"at": i}}) for i in range(n)],
    "of many codecs": lambda n: [Append("x", residue={f"c{i}": {}}) for i in range(n)],
    "with notes between": lambda n: [event for _ in range(n // 2) for event in (Append("xx"), Usage())],
    "beyond ascii": lambda n: [Append("é") for _ in range(n)],
    "in other words": lambda n: [Append(" ") for _ in range(n)],
}


@pytest.mark.parametrize("kind", FRAGMENTS)
def test_a_call_in_many_fragments_takes_linear_time(kind: str) -> None:
    def seconds(n: int) -> float:
        grown = FRAGMENTS[kind](n)
        whole = join([event.data for event in grown if type(event) is Append])
        said: list[Event] = [IN_A_CALL, Append("{}" if kind == "in other words" else whole), Close()]
        meant: list[Event] = [IN_A_CALL, *grown, Close()]
        began = time.process_time()
        carry = compose(said, meant, "gateway", made_up=False)
        assert CarryReader(GATEWAY).read(said, carry) == meant
        took = time.process_time() - began
        assert len(jsontext.dumps_strict(carry)) < 60 * n
        return took

    assert min(seconds(30_000) for _ in range(2)) < 40 * min(seconds(3_000) for _ in range(3))


def test_many_residues_of_one_event_take_linear_time() -> None:
    def seconds(n: int) -> float:
        meant: list[Event] = [Ping({f"c{i}": {"a": i} for i in range(n)})]
        began = time.process_time()
        assert CarryReader(GATEWAY).read([Ping()], compose([Ping()], meant, "gateway", made_up=False)) == meant
        return time.process_time() - began

    assert min(seconds(30_000) for _ in range(2)) < 40 * min(seconds(3_000) for _ in range(3))


@given(
    st.lists(st.sampled_from(["", "a", "é", "😀", "\ud83d", "\ude00", '{"a":'])),
    st.sampled_from([Open("tool_call", "i", "n"), Open("tool_call", "i", "m"), Open("tool_call", None, "n")]),
    st.booleans(),
    st.sampled_from([None, S]),
    st.booleans(),
)
def test_a_part_in_pieces_is_written_as_any_other(
    pieces: list[str], head: Open, cut: bool, state: State | None, other: bool
) -> None:
    """The usual case has a way of its own, which must say the same."""
    said: list[Event] = [IN_A_CALL, Append("".join(pieces) + "x" * other), Close()]
    meant: list[Event] = [head, *map(Append, pieces), Close(cut=cut)]
    if state is not None and pieces:
        meant[1] = Append(pieces[0], state)
    found = script(said, meant)
    with patch.object(making, "_in_pieces", lambda said, meant: None):
        assert found == script(said, meant)
