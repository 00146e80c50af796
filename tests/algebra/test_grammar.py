"""The grammar of events: every event in every state, by the table and by the rule that the table is of."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import pairwise
from typing import Any, cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translate import (
    Annotate,
    Append,
    Close,
    CodecError,
    Event,
    Failure,
    Finish,
    Foreign,
    GrammarError,
    Handover,
    Open,
    Ping,
    Start,
    Usage,
)
from translate.algebra.events import EVENTS, GROWS, PART_KINDS, PartKind
from translate.algebra.grammar import BETWEEN, ENDED, INSIDE, TABLE, Grammar
from translate.algebra.weight import weight

EXAMPLES: dict[str, Event] = {
    "S": Start(),
    "O": Open("text"),
    "A": Append("a"),
    "N": Annotate(None, 1),
    "C": Close(),
    "H": Handover(),
    "U": Usage(),
    "F": Finish(),
    "X": Failure(None, ""),
    "P": Ping(),
    "G": Foreign("x", {}),
}
NOTE = "[PUG]"
PART = f"O([AN]|{NOTE})*[CH]"
STREAM = re.compile(f"({NOTE}|[NS]|{PART}|H)*(F|X|O([AN]|{NOTE})*X)")


@given(st.text(st.sampled_from("".join(EXAMPLES)), max_size=12), st.lists(st.integers(0, 12), max_size=3))
def test_the_table_is_the_rule(word: str, cuts: list[int]) -> None:
    grammar = Grammar()
    events = [EXAMPLES[letter] for letter in word]
    bounds = [0, *sorted(min(at, len(word)) for at in cuts), len(word)]
    if STREAM.fullmatch(word):
        for start, end in pairwise(bounds):
            grammar.check(events[start:end])
        assert grammar.state == ENDED
        return
    with suppress(GrammarError):
        for start, end in pairwise(bounds):
            grammar.check(events[start:end])
    assert grammar.state != ENDED or STREAM.match(word)


@pytest.mark.parametrize("state", TABLE)
@pytest.mark.parametrize("letter", EXAMPLES)
def test_an_event_in_a_state(letter: str, state: str) -> None:
    grammar = Grammar()
    grammar.check([EXAMPLES[x] for x in {BETWEEN: "", INSIDE: "O", ENDED: "F"}[state]])
    event = EXAMPLES[letter]
    if type(event) in TABLE[state]:
        grammar.check([event])
        assert grammar.state == TABLE[state][type(event)]
        return
    with pytest.raises(GrammarError, match=f"'{type(event).__name__.lower()}' may not stand {state}") as caught:
        grammar.check([event])
    assert (caught.value.state, caught.value.expected) == (state, grammar.expected())
    assert grammar.state == state


def test_every_event_is_in_the_table() -> None:
    assert {type(event) for event in EXAMPLES.values()} == set(EVENTS.values()) == set(get_args(Event))
    assert set(TABLE[BETWEEN]) | set(TABLE[INSIDE]) == set(EVENTS.values())
    assert Grammar().expected() == "ping, usage, foreign, annotate, start, open, handover, finish, failure"
    grammar = Grammar()
    grammar.check([Finish()])
    assert grammar.expected() == "nothing"


DATA: list[Any] = ["a", b"a", [1.0], 1, None, bytearray(b"a"), ("a",)]


@pytest.mark.parametrize("kind", PART_KINDS)
@pytest.mark.parametrize("data", DATA)
def test_a_part_grows_by_its_own_type(kind: PartKind, data: Any) -> None:
    grammar = Grammar()
    grammar.check([Open(kind)])
    assert grammar.grows is GROWS[kind]
    if type(data) is GROWS[kind]:
        piece = Append(cast("Any", data))
        grammar.check([piece, piece])
        assert grammar.size == 2
    else:
        with pytest.raises(GrammarError, match=f"a part of kind '{kind}' cannot grow by this") as caught:
            grammar.check([Append(data)])
        assert caught.value.expected == GROWS[kind].__name__


def test_the_size_is_that_of_the_open_part() -> None:
    grammar = Grammar()
    grammar.check([Open("text"), Append("ab"), Append(""), Append("c")])
    # what holds nothing takes memory, too
    assert (grammar.size, grammar.kind, grammar.state) == (4, "text", INSIDE)
    grammar.check([Ping(), Annotate(None, 1), Close()])
    assert (grammar.size, grammar.state) == (4 + weight(Ping()) + weight(Annotate(None, 1)), BETWEEN)
    grammar.check([Open("embedding"), Append([1, 2])])
    assert (grammar.size, grammar.kind) == (2, "embedding")


def test_before_any_part_there_is_none() -> None:
    grammar = Grammar()
    assert (grammar.kind, grammar.size, grammar.state) == ("", 0, "between parts")


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ([Start(), Close()], "between parts"),
        ([Open("text"), Append("a"), Finish()], "in a part"),
        ([Open("text"), Append(cast("Any", b"a"))], "in a part"),
        ([Failure(None, ""), Ping()], "ended"),
    ],
)
def test_an_error_knows_where_it_stands_among_events_checked_at_once(events: list[Event], state: str) -> None:
    """The words are what people read as the place in the stream."""
    grammar = Grammar()
    with pytest.raises(GrammarError) as caught:
        grammar.check(events)
    assert (caught.value.state, grammar.state) == (state, state)


def test_a_decoder_that_breaks_the_grammar_is_named() -> None:
    with pytest.raises(CodecError, match="the codec 'toy' broke the grammar of events: 'close' may not") as caught:
        Grammar("toy").check([Start(), Close()])
    assert caught.value.state == BETWEEN
    assert caught.value.expected == Grammar().expected()


@pytest.mark.parametrize("kind", ["", "Text", "inline"])
def test_kinds_that_are_none(kind: Any) -> None:
    with pytest.raises(GrammarError, match="no part is of kind") as caught:
        Grammar().check([Open(kind)])
    assert "server_tool_call" in (caught.value.expected or "")
