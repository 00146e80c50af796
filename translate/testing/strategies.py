"""Hypothesis strategies for valid streams of events, made by walking the grammar's own table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hypothesis import strategies as st

from .. import jsontext
from ..algebra.events import (
    GROWS,
    PART_KINDS,
    REASONS,
    Annotate,
    Append,
    Close,
    Data,
    Event,
    Failure,
    Finish,
    Foreign,
    Handover,
    JsonObject,
    Model,
    Open,
    PartKind,
    Ping,
    Reason,
    Residue,
    Start,
    State,
    TokenCounts,
    Usage,
)
from ..algebra.grammar import BETWEEN, ENDED, INSIDE, TABLE
from ..algebra.parts import Pieces, size

PLAIN: tuple[str, ...] = ("a", "Hel", "lo ", "1", "{", "}", "é", "中")
"""Text that no reader stumbles over."""
AWKWARD: tuple[str, ...] = (
    *('"', "\\", "\\u0041", "\n", "\r", "\r\n", "\n\n", "\t", "\0", "\x1f", "\x7f", " "),
    *("\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\ufeff", "\uffff", "\U0010ffff"),
    *("😀", "👩‍👩‍👧", "e\u0301", "\ud83d", "\ude00"),
    *("data: x", "[DONE]", "null", ": carry {}", "event: error", "$", "."),
)
"""Text that some reader or writer gets wrong: control characters, separators, halves of pairs, our own words."""
INTEGERS: tuple[int, ...] = (0, 1, -1, 7, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**30)
NUMBERS: tuple[int | float, ...] = (
    *INTEGERS,
    *(0.0, -0.0, 1.0, 0.1, 1e22, 5e-324, 1.7976931348623157e308),
    *(float("nan"), float("inf"), float("-inf"), jsontext.Beyond("1e400"), jsontext.Beyond("-1E+999")),
)
"""Numbers that some reader or writer changes."""
ELSEWHERE = "elsewhere"
"""The codec, which does not exist, of residues and foreign units that the codec under test does not own."""

_NAMES = ("a", "b", "signature", "anthropic.signature", "carry", "v", "events", "synthetic ", "$number", "$x", "", "é.")
_SPACES = ("", "", "", " ", "\n", "\t\r\n ")
_LITERALS = (
    *("0", "-0", "1", "1.0", "0.10", "1e2", "1E400", "NaN", "-Infinity", "12345678901234567890123456789"),
    *('""', '"x"', '"\\ud83d"', '"\\u00e9\\n\\/"', '"😀"', '"\u2028"', '"\ud83d"'),
    *("true", "null", "[]", "[1, 1.0]", "{}", '{"a":{"a":[{}]}}'),
)


@cache
def texts(words: tuple[str, ...] = (*PLAIN, *AWKWARD), *, max_words: int = 4) -> st.SearchStrategy[str]:
    """Text made of words, the empty one included. Surrogate halves may meet."""
    return st.lists(st.sampled_from(words), max_size=max_words).map("".join)


@cache
def json_values(words: tuple[str, ...] = (*PLAIN, *AWKWARD)) -> st.SearchStrategy[Any]:
    """Any JSON value as Python reads it, numbers that JSON has not (NaN) included."""
    scalars = st.one_of(
        st.sampled_from((None, True, False)), st.sampled_from(NUMBERS), st.sampled_from(words), texts(words)
    )
    names = st.sampled_from(_NAMES)
    flat = st.one_of(scalars, st.lists(scalars, max_size=2), st.dictionaries(names, scalars, max_size=2))
    return st.one_of(scalars, flat, st.lists(flat, max_size=2), st.dictionaries(names, flat, max_size=2))


@cache
def json_objects(words: tuple[str, ...] = (*PLAIN, *AWKWARD), *, min_size: int = 0) -> st.SearchStrategy[JsonObject]:
    """Any JSON object."""
    return st.dictionaries(st.sampled_from(_NAMES), json_values(words), min_size=min_size, max_size=3)


@st.composite
def object_texts(draw: st.DrawFn) -> str:
    """The text of a JSON object in any spelling: duplicate keys, spacing, escapes, huge numbers. Or blank text."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(("", " ", "\n")))
    out = ["{"]
    for i in range(draw(st.integers(0, 3))):
        key = json.dumps(draw(st.sampled_from(("a", "b", "é", "😀"))), ensure_ascii=draw(st.booleans()))
        space = draw(st.sampled_from(_SPACES))
        out += ["," if i else "", space, key, space, ":", space, draw(st.sampled_from(_LITERALS)), space]
    return draw(st.sampled_from(_SPACES)) + "".join([*out, "}"]) + draw(st.sampled_from(_SPACES))


@st.composite
def pieces(draw: st.DrawFn, whole: Data) -> list[Data]:
    """``whole`` as fragments, some of them empty, cut anywhere, also between the halves of a surrogate pair."""
    length = size(whole)
    at = sorted(draw(st.lists(st.integers(0, length), max_size=3)))
    ends = [*at, length]
    pieces = Pieces(whole)
    return [pieces.cut(a, b - a) for a, b in zip([0, *at], ends, strict=True)]


@st.composite
def interleaved(draw: st.DrawFn, rows: Sequence[Sequence[Any]]) -> list[tuple[int, Any]]:
    """The items of all rows, each with the number of its row: mixed at random, the order of each row kept."""
    left = [list(row) for row in rows]
    out: list[tuple[int, Any]] = []
    while rest := [i for i, row in enumerate(left) if row]:
        i = draw(st.sampled_from(rest))
        out.append((i, left[i].pop(0)))
    return out


@dataclass(frozen=True)
class Knobs:
    """What generated streams may hold. All of it by default.

    ``kinds``       kinds of part
    ``states``      how many provider states a part may have; ``namespaces`` of these, ``None`` being unknown
    ``notes``       which of ``Annotate``, ``Usage``, ``Foreign``, ``Ping``, ``Start``, ``Handover`` there are
    ``broken_calls`` whether a ``Handover`` may break off a call
    ``failures``    whether a stream may end in a ``Failure``
    ``residues``    codecs, other than the one under test, whose residues are strewn in
    ``foreign``     codec → its units that have no meaning; those of the codec under test must be given by its author
    ``words``       what text is made of
    ``huge``        characters that a text may have beyond the usual few; 0 for none
    ``max_events``  after so many a stream comes to its end
    """

    kinds: tuple[PartKind, ...] = PART_KINDS
    states: int = 3
    namespaces: tuple[str | None, ...] = (None, None, "", "anthropic", "a.b")
    notes: frozenset[type[Event]] = frozenset({Annotate, Usage, Foreign, Ping, Start, Handover})
    broken_calls: bool = True
    failures: bool = True
    residues: tuple[str, ...] = (ELSEWHERE,)
    foreign: Mapping[str, st.SearchStrategy[JsonObject]] = field(default_factory=lambda: {ELSEWHERE: json_objects()})
    words: tuple[str, ...] = (*PLAIN, *AWKWARD)
    huge: int = 0
    max_events: int = 16


_WEIGHT: dict[type[Event], int] = {Append: 5, Open: 5, Close: 3}


def usual_streams(knobs: Knobs | None = None) -> list[list[Event]]:
    """A few short streams as most are, of the kinds that ``knobs`` allow: what is wrong there is best seen there."""
    allowed = knobs or Knobs()
    text: list[Event] = [Open("text"), *map(Append, ("Hel", "lo", " ", "again")), Close()]
    thought: list[Event] = [Open("thinking"), *map(Append, ("Hm", ", well"))]
    if allowed.states:
        thought.append(Append("", State("anthropic", {"signature": "sig"})))
    call: list[Event] = [Open("tool_call", "c1", "find"), *map(Append, ('{"q":', '"x', '"}')), Close()]
    other: list[Event] = [Open("tool_call", "c2", "find"), Append('{"q":"y"}'), Close()]
    made = {
        ("text",): (text, "stop"),
        ("thinking", "text"): ([*thought, Close(), *text], "stop"),
        ("tool_call",): ([*call, *other], "tool_call"),
        ("thinking", "text", "tool_call"): ([*thought, Close(), *text, *call], "tool_call"),
    }
    start, counts = Start(Model("m"), "id-1"), TokenCounts(3, 2)
    out: list[list[Event]] = []
    for kinds, (parts, word) in made.items():
        if {*kinds} <= {*allowed.kinds}:
            out.append([start, *map(copy, parts), Finish(counts, Reason(word))])  # type: ignore[arg-type]
    if allowed.failures and "text" in allowed.kinds:
        out.append([start, *map(copy, text[:3]), Failure(502, "lost", "ApiError")])
    return out


@st.composite
def event_streams(draw: st.DrawFn, knobs: Knobs | None = None) -> list[Event]:
    """A valid stream of events: a walk through :data:`translate.algebra.grammar.TABLE` to its end.

    The text of a ``tool_call`` is a JSON object or blank, however it is cut, unless a ``Failure`` cuts it short.
    """
    return _Walk(draw, knobs or Knobs()).walk()


class _Walk:
    """One walk. ``waiting``: fragments of a call that must still come."""

    def __init__(self, draw: st.DrawFn, knobs: Knobs) -> None:
        self.draw = draw
        self.knobs = knobs
        self.kind: str = ""
        self.waiting: list[Data] = []
        self.states = 0
        self.text = texts(knobs.words)
        self.values = json_values(knobs.words)
        self.maybe = st.one_of(st.none(), st.sampled_from(("x", "", "unknown", "Anthropic")), self.text)
        self.makers: dict[type[Event], Callable[[], Event]] = {
            Start: self.start,
            Open: self.open,
            Append: self.append,
            Annotate: self.annotate,
            Close: Close,
            Handover: lambda: Handover(self.model()),
            Usage: lambda: Usage(self.usage()),
            Finish: self.finish,
            Failure: self.failure,
            Ping: Ping,
            Foreign: self.foreign,
        }

    def walk(self) -> list[Event]:
        out: list[Event] = []
        state, left = BETWEEN, self.draw(st.integers(0, self.knobs.max_events))
        while state != ENDED:
            inside = self.kind if state == INSIDE else ""
            choices = [cls for cls in TABLE[state] if self.may(cls, inside, ending=len(out) >= left)]
            weighted = [cls for cls in choices for _ in range(_WEIGHT.get(cls, 1))]
            cls = self.draw(st.sampled_from(weighted))
            event = self.makers[cls]()
            if cls is not Ping and self.knobs.residues and self.draw(st.integers(0, 7)) == 0:
                event.residue = self.residue()
            out.append(event)
            state = TABLE[state][cls]
        return out

    def may(self, cls: type[Event], inside: str, *, ending: bool) -> bool:
        if cls is Handover and inside == "tool_call" and not self.knobs.broken_calls:
            return False
        if cls is Failure:
            return self.knobs.failures and (ending or not self.draw(st.integers(0, 30)))
        if cls is Finish:
            return ending
        if self.waiting and cls in (Close, Handover):
            return False
        if ending:
            return cls is Close or (cls is Append and bool(self.waiting))
        return cls in self.knobs.notes or cls in (Append, Close) or (cls is Open and bool(self.knobs.kinds))

    def residue(self) -> Residue:
        names = self.draw(st.lists(st.sampled_from(self.knobs.residues), min_size=1, unique=True))
        return {name: self.draw(json_objects(self.knobs.words)) for name in names}

    def model(self) -> Model:
        if self.draw(st.booleans()):
            return Model("claude-sonnet-5", "high", "Anthropic", "Anthropic")
        return Model(*(self.draw(self.maybe) for _ in range(4)))

    def start(self) -> Start:
        created = self.draw(st.sampled_from((None, 1694502400, 1694502400.5, 2**70)))
        return Start(self.model(), self.draw(self.maybe), created)

    def open(self) -> Open:
        kind = self.draw(st.sampled_from(self.knobs.kinds))
        self.kind, self.states, self.waiting = kind, self.draw(st.integers(0, self.knobs.states)), []
        if kind == "tool_call":
            self.waiting = self.draw(st.one_of(st.just([]), object_texts().flatmap(pieces)))
        odd = self.draw(st.integers(0, 3)) == 0
        if "tool" in kind:
            ids = self.maybe if odd else st.sampled_from(("call_1", "toolu_01H"))
            return Open(kind, self.draw(ids), self.draw(self.maybe if odd else st.just("get_weather")))
        if GROWS[kind] is bytes:
            return Open(kind, mime_type=self.draw(self.maybe) if odd else "image/png")
        return Open(kind, id=self.draw(self.maybe)) if odd else Open(kind)

    def append(self) -> Append:
        return Append(self.data(), self.state())

    def data(self) -> Data:
        grows = GROWS[self.kind]
        if self.kind == "tool_call":
            return self.waiting.pop(0) if self.waiting else self.draw(st.sampled_from(("", " ")))
        if grows is bytes:
            return self.draw(st.binary(max_size=5))
        if grows is list:
            return self.draw(st.lists(st.sampled_from(NUMBERS), max_size=3))
        text = self.draw(self.text)
        if self.knobs.huge and self.draw(st.integers(0, 3)) == 0:
            return (text or "x") * (self.knobs.huge // (len(text) or 1))
        return text

    def state(self) -> State | None:
        if not self.states or self.draw(st.integers(0, 2)):
            return None
        self.states -= 1
        namespace = self.draw(st.sampled_from(self.knobs.namespaces))
        return State(namespace, self.draw(json_objects(self.knobs.words, min_size=1)))

    def annotate(self) -> Annotate:
        return Annotate(self.draw(self.maybe), self.draw(self.values))

    def usage(self) -> TokenCounts:
        count = st.one_of(st.none(), st.integers(0, 3000), st.sampled_from((0, 2**63, 10**30)))
        total, said, cached, reasoned = (self.draw(count) for _ in range(4))
        other = self.draw(st.one_of(st.just({}), json_objects(self.knobs.words)))
        return TokenCounts(total, said, cached, reasoned, self.draw(self.maybe), other)

    def finish(self) -> Finish:
        raw = self.draw(st.one_of(st.none(), st.sampled_from(("stop", "toolCall", "MAX_TOKENS", "")), self.text))
        return Finish(self.usage(), Reason(self.draw(st.sampled_from(REASONS)), raw))

    def failure(self) -> Failure:
        code = self.draw(st.sampled_from((None, 502, 400, 429, 599, 200, 0, 2**70)))
        kind = self.draw(st.one_of(self.maybe, st.just("UnsupportedParameterError")))
        details = self.draw(st.one_of(st.just({}), st.just({"status": 503}), json_objects(self.knobs.words)))
        return Failure(code, self.draw(self.text), kind, details)

    def foreign(self) -> Foreign:
        codec = self.draw(st.sampled_from(sorted(self.knobs.foreign)))
        return Foreign(codec, self.draw(self.knobs.foreign[codec]))
