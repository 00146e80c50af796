"""What a carry may change, and what it may add: the two tables that the reader of carries goes by.

1. An event that a unit says may change only in members that the unit cannot say: native content is neither erased,
   nor replaced, nor completed. :data:`CHANGES` has the rule of each member of each event.
2. An event that a unit does not say may be added only where that makes no content that the format would have said
   itself. :data:`ADDITIONS` has the rule of each event.
3. What is the same in the words of a format, and what a format says at all, is known to its codec alone: ``agrees``,
   ``sayable``, ``says`` and ``leaves_out`` are asked.

``docs/carry.md`` shows both tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from .. import jsontext
from ..algebra.events import (
    NAMES,
    Append,
    Close,
    Event,
    Finish,
    Handover,
    JsonObject,
    Open,
    Start,
    State,
    TokenCounts,
    Usage,
)
from ..algebra.grammar import Grammar
from ..algebra.json_form import members
from ..algebra.states import is_hint
from ..algebra.usage import latest
from ..errors import CarryError

if TYPE_CHECKING:
    from ..codec import Codec

Rule: TypeAlias = Literal["never", "added", "words", "call"]

RULES: Final[dict[Rule, str]] = {
    "never": "never: it is always native",
    "added": "where the unit says nothing of it; neither replaced nor taken away",
    "words": "to what the format says in the same words",
    "call": "in a call alone, to arguments that the format says in the same words",
}
CHANGES: Final[dict[str, dict[str, Rule]]] = {
    "start": {"model": "words", "id": "words", "created": "words"},
    "open": {"kind": "words", "id": "words", "name": "added", "mime_type": "words"},
    "append": {"text": "call", "bytes": "never", "vector": "never", "state": "added", "namespace": "words"},
    "annotate": {"namespace": "words", "data": "never"},
    "close": {"cut": "added"},
    "handover": {"model": "words"},
    "usage": {
        "usage.input_tokens": "words",
        "usage.output_tokens": "words",
        "usage.cached_tokens": "words",
        "usage.reasoning_tokens": "words",
        "usage.provider": "added",
        "usage.other": "added",
    },
    "finish": {
        "usage.input_tokens": "words",
        "usage.output_tokens": "words",
        "usage.cached_tokens": "words",
        "usage.reasoning_tokens": "words",
        "usage.provider": "added",
        "usage.other": "added",
        "reason": "words",
        "raw": "words",
    },
    "failure": {"code": "words", "message": "never", "kind": "words", "details": "words"},
    "ping": {},
    "foreign": {"codec": "never", "unit": "never"},
}
"""Event → member → what a carry may change on it where a unit says the event."""


def leaves_out(codec: Codec) -> frozenset[str]:
    """Names of the events that the format of ``codec`` never says, or says only once (``start``)."""
    found: frozenset[str] = getattr(codec, "leaves_out", frozenset())
    return found


@dataclass(slots=True)
class Place:
    """Where a stream stands as a carry is read.

    ``part``: what opened the open part. ``added``: whether that was a carry. ``stated``: whether a state came in it.
    ``started``: whether there was a ``Start``. ``usage``: what the counts so far add up to.
    """

    part: Open | None = None
    added: bool = False
    stated: bool = False
    started: bool = False
    usage: TokenCounts | None = None

    @classmethod
    def of(cls, grammar: Grammar, opened: Open | None) -> Place:
        """That of a stream; ``opened``: the last part that a carry opened."""
        part = grammar.part
        return cls(part, part is not None and part is opened, grammar.stated, grammar.started, grammar.usage)

    def follow(self, event: Event, *, added: bool = False) -> None:
        """Go on by one event; ``added``: a carry added it."""
        if type(event) is Append:
            self.stated = self.stated or bool(event.state and event.state.values)
        elif type(event) is Open:
            self.part, self.added, self.stated = event, added, False
        elif type(event) in (Close, Handover):
            self.part = None
        elif type(event) is Start:
            self.started = True
        elif type(event) is Usage:
            self.usage = latest(event.usage, self.usage)


# ---- what a unit says ----------------------------------------------------------------------------------


def check_change(codec: Codec, said: Event, meant: Event, usage: TokenCounts | None = None) -> None:
    """Raises :class:`CarryError` where a carry may not make ``meant`` of ``said``, which are of one type.

    ``usage``: what the counts so far add up to; those that a ``Finish`` leaves unknown are said natively.
    """
    name = NAMES[type(said)]
    if type(meant) is Finish:
        meant = Finish(latest(meant.usage, usage), meant.reason)
    rules, old, new = CHANGES[name], _leaves(said), _leaves(meant)
    for member in {**old, **new}:
        a, b = old.get(member), new.get(member)
        rule = rules.get(member, "never")
        if rule != "words" and not jsontext.same(a, b) and (rule != "added" or not _extends(a, b)):
            raise CarryError(f"the carry changes {member!r} of {name!r}, which the unit says", expected=RULES[rule])
    sayable = type(meant) is not Open or meant == said or codec.sayable(meant)
    if not (sayable and codec.agrees(said, meant)):
        raise CarryError(f"the carry's {name!r} is not what the unit says")


def check_data(codec: Codec, part: Open | None, said: Append, meant: Append) -> None:
    """As :func:`check_change`, of the data of a fragment of ``part``, without its state."""
    same = type(said.data) is type(meant.data) and jsontext.same(said.data, meant.data)
    in_call = part is not None and part.kind == "tool_call" and isinstance(meant.data, str)
    if not same and not (in_call and codec.agrees(said, meant)):
        raise CarryError("the carry holds other content than the unit", expected=RULES["call"])


def check_state(codec: Codec, place: Place, state: State | None) -> None:
    """As :func:`check_change`, of a state on a fragment that says none.

    Where a format has words for any state it has said the first of a part, unless that is empty.
    """
    if state is None or not state.values or is_hint(state):
        return
    if "state" in codec.says and not place.stated:
        raise CarryError("the carry holds a state that the unit does not say, and could", expected="the unit's own")


def _leaves(event: Event) -> JsonObject:
    """The members of an event, counts one by one."""
    out = members(event)
    counts = out.pop("usage", {})
    return {**out, **{f"usage.{key}": value for key, value in counts.items()}}


def _extends(said: Any, meant: Any) -> bool:
    """Whether ``meant`` adds to ``said``, and changes nothing of it."""
    if isinstance(said, dict) and isinstance(meant, dict):
        return all(key in meant and jsontext.same(value, meant[key]) for key, value in said.items())
    return said is None


# ---- what a unit does not say --------------------------------------------------------------------------


def _anywhere(codec: Codec, event: Event, place: Place) -> bool:
    return True


def _without_words(codec: Codec, event: Event, place: Place) -> bool:
    return not codec.sayable(event)


def _start(codec: Codec, event: Event, place: Place) -> bool:
    return not codec.sayable(event) or (place.started and "start" in leaves_out(codec))


def _append(codec: Codec, event: Event, place: Place) -> bool:
    assert type(event) is Append
    part = place.part
    if not event.data or part is None or not place.added:
        return not event.data
    # a call that is cut off before it was said is carried, and is no part of the message
    return part.kind == "tool_call" or not codec.sayable(part)


def _close(codec: Codec, event: Event, place: Place) -> bool:
    if "close" in leaves_out(codec):
        return place.part is not None
    part = place.part
    if part is None or not place.added:
        return False
    # a call that was cut off is none of the message: it is never said as one that is whole
    return not codec.sayable(part) or (part.kind == "tool_call" and type(event) is Close and event.cut)


def _never(codec: Codec, event: Event, place: Place) -> bool:
    return False


_WHERE: Final[dict[Callable[[Codec, Event, Place], bool], str]] = {
    _anywhere: "wherever the grammar allows",
    _without_words: "where the format has no words for it",
    _start: "where the format has no words for it: for any, or for another than the first",
    _append: "with data in a part that a carry opened, if that is a call or of a kind without words; "
    "without data wherever the grammar allows",
    _close: "of a part that a carry opened, if the format has no words for it or it is a call that was cut off; "
    "of any, where the format never says it",
    _never: "never: it is always native",
}
ADDITIONS: Final[dict[str, Callable[[Codec, Event, Place], bool]]] = {
    "start": _start,
    "open": _anywhere,
    "append": _append,
    "annotate": _without_words,
    "close": _close,
    "handover": _without_words,
    "usage": _without_words,
    "finish": _never,
    "failure": _never,
    "ping": _anywhere,
    "foreign": _without_words,
}
"""Event → where a carry may add it."""


def check_addition(codec: Codec, event: Event, place: Place) -> None:
    """Raises :class:`CarryError` where a carry may not add ``event``."""
    name = NAMES[type(event)]
    where = ADDITIONS[name]
    if not where(codec, event, place):
        raise CarryError(f"a carry may not add an event {name!r} here", expected=_WHERE[where])
    if type(event) is Append and not place.added:
        check_state(codec, place, event.state)


def tables() -> str:
    """Both tables, as they stand in ``docs/carry.md``."""
    lines = ["| event said | member | a carry may change it |", "| --- | --- | --- |"]
    for name, rules in CHANGES.items():
        lines += [f"| `{name}` | `{member}` | {RULES[rule]} |" for member, rule in rules.items()]
        if not rules:
            lines.append(f"| `{name}` | | it has nothing to change |")
    lines += ["", "| event not said | a carry may add it |", "| --- | --- |"]
    lines += [f"| `{name}` | {_WHERE[where]} |" for name, where in ADDITIONS.items()]
    return "\n".join(lines) + "\n"
