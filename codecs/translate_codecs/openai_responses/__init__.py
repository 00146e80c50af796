"""OpenAI Responses, streaming, as objects, JSON lines and SSE."""

from .codec import Responses

CODEC = Responses()

__all__ = ["CODEC", "Responses"]
