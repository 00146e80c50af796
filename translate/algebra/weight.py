"""What an event weighs: the one measure of all that grows or waits with an open part, for :attr:`Limits.part`.

1. A fragment weighs its data, in characters, bytes or elements, and one where it has none. So does any bare event.
2. What else an event holds weighs about what its JSON text takes: states, annotations, foreign units, residues; and,
   where there is any, :data:`HELD` more for what holds it.
3. A residue of one whole number, made up or not, weighs nothing: the short ways keep it as a number, or not at all.
"""

from __future__ import annotations

from typing import Any, Final

from .events import Append, Close, Event, Open, Ping, Residue
from .json_form import members

HELD: Final = 64
"""Bytes that an event takes which holds more than data."""
LIGHT: Final = 1 << 63
"""Whole numbers below this weigh nothing in a residue."""
_MARKS: Final = (bool, type(None))
FEW: Final = 8
"""Residues of one number each that an event may have for nothing."""


def weight(event: Event) -> int:
    """Of one event."""
    cls = type(event)
    if cls is Append:
        size = len(event.data) or 1  # type: ignore[union-attr]
        if event.state is not None:  # type: ignore[union-attr]
            size += HELD + of_value(event.state.values)  # type: ignore[union-attr]
    elif cls is Close or cls is Ping or cls is Open:
        size = 1
    else:
        size = 1 + HELD + of_value(members(event))
    return size + _of_residue(event.residue) if event.residue else size


def of_value(value: Any) -> int:
    """Of a JSON value: about the length of its text."""
    size, stack = 0, [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is str or kind is bytes:
            size += 2 + len(item)
        elif kind is dict:
            size += 2 + 4 * len(item) + sum(map(len, item))
            stack.extend(item.values())
        elif kind is list:
            size += 2 + len(item)
            stack.extend(item)
        elif kind is int:
            size += 1 + item.bit_length() // 3
        else:
            size += len(getattr(item, "text", "")) or 4
    return size


def is_light(own: Any) -> bool:
    """Whether a codec's residue is at most one whole number, and a mark."""
    if type(own) is not dict or len(own) > 2:
        return False
    return all(type(value) in _MARKS or (type(value) is int and -LIGHT < value < LIGHT) for value in own.values())


def _of_residue(residue: Residue) -> int:
    heavy = [(name, own) for name, own in residue.items() if not is_light(own)]
    if not heavy and len(residue) <= FEW:
        return 0
    return HELD + sum(len(name) + of_value(own) for name, own in (heavy or residue.items()))
