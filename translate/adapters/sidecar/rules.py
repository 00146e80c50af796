"""What the sidecar forwards, and what it refuses: the one place that decides what crosses, in either direction.

1. The upstream is fixed. A request names a path on it, in origin form: no other host, no way above the upstream's path.
2. Fields that concern one connection stay on it; the upstream gets a length that was counted, never a client's framing.
3. An answer may not send the client elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote_to_bytes, urljoin, urlsplit

import orjson

from ...errors import TranslateError
from ..asgi import Scope
from ..fields import REPLACED, Fields, end_to_end
from ..media import names

if TYPE_CHECKING:
    from .settings import Settings

_NOT_SENT = frozenset((b"host", b"content-length", b"accept-encoding"))
_NOT_RETURNED = frozenset((b"date", b"server", b"x-translate-request-id", b"alt-svc", b"refresh"))
"""The first three are our own; the others send clients elsewhere."""
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_REQUEST_ID = re.compile(rb"[0-9A-Za-z._:/+=@-]{1,128}")
_FRAMING = frozenset((b"content-length", b"transfer-encoding", b"host"))
_PORTS = {"http": 80, "https": 443}
_HASH = ord("#")
_STREAM_PATHS = ("/v1/stream", ":streamGenerateContent")
"""How paths end that are asked for streams alone: of MMSP, and of Gemini."""
_STREAM_TRUE = re.compile(rb'"stream"\s*:\s*true')
_ROUNDS = 8
"""How often a request may pass here: one that is sent to itself never ends."""
_LAYERS = 8
_PERCENT_U = re.compile(rb"%u00([0-9a-fA-F]{2})")
_OVERLONG = re.compile(rb"(?:[\xc0\xc1]|\xe0[\x80\x81]|\xf0\x80[\x80\x81])[\x80-\xbf]")
"""ASCII in more bytes than it takes: readers that do not mind take it for the character."""
_LINE = 8 * 1024
"""Bytes of a target at most."""
CLOSE = (b"connection", b"close")
"""What a refused request is answered where it is not clear where the next one begins."""


class Refused(TranslateError):
    """A request or an answer that the sidecar does not forward; ``code`` is the HTTP status, ``fields`` go with it."""

    def __init__(self, code: int, what: str, *fields: tuple[bytes, bytes]) -> None:
        super().__init__(what)
        self.code = code
        self.fields = fields


def base_of(upstream: str) -> str:
    """An upstream as all URLs of it begin. Raises ``ValueError`` for what is none, without quoting it."""
    url = urlsplit(upstream)
    plain = all(0x20 < ord(char) < 0x7F and char not in "@?#\\" for char in upstream)
    if not plain or url.scheme not in _PORTS or not url.hostname or url.port == 0 or _climbs(url.path.encode()):
        raise ValueError("an upstream is http(s)://host[:port][/path], without a user, a query or a fragment")
    return upstream.rstrip("/")


def target_of(scope: Scope, *, max_head: int) -> bytes:
    """The path and query of a request that may be forwarded. Raises :class:`Refused` for any other."""
    fields: Fields = list(scope["headers"])
    raw: bytes = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogateescape")
    query: bytes = scope["query_string"]
    if scope["method"] not in METHODS:
        raise Refused(405, "the method is not forwarded", (b"allow", ", ".join(sorted(METHODS)).encode()))
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
    return raw + b"?" + query if query else raw


def _climbs(path: bytes) -> bool:
    """Whether a path has a segment that some server would take for the one above, or is encoded so often that it hides
    what it has.

    Looked through are percent-encoding, of up to 8 layers, ``%u002e``, overlong UTF-8, backslashes, parameters after
    ``;``, and what some servers cut a segment at: a NUL, and white space at its end.
    """
    for _ in range(_LAYERS):
        if any(re.split(rb"[;\0]", segment)[0].rstrip() in (b".", b"..") for segment in re.split(rb"[/\\]", path)):
            return True
        shorter = _OVERLONG.sub(_shortest, _PERCENT_U.sub(rb"%\1", unquote_to_bytes(path)))
        if shorter == path:
            return False
        path = shorter
    return True


def _shortest(found: re.Match[bytes]) -> bytes:
    *_, lead, last = found[0]
    return bytes([(lead & 1) << 6 | last & 0x3F])


def check_framing(fields: Fields, max_body: int) -> None:
    """Raise :class:`Refused` for what two servers may read as two different requests."""
    names = [name for name, _ in fields]
    lengths = [value for name, value in fields if name == b"content-length"]
    codings = [value.strip().lower() for name, value in fields if name == b"transfer-encoding"]
    if codings and (lengths or codings != [b"chunked"]):
        raise Refused(400, "the length of the body is not clear", CLOSE)
    if len(set(lengths)) > 1 or any(not re.fullmatch(rb"[0-9]{1,19}", length) for length in lengths):
        raise Refused(400, "the length of the body is not clear", CLOSE)
    if any(b"_" in name and name.replace(b"_", b"-") in _FRAMING for name in names):
        # servers that make variables of fields take it for the one with a hyphen
        raise Refused(400, "the length of the body is not clear", CLOSE)
    if names.count(b"host") > 1:
        raise Refused(400, "more than one host is named", CLOSE)
    if lengths and int(lengths[0]) > max_body:
        raise Refused(413, "the body is too large")


def sent_fields(fields: Iterable[tuple[bytes, bytes]], request_id: bytes, scope: Scope, settings: Settings) -> Fields:
    """The fields that the upstream is sent. Content is asked for as it is: compressed, a stream would wait.

    Credentials stand in place of the client's own. Raises :class:`Refused` for what has passed here too often.
    """
    own: Fields = [(b"accept-encoding", b"identity"), (b"x-request-id", request_id)]
    own += [(each.name, each.value()) for each in settings.credentials]
    given = list(fields)
    if settings.via:
        passed = [value for name, value in given if name == b"via"]
        us = settings.via.encode()
        if sum(value.count(b" " + us) for value in passed) >= _ROUNDS:
            raise Refused(508, "the request has come round again and again")
        version = scope.get("http_version", "1.1").encode()
        own.append((b"via", b", ".join([*passed, version + b" " + us])))
    if settings.forwarded:
        own += _forwarded(given, scope)
    return [*end_to_end(given, _NOT_SENT | {name for name, _ in own}), *own]


def _forwarded(fields: Fields, scope: Scope) -> Fields:
    """Who asks, and how: behind what was said before."""
    client = (scope.get("client") or ("unknown",))[0].encode()
    before = [value for name, value in fields if name == b"x-forwarded-for"]
    found = {
        b"x-forwarded-for": b", ".join([*before, client]),
        b"x-forwarded-proto": str(scope.get("scheme", "http")).encode(),
        b"x-forwarded-host": next((value for name, value in fields if name == b"host"), b""),
    }
    first = dict(reversed(fields))
    # of those, what was said first is of who stands nearest to the client
    return [(name, value if name == b"x-forwarded-for" else first.get(name, value)) for name, value in found.items()]


def prefix_of(path: str) -> bytes:
    """The path that a route's requests are below, without its end. Raises ``ValueError`` for what is none."""
    plain = re.fullmatch(r"/[!-~]*", path) and not set("?#%") & set(path)
    if not plain or _climbs(path.encode()):
        raise ValueError(f"{path!r} is no path that requests can be below")
    return path.rstrip("/").encode()


def asks_for_stream(scope: Scope, body: bytes, format: str) -> bool:
    """Whether a request asks for a stream: by the media type of ``format`` in ``Accept``, by ``"stream": true`` in its
    body of JSON, or by a path that means nothing else. HEAD never does.

    Clients of models name no media type. What was not asked for as a stream may get another answer, of another status.
    """
    if scope["method"] == "HEAD":
        return False
    return (
        names(scope["headers"], format)
        or scope["path"].endswith(_STREAM_PATHS)
        or (_STREAM_TRUE.search(body) is not None and _says_stream(body))
    )


def _says_stream(body: bytes) -> bool:
    try:
        found = orjson.loads(body)
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("stream") is True


def request_id_of(fields: Iterable[tuple[bytes, bytes]], make: str) -> bytes:
    """The id that a request brought, if it can be one, else ``make``."""
    given = next((value for name, value in fields if name == b"x-request-id"), b"")
    return given if _REQUEST_ID.fullmatch(given) else make.encode()


def returned_fields(raw: Iterable[tuple[bytes, bytes]], *, translated: bool) -> Fields:
    """The fields of an answer that the client is sent; without those of the content where it is ``translated``."""
    return end_to_end(raw, _NOT_RETURNED | (REPLACED if translated else frozenset()))


def located(raw: Iterable[tuple[bytes, bytes]], status: int, url: str, base: str, prefix: bytes = b"") -> Fields:
    """The fields of an answer to ``url``, where ``location`` is a path of the sidecar.

    ``base``: the upstream; ``prefix``: the route's. Where the answer names another place, or one above the upstream's
    path, the field is left out; raises :class:`Refused` if it is a redirection.
    """
    fields = list(raw)
    given = next((value for name, value in fields if name.lower() == b"location"), None)
    if given is None:
        return fields
    others = [field for field in fields if field[0].lower() != b"location"]
    try:
        return [*others, (b"location", prefix + _below(given, url, base))]
    except Refused:
        if 300 <= status < 400:
            raise
        return others


def _below(given: bytes, url: str, base: str) -> bytes:
    """A location as a path of the sidecar."""
    try:
        there, here = urlsplit(urljoin(url, given.strip().decode("latin-1").replace("\\", "/"))), urlsplit(base)
        same = _origin(there) == _origin(here) and "@" not in there.netloc
    except ValueError:
        raise Refused(502, "the upstream redirects to what is no address") from None
    path = there.path[len(here.path) :]
    below = there.path.startswith(here.path) and path[:1] in ("", "/") and path[:2] != "//"
    if not same or not below or _climbs(path.encode("latin-1")) or any(byte < 0x20 or byte == 0x7F for byte in given):
        raise Refused(502, "the upstream redirects elsewhere")
    return there._replace(scheme="", netloc="", path=path or "/").geturl().encode("latin-1")


def _origin(url: SplitResult) -> tuple[str, str | None, int | None]:
    return url.scheme, url.hostname, url.port or _PORTS.get(url.scheme)
