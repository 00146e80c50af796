"""The sidecar's connections to clients: uvicorn's, that bound each wait for a client."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_LONGEST = 2**31 - 1
"""Milliseconds that the system can be told."""


def protocol(head_timeout: float | None) -> type[H11Protocol]:
    """A connection that is closed where the head of a request takes longer, with a 408 where it had begun, and where
    the rest of a body that was refused does.

    uvicorn bounds only the silence between two requests.
    """

    class Connection(H11Protocol):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._alarm: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._rest()
            super().connection_lost(exc)

        def _watch(self) -> None:
            if not self._waits:
                self._rest()
            elif self._alarm is None and head_timeout is not None:
                self._alarm = self.loop.call_later(head_timeout, self._late)

        @property
        def _waits(self) -> bool:
            theirs = self.conn.their_state
            return theirs is h11.IDLE or (theirs is h11.SEND_BODY and self.conn.our_state is h11.DONE)

        def _rest(self) -> None:
            if self._alarm is not None:
                self._alarm.cancel()
                self._alarm = None

        def _late(self) -> None:
            if self._waits and not self.transport.is_closing():
                if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
                    self.transport.write(_LATE)
                self.transport.close()

    return Connection


def hang_up_on_stalled(listener: socket.socket, seconds: float | None) -> None:
    """Have the system drop each client that takes nothing for so long, with what it was still to be sent.

    Without, such a client keeps a connection that was closed as long as it likes. Only Linux can.
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if seconds and option is not None:
        listener.setsockopt(socket.IPPROTO_TCP, option, int(min(seconds * 1000, _LONGEST)))
