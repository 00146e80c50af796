"""The sidecar on uvicorn: its sockets and its signals."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import cast

import uvicorn
from uvicorn.server import ServerState

from ..observe import Observer
from .app import Sidecar
from .connection import Acceptor, Connection, hang_up_on_stalled, protocol, queued
from .descriptors import Room, raised
from .hosts import is_loopback
from .logs import Seldom, one_line_a_request
from .settings import Route, Settings
from .workers import SHARED, work

_log = logging.getLogger("translate.sidecar")


_BACKLOG = 2048
"""Connections that may wait to be accepted."""
_SAME = 1.0
"""Seconds in which a signal that comes again is the same one: a process and its group are often both sent it."""
_TICK = 1.0
"""Seconds from one look at what there is to the next."""
_OF_FIGURES = 16
"""Connections that those who read the figures may have."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a sidecar listens, and how it ends.

    ``host``, ``port``  0 is a port that the system chooses; the log says which
    ``metrics_port``    one of its own for the figures and the probes, on ``metrics_host``, or else ``host``
    ``certificate``     files of a certificate and its key: clients speak TLS
    ``clients``         a file of certificates that a client's must be signed by
    ``grace``           seconds that streams have to end
    ``workers``         processes that accept on the same sockets; the limits are of all of them together
    ``otlp``            the URL of a collector
    """

    host: str = "127.0.0.1"
    port: int = 8080
    metrics_host: str | None = None
    metrics_port: int | None = None
    certificate: tuple[Path, Path] | None = None
    clients: Path | None = None
    grace: float = 30.0
    workers: int = 1
    otlp: str | None = None

    def __post_init__(self) -> None:
        if self.clients is not None and self.certificate is None:
            raise ValueError("clients are asked for certificates only where the sidecar has one itself")
        if self.workers < 1 or (self.workers > 1 and not hasattr(os, "fork")):
            raise ValueError("there is one worker at least, and one alone where processes cannot fork")


class Server(uvicorn.Server):
    """Stops in steps: a signal drains, and the listener goes on to say so; a second ends all streams in a failure, a
    third the process. It has as many connections as there is ``room`` for.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        sidecar: Sidecar,
        room: Room,
        grace: float,
        figures: socket.socket | None = None,
    ) -> None:
        """``figures``: a listener of its own for the sidecar's pages."""
        super().__init__(config)
        self._figures = figures
        self._apart = ServerState()
        self._sidecar = sidecar
        self._room = room
        self._grace = grace
        self._loop: asyncio.AbstractEventLoop | None = None
        self._drain: asyncio.Task[None] | None = None
        self._accepting: list[asyncio.Task[None]] = []
        self._signals = 0
        self._last = -_SAME

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen. Signals are heeded when the log says so."""
        self._loop = asyncio.get_running_loop()
        await super().startup([])
        acceptor = self._acceptor(self.config, self.server_state, self._room.connections)
        scheme = "http" if self.config.ssl is None else "https"
        for listener in sockets or ():
            self._accepting.append(asyncio.create_task(acceptor.run(listener)))
            _log.info("listening on %s://%s", scheme, _authority(listener))
        if self._figures is not None:
            config = configured(self._sidecar, self._figures, pages=True)
            config.load()
            self._accepting.append(
                asyncio.create_task(self._acceptor(config, self._apart, _OF_FIGURES).run(self._figures))
            )
            _log.info("figures are on http://%s/metrics", _authority(self._figures))
        self._accepting.append(asyncio.create_task(self._look(sockets or ())))
        told, room = "%d files may be open: %d connections, %d requests at once", self._room
        _log.info(told, room.files, room.connections, room.requests)

    def _acceptor(self, config: uvicorn.Config, state: ServerState, most: int) -> Acceptor:
        kind = cast(type[Connection], config.http_protocol_class)
        make = partial(kind, config=config, server_state=state, app_state=self.lifespan.state)
        return Acceptor(most, make, state.connections, kind.silent, config.ssl)

    async def _look(self, listeners: Sequence[socket.socket]) -> None:
        """Tell of what there is, again and again."""
        while True:
            self._sidecar.tell(len(self.server_state.connections), sum(map(queued, listeners)))
            await asyncio.sleep(_TICK)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, then end."""
        await self.stop_accepting()
        for connection in list(self._apart.connections):
            connection.shutdown()
        await super().shutdown(sockets)

    async def stop_accepting(self) -> None:
        """Take no more connections."""
        for task in self._accepting:
            task.cancel()
        await asyncio.gather(*self._accepting, return_exceptions=True)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal came."""
        now, last = time.monotonic(), self._last
        self._last = now
        self._signals += now - last >= _SAME
        if self._loop is None or self._signals > 2:
            self.should_exit = self.force_exit = True
        else:
            self._loop.call_soon_threadsafe(self._sidecar.hurry if self._signals == 2 else self._begin_drain)

    def _begin_drain(self) -> None:
        if self._drain is None:
            self._drain = asyncio.ensure_future(self._drained())

    async def _drained(self) -> None:
        _log.info("draining, for %g s at most", self._grace)
        await self._sidecar.drain(self._grace)
        self.should_exit = True


def serve(settings: Settings, listening: Listening | None = None, routes: Sequence[Route] = ()) -> None:
    """Serve until SIGTERM or SIGINT, then drain: streams may end within the grace. A second signal ends them.

    On a loopback host only requests for this machine are taken, and for ``settings.hosts``. Figures are there if
    ``prometheus-client`` is. Raises ``OSError`` where an address cannot be had, ``ValueError`` for certificates that
    cannot be read, ``ImportError`` where ``otlp`` asks for what is not installed.
    """
    listening = listening or Listening()
    with ExitStack() as stack:
        listener = stack.enter_context(_listener(listening.host, listening.port))
        apart: socket.socket | None = None
        if listening.metrics_port is not None:
            host = listening.metrics_host or listening.host
            apart = stack.enter_context(_listener(host, listening.metrics_port))
        if settings.hosts is None and is_loopback(listener.getsockname()[0]):
            settings = replace(settings, hosts=())
        settings = replace(settings, figures_apart=apart is not None)
        secured = _secured(listening)
        quiet()
        run = partial(_serve, settings, listening, routes, listener, apart, secured)
        if listening.workers == 1:
            run()
        else:
            work(listening.workers, run)


def _serve(
    settings: Settings,
    listening: Listening,
    routes: Sequence[Route],
    listener: socket.socket,
    apart: socket.socket | None,
    secured: ssl.SSLContext | None,
) -> None:
    """One process: it has its share of what all may."""
    workers = listening.workers
    observers, exposition = _metrics()
    tracing, end = None, _nothing
    if listening.otlp is not None:
        from .otlp import exporting

        exported, tracing, end = exporting(listening.otlp)
        observers.append(exported)
    room = Room.within(raised(), max(settings.max_concurrent // workers, 1))
    settings = replace(settings, max_concurrent=room.requests, max_memory=settings.max_memory // workers)
    routes = [replace(each, settings=replace(each.settings, max_concurrent=room.requests)) for each in routes]
    sidecar = Sidecar(settings, *observers, routes=routes, tracing=tracing, exposition=exposition)
    config = configured(sidecar, listener, secured)
    try:
        Server(config, sidecar, room, listening.grace, apart).run(sockets=[listener])
    finally:
        end()


def configured(
    sidecar: Sidecar, listener: socket.socket, secured: ssl.SSLContext | None = None, *, pages: bool = False
) -> uvicorn.Config:
    """How uvicorn serves a sidecar, or its ``pages`` alone; what the system can do is asked of ``listener``."""
    settings = sidecar.settings
    write = settings.timeouts.write
    # the stream's own time-out, which can be logged, comes first
    hang_up_on_stalled(listener, write and write + 1)
    config = uvicorn.Config(
        sidecar.pages if pages else sidecar,
        interface="asgi3",
        # h11 alone tells targets that name a host from those that do not, and it refuses unclear framing
        http=protocol(settings.body_timeout),
        # beyond it the server itself refuses, with 400
        h11_max_incomplete_event_size=settings.max_head * 2 + 16 * 1024,
        ws="none",
        lifespan="off" if pages else "on",
        access_log=False,
        server_header=False,
        log_config=None,
        log_level="warning",
        proxy_headers=False,
        timeout_keep_alive=math.ceil(settings.keep_client),
        timeout_graceful_shutdown=2,
    )
    if secured is not None:
        config.load()
        config.ssl = secured
    return config


def quiet() -> None:
    """Keep out of the log what others would say of requests, and what is said again and again."""
    seldom = Seldom(60)
    for name in (_log.name, "uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(seldom)
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(_is_news)
    logging.getLogger("translate.adapters").addFilter(one_line_a_request)
    for name in ("httpcore2", "httpx2"):
        # at lower levels they log header fields
        logging.getLogger(name).setLevel(logging.WARNING)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a line says more than that a client asked for web sockets, or left, which any may do at will."""
    return not str(record.msg).startswith(("Unsupported upgrade", "No supported WebSocket", "socket.send() raised"))


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=_BACKLOG)


def _authority(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _secured(listening: Listening) -> ssl.SSLContext | None:
    """What connections of clients are secured by."""
    if listening.certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(*listening.certificate)
        if listening.clients is not None:
            context.load_verify_locations(listening.clients)
            context.verify_mode = ssl.CERT_REQUIRED
    except (OSError, ssl.SSLError) as error:
        why = getattr(error, "reason", None) or error.strerror
        raise ValueError(f"the certificates for clients cannot be read: {why}") from None
    return context


def _metrics() -> tuple[list[Observer], Callable[[], tuple[bytes, str]] | None]:
    try:
        from ..prometheus import PrometheusObserver, exposition
    except ImportError:
        return [], None
    return [PrometheusObserver(gen_ai=True)], partial(exposition, shared=SHARED in os.environ)


def _nothing() -> None:
    """Nothing is to be sent at the end."""
