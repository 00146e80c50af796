"""Reads the runs of one stream, by the templates that it learns from its units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import orjson

from .. import jsontext
from ..algebra.events import Append, Event, JsonObject
from ..algebra.weight import WORD as LONGEST
from ..codec import COUNT, NUMBER, TEXT, WORD, Decoder, Hot
from ..limits import Limits
from ..shapes import Cursor, Frame, Framing, Reader
from .runs import DIGITS, Marks, Run, are_plain, marked
from .templates import (
    AT_TEXT,
    SPELLINGS,
    Around,
    are_numbers,
    are_words,
    around,
    canonical,
    carry_of,
    fits,
    with_padding,
)
from .templates import read as holes

WINDOW: Final = 1 << 16
"""Bytes that are read together, at most, but for one unit that is larger."""
PATIENCE: Final = 8
"""Units in a row that nothing was learned of, before fewer are looked at."""
_HOLES: Final = (TEXT, NUMBER, WORD, COUNT)
_SLACK = re.compile(rb" +(?=\}\n)")
"""Finds the blanks with which a server pads a unit: no line of JSON means them, before its last brace."""


class Template(NamedTuple):
    """A unit that was read, with holes: the bytes ``around`` them, and what they are. ``slack``: it has more blanks."""

    hot: Hot
    around: Around
    marks: Marks
    slack: bool


class RunReader:
    """Reads the runs of one stream."""

    def __init__(self, limits: Limits, wire: Decoder) -> None:
        """``limits``: of the stream; what might pass one goes the other way, which finds out. ``wire`` knows it."""
        self._limits = limits
        self._wire = wire
        self._known: dict[Hot, Template] = {}
        self._seen: Hot | None = None
        """What came last and was not known."""
        self._missed = 0

    def learned(
        self,
        hot: Hot | None,
        reader: Reader,
        events: Sequence[Event],
        unit: JsonObject,
        frame: Frame,
        where: int | bytes,
    ) -> Hot | None:
        """What the next unit may well be, if it differs from the one that means ``events`` in its holes alone.

        ``hot``: what more of the open part would come as. ``where``: the unit begins in what the ``reader`` has at
        hand, or the chunk that it is.
        """
        cursor, framing, last = reader.cursor, reader.framing, events[-1]
        if type(last) is not Append or last.state is not None or len(events) > 2:
            return None
        if hot is None or framing is None or type(frame.data) is not bytes:
            return None
        if isinstance(where, bytes):
            known = self.learn(hot, framing, unit, frame.name, events[0], where)
        elif cursor.at >= len(cursor.data):
            known = hot in self._known
        else:
            block = cursor.data[where : cursor.at]
            known = self.learn(hot, framing, unit, frame.name, events[0], block, cursor)
        return hot if known else None

    def learn(
        self,
        hot: Hot,
        framing: Framing,
        unit: JsonObject,
        name: str | None,
        event: Event,
        block: bytes,
        rest: Cursor | None = None,
    ) -> bool:
        """Told of a unit that means a fragment with the residue of ``event``: whether such can be read from now on.

        ``rest``: what comes behind it; nothing is learned where that begins otherwise.
        """
        known = self._known.get(hot)
        if known is not None and (fits(block, known.around) or (known.slack and fits(_squeezed(block), known.around))):
            return True
        if self._missed >= PATIENCE and self._missed & (self._missed - 1):
            self._missed += 1
            return False
        found = self._template(hot, framing, unit, name, event, block)
        if found is None or (rest is not None and not rest.data.startswith(found.around.head, rest.at)):
            self._missed += found is None
            return False
        self._known[hot], self._missed = found, 0
        return True

    def _template(
        self, hot: Hot, framing: Framing, unit: JsonObject, name: str | None, event: Event, block: bytes
    ) -> Template | None:
        found = marked(event.residue)
        if found is None:
            return None
        marks, _, _ = found
        number, made_up, word = marks
        own = number is not None and number.codec == hot.codec
        padded = word is not None and hot.pad is not None and word == (hot.codec, hot.pad[1])
        if not are_plain(marks) or own != (hot.stamp is not None) or (own and number != (hot.codec, hot.stamp)):
            return None
        if (made_up and not own) or (word is not None and word.codec == hot.codec and not padded):
            return None
        carry = Marks(None if own else number, made_up, None if padded else word)
        text = carry_of(carry)
        if text is not None and len(text) + DIGITS + (LONGEST if carry.word else 0) > self._limits.carry:
            return None
        squeezed = _squeezed(block)
        slack = squeezed is not block
        for made in canonical(hot, framing, carry, padded=padded):
            if fits(squeezed, made):
                return Template(hot, made, marks, slack)
        again, self._seen = self._seen is hot, hot
        expected = with_padding(hot) if padded else hot.unit
        held = _with_holes(unit, expected) if again else None
        if held is None or not jsontext.same(held, expected):
            # one that opens a part may say more than those that grow it
            return None
        for spelled in SPELLINGS:
            made_of_it = around(spelled(held), framing, name, text)
            if made_of_it is not None and fits(squeezed, made_of_it):
                return Template(hot, made_of_it, marks, slack)
        return None

    def knows(self, hot: Hot) -> bool:
        """Whether such units can be read."""
        return hot in self._known

    def read(self, hot: Hot, cursor: Cursor) -> Run | None:
        """The units that come next and are as the one that is known; the cursor moves behind them."""
        known = self._known.get(hot)
        if known is None:
            return None
        count = self._wire.count if known.around.counted else 0
        data, at = cursor.data, cursor.at
        head, tail = known.around.head, known.around.tail
        if not data.startswith(head, at):
            return None
        if known.slack:
            return self._read_padded(known, cursor, count)
        end = data.rfind(tail, at, at + WINDOW)
        if end < 0 and (end := data.find(tail, at)) < 0:
            return None
        pieces = data[at + len(head) : end].split(tail + head)
        run = self._run(known, pieces, count)
        if run is not None:
            sizes = sum(map(len, pieces[: len(run.texts)]))
            cursor.at = at + sizes + len(run.texts) * (len(head) + len(tail))
        return run

    def _read_padded(self, known: Template, cursor: Cursor, count: int) -> Run | None:
        """The same where units are padded, each as it likes."""
        data, at = cursor.data, cursor.at
        head, tail = known.around.head, known.around.tail
        mark = b"\n\n" if tail.endswith(b"\n\n") else b"\n"
        end = data.rfind(mark, at, at + WINDOW)
        if end < 0 and (end := data.find(mark, at)) < 0:
            return None
        units = _squeezed(data[at : end + len(mark)])
        last = units.rfind(tail)
        if last < 0 or not units.startswith(head):
            return None
        run = self._run(known, units[len(head) : last].split(tail + head), count)
        for i in range(len(run.texts) if run is not None else 0):
            end = data.index(mark, at) + len(mark)
            if end - at > self._limits.unit:
                return run.split(i)[0] if run is not None and i else None
            cursor.at = at = end
        return run

    def one(self, hot: Hot, block: bytes) -> Run | None:
        """A unit as the one that is known, which is all of ``block``."""
        known = self._known.get(hot)
        if known is None or len(block) > self._limits.unit:
            return None
        made = known.around
        if known.slack:
            block = _squeezed(block)
        head, tail = made.head, made.tail
        if not (block.startswith(head) and block.endswith(tail)):
            return None
        piece = block[len(head) : len(block) - len(tail)]
        found = holes(piece, made, self._wire.count if known.around.counted else None)
        if found is None:
            return None
        token, text, number, word = found
        return Run([text], (token,), known.marks, (number,) if number else (), (word,) if word else (), text)

    def _run(self, known: Template, pieces: list[bytes], count: int) -> Run | None:
        """What stands between head and tail of units, read together; one by one where any of it may be wrong."""
        if len(pieces) == 1:
            return self._run_one_by_one(known, pieces, count)
        made = known.around
        columns = made.split(pieces)
        whole = b"\0".join(columns[AT_TEXT])
        if b"\n" in whole:
            # another unit stands in one of them
            i = next(i for i, token in enumerate(columns[AT_TEXT]) if b"\n" in token)
            pieces[i:] = [pieces[i].partition(made.tail)[0]]
            columns = made.split(pieces)
            whole = b"\0".join(columns[AT_TEXT])
        tokens, numbers, words, counts = columns
        sound = not (numbers and not are_numbers(numbers)) and not (words and not are_words(words))
        if counts and sound:
            sound = b",".join(counts) == orjson.dumps(list(range(count, count + len(pieces))))[1:-1]
        # each begins and ends with a quote of its own
        quoted = whole[:1] == whole[-1:] == b'"' and whole.count(b'"\0"') == len(pieces) - 1 and len(whole) > 1
        if sound and quoted and max(map(len, pieces)) + len(made.head) + len(made.tail) <= self._limits.unit:
            try:
                if b"\\" in whole:
                    texts = [orjson.loads(token) for token in tokens]
                    return Run(texts, tokens, known.marks, numbers, words)
                if whole.count(b'"') == 2 * len(pieces):
                    # and has no other: joined, they are read as they stand
                    texts = orjson.loads(b"[" + b",".join(tokens) + b"]")
                    return Run(texts, tokens, known.marks, numbers, words)
            except ValueError:
                pass
        return self._run_one_by_one(known, pieces, count)

    def _run_one_by_one(self, known: Template, pieces: list[bytes], count: int) -> Run | None:
        """The same as far as nothing is wrong."""
        made = known.around
        texts, tokens, numbers, words = list[str](), list[bytes](), list[bytes](), list[bytes]()
        for piece in pieces:
            if len(piece) + len(made.head) + len(made.tail) > self._limits.unit:
                break
            found = holes(piece, made, count + len(texts))
            if found is None:
                break
            token, text, number, word = found
            texts.append(text)
            tokens.append(token)
            if number:
                numbers.append(number)
            if word:
                words.append(word)
        return Run(texts, tokens, known.marks, numbers, words) if texts else None


def _squeezed(units: bytes) -> bytes:
    """The bytes of units without what pads them; the same object where nothing does."""
    return _SLACK.sub(b"", units) if b" }\n" in units else units


def _with_holes(unit: Any, hot: Any) -> Any:
    """``unit`` with the holes that ``hot`` has at the same places; ``None`` where it lacks one of them."""
    if type(hot) is dict:
        if type(unit) is not dict:
            return None
        copy = dict(unit)
        for key, value in hot.items():
            if type(value) in (dict, list) or value in _HOLES:
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
    if hot == WORD:
        return WORD if type(unit) is str else None
    if hot in (NUMBER, COUNT):
        return hot if type(unit) is int else None
    return unit
