"""Templates: the bytes of a unit around its holes, by which runs are read and written.

1. Each hole is read as JSON by itself: bytes that are the same around a whole string, a whole number and a whole word
   are a whole unit, whatever stands in them. What does not fit goes the other way, which finds out.
2. A template is learned from a unit that came (:mod:`translate.engine.run_reader`), with its carry, its event name and
   the spelling of its writer. That of a codec's own unit is the same for all streams, any other belongs to its stream.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from .. import jsontext
from ..algebra.weight import WORD as LONGEST
from ..codec import COUNT, NUMBER, TEXT, WORD, Hot
from ..shapes import Framing
from .runs import DIGITS, Marks

AT_TEXT, AT_NUMBER, AT_WORD, AT_COUNT = range(4)
"""What stands in a hole: the text, the number and the word that are marks, the counter."""
Columns: TypeAlias = "list[Sequence[bytes]]"
"""What stands in the holes of units, in JSON, by its kind; nothing where there is no such hole."""
_HOLES: Final = [jsontext.dumps(hole) for hole in (TEXT, NUMBER, WORD, COUNT)]
_LETTERS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_ZERO: Final = ord("0")
KEPT: Final = 16
"""Ways of one unit that are kept with it, at most: the names in carries are the other side's."""


class Hole(NamedTuple):
    """A hole beside the text: its kind, the bytes ``mid`` between it and what is further in, and its side."""

    kind: int
    mid: bytes
    behind: bool


class Around(NamedTuple):
    """The bytes around the holes: ``head``, ``tail``, and between these the ``holes`` from the outside to the text.

    First those before the text, then those behind it. ``counted``: one of them is a counter.
    """

    head: bytes
    holes: tuple[Hole, ...]
    tail: bytes
    counted: bool

    def join(self, columns: Columns) -> bytes:
        """The units with these holes."""
        pieces = columns[AT_TEXT]
        for kind, mid, behind in reversed(self.holes):
            held = columns[kind]
            first, second = (pieces, held) if behind else (held, pieces)
            pieces = [a + mid + b for a, b in zip(first, second, strict=True)]
        return self.head + (self.tail + self.head).join(pieces) + self.tail

    def split(self, pieces: Sequence[bytes]) -> Columns:
        """What stands in the holes, of what stands between head and tail of units."""
        columns: Columns = [(), (), (), ()]
        for kind, mid, behind in self.holes:
            if behind:
                pieces, _, columns[kind] = zip(*[piece.rpartition(mid) for piece in pieces], strict=True)
            else:
                columns[kind], _, pieces = zip(*[piece.partition(mid) for piece in pieces], strict=True)
        columns[AT_TEXT] = pieces
        return columns


def around(unit: bytes, framing: Framing, name: str | None, carry: bytes | None) -> Around | None:
    """The bytes of a unit with holes; ``None`` where its holes cannot be told from what is around them."""
    rest = framing(unit, name, carry)
    counts = [rest.count(hole) for hole in _HOLES]
    if counts[AT_TEXT] != 1 or max(counts) > 1:
        return None
    kinds = sorted((kind for kind, count in enumerate(counts) if count), key=lambda kind: rest.index(_HOLES[kind]))
    between = list[bytes]()
    for kind in kinds:
        head, _, rest = rest.partition(_HOLES[kind])
        between.append(head)
    at = kinds.index(AT_TEXT)
    before = [Hole(kinds[i], between[i + 1], False) for i in range(at)]
    behind = [Hole(kinds[i], between[i], True) for i in range(len(kinds) - 1, at, -1)]
    return Around(between[0], (*before, *behind), rest, AT_COUNT in kinds)


def canonical(hot: Hot, framing: Framing, carry: Marks, *, padded: bool = False) -> Sequence[Around]:
    """The bytes around the holes of the unit itself, with marks in its ``carry``, in each spelling that is usual.

    ``padded``: with the word that pads it. Kept with the unit, so that the next stream has them.
    """
    key = framing, carry, padded
    found = hot.around.get(key)
    if found is None:
        text, unit = carry_of(carry), with_padding(hot) if padded else hot.unit
        made = [around(spelled(unit), framing, hot.name, text) for spelled in SPELLINGS]
        found = tuple(dict.fromkeys(each for each in made if each is not None))
        if len(hot.around) < KEPT:
            hot.around[key] = found
    return found


def with_padding(hot: Hot) -> dict[str, Any]:
    """The unit with the word that pads it."""
    assert hot.pad is not None
    return {**hot.unit, hot.pad[0]: WORD}


def carry_of(marks: Marks) -> bytes | None:
    """The carry that holds marks, and says that the unit's own number was ``made_up``."""
    carry: dict[str, Any] = {"synthetic": True} if marks.made_up else {}
    for mark, hole in ((marks.number, NUMBER), (marks.word, WORD)):
        if mark is not None:
            carry[mark.codec] = {mark.member: hole}
    return jsontext.dumps(carry) if carry else None


def fits(block: bytes, found: Around) -> bool:
    """Whether the bytes of a unit have its holes there."""
    head, tail = found.head, found.tail
    if not (block.startswith(head) and block.endswith(tail)):
        return False
    return read(block[len(head) : len(block) - len(tail)], found) is not None


def read(piece: bytes, found: Around, count: int | None = None) -> tuple[bytes, str, bytes, bytes] | None:
    """The text in JSON, itself, and the marks in JSON, of what stands between head and tail of one unit.

    ``count``: what its counter must be, if that matters.
    """
    number = word = b""
    for kind, mid, behind in found.holes:
        if behind:
            piece, _, held = piece.rpartition(mid)
        else:
            held, _, piece = piece.partition(mid)
        if kind == AT_COUNT:
            if not (_is_number(held) if count is None else held == b"%d" % count):
                return None
        elif kind == AT_NUMBER:
            # as _is_number, without a call
            if not held.isdigit() or len(held) > DIGITS or (held[0] == _ZERO and len(held) > 1):
                return None
            number = held
        elif _is_word(held):
            word = held
        else:
            return None
    if piece[:1] != b'"' or piece[-1:] != b'"':
        return None
    try:
        return piece, orjson.loads(piece), number, word
    except ValueError:
        return None


def _is_number(number: bytes) -> bool:
    return number.isdigit() and len(number) <= DIGITS and (number[0] != _ZERO or len(number) == 1)


def _is_word(word: bytes) -> bool:
    quoted = word[:1] == word[-1:] == b'"'
    return quoted and len(word) <= LONGEST + 2 and word.translate(None, _LETTERS) == b'""'


def are_numbers(numbers: Sequence[bytes]) -> bool:
    """Whether each is a whole number."""
    if not (b"".join(numbers).isdigit() and all(numbers) and max(map(len, numbers)) <= DIGITS):
        return False
    return b",0" not in b",".join([b"", *numbers]) or all(map(_is_number, numbers))


def are_words(words: Sequence[bytes]) -> bool:
    """Whether each is a short word in JSON."""
    whole = b"\0".join(words)
    if max(map(len, words)) > LONGEST + 2 or whole.translate(None, _LETTERS) != b"\0".join([b'""'] * len(words)):
        return False
    # none has more than two quotes, and these are its ends
    return whole[:1] == whole[-1:] == b'"' and whole.count(b'"\0"') == len(words) - 1


def _spaced(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _spaced_ascii(value: Any) -> bytes:
    return json.dumps(value).encode()


SPELLINGS: Final = (jsontext.dumps, _spaced, _spaced_ascii)
"""How units are written, this library's way first."""
