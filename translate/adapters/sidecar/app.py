"""The sidecar as an ASGI application: it forwards requests to upstreams, and translates the streams they answer."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import anyio
import httpx2

from ...errors import TranslateError
from ..asgi import Answer, Receive, Scope, Send
from ..budget import Budget, OverBudget, Share
from ..observe import Observer, Request, Told
from ..running import Running
from .exchanging import Exchanged, Exchanging, forwarders
from .forward import RETRY, Forwarded, Forwarder, id_field
from .hosts import check_host, check_site, host_of, hosts_of
from .logs import cause_of, log_request
from .playground import is_playground, playground
from .rehearsal import rehearse
from .rules import CLOSE, METHODS, Refused, check_framing, request_id_of, target_of
from .settings import Route, Settings

if TYPE_CHECKING:
    from ..tracing import Span, Tracing

_PROBES = ("/healthz", "/readyz")
_ORDINARY = (TranslateError, httpx2.HTTPError, OSError)
"""What may end an answer in its midst; all else is a fault of the program."""


class Sidecar:
    """The application. Serves ``/healthz``, ``/readyz`` and ``/metrics`` itself, and forwards everything else.

    ``routes``: without any, all goes to the upstream of ``settings``. ``observers`` are told of streams and requests,
    ``tracing`` makes spans, ``exposition`` gives the text of ``/metrics`` and its content type. A request is read
    whole, then forwarded; see ``docs/adapters.md`` for what is refused, and with which status.
    """

    def __init__(
        self,
        settings: Settings,
        *observers: Observer,
        routes: Sequence[Route] = (),
        tracing: Tracing | None = None,
        exposition: Callable[[], tuple[bytes, str]] | None = None,
    ) -> None:
        self.settings = settings
        self._streams = Running()
        self._observers = observers
        self._tracing = tracing
        self._exposition = exposition
        found = forwarders(routes or (Route(settings),), self._streams, observers)
        self._routes = sorted(found, key=lambda route: (route.host is None, -len(route.prefix)))
        self._hosts = None if settings.hosts is None else hosts_of(settings.hosts)
        self._max_body = max(route.settings.max_body for route in self._routes)
        self.budget = Budget(settings.max_memory)
        self._active = 0
        self._arriving: set[anyio.CancelScope] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1003})

    async def pages(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection where only the sidecar's own pages are served, the figures among them."""
        if scope["type"] == "http":
            missing = 404, b"only /healthz, /readyz and /metrics are here\n", "text/plain"
            await self._page(scope, send, self._own(scope, figures=True) or missing)

    def tell(self, connections: int, waiting: int) -> None:
        """Tell observers of what there is now."""
        Told(connections, self._observers)("on_load", waiting, self.budget.held)

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
                for route in self._routes:
                    await rehearse(route.transport, route.settings.src, route.settings.dst)
            if kind == "lifespan.shutdown":
                for route in self._routes:
                    await route.transport.aclose()
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        own = self._own(scope, figures=not self.settings.figures_apart)
        if own is not None:
            await self._page(scope, send, own)
            return
        began = time.monotonic()
        request_id = request_id_of(scope["headers"], uuid.uuid4().hex)
        status, outcome = 0, "cancelled"
        cause: BaseException | None = None
        response: Forwarded | Exchanged | None = None
        share, stream = self.budget.share(), self.budget.share()
        method = scope["method"] if scope["method"] in METHODS else "-"
        fields, span = scope["headers"], self._span(method, scope)
        route = self._route(scope)
        settings = self.settings if route is None else route.settings
        self._active += 1
        Told(settings.src, self._observers)("on_request_start", settings.dst)
        try:
            target = self._admitted(scope, settings)
            if self.settings.playground and is_playground(scope):
                body = partial(self._body, receive, share, settings.max_body)
                status, outcome = await playground(scope, body, send), "answered"
                return
            if route is None:
                raise Refused(404, "no route is for this")
            data = await self._body(receive, share, settings.max_body)
            response = route.forward(scope, data, target, request_id, fields if span is None else span.sent(fields))
            response.share = stream
            try:
                await response.respond(scope, receive, send)
            except _ORDINARY:
                # to return without the end of the answer makes the server hang up, and its log is spared the traceback
                pass
            finally:
                status = response.status
                outcome, cause = _became(response)
        except _Left:
            outcome = "disconnected"
        except (Refused, OverBudget) as refused:
            answer, outcome, cause = Answer(send, 0, []), "refused", refused
            await _refuse(answer, scope, refused, route, settings.dst, request_id)
            status = answer.status
        finally:
            share.free()
            stream.free()
            self._active -= 1
            request = Request(
                *(settings.src, settings.dst, request_id.decode()),
                method=method,
                status=status,
                outcome=outcome,
                cause=cause_of(cause),
                seconds=time.monotonic() - began,
                upstream=response.upstream if response is not None else None,
                stats=response.pump.stats if response is not None and response.pump is not None else None,
            )
            # it holds the frames that hold it
            cause = None
            self._tell(request, span)

    def _span(self, method: str, scope: Scope) -> Span | None:
        return None if self._tracing is None else self._tracing.begin(method, list(scope["headers"]))

    def _tell(self, request: Request, span: Span | None) -> None:
        log_request(request)
        Told(request, self._observers)("on_request")
        if span is not None:
            span.end(request)

    def _route(self, scope: Scope) -> Forwarder | None:
        """The route that a request is for."""
        path: bytes = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogateescape")
        host = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1")
        named = host_of(host)
        return next((route for route in self._routes if route.takes(named, path)), None)

    async def _page(self, scope: Scope, send: Send, page: tuple[int, bytes, str]) -> None:
        status, body, kind = page
        await Answer(send, status, [(b"content-type", kind.encode()), (b"cache-control", b"no-store")]).end(body)

    def _own(self, scope: Scope, *, figures: bool) -> tuple[int, bytes, str] | None:
        """Status, body and type of the sidecar's own pages."""
        if scope["method"] not in ("GET", "HEAD"):
            return None
        try:
            self._check(scope, self._max_body, probe=scope["path"] in _PROBES)
        except Refused:
            return None
        match scope["path"]:
            case "/healthz":
                return 200, b"ok\n", "text/plain"
            case "/readyz":
                return (503, b"draining\n", "text/plain") if self.draining else (200, b"ready\n", "text/plain")
            case "/metrics" if not figures:
                return 404, b"the figures are on a port of their own\n", "text/plain"
            case "/metrics" if self._exposition is not None:
                return 200, *self._exposition()
            case "/metrics":
                return 501, b"no metrics: prometheus-client is not installed\n", "text/plain"
        return None

    def _check(self, scope: Scope, max_body: int, *, probe: bool = False) -> None:
        """Raise :class:`Refused` for what is unclear, or of another site. A probe may name any host."""
        check_framing(scope["headers"], max_body)
        if self._hosts is not None and not probe:
            check_host(scope["headers"], self._hosts)
            check_site(scope["method"], scope["headers"], self._hosts)

    def _admitted(self, scope: Scope, settings: Settings) -> str:
        """The target of a request that is taken. Raises :class:`Refused` for others."""
        self._check(scope, settings.max_body)
        target = target_of(scope, max_head=self.settings.max_head).decode("ascii")
        if self.draining:
            raise _drained()
        if self._active > self.settings.max_concurrent:
            raise Refused(503, "too many requests at once", RETRY)
        return target

    async def _body(self, receive: Receive, share: Share, most: int) -> bytes:
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
                    if size > most:
                        raise Refused(413, "the body is too large")
                    share.hold(size)
                    more = message.get("more_body", False)
            finally:
                self._arriving.discard(scope)
        if scope.cancelled_caught:
            raise _drained() if self.draining else Refused(408, "the request did not arrive in time", CLOSE)
        return b"".join(pieces)


def _became(response: Forwarded | Exchanged) -> tuple[str, BaseException | None]:
    """What became of an answer, and why."""
    if response.pump is not None:
        return str(response.pump.stats.outcome), response.pump.stats.failure
    return (response.outcome if isinstance(response, Exchanged) else "cancelled"), None


async def _refuse(
    answer: Answer, scope: Scope, error: Exception, route: Forwarder | None, dst: str, request_id: bytes
) -> None:
    if isinstance(route, Exchanging):
        await route.refuse(answer, scope, error, id_field(request_id))
    else:
        await answer.refuse(error, dst, (id_field(request_id),))


class _Left(Exception):
    """The client left before its request was whole."""


def _drained() -> Refused:
    return Refused(503, "the service shuts down", RETRY, CLOSE)
