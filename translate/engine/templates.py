"""Templates: the bytes of a unit around its holes, by which runs are read and written.

1. Each hole is read as JSON by itself: bytes that are the same around a whole string and a whole number are a whole
   unit, whatever stands in them. What does not fit goes the other way, which finds out.
2. A template is learned from a unit that came (:mod:`translate.engine.run_reader`), with its carry, its event name and
   the spelling of its writer. That of a codec's own unit is the same for all streams, any other belongs to its stream.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import orjson

from .. import jsontext
from ..codec import NUMBER, Hot
from ..shapes import Framing
from .runs import DIGITS, SYNTHETIC, Mark

_TEXT, _NUMBER = b'"\\u0000text"', str(NUMBER).encode()
_ZERO: Final = ord("0")
KEPT: Final = 16
"""Ways of one unit that are kept with it, at most: the names in carries are the other side's."""


class Around(NamedTuple):
    """The bytes around the holes: ``head`` TEXT ``mid`` NUMBER ``tail``, or the other way round.

    Without a number, they are ``head`` TEXT ``tail``.
    """

    head: bytes
    mid: bytes
    tail: bytes
    number_first: bool

    def join(self, texts: Sequence[bytes], numbers: Sequence[bytes]) -> bytes:
        """The units with these holes."""
        head, mid, tail, number_first = self
        pieces = texts
        if mid:
            first, second = (numbers, texts) if number_first else (texts, numbers)
            pieces = [a + mid + b for a, b in zip(first, second, strict=True)]
        return head + (tail + head).join(pieces) + tail


def around(unit: bytes, framing: Framing, name: str | None, carry: bytes | None) -> Around | None:
    """The bytes of a unit with holes; ``None`` where its holes cannot be told from what is around them."""
    whole = framing(unit, name, carry)
    if whole.count(_TEXT) != 1 or whole.count(_NUMBER) > 1:
        return None
    at_text, at_number = whole.index(_TEXT), whole.find(_NUMBER)
    if at_number < 0:
        head, _, tail = whole.partition(_TEXT)
        return Around(head, b"", tail, False)
    first, second = (_TEXT, _NUMBER) if at_text < at_number else (_NUMBER, _TEXT)
    head, _, rest = whole.partition(first)
    mid, _, tail = rest.partition(second)
    return Around(head, mid, tail, at_number < at_text)


def canonical(hot: Hot, framing: Framing, mark: Mark) -> Sequence[Around]:
    """The bytes around the holes of the unit itself, ``mark`` in its carry, in each spelling that is usual.

    Kept with the unit, so that the next stream has them.
    """
    key = framing, mark
    found = hot.around.get(key)
    if found is None:
        carry = carry_of(mark)
        made = [around(spelled(hot.unit), framing, hot.name, carry) for spelled in SPELLINGS]
        found = tuple(dict.fromkeys(each for each in made if each is not None))
        if len(hot.around) < KEPT:
            hot.around[key] = found
    return found


def carry_of(mark: Mark) -> bytes | None:
    """The carry that holds a number, or says that one was made up."""
    if mark is None:
        return None
    return b'{"synthetic":true}' if mark is SYNTHETIC else jsontext.dumps({mark[0]: {mark[1]: NUMBER}})


def fits(block: bytes, found: Around) -> bool:
    """Whether the bytes of a unit have its holes there."""
    head, mid, tail, number_first = found
    if not (block.startswith(head) and block.endswith(tail)):
        return False
    return holes(block[len(head) : len(block) - len(tail)], mid, number_first) is not None


def columns(found: Around, pieces: Sequence[bytes]) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """The texts in JSON, and the numbers, of what stands between head and tail of units."""
    mid = found.mid
    if not mid:
        return pieces, ()
    if found.number_first:
        numbers, _, tokens = zip(*[piece.partition(mid) for piece in pieces], strict=True)
    else:
        tokens, _, numbers = zip(*[piece.rpartition(mid) for piece in pieces], strict=True)
    return tokens, numbers


def holes(piece: bytes, mid: bytes, number_first: bool) -> tuple[bytes, str, bytes] | None:
    """The text in JSON, itself, and the number, that stand between head and tail of one unit."""
    token, number = piece, b""
    if mid and number_first:
        number, _, token = piece.partition(mid)
    elif mid:
        token, _, number = piece.rpartition(mid)
    if mid and (not number.isdigit() or len(number) > DIGITS or (number[0] == _ZERO and len(number) > 1)):
        return None
    if token[:1] != b'"' or token[-1:] != b'"':
        return None
    try:
        text = orjson.loads(token)
    except ValueError:
        return None
    return token, text, number


def _spaced(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _spaced_ascii(value: Any) -> bytes:
    return json.dumps(value).encode()


SPELLINGS: Final = (jsontext.dumps, _spaced, _spaced_ascii)
"""How units are written, this library's way first."""
