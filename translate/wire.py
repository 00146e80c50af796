"""What codecs share: reading members of a unit with a clear error, growing parts, the words of finish reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .carry import join
from .errors import DecodeError
from .events import Append, Close, Data, Event, Handover, JsonObject, Open, ReasonWord, State

_FOLD = 1024
_TYPES: dict[type, str] = {
    str: "text",
    int: "an integer",
    bool: "true or false",
    dict: "an object",
    list: "a list",
    float: "a number",
}

_WORDS: dict[str, ReasonWord] = {
    "stop": "stop",
    "endturn": "stop",
    "stopsequence": "stop",
    "length": "length",
    "maxtokens": "length",
    "maxoutputtokens": "length",
    "toolcall": "tool_call",
    "toolcalls": "tool_call",
    "tooluse": "tool_call",
    "functioncall": "tool_call",
}


@dataclass(slots=True)
class Part:
    """A part of an assembled message. ``states`` in the order they came; ``begun``: it has a fragment, if empty."""

    head: Open
    data: Data
    states: list[State]
    begun: bool


def parts(events: Iterable[Event]) -> Iterator[Part | Event]:
    """The parts that events add up to, each at its end, and in between the events that are of no part.

    A part that a handover ended is one too, but for half a call.
    """
    head: Open | None = None
    grown, states, begun = Growth(), list[State](), False
    for event in events:
        if type(event) is Open:
            head, grown, states, begun = event, Growth(), [], False
        elif type(event) is Append:
            begun = True
            grown.add(event.data)
            if event.state is not None:
                states.append(event.state)
        elif type(event) in (Close, Handover) and head is not None:
            if type(event) is Close or head.kind != "tool_call":
                yield Part(head, grown.join(), states, begun or type(event) is Close)
            head = None
        else:
            yield event


def reason_word(raw: str) -> ReasonWord:
    """The mapped word for a finish reason of any spelling (camel, snake, upper case); ``unknown`` for any other."""
    return _WORDS.get(raw.replace("_", "").lower(), "unknown")


def kind_of(value: Any) -> str:
    """What a JSON value is, for a message."""
    return "null" if value is None else _TYPES.get(type(value), type(value).__name__)


def member(unit: JsonObject, key: str, kind: type, where: str) -> Any:
    """A member that must be there, of one type (``true`` is no integer). Raises :class:`DecodeError`."""
    try:
        value = unit[key]
    except KeyError:
        raise DecodeError(f"{where} lacks the member {key!r}", expected=_TYPES[kind]) from None
    if type(value) is not kind:
        raise DecodeError(f"{where} has {kind_of(value)} as its member {key!r}", expected=_TYPES[kind])
    return value


def optional(unit: JsonObject, key: str, kind: type, where: str) -> Any:
    """A member that may be absent or ``null``; then ``None``."""
    return None if unit.get(key) is None else member(unit, key, kind, where)


class Growth:
    """The data of a growing part. Small fragments are folded together from time to time, so that many cost little."""

    __slots__ = ("_folded", "_recent")

    def __init__(self) -> None:
        self._folded: list[Data] = []
        self._recent: list[Data] = []

    def add(self, piece: Data) -> None:
        """Grow by one fragment."""
        self._recent.append(piece)
        if len(self._recent) >= _FOLD:
            self._folded.append(join(self._recent))
            self._recent = []

    def join(self) -> Data:
        """All of it, of the type the fragments have; ``""`` where there were none."""
        if self._recent:
            self._folded, self._recent = [join([*self._folded, *self._recent])], []
        return join(self._folded)
