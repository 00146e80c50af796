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
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from . import jsontext
from .carry import RESERVED
from .events import Append, Event, JsonObject, Residue
from .shapes import Frame, Framed, Framing

WINDOW = 256
"""Units that are looked at together, at most."""
NESTS = 3
"""Levels of arrays and objects in a hot unit with its carry, at most."""
TEXT = "\x00text"
NUMBER = 0x7E57_0000_7E57
_SYNTHETIC = b'{"synthetic":true}'
_QUOTE, _BACKSLASH = b'"\\'
_PLAIN = re.compile(rb'(\{"([a-z0-9_-]+)":\{"([a-z_]+)":)\d+\}\}')


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


def read(
    hot: Hot, frames: Sequence[Frame], at: int, out: list[Event], *, residues: bool, window: int, carry: int
) -> list[str]:
    """Read the hot units among ``frames`` from index ``at`` on, as far as they go; their texts.

    At most ``window`` units are looked at: what is looked at in vain is looked at again.
    ``residues``: whether anyone will look at what only the codec says. ``carry``: bytes of a carry that is read here.
    """
    layout = _layout_of(hot, frames[at][0])
    if layout is None:
        return []
    units, carries = _run(hot, frames[at : at + window])
    if not units:
        return []
    holes, digits = _holes(units, layout)
    texts = _texts(holes)
    stamps = _integers(digits[: len(texts)]) if layout.between is not None else None
    if not texts or (stamps is None and layout.between is not None):
        return []
    if carries:
        if max(map(len, carries)) > carry:
            return []
        added = _plain_carries(carries[: len(texts)], hot.codec)
        if added is None:
            return []
        if stamps is not None:
            # what the unit itself says comes first, as it does in the general way
            pairs = zip(added, stamps, strict=True)
            added = [{hot.codec: {hot.stamp or "": stamp, **own.pop(hot.codec, {})}, **own} for own, stamp in pairs]
        out += [Append(text, None, residue) for text, residue in zip(texts, added, strict=True)]
    elif stamps is None or not residues:
        out += [Append(text) for text in texts]
    else:
        codec, member = hot.codec, hot.stamp
        made = [Append(text, None, {codec: {member: n}}) for text, n in zip(texts, stamps, strict=True)]  # type: ignore[dict-item]
        out += made
    return texts


def _run(hot: Hot, frames: Sequence[Frame]) -> tuple[list[bytes], list[bytes]]:
    """The units that may be hot by what stands around them, and their carries: all have one, or none has."""
    units: list[bytes] = []
    carries: list[bytes] = []
    name, carried = hot.name, bool(frames[0][3])
    for data, _, named, beside, pings, whole in frames:
        if pings or not whole or (named != name and named is not None) or type(data) is not bytes:
            break
        if carried:
            if len(beside) != 1:
                break
            carries.append(beside[0])
        elif beside:
            break
        units.append(data)
    return units, carries


def _layout_of(hot: Hot, data: bytes | JsonObject | None) -> Layout | None:
    if type(data) is not bytes:
        return None
    if data.startswith(hot.compact.before):
        return hot.compact
    return hot.spaced if data.startswith(hot.spaced.before) else None


def _holes(units: list[bytes], layout: Layout) -> tuple[list[bytes], list[bytes]]:
    """The holes of the first units, up to one that is of another layout: texts, and digits as many as the first's."""
    before, between, after = layout.before, layout.between or b"", layout.after
    start, end = len(before), -len(after)
    number = len(units[0]) - len(after) - units[0].rfind(between) - len(between) if between else 0
    digits = end - number
    text = digits - len(between)
    for i, unit in enumerate(units):
        if unit[:start] != before or unit[text:digits] != between or unit[end:] != after:
            units = units[:i]
            break
    return [unit[start:text] for unit in units], [unit[digits:end] for unit in units] if between else []


def _texts(holes: list[bytes]) -> list[str]:
    """The values of the first pieces that are each one JSON string.

    They are read as one array. A piece that begins with a quote and ends in one that is not escaped has at least two
    quotes that delimit; where there are as many strings as pieces, and nothing else, each has just two, and so is one
    string.
    """
    for i, hole in enumerate(holes):
        if len(hole) < 2 or hole[0] != _QUOTE or hole[-1] != _QUOTE or hole[-2] == _BACKSLASH:
            holes = holes[:i]
            break
    try:
        texts: list[str] = orjson.loads(b"[" + b",".join(holes) + b"]")
    except ValueError:
        return []
    # a list may begin in one piece and end in a later one
    return texts if len(texts) == len(holes) and set(map(type, texts)) == {str} else []


def _integers(pieces: list[bytes]) -> list[int] | None:
    """The values of pieces that are each one JSON integer without sign, within 64 bits."""
    if not b"".join(pieces).isdigit():
        return None
    try:
        numbers: list[int] = orjson.loads(b"[" + b",".join(pieces) + b"]")
    except ValueError:
        return None
    return numbers if set(map(type, numbers)) == {int} else None


def _plain_carries(carries: list[bytes], own: str) -> list[Residue] | None:
    """The residues of carries that are all one mark, or all ``{"<codec>":{"<member>":n}}`` with the same names."""
    first = carries[0]
    if first == _SYNTHETIC:
        return [{own: {"synthetic": True}} for _ in carries] if set(carries) == {first} else None
    match = _PLAIN.fullmatch(first)
    if match is None:
        return None
    head, name, member = match[1], match[2].decode(), match[3].decode()
    if name in RESERVED or name == own or member == "synthetic":
        return None
    if any(carry[: len(head)] != head or carry[-2:] != b"}}" for carry in carries):
        return None
    numbers = _integers([carry[len(head) : -2] for carry in carries])
    return None if numbers is None else [{name: {member: n}} for n in numbers]


@dataclass(slots=True)
class HotWriter:
    """Writes hot units into one stream's output."""

    framing: Framing | None
    """How the writer lays out ``(before, after)``; ``None`` where units are objects."""
    carrying: bool
    clock: Callable[[], int]

    def write(self, hot: Hot, events: Sequence[Event], at: int, out: list[Any], *, first: bool) -> list[str]:
        """Write the plain fragments among ``events`` from ``at`` on, as far as they go; their texts.

        ``first``: the stream's first carry, which is not plain, has yet to be written.
        """
        if self.framing is None:
            return []
        texts, residues = _fragments(events, at)
        if not texts:
            return texts
        bodies = _bodies(texts)
        if bodies is None:
            return []
        carries: list[bytes] | None = None
        if hot.stamp is not None:
            if first and self.carrying and not residues:
                return []
            stamps = _stamps(residues, hot, len(texts), self.clock)
            if stamps is None:
                return []
            if not residues and self.carrying:
                carries = [_SYNTHETIC] * len(texts)
            between = hot.compact.between or b""
            try:
                bodies = [body + between + b"%d" % n for body, n in zip(bodies, stamps, strict=True)]
            except ValueError:
                # an integer of more digits than Python writes
                return []
        elif residues and hot.codec in residues[0]:
            return []
        elif residues and self.carrying:
            carries = _carry_texts(residues)
            if carries is None or first:
                return []
        self._lay_out(self.framing(hot.name, hot.compact.before, hot.compact.after), bodies, carries, out)
        return texts

    @staticmethod
    def _lay_out(lines: Framed, bodies: list[bytes], carries: list[bytes] | None, out: list[Any]) -> None:
        if carries is None:
            out.append(lines.before + (lines.after + lines.before).join(bodies) + lines.after)
            return
        pairs = zip(carries, bodies, strict=True)
        if lines.ahead:
            start, middle, end = lines.carry, lines.carried_before, lines.after
            out.append(b"".join([start + carry + middle + body + end for carry, body in pairs]))
        else:
            start, middle, end = lines.before, lines.carry, lines.carried_after
            out.append(b"".join([start + body + middle + carry + end for carry, body in pairs]))


def _fragments(events: Sequence[Event], at: int) -> tuple[list[str], list[Residue]]:
    """The texts of plain fragments, and their residues: all have one of the same codecs, or none has."""
    texts: list[str] = []
    residues: list[Residue] = []
    first = events[at].residue
    names = first.keys() if first else None
    for event in events[at : at + WINDOW]:
        if type(event) is not Append or event.state is not None:
            break
        residue = event.residue
        if names is None:
            if residue:
                break
        elif not residue or residue.keys() != names:
            break
        else:
            residues.append(residue)
        texts.append(event.data)  # type: ignore[arg-type]
    return texts, residues


def _bodies(texts: list[str]) -> list[bytes] | None:
    """The JSON texts of strings, written as one array and cut at ``","``, which no string without a quote can hold."""
    try:
        whole = orjson.dumps(texts)
    except TypeError:
        return None
    if b'\\"' in whole:
        bodies = [orjson.dumps(text) for text in texts]
        return bodies if whole.isascii() else [jsontext.escape_separators(body) for body in bodies]
    if not whole.isascii():
        whole = jsontext.escape_separators(whole)
    return [b'"' + body + b'"' for body in whole[2:-2].split(b'","')]


def _stamps(residues: list[Residue], hot: Hot, count: int, clock: Callable[[], int]) -> list[int] | None:
    """The numbers that fill the hole: those of the codec's own residue if that is all there is, else the clock's."""
    if not residues:
        return [clock() for _ in range(count)]
    codec, member = hot.codec, hot.stamp
    if len(residues[0]) > 1 or codec not in residues[0]:
        return None
    found = [residue[codec] for residue in residues]
    stamps = [own.get(member) for own in found if len(own) == 1]  # type: ignore[arg-type]
    return stamps if len(stamps) == count and set(map(type, stamps)) == {int} else None  # type: ignore[return-value]


def _carry_texts(residues: list[Residue]) -> list[bytes] | None:
    """The carries that are nothing but these residues; ``None`` where one has to be looked at.

    They are written as one array and cut where a residue ends: ``}},{`` is there, and nowhere else if there are as
    many pieces as residues.
    """
    try:
        whole = orjson.dumps(residues)
    except TypeError:
        return None
    if b"$" in whole or b"null" in whole or b"synthetic" in whole or not whole.isascii():
        return None
    pieces = whole[2:-3].split(b"}},{")
    return [b"{" + piece + b"}}" for piece in pieces] if len(pieces) == len(residues) else None
