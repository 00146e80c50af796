"""What the sidecar forwards, and what it refuses: the one place that decides what crosses, in either direction.

1. The upstream is fixed. A request names a path on it, in origin form: no other host, no way above the upstream's path.
2. Fields that concern one connection stay on it; the upstream gets a length that was counted, never a client's framing.
3. An answer may not send the client elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote_to_bytes, urljoin, urlsplit

from ...errors import TranslateError
from ..asgi import Fields, Scope

_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding "
    b"upgrade http2-settings expect".split()
)
_NOT_SENT = frozenset((b"host", b"content-length", b"accept-encoding"))
_NOT_RETURNED = frozenset((b"date", b"server", b"x-request-id", b"alt-svc"))
"""The first three are our own; the last sends clients elsewhere."""
_REPLACED = frozenset((b"content-type", b"content-length", b"content-encoding", b"cache-control", b"x-accel-buffering"))
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_REQUEST_ID = re.compile(rb"[0-9A-Za-z._:/+=@-]{1,128}")
_HASH = ord("#")
_LINE = 8 * 1024
"""Bytes of a target at most."""


class Refused(TranslateError):
    """A request or an answer that the sidecar does not forward; ``code`` is the HTTP status, ``fields`` go with it."""

    def __init__(self, code: int, what: str, *fields: tuple[bytes, bytes]) -> None:
        super().__init__(what)
        self.code = code
        self.fields = fields


def target_of(scope: Scope, *, max_head: int, max_body: int) -> bytes:
    """The path and query of a request that may be forwarded. Raises :class:`Refused` for any other."""
    fields: Fields = list(scope["headers"])
    raw: bytes = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogateescape")
    query: bytes = scope["query_string"]
    if scope["method"] not in _METHODS:
        raise Refused(405, "the method is not forwarded", (b"allow", ", ".join(sorted(_METHODS)).encode()))
    if len(raw) + len(query) > _LINE:
        raise Refused(414, "the target is too long")
    if sum(len(name) + len(value) for name, value in fields) > max_head:
        raise Refused(431, "the header fields are too large")
    if not raw.startswith(b"/") or raw.startswith(b"//"):
        raise Refused(400, "the target is not a path")
    if _climbs(raw):
        raise Refused(400, "the path has segments that are relative")
    if any(byte <= 0x20 or byte >= 0x7F or byte == _HASH for byte in raw + query):
        raise Refused(400, "the target has characters that it must not have")
    _framed(fields, max_body)
    return raw + b"?" + query if query else raw


def _climbs(path: bytes) -> bool:
    """Whether a path has a segment that some server would take for the one above, however it is spelled."""
    for _ in range(3):
        if any(segment in (b".", b"..") for segment in re.split(rb"[/\\]", path.partition(b";")[0])):
            return True
        if any(re.split(rb";", segment)[0] in (b".", b"..") for segment in re.split(rb"[/\\]", path)):
            return True
        path = unquote_to_bytes(path)
    return False


def _framed(fields: Fields, max_body: int) -> None:
    """Refuse what two servers may read as two different requests."""
    names = [name for name, _ in fields]
    lengths = [value for name, value in fields if name == b"content-length"]
    if b"transfer-encoding" in names:
        codings = [value.strip().lower() for name, value in fields if name == b"transfer-encoding"]
        if lengths or codings != [b"chunked"]:
            raise Refused(400, "the length of the body is not clear")
    if len(set(lengths)) > 1 or any(not re.fullmatch(rb"[0-9]{1,19}", length) for length in lengths):
        raise Refused(400, "the length of the body is not clear")
    if names.count(b"host") > 1:
        raise Refused(400, "more than one host is named")
    if lengths and int(lengths[0]) > max_body:
        raise Refused(413, "the body is too large")


def sent_fields(fields: Iterable[tuple[bytes, bytes]], request_id: bytes) -> Fields:
    """The fields that the upstream is sent. Content is asked for as it is: compressed, a stream would wait."""
    kept = _end_to_end(fields, _NOT_SENT | {b"x-request-id"})
    return [*kept, (b"accept-encoding", b"identity"), (b"x-request-id", request_id)]


def request_id_of(fields: Iterable[tuple[bytes, bytes]], make: str) -> bytes:
    """The id that a request brought, if it can be one, else ``make``."""
    given = next((value for name, value in fields if name == b"x-request-id"), b"")
    return given if _REQUEST_ID.fullmatch(given) else make.encode()


def returned_fields(raw: Iterable[tuple[bytes, bytes]], *, translated: bool) -> Fields:
    """The fields of an answer that the client is sent; without those of the content where it is ``translated``."""
    return _end_to_end(raw, _NOT_RETURNED | (_REPLACED if translated else frozenset()))


def location_of(raw: Iterable[tuple[bytes, bytes]], url: str, base: str) -> bytes | None:
    """Where an answer to ``url`` sends the client, as a path of the sidecar; ``None`` where it does not.

    ``base``: the upstream. Raises :class:`Refused` where it sends the client elsewhere, or above the upstream's path.
    """
    given = next((value for name, value in raw if name.lower() == b"location"), None)
    if given is None:
        return None
    try:
        there, here = urlsplit(urljoin(url, given.decode("latin-1").strip().replace("\\", "/"))), urlsplit(base)
    except ValueError:
        raise Refused(502, "the upstream redirects to what is no address") from None
    path = there.path.removeprefix(here.path) if here.path else there.path
    same = (there.scheme, there.netloc.lower()) == (here.scheme, here.netloc.lower())
    if not same or not there.path.startswith(here.path) or (path and not path.startswith("/")) or path[:2] == "//":
        raise Refused(502, "the upstream redirects elsewhere")
    return there._replace(scheme="", netloc="", path=path or "/").geturl().encode("latin-1")


def _end_to_end(fields: Iterable[tuple[bytes, bytes]], but: frozenset[bytes] | set[bytes]) -> Fields:
    """Fields that are not of one connection, and not among ``but``."""
    lowered = [(name.lower(), value) for name, value in fields]
    named = {
        token.strip().lower() for name, value in lowered if name == b"connection" for token in value.split(b",")
    }
    return [(name, value) for name, value in lowered if name not in _HOP_BY_HOP and name not in named | but]
