"""Server-sent events, by WHATWG HTML 9.2.6.

1. UTF-8; one leading BOM is dropped. Lines end in CRLF, LF or CR; a CRLF may straddle two chunks.
2. ``field: value`` with one space after the colon removed; names are exact. Other fields, ``id`` and ``retry`` among
   them, say nothing here. A line that begins with a colon is a comment: a carry, or a keep-alive.
3. A blank line ends a block; one without a ``data`` line is no event. Several ``data`` lines join with LF.
4. The writer is careful: LF only, no ``id``, one ``data`` line an event.
5. Beyond the rules: a line that begins a JSON object or array, with no ``data`` line after it in its block, is no
   field but a body that stands bare among the events. Servers fail so; skipped, the failure would be lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any, Literal, TypeAlias, TypeVar

from .. import jsontext
from ..algebra.events import JsonObject
from ..errors import DecodeError, GrammarError, TranslateError, excerpt, not_utf8
from ..limits import Limits
from . import EVENT_STREAM, Chunk, Cursor, Frame, Framing, Octets, laid, too_large
from .blocks import BARE_BODY, ERROR_LINE, ERROR_MEMBER, CarryPlace, framing_of
from .lines import LineBuffer, RidingWriter

_BOM = b"\xef\xbb\xbf"
_SPACE = b" \t\r\n"
_CARRY = b"carry "
_DATA = b"data:"
_PLAIN = re.compile(rb"(?:: carry (.*+)\n)?+(?:event: ([0-9A-Za-z_.]++)\n)?+data: (.*+)\n\n")
"""Matches, between LFs alone, a block as careful writers write it: a carry, a name, either or none; one data line."""
_LINE = re.compile(rb"[^\n]++")
_BODY = re.compile(rb"[ \t]*+(?:\{|\[[ \t]*+(?:[\[{]|$))")
"""Matches the first line of a bare JSON body."""
_KEEP = 4096
_new = tuple.__new__
_LF = 10

E = TypeVar("E", bound=TranslateError)
WritesDone: TypeAlias = Literal["always", "success", "never"]


class SseReader:
    """Reads event streams; ``shape`` has the options."""

    def __init__(self, shape: Sse, limits: Limits, strict: bool) -> None:
        self.framing: Framing | None = shape.framing
        self._limit = limits.unit
        self._nesting = limits.nesting
        self._strict = strict
        self._done = shape.done
        self._bare = shape.bare
        self._errors = shape.errors
        self._octets = Octets()
        self._lines = LineBuffer()
        self._head: bytes | None = b""
        self._after_cr = False
        self._kept = b""
        self._block = BytesIO()
        self._block_size = 0
        self._block_offset = 0
        self.cursor = Cursor()
        self.ended = False

    def feed(self, chunk: Chunk) -> Iterator[Frame]:
        data = self._octets(chunk)
        if self._head is not None:
            data = self._without_bom(data)
        if self._after_cr and data:
            # a CR ended the last chunk: an LF that comes first now is the other half of that line end
            self._after_cr = False
            if data[:1] == b"\n":
                data = data[1:]
                self._skip(1)
        if self._block_size or self._lines.size:
            return self._line_by_line(data)
        if self._kept:
            data, self._kept = self._kept + data, b""
        self.cursor.turn(data)
        return self._blocks()

    def one(self, chunk: Chunk) -> Frame | None:
        cursor = self.cursor
        if type(chunk) is not bytes or self._head is not None or self._kept or self._block_size or self._after_cr:
            return None
        found = _PLAIN.fullmatch(chunk)
        if found is None or self.ended or self._lines.size or self._octets.held or cursor.at < len(cursor.data):
            return None
        carry, name, text = found.groups()
        done, size = self._done, len(chunk)
        if size - 2 > self._limit or b"\r" in chunk or (done and text.startswith(done) and self._is_done(text)):
            return None
        offset = cursor.base + cursor.at
        cursor.base, cursor.data, cursor.at = offset + size, b"", 0
        self._block_offset = cursor.base
        return _new(Frame, (text, offset, name and name.decode(), () if carry is None else (carry,), 0, True))

    def passes(self, size: int) -> bool:
        cursor = self.cursor
        if self._head is not None or self._kept or self._block_size or self._after_cr or self._lines.size:
            return False
        if self.ended or self._octets.held or cursor.at < len(cursor.data):
            return False
        cursor.base, cursor.data, cursor.at = cursor.base + cursor.at + size, b"", 0
        self._block_offset = cursor.base
        return True

    def close(self) -> Iterator[Frame]:
        if not (self._kept or self._head or self._octets.held or self._block_size or self._lines.size):
            return iter(())
        rest = self._kept + (self._head or b"") + self._octets.rest()
        self._kept, self._head = b"", None
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
                if end - at - 2 <= limit and not (done and text.startswith(done) and self._is_done(text)):
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
            yield from self._frames(data[at:end], whole=True)
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
        lines = self._lines.feed(data)[::-1]
        while lines:
            yield from self._line(lines.pop())
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
        if not self._block_size:
            self._block_offset = self.cursor.base

    def _line(self, line: bytes) -> Iterator[Frame]:
        self.cursor.base += len(line)
        size = len(line) - (line[-2:] == b"\r\n") - (line[-1:] in (b"\r", b"\n"))
        if size:
            self._block.write(memoryview(line)[:size])
            self._block.write(b"\n")
            self._block_size += size
            if self._block_size > self._limit:
                raise too_large(self._limit, self._block_offset)
            return
        if self._block_size:
            yield from self._dispatch(whole=True)
        self._block_offset = self.cursor.base

    def _last(self, rest: bytes) -> Iterator[Frame]:
        yield from self._line_by_line(rest)
        rest = self._lines.rest()
        self._block.write(rest)
        self._block_size += len(rest)
        if self._block_size:
            yield from self._dispatch(whole=False)

    def _dispatch(self, *, whole: bool) -> Iterator[Frame]:
        block, self._block, self._block_size = self._block, BytesIO(), 0
        return self._frames(block.getvalue(), whole=whole)

    def _frames(self, block: bytes, *, whole: bool) -> Iterator[Frame]:
        """What a block, its lines ended by LF, says: an event, and what stands bare beside it, if any."""
        after_end = self.ended
        name: str | None = None
        data: bytes | bytearray | None = None
        carries: list[bytes] = []
        beside: list[Frame] = []
        pings, body = 0, None
        for found in _LINE.finditer(block):
            start, end = found.span()
            if block.startswith(_DATA, start, end):
                # copied once: it may be long
                at = start + len(_DATA)
                field, colon, value = b"data", b":", block[at + block.startswith(b" ", at, end) : end]
            else:
                field, colon, value = found[0].partition(b":")
                value = value.removeprefix(b" ")
            if field == b"data":
                body = None
                if data is None:
                    data = value
                else:
                    data = bytearray(data) if type(data) is bytes else data
                    data += b"\n" + value
            elif field == b"event":
                name = self._text(value)
            elif not field and colon and value.startswith(_CARRY):
                carries.append(value[len(_CARRY) :])
            elif not field and colon:
                self._text(value)
                pings += 1
            elif self._errors and field == b"error":
                beside.append(self._error(value, whole=whole))
            else:
                self._text(found[0])
                if body is None and _BODY.match(found[0]):
                    body = found.start()
        if body is not None:
            beside.append(Frame(block[body:].rstrip(_SPACE), self._block_offset, BARE_BODY, whole=whole))
        text = bytes(data) if data is not None else None
        # nothing of it stays while its unit is at work
        found = value = data = block = None  # type: ignore[assignment]
        if text is not None and self._is_done(text):
            self.ended = True
            text = None
        # the last block may have been cut anywhere, its comments too
        pings = pings if whole else 0
        if text is not None and after_end:
            raise self._stray(text)
        if text is None and beside:
            beside[0] = beside[0]._replace(carries=tuple(carries), pings=pings)
        elif not after_end and (text is not None or carries or pings):
            yield Frame(text, self._block_offset, name or None, tuple(carries), pings, whole)
        for frame in beside:
            yield self._standing(frame, after_end)

    def _standing(self, frame: Frame, after_end: bool) -> Frame:
        """What stands bare beside an event, where it may."""
        if after_end:
            raise self._stray(frame.data)
        if frame.name == BARE_BODY and not self._bare:
            what = "a JSON body that stands bare in an event stream"
            raise self._placed(DecodeError(what, expected="events", excerpt=excerpt(frame.data)))
        return frame

    def _is_done(self, text: bytes) -> bool:
        return self._done is not None and text.rstrip(_SPACE) == self._done

    def _error(self, text: bytes, *, whole: bool) -> Frame:
        """A line ``error: …``: the unit that it is, or that it is the member ``error`` of."""
        try:
            value = jsontext.loads(text, self._nesting)
        except TranslateError:
            # whoever reads the unit finds out
            value = None
        if value is None or (isinstance(value, dict) and "error" in value):
            return Frame(text, self._block_offset, ERROR_LINE, whole=whole)
        return Frame(b'{"error":' + text + b"}", self._block_offset, ERROR_MEMBER, whole=whole)

    def _stray(self, text: object) -> GrammarError:
        return self._placed(GrammarError("a unit after the end marker", expected="nothing", excerpt=excerpt(text)))

    def _placed(self, error: E) -> E:
        error.offset = self._block_offset
        return error

    def _text(self, value: bytes) -> str:
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            if self._strict:
                raise self._placed(not_utf8(value, error)) from None
            return value.decode("utf-8", "replace")


class SseWriter(RidingWriter):
    """Writes event streams; ``shape`` has the options."""

    joined = True

    def __init__(self, shape: Sse) -> None:
        super().__init__()
        self._shape = shape
        self._frame = shape.framing
        self.framing: Framing | None = shape.framing

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        if self._shape.carry == "member":
            unit, carry = self.riding(unit, carry)
        text = jsontext.dumps_strict(carry) if carry else None
        if unit is not None:
            inside = name == ERROR_MEMBER and self._shape.errors and unit.keys() == {"error"}
            written: Any = unit["error"] if inside else unit
            out.append(laid(self._frame, written, name, text, jsontext.dumps(written)))
        elif text is not None:
            out.append(b": carry " + text + b"\n\n")

    def ping(self, out: list[Any]) -> None:
        if self._shape.comments:
            out.append(b": keep-alive\n\n")

    def end(self, out: list[Any], *, failed: bool = False) -> None:
        done, writes = self._shape.done, self._shape.writes_done
        if done is not None and (writes == "always" or (writes == "success" and not failed)):
            out.append(b"data: " + done + b"\n\n")


class Sse:
    """The shape of event streams, with what formats do differently.

    ``done``         the data that marks the end, with white space after it or without; ``None``: there is no such mark
    ``writes_done``  whether it is written, too: ``"always"``, after a ``"success"`` alone, or ``"never"``
    ``carry``        where a carry is written: in a ``"comment"`` ahead of its unit, or as the unit's last ``"member"``,
                     for formats whose readers skip no comments. Both are read
    ``names``        whether event names are written
    ``comments``     whether keep-alives are written
    ``bare``         whether a JSON body that stands bare among the events is a unit, named :data:`BARE_BODY`; else it
                     is a ``DecodeError``
    ``errors``       whether a line ``error: JSON`` is a unit: that JSON where it is an object with a member ``error``,
                     named :data:`ERROR_LINE`, else ``{"error": JSON}``, named :data:`ERROR_MEMBER`; a unit that is
                     put under such a name is written so
    """

    objects = False
    media_types: Sequence[str] = EVENT_STREAM

    def __init__(
        self,
        done: bytes | None = None,
        *,
        writes_done: WritesDone = "always",
        carry: CarryPlace = "comment",
        names: bool = True,
        comments: bool = True,
        bare: bool = False,
        errors: bool = False,
    ) -> None:
        """Raises ``ValueError`` for options that there are not, and for carries in comments where none are written."""
        if writes_done not in ("always", "success", "never"):
            raise ValueError(f"writes_done is 'always', 'success' or 'never', not {writes_done!r}")
        if carry not in ("comment", "member"):
            raise ValueError(f"carry is 'comment' or 'member', not {carry!r}")
        if carry == "comment" and not comments:
            raise ValueError("comments are written where the carry is one")
        if done is not None and (not done or done != done.strip(_SPACE)):
            raise ValueError(f"done is data without white space around it, not {done!r}")
        self.done = done
        self.writes_done = writes_done
        self.carry = carry
        self.comments = comments
        self.bare = bare
        self.errors = errors
        self.framing = framing_of(carry, names=names, errors=errors)

    def reader(self, limits: Limits, strict: bool) -> SseReader:
        return SseReader(self, limits, strict)

    def writer(self) -> SseWriter:
        return SseWriter(self)
