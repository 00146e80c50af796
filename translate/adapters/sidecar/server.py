"""The sidecar on uvicorn: its sockets and its signals."""

from __future__ import annotations

import asyncio
import logging
import math
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import cast

import uvicorn

from ..observe import Observer
from .app import Settings, Sidecar
from .connection import Acceptor, Connection, hang_up_on_stalled, protocol
from .descriptors import Room, raised
from .hosts import is_loopback
from .logs import Seldom

_log = logging.getLogger("translate.sidecar")


_BACKLOG = 2048
"""Connections that may wait to be accepted."""
_SAME = 1.0
"""Seconds in which a signal that comes again is the same one: a process and its group are often both sent it."""


class Server(uvicorn.Server):
    """Stops in steps: a signal drains, and the listener goes on to say so; a second ends all streams in a failure, a
    third the process. It has as many connections as there is ``room`` for.
    """

    def __init__(self, config: uvicorn.Config, sidecar: Sidecar, room: Room, grace: float) -> None:
        super().__init__(config)
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
        state, kind = self.server_state, cast(type[Connection], self.config.http_protocol_class)
        make = partial(kind, config=self.config, server_state=state, app_state=self.lifespan.state)
        acceptor = Acceptor(self._room.connections, make, state.connections, kind.silent)
        for listener in sockets or ():
            self._accepting.append(asyncio.create_task(acceptor.run(listener)))
            host, port = listener.getsockname()[:2]
            _log.info("listening on http://%s:%d", f"[{host}]" if ":" in host else host, port)
        told, room = "%d files may be open: %d connections, %d requests at once", self._room
        _log.info(told, room.files, room.connections, room.requests)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, then end."""
        await self.stop_accepting()
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


def serve(settings: Settings, *, host: str = "127.0.0.1", port: int = 8080, grace: float = 30.0) -> None:
    """Serve until SIGTERM or SIGINT, then drain: streams may end within ``grace`` seconds. A second signal ends them.

    ``port`` 0 is one that the system chooses; the log says which. On a loopback ``host`` only requests for this machine
    are taken, and for ``settings.hosts``. Metrics are there if ``prometheus-client`` is.
    Raises ``OSError`` where the address cannot be had.
    """
    with socket.create_server((host, port), family=_family(host), backlog=_BACKLOG) as listener:
        observer, exposition = _metrics()
        if settings.hosts is None and is_loopback(listener.getsockname()[0]):
            settings = replace(settings, hosts=())
        room = Room.within(raised(), settings.max_concurrent)
        sidecar = Sidecar(replace(settings, max_concurrent=room.requests), observer, exposition)
        config = configured(sidecar, listener)
        quiet()
        Server(config, sidecar, room, grace).run(sockets=[listener])


def configured(sidecar: Sidecar, listener: socket.socket) -> uvicorn.Config:
    """How uvicorn serves a sidecar; what the system can do is asked of ``listener``."""
    settings = sidecar.settings
    write = settings.timeouts.write
    # the stream's own time-out, which can be logged, comes first
    hang_up_on_stalled(listener, write and write + 1)
    return uvicorn.Config(
        sidecar,
        # h11 alone tells targets that name a host from those that do not, and it refuses unclear framing
        http=protocol(settings.body_timeout),
        # beyond it the server itself refuses, with 400
        h11_max_incomplete_event_size=settings.max_head * 2 + 16 * 1024,
        ws="none",
        lifespan="on",
        access_log=False,
        server_header=False,
        log_config=None,
        log_level="warning",
        proxy_headers=False,
        timeout_keep_alive=math.ceil(settings.keep_client),
        timeout_graceful_shutdown=2,
    )


def quiet() -> None:
    """Keep out of the log what others would say of requests, and what is said again and again."""
    seldom = Seldom(60)
    for name in (_log.name, "uvicorn.error"):
        logging.getLogger(name).addFilter(seldom)
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    for name in ("httpcore2", "httpx2"):
        # at lower levels they log header fields
        logging.getLogger(name).setLevel(logging.WARNING)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a line of the server's says more than that a client asked for web sockets, which any may do at will."""
    return not record.msg.startswith(("Unsupported upgrade", "No supported WebSocket"))


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _metrics() -> tuple[Observer | None, Callable[[], tuple[bytes, str]] | None]:
    try:
        from ..prometheus import PrometheusObserver, exposition
    except ImportError:
        return None, None
    return PrometheusObserver(), exposition
