"""Writes runs into one stream's output, by the templates of the units that its codec writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .. import jsontext
from ..codec import Hot
from ..shapes import Framing
from .runs import SYNTHETIC, Mark, Run
from .templates import Around, canonical


class Way(NamedTuple):
    """How fragments are written: the bytes ``around`` them, whether they are stamped here, and get a carry."""

    around: Around
    stamped: bool
    carried: bool


class RunWriter:
    """Writes runs into one stream's output."""

    def __init__(self, framing: Framing, carrying: bool, clock: Callable[[], int]) -> None:
        self._framing = framing
        self._carrying = carrying
        self._clock = clock
        self._asked: tuple[Hot, Mark, bool] | None = None
        self._known: Way | None = None

    def write(self, hot: Hot, run: Run, *, first: bool) -> bytes | None:
        """A run as units; ``None`` where the other way has to look.

        ``first``: the stream's first carry, which is not plain, has yet to be written.
        """
        asked = hot, run.residue, run.synthetic
        if self._asked != asked:
            self._asked, self._known = asked, self._way(*asked)
        way = self._known
        if way is None or (first and way.carried):
            return None
        numbers, (head, mid, tail, number_first) = run.numbers, way.around
        if len(run.texts) == 1:
            token = run.tokens[0]
            if jsontext.RESPELLED.search(token):
                token = jsontext.dumps(run.texts[0])
            if not mid:
                return head + token + tail
            number = jsontext.dumps(self._clock()) if way.stamped else numbers[0]
            return head + number + mid + token + tail if number_first else head + token + mid + number + tail
        if way.stamped:
            numbers = jsontext.dumps([self._clock() for _ in run.texts])[1:-1].split(b",")
        return way.around.join(run.written(), numbers)

    def _way(self, hot: Hot, residue: Mark, synthetic: bool) -> Way | None:
        """How fragments with such residues are written."""
        stamp = hot.stamp
        own = residue is not None and residue[0] == hot.codec
        others = None if own or synthetic or not self._carrying else residue
        stamped = False
        if stamp is None:
            if own:
                return None
            carry = others
        elif own:
            if residue != (hot.codec, stamp):
                return None
            carry = SYNTHETIC if synthetic and self._carrying else None
        else:
            if others is not None:
                return None
            stamped, carry = True, SYNTHETIC if self._carrying else None
        return Way(canonical(hot, self._framing, carry)[0], stamped, carry is not None)
