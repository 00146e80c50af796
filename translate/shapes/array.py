"""A JSON array of units, read as it arrives (saved traces). Input only."""

from __future__ import annotations

import re

from ..errors import DecodeError, excerpt
from ..limits import Limits
from . import Chunk, Frame, octets, too_large

_TOKENS = re.compile(rb'["\\\[\]{},]')
_SPACE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"


class ArrayReader:
    """Finds the elements of one top-level array; each is a unit."""

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.unit
        self._depth = 0
        self._text = False
        self._escaped = False
        self._element: list[bytes] = []
        self._size = 0
        self._elements = 0
        self._comma = False
        self._offset = 0
        self._start = 0
        self.ended = False

    def feed(self, chunk: Chunk, out: list[Frame]) -> None:
        data = octets(chunk)
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
            if self.ended or (self._depth == 0 and token != b"["):
                raise self._stray(data[at:], base + at)
            if self._depth == 0:
                self._outside(data[:at], base)
                self._depth, start, self._start = 1, position, base + position
            elif token == b'"':
                self._text = True
            elif token in b"[{":
                self._depth += 1
            elif token == b"," and self._depth == 1:
                self._complete(data[start:at], out, after_comma=True)
                start, self._start = position, base + position
            elif token in b"]}":
                self._depth -= 1
                if self._depth == 0:
                    if token == b"}":
                        raise self._stray(data[at:], base + at)
                    self._complete(data[start:at], out, after_comma=False)
                    self.ended, start = True, None
                    self._outside(data[position:], base + position)
                    return
        if start is not None:
            self._hold(data[start:])
        elif data:
            self._outside(data, base)

    def close(self, out: list[Frame]) -> None:
        rest = b"".join(self._element).strip(_SPACE)
        if rest:
            out.append(Frame(rest, self._start, whole=False))

    def _hold(self, piece: bytes) -> None:
        if piece:
            self._element.append(piece)
            self._size += len(piece)
            if self._size > self._limit:
                raise too_large(self._limit, self._start)

    def _complete(self, piece: bytes, out: list[Frame], *, after_comma: bool) -> None:
        self._hold(piece)
        element = b"".join(self._element)
        self._element, self._size = [], 0
        text = element.strip(_SPACE)
        if text:
            lead = len(element) - len(element.lstrip(_SPACE))
            out.append(Frame(text, self._start + lead))
            self._elements += 1
        elif after_comma or self._comma:
            raise self._stray(b",", self._start)
        self._comma = after_comma

    def _outside(self, data: bytes, offset: int) -> None:
        """What stands outside the brackets may only be white space, and a BOM at the start."""
        if offset == 0:
            data = data.removeprefix(_BOM)
        if data.strip(_SPACE):
            raise self._stray(data, offset)

    def _stray(self, data: bytes, offset: int) -> DecodeError:
        error = DecodeError("not a JSON array of units", expected="[unit, …]", excerpt=excerpt(data))
        error.offset = offset
        return error
