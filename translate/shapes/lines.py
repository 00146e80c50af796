"""JSON lines: one unit a line, ended by LF or CRLF. Empty lines are skipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

from .. import jsontext
from ..algebra.events import JsonObject
from ..limits import Limits
from . import JSON_LINES, Chunk, Cursor, Frame, Framing, Octets, laid, too_large

_BOM = b"\xef\xbb\xbf"
_new = tuple.__new__


def framing(unit: bytes, name: str | None, carry: bytes | None) -> bytes:
    """A line: the unit, with its carry as its last member."""
    return unit + b"\n" if carry is None else inside(unit, carry) + b"\n"


def inside(unit: bytes, carry: bytes) -> bytes:
    """The JSON text of a unit with its carry as its last member."""
    return unit[:-1] + (b',"carry":' if len(unit) > 2 else b'"carry":') + carry + b"}"


class LineBuffer:
    """Cuts bytes into lines, with their ends (LF, CR or CRLF), in time linear in the input however it is cut.

    An unfinished line takes as many bytes as it has, however small the chunks it came in.
    """

    __slots__ = ("_held", "size")

    def __init__(self) -> None:
        # gives out what it holds without a copy
        self._held = BytesIO()
        self.size = 0
        """Bytes of the unfinished line."""

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that ``data`` completes."""
        lines = data.splitlines(keepends=True)
        if not lines:
            return lines
        rest = b"" if lines[-1].endswith((b"\n", b"\r")) else lines.pop()
        if lines and self.size:
            self._held.write(lines[0])
            lines[0] = self.rest()
        self._held.write(rest)
        self.size += len(rest)
        return lines

    def rest(self) -> bytes:
        """What is held, given up."""
        held, self._held, self.size = self._held, BytesIO(), 0
        return held.getvalue()


class LinesReader:
    """Reads JSON lines."""

    framing: Framing | None = staticmethod(framing)
    ended = False

    def __init__(self, limits: Limits) -> None:
        self._octets = Octets()
        self._held = bytearray()
        self._limit = limits.unit
        self.cursor = Cursor()

    def feed(self, chunk: Chunk) -> Iterator[Frame]:
        data = self._octets(chunk)
        if self._held:
            if b"\n" not in data:
                return self._hold(data)
            data = self._unfinished() + data
        self.cursor.turn(data)
        return self._lines()

    def one(self, chunk: Chunk) -> Frame | None:
        cursor = self.cursor
        if type(chunk) is not bytes or self._held or self._octets.held or not cursor.base:
            return None
        size = len(chunk)
        if chunk.find(b"\n") != size - 1 or size > self._limit or cursor.at < len(cursor.data):
            return None
        text = chunk.strip(b" \t\r\n")
        if not text:
            return None
        offset = cursor.base + cursor.at
        cursor.base, cursor.data, cursor.at = offset + size, b"", 0
        return _new(Frame, (text, offset, None, (), 0, True))

    def passes(self, size: int) -> bool:
        cursor = self.cursor
        if self._held or self._octets.held or cursor.at < len(cursor.data):
            return False
        cursor.base, cursor.data, cursor.at = cursor.base + cursor.at + size, b"", 0
        return True

    def close(self) -> Iterator[Frame]:
        self.cursor.turn(self._unfinished() + self._octets.rest())
        return self._last()

    def _lines(self) -> Iterator[Frame]:
        cursor, limit = self.cursor, self._limit
        data = cursor.data
        while (end := data.find(b"\n", cursor.at)) >= 0:
            offset, line = cursor.base + cursor.at, data[cursor.at : end]
            if len(line) > limit:
                self._measure(line, offset)
            cursor.at = end + 1
            text = (line if offset else line.removeprefix(_BOM)).strip(b" \t\r")
            if text:
                yield _new(Frame, (text, offset, None, (), 0, True))
        rest = data[cursor.at :]
        cursor.turn(b"")
        yield from self._hold(rest)

    def _hold(self, rest: bytes) -> Iterator[Frame]:
        self._held += rest
        # one more byte may be the CR of a line end
        if len(self._held) > self._limit + 1:
            raise too_large(self._limit, self.cursor.offset)
        return iter(())

    def _last(self) -> Iterator[Frame]:
        cursor = self.cursor
        self._measure(cursor.data, cursor.offset)
        text = (cursor.data if cursor.offset else cursor.data.removeprefix(_BOM)).strip(b" \t\r")
        if text:
            yield Frame(text, cursor.offset, whole=False)

    def _measure(self, line: bytes, offset: int) -> None:
        # counted as it came, so that it does not matter how it was cut
        if len(line) - line.endswith(b"\r") > self._limit:
            raise too_large(self._limit, offset)

    def _unfinished(self) -> bytes:
        held = bytes(self._held)
        self._held.clear()
        return held


def together(ahead: Sequence[JsonObject], carry: JsonObject | None) -> JsonObject:
    """Carries that had no unit of their own, and the one of the unit that they ride on, as one."""
    carry = dict(carry or {})
    before = [dict(held) for held in ahead]
    for held in (*before, carry):
        if held.pop("v", None):
            carry = {"v": 1, **carry}
    carry["before"] = before
    return carry


class RidingWriter:
    """What shapes share where a carry rides in its unit's member ``carry``, and one without a unit in the next's.

    An unknown member ``carry`` that is in the way rides in the carry as ``member``.
    """

    joined = False
    framing: Framing | None = None

    def __init__(self) -> None:
        self.pending: list[JsonObject] = []

    def riding(self, unit: JsonObject | None, carry: JsonObject | None) -> tuple[JsonObject | None, JsonObject | None]:
        """The unit to write now, if any, and its whole carry."""
        if unit is None:
            if carry:
                self.pending.append(carry)
            return None, None
        if self.pending:
            carry = together(self.pending, carry)
            self.pending = []
        if carry and "carry" in unit:
            carry = {**carry, "member": unit["carry"]}
            unit = {k: v for k, v in unit.items() if k != "carry"}
        return unit, carry

    def ping(self, out: list[Any]) -> None:
        """Objects and lines have no keep-alive."""

    def end(self, out: list[Any], *, failed: bool = False) -> None:
        """Objects and lines have no end marker."""


class LinesWriter(RidingWriter):
    """Writes JSON lines."""

    joined = True
    framing: Framing | None = staticmethod(framing)

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        unit, carry = self.riding(unit, carry)
        if unit is not None:
            text = jsontext.dumps_strict(carry) if carry else None
            out.append(laid(framing, unit, name, text, jsontext.dumps(unit)))


class Lines:
    """The shape of JSON lines."""

    objects = False
    media_types: Sequence[str] = JSON_LINES

    def reader(self, limits: Limits, strict: bool) -> LinesReader:
        return LinesReader(limits)

    def writer(self) -> LinesWriter:
        return LinesWriter()


class StrictLinesWriter(LinesWriter):
    """Writes JSON lines that are strict JSON whatever they hold (policy 6 of :mod:`translate.jsontext`)."""

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        super().write(jsontext.to_strict(unit), name, carry, out)


class StrictLines(Lines):
    """The shape of JSON lines that are strict JSON."""

    def writer(self) -> StrictLinesWriter:
        return StrictLinesWriter()
