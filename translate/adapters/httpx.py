"""A transport for httpx: a client of one format talks to a server of another. Needs httpx."""

from __future__ import annotations

from typing import Unpack

import httpx

from ..carry.losses import ErrorPolicy
from . import _transport
from .media import IsStream
from .options import StreamOptions


class _AsyncBody(_transport.AsyncBody, httpx.AsyncByteStream):
    """The body of a translated answer."""


class _Body(_transport.Body, httpx.SyncByteStream):
    """As above, of a synchronous client."""


class TranslateTransport(_transport.Transport, httpx.AsyncBaseTransport, httpx.BaseTransport):
    """A transport of clients, asynchronous and not, whose servers stream ``src`` where the client reads ``dst``.

    ``transport``  the transport below, such as ``httpx.AsyncHTTPTransport()``; it is closed with this one
    ``errors``     ``"encode"``: a stream that fails ends in the failure unit of ``dst``; ``"raise"``: reading its body
                 raises the error

    All other answers are untouched, and so are requests and answers to ``HEAD``.
    Content encodings that httpx knows are undone. Closing a response closes the one below. Other options are those of
    :func:`translate.convert`. Raises ``ValueError`` where ``dst`` is a format of objects.
    """

    library = httpx
    bodies = (_AsyncBody, _Body)

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport | httpx.BaseTransport,
        src: str,
        dst: str,
        *,
        errors: ErrorPolicy = "encode",
        timeouts: ErrorPolicy = "raise",
        streams: IsStream | None = None,
        **options: Unpack[StreamOptions],
    ) -> None:
        super().__init__(transport, src, dst, errors=errors, timeouts=timeouts, streams=streams, **options)
