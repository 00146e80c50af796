"""The typed limits that bound memory."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what a stream may make the library hold. Passing one raises :class:`translate.LimitExceeded`.

    ``unit``     bytes of one wire unit (a line, an event's block, an array's element)
    ``part``     characters, bytes or vector elements of one open part, one at least a fragment, and with them all else
                 that its units hold and that may have to wait with it: unknown units and members, states, annotations
    ``nesting``  levels of arrays and objects in one unit, and in a call's arguments
    ``message``  characters of the items of one message, in formats whose end repeats it
    ``carry``    bytes of one carry; one over it is an error in strict mode and ignored otherwise
    ``state``    characters of one envelope of state in a request; one over it is left out and reported
    """

    unit: int = 256 * 1024 * 1024
    part: int = 1024 * 1024 * 1024
    message: int = 1024 * 1024 * 1024
    nesting: int = 256
    carry: int = 256 * 1024 * 1024
    state: int = 256 * 1024

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not int or value < 0:
                raise ValueError(f"the limit {field.name!r} is a whole number from 0, not {value!r}")
