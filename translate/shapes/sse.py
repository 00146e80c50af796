"""Server-sent events, by WHATWG HTML 9.2.6.

1. UTF-8; one leading BOM is dropped. Lines end in CRLF, LF or CR; a CRLF may straddle two chunks.
2. ``field: value`` with one space after the colon removed; names are exact. Other fields, ``id`` and ``retry`` among
   them, say nothing here. A line that begins with a colon is a comment: a carry, or a keep-alive.
3. A blank line ends a block; one without a ``data`` line is no event. Several ``data`` lines join with LF.
4. The writer is careful: LF only, no ``id``, one ``data`` line an event.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from .. import jsontext
from ..algebra.events import JsonObject
from ..errors import GrammarError, excerpt
from ..limits import Limits
from . import EVENT_STREAM, Chunk, Cursor, Frame, Framing, octets, too_large

_BOM = b"\xef\xbb\xbf"
_CARRY = b"carry "
_PLAIN = re.compile(rb"(?:: carry (.*+)\n)?+(?:event: ([0-9A-Za-z]++)\n)?+data: (.*+)\n\n")
"""Matches, between LFs alone, a block as careful writers write it: a carry, a name, either or none; one data line."""
_KEEP = 4096
_new = tuple.__new__
_LF = 10
_NO_NAME = re.compile("[\n\r\ud800-\udfff]")
"""What an event name cannot have in it: a line end, or half a character."""


class LineBuffer:
    """Cuts bytes into lines, with their ends (LF, CR or CRLF), in time linear in the input however it is cut.

    An unfinished line is kept as the chunks it came in, and joined once.
    """

    __slots__ = ("_held", "size")

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self.size = 0
        """Bytes of the unfinished line."""

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that ``data`` completes."""
        lines = data.splitlines(keepends=True)
        if not lines:
            return lines
        rest = b"" if lines[-1].endswith((b"\n", b"\r")) else lines.pop()
        if lines and self._held:
            lines[0] = self.rest() + lines[0]
        if rest:
            self._held.append(rest)
            self.size += len(rest)
        return lines

    def rest(self) -> bytes:
        """What is held, given up."""
        rest = b"".join(self._held)
        self._held.clear()
        self.size = 0
        return rest


def framing(unit: bytes, name: str | None, carry: bytes | None) -> bytes:
    """A block: the carry as a comment, the event name, and the data."""
    before = _before_data(name)
    if carry is not None:
        return b": carry " + carry + b"\n" + before + unit + b"\n\n"
    return before + unit + b"\n\n"


@lru_cache(maxsize=64)
def _before_data(name: str | None) -> bytes:
    named = name is not None and name[:1] not in ("", " ") and not _NO_NAME.search(name)
    return b"event: " + name.encode() + b"\ndata: " if name is not None and named else b"data: "


class SseReader:
    """Reads event streams. ``done``: the data that marks the end of the stream, where the format has one."""

    framing: Framing | None = staticmethod(framing)

    def __init__(self, limits: Limits, strict: bool, done: bytes | None) -> None:
        self._limit = limits.unit
        self._strict = strict
        self._done = done
        self._lines = LineBuffer()
        self._head: bytes | None = b""
        self._after_cr = False
        self._kept = b""
        self._block: list[bytes] = []
        self._block_size = 0
        self._block_offset = 0
        self.cursor = Cursor()
        self.ended = False

    def feed(self, chunk: Chunk) -> Iterator[Frame]:
        data = octets(chunk)
        if self._head is not None:
            data = self._without_bom(data)
        if self._after_cr and data:
            # a CR ended the last chunk: an LF that comes first now is the other half of that line end
            self._after_cr = False
            if data[:1] == b"\n":
                data = data[1:]
                self._skip(1)
        if self._block or self._lines.size:
            return self._line_by_line(data)
        if self._kept:
            data, self._kept = self._kept + data, b""
        self.cursor.turn(data)
        return self._blocks()

    def close(self) -> Iterator[Frame]:
        rest, self._kept, self._head = self._kept + (self._head or b""), b"", None
        return self._last(rest)

    def _blocks(self) -> Iterator[Frame]:
        """Between LFs alone a blank line is found at once; with a CR in the chunk, line by line."""
        cursor, limit, done, match = self.cursor, self._limit, self._done, _PLAIN.match
        data, base = cursor.data, cursor.base
        plain = b"\r" not in data
        while plain:
            at = cursor.at
            found = match(data, at) if not self.ended else None
            if found is not None:
                carry, name, text = found.groups()
                end = found.end()
                if text != done and end - at - 2 <= limit:
                    cursor.at = end
                    carries = () if carry is None else (carry,)
                    # as Frame(…), without its default arguments
                    yield _new(Frame, (text, base + at, name and name.decode(), carries, 0, True))
                    continue
            end = data.find(b"\n\n", at)
            if end < 0 or end - at > limit:
                # a block that is not all here; where the limit is passed is found line by line
                break
            if data[at] == _LF:
                # a blank line more
                cursor.at += 1
                continue
            cursor.at = end + 2
            self._block_offset = base + at
            frame = self._frame(data[at:end].split(b"\n"), whole=True)
            if frame is not None:
                yield frame
        self._block_offset = cursor.offset
        rest = data[cursor.at :]
        if plain and len(rest) <= min(_KEEP, limit):
            # a short beginning of a block is cheaper to read again than to read line by line
            self._kept = rest
            cursor.turn(b"")
        else:
            yield from self._line_by_line(rest)

    def _line_by_line(self, data: bytes) -> Iterator[Frame]:
        self._after_cr = data.endswith(b"\r") or (self._after_cr and not data)
        self.cursor.turn(b"")
        for line in self._lines.feed(data):
            frame = self._line(line)
            if frame is not None:
                yield frame
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
        self.cursor.base += length
        if not self._block:
            self._block_offset = self.cursor.base

    def _line(self, line: bytes) -> Frame | None:
        self.cursor.base += len(line)
        line = line.rstrip(b"\r\n")
        frame = None
        if line:
            self._block.append(line)
            self._block_size += len(line)
            if self._block_size > self._limit:
                raise too_large(self._limit, self._block_offset)
            return None
        if self._block:
            frame = self._dispatch(whole=True)
        self._block_offset = self.cursor.base
        return frame

    def _last(self, rest: bytes) -> Iterator[Frame]:
        yield from self._line_by_line(rest)
        line = self._lines.rest()
        if line:
            self._block.append(line)
        frame = self._dispatch(whole=False) if self._block else None
        if frame is not None:
            yield frame

    def _dispatch(self, *, whole: bool) -> Frame | None:
        block, self._block, self._block_size = self._block, [], 0
        return self._frame(block, whole=whole)

    def _frame(self, block: list[bytes], *, whole: bool) -> Frame | None:
        """What a block says, if it says anything."""
        after_end = self.ended
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
        elif after_end and text is not None:
            error = GrammarError("a unit after the end marker", expected="nothing", excerpt=excerpt(text))
            error.offset = self._block_offset
            raise error
        if after_end:
            return None
        # the last block may have been cut anywhere, its comments too
        pings = pings if whole else 0
        if text is not None or carries or pings:
            return Frame(text, self._block_offset, name or None, tuple(carries), pings, whole)
        return None

    def _text(self, value: bytes) -> str:
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            if self._strict:
                found = jsontext.not_utf8(value, error)
                found.offset = self._block_offset
                raise found from None
            return value.decode("utf-8", "replace")


class SseWriter:
    """Writes event streams."""

    joined = True
    framing: Framing | None = staticmethod(framing)

    def __init__(self, done: bytes | None) -> None:
        """``done``: what marks the end, where it is written."""
        self._done = done
        self.pending: list[JsonObject] = []

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        text = jsontext.dumps_strict(carry) if carry else None
        if unit is not None:
            out.append(framing(jsontext.dumps(unit), name, text))
        elif text is not None:
            out.append(b": carry " + text + b"\n\n")

    def ping(self, out: list[Any]) -> None:
        out.append(b": keep-alive\n\n")

    def end(self, out: list[Any]) -> None:
        if self._done is not None:
            out.append(b"data: " + self._done + b"\n\n")


class Sse:
    """The shape of event streams."""

    objects = False
    media_types: Sequence[str] = EVENT_STREAM

    def __init__(self, done: bytes | None = None, *, writes_done: str = "always") -> None:
        """``done``: the data that marks the end; ``writes_done``: ``"always"``, or ``"never"``: it is only read."""
        self._done = done
        self._written = None if writes_done == "never" else done

    def reader(self, limits: Limits, strict: bool) -> SseReader:
        return SseReader(limits, strict, self._done)

    def writer(self) -> SseWriter:
        return SseWriter(self._written)
