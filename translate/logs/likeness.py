"""How a stream, or a unit, tells its format by its beginning."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from ..errors import TranslateError
from ..limits import Limits
from ..recognise import best, likeness
from ..registry import resolve
from .bodies import text_of

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


def is_like(text: str, format: str) -> bool:
    """Whether a text begins like a stream of a format."""
    return likeness(format, _bytes(text)) == 2


def length(value: Any, format: str) -> int:
    """How many units a value holds."""
    if not isinstance(value, str):
        return len(value) if isinstance(value, list) else 1
    reader = resolve(format)[1].reader(Limits(), False)
    try:
        return sum(frame.data is not None for frame in reader.feed(value + "\n\n"))
    except TranslateError:
        return 0
