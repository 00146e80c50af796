"""Server-sent events, by WHATWG HTML 9.2.6.

1. UTF-8; one leading BOM is dropped. Lines end in CRLF, LF or CR; a CRLF may straddle two chunks.
2. ``field: value`` with one space after the colon removed; names are exact. Other fields, ``id`` and ``retry`` among
   them, say nothing here. A line that begins with a colon is a comment: a carry, or a keep-alive.
3. A blank line ends a block; one without a ``data`` line is no event. Several ``data`` lines join with LF.
4. The writer is careful: LF only, no ``id``, one ``data`` line an event.
"""

from __future__ import annotations

from typing import Any

from .. import jsontext
from ..errors import GrammarError, excerpt
from ..events import JsonObject
from ..limits import Limits
from . import Chunk, Frame, octets, too_large
from .lines import LineBuffer

_BOM = b"\xef\xbb\xbf"
_CARRY = b"carry "


class SseReader:
    """Reads event streams. ``done``: the data that marks the end of the stream, where the format has one."""

    def __init__(self, limits: Limits, strict: bool, done: bytes | None) -> None:
        self._limit = limits.unit
        self._strict = strict
        self._done = done
        self._lines = LineBuffer(cr=True)
        self._head: bytes | None = b""
        self._after_cr = False
        self._offset = 0
        self._block: list[bytes] = []
        self._block_size = 0
        self._block_offset = 0
        self.ended = False

    def feed(self, chunk: Chunk, out: list[Frame]) -> None:
        data = octets(chunk)
        if self._head is not None:
            data = self._without_bom(data)
        if self._after_cr and data:
            # a CR ended the last chunk: an LF that comes first now is the other half of that line end
            self._after_cr = False
            if data[:1] == b"\n":
                data = data[1:]
                self._skip(1)
        self._after_cr = data.endswith(b"\r") or (self._after_cr and not data)
        for line in self._lines.feed(data):
            self._line(line, out)
        if self._block_size + self._lines.size > self._limit:
            raise too_large(self._limit, self._block_offset)

    def _without_bom(self, data: bytes) -> bytes:
        data = (self._head or b"") + data
        if len(data) < len(_BOM) and _BOM.startswith(data):
            self._head = data
            return b""
        self._head = None
        if data.startswith(_BOM):
            self._skip(len(_BOM))
        return data.removeprefix(_BOM)

    def _skip(self, length: int) -> None:
        self._offset += length
        if not self._block:
            self._block_offset = self._offset

    def _line(self, line: bytes, out: list[Frame]) -> None:
        self._offset += len(line)
        line = line.rstrip(b"\r\n")
        if line:
            self._block.append(line)
            self._block_size += len(line)
            if self._block_size > self._limit:
                raise too_large(self._limit, self._block_offset)
            return
        if self._block:
            self._dispatch(out, whole=True)
        self._block_offset = self._offset

    def close(self, out: list[Frame]) -> None:
        rest = self._lines.rest() or self._head
        if rest:
            self._block.append(rest)
        if self._block:
            self._dispatch(out, whole=False)

    def _dispatch(self, out: list[Frame], *, whole: bool) -> None:
        block, self._block, self._block_size = self._block, [], 0
        name: str | None = None
        data: list[bytes] = []
        carries: list[bytes] = []
        pings = 0
        for line in block:
            field, colon, value = line.partition(b":")
            if value[:1] == b" ":
                value = value[1:]
            if field == b"data":
                data.append(value)
            elif field == b"event":
                name = self._text(value)
            elif not field and colon and value.startswith(_CARRY):
                carries.append(value[len(_CARRY) :])
            elif not field and colon:
                self._text(value)
                pings += 1
            else:
                self._text(line)
        text = (data[0] if len(data) == 1 else b"\n".join(data)) if data else None
        if text is not None and text == self._done:
            self.ended = True
            text = None
        elif self.ended and text is not None:
            error = GrammarError("a unit after the end marker", expected="nothing", excerpt=excerpt(text))
            error.offset = self._block_offset
            raise error
        if text is not None or carries or pings:
            out.append(Frame(text, self._block_offset, name or None, tuple(carries), pings, whole))

    def _text(self, value: bytes) -> str:
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            if self._strict:
                raise jsontext.not_utf8(value, error) from None
            return value.decode("utf-8", "replace")


class SseWriter:
    """Writes event streams."""

    joined = True

    def __init__(self, done: bytes | None) -> None:
        self._done = done
        self.pending: list[JsonObject] = []

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        head = b": carry " + jsontext.dumps_strict(carry) + b"\n" if carry else b""
        if unit is None:
            if head:
                out.append(head + b"\n")
            return
        if name is not None:
            head += b"event: " + name.encode("utf-8", "replace") + b"\n"
        out.append(head + b"data: " + jsontext.dumps(unit) + b"\n\n")

    def ping(self, out: list[Any]) -> None:
        out.append(b": keep-alive\n\n")

    def end(self, out: list[Any]) -> None:
        if self._done is not None:
            out.append(b"data: " + self._done + b"\n\n")


class Sse:
    """The shape of event streams."""

    objects = False

    def __init__(self, done: bytes | None = None) -> None:
        self._done = done

    def reader(self, limits: Limits, strict: bool) -> SseReader:
        return SseReader(limits, strict, self._done)

    def writer(self) -> SseWriter:
        return SseWriter(self._done)
