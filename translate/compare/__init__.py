"""Two streams compared by what they mean: :func:`compare` lists the differences, the most important first."""

from .comparing import compare
from .difference import LEVELS, Difference, Level

__all__ = ["LEVELS", "Difference", "Level", "compare"]
