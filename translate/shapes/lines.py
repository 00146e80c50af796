"""JSON lines: one unit a line, ended by LF or CRLF. Empty lines are skipped."""

from __future__ import annotations

from typing import Any

from .. import jsontext
from ..events import JsonObject
from ..limits import Limits
from . import Chunk, Frame, Framed, Framing, octets, too_large

_BOM = b"\xef\xbb\xbf"


class LinesReader:
    """Reads JSON lines."""

    def __init__(self, limits: Limits) -> None:
        self._held: list[bytes] = []
        self._held_size = 0
        self._limit = limits.unit
        self._offset = 0
        self.ended = False

    def feed(self, chunk: Chunk, out: list[Frame]) -> None:
        lines = octets(chunk).split(b"\n")
        rest = lines.pop()
        if lines and self._held:
            lines[0] = self._unfinished() + lines[0]
        if lines:
            self._take(lines, out)
        if rest:
            # kept as it came, and joined once
            self._held.append(rest)
            self._held_size += len(rest)
            # one more byte may be the CR of a line end
            if self._held_size > self._limit + 1:
                raise too_large(self._limit, self._offset)

    def close(self, out: list[Frame]) -> None:
        self._take([self._unfinished()], out, whole=False)

    def _unfinished(self) -> bytes:
        held, self._held, self._held_size = self._held, [], 0
        return b"".join(held)

    def _take(self, lines: list[bytes], out: list[Frame], *, whole: bool = True) -> None:
        offset, limit = self._offset, self._limit
        for line in lines:
            # counted as it came, so that it does not matter how it was cut
            if len(line) > limit and len(line) - line.endswith(b"\r") > limit:
                raise too_large(limit, offset)
            text = (line if offset else line.removeprefix(_BOM)).strip(b" \t\r")
            if text:
                out.append((text, offset, None, (), 0, whole))  # type: ignore[arg-type]
            offset += len(line) + 1
        self._offset = offset


class RidingWriter:
    """What the JSON shapes share: a carry rides in its unit's member ``carry``, one without a unit in the next's.

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

    def __init__(self) -> None:
        super().__init__()
        self.framing = _framing

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        unit, carry = self.riding(unit, carry)
        if unit is None:
            return
        text = jsontext.dumps(unit)
        if carry:
            out.append(text[:-1] + b',"carry":' + jsontext.dumps_strict(carry) + b"}\n")
        else:
            out.append(text + b"\n")


def _framing(name: str | None, before: bytes, after: bytes) -> Framed:
    return Framed(before, after + b"\n", False, after[:-1] + b',"carry":', b"", b"}\n")


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
