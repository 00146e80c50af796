"""What an upstream says instead of a stream, where it is too late to pass its answer on."""

from __future__ import annotations

from typing import Any

import anyio
import orjson

from ..errors import UpstreamFailure
from .upstream import Response

_MOST = 16 * 1024
"""Bytes of an answer that are read for what it says."""
_PATIENCE = 5.0
"""Seconds that it may take."""
_MESSAGE = 2000
"""Characters of a message that are passed on."""
_RETRY = ("retry-after", "retry-after-ms")


async def reported(response: Response) -> UpstreamFailure:
    """The failure that an answer is, which is no stream: its status, what it says, and when to try again."""
    body = b""
    with anyio.move_on_after(_PATIENCE):
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > _MOST:
                break
    message, kind = _said(body[:_MOST], response.headers.get("content-type") or "")
    details = {name.replace("-", "_"): given for name in _RETRY if (given := response.headers.get(name))}
    code = response.status_code if response.status_code >= 400 else 502
    return UpstreamFailure(code, message[:_MESSAGE] or "the upstream gave no stream", kind, details)


def _said(body: bytes, content_type: str) -> tuple[str, str | None]:
    """Message and kind of an error, in the words that the services in use have for it; of text, all of it."""
    if content_type.startswith("text/plain"):
        return body.decode("utf-8", "replace").strip(), None
    try:
        found: Any = orjson.loads(body)
    except ValueError:
        return "", None
    if isinstance(found, list) and found:
        found = found[0]
    error = found.get("error", found) if isinstance(found, dict) else found
    if not isinstance(error, dict):
        return (error, None) if isinstance(error, str) else ("", None)
    texts = {key: value for key, value in error.items() if isinstance(value, str)}
    message = texts.get("message") or texts.get("detail") or texts.get("error_description") or ""
    return message, texts.get("type") or texts.get("status") or texts.get("code")
