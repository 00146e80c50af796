"""Long strings of JSON that stay in the text that they are part of: memory is that of the text, and little more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from .. import jsontext

PIECE: Final = 1 << 16
"""Bytes of a string from which it is long, and of a piece of one, at most."""
WIDE: Final = 1 << 20
"""Bytes of a unit from which a string may stay in it."""
_AROUND: Final = 4096
"""Bytes before and behind the one long string of a unit, at most."""
_WHOLE = re.compile(rb"(?:[^\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+", re.DOTALL)
"""Matches what holds no part of an escape."""
_OPENING = re.compile(rb'(?:[^"]*+"(?:[^"\\]++|\\.)*+")*+[^"]*+"', re.DOTALL)
"""Matches up to the quote of a string that is not closed."""
_INSIDE = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_MARK: Final = "\ue000 a long string \ue000"
_MARKED: Final = jsontext.dumps(_MARK)


class LongText:
    """A long string, in the text that it is part of; ``start`` and ``end``: of what is between its quotes."""

    def __init__(self, data: bytes | bytearray, start: int, end: int) -> None:
        self._data, self._start, self._end = data, start, end

    def pieces(self) -> Iterator[str]:
        """The string, which may be cut within a surrogate pair.

        Raises :class:`DecodeError` where it is none, or not UTF-8.
        """
        at = self._start
        while at < self._end:
            piece = self._piece(at)
            at += len(piece)
            yield jsontext.loads(b'"' + piece + b'"', len(piece))

    def _piece(self, at: int) -> bytes:
        if self._end - at <= PIECE:
            return bytes(self._data[at : self._end])
        found = _WHOLE.match(self._data, at, at + PIECE)
        end = at + PIECE if found is None or found.end() == at else found.end()
        while end > at + PIECE - 8 and self._data[end] & 0xC0 == 0x80:
            # within a character
            end -= 1
        return bytes(self._data[at:end])


class Shorn(NamedTuple):
    """A unit whose one long string is a mark: ``rest`` is its JSON text, without ``text``."""

    rest: bytes
    text: LongText

    def put(self, value: Any) -> Any:
        """The value of the rest with the text in place of its mark; ``None`` where that is not one value of it."""
        found, value = self._put(value)
        return value if found == 1 else None

    def _put(self, value: Any) -> tuple[int, Any]:
        if value == _MARK:
            return 1, self.text
        if type(value) is list:
            values = [self._put(each) for each in value]
            return sum(n for n, _ in values), [each for _, each in values]
        if type(value) is dict:
            members = {key: self._put(each) for key, each in value.items()}
            return sum(n for n, _ in members.values()), {key: each for key, (_, each) in members.items()}
        return 0, value


def shorn(data: bytes) -> Shorn | None:
    """A unit that is one long string, but for little; ``None`` for any other."""
    opening = _OPENING.match(data, 0, _AROUND)
    if opening is None:
        return None
    inside = _INSIDE.match(data, opening.end())
    start, end = opening.end(), inside.end() if inside is not None else 0
    if end - start < PIECE or len(data) - end > _AROUND or data[end : end + 1] != b'"':
        return None
    return Shorn(data[: start - 1] + _MARKED + data[end + 1 :], LongText(data, start, end))
