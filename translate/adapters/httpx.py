"""A transport for httpx: a client of one format talks to a server of another. Needs httpx."""

from __future__ import annotations

from typing import Any

import httpx

from . import _exchange_transport, _transport


class _AsyncBody(_transport.AsyncBody, httpx.AsyncByteStream):
    """The body of a translated answer."""


class _Body(_transport.Body, httpx.SyncByteStream):
    """As above, of a synchronous client."""


class TranslateTransport(
    _transport.Transport[httpx.AsyncBaseTransport | httpx.BaseTransport, httpx.Request, httpx.Response],
    httpx.AsyncBaseTransport,
    httpx.BaseTransport,
):
    """A transport of clients of this library: see :class:`translate.adapters._transport.Transport`."""

    timeout = httpx.TimeoutException
    bodies = (_AsyncBody, _Body)

    def _made(self, status: int, headers: Any, body: Any, extensions: Any) -> httpx.Response:
        return httpx.Response(status, headers=headers, stream=body, extensions=extensions)


class ExchangeTransport(
    _exchange_transport.Exchanging[httpx.AsyncBaseTransport | httpx.BaseTransport, httpx.Request, httpx.Response],
    httpx.AsyncBaseTransport,
    httpx.BaseTransport,
):
    """As :class:`TranslateTransport`, and requests are translated too: an application keeps its library.

    See :class:`translate.adapters._exchange_transport.Exchanging`.
    """

    bodies = (_AsyncBody, _Body)

    def _asked(self, url: str, headers: Any, content: bytes, extensions: Any) -> httpx.Request:
        return httpx.Request("POST", url, headers=headers, content=content, extensions=extensions)

    def _made(self, status: int, headers: Any, body: Any, extensions: Any) -> httpx.Response:
        return httpx.Response(status, headers=headers, stream=body, extensions=extensions)

    def _whole(self, status: int, headers: Any, content: bytes) -> httpx.Response:
        return httpx.Response(status, headers=headers, content=content)
