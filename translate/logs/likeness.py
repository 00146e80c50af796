"""How a stream, or a unit, tells its format by its beginning."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from ..algebra.events import Failure, Foreign, Ping
from ..engine.translator import EventReader
from ..errors import GrammarError, TranslateError
from ..limits import Limits
from ..registry import formats, resolve
from .records import text_of

_BEGINNING = 1 << 16
"""Characters of a text by which its format is told."""


def of_value(value: Any) -> tuple[str | None, int]:
    """The format of a stream or a unit, text, pieces of it or objects, and how well it is told.

    2: it says something; 1: it may be one.
    """
    if isinstance(value, list) and value and all(isinstance(piece, str) for piece in value):
        # pieces that were cut anywhere, or units
        return max(of_value("".join(map(text_of, value))), of_value(value[0]), key=itemgetter(1))
    if isinstance(value, str):
        # what has no object in it is no stream, and most members of records are of this kind
        return best(_bytes(value)) if "{" in value else (None, 0)
    units = value if isinstance(value, list) else [value]
    if not units or not isinstance(units[0], dict):
        return None, 0
    return best(units[0], objects=True)


def _bytes(text: str) -> bytes:
    return text[:_BEGINNING].encode("utf-8", "surrogatepass") + b"\n\n"


def format_of(head: bytes) -> str | None:
    """The format that bytes begin like, if any."""
    return best(head)[0]


def is_like(text: str, format: str) -> bool:
    """Whether a text begins like a stream of a format."""
    return _likeness(format, _bytes(text)) == 2


def best(head: Any, *, objects: bool = False) -> tuple[str | None, int]:
    """The format that something begins like, and how well: see :func:`_likeness`."""
    names = sorted((name for name in formats() if not objects or _objects(name)), key=_rank)
    likeness = {name: _likeness(name, head) for name in names}
    best = max(names, key=likeness.__getitem__)
    return (best, likeness[best]) if likeness[best] else (None, 0)


def _rank(name: str) -> tuple[bool, bool]:
    """Formats of objects tell the shape of bytes themselves, and those of others may take anything: they come last."""
    return _objects(name), not type(resolve(name)[0]).__module__.startswith("translate_codecs.")


def _objects(name: str) -> bool:
    return resolve(name)[1].objects


def _likeness(format: str, head: Any) -> int:
    """How well it reads as a stream of a format: 2: it says something; 1: it may be one; 0: it is none."""
    reader = EventReader(format)
    try:
        events = reader.feed(head)
    except GrammarError:
        # well-formed, and not the first of its stream
        return 1
    except Exception:
        # shapes of objects refuse what they are not made for in their own ways
        return 0
    said = {type(event) for event in events} - {Foreign, Ping}
    # all kinds of records have an error
    return 1 if said == {Failure} else 2 if said else 0


def length(value: Any, format: str) -> int:
    """How many units a value holds."""
    if not isinstance(value, str):
        return len(value) if isinstance(value, list) else 1
    reader = resolve(format)[1].reader(Limits(), False)
    try:
        return sum(frame.data is not None for frame in reader.feed(value + "\n\n"))
    except TranslateError:
        return 0
