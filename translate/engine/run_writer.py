"""Writes runs into one stream's output, by the templates of the units that its codec writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .. import jsontext
from ..codec import Hot
from ..shapes import Framing
from .runs import NONE, Marks, Run
from .templates import AT_COUNT, Around, canonical


class Way(NamedTuple):
    """How fragments are written: the bytes ``around`` them, whether they are stamped and counted, and get a carry."""

    around: Around
    stamped: bool
    carried: bool
    counted: bool


_NONE: Sequence[bytes] = ()


class RunWriter:
    """Writes runs into one stream's output."""

    def __init__(self, framing: Framing, carrying: bool, clock: Callable[[], int]) -> None:
        self._framing = framing
        self._carrying = carrying
        self._clock = clock
        self._asked: tuple[Hot, Marks] | None = None
        self._known: Way | None = None

    def write(self, hot: Hot, run: Run, *, first: bool, count: int = 0) -> bytes | None:
        """A run as units; ``None`` where the other way has to look.

        ``first``: the stream's first carry, which is not plain, has yet to be written. ``count``: where units have a
        counter, that of the first of them.
        """
        asked = hot, run.marks
        if self._asked != asked:
            self._asked, self._known = asked, self._way(*asked)
        way = self._known
        if way is None or (first and way.carried):
            return None
        around, numbers, counts = way.around, run.numbers, _NONE
        if len(run.texts) == 1:
            token = run.tokens[0]
            if jsontext.RESPELLED.search(token):
                token = jsontext.dumps(run.texts[0])
            if not around.holes:
                return around.head + token + around.tail
            texts: Sequence[bytes] = (token,)
        else:
            texts = run.written()
        if way.stamped:
            numbers = jsontext.dumps([self._clock() for _ in texts])[1:-1].split(b",")
        if way.counted:
            counts = [b"%d" % n for n in range(count, count + len(texts))]
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
        return Way(around, stamped, carry != NONE, any(hole.kind == AT_COUNT for hole in around.holes))
