"""Error bodies of OpenAI Responses."""

from __future__ import annotations

from translate.messages.failures import OneShape


class ResponsesErrors(OneShape):
    """``{"error": {"message", "type", "param", "code"}}``."""
