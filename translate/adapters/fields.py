"""Header fields: those that cross from an upstream to a client, and those that do not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Fields: TypeAlias = list[tuple[bytes, bytes]]
"""The fields of a head: names in lower case."""
OF_BYTES = (
    *(b"content-length", b"content-encoding", b"content-md5", b"content-digest", b"repr-digest", b"digest"),
    *(b"etag", b"accept-ranges"),
)
"""Fields that describe the bytes of a body: untrue of a translated one."""
OF_STREAM = frozenset((*OF_BYTES, b"x-accel-buffering"))
"""Fields of a stream, untrue of what is answered instead of one."""
REPLACED = frozenset((*OF_STREAM, b"content-type", b"cache-control"))
"""Fields that a translated stream has of its own, or not at all."""
OF_ORIGIN = frozenset(
    b"set-cookie set-cookie2 date server via x-powered-by alt-svc refresh strict-transport-security clear-site-data "
    b"content-security-policy content-security-policy-report-only x-accel-redirect x-sendfile".split()
)
"""Fields that speak of the host that answers, or command the servers on the way: an application has its own."""
_OF_ORIGIN = (b"access-control-", b"cross-origin-", b"x-accel-")
_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding "
    b"upgrade http2-settings expect".split()
)


def joined(under: Iterable[tuple[bytes, bytes]], over: Fields) -> Fields:
    """Two heads as one: what ``over`` names it says alone."""
    names = {name for name, _ in over}
    return [*(field for field in under if field[0] not in names), *over]


def end_to_end(fields: Iterable[tuple[bytes, bytes]], but: frozenset[bytes] | set[bytes]) -> Fields:
    """Fields that are not of one connection, and not among ``but``, in either spelling: to servers that make variables
    of fields, an underscore is a hyphen.
    """
    lowered = [(name.lower(), value) for name, value in fields]
    connection = [value for name, value in lowered if name == b"connection"]
    named = {_hyphened(token.strip()) for value in connection for token in value.split(b",")}
    dropped = _HOP_BY_HOP | named | but
    return [(name, value) for name, value in lowered if _hyphened(name) not in dropped]


def of_answer(fields: Iterable[tuple[bytes, bytes]], *, translated: bool) -> Fields:
    """The fields of an upstream's answer that an application passes on: all but those of the connection, of the
    origin, and, where it is ``translated``, of the content. What a retry needs is among them.
    """
    kept = end_to_end(fields, OF_ORIGIN | (REPLACED if translated else frozenset()))
    return [field for field in kept if not field[0].startswith(_OF_ORIGIN)]


def _hyphened(name: bytes) -> bytes:
    return name.lower().replace(b"_", b"-")
