"""Connections to the upstream: kept for the next request where the answer to the last one ended clean."""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncIterator

import httpx2

MOST = 64 * 1024
"""Bytes from which on a piece is taken as it is."""
_CHUNK = re.compile(rb"\r\n0*[1-9a-fA-F][0-9a-fA-F]*(?:;[^\r\n]*)?\r\n.", re.S)
"""The end of a chunk, and the begin of another that is not the last."""


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
    """A body, whose chunks that came together are one piece: to translate and write them one by one takes far longer.

    When all of it was read, nothing of its connection is left.
    """

    def __init__(self, stream: httpx2.AsyncByteStream, response: httpx2.Response) -> None:
        self._stream = stream
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pieces: list[bytes] = []
        size, h11 = 0, h11_of(self._stream)
        try:
            async for piece in self._stream:
                pieces.append(piece)
                size += len(piece)
                if size >= MOST or not at_hand(h11):
                    data, pieces, size = b"".join(pieces), [], 0
                    yield data
        except Exception:
            if pieces:
                yield b"".join(pieces)
            raise
        if said_too_much(h11):
            await self._response.extensions["network_stream"].aclose()

    async def aclose(self) -> None:
        await self._stream.aclose()


def h11_of(stream: object) -> object:
    """The state of the connection of a body that is open; ``None`` where it cannot be found.

    Neither httpx2 nor httpcore2 tell: these names are their own. Without them no connection is kept, and each chunk is
    a piece.
    """
    found: object = stream
    for name in ("_httpcore_stream", "_stream", "_connection", "_h11_state"):
        found = getattr(found, name, None)
    return found


def said_too_much(h11: object) -> bool:
    """Whether more has come on the connection of a body that was read to its end; also where that cannot be known."""
    data = _unread(h11)
    return data is None or bool(data)


def at_hand(h11: object) -> bool:
    """Whether a chunk of the body follows that can be read without a wait, if not all of it is there."""
    data = _unread(h11)
    return data is not None and _CHUNK.match(data) is not None


def _unread(h11: object) -> bytes | None:
    found = getattr(h11, "trailing_data", None)
    return found[0] if isinstance(found, tuple) else None
