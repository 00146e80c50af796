"""What the open part of a stream takes in memory, for whoever bounds what many streams hold together."""

from __future__ import annotations

from typing import Final

from ..algebra.events import Open
from ..algebra.grammar import INSIDE, Grammar

FRAGMENT: Final = 72
"""Bytes that a fragment takes beside its data, where it waits for its part's end."""
PASS: Final = ("text", "thinking", "refusal")
"""Kinds whose fragments never wait."""


class OpenPart:
    """The open part of the stream that ``grammar`` follows."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._part: Open | None = None
        self._since = 0

    def size(self, units: int) -> int:
        """Bytes, about and rather too many, after so many units: its data at both ends, and its fragments.

        To be asked after each chunk: the fragments are those of units since it was first asked in this part.
        """
        grammar = self._grammar
        if grammar.part is not self._part:
            self._part, self._since = grammar.part, units
        if grammar.state is not INSIDE:
            return 0
        return 2 * grammar.size + (0 if grammar.kind in PASS else FRAGMENT * (units - self._since))
