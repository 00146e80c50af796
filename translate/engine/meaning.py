"""What one unit means, the long way, which is the reference: read by its codec, and changed by its carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .. import jsontext
from ..algebra.events import Event, JsonObject
from ..carry import reasons
from ..codec import Codec, Encoder
from ..errors import TranslateError
from ..shapes import Frame
from .carried import Carried
from .residues import Residues

MENDS: Final = 4
"""How often one unit is mended, at most."""


class Meanings:
    """Those of one stream."""

    def __init__(self, codec: Codec, wire: Encoder, carried: Carried, residues: Residues, *, plain: bool) -> None:
        """``plain``: whether units without a carry may take the codec's short way."""
        self._codec = codec
        self._wire = wire
        self._carried = carried
        self._residues = residues
        self.plain = plain

    def alone(self, carry: JsonObject) -> list[Event]:
        """What a carry without a unit says."""
        told = self._carried.read(lambda said: self._carried.reader.read(said, carry), [])
        if told is None:
            return []
        self._wire.go_on(None, told)
        return told

    def of(self, unit: JsonObject, carry: JsonObject | None, frame: Frame) -> list[Event]:
        """What a unit means that came in ``frame``; what is known goes on behind it."""
        wire, options, carries = self._wire, self._wire.options, self._carried.reader
        ahead: list[Event] = []
        if carry is not None and "before" in carry:
            # what rode ahead is told to the decoder first, as it is where it has a block of its own
            riding = carry
            told = self._carried.read(lambda said: carries.ahead(said, riding), [])
            if told is None:
                carry = None
            else:
                wire.go_on(None, told)
                ahead = told
        if carry is None and self.plain and frame.whole and not carries.used:
            said = wire.plain(unit, frame.name)
            if said is not None:
                return [*ahead, *said] if ahead else said
        if not isinstance(frame.data, bytes) and not self._codec.complete:
            unit = jsontext.copied(unit)
        read, mended, said = self._read(unit, frame.name, ahead)
        if not frame.whole:
            options.repair("end of input", reasons.repaired("no frame end"))
        if read is None:
            return [*ahead, *mended]
        unit = read
        if not self._codec.complete:
            self._residues.put(unit, said)
        meant = self._carried.apply(said, carry, [*ahead, *mended])
        if carry is not None and len(said) > 1:
            self._residues.among(said, meant)
        wire.go_on(unit, meant)
        return [*ahead, *mended, *meant] if ahead or mended else meant

    def _read(
        self, unit: JsonObject, name: str | None, ahead: Sequence[Event]
    ) -> tuple[JsonObject | None, list[Event], list[Event]]:
        """What a unit says, last; in lenient mode it may have been mended, which also may put events ahead of it.

        No unit: it was left out.
        """
        wire, options = self._wire, self._wire.options
        mended: list[Event] = []
        for _ in range(MENDS):
            try:
                return unit, mended, wire.read(unit, name)
            except TranslateError as error:
                if options.strict:
                    raise
                found = wire.mend(unit, name, error)
                if found is None:
                    raise
                if found.reason:
                    options.repair(found.field, found.reason)
                self._carried.grammar.allows([*ahead, *mended, *found.ahead])
                for event in found.ahead:
                    wire.go_on(wire.whole([event]), [event])
                    mended.append(event)
                if found.unit is None:
                    return None, mended, []
                unit, name = found.unit, found.name
        return unit, mended, wire.read(unit, name)
