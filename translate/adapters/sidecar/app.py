"""The sidecar as an ASGI application: it forwards requests to one upstream, and translates the streams it answers."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import anyio
import httpx2

from ...errors import StreamStopped, StreamTimeout, TranslateError
from ..asgi import PING, Answer, Fields, Receive, Scope, Send, StreamResponse
from ..encodings import undoes
from ..observe import Observer
from ..options import StreamOptions, Timeouts
from ..upstream import Response, encoding_of
from .rules import Refused, location_of, request_id_of, returned_fields, sent_fields, target_of

_log = logging.getLogger("translate.sidecar")
_RETRY = (b"retry-after", b"1")
_CLOSE = (b"connection", b"close")
_ORDINARY = (TranslateError, httpx2.HTTPError, OSError)
"""What may end an answer in its midst; all else is a fault of the program."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a sidecar is told. Sizes in bytes, times in seconds.

    ``upstream``  ``http`` or ``https``, host, port and a path that all requests are below
    ``src, dst``  the format that the upstream streams, and the one that clients read
    ``max_concurrent``  requests at once; more are refused with 503
    ``max_body``, ``max_head``  of a request; larger ones are refused with 413 and 431
    ``body_timeout``  until a request has arrived whole (408), ``connect_timeout`` until the upstream has answered a
                  connection (504)
    ``ping, timeouts, options``  see :class:`translate.adapters.StreamResponse`
    """

    upstream: str
    src: str
    dst: str
    max_concurrent: int = 1000
    max_body: int = 32 * 1024 * 1024
    max_head: int = 32 * 1024
    body_timeout: float | None = 60.0
    connect_timeout: float | None = 10.0
    ping: float | None = PING
    timeouts: Timeouts = field(default_factory=lambda: Timeouts(first=600, idle=300, write=60))
    options: StreamOptions = field(default_factory=StreamOptions)

    def __post_init__(self) -> None:
        url = urlsplit(self.upstream)
        if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment or url.username:
            raise ValueError(f"an upstream is http(s)://host[:port][/path], not {self.upstream!r}")


class Sidecar:
    """The application. Serves ``/healthz``, ``/readyz`` and ``/metrics`` itself, and forwards everything else.

    ``exposition`` gives the text of ``/metrics`` and its content type. A request is read whole, then forwarded; see
    ``docs/adapters.md`` for what is refused, and with which status.
    """

    def __init__(
        self,
        settings: Settings,
        observer: Observer | None = None,
        exposition: Callable[[], tuple[bytes, str]] | None = None,
    ) -> None:
        self.settings = settings
        self.draining = False
        self._hurried = False
        self._observer = observer
        self._exposition = exposition
        self._transport = httpx2.AsyncHTTPTransport(
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100), trust_env=False
        )
        self._base = settings.upstream.rstrip("/")
        self._active = 0
        self._running: set[_Forwarded] = set()
        # the arguments are looked at now, not with the first request
        self._response(_nowhere, b"")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1003})

    async def drain(self, grace: float) -> None:
        """Take no more requests, let those that run end within ``grace`` seconds, then end the others in a failure."""
        self.draining = True
        with anyio.move_on_after(grace):
            while self._active and not self._hurried:
                await anyio.sleep(0.05)
        for response in self._running:
            if response.pump is not None:
                response.pump.stop(StreamStopped("the service shuts down"))
        with anyio.move_on_after(2):
            while self._active:
                await anyio.sleep(0.05)

    def hurry(self) -> None:
        """Drain with no grace any more."""
        self._hurried = True

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            kind = (await receive())["type"]
            if kind == "lifespan.shutdown":
                await self._transport.aclose()
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        own = self._own(scope)
        if own is not None:
            status, body, kind = own
            await Answer(send, status, [(b"content-type", kind.encode()), (b"cache-control", b"no-store")]).end(body)
            return
        began = time.monotonic()
        request_id = request_id_of(scope["headers"], uuid.uuid4().hex)
        status, outcome = 0, "cancelled"
        self._active += 1
        try:
            response = await self._forward(scope, receive, request_id)
            self._running.add(response)
            try:
                await response.respond(scope, receive, send)
            except _ORDINARY:
                # to return without the end of the answer makes the server hang up, and its log is spared the traceback
                pass
            finally:
                self._running.discard(response)
                status = response.status
                if response.pump is not None:
                    outcome = str(response.pump.stats.outcome)
        except _Left:
            outcome = "disconnected"
        except Refused as refused:
            status, outcome = refused.code or 500, "refused"
            fields = ((b"x-request-id", request_id), *refused.fields)
            await Answer(send, status, []).refuse(refused, self.settings.dst, fields)
        finally:
            self._active -= 1
            took = time.monotonic() - began
            _log.info("%s %s: %d, %s, %.3f s", request_id.decode(), scope["method"], status, outcome, took)

    def _own(self, scope: Scope) -> tuple[int, bytes, str] | None:
        """Status, body and type of the sidecar's own pages."""
        if scope["method"] not in ("GET", "HEAD"):
            return None
        match scope["path"]:
            case "/healthz":
                return 200, b"ok\n", "text/plain"
            case "/readyz":
                return (503, b"draining\n", "text/plain") if self.draining else (200, b"ready\n", "text/plain")
            case "/metrics" if self._exposition is not None:
                return 200, *self._exposition()
            case "/metrics":
                return 501, b"no metrics: prometheus-client is not installed\n", "text/plain"
        return None

    async def _forward(self, scope: Scope, receive: Receive, request_id: bytes) -> _Forwarded:
        """The answer to a request. Raises :class:`Refused`, and :class:`_Left`."""
        settings = self.settings
        target = target_of(scope, max_head=settings.max_head, max_body=settings.max_body)
        if self.draining:
            raise Refused(503, "the service shuts down", _RETRY, _CLOSE)
        if self._active > settings.max_concurrent:
            raise Refused(503, "too many requests at once", _RETRY)
        body = await self._body(receive)
        url = httpx2.URL(self._base + target.decode("ascii"))
        fields = sent_fields(scope["headers"], request_id)
        waits = {"connect": settings.connect_timeout, "pool": settings.connect_timeout, "read": None, "write": None}
        request = httpx2.Request(
            scope["method"], url, headers=fields, content=body or None, extensions={"timeout": waits}
        )

        async def open() -> httpx2.Response:
            try:
                response = await self._transport.handle_async_request(request)
            except httpx2.ConnectTimeout:
                raise StreamTimeout("connect", settings.connect_timeout or 0) from None
            try:
                if response.status_code < 200:
                    raise Refused(502, "the upstream switches protocols")
                location = location_of(response.headers.raw, str(url), self._base)
            except BaseException:
                await response.aclose()
                raise
            if location is not None:
                response.headers["location"] = location.decode("latin-1")
            return response

        return self._response(open, request_id)

    async def _body(self, receive: Receive) -> bytes:
        pieces: list[bytes] = []
        size, more = 0, True
        with anyio.move_on_after(self.settings.body_timeout) as scope:
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise _Left
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if size > self.settings.max_body:
                    raise Refused(413, "the body is too large")
                more = message.get("more_body", False)
        if scope.cancelled_caught:
            raise Refused(408, "the request did not arrive in time", _CLOSE)
        return b"".join(pieces)

    def _response(self, open: Callable[[], Awaitable[httpx2.Response]], request_id: bytes) -> _Forwarded:
        settings = self.settings
        return _Forwarded(
            open,
            settings.src,
            settings.dst,
            headers={"x-request-id": request_id.decode()},
            ping=settings.ping,
            timeouts=settings.timeouts,
            observer=self._observer,
            **settings.options,
        )


class _Left(Exception):
    """The client left before its request was whole."""


class _Forwarded(StreamResponse):
    """An answer of the upstream, with its head."""

    def fields(self, response: Response, stream: Fields | None) -> Fields:
        encoding = encoding_of(response)
        if stream is not None and encoding != "identity" and not undoes(encoding):
            raise Refused(502, "the upstream uses a content encoding that it was not asked for")
        return [*returned_fields(response.headers.raw, translated=stream is not None), *(stream or self.added)]


async def _nowhere() -> httpx2.Response:
    raise NotImplementedError
