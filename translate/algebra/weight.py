"""What an event weighs: the one measure of all that grows or waits with an open part, for :attr:`Limits.part`.

1. A fragment weighs its data, in characters, bytes or elements, and one where it has none. So does any bare event.
2. What else an event holds weighs about what its JSON text takes: states, annotations, foreign units, residues; and,
   where there is any, :data:`HELD` more for what holds it.
3. A residue of one whole number or one short word, made up or not, weighs nothing: the short ways keep it as such, or
   not at all. Its unit was longer than what is kept of it.
"""

from __future__ import annotations

import re
from typing import Any, Final

from .events import Append, Close, Event, Open, Ping, Residue
from .json_form import members

HELD: Final = 64
"""Bytes that an event takes which holds more than data."""
LIGHT: Final = 1 << 63
"""Whole numbers below this weigh nothing in a residue."""
_MARKS: Final = (bool, type(None))
WORD: Final = 32
"""Characters that a word may have to weigh nothing in a residue."""
_WORD: Final = re.compile(f"[A-Za-z0-9_-]{{0,{WORD}}}")
FEW: Final = 8
"""Residues of one number or word each that an event may have for nothing."""


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


def is_word(text: str) -> bool:
    """Whether it is a short word: of letters, digits, ``_`` and ``-``, which JSON spells in one way alone."""
    return _WORD.fullmatch(text) is not None


def is_small(value: Any) -> bool:
    """Whether it is a whole number or a short word."""
    return -LIGHT < value < LIGHT if type(value) is int else type(value) is str and is_word(value)


def is_light(own: Any) -> bool:
    """Whether a codec's residue is at most one whole number or short word, and a mark."""
    if type(own) is not dict or len(own) > 2:
        return False
    return not [value for value in own.values() if type(value) not in _MARKS and not is_small(value)]


def _of_residue(residue: Residue) -> int:
    heavy = list[tuple[str, Any]]()
    for name, own in residue.items():
        if type(own) is dict and len(own) == 1:
            (value,) = own.values()
            if type(value) is int and -LIGHT < value < LIGHT:
                # as most are
                continue
        if not is_light(own):
            heavy.append((name, own))
    if not heavy and len(residue) <= FEW:
        return 0
    return HELD + sum(len(name) + of_value(own) for name, own in (heavy or residue.items()))
