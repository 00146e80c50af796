"""Carries as a stream comes to them: what they say counts where the stream may go on so, else the unit alone does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..algebra.events import Event, JsonObject
from ..algebra.grammar import Grammar
from ..carry.reading import CarryReader
from ..carry.reasons import repaired
from ..codec import Codec, Options
from ..errors import CarryError, CodecError


class Carried:
    """The carries of one stream, whose grammar says where it stands."""

    def __init__(self, codec: Codec, grammar: Grammar, options: Options) -> None:
        self.reader = CarryReader(codec, grammar)
        self.grammar = grammar
        self._options = options

    def apply(self, said: list[Event], carry: JsonObject | None, ahead: Sequence[Event]) -> list[Event]:
        """What a unit that says ``said`` means after ``ahead``."""
        if carry is None:
            if self.reader.used:
                self.reader.native(said)
            return self._ashore(said, ahead)
        meant = self.read(lambda said: self.reader.read(said, carry), said, ahead)
        return self._ashore(said, ahead) if meant is None else meant

    def read(
        self, read: Callable[[list[Event]], list[Event]], said: list[Event], ahead: Sequence[Event] = ()
    ) -> list[Event] | None:
        """What ``read`` makes of ``said``, if the stream may go on so after ``ahead``; else ``None``, and its fault."""
        try:
            events = self._ashore(read(said), ahead)
            self.grammar.allows([*ahead, *events] if ahead else events)
        except CarryError as error:
            self.fault(error)
            return None
        except CodecError as error:
            self.fault(CarryError(f"the carry makes no valid stream: {error.what}", expected=error.expected))
            return None
        return events

    def fault(self, error: CarryError) -> None:
        """A carry that is wrong: an error in strict mode, ignored and reported otherwise."""
        if self._options.strict:
            raise error
        self._options.repair("carry", repaired("carry ignored", what=error.what))

    def _ashore(self, events: list[Event], ahead: Sequence[Event]) -> list[Event]:
        """In lenient mode after the end of a part that a carry opened, where the carry that ends it was lost."""
        if self._options.strict or not self.reader.used:
            return events
        end = self.reader.loose_end(ahead)
        if end is None:
            return events
        try:
            self.grammar.allows([*ahead, *events])
        except CodecError:
            self._options.repair("carry", repaired("carry without end"))
            return [end, *events]
        return events
