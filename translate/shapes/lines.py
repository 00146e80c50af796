"""JSON lines: one unit a line, ended by LF or CRLF. Empty lines are skipped."""

from __future__ import annotations

from typing import Any

from .. import jsontext
from ..events import JsonObject
from ..limits import Limits
from . import Chunk, Frame, octets, too_large

_BOM = b"\xef\xbb\xbf"


class LineBuffer:
    """Cuts bytes into lines, in time linear in the input however it is cut.

    A line ends in LF, with ``cr`` also in CR or CRLF, and is returned with its end. An unfinished line is kept as the
    chunks it came in, and joined once.
    """

    __slots__ = ("_cr", "_held", "_held_size")

    def __init__(self, *, cr: bool) -> None:
        self._cr = cr
        self._held: list[bytes] = []
        self._held_size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that ``data`` completes."""
        lines = data.splitlines(keepends=True) if self._cr else _keep_ends(data)
        if not lines:
            return lines
        rest = b"" if lines[-1].endswith((b"\n", b"\r") if self._cr else b"\n") else lines.pop()
        if lines and self._held:
            self._held.append(lines[0])
            lines[0] = self.rest()
        if rest:
            self._held.append(rest)
            self._held_size += len(rest)
        return lines

    @property
    def size(self) -> int:
        """Bytes of the unfinished line."""
        return self._held_size

    def rest(self) -> bytes:
        """What is held, given up."""
        rest = b"".join(self._held)
        self._held.clear()
        self._held_size = 0
        return rest


def _keep_ends(data: bytes) -> list[bytes]:
    pieces = data.split(b"\n")
    last = pieces.pop()
    lines = [piece + b"\n" for piece in pieces]
    return [*lines, last] if last else lines


class LinesReader:
    """Reads JSON lines."""

    def __init__(self, limits: Limits) -> None:
        self._lines = LineBuffer(cr=False)
        self._limit = limits.unit
        self._offset = 0
        self.ended = False

    def feed(self, chunk: Chunk, out: list[Frame]) -> None:
        for line in self._lines.feed(octets(chunk)):
            self._line(line, out, whole=True)
        if self._lines.size > self._limit:
            raise too_large(self._limit, self._offset)

    def close(self, out: list[Frame]) -> None:
        self._line(self._lines.rest(), out, whole=False)

    def _line(self, line: bytes, out: list[Frame], *, whole: bool) -> None:
        offset = self._offset
        self._offset += len(line)
        if offset == 0:
            line = line.removeprefix(_BOM)
        line = line.strip(b" \t\r\n")
        if line:
            if len(line) > self._limit:
                raise too_large(self._limit, offset)
            out.append(Frame(line, offset, whole=whole))


class RidingWriter:
    """What the JSON shapes share: a carry rides in its unit's member ``carry``, one without a unit in the next's.

    An unknown member ``carry`` that is in the way rides in the carry as ``member``.
    """

    joined = False

    def __init__(self) -> None:
        self.pending: list[JsonObject] = []

    def riding(self, unit: JsonObject | None, carry: JsonObject | None) -> tuple[JsonObject | None, JsonObject | None]:
        """The unit to write now, if any, and its whole carry."""
        if unit is None:
            if carry:
                self.pending.append(carry)
            return None, None
        if self.pending:
            carry = dict(carry or {})
            ahead = [dict(held) for held in self.pending]
            for held in (*ahead, carry):
                if held.pop("v", None):
                    carry = {"v": 1, **carry}
            carry["before"] = ahead
            self.pending = []
        if carry and "carry" in unit:
            carry = {**carry, "member": unit["carry"]}
            unit = {k: v for k, v in unit.items() if k != "carry"}
        return unit, carry

    def ping(self, out: list[Any]) -> None:
        """Objects and lines have no keep-alive."""

    def end(self, out: list[Any]) -> None:
        """Objects and lines have no end marker."""


class LinesWriter(RidingWriter):
    """Writes JSON lines."""

    joined = True

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        unit, carry = self.riding(unit, carry)
        if unit is None:
            return
        text = jsontext.dumps(unit)
        if carry:
            out.append(text[:-1] + b',"carry":' + jsontext.dumps_strict(carry) + b"}\n")
        else:
            out.append(text + b"\n")


class Lines:
    """The shape of JSON lines."""

    objects = False

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
