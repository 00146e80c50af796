"""Forms: runs of text fragments, which are nearly all of a stream, are read and written by their holes alone.

1. In a run, a writer's units differ in one text and at most one number. A :class:`Hot` is such a unit with those
   holes, and a :class:`Form` is the bytes around them, frame and carry included. There is a form for each spelling that
   JSON writers use (compact, and one space after each colon and comma) and for each kind of plain carry.
2. Bytes that are a form around the inside of one JSON string and one run of digits are that unit: reading the holes
   is reading the unit. A run is written by joining what fills the holes with what stands between.
3. Joined pieces can hide malformed ones whose errors cancel. So each piece is first shown to be the inside of one
   string, by the form's pattern; only then are many read at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import orjson

from .. import jsontext
from ..algebra.events import Append, Event, JsonObject, Residue
from ..carry.making import RESERVED
from ..shapes import Framing

TEXT = "\x00text"
NUMBER = 0x7E57_0000_7E57
DIGITS = 18
"""Digits of a number in a hole, at most: whatever they are, it has 64 bits."""
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
    without one. ``pattern`` matches a unit; its groups are the holes.
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

    def read(self, data: bytes, at: int, end: int) -> Run | None:
        """The units that stand in ``data[at:end]`` one after another, as far as they go."""
        # each match begins where the last one ended
        found = [*iter(self.pattern.scanner(data, at, end).match, None)]  # type: ignore[attr-defined]
        if not found:
            return None
        stop = found[-1].end()
        columns = [list(column) for column in zip(*[match.groups() for match in found], strict=True)]
        bodies = columns.pop(1 if self.number_first else 0)
        try:
            return self.run(bodies, columns[0] if columns else [], stop - at)
        except ValueError:
            # what matches is JSON, but need not be UTF-8: only the units before that are read
            return self.read(data, at, at + jsontext.utf8_until(data[at:stop]))

    def run(self, bodies: list[bytes], numbers: list[bytes], size: int) -> Run:
        """The run of units with these holes, as the pattern found them. Raises ``ValueError`` for what is not UTF-8."""
        texts: list[str] = orjson.loads(b'["' + b'","'.join(bodies) + b'"]')
        return Run(texts, _canonical(bodies, texts), numbers, self.residue, self.synthetic, self, size)

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
    for i in range(at, len(events)):
        event = events[i]
        if type(event) is not Append or event.state is not None or type(event.data) is not str:
            break
        found, number = _number(event.residue) if event.residue else (None, 0)
        if number is None or (texts and found != mark):
            break
        mark = found
        texts.append(event.data)
        numbers.append(number)
    if len(texts) < 2 or (mark is not None and not is_plain(*mark)):
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


def is_plain(codec: str, member: str) -> bool:
    """Whether a carry may name a residue so without further rules."""
    known = bool(_CODEC_NAME.fullmatch(codec) and _MEMBER_NAME.fullmatch(member))
    return known and codec not in RESERVED and member != "synthetic"


def _canonical(bodies: list[bytes], texts: list[str]) -> list[bytes]:
    """The insides of strings as they are written here."""
    if not jsontext.RESPELLED.search(b"".join(bodies)):
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
    return Form(hot, head, mid, tail, number_first, residue, synthetic, size, re.compile(pattern))


def _spelled(value: JsonObject, *, spaced: bool) -> bytes:
    return json.dumps(value, separators=(", ", ": ") if spaced else (",", ":")).encode()


@lru_cache(maxsize=64)
def forms_of(hot: Hot, framing: Framing) -> tuple[Form, ...]:
    """The forms of a unit that are the same for all streams."""
    forms = [form_of(hot, framing), form_of(hot, framing, spaced=True)]
    return (*forms, form_of(hot, framing, SYNTHETIC)) if hot.stamp is not None else tuple(forms)


@lru_cache(maxsize=64)
def carrying(hot: Hot, framing: Framing) -> re.Pattern[bytes]:
    """Matches a unit whose carry is a residue with one number, up to that number; its groups: codec and member."""
    text = _spelled({_CODEC: {_MEMBER: NUMBER}}, spaced=False)
    head, _, _ = framing(_spelled(hot.unit, spaced=False), hot.name, text).partition(_NUMBER)
    pattern = re.escape(head).replace(re.escape(_HOLE), rb'(?:[^"\\]|\\.)*+')
    for name, group in ((_CODEC, _CODEC_NAME), (_MEMBER, _MEMBER_NAME)):
        pattern = pattern.replace(re.escape(json.dumps(name)[1:-1].encode()), f"({group.pattern})".encode())
    return re.compile(pattern)
