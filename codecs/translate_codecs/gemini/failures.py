"""Error bodies of Gemini."""

from __future__ import annotations

from typing import Any, Final

from translate import jsontext
from translate.algebra.events import Failure, JsonObject
from translate.messages.capability import Errors
from translate.messages.failures import BAD_GATEWAY, KINDS, failure, kind_in, status_of, unread

_STATUSES: Final = {kind.gemini: name for name, kind in reversed(KINDS.items())}
_NO_KEY: Final = b"API_KEY_INVALID"


class GeminiErrors(Errors):
    """``{"error": {"code", "message", "status", "details"}}``; of a stream that failed a list of one."""

    def decode(self, status: int, body: Any) -> Failure:
        body = body[0] if isinstance(body, list) and body else body
        error = body.get("error") if isinstance(body, dict) else None
        if isinstance(error, str):
            return failure(status, None, error)
        if not isinstance(error, dict) or not isinstance(error.get("message"), str):
            return unread(status, body)
        if _NO_KEY in jsontext.dumps(error.get("details") or []):
            return failure(KINDS["authentication"].status, "authentication", error["message"])
        code = error.get("code")
        if not 400 <= status <= 599:
            kind = _STATUSES.get(str(error.get("status")), "server")
            said = KINDS[kind].status if kind != "server" else BAD_GATEWAY
            status = code if type(code) is int and 400 <= code <= 599 else said
        return failure(status, None, error["message"])

    def encode(self, failure: Failure) -> tuple[int, JsonObject]:
        _, kind = kind_in(failure)
        status = status_of(failure)
        return status, {"error": {"code": status, "message": failure.message, "status": kind.gemini}}
