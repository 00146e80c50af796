"""Error bodies of Chat Completions."""

from __future__ import annotations

from translate.messages.failures import OneShape


class ChatErrors(OneShape):
    """``{"error": {"message", "type", "param", "code"}}``."""
