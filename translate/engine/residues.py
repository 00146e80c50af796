"""Residues: what a unit that was read has beyond the one that its codec expects there.

It is put into the residue of the first event that the unit says, and makes the unit of the expected one again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..algebra.events import Event, Foreign, JsonObject
from ..algebra.weight import HELD, of_value
from ..carry import patches
from ..codec import JOINED, Encoder

UNITS: Final = "units"
"""The member that says how each of several units differs that came for one event."""
MOST: Final = 1 << 16
"""Events that one unit says, at most."""


class Residues:
    """The residues of one stream."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._silent: list[JsonObject] = []
        self.size = 0
        """What the units weigh that say nothing by themselves, and wait for the next that does."""

    def put(self, unit: JsonObject, said: list[Event]) -> None:
        """Put what ``unit``, which says ``said``, has beyond the expected into the residue of the first event."""
        if not said:
            self._wait(unit)
            return
        first, encoder = said[0], self._encoder
        if type(first) is Foreign and len(said) == 1 and not self._silent:
            return
        name, given, mark = encoder.name, first.residue or {}, encoder.mark(unit)
        residue: JsonObject = {**given.get(name, {}), **(mark or {})}
        first.residue = {**given, name: dict(residue)}
        if self._silent:
            units, self._silent, self.size = [*self._silent, unit], [], 0
            expected = [piece.unit for piece in encoder.write(said) or () if piece.unit is not None]
            changes = [patches.diff(expected[i] if i < len(expected) else {}, each) for i, each in enumerate(units)]
            if any(changes) or len(expected) != len(units):
                residue[UNITS] = changes
        else:
            whole = encoder.expected(unit, said)
            if patch := patches.diff({} if whole is None else whole, unit):
                residue["patch"] = patch
            if len(said) > 1 and (whole is None or self._comes_apart(said)):
                residue[JOINED] = min(len(said), MOST)
        first.residue = {**given, name: residue} if residue or mark is not None else given or None

    def among(self, said: Sequence[Event], meant: list[Event]) -> None:
        """Where a carry put events among those that one unit says, the unit stands for these, too."""
        name = self._encoder.name
        own = meant[0].residue.get(name) if len(said) < len(meant) and meant[0].residue else None
        last = [i for i, event in enumerate(meant) if type(event) is type(said[-1])] if own and JOINED in own else []
        if own and len(last) == sum(type(event) is type(said[-1]) for event in said):
            meant[0].residue = {**(meant[0].residue or {}), name: {**own, JOINED: last[-1] + 1}}

    def _comes_apart(self, said: Sequence[Event]) -> bool:
        """Whether the events of one unit, one by one, would be written as several."""
        if any(self._encoder.write(said[:i]) is not None for i in range(1, len(said))):
            return True
        pieces = self._encoder.write(said)
        return pieces is None or sum(piece.unit is not None for piece in pieces) != 1

    def _wait(self, unit: JsonObject) -> None:
        """A unit that says nothing by itself: it comes home with the next that does."""
        self._silent.append(unit)
        self.size += HELD + of_value(unit)
