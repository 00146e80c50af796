"""The relay: one stream from a source to a sink."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Unpack

from ..carry.losses import ErrorPolicy
from .observe import Observer, Stats
from .options import Sink, StreamOptions, Timeouts
from .pump import Pump
from .upstream import Source


async def relay(
    source: Source,
    sink: Sink,
    src: str,
    dst: str,
    *,
    ping: float | None = None,
    timeouts: Timeouts | None = None,
    gone: Callable[[], Awaitable[None]] | None = None,
    observer: Observer | None = None,
    errors: ErrorPolicy = "encode",
    **options: Unpack[StreamOptions],
) -> Stats:
    """Translate a stream from ``source`` into ``sink``, and return its :class:`Stats` when it is over.

    ``source``    an asynchronous iterable of chunks, a response of httpx or httpx2 that was asked for as a stream, or
                  an async callable that opens one; it is closed at the end, whatever that is
    ``sink``      an async callable that takes ``bytes``, one or more whole units, and returns when it wants more.
                  Nothing more is read before it does. Where it raises ``OSError`` the receiver has left
    ``ping``      seconds of silence after which a keep-alive is sent, where the target has one
    ``timeouts``  see :class:`Timeouts`
    ``gone``      an async callable that returns when the receiver has left; the stream then ends at once
    ``observer``  is told what happens
    ``errors``    ``"encode"``: whatever fails, the output ends in the target's failure unit, and ``stats.failure`` is
                  why; ``"raise"``: it is raised, after the output that comes before it

    Raises :class:`translate.UnknownFormat`; ``ValueError`` where ``dst`` is a format of objects; what ``sink`` raises
    but for errors of a connection, and what ``gone`` does; :class:`translate.StreamTimeout` where the receiver does
    not take the end either; what is wrong with units after the terminal one, when all was said.
    Other options are those of :func:`translate.convert`. To end a stream, cancel the relay: the source is closed.
    """
    observers = [observer] if observer is not None else []
    pump = Pump(src, dst, sink, ping=ping, timeouts=timeouts, observers=observers, encode=errors == "encode", **options)
    return await pump.pull(source, gone)
