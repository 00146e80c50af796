"""A transport for httpx2: a client of one format talks to a server of another. Needs httpx2."""

from __future__ import annotations

from typing import Any

import httpx2

from . import _exchange_transport, _transport


class _AsyncBody(_transport.AsyncBody, httpx2.AsyncByteStream):
    """The body of a translated answer."""


class _Body(_transport.Body, httpx2.SyncByteStream):
    """As above, of a synchronous client."""


class TranslateTransport(
    _transport.Transport[httpx2.AsyncBaseTransport | httpx2.BaseTransport, httpx2.Request, httpx2.Response],
    httpx2.AsyncBaseTransport,
    httpx2.BaseTransport,
):
    """A transport of clients of this library: see :class:`translate.adapters._transport.Transport`."""

    timeout = httpx2.TimeoutException
    bodies = (_AsyncBody, _Body)

    def _made(self, status: int, headers: Any, body: Any, extensions: Any) -> httpx2.Response:
        return httpx2.Response(status, headers=headers, stream=body, extensions=extensions)


class ExchangeTransport(
    _exchange_transport.Exchanging[httpx2.AsyncBaseTransport | httpx2.BaseTransport, httpx2.Request, httpx2.Response],
    httpx2.AsyncBaseTransport,
    httpx2.BaseTransport,
):
    """As :class:`TranslateTransport`, and requests are translated too: an application keeps its library.

    See :class:`translate.adapters._exchange_transport.Exchanging`.
    """

    bodies = (_AsyncBody, _Body)

    def _asked(self, url: str, headers: Any, content: bytes, extensions: Any) -> httpx2.Request:
        return httpx2.Request("POST", url, headers=headers, content=content, extensions=extensions)

    def _made(self, status: int, headers: Any, body: Any, extensions: Any) -> httpx2.Response:
        return httpx2.Response(status, headers=headers, stream=body, extensions=extensions)

    def _whole(self, status: int, headers: Any, content: bytes) -> httpx2.Response:
        return httpx2.Response(status, headers=headers, content=content)
