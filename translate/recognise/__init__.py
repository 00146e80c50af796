"""What bytes are, told by their beginning: which format reads them, or what else they look like.

Nothing is read for it: all of this looks at what is there.
"""

from __future__ import annotations

from .formats import best, format_of, likeness
from .hints import Hinting, hint
from .others import other, what

__all__ = ["Hinting", "best", "format_of", "hint", "likeness", "other", "what"]
