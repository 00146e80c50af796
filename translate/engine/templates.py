"""Templates: the bytes of a unit around its holes, by which runs are read and written.

1. Each hole is read as JSON by itself: bytes that are the same around a whole string and a whole number are a whole
   unit, whatever stands in them. What does not fit goes the other way, which finds out.
2. A template is learned from a unit that came, with its carry, its event name and the spelling of its writer; it
   belongs to its stream.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import orjson

from .. import jsontext
from ..algebra.events import Event, JsonObject
from ..codec import NUMBER, TEXT, Hot
from ..limits import Limits
from ..shapes import Cursor, Framing
from .runs import DIGITS, SYNTHETIC, Mark, Run, is_plain

WINDOW: Final = 1 << 16
"""Bytes that are read together, at most, but for one unit that is larger."""
_TEXT, _NUMBER = b'"\\u0000text"', str(NUMBER).encode()
_ZERO: Final = ord("0")


class Around(NamedTuple):
    """The bytes around the holes: ``head`` TEXT ``mid`` NUMBER ``tail``, or the other way round.

    Without a number, they are ``head`` TEXT ``tail``.
    """

    head: bytes
    mid: bytes
    tail: bytes
    number_first: bool

    def join(self, texts: Sequence[bytes], numbers: Sequence[bytes]) -> bytes:
        """The units with these holes."""
        head, mid, tail, number_first = self
        pieces = texts
        if mid:
            first, second = (numbers, texts) if number_first else (texts, numbers)
            pieces = [a + mid + b for a, b in zip(first, second, strict=True)]
        return head + (tail + head).join(pieces) + tail


def around(unit: bytes, framing: Framing, name: str | None, carry: bytes | None) -> Around | None:
    """The bytes of a unit with holes; ``None`` where its holes cannot be told from what is around them."""
    whole = framing(unit, name, carry)
    if whole.count(_TEXT) != 1 or whole.count(_NUMBER) > 1:
        return None
    at_text, at_number = whole.index(_TEXT), whole.find(_NUMBER)
    if at_number < 0:
        head, _, tail = whole.partition(_TEXT)
        return Around(head, b"", tail, False)
    first, second = (_TEXT, _NUMBER) if at_text < at_number else (_NUMBER, _TEXT)
    head, _, rest = whole.partition(first)
    mid, _, tail = rest.partition(second)
    return Around(head, mid, tail, at_number < at_text)


def carry_of(mark: Mark) -> bytes | None:
    """The carry that holds a number, or says that one was made up."""
    if mark is None:
        return None
    return b'{"synthetic":true}' if mark is SYNTHETIC else jsontext.dumps({mark[0]: {mark[1]: NUMBER}})


class RunWriter:
    """Writes runs into one stream's output."""

    def __init__(self, framing: Framing, carrying: bool, clock: Callable[[], int]) -> None:
        self._framing = framing
        self._carrying = carrying
        self._clock = clock
        self._known: dict[tuple[Hot, Mark], Around] = {}

    def write(self, hot: Hot, run: Run, *, first: bool) -> bytes | None:
        """A run as units; ``None`` where the other way has to look.

        ``first``: the stream's first carry, which is not plain, has yet to be written.
        """
        residue, stamp = run.residue, hot.stamp
        own = residue is not None and residue[0] == hot.codec
        others = None if own or run.synthetic or not self._carrying else residue
        stamped = False
        if stamp is None:
            if own:
                return None
            carry = others
        elif own:
            if residue != (hot.codec, stamp):
                return None
            carry = SYNTHETIC if run.synthetic and self._carrying else None
        else:
            if others is not None:
                return None
            stamped, carry = True, SYNTHETIC if self._carrying else None
        if carry is not None and first:
            return None
        found = self._known.get((hot, carry))
        if found is None:
            made = around(jsontext.dumps(hot.unit), self._framing, hot.name, carry_of(carry))
            assert made is not None, f"the hot unit of {hot.codec!r} has no holes"
            found = self._known[hot, carry] = made
        numbers = run.numbers
        if stamped:
            numbers = jsontext.dumps([self._clock() for _ in run.texts])[1:-1].split(b",")
        return found.join(run.written(), numbers)


class Template(NamedTuple):
    """A unit that was read, with holes: the bytes ``around`` them, and what they are."""

    hot: Hot
    around: Around
    residue: Mark
    synthetic: bool


class RunReader:
    """Reads the runs of one stream."""

    def __init__(self, limits: Limits) -> None:
        """``limits``: of the stream; what might pass one goes the other way, which finds out."""
        self._limits = limits
        self._known: dict[Hot, Template] = {}

    def learn(
        self, hot: Hot, framing: Framing, unit: JsonObject, name: str | None, event: Event, block: bytes
    ) -> bool:
        """Told of a unit that means a fragment with the residue of ``event``: whether such can be read from now on."""
        known = self._known.get(hot)
        if known is not None and block.startswith(known.around.head) and block.endswith(known.around.tail):
            return True
        found = self._template(hot, framing, unit, name, event, block)
        if found is not None:
            self._known[hot] = found
        return found is not None

    def _template(
        self, hot: Hot, framing: Framing, unit: JsonObject, name: str | None, event: Event, block: bytes
    ) -> Template | None:
        residue = event.residue
        mark, synthetic = None, False
        carry: Mark = None
        if residue:
            own = residue.get(hot.codec)
            others = [codec for codec in residue if codec != hot.codec]
            if len(others) + (own is not None) != 1:
                return None
            ((codec, members),) = residue.items()
            plain = {member: n for member, n in members.items() if member != "synthetic"}
            if len(plain) != 1:
                return None
            ((member, number),) = plain.items()
            if type(number) is not int or not 0 <= number < 10**DIGITS or not is_plain(codec, member):
                return None
            mark, synthetic = (codec, member), len(members) == 2
            carry = (SYNTHETIC if synthetic else None) if own is not None else mark
            if own is not None and member != hot.stamp:
                return None
        if (mark is not None and mark[0] == hot.codec) != (hot.stamp is not None):
            return None
        held = _with_holes(unit, hot.unit)
        if held is None or not jsontext.same(held, hot.unit):
            # one that opens a part may say more than those that grow it
            return None
        limits = self._limits
        text = carry_of(carry)
        if text is not None and len(text) + DIGITS > limits.carry:
            return None
        for spelled in (orjson.dumps, _spaced, _spaced_ascii):
            made = around(spelled(held), framing, name, text)
            if made is None or not (block.startswith(made.head) and block.endswith(made.tail)):
                continue
            piece = block[len(made.head) : len(block) - len(made.tail)]
            if _holes(piece, made.mid, made.number_first) is not None:
                return Template(hot, made, mark, synthetic)
        return None

    def knows(self, hot: Hot) -> bool:
        """Whether such units can be read."""
        return hot in self._known

    def read(self, hot: Hot, cursor: Cursor) -> Run | None:
        """The units that come next and are as the one that is known; the cursor moves behind them."""
        known = self._known.get(hot)
        if known is None:
            return None
        data, at = cursor.data, cursor.at
        head, tail = known.around.head, known.around.tail
        if not data.startswith(head, at):
            return None
        end = data.rfind(tail, at, at + WINDOW)
        if end < 0 and (end := data.find(tail, at)) < 0:
            return None
        pieces = data[at + len(head) : end].split(tail + head)
        run = self._run(known, pieces)
        if run is not None:
            sizes = sum(map(len, pieces[: len(run.texts)]))
            cursor.at = at + sizes + len(run.texts) * (len(head) + len(tail))
        return run

    def _run(self, known: Template, pieces: list[bytes]) -> Run | None:
        """What stands between head and tail of units, read together; one by one where any of it may be wrong."""
        tokens, numbers = columns(known.around, pieces)
        whole = b"\0".join(tokens)
        if b"\n" in whole:
            # another unit stands in one of them
            i = next(i for i, token in enumerate(tokens) if b"\n" in token)
            pieces[i:] = [pieces[i].partition(known.around.tail)[0]]
            tokens, numbers = columns(known.around, pieces)
            whole = b"\0".join(tokens)
        count, fixed = len(pieces), len(known.around.head) + len(known.around.tail)
        if numbers:
            joined = b",".join([b"", *numbers])
            sound = b"".join(numbers).isdigit() and all(numbers) and max(map(len, numbers)) <= DIGITS
            if not sound or b",0" in joined:
                return self._run_one_by_one(known, pieces)
        # each begins and ends with a quote of its own
        quoted = whole[:1] == whole[-1:] == b'"' and whole.count(b'"\0"') == count - 1 and len(whole) > 1
        if quoted and max(map(len, pieces)) + fixed <= self._limits.unit:
            try:
                if b"\\" in whole:
                    texts = [orjson.loads(token) for token in tokens]
                    return Run(texts, tokens, numbers, known.residue, known.synthetic)
                if whole.count(b'"') == 2 * count:
                    # and has no other: joined, they are read as they stand
                    texts = orjson.loads(b"[" + b",".join(tokens) + b"]")
                    return Run(texts, tokens, numbers, known.residue, known.synthetic)
            except ValueError:
                pass
        return self._run_one_by_one(known, pieces)

    def _run_one_by_one(self, known: Template, pieces: list[bytes]) -> Run | None:
        """The same as far as nothing is wrong."""
        head, mid, tail, number_first = known.around
        texts, tokens, numbers = list[str](), list[bytes](), list[bytes]()
        for piece in pieces:
            if len(piece) + len(head) + len(tail) > self._limits.unit:
                break
            found = _holes(piece, mid, number_first)
            if found is None:
                break
            token, text, number = found
            texts.append(text)
            tokens.append(token)
            if mid:
                numbers.append(number)
        return Run(texts, tokens, numbers, known.residue, known.synthetic) if texts else None


def columns(found: Around, pieces: Sequence[bytes]) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """The texts in JSON, and the numbers, of what stands between head and tail of units."""
    mid = found.mid
    if not mid:
        return pieces, ()
    if found.number_first:
        numbers, _, tokens = zip(*[piece.partition(mid) for piece in pieces], strict=True)
    else:
        tokens, _, numbers = zip(*[piece.rpartition(mid) for piece in pieces], strict=True)
    return tokens, numbers


def _holes(piece: bytes, mid: bytes, number_first: bool) -> tuple[bytes, str, bytes] | None:
    """The text in JSON, itself, and the number, that stand between head and tail of one unit."""
    token, number = piece, b""
    if mid and number_first:
        number, _, token = piece.partition(mid)
    elif mid:
        token, _, number = piece.rpartition(mid)
    if mid and (not number.isdigit() or len(number) > DIGITS or (number[0] == _ZERO and len(number) > 1)):
        return None
    if token[:1] != b'"' or token[-1:] != b'"':
        return None
    try:
        text = orjson.loads(token)
    except ValueError:
        return None
    return token, text, number


def _spaced(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _spaced_ascii(value: Any) -> bytes:
    return json.dumps(value).encode()


def _with_holes(unit: Any, hot: Any) -> Any:
    """``unit`` with the holes that ``hot`` has at the same places; ``None`` where it lacks one of them."""
    if type(hot) is dict:
        if type(unit) is not dict:
            return None
        copy = dict(unit)
        for key, value in hot.items():
            if type(value) in (dict, list) or value in (TEXT, NUMBER):
                if key not in copy:
                    return None
                held = _with_holes(copy[key], value)
                if held is None:
                    return None
                copy[key] = held
        return copy
    if type(hot) is list:
        if type(unit) is not list or len(unit) < len(hot):
            return None
        items = [_with_holes(a, b) for a, b in zip(unit, hot, strict=False)]
        return None if any(item is None for item in items) else [*items, *unit[len(hot) :]]
    if hot == TEXT:
        return TEXT if type(unit) is str else None
    if hot == NUMBER:
        return NUMBER if type(unit) is int else None
    return unit
