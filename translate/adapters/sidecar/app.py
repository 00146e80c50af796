"""The sidecar as an ASGI application: it forwards requests to one upstream, and translates the streams it answers."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

import anyio
import httpx2

from ...errors import StreamTimeout, TranslateError
from ..asgi import PING, Answer, Receive, Scope, Send, StreamResponse
from ..budget import Budget, OverBudget, Share
from ..encodings import undoes
from ..fields import Fields
from ..media import of_types
from ..observe import Observer, Request, Told
from ..options import StreamOptions, Timeouts
from ..running import Running
from ..upstream import Response, encoding_of
from .descriptors import exhausted
from .hosts import check_host, check_site, hosts_of
from .logs import cause_of, log_request
from .playground import is_playground, playground
from .pool import Pool
from .rehearsal import rehearse
from .rules import (
    CLOSE,
    METHODS,
    Refused,
    asks_for_stream,
    base_of,
    check_framing,
    located,
    request_id_of,
    returned_fields,
    sent_fields,
    target_of,
)

_log = logging.getLogger("translate.sidecar")
_RETRY = (b"retry-after", b"1")
_PROBES = ("/healthz", "/readyz")
_ORDINARY = (TranslateError, httpx2.HTTPError, OSError)
"""What may end an answer in its midst; all else is a fault of the program."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a sidecar is told. Sizes in bytes, times in seconds.

    ``upstream``  ``http`` or ``https``, host, port and a path that all requests are below
    ``src, dst``  the format that the upstream streams, and the one that clients read
    ``max_concurrent``  requests at once; more are refused with 503
    ``max_body``, ``max_head``  of a request; larger ones are refused with 413 and 431
    ``max_memory``  that all requests together hold: their bodies, and units that are not whole (503)
    ``body_timeout``  until a request has arrived whole (408), ``connect_timeout`` until the upstream has answered a
                  connection (504)
    ``hosts``     names and addresses that requests may be for, beside those of this machine; a page of another site
                  can then post only what a browser asks about before (403). ``None``: any, by anyone
    ``keep_client``, ``keep_upstream``  for how long a connection is kept for the next request; to the upstream, only
                  where its last answer ended clean; 0: not at all
    ``playground``  whether ``/playground`` is the page of :mod:`translate.inspect.playground`
    ``stream_types``  the media types of streams, whatever the status of success; without, those of ``src``, with 200
    ``ping, timeouts, options``  see :class:`translate.adapters.StreamResponse`
    """

    upstream: str
    src: str
    dst: str
    max_concurrent: int = 1000
    max_body: int = 32 * 1024 * 1024
    max_head: int = 32 * 1024
    max_memory: int = 128 * 1024 * 1024
    body_timeout: float | None = 60.0
    connect_timeout: float | None = 10.0
    hosts: Collection[str] | None = None
    keep_client: float = 75.0
    keep_upstream: float = 1.0
    playground: bool = False
    stream_types: Collection[str] = ()
    ping: float | None = PING
    timeouts: Timeouts = field(default_factory=lambda: Timeouts(first=600, idle=300, write=60, between=600))
    options: StreamOptions = field(default_factory=StreamOptions)

    def __post_init__(self) -> None:
        try:
            httpx2.URL(base_of(self.upstream))
        except httpx2.InvalidURL as error:
            raise ValueError(f"the upstream is no URL: {error}") from None
        hosts_of(self.hosts or ())


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
        self._streams = Running()
        self._observer = observer
        self._exposition = exposition
        self._transport = Pool(settings.max_concurrent, settings.keep_upstream)
        self._base = base_of(settings.upstream)
        self._hosts = None if settings.hosts is None else hosts_of(settings.hosts)
        self._budget = Budget(settings.max_memory)
        self._active = 0
        self._arriving: set[anyio.CancelScope] = set()
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
        async with anyio.create_task_group() as group:
            group.start_soon(self._streams.drain, grace)
            with anyio.move_on_after(grace):
                while self._active and not self._streams.hurried:
                    await anyio.sleep(0.05)
            for scope in self._arriving:
                scope.cancel()
            with anyio.move_on_after(2):
                while self._active:
                    await anyio.sleep(0.05)

    @property
    def draining(self) -> bool:
        """Whether no more requests are taken."""
        return self._streams.draining

    def hurry(self) -> None:
        """Drain with no grace any more."""
        self._streams.hurry()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            kind = (await receive())["type"]
            if kind == "lifespan.startup":
                await rehearse(self._transport, self.settings.src, self.settings.dst)
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
        cause: BaseException | None = None
        response: _Forwarded | None = None
        share, stream = self._budget.share(), self._budget.share()
        self._active += 1
        try:
            target = self._admitted(scope)
            if self.settings.playground and is_playground(scope):
                status, outcome = await playground(scope, partial(self._body, receive, share), send), "answered"
                return
            response = await self._forward(scope, await self._body(receive, share), target, request_id)
            response.share = stream
            try:
                await response.respond(scope, receive, send)
            except _ORDINARY:
                # to return without the end of the answer makes the server hang up, and its log is spared the traceback
                pass
            finally:
                status = response.status
                if response.pump is not None:
                    outcome, cause = str(response.pump.stats.outcome), response.pump.stats.failure
        except _Left:
            outcome = "disconnected"
        except (Refused, OverBudget) as refused:
            answer, outcome, cause = Answer(send, 0, []), "refused", refused
            await answer.refuse(refused, self.settings.dst, (_id_field(request_id),))
            status = answer.status
        finally:
            share.free()
            stream.free()
            self._active -= 1
            self._tell(
                Request(
                    *(self.settings.src, self.settings.dst, request_id.decode()),
                    method=scope["method"] if scope["method"] in METHODS else "-",
                    status=status,
                    outcome=outcome,
                    cause=cause_of(cause),
                    seconds=time.monotonic() - began,
                    upstream=response.upstream if response is not None else None,
                    stats=response.pump.stats if response is not None and response.pump is not None else None,
                )
            )
            # it holds the frames that hold it
            cause = None

    def _tell(self, request: Request) -> None:
        log_request(request)
        if self._observer is not None:
            Told(request, [self._observer])("on_request")

    def _own(self, scope: Scope) -> tuple[int, bytes, str] | None:
        """Status, body and type of the sidecar's own pages."""
        if scope["method"] not in ("GET", "HEAD"):
            return None
        try:
            self._check(scope, probe=scope["path"] in _PROBES)
        except Refused:
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

    def _check(self, scope: Scope, *, probe: bool = False) -> None:
        """Raise :class:`Refused` for what is unclear, or of another site. A probe may name any host."""
        check_framing(scope["headers"], self.settings.max_body)
        if self._hosts is not None and not probe:
            check_host(scope["headers"], self._hosts)
            check_site(scope["method"], scope["headers"], self._hosts)

    def _admitted(self, scope: Scope) -> str:
        """The target of a request that is taken. Raises :class:`Refused` for others."""
        self._check(scope)
        target = target_of(scope, max_head=self.settings.max_head).decode("ascii")
        if self.draining:
            raise _drained()
        if self._active > self.settings.max_concurrent:
            raise Refused(503, "too many requests at once", _RETRY)
        return target

    async def _forward(self, scope: Scope, body: bytes, target: str, request_id: bytes) -> _Forwarded:
        """The answer to a request."""
        settings = self.settings
        wait = settings.connect_timeout
        request = httpx2.Request(
            scope["method"],
            self._base,
            headers=sent_fields(scope["headers"], request_id),
            content=body or None,
            extensions={
                "timeout": {"connect": wait, "pool": wait, "read": None, "write": None},
                # a URL would be spelled anew
                "target": (urlsplit(self._base).path + target).encode("ascii"),
            },
        )

        async def open() -> httpx2.Response:
            try:
                response = await self._transport.handle_async_request(request)
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
                fields = located(response.headers.raw, response.status_code, self._base + target, self._base)
            except BaseException:
                await response.aclose()
                raise
            response.headers = httpx2.Headers(fields)
            return response

        answer = self._response(open, request_id)
        answer.eager = asks_for_stream(scope, body, settings.dst)
        return answer

    async def _body(self, receive: Receive, share: Share) -> bytes:
        """The body of a request. Raises :class:`Refused`, :class:`OverBudget` and :class:`_Left`."""
        pieces: list[bytes] = []
        size, more = 0, True
        with anyio.move_on_after(self.settings.body_timeout) as scope:
            self._arriving.add(scope)
            try:
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _Left
                    pieces.append(message.get("body", b""))
                    size += len(pieces[-1])
                    if size > self.settings.max_body:
                        raise Refused(413, "the body is too large")
                    share.hold(size)
                    more = message.get("more_body", False)
            finally:
                self._arriving.discard(scope)
        if scope.cancelled_caught:
            raise _drained() if self.draining else Refused(408, "the request did not arrive in time", CLOSE)
        return b"".join(pieces)

    def _response(self, open: Callable[[], Awaitable[httpx2.Response]], request_id: bytes) -> _Forwarded:
        settings = self.settings
        return _Forwarded(
            open,
            settings.src,
            settings.dst,
            headers=[(name.decode(), value.decode()) for name, value in (_id_field(request_id),)],
            ping=settings.ping,
            timeouts=settings.timeouts,
            observer=self._observer,
            running=self._streams,
            streams=of_types(settings.stream_types) if settings.stream_types else None,
            **settings.options,
        )


class _Left(Exception):
    """The client left before its request was whole."""


def unavailable(error: Exception) -> Refused | None:
    """What a connection that could not be had is refused with, where that is this process's fault."""
    if not exhausted(error):
        return None
    _log.warning("no descriptors are left for connections to the upstream")
    return Refused(503, "no descriptors are left", _RETRY)


def _drained() -> Refused:
    return Refused(503, "the service shuts down", _RETRY, CLOSE)


def _id_field(request_id: bytes) -> tuple[bytes, bytes]:
    """The field that says the id of a request. ``x-request-id`` is for the upstream to say."""
    return b"x-translate-request-id", request_id


class _Forwarded(StreamResponse):
    """An answer of the upstream, with its head."""

    upstream: int | None = None
    """The status of it."""

    def fields(self, response: Response, stream: Fields | None) -> Fields:
        encoding = encoding_of(response)
        if stream is not None and encoding != "identity" and not undoes(encoding):
            raise Refused(502, "the upstream uses a content encoding that it was not asked for")
        return [*returned_fields(response.headers.raw, translated=stream is not None), *(stream or self.added)]


async def _nowhere() -> httpx2.Response:
    raise NotImplementedError
