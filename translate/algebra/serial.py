"""Parts that interleave on a wire, said one at a time.

1. The part that opened first is said at once. What comes for others waits, in the order in which they opened.
2. Once the open part is closed the next one is open: what waited of it is said at once, and so on.
3. A unit of which all waits is whole at its place, as a ``Foreign`` of its own codec: so it comes home. Events that
   waited are marked (:data:`SAID`), and their own codec does not say them again.
4. What waits is limited by its weight (:mod:`translate.algebra.weight`), all of it together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Generic, TypeVar

from ..errors import LimitExceeded
from .events import Close, Event, Handover, JsonObject, Residue, with_residue
from .weight import HELD, weight

SAID: Final = "said"
"""The member of a residue that says that its codec said the event before, with the units that waited."""

Key = TypeVar("Key")


def was_said(event: Event, codec: str) -> bool:
    """Whether ``codec`` said the event with units that came before."""
    return bool(event.residue and event.residue.get(codec, {}).get(SAID))


def said_before(event: Event, codec: str) -> Event:
    """The event, marked as said by ``codec`` before."""
    own: JsonObject = {**(event.residue or {}).get(codec, {}), SAID: True}
    residue: Residue = {**(event.residue or {}), codec: own}
    return with_residue(event, residue)


class Serial(Generic[Key]):
    """The parts of one stream: which is open, and what waits. Moves by :meth:`take` alone."""

    __slots__ = ("_codec", "_limit", "_size", "_waiting", "open")

    def __init__(self, codec: str, limit: int) -> None:
        """``limit``: bytes that may wait."""
        self.open: Key | None = None
        """What the open part is known by."""
        self._codec = codec
        self._limit = limit
        self._waiting: dict[Key, list[Event]] = {}
        self._size = 0

    @property
    def waits(self) -> bool:
        """Whether any part waits for the open one."""
        return bool(self._waiting)

    def turn(self) -> Turn[Key]:
        """What one unit says from here on."""
        return Turn(self.open, self._codec, self._waiting, self._size, self._limit)

    def take(self, turn: Turn[Key]) -> None:
        """Go on behind a unit."""
        self.open = turn.open
        for key in turn.gone:
            self._size -= sum(map(_weight, self._waiting.pop(key, ())))
        for key, events in turn.new.items():
            self._size += sum(map(_weight, events))
            self._waiting.setdefault(key, []).extend(events)

    def end(self) -> None:
        """The open part ended by something that no unit says. Nothing may wait."""
        self.open = None


class Turn(Generic[Key]):
    """What one unit says: the events that may be said now, and what of it has to wait. The stream stays as it is."""

    __slots__ = ("_ahead", "_codec", "_first", "_limit", "_size", "_waiting", "gone", "new", "open", "said")

    def __init__(self, open: Key | None, codec: str, waiting: dict[Key, list[Event]], size: int, limit: int) -> None:
        self._codec = codec
        self._waiting = waiting
        self._ahead: Iterator[Key] = iter(waiting)
        self._first: Key | None = next(self._ahead, None)
        self._size = size
        self._limit = limit
        self.open = open
        self.said: list[Event] = []
        self.gone: list[Key] = []
        self.new: dict[Key, list[Event]] = {}
        """What has to wait, by its part."""

    @property
    def waits(self) -> bool:
        """Whether any part waits for the open one."""
        return self._first is not None or bool(self.new)

    def holds(self, key: Key) -> bool:
        """Whether a part waits."""
        return key in self.new or (key in self._waiting and key not in self.gone)

    def last(self) -> Key | None:
        """The part that opened last, of those that are open or wait."""
        if self.new.keys() - self._waiting.keys():
            return next(key for key in reversed(self.new) if key not in self._waiting)
        return next(reversed(self._waiting)) if self._first is not None else self.open

    def waiting(self, key: Key) -> Sequence[Event]:
        """What waits of a part."""
        return [*(self._waiting.get(key, ()) if key not in self.gone else ()), *self.new.get(key, ())]

    def put(self, key: Key, event: Event) -> None:
        """One event of a part. Raises :class:`LimitExceeded` where too much would wait."""
        if self.open is None:
            self.open = key
        if key != self.open:
            self.new.setdefault(key, []).append(event)
            self._size += _weight(event)
            if self._size > self._limit:
                raise LimitExceeded("part", self._limit)
            return
        self.said.append(event)
        if type(event) in (Close, Handover):
            self._next()

    def _next(self) -> None:
        """The open part is over: the next one is open, with what waited of it."""
        self.open = None
        while self.open is None and self.waits:
            key = self._first if self._first is not None else next(iter(self.new))
            if self._first is not None:
                self.said += [said_before(event, self._codec) for event in self._waiting[key]]
                self.gone.append(key)
                self._first = next(self._ahead, None)
            self.said += self.new.pop(key, [])
            self.open = None if self.said and type(self.said[-1]) is Close else key


def _weight(event: Event) -> int:
    return HELD + weight(event)
