"""Connections to the upstream: kept for the next request where the answer to the last one ended clean."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator

import httpx2


class Pool(httpx2.AsyncHTTPTransport):
    """Connections to one upstream, ``most`` at once; one that is idle is kept for ``seconds``.

    What an upstream says too much, a body after HEAD is enough, would be the answer to the next request: such a
    connection is closed. It never sends a request again: most are not idempotent.
    """

    def __init__(self, most: int, seconds: float, verify: ssl.SSLContext | bool = True) -> None:
        idle = most if seconds else 0
        limits = httpx2.Limits(max_connections=most, max_keepalive_connections=idle, keepalive_expiry=seconds)
        super().__init__(limits=limits, trust_env=False, verify=verify)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, and return its answer, open."""
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Body(response.stream, response)
        return response


class _Body(httpx2.AsyncByteStream):
    """A body that, when all of it was read, has nothing of its connection left."""

    def __init__(self, stream: httpx2.AsyncByteStream, response: httpx2.Response) -> None:
        self._stream = stream
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            yield piece
        if said_too_much(self._stream):
            await self._response.extensions["network_stream"].aclose()

    async def aclose(self) -> None:
        await self._stream.aclose()


def said_too_much(stream: object) -> bool:
    """Whether more has come on the connection of a body that was read to its end; also where that cannot be known.

    Neither httpx2 nor httpcore2 tell: these names are their own. Without them no connection is kept.
    """
    found: object = stream
    for name in ("_httpcore_stream", "_stream", "_connection", "_h11_state", "trailing_data"):
        found = getattr(found, name, None)
    return not isinstance(found, tuple) or bool(found[0])
