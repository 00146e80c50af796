"""A JSON array of units, read as it arrives (saved traces). Input only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import DecodeError, excerpt
from ..limits import Limits
from . import Chunk, Cursor, Frame, Framing, octets, too_large

_TOKENS = re.compile(rb'["\\\[\]{},]')
_SPACE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"


class ArrayReader:
    """Finds the elements of one top-level array; each is a unit, complete at its closing bracket."""

    framing: Framing | None = None

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.unit
        self._depth = 0
        self._text = False
        self._escaped = False
        self._element: list[bytes] = []
        self._size = 0
        self._said = False
        self._comma = False
        self._offset = 0
        self._start = 0
        self.cursor = Cursor()
        self.ended = False

    def feed(self, chunk: Chunk) -> Iterator[Frame]:
        return self._elements(octets(chunk))

    def _elements(self, data: bytes) -> Iterator[Frame]:
        base, self._offset = self._offset, self._offset + len(data)
        start = 0 if self._depth >= 1 else None
        position = 0
        if self._escaped and data:
            self._escaped = False
            position = 1
        while match := _TOKENS.search(data, position):
            at, token = match.start(), match[0]
            position = at + 1
            if self._text:
                if token == b'"':
                    self._text = False
                elif token == b"\\":
                    if position == len(data):
                        self._escaped = True
                    position += 1
                continue
            if self._depth == 0:
                self._outside(data[:at], base)
                if self.ended or token != b"[":
                    raise self._stray(data[at:], base + at)
                self._depth, start, self._start = 1, position, base + position
            elif token == b'"':
                self._text = True
            elif token in b"[{":
                self._depth += 1
            elif token == b"," and self._depth == 1:
                yield from (frames := self._complete(data[start:at]))
                if not frames and not self._said:
                    raise self._stray(b",", base + at)
                self._said, self._comma = False, True
                start, self._start = position, base + position
            elif token in b"]}":
                self._depth -= 1
                if self._depth == 0:
                    if token == b"}":
                        raise self._stray(data[at:], base + at)
                    yield from (frames := self._complete(data[start:at]))
                    if self._comma and not frames and not self._said:
                        raise self._stray(b"]", base + at)
                    self.ended, start = True, None
                    self._outside(data[position:], base + position)
                    return
                if self._depth == 1:
                    yield from self._complete(data[start:position])
                    self._said = True
                    start, self._start = position, base + position
        if start is not None:
            self._hold(data[start:])
        elif data:
            self._outside(data, base)

    def close(self) -> Iterator[Frame]:
        held = b"".join(self._element)
        rest = held.strip(_SPACE)
        offset = self._start + len(held) - len(held.lstrip(_SPACE))
        if rest and self._said:
            raise self._stray(rest, offset)
        if self._depth:
            yield Frame(rest or None, offset, whole=False)

    def _hold(self, piece: bytes) -> None:
        if piece:
            self._element.append(piece)
            self._size += len(piece)
            if self._size > self._limit:
                raise too_large(self._limit, self._start)

    def _complete(self, piece: bytes) -> tuple[Frame, ...]:
        """End an element, or the white space around one, which is no frame."""
        self._hold(piece)
        element = b"".join(self._element)
        self._element, self._size = [], 0
        text = element.strip(_SPACE)
        if not text:
            return ()
        offset = self._start + len(element) - len(element.lstrip(_SPACE))
        if self._said:
            raise self._stray(text, offset)
        return (Frame(text, offset),)

    def _outside(self, data: bytes, offset: int) -> None:
        """What stands outside the brackets may only be white space, and a BOM at the start."""
        rest = (data if offset else data.removeprefix(_BOM)).lstrip(_SPACE)
        if rest:
            raise self._stray(rest, offset + len(data) - len(rest))

    def _stray(self, data: bytes, offset: int) -> DecodeError:
        error = DecodeError("not a JSON array of units", expected="[unit, …]", excerpt=excerpt(data))
        error.offset = offset
        return error
