"""Where a stream comes from: an asynchronous iterable, or a response of an HTTP client, opened already or yet to be."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, Protocol, TypeAlias, TypeGuard, cast

import anyio

from .encodings import Inflater, undoes

TURN = 64
"""Pieces after which others have their turn: what is at hand comes without a wait, and no one could leave meanwhile."""
CLOSING = 5.0
"""Seconds that a source may take to close, whatever was cancelled."""


class Headers(Protocol):
    """The fields of a head."""

    def get(self, key: str, default: str = ...) -> str | None:
        """One field, whatever its case."""
        ...

    @property
    def raw(self) -> Iterable[tuple[bytes, bytes]]:
        """All of them, as they came."""
        ...


class Response(Protocol):
    """What is used of a response of httpx or httpx2 that was asked for as a stream."""

    status_code: int

    @property
    def headers(self) -> Any:
        """The :class:`Headers`."""
        ...

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body, its content encoding undone."""
        ...

    def aiter_raw(self) -> AsyncIterator[bytes]:
        """The body as it came."""
        ...

    async def aclose(self) -> None:
        """Hang up."""
        ...


Opened: TypeAlias = AsyncIterable[Any] | Response
Source: TypeAlias = Opened | Callable[[], Awaitable[Opened]]
"""A stream, or what opens one when it is called; then opening is part of the stream, and can be cancelled with it."""


def is_response(source: object) -> TypeGuard[Response]:
    """Whether it is one. A protocol of ``typing`` would look at all that it names, with each request."""
    return hasattr(source, "aiter_raw") and hasattr(source, "status_code")


def is_open(source: Source) -> TypeGuard[Opened]:
    """Whether it is a stream, and not what opens one."""
    return isinstance(source, AsyncIterable) or is_response(source)


class Upstream:
    """An open source: iterate over it once; :meth:`aclose` ends it at any time."""

    def __init__(self, source: Opened) -> None:
        self.response: Response | None = source if is_response(source) else None
        if self.response is None and not isinstance(source, AsyncIterable):
            raise TypeError(f"a source is an asynchronous iterable or a response, not {type(source).__name__}")
        self.raw = False
        """Whether a response is given out as it came, in its content encoding."""
        self._source = source
        self._parts: list[Any] = [source]

    def __aiter__(self) -> AsyncIterator[Any]:
        source = self.response
        if source is None:
            return self._kept(aiter(cast(AsyncIterable[Any], self._source)))
        encoding = encoding_of(source)
        packed = undoes(encoding) and not self.raw
        # what is not encoded needs no one to undo it; what was read already is given out as it was read
        read = getattr(source, "is_stream_consumed", False)
        raw = self.raw or packed or (encoding == "identity" and not read)
        chunks = self._kept(source.aiter_raw() if raw else source.aiter_bytes())
        return self._kept(_inflated(chunks, encoding)) if packed else chunks

    def _kept(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """An iterator that is closed before what it iterates over."""
        if chunks is not self._parts[0]:
            self._parts.insert(0, chunks)
        return chunks

    async def aclose(self) -> None:
        """Close the iterator, then what it iterates over; also under cancellation, but not for ever."""
        raised: Exception | None = None
        for part in self._parts:
            close = getattr(part, "aclose", None)
            if close is not None:
                with anyio.move_on_after(CLOSING, shield=True):
                    try:
                        await close()
                    except Exception as error:
                        raised = raised or error
        if raised is not None:
            raise raised


def encoding_of(response: Response) -> str:
    """The content encoding that a response names."""
    return (response.headers.get("content-encoding") or "identity").strip().lower()


async def _inflated(chunks: AsyncIterator[bytes], encoding: str) -> AsyncIterator[bytes]:
    """``chunks`` with their encoding undone; where it is broken or cut short, that is said as of any other input."""
    inflater = Inflater(encoding)
    async for chunk in chunks:
        for piece in inflater.feed(chunk):
            yield piece
    inflater.close()


async def opened(source: Source) -> Upstream:
    """Open a source."""
    if is_open(source) or not callable(source):
        return Upstream(source)
    return Upstream(await source())


def size(chunk: Any) -> int:
    """The bytes of a chunk; objects have none."""
    if type(chunk) is bytes:
        return len(chunk)
    if isinstance(chunk, str):
        return len(chunk) if chunk.isascii() else len(chunk.encode("utf-8", "surrogatepass"))
    return memoryview(chunk).nbytes if isinstance(chunk, (bytes, bytearray, memoryview)) else 0
