"""The hot path: runs of text fragments, which are nearly all of a stream, read and written by their holes alone.

1. In a run, a writer's units differ in one text and at most one number. A :class:`Hot` is such a unit with those holes;
   its *layout* is the bytes around them, in the two spellings that JSON writers use (compact, and one space after
   each colon and comma).
2. A unit that has a layout's bytes around one JSON string and one run of digits is that unit: reading the holes is
   reading the unit. Anything else goes the general way, which reads all; so does a carry that is more than residues.
3. Codecs only say which unit is hot now (``hot``) and are told what grew (``grow``). The loops are here, and they
   never raise: they stop where the general way has to look.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from . import jsontext
from .carry import RESERVED
from .events import Append, Event, JsonObject, Residue
from .shapes import Frame, Framing

TEXT = "\x00text"
NUMBER = 0x7E57_0000_7E57
_SYNTHETIC = b'{"synthetic":true}'
_QUOTE, _ZERO = b'"'[0], b"0"[0]
_DIGITS = 18
"""A number of so many digits is within 64 bits."""
NESTS = 3
"""Levels of arrays and objects in a hot unit, its carry included."""
_RUN = 256
"""Units of one call at most: short runs in a long list cost what they hold, not what follows them."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The bytes around the holes: ``before`` TEXT ``between`` NUMBER ``after``, or ``before`` TEXT ``after``."""

    before: bytes
    between: bytes | None
    after: bytes


@dataclass(frozen=True)
class Hot:
    """A unit with holes.

    ``unit``: the canonical unit, with :data:`TEXT` for the text and, where it is stamped, :data:`NUMBER`. ``name``: its
    SSE event name. ``codec`` and ``stamp``: the residue that holds the number, ``{codec: {stamp: n}}``.
    """

    unit: JsonObject
    codec: str
    name: str | None = None
    stamp: str | None = None
    compact: Layout = field(init=False)
    spaced: Layout = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "compact", self._layout((",", ":")))
        object.__setattr__(self, "spaced", self._layout((", ", ": ")))

    def _layout(self, separators: tuple[str, str]) -> Layout:
        before, _, rest = json.dumps(self.unit, separators=separators).partition(json.dumps(TEXT))
        if self.stamp is None:
            return Layout(before.encode(), None, rest.encode())
        between, _, after = rest.partition(str(NUMBER))
        return Layout(before.encode(), between.encode(), after.encode())


def read(hot: Hot, frames: Sequence[Frame], at: int, out: list[Event], *, residues: bool, limit: int) -> list[str]:
    """Read the hot units among ``frames`` from index ``at`` on, as far as they go; their texts.

    ``residues``: whether anyone will look at what only the codec says. ``limit``: bytes of a carry that is read here.
    """
    texts: list[str] = []
    layout = _layout_of(hot, frames[at][0])
    if layout is None:
        return texts
    before, between, after = layout.before, layout.between, layout.after
    start, skip, end = len(before), len(between or b""), -len(after)
    inside = after[:-1] + b',"carry":'
    codec, stamp, name = hot.codec, hot.stamp, hot.name
    loads = orjson.loads
    grown, said = texts.append, out.append
    for data, _, named, carries, pings, whole in frames[at : at + _RUN]:
        if pings or not whole or (named is not None and named != name) or type(data) is not bytes:
            break
        if not (data.startswith(before) and data.endswith(after)):
            break
        carry = carries[0] if carries else None
        residue: Residue | None = None
        hole = data.rfind(between, start) if between is not None else end
        digits = data[hole + skip : end]
        try:
            if (digits and not digits.isdigit()) or data[hole - 1] != _QUOTE:
                hole, digits, carry = _tail(data, hole, skip, end, inside, carry)
            text = loads(data[start:hole])
            if between is not None:
                if not digits or len(digits) > _DIGITS or (digits[0] == _ZERO and len(digits) > 1):
                    break
                if residues:
                    residue = {codec: {stamp: int(digits)}}  # type: ignore[dict-item]
            if type(text) is not str:
                break
            if carry is not None:
                if len(carry) > limit:
                    break
                residue = _with_carry(residue, carry, codec, len(carries))
                if residue is None:
                    break
        except ValueError:
            break
        grown(text)
        said(Append(text, None, residue))
    return texts


def _tail(
    data: bytes, hole: int, skip: int, end: int, inside: bytes, carry: bytes | None
) -> tuple[int, bytes, bytes | None]:
    """The end of the text, the digits and the carry of a unit that has its carry inside. Raises ``ValueError``."""
    at = data.find(inside, max(hole, 0) + skip if skip else 0)
    if hole < 0 < skip or at < 0 or carry is not None:
        raise ValueError
    digits = data[hole + skip : at] if skip else b""
    if skip and not digits.isdigit():
        raise ValueError
    return hole if skip else at, digits, data[at + len(inside) : -1]


def _layout_of(hot: Hot, data: bytes | JsonObject | None) -> Layout | None:
    if type(data) is not bytes:
        return None
    if data.startswith(hot.compact.before):
        return hot.compact
    return hot.spaced if data.startswith(hot.spaced.before) else None


def _with_carry(residue: Residue | None, carry: bytes, codec: str, carries: int) -> Residue | None:
    """The residue with what a plain carry adds; ``None`` for a carry that is not plain."""
    if carries > 1:
        return None
    if carry == _SYNTHETIC:
        return {codec: {**(residue or {}).get(codec, {}), "synthetic": True}}
    if b"$" in carry or not carry.startswith(b'{"') or b"synthetic" in carry:
        return None
    found = orjson.loads(carry)
    for name, own in found.items():
        if name in RESERVED or name == codec or type(own) is not dict or not _plain(own):
            return None
    return found if residue is None else {**residue, **found}


def _plain(own: JsonObject) -> bool:
    """Whether ``orjson`` read the values as they are: text, small numbers and marks, nothing nested."""
    return all(type(value) in (int, str, bool) for value in own.values())


@dataclass(slots=True)
class HotWriter:
    """Writes hot units into one stream's output."""

    framing: Framing | None
    """How the writer lays out ``(before, after)``; ``None`` where units are objects."""
    carrying: bool
    clock: Callable[[], int]

    def write(self, hot: Hot, events: Sequence[Event], at: int, out: list[Any], first: bool) -> list[str]:
        """Write the plain fragments among ``events`` from ``at`` on, as far as they go; their texts.

        ``first``: the stream's first carry, which is not plain, has yet to be written.
        """
        texts: list[str] = []
        if self.framing is None:
            return texts
        layout, codec, stamp, carrying = hot.compact, hot.codec, hot.stamp, self.carrying
        lines = self.framing(hot.name, layout.before, layout.after)
        before, after, ahead = lines.before, lines.after, lines.ahead
        between, clock = layout.between, self.clock
        dumps = orjson.dumps
        grown, put = texts.append, out.append
        for event in events[at : at + _RUN]:
            if type(event) is not Append or event.state is not None:
                break
            text, residue = event.data, event.residue
            carry = b""
            if residue:
                if stamp is not None:
                    if len(residue) > 1 or codec not in residue:
                        break
                elif codec in residue or (carrying and (first or not (carry := _carry_text(residue)))):
                    break
            elif stamp is not None and carrying:
                if first:
                    break
                carry = _SYNTHETIC
            try:
                body = dumps(text)
            except TypeError:
                break
            if not body.isascii():
                body = jsontext.escape_separators(body)
            if stamp is not None:
                number = _stamp(residue, codec, stamp, clock)
                if number is None:
                    break
                body += between + number  # type: ignore[operator]
            if not carry:
                put(before + body + after)
            elif ahead:
                put(lines.carry + carry + lines.carried_before + body + after)
            else:
                put(before + body + lines.carry + carry + lines.carried_after)
            grown(text)  # type: ignore[arg-type]
        return texts


def _carry_text(residue: Residue) -> bytes:
    """A carry that is nothing but residues; empty for one that has to be looked at."""
    try:
        text = orjson.dumps(residue)
    except TypeError:
        return b""
    doubtful = b"$" in text or b"null" in text or b"synthetic" in text or not text.isascii()
    return b"" if doubtful else text


def _stamp(residue: Residue | None, codec: str, stamp: str, clock: Callable[[], int]) -> bytes | None:
    if not residue:
        return b"%d" % clock()
    own = residue[codec]
    number = own.get(stamp)
    return b"%d" % number if len(own) == 1 and type(number) is int else None
