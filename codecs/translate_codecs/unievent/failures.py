"""Error bodies of UniEvent."""

from __future__ import annotations

from typing import Any, Final

from translate.algebra.events import Failure, JsonObject
from translate.messages.capability import Errors
from translate.messages.failures import BAD_GATEWAY, KINDS, failure, kind_in, status_of, unread

_TYPES: Final = {kind.unievent: name for name, kind in reversed(KINDS.items()) if kind.unievent != "UpstreamError"}


class UniEventErrors(Errors):
    """``{"error": {"type", "message", "status"}}``."""

    def decode(self, status: int, body: Any) -> Failure:
        error = body.get("error") if isinstance(body, dict) else None
        if not isinstance(error, dict) or not isinstance(error.get("message"), str):
            return unread(status, body)
        said = error.get("status")
        if not 400 <= status <= 599:
            kind = _TYPES.get(str(error.get("type")))
            status = said if type(said) is int and 400 <= said <= 599 else KINDS[kind].status if kind else BAD_GATEWAY
        return failure(status, None, error["message"])

    def encode(self, failure: Failure) -> tuple[int, JsonObject]:
        _, kind = kind_in(failure)
        status = status_of(failure)
        return status, {"error": {"type": kind.unievent, "message": failure.message, "status": status}}
