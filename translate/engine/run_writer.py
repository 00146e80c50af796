"""Writes runs into one stream's output, by the templates of the units that its codec writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .. import jsontext
from ..codec import Decoder, Hot
from ..shapes import Framing
from .runs import NONE, Marks, Run
from .templates import AT_COUNT, AT_WORD, Around, canonical


class Way(NamedTuple):
    """How fragments are written: the bytes ``around`` them, whether they are stamped here, and get a carry."""

    around: Around
    stamped: bool
    carried: bool


_NONE: Sequence[bytes] = ()


class RunWriter:
    """Writes runs into one stream's output."""

    def __init__(self, framing: Framing, carrying: bool, clock: Callable[[], int]) -> None:
        self._framing = framing
        self._carrying = carrying
        self._clock = clock
        self._asked: tuple[Hot, Marks] | None = None
        self._known: Way | None = None

    def write(self, hot: Hot, run: Run, wire: Decoder, *, first: bool) -> bytes | None:
        """A run as units; ``None`` where the other way has to look.

        ``wire`` knows the counter of the first of them, where units have one. ``first``: the stream's first carry,
        which is not plain, has yet to be written.
        """
        asked = hot, run.marks
        if self._asked != asked:
            self._asked, self._known = asked, self._way(*asked)
        way = self._known
        if way is None or (first and way.carried):
            return None
        around = way.around
        if len(run.texts) == 1:
            token = run.tokens[0]
            if jsontext.RESPELLED.search(token):
                token = jsontext.dumps(run.texts[0])
            for kind, mid, behind in reversed(around.holes):
                if kind == AT_COUNT:
                    held = b"%d" % wire.count
                elif kind == AT_WORD:
                    held = run.words[0]
                else:
                    held = jsontext.dumps(self._clock()) if way.stamped else run.numbers[0]
                token = token + mid + held if behind else held + mid + token
            return around.head + token + around.tail
        texts, numbers, counts = run.written(), run.numbers, _NONE
        if way.stamped:
            numbers = jsontext.dumps([self._clock() for _ in texts])[1:-1].split(b",")
        if around.counted:
            counts = jsontext.dumps([*range(wire.count, wire.count + len(texts))])[1:-1].split(b",")
        return around.join([texts, numbers, run.words, counts])

    def _way(self, hot: Hot, marks: Marks) -> Way | None:
        """How fragments with such marks are written."""
        number, made_up, word = marks
        own = number is not None and number.codec == hot.codec
        padded = word is not None and word.codec == hot.codec
        if own and number != (hot.codec, hot.stamp):
            return None
        if padded and (hot.pad is None or word != (hot.codec, hot.pad[1])):
            return None
        kept = number if self._carrying and not own and not made_up else None
        stamped = hot.stamp is not None and not own
        if stamped and kept is not None:
            # two numbers a unit
            return None
        synthetic = self._carrying and (stamped or (own and made_up))
        carry = Marks(kept, synthetic, word if self._carrying and not padded else None)
        around = canonical(hot, self._framing, carry, padded=padded)[0]
        return Way(around, stamped, carry != NONE)
