"""The short way to read a carry: one of the common shapes, beside a unit whose events stand as they are.

All others go the long way, :mod:`translate.carry.reading`, which reads these too and says the same of them.
"""

from __future__ import annotations

from .. import jsontext
from ..algebra.events import Event, JsonObject
from ..algebra.weight import FEW, is_small
from .making import RESERVED, VERSION


def allows(carry: JsonObject, own: str) -> bool:
    """Whether a carry beside a unit of the codec ``own`` has one of the shapes.

    The version, the mark ``synthetic``, and few residues of one plain number or word each, which weigh nothing.
    """
    if len(carry) >= FEW:
        return False
    for name, value in carry.items():
        if name == "synthetic":
            if value is not True:
                return False
        elif name == "v":
            if value != VERSION or type(value) is not int:
                return False
        elif name in RESERVED or name == own or type(value) is not dict or len(value) != 1:
            return False
        else:
            ((member, held),) = value.items()
            if not is_small(held) or member[:1] == "$" or member == "synthetic":
                return False
    return True


def changes_end(carry: JsonObject, text: object) -> bool:
    """Whether a carry changes nothing but an end: behind that, no one has to know what was meant.

    ``text``: it stands there, and was read by ``orjson`` alone.
    """
    if type(text) is not bytes or b"$" in text or jsontext.doubtful(text, carry):
        return False
    events = carry.get("events")
    if type(events) is not list or len(events) != 1 or "before" in carry or "end" in carry or "member" in carry:
        return False
    return type(events[0]) is dict and events[0].get("as") == "finish"


def put(carry: JsonObject, first: Event, own: str) -> None:
    """Put what such a carry holds into the residue of the first event said by its unit."""
    residue = dict(first.residue) if first.residue else {}
    for name, value in carry.items():
        if name == "synthetic":
            residue[own] = {**residue.get(own, {}), "synthetic": True}
        elif name != "v":
            # the unit belongs to whoever gave it
            residue[name] = dict(value)
    first.residue = residue or None
