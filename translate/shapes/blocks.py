"""How the block of one server-sent event is laid out, and the names of units that stand there in other ways."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from . import Framing
from .lines import inside

CarryPlace: TypeAlias = Literal["comment", "member"]
BARE_BODY: Final = "\n"
"""The name of a unit that is a bare JSON body; no event can have it."""
ERROR_LINE: Final = "\nerror"
"""The name of a unit that is the JSON of a line ``error: …``; no event can have it."""
ERROR_MEMBER: Final = "\nerror.error"
"""The name of a unit whose member ``error`` is the JSON of such a line."""
_NO_NAME = re.compile("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029\ud800-\udfff]")
"""What an event name cannot have in it: what some reader takes for a line end, or half a character."""
_NAME = 64
"""Characters of an event name that is worth remembering."""


@lru_cache
def framing_of(place: CarryPlace, *, names: bool, errors: bool) -> Framing:
    """How blocks are laid out: the carry as a comment or as the unit's last member, the event name, and the data."""

    def framing(unit: bytes, name: str | None, carry: bytes | None) -> bytes:
        before = _before_data(name, names, errors) if name is not None else b"data: "
        if carry is None:
            return before + unit + b"\n\n"
        if place == "member":
            return before + inside(unit, carry) + b"\n\n"
        return b": carry " + carry + b"\n" + before + unit + b"\n\n"

    return framing


framing = framing_of("comment", names=True, errors=False)
"""The framing without options."""


def _before_data(name: str, names: bool, errors: bool) -> bytes:
    # names that the other side chose are not kept at length
    return (_known_before if len(name) <= _NAME else _known_before.__wrapped__)(name, names, errors)


@lru_cache(maxsize=64)
def _known_before(name: str, names: bool, errors: bool) -> bytes:
    if errors and name in (ERROR_LINE, ERROR_MEMBER):
        return b"error: "
    if not names or name[:1] in ("", " ") or _NO_NAME.search(name):
        return b"data: "
    return b"event: " + name.encode() + b"\ndata: "
