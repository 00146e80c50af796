"""The two skins of the core: an iterator and an asynchronous iterator that pull, translate, and close their source."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from types import TracebackType
from typing import Any, Generic, TypeVar

import anyio

from .translator import Machine

T = TypeVar("T")


class _Output(Generic[T]):
    """Output that is ready, and the error that follows it. Bytes of one step are given out as one."""

    def __init__(self, source: Any, machine: Machine) -> None:
        self._machine = machine
        self._ready: deque[T] = deque()
        self._to_close: list[Any] = [source]
        self._done = False

    @property
    def failure(self) -> Exception | None:
        """What the failure unit that ended the output stands for, under ``errors="encode"``; ``None`` without one."""
        return self._machine.failure

    def _add(self, out: list[Any]) -> None:
        if self._machine.joined and len(out) > 1:
            self._ready.append(b"".join(out))  # type: ignore[arg-type]
        else:
            self._ready.extend(out)

    def _drop(self) -> None:
        self._done = True
        self._ready.clear()

    def _opened(self, chunks: Any) -> None:
        if chunks is not self._to_close[0]:
            self._to_close.insert(0, chunks)

    def _parts(self) -> list[Any]:
        """What is to be closed: the iterator, then what it iterates over, each once."""
        parts, self._to_close = self._to_close, []
        return parts

    def _raise_kept(self) -> None:
        """Raise, once, the error that was met after the output that has been given out."""
        error, self._machine.error = self._machine.error, None
        if error is not None:
            raise error


class Stream(_Output[T]):
    """The output of a conversion: an iterator. Use it as a context manager, or :meth:`close` it, to end early.

    Input is pulled only when output is asked for and none is ready. The source is closed as soon as it is not needed:
    when the output ends, fails or is closed, also before the first unit.
    """

    def __init__(self, source: Iterable[Any], machine: Machine) -> None:
        super().__init__(source, machine)
        self._source = source
        self._chunks: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        while not self._ready:
            if self._done:
                self._raise_kept()
                raise StopIteration
            try:
                self._add(self._pull())
            except BaseException:
                self._machine.error = None
                self.close()
                raise
            if self._machine.finished:
                self._done = True
                try:
                    self._close_source()
                except Exception as error:
                    # what is ready comes first
                    self._machine.error = self._machine.error or error
        return self._ready.popleft()

    def _pull(self) -> list[Any]:
        try:
            if self._chunks is None:
                self._chunks = iter(self._source)
                self._opened(self._chunks)
            chunk = next(self._chunks)
        except StopIteration:
            return self._machine.close()
        except Exception as error:
            return self._machine.fail(error)
        return self._machine.feed(chunk)

    def close(self) -> None:
        """End now: nothing more is given out, and the source is closed."""
        self._drop()
        self._machine.error = None
        self._close_source()

    def _close_source(self) -> None:
        for part in self._parts():
            close = getattr(part, "close", None)
            if close is not None:
                close()

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncStream(_Output[T]):
    """The output of an asynchronous conversion: as :class:`Stream`, with :meth:`aclose`.

    On cancellation the source is closed, under a shield, before the cancellation goes on.
    """

    def __init__(self, source: AsyncIterable[Any], machine: Machine) -> None:
        super().__init__(source, machine)
        self._source = source
        self._chunks: AsyncIterator[Any] | None = None

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        while not self._ready:
            if self._done:
                self._raise_kept()
                raise StopAsyncIteration
            try:
                self._add(await self._pull())
            except BaseException:
                self._machine.error = None
                await self.aclose()
                raise
            if self._machine.finished:
                self._done = True
                try:
                    await self._close_source()
                except Exception as error:
                    self._machine.error = self._machine.error or error
        return self._ready.popleft()

    async def _pull(self) -> list[Any]:
        try:
            if self._chunks is None:
                self._chunks = aiter(self._source)
                self._opened(self._chunks)
            chunk = await anext(self._chunks)
        except StopAsyncIteration:
            return self._machine.close()
        except Exception as error:
            return self._machine.fail(error)
        return self._machine.feed(chunk)

    async def aclose(self) -> None:
        """End now: nothing more is given out, and the source is closed."""
        self._drop()
        self._machine.error = None
        await self._close_source()

    async def _close_source(self) -> None:
        with anyio.CancelScope(shield=True):
            for part in self._parts():
                close = getattr(part, "aclose", None)
                if close is not None:
                    await close()

    async def __aenter__(self) -> AsyncStream[T]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()
