"""The data of parts: how it is counted, cut, joined and grown, and the parts that events add up to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import Protocol

from .. import jsontext
from .events import Append, Close, Data, Event, Handover, Open, State
from .weight import is_light

_FOLD = 1024
KEPT = 1 << 20
"""Characters of text that is only compared that are kept, about."""


class Repeat(Protocol):
    """Text that is said again, in pieces."""

    def pieces(self) -> Iterator[str]:
        """All of it, cut anywhere."""
        ...


class Digest:
    """The code units of a text, which none but that text has, whatever the pieces that it came in."""

    __slots__ = ("_hash",)

    def __init__(self, pieces: Iterable[str] = ()) -> None:
        self._hash = blake2b()
        self.add(pieces)

    def add(self, pieces: Iterable[str]) -> None:
        """Go on with more of the text."""
        for piece in pieces:
            self._hash.update(jsontext.units(piece))

    def copy(self) -> Digest:
        """One that goes on by itself."""
        copy = Digest()
        copy._hash = self._hash.copy()
        return copy

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digest) and self._hash.digest() == other._hash.digest()

    __hash__ = None  # type: ignore[assignment]


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


def size(data: Data) -> int:
    """The length of a fragment: UTF-16 code units of text, bytes, or elements."""
    if isinstance(data, str) and not data.isascii():
        return len(jsontext.units(data)) // 2
    return len(data)


class Pieces:
    """Data to be cut, counted as :func:`size` counts: in time linear in the pieces, however many."""

    __slots__ = ("_data", "_units", "size")

    def __init__(self, data: Data) -> None:
        self._units = jsontext.units(data) if isinstance(data, str) and not data.isascii() else None
        self._data = data
        self.size = len(data) if self._units is None else len(self._units) // 2

    def cut(self, start: int, length: int) -> Data:
        """A piece."""
        if self._units is None:
            return self._data[start : start + length]
        return self._units[2 * start : 2 * (start + length)].decode("utf-16-le", "surrogatepass")


def join(pieces: Sequence[Data]) -> Data:
    """The data of a part, of the type its pieces have."""
    first = pieces[0] if pieces else ""
    if isinstance(first, str):
        return "".join(pieces)  # type: ignore[arg-type]
    if isinstance(first, bytes):
        return b"".join(pieces)  # type: ignore[arg-type]
    return list(chain.from_iterable(pieces))  # type: ignore[arg-type]


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

    def comes_to(self, whole: Data | Repeat) -> bool:
        """Whether ``whole`` is all of it. Long text that is, is not put together for that."""
        if not isinstance(whole, (str, bytes, list)):
            return self.digest() == Digest(whole.pieces())
        if isinstance(whole, str):
            at = 0
            for piece in (*self._folded, *self._recent):
                if not (isinstance(piece, str) and whole.startswith(piece, at)):
                    break
                at += len(piece)
            else:
                return at == len(whole)
        return jsontext.same(whole, self.join() or type(whole)())

    def digest(self) -> Digest:
        """What is known of it where it is text that is only compared."""
        return Digest(str(piece) for piece in (*self._folded, *self._recent))

    def join(self) -> Data:
        """All of it, of the type the fragments have; ``""`` where there were none."""
        if self._recent or len(self._folded) > 1:
            self._folded, self._recent = [join([*self._folded, *self._recent])], []
        return join(self._folded)


class Compared(Growth):
    """Text that grows only to be compared: of what is long its digest is kept."""

    __slots__ = ("_known", "_left")

    def __init__(self) -> None:
        super().__init__()
        self._known: Digest | None = None
        self._left = KEPT

    def add(self, piece: Data) -> None:
        """Grow by one fragment."""
        super().add(piece)
        self._left -= len(piece)
        if self._left < 0:
            self._known, self._left = self.digest(), KEPT
            self._folded, self._recent = [], []

    def comes_to(self, whole: Data | Repeat) -> bool:
        """Whether ``whole`` is all of it."""
        if self._known is None or not isinstance(whole, str):
            return super().comes_to(whole)
        return self.digest() == Digest(whole[at : at + KEPT] for at in range(0, len(whole), KEPT))

    def digest(self) -> Digest:
        """What is known of it."""
        known = super().digest() if self._known is None else self._known.copy()
        if self._known is not None:
            known.add(str(piece) for piece in (*self._folded, *self._recent))
        return known

    def join(self) -> Data:
        """All of it; ``""`` where only its digest is known."""
        return super().join() if self._known is None else ""


class Gathered:
    """The events of a whole stream, its plain fragments together where they follow one another: what they come to."""

    __slots__ = ("_events", "_grown", "_type")

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._grown = Growth()
        self._type: type | None = None
        """That of the fragments that are put together."""

    def add(self, event: Event) -> None:
        """The next event."""
        if type(event) is Append and event.state is None and all(map(is_light, (event.residue or {}).values())):
            if self._type is not type(event.data):
                self._end()
                self._type = type(event.data)
            self._grown.add(event.data)
            return
        self._end()
        self._events.append(event)

    def events(self) -> list[Event]:
        """All of them."""
        self._end()
        return self._events

    def _end(self) -> None:
        if self._type is not None:
            self._events.append(Append(self._grown.join()))
            self._grown, self._type = Growth(), None
