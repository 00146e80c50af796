"""The unit that a plain fragment comes as, once its stream has repeated itself: read and written in one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from .. import jsontext
from ..algebra.events import JsonObject
from .repeats import Slot

_SCALARS: Final = (str, int, bool, type(None))
_LONGEST: Final = 1 << 10
"""Characters of a text that moves, at most: longer ones may be too much to be kept."""


class Usual:
    """The unit of a plain fragment, taken apart once, level by level: its text, what moves, and what stands beside."""

    __slots__ = ("_free", "_hole", "_levels", "_moving", "only_text")

    def __init__(self, unit: JsonObject, hole: str, moving: Sequence[Slot] = (), free: str | None = None) -> None:
        """``unit``: with ``hole`` where its text stands. Raises :class:`ValueError` where it holds none.

        ``moving``: where what moves is kept. ``free``: a member of the unit that its codec looks at by itself.
        """
        self._levels: list[_Level] = []
        self._hole, self._moving, self._free = hole, moving, free
        self._add(unit, -1, None, [slot.path for slot in moving], [])
        texts = sum(len(level.texts) for level in self._levels)
        if not texts or any(type(slot.value) not in _SCALARS for slot in moving):
            raise ValueError("no unit of a plain fragment")
        self.only_text = texts == 1 and not moving and free is None
        """Whether such units differ in one text alone."""

    def _add(self, node: Any, above: int, way: Any, moving: Sequence[Sequence[Any]], path: list[Any]) -> None:
        """One level, and those below it that have a text or something that moves."""
        level = _Level(node, above, way)
        self._levels.append(level)
        at = len(self._levels) - 1
        for key, value in list(node.items() if type(node) is dict else enumerate(node)):
            below = [*path, key]
            if above < 0 and key == self._free:
                continue
            if below in moving:
                level.moving.append((key, moving.index(below)))
            elif value == self._hole:
                level.texts.append(key)
            elif type(value) in (dict, list) and (
                _has(self._hole, value) or any(below == each[: len(below)] for each in moving)
            ):
                self._add(value, at, key, moving, below)
            else:
                level.beside.append((key, value, type(value) if type(value) in _SCALARS else None))

    @property
    def is_free(self) -> bool:
        """Whether a member is its codec's to look at."""
        return self._free is not None

    @property
    def unit(self) -> JsonObject:
        """The unit, with its hole."""
        return self._levels[0].node  # type: ignore[no-any-return]

    def read(self, unit: Any) -> tuple[str, list[Any] | None] | None:
        """The text of a unit that is this one but for it, and for what moves: the values of that, if they changed.

        ``None`` of any other, before anything was changed.
        """
        text: Any = None
        nodes: list[Any] = []
        moved: list[Any] | None = None
        for level in self._levels:
            try:
                at = unit if level.above < 0 else nodes[level.above][level.way]
                if type(at) is not level.kind or len(at) != level.size:
                    return None
                for key, held, kind in level.beside:
                    found = at[key]
                    if found is held:
                        continue
                    if kind is None:
                        if not jsontext.same(found, held):
                            return None
                    elif type(found) is not kind or found != held:
                        return None
                for key in level.texts:
                    found = at[key]
                    if text is None:
                        text = found
                    elif found != text:
                        return None
                for key, slot in level.moving:
                    found = at[key]
                    if type(found) not in _SCALARS:
                        return None
                    moved = moved or [slot.value for slot in self._moving]
                    moved[slot] = found
            except (KeyError, IndexError):
                return None
            nodes.append(at)
        if type(text) is not str:
            return None
        return (text, None) if moved is None else self._fits(text, moved)

    def _fits(self, text: str, moved: list[Any]) -> tuple[str, list[Any] | None] | None:
        """What moves, if that may be kept."""
        changed = False
        for value, slot in zip(moved, self._moving, strict=True):
            if type(value) is str and (value == text or len(value) > _LONGEST):
                # what the unit says does not move
                return None
            changed = changed or type(value) is not type(slot.value) or value != slot.value
        return text, moved if changed else None

    def write(self, text: str, values: object = None) -> JsonObject | None:
        """The unit with this text, and these ``values`` of what moves; ``None`` where they do not fit.

        It shares nothing that can change, but for the member that is free.
        """
        moved = [slot.value for slot in self._moving]
        if values is not None:
            if type(values) is not list or len(values) != len(moved) or not all(type(v) in _SCALARS for v in values):
                return None
            if self._fits(text, values) is None:
                return None
            moved = values
        made: list[Any] = []
        for level in self._levels:
            copy = level.node.copy()
            for key, held, kind in level.beside:
                if kind is None:
                    copy[key] = jsontext.copied(held)
            for key in level.texts:
                copy[key] = text
            for key, slot in level.moving:
                copy[key] = moved[slot]
            if level.above >= 0:
                made[level.above][level.way] = copy
            made.append(copy)
        return made[0]  # type: ignore[no-any-return]

    def move(self, values: Sequence[Any]) -> None:
        """Go on behind a unit with these values."""
        for value, slot in zip(values, self._moving, strict=True):
            slot.value = value


class _Level:
    """An object or a list of the unit: where it stands, and what stands in it."""

    __slots__ = ("above", "beside", "kind", "moving", "node", "size", "texts", "way")

    def __init__(self, node: Any, above: int, way: Any) -> None:
        self.node, self.above, self.way = node, above, way
        self.kind, self.size = type(node), len(node)
        self.texts: list[Any] = []
        self.moving: list[tuple[Any, int]] = []
        self.beside: list[tuple[Any, Any, type | None]] = []
        """What does not change: its key, its value, and the type of one that has no parts."""


def _has(hole: str, value: object) -> bool:
    if isinstance(value, dict):
        return any(_has(hole, each) for each in value.values())
    return any(_has(hole, each) for each in value) if isinstance(value, list) else value == hole


def stands_in(hole: str, canonical: Any, unit: Any) -> bool:
    """Whether a unit has the hole where the canonical one has it: there it is what the unit says."""
    if type(canonical) is not type(unit):
        return False
    if type(canonical) is dict:
        return any(key in unit and stands_in(hole, value, unit[key]) for key, value in canonical.items())
    if type(canonical) is list:
        return any(stands_in(hole, *pair) for pair in zip(canonical, unit, strict=False))
    return bool(canonical == hole == unit)
