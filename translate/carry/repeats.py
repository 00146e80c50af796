"""What every unit of a stream repeats, carried once.

1. Units of one *form* (those that say a fragment of text, say) mostly differ from the unit that their codec would
   write in the same members, by the same values. What the last one differed in is expected of the next one: as
   changes (see :mod:`translate.carry.patches`) to the unit that the codec would write.
2. A text in them that is what the unit says is a hole: it is expected to be what the next unit says.
3. Members that differ although they were expected, *move*: of a unit that differs in those alone only their values are
   told, by the order of their paths, later ones behind (the residue's member :data:`VALUES`). What the unit says does
   not move.
4. A unit is expected only where it says what the codec's own would say: what came before may hold members that say
   something else now.
5. Both ends of a translation learn from the units that came, in order, so they expect the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence, Sized
from typing import Any, Final

from .. import jsontext
from ..algebra.events import JsonObject
from ..algebra.weight import of_value
from . import patches

VALUES: Final = "v"
"""The member of a residue that holds what moves."""
_MOST: Final = 16
"""Members of one form that move, at most."""
_FORMS: Final = 64
"""Forms that are kept, at most: they are few, but the other side chooses them."""

_LARGEST: Final = 1 << 16
"""What a form that is kept weighs, at most. No option: both ends of a translation have to keep the same."""


class Slot:
    """Where a value that moves is kept, in changes."""

    __slots__ = ("_holder", "_key", "path")

    def __init__(self, holder: Any, key: Any, path: list[Any]) -> None:
        """``path``: where it stands in a unit."""
        self._holder, self._key, self.path = holder, key, path

    @property
    def value(self) -> Any:
        """The last one."""
        return self._holder[self._key]

    @value.setter
    def value(self, value: Any) -> None:
        self._holder[self._key] = value


def _slot(op: list[Any], path: list[Any]) -> Slot | None:
    """Where an operation keeps what stands at a path."""
    size = len(op[0])
    if len(op) != 2 or op[0] != path[:size]:
        return None
    holder, key = op, 1
    for step in path[size:]:
        holder, key = holder[key], step
        if not (type(holder) is dict and key in holder) and not (
            type(holder) is list and type(key) is int and key < len(holder)
        ):
            return None
    return None if type(holder[key]) is _Hole else Slot(holder, key, path)


class _Hole(str):
    """In changes: where the text stands that the unit says as the one of that number."""

    __slots__ = ()


class Repeats:
    """How the units of each form differ from those that their codec would write."""

    __slots__ = ("_asked", "_changes", "_met", "_moving", "_nesting")

    def __init__(self, nesting: int) -> None:
        """``nesting``: levels of a unit, at most."""
        self._nesting = nesting
        self._changes: dict[Hashable, patches.Patch] = {}
        self._moving: dict[Hashable, list[list[Any]]] = {}
        self._asked: tuple[JsonObject, JsonObject] | None = None
        """The canonical unit that was asked for last, and the one that is expected for it: not to look twice."""
        self._met: tuple[JsonObject, JsonObject] | None = None
        """The last unit that was the expected one, and that."""

    def expected(self, form: Hashable, canonical: JsonObject, says: Sequence[str]) -> JsonObject:
        """The unit that is expected where ``canonical`` would be written. ``says``: the texts that it says."""
        changes = self._changes.get(form)
        if not changes:
            return canonical
        if self._asked is None or self._asked[0] is not canonical:
            try:
                self._asked = canonical, patches.apply(canonical, _filled(changes, says), self._nesting)
            except patches.PatchError:
                self._asked = canonical, canonical
        return self._asked[1]

    def meets(self, expected: JsonObject, unit: JsonObject) -> bool:
        """Whether ``unit`` is the expected one."""
        if self._met is None or self._met[0] is not unit or self._met[1] is not expected:
            if not jsontext.same(expected, unit):
                return False
            self._met = unit, expected
        return True

    def values(self, form: Hashable, expected: JsonObject, unit: JsonObject) -> list[Any] | None:
        """What moves in ``unit``, if it differs from the expected one in that; ``None`` where nothing does, or more."""
        moving = self._moving.get(form)
        if not moving:
            return None
        found = [_at(unit, path) for path in moving]
        if _ABSENT in found or all(map(jsontext.same, found, [_at(expected, path) for path in moving])):
            return None
        return found

    def moved(self, form: Hashable, expected: JsonObject, values: object) -> JsonObject | None:
        """The expected unit with these values in what moves; ``None`` where they do not fit."""
        moving = self._moving.get(form, [])
        if not isinstance(values, list) or len(values) != len(moving):
            return None
        try:
            changes = [list(pair) for pair in zip(moving, values, strict=True)]
            return patches.apply(expected, changes, self._nesting)  # type: ignore[no-any-return]
        except patches.PatchError:
            return None

    def foreseen(
        self,
        form: Hashable,
        canonical: JsonObject,
        says: Sequence[str],
        values: object,
        right: Callable[[JsonObject], bool],
    ) -> JsonObject | None:
        """The unit that is written for ``canonical``: the expected one, with ``values`` in what moves if there are any.

        ``right``: whether a unit says what is meant. Where the expected one does not, it is ``canonical``; ``None``
        where the values make another say something else. Values of a unit of another form, of which this one is part,
        are left out.
        """
        expected = self.expected(form, canonical, says)
        moved = None if values is None else self.moved(form, expected, values)
        if moved is not None:
            return moved if right(moved) else None
        return expected if expected is canonical or right(expected) else canonical

    def changes(self, form: Hashable, member: str) -> bool:
        """Whether units of this form repeat something within a member."""
        return any(op[0][:1] == [member] for op in self._changes.get(form, ()))

    def slots(self, form: Hashable) -> list[Slot] | None:
        """Where what moves in units of this form is kept; ``None`` where it is not all by itself."""
        found = []
        for path in self._moving.get(form, ()):
            slot = next((slot for op in self._changes[form] if (slot := _slot(op, path)) is not None), None)
            if slot is None:
                return None
            found.append(slot)
        return found

    def take(self, form: Hashable, canonical: JsonObject, unit: JsonObject, says: Sequence[str]) -> bool:
        """Go on behind ``unit``; whether the next one may well be as expected."""
        expected = self.expected(form, canonical, says)
        met = self.meets(expected, unit)
        self._asked = self._met = None
        if met:
            return True
        changes = patches.diff(canonical, unit)
        known = form in self._changes
        moving = self._moving.get(form, [])
        steady = True
        if known:
            # members have no order, and both ends have to tell values in one
            for op in sorted(patches.diff(expected, unit), key=_order):
                path = _steady(op[0])
                says_it = len(op) == 2 and type(op[1]) is str and op[1] in says
                if len(op) == 2 and path and not says_it and path not in moving and len(moving) < _MOST:
                    moving.append(path)
                steady = steady and len(op) == 2 and path in moving
        elif len(self._changes) >= _FORMS:
            return False
        if changes and of_value(changes) + of_value(moving) + (len(form) if isinstance(form, Sized) else 0) > _LARGEST:
            self._changes.pop(form, None)
            self._moving.pop(form, None)
            return False
        self._changes[form] = [[op[0], _with_holes(op[1], says)] if len(op) == 2 else op for op in changes]
        self._moving[form] = moving
        return steady


_ABSENT: Final = object()


def _order(op: list[Any]) -> list[tuple[str, str]]:
    return [(type(key).__name__, str(key)) for key in op[0]]


def _steady(path: list[Any]) -> list[Any]:
    """A path up to the first list whose length may well change: one behind the first two members."""
    for i, key in enumerate(path):
        if type(key) is int and i > 1:
            return path[:i]
    return path


def _at(node: Any, path: Sequence[Any]) -> Any:
    for key in path:
        try:
            node = node[key]
        except (KeyError, IndexError, TypeError):
            return _ABSENT
    return node


def _with_holes(value: Any, says: Sequence[str]) -> Any:
    if type(value) is str:
        return _Hole(says.index(value)) if value and value in says else value
    if type(value) is dict:
        return {key: _with_holes(each, says) for key, each in value.items()}
    if type(value) is list:
        return [_with_holes(each, says) for each in value]
    return value


def _filled(value: Any, says: Sequence[str]) -> Any:
    if type(value) is _Hole:
        at = int(value)
        return says[at] if at < len(says) else ""
    if type(value) is dict:
        return {key: _filled(each, says) for key, each in value.items()}
    if type(value) is list:
        return [_filled(each, says) for each in value]
    return value
