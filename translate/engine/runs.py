"""Runs: plain fragments of one part, which differ in their text and at most one number, as columns.

They are read and written together by the bytes around their holes (:mod:`translate.engine.templates`), and become
events only where someone wants events. What is only held of a call waits as columns, too.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import orjson

from .. import jsontext
from ..algebra.events import Append, Event, JsonObject, Residue
from ..carry.making import RESERVED

ON = True
"""Whether runs are read together: a switch for tests and benchmarks."""
DIGITS: Final = 18
"""Digits of a number in a hole, at most: whatever they are, it has 64 bits."""
NAMES: Final = 64
"""Characters of a name that a carry may have here, at most."""
_CODEC_NAME, _MEMBER_NAME = re.compile("[a-z0-9_-]+"), re.compile("[a-z_]+")

Mark: TypeAlias = tuple[str, str] | None
"""The residue that a number is: codec and member."""
SYNTHETIC: Final = ("synthetic", "")
"""In place of a residue, the carry that says that the unit's own was made up."""


@dataclass(slots=True)
class Run:
    """Plain fragments as columns: their texts, the same in JSON, and their numbers, if any.

    ``residue``: what the numbers are. ``synthetic``: whether they were made up.
    """

    texts: list[str]
    tokens: Sequence[bytes]
    numbers: Sequence[bytes]
    residue: Mark
    synthetic: bool = False
    _text: str | None = None

    @property
    def text(self) -> str:
        """All of it."""
        if self._text is None:
            self._text = "".join(self.texts)
        return self._text

    def split(self, at: int) -> tuple[Run, Run]:
        """The first units, and the others."""
        texts, tokens, numbers = self.texts, self.tokens, self.numbers
        first = Run(texts[:at], tokens[:at], numbers[:at], self.residue, self.synthetic)
        return first, Run(texts[at:], tokens[at:], numbers[at:], self.residue, self.synthetic)

    def events(self) -> list[Append]:
        """The events that the units mean."""
        if self.residue is None:
            return [Append(text) for text in self.texts]
        codec, member = self.residue
        mark: JsonObject = {"synthetic": True} if self.synthetic else {}
        pairs = zip(self.texts, map(int, self.numbers), strict=True)
        return [Append(text, None, {codec: {member: n, **mark}}) for text, n in pairs]

    def written(self) -> Sequence[bytes]:
        """The texts in JSON as it is written here."""
        if jsontext.RESPELLED.search(b"".join(self.tokens)):
            return [jsontext.dumps(text) for text in self.texts]
        return self.tokens


def gather(events: Sequence[Event], at: int) -> Run | None:
    """The plain fragments among ``events`` from ``at`` on, where there are several of one kind."""
    texts: list[str] = []
    numbers: list[bytes] = []
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
        numbers.append(b"%d" % number)
    if len(texts) < 2 or (mark is not None and not is_plain(*mark)):
        return None
    try:
        tokens = [orjson.dumps(text) for text in texts]
    except TypeError:
        return None
    return Run(texts, tokens, numbers if mark else [], mark)


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
    known = len(codec) + len(member) <= NAMES and _CODEC_NAME.fullmatch(codec) and _MEMBER_NAME.fullmatch(member)
    return bool(known) and codec not in RESERVED and member != "synthetic"


class Fragments:
    """Plain fragments that wait, as columns: some ten bytes each beside their text, however small that is."""

    __slots__ = ("_mark", "_numbers", "_texts")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._numbers = array("q")
        self._mark: Mark = None

    def add(self, event: Append) -> bool:
        """Take one; false, and nothing is taken, where it is not plain or another than those before."""
        if event.state is not None or type(event.data) is not str:
            return False
        mark, number = _number(event.residue) if event.residue else (None, 0)
        if number is None or (self._texts and mark != self._mark):
            return False
        self._mark = mark
        self._texts.append(event.data)
        if mark is not None:
            self._numbers.append(number)
        return True

    def extend(self, run: Run) -> bool:
        """Take a run; false as for :meth:`add`."""
        if run.synthetic or (self._texts and run.residue != self._mark):
            return False
        self._mark = run.residue
        self._texts += run.texts
        self._numbers.extend(map(int, run.numbers))
        return True

    def events(self) -> list[Append]:
        """All of them, given up."""
        texts, numbers, mark = self._texts, self._numbers, self._mark
        self._texts, self._numbers, self._mark = [], array("q"), None
        if mark is None:
            return [Append(text) for text in texts]
        codec, member = mark
        return [Append(text, None, {codec: {member: n}}) for text, n in zip(texts, numbers, strict=True)]
