"""Error bodies: one table of what fails, the statuses and the words of every format for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from .. import jsontext
from ..algebra.events import Failure, JsonObject
from ..algebra.failures import failure_of
from ..errors import (
    DecodeError,
    LimitExceeded,
    LossError,
    RequestError,
    ToolArgumentsError,
    TranslateError,
    UnsupportedFormat,
    UpstreamFailure,
)
from .capability import Errors


class Kind(NamedTuple):
    """What fails: its status, and its words in the formats."""

    status: int
    anthropic: str
    openai: str
    code: str | None
    gemini: str
    unievent: str


KINDS: Final[dict[str, Kind]] = {
    "invalid_request": Kind(
        400, "invalid_request_error", "invalid_request_error", None, "INVALID_ARGUMENT", "InvalidRequestError"
    ),
    "authentication": Kind(
        401, "authentication_error", "authentication_error", "invalid_api_key", "UNAUTHENTICATED", "AuthenticationError"
    ),
    "billing": Kind(402, "billing_error", "insufficient_quota", None, "FAILED_PRECONDITION", "UpstreamError"),
    "permission": Kind(403, "permission_error", "permission_error", None, "PERMISSION_DENIED", "UpstreamError"),
    "not_found": Kind(
        404, "not_found_error", "invalid_request_error", "model_not_found", "NOT_FOUND", "NotFoundError"
    ),
    "too_large": Kind(
        413, "request_too_large", "invalid_request_error", None, "INVALID_ARGUMENT", "InvalidRequestError"
    ),
    "rate_limit": Kind(
        429, "rate_limit_error", "rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED", "UpstreamError"
    ),
    "server": Kind(500, "api_error", "server_error", None, "INTERNAL", "UpstreamError"),
    "overloaded": Kind(503, "overloaded_error", "server_error", "overloaded", "UNAVAILABLE", "UpstreamError"),
    "timeout": Kind(504, "timeout_error", "server_error", "timeout", "DEADLINE_EXCEEDED", "UpstreamError"),
}
_BY_STATUS: Final = {
    **{kind.status: name for name, kind in KINDS.items()},
    **{402: "billing", 408: "timeout", 422: "invalid_request", 502: "server", 529: "overloaded"},
}
BAD_GATEWAY: Final = 502
_SHOWN: Final = 200
_KEYS: Final = re.compile(
    r"(?:sk|rk|pk|key|gsk|xai|AIza)[-_]?[A-Za-z0-9][A-Za-z0-9_*-]{14,}|Bearer\s+\S+|tstate\d+[_/][A-Za-z0-9_+/-]+"
)
_URLS: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^\s\"'<>)]+", re.IGNORECASE)


def kind_of_status(status: int) -> str:
    """What a status says that fails."""
    known = _BY_STATUS.get(status)
    return known or ("invalid_request" if 400 <= status < 500 else "server")


def cleaned(message: str) -> str:
    """A message without keys, URLs and envelopes: what an upstream says goes to a client."""
    return _URLS.sub("[URL]", _KEYS.sub("[…]", message))


def read_body(body: bytes | str | Any) -> Any:
    """The JSON value of a body; its text where it is none."""
    if not isinstance(body, (bytes, bytearray, str)):
        return body
    raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else bytes(body)
    try:
        return jsontext.loads(raw)
    except TranslateError:
        return raw.decode("utf-8", "replace")


def unread(status: int, body: Any) -> Failure:
    """The failure of a body that is not the format's: its status and the first of it."""
    text = body if isinstance(body, str) else "" if body is None else str(body)
    status = status if 400 <= status <= 599 else BAD_GATEWAY
    message = f"status {status}: {text[:_SHOWN]}" if text else f"status {status}"
    return Failure(status, cleaned(message), kind_of_status(status))


def failure(status: int, kind: str | None, message: str, **details: Any) -> Failure:
    """A failure of one of :data:`KINDS`; ``kind``: what the words say, else the status says it."""
    status = status if 400 <= status <= 599 else (KINDS[kind].status if kind is not None else BAD_GATEWAY)
    return Failure(status, cleaned(message), kind or kind_of_status(status), dict(details))


def status_of(failure: Failure) -> int:
    """The status that says a failure to others than Anthropic."""
    kind = KINDS.get(failure.kind or "")
    if kind is None:
        return failure.code if failure.code is not None and 400 <= failure.code <= 599 else BAD_GATEWAY
    return BAD_GATEWAY if failure.kind == "server" and failure.code == BAD_GATEWAY else kind.status


def kind_in(failure: Failure) -> tuple[str, Kind]:
    """The kind of a failure, which may be of our own or of a stream."""
    name = failure.kind if failure.kind in KINDS else kind_of_status(failure.code or BAD_GATEWAY)
    return str(name), KINDS[str(name)]


OF_REQUESTS: Final = (DecodeError, RequestError, ToolArgumentsError, LossError, LimitExceeded, UnsupportedFormat)
"""Errors that are the client's own, before any server is asked."""


def refusal_of(error: Exception) -> Failure:
    """The failure that an error becomes: of a request that cannot be asked, or of the way to the server."""
    if isinstance(error, UpstreamFailure):
        kind = error.kind if error.kind in KINDS else kind_of_status(error.code or BAD_GATEWAY)
        return Failure(error.code, cleaned(error.message), kind)
    said = cleaned(failure_of(error).message)
    if isinstance(error, OF_REQUESTS):
        return Failure(KINDS["invalid_request"].status, said, "invalid_request")
    code = getattr(error, "code", None)
    code = code if type(code) is int else KINDS["server"].status
    return Failure(code, said, kind_of_status(code))


PASSED_ON: Final = ("retry-after",)
REQUEST_ID: Final = {"anthropic": "request-id"}
"""Format → its header for the id of a request; ``x-request-id`` elsewhere."""
OTHER_ID: Final = "x-request-id"


def headers_for(failure: Failure, format: str) -> dict[str, str]:
    """The headers that go on with a failure."""
    held = failure.details.get("headers")
    known: Mapping[str, str] = held if isinstance(held, dict) else {}
    out = {"content-type": "application/json"}
    out |= {name: known[name] for name in PASSED_ON if name in known}
    id = failure.details.get("request_id")
    if isinstance(id, str):
        out[REQUEST_ID.get(format, OTHER_ID)] = id
    return out


def decoded(status: int, headers: Mapping[str, str], found: Failure) -> Failure:
    """A failure with what the headers say of it."""
    lower = {name.lower(): value for name, value in headers.items()}
    kept = {name: lower[name] for name in PASSED_ON if name in lower}
    id = next((lower[name] for name in ("request-id", OTHER_ID) if name in lower), found.details.get("request_id"))
    details: JsonObject = {**found.details}
    if kept:
        details["headers"] = kept
    if isinstance(id, str):
        details["request_id"] = id
    return Failure(found.code, found.message, found.kind, details)


class OneShape(Errors):
    """``{"error": {"message", "type", "param", "code"}}``, the shape that several formats have."""

    def decode(self, status: int, body: Any) -> Failure:  # noqa: D102
        error = body.get("error") if isinstance(body, dict) else None
        if isinstance(error, str):
            return failure(status, None, error)
        if isinstance(error, dict) and isinstance(error.get("error"), dict):
            # a server in between wraps what the one behind it said
            error = error["error"]
        found = error if isinstance(error, dict) else body
        if not isinstance(found, dict) or not isinstance(found.get("message"), str):
            return unread(status, body)
        if "insufficient_quota" in (found.get("type"), found.get("code")):
            return failure(KINDS["billing"].status, "billing", found["message"])
        if 400 <= status <= 599:
            return failure(status, None, found["message"])
        # an answer of 200 that is an error
        code = found.get("code")
        if type(code) is int and 400 <= code <= 599:
            return failure(code, None, found["message"])
        kind = _CODES.get(code) if isinstance(code, str) else _TYPES.get(str(found.get("type")))
        return failure(BAD_GATEWAY if kind in (None, "server") else 0, kind, found["message"])

    def encode(self, failure: Failure) -> tuple[int, JsonObject]:  # noqa: D102
        _, kind = kind_in(failure)
        said = {"message": failure.message, "type": kind.openai, "param": None, "code": kind.code}
        return status_of(failure), {"error": said}


_CODES: Final = {kind.code: name for name, kind in KINDS.items() if kind.code is not None}
_TYPES: Final = {kind.openai: name for name, kind in reversed(KINDS.items())}
