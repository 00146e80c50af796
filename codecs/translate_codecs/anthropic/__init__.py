"""Anthropic Messages, streaming, as objects, JSON lines and SSE."""

from .codec import Anthropic

CODEC = Anthropic()

__all__ = ["CODEC", "Anthropic"]
