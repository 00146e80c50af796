"""What the open part of a stream takes in memory, for who bounds it over many streams."""

from __future__ import annotations

from ..algebra.events import Open
from ..algebra.grammar import INSIDE, Grammar

_FRAGMENT = 72
"""Bytes that a fragment takes beside its data, where it waits for its part's end."""
_PASS = ("text", "thinking", "refusal")
"""Kinds whose fragments never wait."""


class Held:
    """Of one stream, whose events ``grammar`` has checked."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._seen: Open | None = None
        self._since = 0

    def __call__(self, units: int) -> int:
        """Bytes, about and rather too many: the part's data at both ends, and its fragments. ``units``: those so far.

        To be asked after each chunk: the fragments are those of units since it was first asked in this part.
        """
        grammar = self._grammar
        if grammar.part is not self._seen:
            self._seen, self._since = grammar.part, units
        if grammar.state is not INSIDE:
            return 0
        return 2 * grammar.size + (0 if grammar.kind in _PASS else _FRAGMENT * (units - self._since))
