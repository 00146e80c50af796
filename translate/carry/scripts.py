"""Applies the entries of one carry to what its unit says: the one cursor, and what each entry means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..algebra.events import (
    EVENTS,
    NAMES,
    WHOLE,
    Append,
    Close,
    Data,
    Event,
    Handover,
    JsonObject,
    Open,
    State,
    bare,
)
from ..algebra.json_form import from_members, members, read_state, take_data
from ..algebra.parts import Pieces, join
from ..algebra.states import is_hint
from ..errors import CarryError
from . import rules
from .making import SHOWN
from .rules import Place

if TYPE_CHECKING:
    from ..codec import Codec

_DATA = frozenset({"text", "bytes", "vector"})


class Cursor:
    """Takes the events said, in order; only what holds nothing may be left untaken.

    ``part``: what opened the part that the unit's data grows. ``stated``: whether the state of the current ``Append``
    was taken.
    """

    def __init__(self, said: Sequence[Event], codec: Codec, part: Open | None) -> None:
        self.part = part
        self.stated = False
        self._said = said
        self._codec = codec
        self._at = 0
        self._used = 0
        self._taken = False
        self._left: list[Event] = []
        self._pieces: Pieces | None = None
        self._spelled: list[Data] = []

    def append(self, length: int | None) -> Append:
        """The ``Append`` that a piece of ``length`` is of; ``None``: of what is left of one."""
        while self._at < len(self._said):
            event = self._said[self._at]
            if type(event) is Append and not self._over(length):
                return event
            self._leave()
        raise CarryError("the carry takes more from the unit than it says")

    def _over(self, length: int | None) -> bool:
        """Whether all of the current ``Append`` was taken, and a piece of ``length`` is of the next one."""
        if not self._taken or self._spelled or self._used != self._whole.size:
            return False
        if length or (length is None and self._used):
            return True
        # an empty piece at the end of one is of the next one where that is empty, too
        following = self._said[self._at + 1] if self._at + 1 < len(self._said) else None
        return type(following) is Append and (length is None or not following.data)

    def take(self, length: int | None) -> Data:
        """The next ``length`` units of data; ``None`` for the rest of the current ``Append``."""
        whole = self._pieces
        if whole is None or not length or not 0 < length <= whole.size - self._used:
            self.append(length)
        whole, used = self._whole, self._used
        length = whole.size - used if length is None else length
        if length < 0 or used + length > whole.size:
            raise CarryError("the lengths in the carry are not those of the native content")
        self._used, self._taken = used + length, True
        return whole.cut(used, length)

    def spell(self, data: Data) -> Data:
        """Data that is said in other words, in place of what is left of the current ``Append``."""
        said = self.append(0)
        if type(data) is not type(said.data):
            raise CarryError("the carry holds data of another type than the unit")
        if not self._spelled:
            self._spelled.append(self._whole.cut(0, self._used))
        self._spelled.append(data)
        self._used = self._whole.size
        return data

    def next(self, name: str) -> Event:
        """The next event of that name."""
        while self._at < len(self._said):
            event = self._said[self._at]
            if NAMES[type(event)] == name:
                self._move()
                if type(event) is Open:
                    self.part = event
                return event
            self._leave()
        raise CarryError(f"the carry speaks of an event {name[:SHOWN]!r} that the unit does not say")

    def finish(self, *, broken: bool, made_up: bool) -> None:
        """All is taken, but for the ``Close`` that a ``Handover`` stands for, and what was ``made_up`` as a whole."""
        while self._at < len(self._said):
            self._leave()
        closes = [event for event in self._left if type(event) is Close]
        others = [event for event in self._left if type(event) is not Close]
        if len(closes) > broken or not all(made_up and type(event) in WHOLE for event in others):
            raise CarryError("the carry leaves out what the unit says")
        if broken and not closes and "close" not in rules.leaves_out(self._codec):
            raise CarryError("the carry breaks off a part that goes on")

    @property
    def _whole(self) -> Pieces:
        """The data of the current ``Append``."""
        if self._pieces is None:
            event = self._said[self._at]
            self._pieces = Pieces(event.data if type(event) is Append else "")
        return self._pieces

    def _leave(self) -> None:
        event = self._said[self._at]
        if type(event) is not Append:
            self._left.append(event)
        else:
            if not self._used and event.data:
                # of the words for no arguments at all no fragment may be meant
                rules.check_data(self._codec, self.part, Append(event.data), Append(type(event.data)()))
            elif self._used != self._whole.size:
                raise CarryError("the carry leaves out a part of the native content")
            if event.state and not self.stated and not self._codec.agrees(bare(event), Append(event.data)):
                raise CarryError("the carry leaves out a state of the native content")
        self._move()

    def _move(self) -> None:
        event = self._said[self._at]
        if type(event) is Append and self._spelled:
            rules.check_data(self._codec, self.part, Append(event.data), Append(join(self._spelled)))
        self._at, self._used, self._taken, self.stated = self._at + 1, 0, False, False
        self._pieces, self._spelled = None, []


class Script:
    """What the entries of one carry make of the events said."""

    def __init__(self, said: Sequence[Event], codec: Codec, place: Place) -> None:
        """``place``: where the stream stands before the unit; it is moved along."""
        self._codec = codec
        self._place = place
        self._cursor = Cursor(said, codec, place.part)
        self._broken = self._states = False
        self.opened: Open | None = None
        """The last part that the carry opened."""

    def apply(self, entries: Sequence[Any], *, made_up: bool) -> list[Event]:
        """The events meant. ``made_up``: what the unit's codec adds was made up. Raises :class:`CarryError`."""
        out: list[Event] = []
        for entry in entries:
            if type(entry) is int:
                event: Event = Append(self._taken(entry))
            elif entry == "append":
                state = self._cursor.append(None).state
                self._cursor.stated = True
                event = Append(self._taken(None), state)
            elif isinstance(entry, str):
                event = bare(self._cursor.next(entry))
            elif not isinstance(entry, dict):
                raise CarryError("an entry of the carry's events is none of number, name and object")
            elif "as" not in entry:
                out.append(self._added(entry))
                continue
            else:
                event = self._append(entry) if entry["as"] == "append" else self._changed(entry)
            if type(event) is Close and self._states:
                raise CarryError("the carry adds a state to a part as the unit closes it, and says what its state is")
            self._place.follow(event)
            out.append(event)
        self._cursor.finish(broken=self._broken, made_up=made_up)
        return out

    def _taken(self, length: int | None) -> Data:
        data = self._cursor.take(length)
        self._check_part()
        return data

    def _check_part(self) -> None:
        """Data that the unit says may go on in a part that a carry opened, if that is of the same kind."""
        part, native = self._place.part, self._cursor.part
        if part is native or part is None or not self._place.added:
            return
        if native is None or part.kind != native.kind:
            raise CarryError(f"the carry takes native content into a part of kind {part.kind!r}")

    def _append(self, entry: JsonObject) -> Append:
        length = entry.get("length")
        if "length" in entry and type(length) is not int:
            raise CarryError("a length in the carry is no integer")
        spelled = {k: v for k, v in entry.items() if k in _DATA}
        said = self._cursor.append(0 if spelled else length)
        data = self._cursor.spell(take_data(spelled)) if spelled else self._cursor.take(length)
        self._check_part()
        state = said.state
        if "state" in entry:
            state = read_state(entry["state"])
        elif "namespace" in entry:
            if state is None or not isinstance(entry["namespace"], (str, type(None))):
                raise CarryError("the carry names the issuer of a state that the unit does not hold")
            state = State(entry["namespace"], state.values)
        if said.state is None or is_hint(said.state):
            # a state that is no content is nothing that another could contradict
            self._cursor.stated = True
            rules.check_state(self._codec, self._place, state)
        elif state is not None:
            if not self._codec.agrees(said, replace(said, state=state)):
                raise CarryError("the state in the carry is not that of the native content")
            self._cursor.stated = True
        return Append(data, state)

    def _changed(self, entry: JsonObject) -> Event:
        if "residue" in entry:
            raise CarryError("an entry of the carry's events has a residue, which stands beside them")
        said = bare(self._cursor.next(str(entry["as"])))
        old, changed = members(said), {k: v for k, v in entry.items() if k != "as"}
        if isinstance(changed.get("usage"), dict):
            changed["usage"] = {**old.get("usage", {}), **changed["usage"]}
        meant = from_members(NAMES[type(said)], {**old, **changed})
        rules.check_change(self._codec, said, meant, self._place.usage)
        return meant

    def _added(self, entry: JsonObject) -> Event:
        name = entry.get("event")
        if not isinstance(name, str) or name not in EVENTS or "residue" in entry:
            raise CarryError("an entry of the carry's events names no event")
        event = from_members(name, {k: v for k, v in entry.items() if k != "event"})
        rules.check_addition(self._codec, event, self._place)
        part, native = self._place.part, not self._place.added
        if type(event) is Open:
            self.opened = event
        elif type(event) is Append:
            self._states |= native and event.state is not None
        elif type(event) is Handover and part is not None and native:
            # half a call is none: a handover would erase the one whose end the unit says
            if part.kind == "tool_call":
                raise CarryError("the carry breaks off a call that its unit says", expected="one that waits")
            self._broken = True
        self._place.follow(event, added=True)
        return event
