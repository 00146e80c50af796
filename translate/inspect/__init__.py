"""Looks at a stream: what came in, what went out, what was held back, and what a native reader will not see."""

from __future__ import annotations

from .view import view

__all__ = ["view"]
