"""The unit that a plain fragment comes as, once its stream has repeated itself: read and written in one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from .. import jsontext
from ..algebra.events import JsonObject
from .repeats import Slot

_SCALARS: Final = (str, int, bool, type(None))
_LONGEST: Final = 1 << 10
"""Characters of a text that moves, at most: longer ones may be too much to be kept."""


class _Place(NamedTuple):
    """Where a value stands: the way to it from the whole unit, what holds it here, and its key there."""

    way: tuple[Any, ...]
    holder: Any
    key: Any


class Usual:
    """The unit of a plain fragment, taken apart once: its text, what moves, and what does not change."""

    __slots__ = ("_free", "_inside", "_moving", "_numbers", "_slots", "_texts", "only_text", "unit")

    def __init__(self, unit: JsonObject, hole: str, moving: Sequence[Slot] = (), free: str | None = None) -> None:
        """``unit``: with ``hole`` where its text stands. Raises :class:`ValueError` where it holds none.

        ``moving``: where what moves is kept. ``free``: a member of the unit that its codec looks at by itself.
        """
        self.unit: JsonObject = jsontext.copied(unit)
        """The unit, with the last text that was looked at in its hole: it is held against those that come."""
        self._free, self._slots = free, moving
        self._texts: list[_Place] = []
        self._moving: list[_Place] = []
        self._numbers: list[tuple[_Place, type]] = []
        """What is no text: such values may be equal and of other types."""
        self._inside: list[tuple[int, Any, Any]] = []
        """Objects and lists, from the outside to the inside: each by what it stands in, the whole unit being 0."""
        paths = [tuple(slot.path) for slot in moving]
        found: dict[tuple[Any, ...], _Place] = {}
        self._add(hole, self.unit, (), 0, paths, found)
        if not self._texts or len(found) != len(paths) or any(type(slot.value) not in _SCALARS for slot in moving):
            raise ValueError("no unit of a plain fragment")
        self._moving = [found[path] for path in paths]
        self.only_text = len(self._texts) == 1 and not moving and free is None
        """Whether such units differ in one text alone."""

    def _add(
        self,
        hole: str,
        node: Any,
        way: tuple[Any, ...],
        at: int,
        paths: Sequence[Any],
        moving: dict[tuple[Any, ...], _Place],
    ) -> None:
        """All that stands in a node."""
        for key, value in list(node.items() if type(node) is dict else enumerate(node)):
            place = _Place((*way, key), node, key)
            if not way and key == self._free:
                continue
            if place.way in paths:
                moving[place.way] = place
            elif type(value) in (dict, list):
                self._inside.append((at, key, value))
                self._add(hole, value, place.way, len(self._inside), paths, moving)
            elif value == hole:
                self._texts.append(place)
            elif type(value) in (int, bool):
                self._numbers.append((place, type(value)))
            elif type(value) is not str and value is not None:
                raise ValueError("a fraction, which may be equal and not the same")

    @property
    def is_free(self) -> bool:
        """Whether a member is its codec's to look at."""
        return self._free is not None

    def read(self, unit: Any) -> tuple[str, list[Any] | None] | None:
        """The text of a unit that is this one but for it, and for what moves: the values of that, if they changed.

        ``None`` of any other, before anything was changed.
        """
        moved: list[Any] | None = None
        try:
            text = unit
            for step in self._texts[0].way:
                text = text[step]
            if type(text) is not str:
                return None
            for _, holder, key in self._texts:
                holder[key] = text
            if self._moving:
                moved = [_at(unit, way) for way, _, _ in self._moving]
                for value, (_, holder, key) in zip(moved, self._moving, strict=True):
                    if type(value) not in _SCALARS:
                        return None
                    holder[key] = value
            if self._free is not None:
                self.unit[self._free] = unit[self._free]
            if unit != self.unit:
                return None
            for (way, _, _), kind in self._numbers:
                found = unit
                for step in way:
                    found = found[step]
                if type(found) is not kind:
                    return None
        except (KeyError, IndexError, TypeError):
            return None
        return (text, None) if moved is None else self._fits(text, moved)

    def _fits(self, text: str, moved: list[Any]) -> tuple[str, list[Any] | None] | None:
        """What moves, if that may be kept."""
        changed = False
        for value, slot in zip(moved, self._slots, strict=True):
            if type(value) is str and (value == text or len(value) > _LONGEST):
                # what the unit says does not move
                return None
            changed = changed or type(value) is not type(slot.value) or value != slot.value
        return text, moved if changed else None

    def write(self, text: str, values: object = None) -> JsonObject | None:
        """The unit with this text, and these ``values`` of what moves; ``None`` where they do not fit.

        It shares nothing that can change, but for the member that is free.
        """
        for _, holder, key in self._texts:
            holder[key] = text
        if self._moving or values is not None:
            moved: list[Any] = [slot.value for slot in self._slots] if values is None else values  # type: ignore[assignment]
            if type(moved) is not list or len(moved) != len(self._slots) or not all(type(v) in _SCALARS for v in moved):
                return None
            if values is not None and self._fits(text, moved) is None:
                return None
            for value, (_, holder, key) in zip(moved, self._moving, strict=True):
                holder[key] = value
        made: list[Any] = [self.unit.copy()]
        for at, key, node in self._inside:
            made.append(node.copy())
            made[at][key] = made[-1]
        return made[0]  # type: ignore[no-any-return]

    def move(self, values: Sequence[Any]) -> None:
        """Go on behind a unit with these values."""
        for value, slot in zip(values, self._slots, strict=True):
            slot.value = value


def _at(unit: Any, way: Sequence[Any]) -> Any:
    for step in way:
        unit = unit[step]
    return unit


def stands_in(hole: str, canonical: Any, unit: Any) -> bool:
    """Whether a unit has the hole where the canonical one has it: there it is what the unit says."""
    if type(canonical) is not type(unit):
        return False
    if type(canonical) is dict:
        return any(key in unit and stands_in(hole, value, unit[key]) for key, value in canonical.items())
    if type(canonical) is list:
        return any(stands_in(hole, *pair) for pair in zip(canonical, unit, strict=False))
    return bool(canonical == hole == unit)
