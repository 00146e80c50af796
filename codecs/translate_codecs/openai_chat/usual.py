"""The chunk that a plain fragment comes as, once its stream has repeated itself: read and written in one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from translate import jsontext
from translate.algebra.events import JsonObject
from translate.carry.repeats import Slot
from translate.codec import TEXT, Hot

from .words import NAME

_SCALARS: Final = (str, int, bool, type(None))
_LONGEST: Final = 1 << 10
"""Characters of a text that moves, at most: longer ones may be too much to be kept."""


class Usual:
    """The unit of a plain fragment, taken apart once, level by level: its text, what moves, and what stands beside."""

    __slots__ = ("_levels", "_moving", "hot")

    def __init__(self, unit: JsonObject, moving: Sequence[Slot]) -> None:
        """``unit``: with :data:`TEXT` where its text stands. Raises :class:`ValueError` where it holds none.

        ``moving``: where what moves is kept.
        """
        self._levels: list[_Level] = []
        self._moving = moving
        self._add(unit, -1, None, [slot.path for slot in moving], [])
        texts = sum(len(level.texts) for level in self._levels)
        if not texts or any(type(slot.value) not in _SCALARS for slot in moving):
            raise ValueError("no unit of a plain fragment")
        self.hot = Hot(unit, NAME) if texts == 1 and not moving else None

    def _add(self, node: Any, above: int, way: Any, moving: Sequence[Sequence[Any]], path: list[Any]) -> None:
        """One level, and those below it that have a text or something that moves."""
        level = _Level(node, above, way)
        self._levels.append(level)
        at = len(self._levels) - 1
        for key, value in list(node.items() if type(node) is dict else enumerate(node)):
            below = [*path, key]
            if below in moving:
                level.moving.append((key, moving.index(below)))
            elif value == TEXT:
                level.texts.append(key)
            elif type(value) in (dict, list) and (
                _has_text(value) or any(below == each[: len(below)] for each in moving)
            ):
                self._add(value, at, key, moving, below)
            else:
                level.beside.append((key, value, type(value) if type(value) in _SCALARS else None))

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

    def write(self, text: str, values: object) -> JsonObject | None:
        """The unit with this text, and these ``values`` of what moves; ``None`` where they do not fit.

        It shares nothing that can change.
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


def _has_text(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_text, value.values()))
    return any(map(_has_text, value)) if isinstance(value, list) else value == TEXT
