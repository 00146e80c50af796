"""Efforts and budgets of thinking: one table, both ways."""

from __future__ import annotations

from typing import Final

EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""From the least to the most."""
BUDGETS: Final[dict[str, int]] = {
    "none": 0,
    "minimal": 1024,
    "low": 4096,
    "medium": 16384,
    "high": 32768,
    "xhigh": 65536,
    "max": 131072,
}
"""Effort → the most tokens that it stands for."""


def effort_of(budget: int) -> str:
    """The effort that a budget of tokens comes to; a negative one leaves it to the model, which is ``medium``."""
    if budget < 0:
        return "medium"
    return next((effort for effort, most in BUDGETS.items() if budget <= most), EFFORTS[-1])


def nearest(effort: str, known: tuple[str, ...]) -> str | None:
    """The effort among ``known`` that is nearest; of two equally near ones the lower. ``None`` for no known word.

    Some thinking never becomes none, nor none some.
    """
    if effort in known:
        return effort
    if effort not in EFFORTS or effort == "none":
        return None
    at = EFFORTS.index(effort)
    able = [word for word in known if word in EFFORTS and word != "none"]
    return min(able, key=lambda word: (abs(EFFORTS.index(word) - at), EFFORTS.index(word)), default=None)
