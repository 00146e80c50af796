"""Records and documents with long strings, which stay in their text: memory is that of the text, and little more.

1. A string of more than 64 KiB, in JSON text of more than 1 MiB, is not made a Python string, which may take four bytes
   for each of its characters. A mark stands for it in the value, and its bytes stay where they are.
2. What such a stream becomes is put on disk as it comes, and read from there as the record is written.
3. All that is written is what would be written of short strings; long strings that are not converted stay as they are
   spelled.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from secrets import token_hex
from typing import Any, Protocol, cast

import orjson

from .. import jsontext
from ..shapes.long import PIECE, LongText
from .bodies import text_of
from .places import CHUNK, Spool

WIDE = CHUNK
"""Bytes of JSON text from which its long strings stay in it."""
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


class Literal(Protocol):
    """A JSON value that is written in pieces."""

    def literal(self) -> Iterator[bytes]:
        """All of it."""
        ...


class Text(LongText):
    """A long string of a record."""

    def literal(self) -> Iterator[bytes]:
        """As it is spelled."""
        yield b'"'
        for at in range(self._start, self._end, CHUNK):
            yield bytes(self._data[at : min(at + CHUNK, self._end)])
        yield b'"'

    @property
    def encoded(self) -> bool:
        """Whether it is base64 rather than a stream: there is no stream without a brace."""
        if self._data.find(b"{", self._start, self._end) >= 0:
            return False
        with suppress(ValueError):
            return all(True for _ in self.decoded())
        return False

    def decoded(self) -> Iterator[bytes]:
        """The bytes that it is base64 of. Raises ``ValueError`` where it is none."""
        rest = ""
        for piece in self.pieces():
            text = rest + piece
            whole = len(text) - len(text) % 4
            rest = text[whole:]
            yield b64decode(text[:whole], validate=True)
        yield b64decode(rest, validate=True)


class Pieces:
    """A long stream in many strings."""

    encoded = False

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = pieces

    def pieces(self) -> Iterator[str]:
        """The stream, as it is cut."""
        return map(text_of, self._pieces)

    def decoded(self) -> Iterator[bytes]:
        """None of it is base64 as a whole."""
        return iter(())

    def ends(self, end: str) -> bool:
        """Whether a unit ends within it."""
        last = ""
        for piece in self.pieces():
            found = (last + piece).replace("\r\n", "\n").find(end)
            if found >= 0 and last + piece:
                return True
            last = (last + piece)[-2 * len(end) :]
        return False


class Made:
    """What a long stream became, on disk: bytes; or, with ``lines``, JSON values, a line each; ``encoded``: base64."""

    def __init__(self, *, lines: bool, encoded: bool) -> None:
        self.spool = Spool()
        self._lines, self._encoded = lines, encoded

    def literal(self) -> Iterator[bytes]:
        """As text, or a list."""
        opening, closing = (b"[", b"]") if self._lines and not self._encoded else (b'"', b'"')
        yield opening
        if self._encoded:
            # a list of units is so as a whole
            ends = ((b"[",), (b"]",)) if self._lines else ((), ())
            yield from _base64(chain(ends[0], self._joined() if self._lines else self.spool.pieces(), ends[1]))
        elif self._lines:
            yield from self._joined()
        else:
            decoder = getincrementaldecoder("utf-8")()
            for piece in self.spool.pieces():
                yield jsontext.dumps(decoder.decode(piece))[1:-1]
        yield closing

    def _joined(self) -> Iterator[bytes]:
        left = self.spool.size
        for piece in self.spool.pieces():
            left -= len(piece)
            yield (piece if left else piece[:-1]).replace(b"\n", b",")

    def units(self) -> Iterator[Any]:
        """The values of lines."""
        rest = b""
        for piece in self.spool.pieces():
            *lines, rest = (rest + piece).split(b"\n")
            yield from (jsontext.loads(line, len(line)) for line in lines)


def read(text: bytes, nesting: int) -> tuple[Any, bool]:
    """The value of JSON text, and whether it has plain numbers alone, as nearly all do: then it is written faster."""
    # as nearly all are: a context manager would cost as much as the reading
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return jsontext.loads(text, nesting), False
    if not jsontext.doubtful(text, value):
        return value, True
    return jsontext.loads(text, nesting, read=value), False


def _base64(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        data = rest + piece
        whole = len(data) - len(data) % 3
        rest = data[whole:]
        yield b64encode(data[:whole])
    yield b64encode(rest)


class Wide:
    """A JSON value, :attr:`value`, in which marks stand for its long strings; ``plain``: see :func:`read`.

    Raises :class:`DecodeError` and :class:`LimitExceeded` as :func:`translate.jsontext.loads` does, of long strings
    too.
    """

    def __init__(self, data: bytes | bytearray, nesting: int) -> None:
        self._held: dict[str, Literal] = {}
        self._mark = ""
        pieces = [] if len(data) < WIDE else [*self._short(data)]
        # it is read alike, whichever of the two it is
        self.value, self.plain = read(b"".join(pieces) if pieces else cast(bytes, data), nesting)
        for held in self._held.values():
            # what is not looked at goes out as it is spelled
            for _ in held.pieces() if isinstance(held, Text) else ():
                pass

    def _short(self, data: bytes | bytearray) -> Iterator[bytes]:
        self._mark = f"\ue000{token_hex(8)}:"
        at = 0
        for found in _STRING.finditer(data):
            start, end = found.span()
            if end - start > PIECE:
                text = Text(data, start + 1, end - 1)
                yield bytes(data[at:start])
                yield jsontext.dumps(self.hold(text))
                at = end
        if at:
            yield bytes(data[at:])

    def hold(self, literal: Literal) -> str:
        """The mark that stands for something long."""
        self._mark = self._mark or f"\ue000{token_hex(8)}:"
        mark = f"{self._mark}{len(self._held)};"
        self._held[mark] = literal
        return mark

    def of(self, value: Any) -> Any:
        """A value, or what is long and it stands for."""
        return self._held.get(value, value) if isinstance(value, str) else value

    def written(self, value: Any) -> Iterator[bytes]:
        """The JSON text of a value with marks. Raises :class:`DecodeError` where a long string is none."""
        text = jsontext.dumps_plain(value) if self.plain else jsontext.dumps(value)
        if not self._held:
            yield text
            return
        marks = re.compile(b'"(' + re.escape(self._mark.encode()) + rb'\d+;)"')
        at = 0
        for found in marks.finditer(text):
            yield text[at : found.start()]
            yield from self._held[found[1].decode()].literal()
            at = found.end()
        yield text[at:]
