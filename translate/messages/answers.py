"""What the answers of all formats have in common."""

from __future__ import annotations

from ..algebra.events import Reason
from .capability import Writing
from .reasons import why


def told_reason(reason: Reason, word: str, guess: str | None, writing: Writing) -> None:
    """Tell what the word for a reason leaves out: the source's own, or that there is none for it."""
    if guess is not None:
        writing.telling.guess("", "reason", guess)
    elif reason.word in ("unknown", "pause", "refusal") and word != reason.raw and not writing.home:
        writing.telling.guess("", "reason", why("word", writing.target, repr(reason.raw or reason.word)))
    if reason.raw is not None and reason.raw != word and not writing.home:
        writing.lost("incidental", "reason", "reason", "member")
