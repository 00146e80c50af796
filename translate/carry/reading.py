"""Reads carries: applies what stands beside a unit to what the unit says, by the rules of this package."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from ..algebra.events import Close, Event, Handover, JsonObject, Open, Residue, with_residue
from ..algebra.grammar import Grammar
from ..errors import CarryError, DecodeError, shown
from .making import RESERVED, VERSION
from .rules import Place, leaves_out
from .scripts import Script

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..codec import Codec


class CarryReader:
    """Applies the carries of one stream, in order: :meth:`read` for each unit that has one.

    Nothing that is refused, here or by the grammar, leaves a trace: where the stream stands is the grammar's to say.
    """

    __slots__ = ("_ahead", "_codec", "_end", "_foreign_version", "_grammar", "_opened", "_place", "used")

    def __init__(self, codec: Codec, grammar: Grammar | None = None) -> None:
        """``grammar``: that of the stream, told of the events of each unit after this. Without one, the reader goes
        by what it reads, and by what it is told in :meth:`native`.
        """
        self._codec = codec
        self._grammar = grammar
        self._place = Place()
        self._ahead: Place | None = None
        self._opened: Open | None = None
        self._end: JsonObject | None = None
        self._foreign_version = False
        self.used = False

    @property
    def trusted(self) -> bool:
        """Whether carries are read: not so after one of another version."""
        return not self._foreign_version

    @property
    def plain(self) -> bool:
        """Whether a carry may be read the short way: they are trusted, and no carry opened the part that is open."""
        part = self._place.part if self._grammar is None else self._grammar.part
        return not self._foreign_version and (part is None or part is not self._opened)

    def loose_end(self, ahead: Sequence[Event] = ()) -> Event | None:
        """What ends the open part where a carry opened it, and the one that ends it was lost on the way; else none.

        ``ahead``: what rode ahead of the unit that shows it. A part that the format could have said is none of the
        message before a unit says so: it broke off.
        """
        place = self._here()
        for event in ahead:
            place.follow(event, added=True)
        if place.part is None or not place.added:
            return None
        return Handover() if self._codec.sayable(place.part) else Close()

    def ahead(self, said: list[Event], carry: JsonObject) -> list[Event]:
        """The events that rode ahead of the unit: to be read, and told to the decoder, before the unit is decoded."""
        self._begin(carry)
        out: list[Event] = []
        place = self._here()
        for held in _list(carry.get("before", []), "before"):
            if not isinstance(held, dict) or "end" in held or "before" in held:
                raise CarryError("an entry of 'before' is no carry of events")
            out += self._events([], held, place)
        self._ahead = place
        return out

    def read(self, said: list[Event], carry: JsonObject) -> list[Event]:
        """The events meant by a unit that says ``said``. Raises :class:`CarryError`; then ``said`` stands."""
        ahead, self._ahead, self._end = self._ahead, None, None
        self._begin(carry)
        place = ahead if ahead is not None and "before" in carry else self._here()
        events = self._events(said, carry, place)
        if "events" not in carry:
            for event in events:
                place.follow(event)
        if "end" in carry:
            self._end = self._ending(carry["end"])
        self._place = place
        return events

    def end(self, said: list[Event]) -> list[Event]:
        """The events meant by an end of the stream that no unit says, and that makes the events ``said``.

        The member ``end`` of the last unit's carry speaks of them. Raises :class:`CarryError`; then ``said`` stands.
        """
        carry, self._end = self._end, None
        return said if carry is None else self._events(said, carry, self._here())

    def native(self, events: Sequence[Event]) -> None:
        """To be told of what a unit without a carry says."""
        self._end = None
        for event in events:
            self._place.follow(event)

    def _here(self) -> Place:
        return copy(self._place) if self._grammar is None else Place.of(self._grammar, self._opened)

    def _begin(self, carry: JsonObject) -> None:
        version = carry.get("v", VERSION)
        if version != VERSION or isinstance(version, bool):
            self._foreign_version = True
            raise CarryError(f"the carry is of version {shown(version)}", expected=f"version {VERSION}")
        if self._foreign_version:
            raise CarryError("the carries of this stream are of another version", expected=f"version {VERSION}")
        self.used = True

    def _ending(self, carry: Any) -> JsonObject:
        if "finish" not in leaves_out(self._codec):
            raise CarryError("the carry speaks of an end that a unit says")
        if not isinstance(carry, dict) or carry.keys() & (RESERVED - {"events", "synthetic"}):
            raise CarryError("the carry's 'end' is no carry of events")
        return carry

    def _events(self, said: list[Event], carry: JsonObject, place: Place) -> list[Event]:
        own = self._codec.name
        made_up = "synthetic" in carry
        if "events" in carry:
            script = Script(said, self._codec, place)
            try:
                events = script.apply(_list(carry["events"], "events"), made_up=made_up)
            except DecodeError as error:
                raise CarryError(f"the carry holds a malformed event: {error.what}", expected=error.expected) from None
            self._opened = script.opened or self._opened
        else:
            events = [with_residue(event, event.residue) for event in said]
        native = said[0].residue if said else None
        found: list[Residue] = [{} for _ in events]
        if native and events:
            found[0] = {**native, **(events[0].residue or {})}
        first = found[0].get(own) if found else None
        for name, column in carry.items():
            if name not in RESERVED:
                _spread(name, column, found)
        if said and found and found[0].get(own) is not first:
            raise CarryError(f"the carry holds the residue of {own!r}, which the unit says itself")
        if made_up:
            if carry["synthetic"] is not True or not events or not said:
                raise CarryError("a mark 'synthetic' that marks nothing")
            found[0][own] = {**found[0].get(own, {}), "synthetic": True}
        for event, residue in zip(events, found, strict=True):
            if residue:
                event.residue = {**event.residue, **residue} if event.residue else residue
        return events


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise CarryError(f"the carry's {shown(name)} is no list")
    return value


def _spread(name: str, column: Any, found: list[Residue]) -> None:
    """Put the residues of one codec, in order, where they belong; a number stands for so many events without one."""
    at = 0
    for residue in [column] if isinstance(column, dict) else _list(column, name):
        if type(residue) is int and residue > 1:
            at += residue
        elif residue is not None and not isinstance(residue, dict):
            raise CarryError(f"the carry's {shown(name)} is no object")
        elif at < len(found):
            if residue is not None:
                if residue.get("synthetic"):
                    raise CarryError(f"the carry holds what {shown(name)} made up")
                found[at][name] = residue
            at += 1
        else:
            at = len(found) + 1
        if at > len(found):
            raise CarryError(f"the carry's {shown(name)} belongs to no event of the unit")
