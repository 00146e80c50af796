"""What a unit says, in lenient mode where it has to be mended first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..algebra.events import Event, JsonObject
from ..algebra.grammar import Grammar
from ..codec import Encoder, Options
from ..errors import TranslateError

MENDS: Final = 4
"""How often one unit is mended, at most."""


def read_mended(
    wire: Encoder, options: Options, grammar: Grammar, unit: JsonObject, name: str | None, ahead: Sequence[Event]
) -> tuple[JsonObject | None, list[Event], list[Event]]:
    """What a unit says, last; in lenient mode it may have been mended, which also may put events ahead of it.

    No unit: it was left out.
    """
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
            grammar.allows([*ahead, *mended, *found.ahead])
            for event in found.ahead:
                wire.go_on(wire.whole([event]), [event])
                mended.append(event)
            if found.unit is None:
                return None, mended, []
            unit, name = found.unit, found.name
    return unit, mended, wire.read(unit, name)
