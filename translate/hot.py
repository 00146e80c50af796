"""The hot path: runs of text fragments, which are nearly all of a stream, read and written by their holes alone.

1. In a run, a writer's units differ in one text and at most one number. A :class:`Hot` is such a unit with those
   holes, and a :class:`Form` is the bytes around them, frame and carry included. There is a form for each spelling that
   JSON writers use (compact, and one space after each colon and comma) and for each kind of plain carry.
2. Bytes that are a form around the inside of one JSON string and one run of digits are that unit: reading the holes
   is reading the unit. A run is written by joining what fills the holes with what stands between.
3. What a form cannot read or write goes the general way, which reads and writes all. Codecs only say which unit is hot
   now (``hot``) and are told what grew (``grow``). Nothing here raises.
4. Joined pieces can hide malformed ones whose errors cancel. So each piece is first shown to be the inside of one
   string, by the form's pattern; only then are many read at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import orjson

from . import jsontext
from .carry import RESERVED
from .events import Append, Event, JsonObject, Residue
from .limits import Limits
from .shapes import Chunk, Cursor, Framing

NESTS = 3
"""Levels of arrays and objects in a hot unit with its carry, at most."""
TEXT = "\x00text"
NUMBER = 0x7E57_0000_7E57
DIGITS = 18
"""Digits of a number in a hole, at most: whatever they are, it has 64 bits."""
WINDOW = 1 << 14
"""Bytes that are looked at together, at most: after a unit that is not UTF-8 they are looked at again."""
LANE = 1 << 16
"""Bytes that go through a lane, at most: then they are folded together."""
_HOLE, _NUMBER = b"\\u0000text", str(NUMBER).encode()
_PLAIN = rb'[^"\\\x00-\x1f]*+'
_PAIR = rb"d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}"
_ESCAPE = rb'\\(?:["\\/bfnrt]|(?i:u(?:[0-9a-ce-f][0-9a-f]{3}|d[0-7][0-9a-f]{2}|' + _PAIR + rb")))"
_TEXT_HOLE = rb"(" + _PLAIN + rb"(?:" + _ESCAPE + _PLAIN + rb")*+)"
"""Matches the inside of a JSON string. Half of a surrogate pair is left to the general way."""
_NUMBER_HOLE = rb"(0|[1-9][0-9]{0,17})"
_CODEC, _MEMBER = "\x00codec", "\x00member"
_CODEC_NAME, _MEMBER_NAME = re.compile("[a-z0-9_-]+"), re.compile("[a-z_]+")

Mark: TypeAlias = tuple[str, str] | None
"""The residue that a number is: codec and member."""
SYNTHETIC: Final = ("synthetic", "")
"""In place of a residue, the carry that says that the unit's own was made up."""


@dataclass(frozen=True, eq=False)
class Hot:
    """A unit with holes.

    ``unit``: the canonical unit, with :data:`TEXT` for the text and, where it is stamped, :data:`NUMBER`. ``name``: its
    SSE event name. ``codec`` and ``stamp``: the residue that holds the number, ``{codec: {stamp: n}}``.
    """

    unit: JsonObject
    codec: str
    name: str | None = None
    stamp: str | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Form:
    """The bytes around the holes: ``head`` TEXT ``mid`` NUMBER ``tail``, or the other way round.

    Without a number, they are ``head`` TEXT ``tail``. ``hot``: the unit. ``residue``: what the number is, if anything.
    ``synthetic``: whether the carry says that it was made up. ``carry``: bytes of the carry but for the number, 0
    without one. ``pattern`` matches a unit; ``holes``: its groups of the text and of the number, the text's again where
    there is no number.
    """

    hot: Hot
    head: bytes
    mid: bytes
    tail: bytes
    number_first: bool
    residue: Mark
    synthetic: bool
    carry: int
    pattern: re.Pattern[bytes]
    holes: tuple[int, int]

    def read(self, data: bytes, at: int, end: int) -> Run | None:
        """The units that stand in ``data[at:end]`` one after another, as far as they go."""
        found = [*iter(self.pattern.scanner(data, at, end).match, None)]  # type: ignore[attr-defined]
        if not found:
            return None
        stop = found[-1].end()
        holes = self.holes
        bodies, numbers = zip(*[match.group(*holes) for match in found], strict=True)
        try:
            return self.run(list(bodies), list(numbers), stop - at)
        except ValueError:
            # what matches is JSON, but need not be UTF-8: only the units before that are read
            return self.read(data, at, at + jsontext.utf8_until(data[at:stop]))

    def run(self, bodies: list[bytes], numbers: list[bytes], size: int) -> Run:
        """The run of units with these holes, as the pattern found them. Raises ``ValueError`` for what is not UTF-8."""
        texts: list[str] = orjson.loads(b'["' + b'","'.join(bodies) + b'"]')
        bodies = _canonical(bodies, texts)
        return Run(texts, bodies, numbers if self.mid else [], self.residue, self.synthetic, self, size)

    def write(self, bodies: list[bytes], numbers: list[bytes]) -> bytes:
        """The units with these holes."""
        pieces, mid = bodies, self.mid
        if mid:
            first, second = (numbers, bodies) if self.number_first else (bodies, numbers)
            pieces = [a + mid + b for a, b in zip(first, second, strict=True)]
        return self.head + (self.tail + self.head).join(pieces) + self.tail


@dataclass(slots=True)
class Run:
    """Plain fragments as columns: their texts, the same as insides of JSON strings, and their numbers, if any.

    ``residue``: what the numbers are. ``synthetic``: whether they were made up. ``form``: that of the units that were
    read, if any were; ``size``: their bytes.
    """

    texts: list[str]
    bodies: list[bytes]
    numbers: list[bytes]
    residue: Mark
    synthetic: bool
    form: Form | None = None
    size: int = 0

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.texts)

    def split(self, at: int) -> tuple[Run, Run]:
        """The first units, and the others."""
        texts, bodies, numbers = self.texts, self.bodies, self.numbers
        first = Run(texts[:at], bodies[:at], numbers[:at], self.residue, self.synthetic)
        return first, Run(texts[at:], bodies[at:], numbers[at:], self.residue, self.synthetic)

    def events(self) -> list[Append]:
        """The events that the units mean."""
        if self.residue is None:
            return [Append(text) for text in self.texts]
        codec, member = self.residue
        mark: JsonObject = {"synthetic": True} if self.synthetic else {}
        pairs = zip(self.texts, map(int, self.numbers), strict=True)
        return [Append(text, None, {codec: {member: n, **mark}}) for text, n in pairs]


def gather(events: Sequence[Event], at: int) -> Run | None:
    """The plain fragments among ``events`` from ``at`` on, where there are several of one kind."""
    texts: list[str] = []
    numbers: list[int] = []
    mark: Mark = None
    for event in events[at:]:
        if type(event) is not Append or event.state is not None or type(event.data) is not str:
            break
        found, number = _number(event.residue) if event.residue else (None, 0)
        if number is None or (texts and found != mark):
            break
        mark = found
        texts.append(event.data)
        numbers.append(number)
    if len(texts) < 2 or (mark is not None and not _plain(*mark)):
        return None
    try:
        bodies = [orjson.dumps(text)[1:-1] for text in texts]
    except TypeError:
        return None
    return Run(texts, _canonical(bodies, texts), [b"%d" % n for n in numbers] if mark else [], mark, False)


def _number(residue: Residue) -> tuple[Mark, int | None]:
    """What a residue that is one number says; ``None`` for the number of any other."""
    if len(residue) == 1:
        ((codec, own),) = residue.items()
        if len(own) == 1:
            ((member, number),) = own.items()
            if type(number) is int and 0 <= number < 10**DIGITS:
                return (codec, member), number
    return None, None


def _plain(codec: str, member: str) -> bool:
    """Whether a carry may name a residue so without further rules."""
    known = bool(_CODEC_NAME.fullmatch(codec) and _MEMBER_NAME.fullmatch(member))
    return known and codec not in RESERVED and member != "synthetic"


def _is_canonical(inside: bytes) -> bool:
    """Whether the inside of a string is as it would be written here: it has no needless escape, and lacks none."""
    return b"\\u" not in inside and b"\\/" not in inside and (inside.isascii() or not jsontext.separators_in(inside))


def _written(inside: bytes) -> bytes:
    """The inside of a string as it is written here. Raises ``ValueError`` where it is not UTF-8."""
    if _is_canonical(inside):
        inside.decode("utf-8")
        return inside
    return jsontext.dumps(orjson.loads(b'"' + inside + b'"'))[1:-1]


def _canonical(bodies: list[bytes], texts: list[str]) -> list[bytes]:
    """The insides of strings as they are written here."""
    if _is_canonical(b"".join(bodies)):
        return bodies
    whole = jsontext.dumps(texts)
    if b'\\"' in whole:
        return [jsontext.dumps(text)[1:-1] for text in texts]
    # without a quote in a string, this is where one ends
    return whole[2:-2].split(b'","')


# ---- forms ------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def form_of(hot: Hot, framing: Framing, carry: Mark = None, *, spaced: bool = False) -> Form:
    """The form of a unit with a carry, if any: :data:`SYNTHETIC`, or a residue whose number is the hole."""
    unit = _spelled(hot.unit, spaced=spaced)
    text = None
    if carry is not None:
        text = _spelled({"synthetic": True} if carry is SYNTHETIC else {carry[0]: {carry[1]: NUMBER}}, spaced=False)
    whole = framing(unit, hot.name, text)
    at_text, at_number = whole.index(_HOLE), whole.find(_NUMBER)
    first, second = (_HOLE, _NUMBER) if at_text < at_number else (_NUMBER, _HOLE)
    mid = b""
    if at_number < 0:
        head, _, tail = whole.partition(_HOLE)
    else:
        head, _, rest = whole.partition(first)
        mid, _, tail = rest.partition(second)
    stamp = (hot.codec, hot.stamp) if hot.stamp is not None else None
    synthetic = carry is SYNTHETIC
    size = len(text) - (0 if synthetic else len(_NUMBER)) if text is not None else 0
    residue = carry if carry is not None and not synthetic else stamp
    pattern = re.escape(whole).replace(re.escape(_HOLE), _TEXT_HOLE).replace(re.escape(_NUMBER), _NUMBER_HOLE)
    number_first = 0 <= at_number < at_text
    holes = (2, 1) if number_first else (1, 2 if mid else 1)
    return Form(hot, head, mid, tail, number_first, residue, synthetic, size, re.compile(pattern), holes)


def _spelled(value: JsonObject, *, spaced: bool) -> bytes:
    return json.dumps(value, separators=(", ", ": ") if spaced else (",", ":")).encode()


@lru_cache(maxsize=64)
def _forms(hot: Hot, framing: Framing) -> tuple[Form, ...]:
    """The forms of a unit that are the same for all streams."""
    forms = [form_of(hot, framing), form_of(hot, framing, spaced=True)]
    return (*forms, form_of(hot, framing, SYNTHETIC)) if hot.stamp is not None else tuple(forms)


@lru_cache(maxsize=64)
def _carrying(hot: Hot, framing: Framing) -> re.Pattern[bytes]:
    """Matches a unit whose carry is a residue with one number, up to that number; its groups: codec and member."""
    text = _spelled({_CODEC: {_MEMBER: NUMBER}}, spaced=False)
    head, _, _ = framing(_spelled(hot.unit, spaced=False), hot.name, text).partition(_NUMBER)
    pattern = re.escape(head).replace(re.escape(_HOLE), rb'(?:[^"\\]|\\.)*+')
    for name, group in ((_CODEC, _CODEC_NAME), (_MEMBER, _MEMBER_NAME)):
        pattern = pattern.replace(re.escape(json.dumps(name)[1:-1].encode()), f"({group.pattern})".encode())
    return re.compile(pattern)


# ---- reading ----------------------------------------------------------------------------------


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
        last = self._last
        if last is not None and last.hot is hot and (run := self._read(last, cursor, trusted=trusted)):
            return run
        data, at = cursor.data, cursor.at
        for form in _forms(hot, self._framing):
            if form is last or not data.startswith(form.head, at):
                continue
            if run := self._read(form, cursor, trusted=trusted):
                return run
        if hot.stamp is None and (match := _carrying(hot, self._framing).match(data, at)):
            codec, member = match[1].decode(), match[2].decode()
            if _plain(codec, member) and codec != hot.codec:
                return self._read(form_of(hot, self._framing, (codec, member)), cursor, trusted=trusted)
        return None

    def _read(self, form: Form, cursor: Cursor, *, trusted: bool) -> Run | None:
        if not cursor.data.startswith(form.head, cursor.at):
            return None
        if form.carry and (not trusted or form.carry + DIGITS > self._carry):
            return None
        run = form.read(cursor.data, cursor.at, cursor.at + self._window)
        if run is not None:
            cursor.at += run.size
            self._last = form
        return run


# ---- writing ----------------------------------------------------------------------------------


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
            return form.write(run.bodies, orjson.dumps([self.clock() for _ in run.texts])[1:-1].split(b","))
        return form.write(run.bodies, run.numbers)


class Lane:
    """Hot units that come one a chunk, as in a live stream: each from bytes to bytes, the rest settled afterwards."""

    __slots__ = (
        *("_bodies", "_clock", "_head", "_holes", "_left", "_match", "_mid", "_number_first", "_numbers", "_source"),
        *("_stamps", "_tail", "silent", "size"),
    )

    def __init__(self, source: Form, target: Form | None, clock: Callable[[], int], room: int) -> None:
        """``target``: ``None`` where the encoder only holds such fragments. ``room``: for so many bytes at most."""
        self._source = source
        self._match = source.pattern.fullmatch
        self._holes = source.holes
        self._clock = clock
        self.silent = target is None
        self._bodies: list[bytes] = []
        self._numbers: list[bytes] = []
        self.size = 0
        self._left = min(room, LANE)
        if target is not None:
            self._head, self._mid, self._tail = target.head, target.mid, target.tail
            self._number_first = target.number_first
            self._stamps = target.residue != source.residue

    def take(self, data: Chunk) -> list[bytes] | None:
        """The output for a chunk that is one unit of the source form, or ``None``: the lane ends."""
        found = self._match(data) if type(data) is bytes else None
        if found is None:
            return None
        size = self.size + len(data)
        if size > self._left:
            return None
        body, number = found.group(*self._holes)
        written = body
        if not body.isascii() or b"\\" in body:
            try:
                written = _written(body)
            except ValueError:
                return None
        self.size = size
        self._bodies.append(body)
        self._numbers.append(number)
        if self.silent:
            return []
        if not self._mid:
            return [self._head + written + self._tail]
        if self._stamps:
            number = orjson.dumps(self._clock())
        if self._number_first:
            return [self._head + number + self._mid + written + self._tail]
        return [self._head + written + self._mid + number + self._tail]

    def settle(self) -> Run | None:
        """What went through it, if anything did."""
        return self._source.run(self._bodies, self._numbers, self.size) if self._bodies else None
