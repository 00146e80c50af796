"""Runs: plain fragments of one part, which differ in their text and in at most two marks, as columns.

A mark is a residue that is one number, such as a stamp, or one short word, such as padding. Runs are read and written
together by the bytes around their holes (:mod:`translate.engine.templates`), and become events only where someone
wants events. What is only held of a call waits as columns, too.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import orjson

from .. import jsontext
from ..algebra.events import Append, Event, JsonObject, Residue
from ..algebra.weight import is_word
from ..carry.making import RESERVED

ON = True
"""Whether runs are read together: a switch for tests and benchmarks."""
DIGITS: Final = 18
"""Digits of a number in a hole, at most: whatever they are, it has 64 bits."""
NAMES: Final = 64
"""Characters of a name that a carry may have here, at most."""
_CODEC_NAME, _MEMBER_NAME = re.compile("[a-z0-9_-]+"), re.compile("[a-z_]+")


class Mark(NamedTuple):
    """Where a mark stands in a residue: codec and member."""

    codec: str
    member: str


class Marks(NamedTuple):
    """The marks that each fragment of a run has: a ``number``, which may be ``made_up``, and a ``word``."""

    number: Mark | None = None
    made_up: bool = False
    word: Mark | None = None

    def residue(self, number: int, word: str) -> Residue:
        """The residue of one fragment."""
        out: dict[str, JsonObject] = {}
        if self.number is not None:
            out[self.number.codec] = {self.number.member: number}
            if self.made_up:
                out[self.number.codec]["synthetic"] = True
        if self.word is not None:
            out[self.word.codec] = {self.word.member: word}
        return out


NONE: Final = Marks()


@dataclass(slots=True)
class Run:
    """Plain fragments as columns: their texts, the same in JSON, and their marks in JSON, those that they have."""

    texts: list[str]
    tokens: Sequence[bytes]
    marks: Marks = NONE
    numbers: Sequence[bytes] = ()
    words: Sequence[bytes] = ()
    _text: str | None = None

    @property
    def text(self) -> str:
        """All of it."""
        if self._text is None:
            self._text = "".join(self.texts)
        return self._text

    def split(self, at: int) -> tuple[Run, Run]:
        """The first units, and the others."""
        columns = self.texts, self.tokens, self.numbers, self.words
        (a, b, c, d), (e, f, g, h) = [each[:at] for each in columns], [each[at:] for each in columns]
        return Run(a, b, self.marks, c, d), Run(e, f, self.marks, g, h)  # type: ignore[arg-type]

    def events(self) -> list[Append]:
        """The events that the units mean."""
        return _events(self.texts, self.marks, list(map(int, self.numbers)), [w[1:-1].decode() for w in self.words])

    def written(self) -> Sequence[bytes]:
        """The texts in JSON as it is written here."""
        if jsontext.RESPELLED.search(b"".join(self.tokens)):
            return [jsontext.dumps(text) for text in self.texts]
        return self.tokens


def _events(texts: list[str], marks: Marks, numbers: Sequence[int], words: Sequence[str]) -> list[Append]:
    if marks == NONE:
        return [Append(text) for text in texts]
    columns = zip(texts, numbers or [0] * len(texts), words or [""] * len(texts), strict=True)
    return [Append(text, None, marks.residue(number, word)) for text, number, word in columns]


def gather(events: Sequence[Event], at: int) -> Run | None:
    """The plain fragments among ``events`` from ``at`` on, where there are several of one kind."""
    texts = list[str]()
    numbers, words = list[bytes](), list[bytes]()
    marks = NONE
    for i in range(at, len(events)):
        event = events[i]
        if type(event) is not Append or event.state is not None or type(event.data) is not str:
            break
        found = marked(event.residue)
        if found is None or found[0].made_up or (texts and found[0] != marks):
            break
        marks, number, word = found
        texts.append(event.data)
        if marks.number is not None:
            numbers.append(b"%d" % number)
        if marks.word is not None:
            words.append(b'"%s"' % word.encode())
    if len(texts) < 2 or not are_plain(marks):
        return None
    try:
        tokens = [orjson.dumps(text) for text in texts]
    except TypeError:
        return None
    return Run(texts, tokens, marks, numbers, words)


def marked(residue: Residue | None) -> tuple[Marks, int, str] | None:
    """The marks that a residue is, and what they are; ``None`` where it holds more."""
    if not residue:
        return NONE, 0, ""
    number: Mark | None = None
    word: Mark | None = None
    made_up, at, of = False, 0, ""
    for codec, own in residue.items():
        synthetic = own.get("synthetic") is True
        plain = [pair for pair in own.items() if pair[0] != "synthetic"]
        if len(plain) != 1 or len(own) != 1 + synthetic:
            return None
        member, value = plain[0]
        if type(value) is int and number is word is None and 0 <= value < 10**DIGITS:
            number, at, made_up = Mark(codec, member), value, synthetic
        elif type(value) is str and word is None and not synthetic and is_word(value):
            word, of = Mark(codec, member), value
        else:
            return None
    return Marks(number, made_up, word), at, of


def are_plain(marks: Marks) -> bool:
    """Whether a carry may name residues so without further rules."""
    for mark in (marks.number, marks.word):
        if mark is not None:
            codec, member = mark
            known = len(codec) + len(member) <= NAMES and _CODEC_NAME.fullmatch(codec)
            if not known or codec in RESERVED or member == "synthetic" or not _MEMBER_NAME.fullmatch(member):
                return False
    return True


class Fragments:
    """Plain fragments that wait, as columns: some ten bytes each beside their text, however small that is."""

    __slots__ = ("_marks", "_numbers", "_texts", "_words")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._marks = NONE

    def add(self, event: Append) -> bool:
        """Take one; false, and nothing is taken, where it is not plain or another than those before."""
        if event.state is not None or type(event.data) is not str:
            return False
        found = marked(event.residue)
        if found is None or not self._takes(found[0]):
            return False
        marks, number, word = found
        self._texts.append(event.data)
        if marks.number is not None:
            self._numbers.append(number)
        if marks.word is not None:
            self._words.append(word)
        return True

    def extend(self, run: Run) -> bool:
        """Take a run; false as for :meth:`add`."""
        if not self._takes(run.marks):
            return False
        self._texts += run.texts
        self._numbers.extend(map(int, run.numbers))
        self._words += [word[1:-1].decode() for word in run.words]
        return True

    def _takes(self, marks: Marks) -> bool:
        if marks.made_up or (self._texts and marks != self._marks):
            return False
        if not self._texts:
            self._marks, self._numbers, self._words = marks, array("q"), list[str]()
        return True

    def events(self) -> list[Append]:
        """All of them, given up."""
        texts, self._texts = self._texts, []
        return _events(texts, self._marks, self._numbers, self._words) if texts else []
