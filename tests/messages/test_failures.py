"""Error bodies: the table of kinds, both ways, and what of a message is never passed on."""

import itertools
import json
from typing import Any

import pytest

from translate import UnsupportedFormat, convert_error, decode_error, encode_error
from translate.messages.failures import KINDS

Row = tuple[str, int, str, str, str | None, str]
TABLE: list[Row] = [
    ("invalid_request", 400, "invalid_request_error", "invalid_request_error", None, "INVALID_ARGUMENT"),
    ("authentication", 401, "authentication_error", "authentication_error", "invalid_api_key", "UNAUTHENTICATED"),
    ("billing", 402, "billing_error", "insufficient_quota", None, "FAILED_PRECONDITION"),
    ("permission", 403, "permission_error", "permission_error", None, "PERMISSION_DENIED"),
    ("not_found", 404, "not_found_error", "invalid_request_error", "model_not_found", "NOT_FOUND"),
    ("too_large", 413, "request_too_large", "invalid_request_error", None, "INVALID_ARGUMENT"),
    ("rate_limit", 429, "rate_limit_error", "rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"),
    ("server", 500, "api_error", "server_error", None, "INTERNAL"),
    ("overloaded", 503, "overloaded_error", "server_error", "overloaded", "UNAVAILABLE"),
    ("timeout", 504, "timeout_error", "server_error", "timeout", "DEADLINE_EXCEEDED"),
]
FORMATS = ("anthropic", "openai-chat", "openai-responses", "gemini")


def said(row: Row, format: str) -> tuple[int, Any]:
    kind, status, anthropic, openai, code, gemini = row
    if format == "anthropic":
        error = {"type": anthropic, "message": "no"}
        return 529 if kind == "overloaded" else status, {"type": "error", "error": error, "request_id": "r"}
    if format == "gemini":
        return status, {"error": {"code": status, "message": "no", "status": gemini}}
    return status, {"error": {"message": "no", "type": openai, "param": None, "code": code}}


def test_every_kind_is_in_the_table() -> None:
    assert [row[0] for row in TABLE] == [*KINDS]


@pytest.mark.parametrize(("src", "dst"), [*itertools.product(FORMATS, FORMATS)])
@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[0])
def test_a_failure_is_said_in_the_words_of_each_format(row: Row, src: str, dst: str) -> None:
    status, body = said(row, src)
    failure = decode_error(status, {"Request-Id": "r", "Retry-After": "7"}, json.dumps(body).encode(), src)
    assert (failure.kind, failure.message) == (row[0], "no")
    found, fields, written = encode_error(failure, dst)
    assert (found, json.loads(written)) == said(row, dst)
    id = "request-id" if dst == "anthropic" else "x-request-id"
    assert fields == {"content-type": "application/json", "retry-after": "7", id: "r"}


def test_a_quota_that_is_used_up_is_not_to_be_tried_again() -> None:
    body = {"error": {"message": "no", "type": "insufficient_quota", "param": None, "code": "insufficient_quota"}}
    assert convert_error(429, {}, json.dumps(body).encode(), "openai-chat", "anthropic")[0] == 402


def test_a_key_that_gemini_refuses_is_a_matter_of_authentication() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    body = [{"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT", "details": details}}]
    assert convert_error(400, {}, json.dumps(body).encode(), "gemini", "openai-chat")[0] == 401


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (502, b"<html>bad gateway</html>", "server", "status 502: <html>bad gateway</html>"),
        (429, b"", "rate_limit", "status 429"),
        (500, b"x" * 1000, "server", "status 500: " + "x" * 200),
        (599, b'{"odd": 1}', "server", "status 599: {'odd': 1}"),
        (400, b'{"error": {"error": {"message": "within"}}}', "invalid_request", "within"),
        ],
)
def test_what_is_no_error_is_told_by_its_status(status: int, body: bytes, kind: str, message: str) -> None:
    failure = decode_error(status, {}, body, "openai-chat")
    assert (failure.kind, failure.message) == (kind, message)


def test_an_error_in_a_success_is_a_failure() -> None:
    """Hazard 79."""
    body = b'{"error":{"message":"boom","type":"server_error"}}'
    assert convert_error(200, {}, body, "openai-chat", "anthropic")[0] == 502


def test_a_message_holds_no_key_no_envelope_and_no_address() -> None:
    """Hazard 80."""
    message = "thought tstate1_abcDEF-_ to http://10.0.0.1:80/v1 with sk-ant-0123456789abcdef is wrong, messages[1]"
    body = json.dumps({"error": {"message": message}}).encode()
    failure = decode_error(400, {}, body, "openai-chat")
    assert failure.message == "thought […] to [URL] with […] is wrong, messages[1]"


def test_a_format_without_error_bodies_says_so() -> None:
    with pytest.raises(UnsupportedFormat):
        decode_error(400, {}, b"{}", "events")
