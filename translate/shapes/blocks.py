"""How the blocks of an event stream are laid out: a carry, an event name, and one line of data.

A name that some reader would take for a line end is left out, and what the other side chose is not kept at length.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from . import Framing
from .lines import inside

CarryPlace: TypeAlias = Literal["comment", "member"]

_NO_NAME = re.compile("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029\ud800-\udfff]")
"""What an event name cannot have in it: what some reader takes for a line end, or half a character."""
_NAME = 64
"""Characters of an event name that is worth remembering."""

ERROR_LINE: Final = "\nerror"
"""The name of a unit that is the JSON of a line ``error: …``; no event can have it."""
ERROR_MEMBER: Final = "\nerror.error"
"""The name of a unit whose member ``error`` is the JSON of such a line."""


@lru_cache
def framing_of(place: CarryPlace, *, names: bool, errors: bool) -> Framing:
    """How blocks are laid out: the carry as a comment or as the unit's last member, the event name, and the data."""

    def framing(unit: bytes, name: str | None, carry: bytes | None) -> bytes:
        if name is None:
            before = b"data: "
        else:
            # names that the other side chose are not kept at length
            before = (_before_data if len(name) <= _NAME else _before_data.__wrapped__)(name, names, errors)
        if carry is None:
            return before + unit + b"\n\n"
        if place == "member":
            return before + inside(unit, carry) + b"\n\n"
        return b": carry " + carry + b"\n" + before + unit + b"\n\n"

    return framing


@lru_cache(maxsize=64)
def _before_data(name: str, names: bool, errors: bool) -> bytes:
    if errors and name in (ERROR_LINE, ERROR_MEMBER):
        return b"error: "
    if not names or name[:1] in ("", " ") or _NO_NAME.search(name):
        return b"data: "
    return b"event: " + name.encode() + b"\ndata: "
