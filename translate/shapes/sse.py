"""Server-sent events, by WHATWG HTML 9.2.6.

1. UTF-8; one leading BOM is dropped. Lines end in CRLF, LF or CR; a CRLF may straddle two chunks.
2. ``field: value`` with one space after the colon removed; names are exact. Other fields, ``id`` and ``retry`` among
   them, say nothing here. A line that begins with a colon is a comment: a carry, or a keep-alive.
3. A blank line ends a block; one without a ``data`` line is no event. Several ``data`` lines join with LF.
4. The writer is careful: LF only, no ``id``, one ``data`` line an event.
"""

from __future__ import annotations

import re
from typing import Any

from .. import jsontext
from ..errors import GrammarError, excerpt
from ..events import JsonObject
from ..limits import Limits
from . import Chunk, Frame, Framed, Framing, octets, too_large

_BOM = b"\xef\xbb\xbf"
_CARRY = b"carry "
_CARRY_LINE, _EVENT_LINE, _DATA_LINE = b": carry ", b"event: ", b"data: "
_KEEP = 4096
_SURROGATE = re.compile("[\ud800-\udfff]")


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


class SseReader:
    """Reads event streams. ``done``: the data that marks the end of the stream, where the format has one."""

    def __init__(self, limits: Limits, strict: bool, done: bytes | None) -> None:
        self._limit = limits.unit
        self._strict = strict
        self._done = done
        self._lines = LineBuffer()
        self._head: bytes | None = b""
        self._after_cr = False
        self._kept = b""
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
        if not self._block and not self._lines.size:
            data = self._plain_blocks(self._kept + data, out)
        self._after_cr = data.endswith(b"\r") or (self._after_cr and not data)
        for line in self._lines.feed(data):
            self._line(line, out)
        if self._block_size + self._lines.size > self._limit:
            raise too_large(self._limit, self._block_offset)

    def _plain_blocks(self, data: bytes, out: list[Frame]) -> bytes:
        """Take the plain blocks that ``data`` begins with, and return what is left to be read line by line.

        A plain block is what careful writers write: between LFs alone, at most a carry, then at most an event name,
        then one data line.
        """
        self._kept = b""
        if b"\r" in data or self.ended:
            return data
        blocks = data.split(b"\n\n")
        rest = blocks.pop()
        offset = self._block_offset
        for i, block in enumerate(blocks):
            line, name = block, b""
            carries: tuple[bytes, ...] = ()
            if line.startswith(_CARRY_LINE):
                carry, _, line = line.partition(b"\n")
                carries = (carry[len(_CARRY_LINE) :],)
            if line.startswith(_EVENT_LINE):
                head, _, line = line.partition(b"\n")
                name = head[len(_EVENT_LINE) :]
            text = line[len(_DATA_LINE) :]
            if (
                not line.startswith(_DATA_LINE)
                or b"\n" in line
                or (name and not name.isalnum())
                or text == self._done
                or len(block) > self._limit
            ):
                rest = b"\n\n".join([*blocks[i:], rest])
                break
            out.append((text, offset, name.decode() or None, carries, 0, True))  # type: ignore[arg-type]
            offset += len(block) + 2
        else:
            if len(rest) <= min(_KEEP, self._limit):
                # a short beginning of a block is cheaper to read again than to read line by line
                self._kept, rest = rest, b""
        self._offset = self._block_offset = offset
        return rest

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
        for line in self._lines.feed(self._kept + (self._head or b"")):
            self._line(line, out)
        self._kept, self._head = b"", None
        rest = self._lines.rest()
        if rest:
            self._block.append(rest)
        if self._block:
            self._dispatch(out, whole=False)

    def _dispatch(self, out: list[Frame], *, whole: bool) -> None:
        block, self._block, self._block_size = self._block, [], 0
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
        elif self.ended and text is not None:
            error = GrammarError("a unit after the end marker", expected="nothing", excerpt=excerpt(text))
            error.offset = self._block_offset
            raise error
        if after_end:
            return
        # the last block may have been cut anywhere, its comments too
        pings = pings if whole else 0
        if text is not None or carries or pings:
            out.append(Frame(text, self._block_offset, name or None, tuple(carries), pings, whole))

    def _text(self, value: bytes) -> str:
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            if self._strict:
                found = jsontext.not_utf8(value, error)
                found.offset = self._block_offset
                raise found from None
            return value.decode("utf-8", "replace")


def _framing(name: str | None, before: bytes, after: bytes) -> Framed:
    head = (b"event: " + name.encode() + b"\n" if name else b"") + b"data: " + before
    return Framed(head, after + b"\n\n", True, b": carry ", b"\n" + head)


def _may_stand(name: str) -> bool:
    """Whether an event name survives as one line: not with a line end in it, a space first, or half a character."""
    return name[:1] not in ("", " ") and "\n" not in name and "\r" not in name and not _SURROGATE.search(name)


class SseWriter:
    """Writes event streams."""

    joined = True

    def __init__(self, done: bytes | None) -> None:
        self._done = done
        self.pending: list[JsonObject] = []
        self.framing: Framing | None = _framing

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        head = b": carry " + jsontext.dumps_strict(carry) + b"\n" if carry else b""
        if unit is None:
            if head:
                out.append(head + b"\n")
            return
        if name is not None and _may_stand(name):
            head += b"event: " + name.encode() + b"\n"
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
