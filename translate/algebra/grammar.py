"""The grammar of the algebra: the one table that says which event may follow which.

1. ``stream := (note | Annotate | Start | part | Handover)* (Finish | Failure)``
2. ``part := Open (Append | Annotate | note)* (Close | Handover | Failure)``
3. ``note := Ping | Usage | Foreign``
4. One part is open at a time. A ``Failure`` or ``Finish`` is always last.
5. An ``Append`` grows the open part by data of the type its kind takes.

A missing key is the error, and errors are sticky: after one the stream is over. Everything that checks events does
it here: the output of every decoder, the input of every encoder, and the generator of test streams.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..errors import CodecError, GrammarError
from .events import (
    GROWS,
    NAMES,
    Annotate,
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Foreign,
    Handover,
    Open,
    Ping,
    Start,
    TokenCounts,
    Usage,
)
from .usage import latest
from .weight import weight

BETWEEN: Final = "between parts"
INSIDE: Final = "in a part"
ENDED: Final = "ended"

_NOTES: dict[str, dict[type[Event], str]] = {
    state: {Ping: state, Usage: state, Foreign: state} for state in (BETWEEN, INSIDE)
}

TABLE: Final[dict[str, dict[type[Event], str]]] = {
    BETWEEN: {
        **_NOTES[BETWEEN],
        Annotate: BETWEEN,
        Start: BETWEEN,
        Open: INSIDE,
        Handover: BETWEEN,
        Finish: ENDED,
        Failure: ENDED,
    },
    INSIDE: {
        **_NOTES[INSIDE],
        Append: INSIDE,
        Annotate: INSIDE,
        Close: BETWEEN,
        Handover: BETWEEN,
        Failure: ENDED,
    },
    ENDED: {},
}
"""State → event → next state."""


class Grammar:
    """Checks one stream of events.

    Call :meth:`check` with the events in order, in as many calls as you like. ``state`` is one of the table's,
    ``kind`` the open part's kind or the last one's, ``size`` what it weighs (:mod:`translate.algebra.weight`).
    ``part`` is the event that opened the open part, ``stated`` whether a state that is not empty came in it,
    ``start`` is the last ``Start``, ``started`` whether there was one, ``usage`` what the counts so far add up to.
    """

    __slots__ = ("_codec", "grows", "kind", "part", "size", "start", "started", "state", "stated", "usage")

    def __init__(self, codec: str | None = None) -> None:
        """``codec``: the decoder whose output is checked, to be named by the error; none for a caller's own events."""
        self.state: str = BETWEEN
        self.kind: str = ""
        self.size = 0
        self.part: Open | None = None
        self.stated = False
        self.start: Start | None = None
        self.started = False
        self.usage: TokenCounts | None = None
        self.grows: type = str
        """The type that the open part grows by."""
        self._codec = codec

    def check(self, events: Iterable[Event]) -> None:
        """Raises :class:`GrammarError` (:class:`CodecError` where a codec is named) at the first wrong event."""
        state = self.state
        for event in events:
            cls = type(event)
            following = TABLE[state].get(cls)
            if following is None:
                self.state = state
                raise self._error(f"{NAMES.get(cls, cls.__name__)!r} may not stand {state}", self.expected())
            state = following
            if type(event) is Append:
                if type(event.data) is not self.grows:
                    self.state = state
                    raise self._error(f"a part of kind {self.kind!r} cannot grow by this", self.grows.__name__)
                self.size += weight(event)
                if event.state is not None and event.state.values:
                    self.stated = True
            elif type(event) is Open:
                self.kind = event.kind
                if self.kind not in GROWS:
                    raise self._error(f"no part is of kind {self.kind!r}", ", ".join(GROWS))
                self.grows = GROWS[self.kind]
                self.size, self.part, self.stated = weight(event) - 1, event, False
            else:
                self.size += weight(event) if state == INSIDE else 0
                if type(event) is Start:
                    self.start, self.started = event, True
                elif type(event) is Usage or type(event) is Finish:
                    self.usage = latest(event.usage, self.usage)
                if state != INSIDE:
                    self.part = None
        self.state = state

    def allows(self, events: Iterable[Event]) -> None:
        """As :meth:`check`, but the stream stays where it is."""
        self.copy().check(events)

    def copy(self) -> Grammar:
        """A grammar that stands where this one does."""
        out = Grammar(self._codec)
        for name in self.__slots__:
            setattr(out, name, getattr(self, name))
        return out

    def expected(self) -> str:
        """What may stand next, for a message."""
        return ", ".join(NAMES[cls] for cls in TABLE[self.state]) or "nothing"

    def _error(self, what: str, expected: str) -> GrammarError | CodecError:
        if self._codec is None:
            error: GrammarError | CodecError = GrammarError(what, expected=expected)
        else:
            error = CodecError(f"the codec {self._codec!r} broke the grammar of events: {what}", expected=expected)
        error.state = self.state
        return error
