"""Where a stream comes from: an asynchronous iterable, or a response of an HTTP client, opened already or yet to be."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, Protocol, TypeAlias, runtime_checkable

import anyio

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


@runtime_checkable
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


class Upstream:
    """An open source: iterate over it once; :meth:`aclose` ends it at any time."""

    def __init__(self, source: Opened) -> None:
        self.response = source if isinstance(source, Response) else None
        if self.response is None and not isinstance(source, AsyncIterable):
            raise TypeError(f"a source is an asynchronous iterable or a response, not {type(source).__name__}")
        self.raw = False
        """Whether a response is given out as it came, in its content encoding."""
        self._source = source
        self._chunks: AsyncIterator[Any] | None = None
        self._lock = anyio.Lock()
        self._closed = False

    def __aiter__(self) -> AsyncIterator[Any]:
        source = self._source
        if isinstance(source, Response):
            self._chunks = source.aiter_raw() if self.raw else source.aiter_bytes()
        else:
            self._chunks = aiter(source)
        return self._chunks

    async def aclose(self) -> None:
        """Close the iterator, then what it iterates over; also under cancellation, but not for ever. Once: who comes
        later waits until it is done.
        """
        parts = [self._chunks, self._source] if self._chunks is not self._source else [self._source]
        with anyio.move_on_after(CLOSING, shield=True):
            async with self._lock:
                if self._closed:
                    return
                self._closed = True
                for part in parts:
                    close = getattr(part, "aclose", None)
                    if close is not None:
                        await close()


async def opened(source: Source) -> Upstream:
    """Open a source."""
    if isinstance(source, (AsyncIterable, Response)) or not callable(source):
        return Upstream(source)
    return Upstream(await source())
