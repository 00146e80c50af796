"""The hot path: loops that read and write runs of units in one form.

1. What a form cannot read or write goes the general way, which reads and writes all.
2. Codecs only say which unit is hot now (``hot``) and are told what grew (``grow``).
3. Nothing here raises: where something may be wrong, the general way finds out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import orjson

from .. import jsontext
from ..limits import Limits
from ..shapes import Chunk, Cursor, Framing
from .forms import DIGITS, SYNTHETIC, Form, Hot, Run, carrying, form_of, forms_of, is_plain

Take: TypeAlias = Callable[[Chunk], list[bytes] | None]

NESTS = 3
"""Levels of arrays and objects in a hot unit with its carry, at most."""
WINDOW = 1 << 14
"""Bytes that are looked at together, at most: after a unit that is not UTF-8 they are looked at again."""
LANE = 1 << 16
"""Bytes that go through a lane, at most: then they are folded together."""


class HotReader:
    """Reads the hot units of one stream."""

    def __init__(self, framing: Framing, limits: Limits) -> None:
        """``limits``: of the stream; what might pass one is left to the general way, which finds out."""
        self._framing = framing
        self._carry = limits.carry
        # a unit that is within a window is within its limit
        self._window = min(WINDOW, limits.unit)
        self._last: Form | None = None

    def read(self, hot: Hot, cursor: Cursor, *, trusted: bool) -> Run | None:
        """The hot units that come next, of one form; the cursor moves behind them.

        ``trusted``: whether carries are read.
        """
        data, at, last = cursor.data, cursor.at, self._last
        forms = forms_of(hot, self._framing)
        for form in (last, *forms) if last is not None and last.hot is hot else forms:
            if data.startswith(form.head, at) and (run := self._read(form, cursor, trusted=trusted)):
                return run
        if hot.stamp is None and (match := carrying(hot, self._framing).match(data, at)):
            codec, member = match[1].decode(), match[2].decode()
            if is_plain(codec, member) and codec != hot.codec:
                return self._read(form_of(hot, self._framing, (codec, member)), cursor, trusted=trusted)
        return None

    def _read(self, form: Form, cursor: Cursor, *, trusted: bool) -> Run | None:
        if form.carry and (not trusted or form.carry + DIGITS > self._carry):
            return None
        run = form.read(cursor.data, cursor.at, cursor.at + self._window)
        if run is not None:
            cursor.at += run.size
            self._last = form
        return run


@dataclass(slots=True)
class HotWriter:
    """Writes hot units into one stream's output."""

    framing: Framing
    carrying: bool
    clock: Callable[[], int]

    def form(self, hot: Hot, run: Run, *, first: bool) -> Form | None:
        """The form that a run is written in, or ``None`` where the general way has to look.

        ``first``: the stream's first carry, which is not plain, has yet to be written.
        """
        residue = run.residue
        own = residue is not None and residue[0] == hot.codec
        others = None if own or run.synthetic or not self.carrying else residue
        if hot.stamp is None:
            if own:
                return None
            carry = others
        elif own:
            if residue != (hot.codec, hot.stamp):
                return None
            carry = SYNTHETIC if run.synthetic and self.carrying else None
        else:
            if others is not None:
                return None
            carry = SYNTHETIC if self.carrying else None
        return None if carry is not None and first else form_of(hot, self.framing, carry)

    def write(self, form: Form, run: Run) -> bytes:
        """A run in its form."""
        if form.mid and form.residue != run.residue:
            return form.write(run.bodies, jsontext.dumps([self.clock() for _ in run.texts])[1:-1].split(b","))
        return form.write(run.bodies, run.numbers)


class Lane:
    """Hot units that come one a chunk, as in a live stream: each from bytes to bytes, the rest settled afterwards.

    ``take(chunk)`` is the output for a chunk that is one unit of the source form, or ``None``: the lane ends.
    """

    __slots__ = ("_bodies", "_numbers", "_source", "silent", "take")
    take: Take

    def __init__(self, source: Form, target: Form | None, clock: Callable[[], int], room: int) -> None:
        """``target``: ``None`` where the encoder only holds such fragments. ``room``: for so many bytes at most."""
        self._source = source
        self._bodies: list[bytes] = []
        self._numbers: list[bytes] = []
        self.silent = target is None
        self.take = self._taking(target, clock, min(room, LANE))

    def _taking(self, target: Form | None, clock: Callable[[], int], left: int) -> Take:
        """A closure: this is what each event of a live stream costs."""
        match, number_first = self._source.pattern.fullmatch, self._source.number_first
        respelled = jsontext.RESPELLED.search
        keep, keep_number, one = self._bodies.append, self._numbers.append, not self._source.mid
        head, mid, tail = (target.head, target.mid, target.tail) if target is not None else (b"", b"", b"")
        stamps = bool(mid) and target is not None and target.residue != self._source.residue
        number_ahead, silent = target is not None and target.number_first, self.silent

        def take(data: Chunk) -> list[bytes] | None:
            nonlocal left
            found = match(data) if type(data) is bytes else None
            if found is None or left < len(data):
                return None
            if one:
                body = written = found[1]
                number = b""
            elif number_first:
                number, body = found.groups()
                written = body
            else:
                body, number = found.groups()
                written = body
            if not body.isascii() or b"\\" in body:
                try:
                    if respelled(body):
                        written = jsontext.dumps(orjson.loads(b'"' + body + b'"'))[1:-1]
                    else:
                        body.decode("utf-8")
                except ValueError:
                    return None
            stamp = number
            if stamps:
                try:
                    stamp = jsontext.dumps(clock())
                except Exception:
                    # asked again, the clock fails where its error is seen to
                    return None
            left -= len(data)
            keep(body)
            keep_number(number)
            if silent:
                return []
            if not mid:
                return [head + written + tail]
            if number_ahead:
                return [head + stamp + mid + written + tail]
            return [head + written + mid + stamp + tail]

        return take

    @property
    def count(self) -> int:
        """Units that went through it."""
        return len(self._bodies)

    def settle(self) -> Run | None:
        """What went through it, if anything did."""
        if not self._bodies:
            return None
        source = self._source
        fixed = len(source.head) + len(source.mid) + len(source.tail)
        size = len(self._bodies) * fixed + sum(map(len, self._bodies)) + sum(map(len, self._numbers))
        return source.run(self._bodies, self._numbers, size)
