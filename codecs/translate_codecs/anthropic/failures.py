"""Error bodies of Anthropic Messages."""

from __future__ import annotations

from typing import Any, Final

from translate.algebra.events import Failure, JsonObject
from translate.messages.capability import Errors
from translate.messages.failures import BAD_GATEWAY, KINDS, failure, kind_in, status_of, unread

_TYPES: Final = {kind.anthropic: name for name, kind in KINDS.items()}
_OVERLOADED: Final = 529


class AnthropicErrors(Errors):
    """``{"type": "error", "error": {"type", "message"}, "request_id"}``."""

    def decode(self, status: int, body: Any) -> Failure:
        error = body.get("error") if isinstance(body, dict) else None
        if not isinstance(error, dict) or not isinstance(error.get("message"), str):
            return unread(status, body)
        kind = _TYPES.get(str(error.get("type")))
        id = body.get("request_id")
        more = {"request_id": id} if isinstance(id, str) else {}
        code = status if 400 <= status <= 599 else BAD_GATEWAY if kind in (None, "server") else KINDS[str(kind)].status
        return failure(code, kind, error["message"], **more)

    def encode(self, failure: Failure) -> tuple[int, JsonObject]:
        name, kind = kind_in(failure)
        status = _OVERLOADED if name == "overloaded" else status_of(failure)
        body: JsonObject = {"type": "error", "error": {"type": kind.anthropic, "message": failure.message}}
        id = failure.details.get("request_id")
        return status, {**body, **({"request_id": id} if isinstance(id, str) else {})}
