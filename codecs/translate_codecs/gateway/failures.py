"""Error bodies of the gateway."""

from __future__ import annotations

from typing import Any

from translate.algebra.events import Failure, JsonObject
from translate.messages.capability import Errors
from translate.messages.failures import failure, status_of, unread


class GatewayErrors(Errors):
    """``{"success": false, "code", "message"}``."""

    def decode(self, status: int, body: Any) -> Failure:
        if not isinstance(body, dict) or not isinstance(body.get("message"), str):
            return unread(status, body)
        said = body.get("code")
        if not 400 <= status <= 599 and type(said) is int and 400 <= said <= 599:
            status = said
        return failure(status, None, body["message"])

    def encode(self, failure: Failure) -> tuple[int, JsonObject]:
        status = status_of(failure)
        return status, {"success": False, "code": status, "message": failure.message}
