"""One route of the sidecar: requests go to its upstream, and what comes back is translated."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

import httpx2

from ...errors import StreamTimeout
from ..asgi import Scope, StreamResponse
from ..encodings import undoes
from ..fields import Fields
from ..media import of_types
from ..observe import Observer
from ..running import Running
from ..upstream import Response, encoding_of
from .descriptors import exhausted
from .hosts import host_of
from .pool import Pool
from .rules import Refused, asks_for_stream, base_of, located, prefix_of, returned_fields, sent_fields
from .settings import Route, Settings

_log = logging.getLogger("translate.sidecar")
RETRY = (b"retry-after", b"1")


class Forwarder:
    """Asks one upstream. ``running`` knows of its streams, and ``observers`` are told of them."""

    def __init__(self, route: Route, running: Running, observers: Sequence[Observer]) -> None:
        self.settings = settings = route.settings
        self.prefix = prefix_of(route.prefix)
        self.host = None if route.host is None else host_of(f"[{route.host}]" if ":" in route.host else route.host)
        self.transport = Pool(settings.max_concurrent, settings.keep_upstream, context_of(settings))
        self._base = base_of(settings.upstream)
        # looked at once
        self._url, self._path = httpx2.URL(self._base), urlsplit(self._base).path
        self.running = running
        self.observers = list(observers)
        # the arguments are looked at now, not with the first request
        self._response(_nowhere, b"")

    def takes(self, host: str | None, path: bytes) -> bool:
        """Whether a request for a host and a path is for this route."""
        return (self.host is None or self.host == host) and (path + b"/").startswith(self.prefix + b"/")

    def forward(self, scope: Scope, body: bytes, target: str, request_id: bytes, fields: Fields) -> Forwarded:
        """The answer to a request, with ``fields`` in place of its own."""
        settings = self.settings
        wait = settings.connect_timeout
        target = target[len(self.prefix) :]
        target = target if target.startswith("/") else "/" + target
        request = httpx2.Request(
            scope["method"],
            self._url,
            headers=sent_fields(fields, request_id, scope, settings),
            content=body or None,
            extensions={
                "timeout": {"connect": wait, "pool": wait, "read": None, "write": None},
                # a URL would be spelled anew
                "target": (self._path + target).encode("ascii"),
            },
        )

        async def open() -> httpx2.Response:
            try:
                response = await self.transport.handle_async_request(request)
            except httpx2.ConnectTimeout:
                raise StreamTimeout("connect", settings.connect_timeout or 0) from None
            except httpx2.ConnectError as error:
                refused = unavailable(error)
                if refused is None:
                    raise
                raise refused from error
            answer.upstream = response.status_code
            try:
                if not 200 <= response.status_code < 600:
                    raise Refused(502, "the upstream answers with a status that is not forwarded")
                raw, code = response.headers.raw, response.status_code
                found = located(raw, code, self._base + target, self._base, self.prefix)
            except BaseException:
                await response.aclose()
                raise
            response.headers = httpx2.Headers(found)
            return response

        answer = self._response(open, request_id)
        answer.eager = asks_for_stream(scope, body, settings.dst)
        return answer

    def _response(self, open: Callable[[], Awaitable[httpx2.Response]], request_id: bytes) -> Forwarded:
        settings = self.settings
        made = Forwarded(
            open,
            settings.src,
            settings.dst,
            headers=[(name.decode(), value.decode()) for name, value in (id_field(request_id),)],
            ping=settings.ping,
            timeouts=settings.timeouts,
            running=self.running,
            streams=of_types(settings.stream_types) if settings.stream_types else None,
            **settings.options,
        )
        made.observers = self.observers
        return made


class Forwarded(StreamResponse):
    """An answer of the upstream, with its head."""

    upstream: int | None = None
    """The status of it."""

    def fields(self, response: Response, stream: Fields | None) -> Fields:
        """The head of an answer: all fields that are not of one connection, and none that sends clients elsewhere."""
        encoding = encoding_of(response)
        if stream is not None and encoding != "identity" and not undoes(encoding):
            raise Refused(502, "the upstream uses a content encoding that it was not asked for")
        return [*returned_fields(response.headers.raw, translated=stream is not None), *(stream or self.added)]


def context_of(settings: Settings) -> ssl.SSLContext | bool:
    """What a connection to the upstream is secured by. Raises ``ValueError`` for files that hold no certificates."""
    if settings.roots is None and settings.certificate is None:
        return True
    try:
        context = ssl.create_default_context(cafile=settings.roots)
        if settings.certificate is not None:
            context.load_cert_chain(*settings.certificate)
    except (OSError, ssl.SSLError) as error:
        why = getattr(error, "reason", None) or error.strerror
        raise ValueError(f"the certificates for the upstream cannot be read: {why}") from None
    return context


def unavailable(error: Exception) -> Refused | None:
    """What a connection that could not be had is refused with, where that is this process's fault."""
    if not exhausted(error):
        return None
    _log.warning("no descriptors are left for connections to the upstream")
    return Refused(503, "no descriptors are left", RETRY)


def id_field(request_id: bytes) -> tuple[bytes, bytes]:
    """The field that says the id of a request. ``x-request-id`` is for the upstream to say."""
    return b"x-translate-request-id", request_id


async def _nowhere() -> httpx2.Response:
    raise NotImplementedError
