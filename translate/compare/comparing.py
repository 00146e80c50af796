"""Two streams compared by meaning, whatever their formats.

1. ``"message"``: what the assembled message has. The parts in order, by their kind, data, call, state and annotations,
   and whether they came to their end; annotations of the message itself; the counts; the reason or the failure.
2. ``"events"``: what else was said. Who answered, handovers, ids, units without a meaning here.
3. ``"incidental"``: what changes no meaning. Where text was cut into fragments and notes stood in it, how arguments
   were spelled, time stamps and other residues, counts on the way, keep-alives, a ``Start`` that was made up, and
   whose a state is where one side does not know.

Values are compared as JSON values: 1 is not 1.0, NaN is NaN, text is compared by code unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import groupby
from operator import eq
from typing import Any, TypeAlias, TypeVar

from .. import jsontext
from ..algebra.events import (
    FIELDS,
    GROWS,
    NAMES,
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
    Open,
    Ping,
    Start,
    State,
    TokenCounts,
    Usage,
)
from ..algebra.grammar import Grammar
from ..algebra.parts import Growth, size
from ..errors import TranslateError
from .difference import LEVELS, MISSING, Difference, Level, differing, shown

__all__ = ["LEVELS", "Difference", "Level", "compare"]

T = TypeVar("T")
_MANY = 1_000_000
_WORDS = {str: "text", bytes: "bytes", list: "vector"}


def compare(a: Iterable[Event], b: Iterable[Event]) -> list[Difference]:
    """What differs between two streams of events, the assembled messages first; nothing for equal streams.

    Each ``level`` has its differences in the order of the streams. Both streams are read to their ends, one after the
    other, and their content is kept meanwhile. Raises :class:`GrammarError` for events that break the grammar, and
    what the iterables raise.
    """
    found = [*_streams(_Stream(a), _Stream(b))]
    return sorted(found, key=lambda difference: LEVELS.index(difference.level))


# ---- reading ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Part:
    """A part as a whole. ``cuts``: the sizes of its fragments."""

    index: int
    head: Open
    data: Data
    end: str = "open"
    states: list[State] = field(default_factory=list)
    notes: list[Annotate] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)
    size: int = 0
    residues: list[JsonObject] = field(default_factory=list)

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal where two parts are the same at first sight."""
        data = tuple(map(repr, self.data)) if isinstance(self.data, list) else self.data
        return self.head.kind, self.head.id, self.head.name, data


_Item: TypeAlias = _Part | Start | Handover


class _Stream:
    """A stream as a whole. ``usage``: the counts that stand at its end; ``notes``: annotations of the message itself;
    ``places``: of notes among the rest.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self.items: list[_Item] = []
        self.usage = TokenCounts()
        self.end: Finish | Failure | None = None
        self.notes: list[Annotate] = []
        self.foreign: list[Foreign] = []
        self.counted: list[JsonObject] = []
        self.places: list[JsonObject] = []
        self.residues: list[JsonObject] = []
        self.made_up = self.pings = self._parts = 0
        self._part: _Part | None = None
        self._grown = Growth()
        grammar = Grammar()
        for event in events:
            grammar.check((event,))
            self._add(event)
        self._end_part("cut")

    def _add(self, event: Event) -> None:
        own = {name: value for name, value in (event.residue or {}).items() if not value.get("synthetic")}
        if type(event) is Start and event.residue and len(own) < len(event.residue):
            self.made_up += 1
            return
        if type(event) is Open:
            self._parts += 1
            self._part, self._grown = _Part(self._parts, event, GROWS[event.kind]()), Growth()
            self.items.append(self._part)
        if own:
            (self.residues if self._part is None else self._part.residues).append(own)
        match event:
            case Append():
                assert self._part is not None
                self._grown.add(event.data)
                self._part.cuts.append(size(event.data))
                self._part.size += self._part.cuts[-1]
                self._part.states += [event.state] if event.state else []
            case Annotate():
                (self.notes if self._part is None else self._part.notes).append(event)
                self._place(event)
            case Close():
                self._end_part("cut off" if event.cut else "complete")
            case Start():
                self.items.append(event)
            case Handover():
                self._end_part("broken off")
                self.items.append(event)
            case Usage():
                self.usage = event.usage
                self.counted.append(_counts(event.usage))
            case Finish():
                self.end, self.usage = event, event.usage
            case Failure():
                self._end_part("failed")
                self.end = event
            case Foreign():
                self.foreign.append(event)
                self._place(event)
            case Ping():
                self.pings += 1
            case _:
                pass

    def _place(self, event: Event) -> None:
        at = self._part.size if self._part is not None else 0
        self.places.append({"event": NAMES[type(event)], "after": len(self.items), "at": at})

    def _end_part(self, end: str) -> None:
        if self._part is not None:
            self._part.data = self._grown.join() if self._part.cuts else self._part.data
            if isinstance(self._part.data, str):
                self._part.data = jsontext.whole(self._part.data)
            self._part.end, self._part = end, None


# ---- comparing ----------------------------------------------------------------------------------


def _streams(a: _Stream, b: _Stream) -> Iterator[Difference]:
    for mine, theirs in _aligned(a.items, b.items, (_whole, _header, _kind, type)):
        yield from _items(mine, theirs)
    yield from _notes("message", a.notes, b.notes)
    yield from _ends(a, b)
    for unit, other in _aligned(a.foreign, b.foreign, (_spelled, _codec)):
        pair = [None if event is None else event.unit for event in (unit, other)]
        yield from differing("events", f"a unit of {(unit or other or Foreign('', {})).codec}", "", *pair)
    rest: Sequence[tuple[str, Any, Any]] = (
        ("counts on the way", a.counted, b.counted),
        ("places of notes", a.places, b.places),
        ("starts that a translation made up", a.made_up, b.made_up),
        ("keep-alives", a.pings, b.pings),
        ("what only one format says (residues)", a.residues, b.residues),
    )
    for what, own, others in rest:
        yield from differing("incidental", "stream", what, own, others)


def _items(a: _Item | None, b: _Item | None) -> Iterator[Difference]:
    if isinstance(a, _Part) and isinstance(b, _Part):
        yield from _parts(a, b)
    elif isinstance(a, Start) and isinstance(b, Start):
        yield from _members("events", "start", a, b, "model", "id")
        yield from _members("incidental", "start", a, b, "created")
    elif isinstance(a, Handover) and isinstance(b, Handover):
        yield from _members("events", "handover", a, b, "model")
    else:
        if a is not None:
            where, level, said = _alone(a)
            yield Difference(level, where, "", said, None)
        if b is not None:
            where, level, said = _alone(b)
            yield Difference(level, where, "", None, said)


def _alone(item: _Item) -> tuple[str, Level, str]:
    """What only one side has: where, how much it matters, and what it says."""
    if isinstance(item, _Part):
        return f"part {item.index} ({item.head.kind})", "message", shown(item.data)
    model = {name: value for name, value in _fields(item.model).items() if value is not None}
    says = model or isinstance(item, Handover) or item.id is not None
    return NAMES[type(item)], "events" if says else "incidental", shown(model)


def _parts(a: _Part, b: _Part) -> Iterator[Difference]:
    about: list[str] = [a.head.kind] if a.head.kind == b.head.kind else []
    about += [f"there part {b.index}"] if a.index != b.index else []
    where = f"part {a.index} ({'; '.join(about)})" if about else f"part {a.index}"
    tool = "tool" in a.head.kind or "tool" in b.head.kind
    yield from _members("message", where, a.head, b.head, "kind", "name", "mime_type")
    yield from _members("message" if tool else "events", where, a.head, b.head, "id")
    yield from _data(where, a, b)
    yield from _states(where, a.states, b.states)
    yield from _notes(where, a.notes, b.notes)
    yield from differing("message", where, "end", a.end, b.end)
    if len(a.cuts) != len(b.cuts):
        yield Difference("incidental", where, "fragments", str(len(a.cuts)), str(len(b.cuts)))
    elif a.size == b.size:
        yield from differing("incidental", where, "sizes of fragments", a.cuts, b.cuts)
    yield from differing("incidental", where, "residues", a.residues, b.residues)


def _notes(where: str, a: list[Annotate], b: list[Annotate]) -> Iterator[Difference]:
    said = [[{"namespace": note.namespace, "data": note.data} for note in notes] for notes in (a, b)]
    yield from differing("message", where, "annotations", *said)


def _data(where: str, a: _Part, b: _Part) -> Iterator[Difference]:
    if type(a.data) is not type(b.data):
        yield Difference("message", where, "data", shown(a.data), shown(b.data))
        return
    if a.head.kind == b.head.kind == "tool_call":
        mine, theirs = _parsed(a), _parsed(b)
        if mine is MISSING or theirs is MISSING:
            yield from differing("message", where, "arguments", a.data, b.data)
        elif jsontext.same(mine, theirs):
            yield from differing("incidental", where, "spelling of arguments", a.data, b.data)
        else:
            yield from differing("message", where, "arguments", mine, theirs)
    else:
        yield from differing("message", where, _WORDS[type(a.data)], a.data, b.data)


def _parsed(call: _Part) -> Any:
    """A call's arguments as a value, blank ones as ``{}`` unless they were cut off; missing where they are none."""
    arguments = call.data
    if not isinstance(arguments, str) or not arguments.strip():
        return MISSING if call.end == "cut off" else {}
    try:
        jsontext.check_nesting(arguments.encode("utf-8", "surrogatepass"), jsontext.NESTING)
        return jsontext.loads_text(arguments)
    except TranslateError:
        return MISSING


def _states(where: str, a: list[State], b: list[State]) -> Iterator[Difference]:
    mine, theirs = _distinct(a), _distinct(b)
    if len(mine) != len(theirs):
        whole, other = _joined(mine), _joined(theirs)
        if whole is None or other is None or not jsontext.same(whole.values, other.values):
            said = [[state.values for state in states] or None for states in (mine, theirs)]
            yield from differing("message", where, "state", *said)
            return
        yield Difference("incidental", where, "pieces of state", str(len(mine)), str(len(theirs)))
        mine, theirs = [whole], [other]
    for own, another in zip(mine, theirs, strict=True):
        yield from differing("message", where, "state", own.values, another.values)
        known = own.namespace is not None and another.namespace is not None
        level: Level = "message" if known else "incidental"
        yield from differing(level, where, "issuer of its state", own.namespace, another.namespace)


def _distinct(states: list[State]) -> list[State]:
    """The states that say something. The same once more is transport."""
    out: list[State] = []
    for state in states:
        again = out and state.namespace == out[-1].namespace and jsontext.same(state.values, out[-1].values)
        if state.values and not again:
            out.append(state)
    return out


def _joined(states: list[State]) -> State | None:
    """States as one, where none of their members is in another."""
    values: JsonObject = {}
    for state in states:
        if values.keys() & state.values.keys():
            return None
        values |= state.values
    issuers = {state.namespace for state in states}
    return State(issuers.pop() if len(issuers) == 1 else None, values) if states else None


def _ends(a: _Stream, b: _Stream) -> Iterator[Difference]:
    yield from differing("message", "usage", "", _counts(a.usage), _counts(b.usage))
    if isinstance(a.end, Finish) and isinstance(b.end, Finish):
        mine, theirs = a.end.reason, b.end.reason
        yield from differing("message", "finish", "reason", mine.word, theirs.word)
        level: Level = "message" if mine.word == theirs.word == "unknown" else "events"
        yield from differing(level, "finish", "the provider's word", mine.raw, theirs.raw)
    elif isinstance(a.end, Failure) and isinstance(b.end, Failure):
        yield from _members("message", "failure", a.end, b.end, "code", "message", "kind", "details")
    elif a.end is not b.end:
        yield Difference("message", "end", "", _end(a.end), _end(b.end))


def _end(event: Finish | Failure | None) -> str | None:
    if isinstance(event, Finish):
        return f"finish {event.reason.word}"
    return f"failure {event.code}, {shown(event.message)}" if event is not None else None


# ---- members and pairs ---------------------------------------------------------------------------


def _fields(value: Any) -> JsonObject:
    return {name: getattr(value, name) for name in FIELDS[type(value)]}


def _counts(usage: TokenCounts) -> JsonObject:
    return {name: value for name, value in _fields(usage).items() if value is not None and value != {}}


def _members(level: Level, where: str, a: Event, b: Event, *names: str) -> Iterator[Difference]:
    for name in names:
        mine, theirs = getattr(a, name), getattr(b, name)
        if type(mine) in FIELDS:
            for inner in FIELDS[type(mine)]:
                yield from differing(level, where, f"{name}.{inner}", getattr(mine, inner), getattr(theirs, inner))
        else:
            yield from differing(level, where, name, mine, theirs)


def _whole(item: _Item) -> Any:
    return item.key if isinstance(item, _Part) else repr(item)


def _header(item: _Item) -> Any:
    return (item.head.kind, item.head.name, item.head.id) if isinstance(item, _Part) else type(item)


def _kind(item: _Item) -> Any:
    return item.head.kind if isinstance(item, _Part) else type(item)


def _spelled(unit: Foreign) -> Any:
    return unit.codec, jsontext.dumps(unit.unit)


def _codec(unit: Foreign) -> Any:
    return unit.codec


def _aligned(a: Sequence[T], b: Sequence[T], keys: Sequence[Callable[[T], Any]]) -> Iterator[tuple[T | None, T | None]]:
    """Both in pairs, each item with the one that is most like it: by the first key, what is left by the next one."""
    if not (a and b and keys):
        yield from ((item, None) for item in a)
        yield from ((None, item) for item in b)
        return
    first, *rest = keys
    mine, theirs = [first(item) for item in a], [first(item) for item in b]
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    # equal keys are each compared with all: so many are paired as they stand
    many = len(a) * len(b) > _MANY and len({*mine, *theirs}) < len(a)
    for how, i, j, k, m in _in_step(mine, theirs) if many else matcher.get_opcodes():
        if how == "equal":
            yield from zip(a[i:j], b[k:m], strict=True)
        else:
            yield from _aligned(a[i:j], b[k:m], rest)


def _in_step(a: list[Any], b: list[Any]) -> Iterator[tuple[str, int, int, int, int]]:
    """As a matcher's opcodes, in time linear in the items: the same place is the same item."""
    start = 0
    for same, run in groupby(map(eq, a, b)):
        end = start + len([*run])
        yield "equal" if same else "replace", start, end, start, end
        start = end
    yield "replace", start, len(a), start, len(b)
