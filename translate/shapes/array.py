"""A JSON array of units, read as it arrives and written as it goes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from .. import jsontext
from ..algebra.events import JsonObject
from ..errors import DecodeError, TruncatedStream, excerpt
from ..limits import Limits
from . import Chunk, Cursor, Frame, Framing, Octets, too_large
from .lines import RidingWriter, inside

_TOKENS = re.compile(rb'["\\\[\]{},]')
_SPACE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"


class ArrayReader:
    """Finds the elements of one top-level array; each is a unit, complete at its closing bracket.

    ``bare``: one object in place of the array is the only unit. ``tolerant``: the ``]`` may be missing, as in a saved
    trace whose terminal unit says that it is whole; else the input is cut short then.
    """

    framing: Framing | None = None

    def __init__(self, limits: Limits, *, bare: bool = False, tolerant: bool = False) -> None:
        self._tolerant = tolerant
        self._limit = limits.unit
        self._octets = Octets()
        self._head: bytes | None = b""
        self._opening = b"[{" if bare else b"["
        self._sole = False
        self._depth = 0
        self._text = False
        self._escaped = False
        self._element = bytearray()
        self._said = False
        self._comma = False
        self._offset = 0
        self._start = 0
        self.cursor = Cursor()
        self.ended = False

    def feed(self, chunk: Chunk) -> Iterator[Frame]:
        data = self._octets(chunk)
        if self._head is not None:
            data = self._head + data
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._head = data
                return iter(())
            self._head = None
            self._offset = len(_BOM) if data.startswith(_BOM) else 0
            data = data.removeprefix(_BOM)
        return self._elements(data)

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
                position += self._in_text(token, last=position == len(data))
                continue
            if self._depth == 0:
                self._outside(data[:at], base)
                if self.ended or token not in self._opening:
                    raise self._stray(data[at:], base + at)
                self._sole = token == b"{"
                self._depth, start = (2, at) if self._sole else (1, position)
                self._start = base + start
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
                elif self._depth == 1:
                    yield from self._complete(data[start:position])
                    self._said, self._depth = True, 0 if self._sole else 1
                    start, self._start = position, base + position
                if self._depth == 0:
                    self.ended = True
                    self._outside(data[position:], base + position)
                    return
        if start is not None:
            self._hold(data[start:])
        elif data:
            self._outside(data, base)

    def _in_text(self, token: bytes, *, last: bool) -> int:
        """How many characters a token within text takes with it; ``last``: they are in the next chunk."""
        escapes = token == b"\\"
        self._text = token != b'"'
        self._escaped = escapes and last
        return int(escapes)

    def one(self, chunk: Chunk) -> Frame | None:
        return None

    def passes(self, size: int) -> bool:
        return False

    def close(self) -> Iterator[Frame]:
        """Raises :class:`TruncatedStream` where the end is missing and has to be there."""
        yield from self._elements((self._head or b"") + self._octets.rest())
        rest = bytes(self._element.strip(_SPACE))
        offset = self._start + len(self._element) - len(self._element.lstrip(_SPACE))
        if rest and self._said:
            raise self._stray(rest, offset)
        if self._depth and self._tolerant:
            yield Frame(rest or None, offset, whole=False)
        elif self._depth:
            error = TruncatedStream("the input ended within a JSON array", expected="]", excerpt=excerpt(rest) or None)
            error.offset = offset
            raise error

    def _hold(self, piece: bytes) -> None:
        self._element += piece
        if len(self._element) > self._limit:
            raise too_large(self._limit, self._start)

    def _complete(self, piece: bytes) -> tuple[Frame, ...]:
        """End an element, or the white space around one, which is no frame."""
        self._hold(piece)
        element = bytes(self._element)
        self._element.clear()
        text = element.strip(_SPACE)
        if not text:
            return ()
        offset = self._start + len(element) - len(element.lstrip(_SPACE))
        if self._said:
            raise self._stray(text, offset)
        return (Frame(text, offset),)

    def _outside(self, data: bytes, offset: int) -> None:
        """What stands outside the brackets may only be white space."""
        rest = data.lstrip(_SPACE)
        if rest:
            raise self._stray(rest, offset + len(data) - len(rest))

    def _stray(self, data: bytes, offset: int) -> DecodeError:
        error = DecodeError("not a JSON array of units", expected="[unit, …]", excerpt=excerpt(data))
        error.offset = offset
        return error


class ArrayWriter(RidingWriter):
    """Writes a JSON array. It is closed after the terminal unit alone: what was broken off is no array."""

    joined = True

    def __init__(self) -> None:
        super().__init__()
        self._before = b"["

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        unit, carry = self.riding(unit, carry)
        if unit is not None:
            text = jsontext.dumps(unit)
            out.append(self._before + (inside(text, jsontext.dumps_strict(carry)) if carry else text))
            self._before = b","

    def end(self, out: list[Any], *, failed: bool = False) -> None:
        out.append(b"]" if self._before == b"," else b"[]")


class Array:
    """The shape of one JSON array, which is cut short without its ``]``, whatever its units say.

    ``bare``: a body that is one object is read as its only unit.
    """

    objects = False
    media_types: Sequence[str] = ("application/json",)

    def __init__(self, *, bare: bool = False) -> None:
        self._bare = bare

    def reader(self, limits: Limits, strict: bool) -> ArrayReader:
        return ArrayReader(limits, bare=self._bare)

    def writer(self) -> ArrayWriter:
        return ArrayWriter()
