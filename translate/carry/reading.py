"""Reads carries: applies what stands beside a unit to what the unit says, by the rules of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..algebra.events import (
    EVENTS,
    NAMES,
    Append,
    Close,
    Data,
    Event,
    Failure,
    Finish,
    Handover,
    JsonObject,
    Open,
    Residue,
    Start,
    State,
    bare,
    with_residue,
)
from ..algebra.json_form import from_members, members, read_state, take_data
from ..algebra.parts import Pieces, join
from ..errors import CarryError, DecodeError, shown
from .making import RESERVED, VERSION

if TYPE_CHECKING:
    from ..codec import Codec


class _Cursor:
    """Takes the events said, in order; only what holds nothing may be left untaken."""

    def __init__(self, said: Sequence[Event], codec: Codec) -> None:
        self.said = said
        self.codec = codec
        self.at = 0
        self.used = 0
        self.stated = False
        self.left: list[Event] = []
        self._pieces: Pieces | None = None

    def append(self, length: int | None) -> Append:
        """The ``Append`` that a piece of ``length`` is of; ``None``: of what is left of one."""
        while self.at < len(self.said):
            event = self.said[self.at]
            if type(event) is Append and not (length != 0 and self.used and self.used == self.whole.size):
                return event
            self._leave()
        raise CarryError("the carry takes more from the unit than it says")

    def take(self, length: int | None) -> Data:
        """The next ``length`` units of data; ``None`` for the rest of the current ``Append``."""
        whole = self._pieces
        if whole is None or not length or not 0 < length <= whole.size - self.used:
            self.append(length)
        whole, used = self.whole, self.used
        length = whole.size - used if length is None else length
        if length < 0 or used + length > whole.size:
            raise CarryError("the lengths in the carry are not those of the native content")
        self.used = used + length
        return whole.cut(used, length)

    @property
    def whole(self) -> Pieces:
        """The data of the current ``Append``."""
        if self._pieces is None:
            event = self.said[self.at]
            self._pieces = Pieces(event.data if type(event) is Append else "")
        return self._pieces

    def next(self, name: str) -> Event:
        """The next event of that name."""
        while self.at < len(self.said):
            event = self.said[self.at]
            if NAMES[type(event)] == name:
                self._move()
                return event
            self._leave()
        raise CarryError(f"the carry speaks of an event {shown(name)} that the unit does not say")

    def finish(self, *, handed_over: bool) -> None:
        """All is taken. A ``Close`` may be left where a ``Handover`` stands for it."""
        while self.at < len(self.said):
            self._leave()
        if not all(type(event) is Close and handed_over for event in self.left):
            raise CarryError("the carry leaves out what the unit says")

    def _leave(self) -> None:
        event = self.said[self.at]
        if type(event) is not Append:
            self.left.append(event)
        elif (self.used != self.whole.size and not self._is_blank(event)) or (event.state and not self.stated):
            raise CarryError("the carry leaves out a part of the native content")
        self._move()

    def _is_blank(self, event: Append) -> bool:
        """Whether these are the codec's words for no content at all, of which no fragment may be meant."""
        return not self.used and self.codec.agrees(Append(event.data), Append(type(event.data)()))

    def _move(self) -> None:
        self.at, self.used, self.stated, self._pieces = self.at + 1, 0, False, None


class CarryReader:
    """Applies the carries of one stream, in order: :meth:`read` for each unit that has one."""

    __slots__ = ("_codec", "_foreign_version", "_open", "used")

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._foreign_version = False
        self._open: Open | None = None
        self.used = False

    @property
    def trusted(self) -> bool:
        """Whether carries are read: not so after one of another version."""
        return not self._foreign_version

    def ahead(self, said: list[Event], carry: JsonObject) -> list[Event]:
        """The events that rode ahead of the unit: to be read, and told to the decoder, before the unit is decoded."""
        self._begin(carry)
        out: list[Event] = []
        for held in _list(carry.get("before", []), "before"):
            if not isinstance(held, dict):
                raise CarryError("an entry of 'before' is no object")
            out += self._events([], held)
        return out

    def read(self, said: list[Event], carry: JsonObject) -> list[Event]:
        """The events meant by a unit that says ``said``. Raises :class:`CarryError`; then ``said`` stands."""
        self._begin(carry)
        events = self._events(said, carry)
        if "events" not in carry:
            self.native(events)
        return events

    def _begin(self, carry: JsonObject) -> None:
        version = carry.get("v", VERSION)
        if version != VERSION or isinstance(version, bool):
            self._foreign_version = True
            raise CarryError(f"the carry is of version {shown(version)}", expected=f"version {VERSION}")
        if self._foreign_version:
            raise CarryError("the carries of this stream are of another version", expected=f"version {VERSION}")
        self.used = True

    def _events(self, said: list[Event], carry: JsonObject) -> list[Event]:
        own = self._codec.name
        if "events" in carry:
            try:
                events = self._script(said, carry["events"])
            except DecodeError as error:
                raise CarryError(f"the carry holds a malformed event: {error.what}", expected=error.expected) from None
        else:
            events = [with_residue(event, event.residue) for event in said]
        native = said[0].residue if said else None
        if native and events:
            events[0].residue = {**native, **(events[0].residue or {})}
        for name, column in carry.items():
            if name not in RESERVED:
                for event, residue in _column(name, column, events):
                    event.residue = {**event.residue, name: residue} if event.residue else {name: residue}
        if "synthetic" in carry:
            if carry["synthetic"] is not True or not events or not said:
                raise CarryError("a mark 'synthetic' that marks nothing")
            marked: Residue = dict(events[0].residue or {})
            marked[own] = {**marked.get(own, {}), "synthetic": True}
            events[0].residue = marked
        return events

    def _script(self, said: list[Event], entries: Any) -> list[Event]:
        cursor = _Cursor(said, self._codec)
        out: list[Event] = []
        for entry in _list(entries, "events"):
            if type(entry) is int:
                out.append(Append(cursor.take(entry)))
            elif entry == "append":
                state = cursor.append(None).state
                cursor.stated = True
                out.append(Append(cursor.take(None), state))
            elif isinstance(entry, str):
                out.append(bare(cursor.next(entry)))
                self.native(out[-1:])
            elif isinstance(entry, dict) and entry.get("as") == "append":
                out.append(self._append(cursor, entry))
            elif isinstance(entry, dict) and "as" in entry:
                out.append(self._as(cursor.next(str(entry["as"])), entry))
            elif isinstance(entry, dict):
                out.append(self._unsaid(entry))
            else:
                raise CarryError("an entry of the carry's events is none of number, name and object")
        cursor.finish(handed_over=any(type(event) is Handover for event in out))
        if any(isinstance(entry, dict) and _spelled_out(entry) for entry in entries):
            native = join([event.data for event in said if type(event) is Append])
            grown = join([event.data for event in out if type(event) is Append])
            if not self._codec.agrees(Append(native), Append(grown)):
                raise CarryError("the carry holds other content than the unit")
        return out

    def _append(self, cursor: _Cursor, entry: JsonObject) -> Append:
        length = entry.get("length")
        if "length" in entry and type(length) is not int:
            raise CarryError("a length in the carry is no integer")
        said = cursor.append(0 if _spelled_out(entry) else length)
        if _spelled_out(entry):
            data = take_data({k: v for k, v in entry.items() if k in _DATA})
            cursor.used = cursor.whole.size
        else:
            data = cursor.take(length)
        state = said.state
        if "state" in entry:
            state = read_state(entry["state"])
        elif "namespace" in entry:
            if state is None or not isinstance(entry["namespace"], (str, type(None))):
                raise CarryError("the carry names the issuer of a state that the unit does not hold")
            state = State(entry["namespace"], state.values)
        if said.state is not None and state is not None:
            if not self._codec.agrees(said, replace(said, state=state)):
                raise CarryError("the state in the carry is not that of the native content")
            cursor.stated = True
        return Append(data, state)

    def _as(self, said: Event, entry: JsonObject) -> Event:
        if "residue" in entry:
            raise CarryError("an entry of the carry's events has a residue, which stands beside them")
        changed = {k: v for k, v in entry.items() if k != "as"}
        if isinstance(changed.get("usage"), dict):
            changed["usage"] = {**members(said).get("usage", {}), **changed["usage"]}
        meant = from_members(NAMES[type(said)], {**members(said), **changed})
        if not self._codec.agrees(said, meant):
            raise CarryError(f"the carry's {NAMES[type(said)]!r} is not what the unit says")
        self.native([meant])
        return meant

    def _unsaid(self, entry: JsonObject) -> Event:
        name = entry.get("event")
        if not isinstance(name, str) or name not in EVENTS or "residue" in entry:
            raise CarryError("an entry of the carry's events names no event")
        event = from_members(name, {k: v for k, v in entry.items() if k != "event"})
        if not self._may_add(event):
            raise CarryError(f"a carry may not add an event {name!r} here")
        if type(event) is Open:
            self._open = event
        elif type(event) in (Close, Handover):
            self._open = None
        return event

    def _may_add(self, event: Event) -> bool:
        rule = _MAY_ADD.get(type(event))
        return rule is None or rule(self, event)

    def native(self, events: Sequence[Event]) -> None:
        """To be told of what a unit without a carry says: a handover ends what a carry opened."""
        if self._open is not None and any(type(event) is Handover for event in events):
            self._open = None


def _add_start(reader: CarryReader, event: Event) -> bool:
    return not reader._codec.sayable(event)


def _add_append(reader: CarryReader, event: Event) -> bool:
    if type(event) is Append and not event.data:
        return True
    part = reader._open
    # a call that is cut off before it was said is carried, and is no part of the message
    return part is not None and (part.kind == "tool_call" or not reader._codec.sayable(part))


def _add_close(reader: CarryReader, event: Event) -> bool:
    return reader._open is not None and not reader._codec.sayable(reader._open)


def _never(reader: CarryReader, event: Event) -> bool:
    return False


_MAY_ADD: dict[type[Event], Callable[[CarryReader, Event], bool]] = {
    Start: _add_start,
    Handover: _add_start,
    Append: _add_append,
    Close: _add_close,
    Finish: _never,
    Failure: _never,
}
"""What a carry may add only under a condition; notes, annotations and openings go wherever the grammar allows."""


_DATA = ("text", "bytes", "vector")


def _spelled_out(entry: JsonObject) -> bool:
    return entry.get("as") == "append" and any(key in entry for key in _DATA)


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise CarryError(f"the carry's {name!r} is no list")
    return value


def _column(name: str, column: Any, events: list[Event]) -> list[tuple[Event, JsonObject]]:
    if isinstance(column, dict):
        column = [column]
    if not isinstance(column, list) or len(column) > len(events):
        raise CarryError(f"the carry's {shown(name)} belongs to no event of the unit")
    out = []
    for event, residue in zip(events, column, strict=False):
        if residue is not None:
            if not isinstance(residue, dict):
                raise CarryError(f"the carry's {shown(name)} is no object")
            out.append((event, residue))
    return out
