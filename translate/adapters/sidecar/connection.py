"""The sidecar's connections to clients: uvicorn's, with each wait for a client bounded, and so many at most."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import sys
from collections.abc import Callable, Collection
from itertools import islice
from typing import Any, TypeAlias

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from .descriptors import exhausted

_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_LONGEST = 2**31 - 1
"""Milliseconds that the system can be told."""
_PATIENCE = 1.0
"""Seconds of silence after which a connection can be dropped for another: who connects says something at once."""
_PAUSE = 0.002
"""Seconds after which it is looked again whether there is room."""
_LOOKED_AT = 32
_HANDSHAKE = 10.0
"""Seconds that TLS may take to begin, and to end."""
_log = logging.getLogger("translate.sidecar")


class Connection(H11Protocol):
    """A connection that is closed where the head of a request takes longer than ``head_timeout``, with a 408 where it
    had begun, and where the rest of a body that was refused does.

    uvicorn bounds only the silence between two requests.
    """

    head_timeout: float | None
    silent: Silent
    """Those that wait for their clients, between two requests or amid a head, and since when; the longest first."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """It has said something."""
        self.silent.pop(self, None)
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has left, or was dropped."""
        self._rest()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """It has an answer."""
        super().on_response_complete()
        # the time between two requests is the server's own
        self._watch(timed=self.conn.their_state is not h11.IDLE)

    def send_400_response(self, msg: str) -> None:
        """What came is no HTTP: say so, where no answer has begun, and hang up.

        Whoever answers the request that it was part of is told that the client has left.
        """
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        self.transport.close()
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _watch(self, *, timed: bool = True) -> None:
        if not self._waits or self.transport.is_closing():
            self._rest()
            return
        self.silent.setdefault(self, self.loop.time())
        if timed and self._alarm is None and self.head_timeout is not None:
            self._alarm = self.loop.call_later(self.head_timeout, self._late)

    @property
    def _waits(self) -> bool:
        theirs = self.conn.their_state
        return theirs is h11.IDLE or (theirs is h11.SEND_BODY and self.conn.our_state is h11.DONE)

    def _rest(self) -> None:
        self.silent.pop(self, None)
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _late(self) -> None:
        if self._waits and not self.transport.is_closing():
            if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
                self.transport.write(_LATE)
            self.transport.close()


def protocol(head_timeout: float | None) -> type[Connection]:
    """The connections of one server: see :class:`Connection`."""
    return type("Connection", (Connection,), {"head_timeout": head_timeout, "silent": {}})


Silent: TypeAlias = dict[Connection, float]


class Acceptor:
    """Accepts connections of one server, ``most`` at once.

    One more waits to be accepted until another ends; where one is silent, the one that has been so longest is dropped
    for it. asyncio's own server accepts whatever comes, and logs a traceback for each that it has no descriptor for.
    """

    def __init__(
        self,
        most: int,
        make: Callable[[], Connection],
        open: Collection[Any],
        silent: Silent,
        secured: ssl.SSLContext | None = None,
    ) -> None:
        """``make`` makes a connection; ``open`` are those that there are, and ``silent`` those of them that wait."""
        self._secured = secured
        self._most = most
        self._make = make
        self._open = open
        self._silent = silent
        self._coming = 0

    async def run(self, listener: socket.socket) -> None:
        """Accept until this is cancelled."""
        loop = asyncio.get_running_loop()
        listener.setblocking(False)
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    accepted, _ = await loop.sock_accept(listener)
                except OSError as error:
                    # else one that has left before it was accepted
                    if exhausted(error):
                        _log.warning("no descriptors are left: connections wait to be accepted")
                        await asyncio.sleep(_PAUSE)
                    continue
                while len(self._open) + self._coming >= self._most:
                    await asyncio.sleep(_PAUSE)
                    now = loop.time()
                    # a loop that is late reads meanwhile what has come up to now: who has said something is not silent
                    await asyncio.sleep(0)
                    self._drop(now)
                self._coming += 1
                group.create_task(self._connect(accepted))

    async def _connect(self, accepted: socket.socket) -> None:
        try:
            loop, wait = asyncio.get_running_loop(), _HANDSHAKE if self._secured is not None else None
            await loop.connect_accepted_socket(
                self._make, accepted, ssl=self._secured, ssl_handshake_timeout=wait, ssl_shutdown_timeout=wait
            )
        except OSError:
            # those of TLS are such, too: whoever does not speak it is no one's concern
            accepted.close()
        finally:
            self._coming -= 1

    def _drop(self, now: float) -> None:
        """Drop the connection that has been silent longest, if any is; one that still takes an answer comes last."""
        late = [each for each, since in islice(self._silent.items(), _LOOKED_AT) if now - since >= _PATIENCE]
        if not late:
            return
        found = next((each for each in late if not each.transport.get_write_buffer_size()), late[0])
        _log.warning("%d connections are open: for one more the longest silent is dropped", self._most)
        found.transport.abort()


def hang_up_on_stalled(listener: socket.socket, seconds: float | None) -> None:
    """Have the system drop each client that takes nothing for so long, with what it was still to be sent.

    Without, such a client keeps a connection that was closed as long as it likes. Only Linux can.
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if seconds and option is not None:
        listener.setsockopt(socket.IPPROTO_TCP, option, int(min(seconds * 1000, _LONGEST)))


def queued(listener: socket.socket) -> int:
    """Connections that wait to be accepted. Only Linux tells."""
    if not sys.platform.startswith("linux"):
        return 0
    # of a listener, tcpi_unacked is its queue
    return int.from_bytes(listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[24:28], sys.byteorder)
