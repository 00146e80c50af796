"""The unit that is expected where a stream has repeated itself (:mod:`translate.carry.repeats`).

What came before counts only where it makes a unit that says what is meant; else the codec's own unit is expected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import jsontext
from ..algebra.events import Event, JsonObject
from ..algebra.json_form import same_event
from .repeats import Repeats


@dataclass(slots=True)
class Canonical:
    """A unit as its codec writes it. ``form``: what it says, in words; ``says``: the texts among that."""

    unit: JsonObject
    form: tuple[str, ...]
    says: list[str]


class Expecting:
    """What is expected of the units of one stream."""

    def __init__(
        self, repeats: Repeats, probe: Callable[[JsonObject], list[Event] | None], fault: Callable[[str], None]
    ) -> None:
        """``probe``: what a unit would say here, ``None`` where it may not stand here; it changes nothing.

        ``fault`` is told of values that a carry should not have, and returns where they are to be left out.
        """
        self._repeats = repeats
        self._probe = probe
        self._fault = fault

    def unit(
        self, canonical: Canonical, meant: Sequence[Event], values: object, there: JsonObject | None = None
    ) -> JsonObject:
        """The unit as this stream has repeated itself, with what moves in it. ``there``: the one that stands there."""
        if there is not None and values is None and self._meets(canonical, there):
            return there

        def right(found: JsonObject) -> bool:
            return self._is_right(found, canonical, meant, there)

        found = self._repeats.foreseen(canonical.form, canonical.unit, canonical.says, values, right)
        if found is not None:
            return found
        self._fault("the values in it make a unit that says something else")
        return self.unit(canonical, meant, None)

    def moving(self, canonical: Canonical, said: Sequence[Event], unit: JsonObject) -> list[Any] | None:
        """What moves in ``unit``, which says ``said``, where that alone makes no unit that says something else."""
        repeats = self._repeats
        expected = repeats.expected(canonical.form, canonical.unit, canonical.says)
        values = repeats.values(canonical.form, expected, unit)
        moved = None if values is None else repeats.moved(canonical.form, expected, values)
        return values if moved is not None and self._is_right(moved, canonical, said, unit) else None

    def _meets(self, canonical: Canonical, unit: JsonObject) -> bool:
        expected = self._repeats.expected(canonical.form, canonical.unit, canonical.says)
        return self._repeats.meets(expected, unit)

    def _is_right(
        self, found: JsonObject, canonical: Canonical, meant: Sequence[Event], unit: JsonObject | None
    ) -> bool:
        """Whether a unit says what is meant, or what the canonical one says. ``unit``: one that does."""
        if unit is not None and jsontext.same(found, unit):
            return True
        said = self._probe(found)
        return said is not None and (_same(said, meant) or _same(said, self._probe(canonical.unit) or ()))


def _same(said: Sequence[Event], meant: Sequence[Event]) -> bool:
    return len(said) == len(meant) and all(map(same_event, said, meant))
