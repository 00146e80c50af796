"""The two skins of the core: an iterator and an asynchronous iterator that pull, translate, and close their source."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from types import TracebackType
from typing import Any, Generic, TypeVar

import anyio

from ..errors import MisuseError, TruncatedStream, shown
from ..shapes import LONG
from .translator import Machine

T = TypeVar("T")


class _Output(Generic[T]):
    """Output that is ready, and the error that follows it.

    Bytes of one step are given out as one, unless they are long.
    """

    def __init__(self, source: Any, machine: Machine) -> None:
        self._machine = machine
        self._ready: deque[T] = deque()
        self._to_close: list[Any] = [source]
        self._done = False
        self._busy = False
        self._cut: TruncatedStream | None = None

    @property
    def failure(self) -> Exception | None:
        """What the failure unit that ended the output stands for, under ``errors="encode"``; ``None`` without one."""
        return self._machine.failure

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._machine.progress()}{', closed' if self._done else ''}>"

    def _add(self, out: list[Any]) -> None:
        if self._machine.joined and len(out) > 1 and sum(map(len, out)) <= LONG:
            self._ready.append(b"".join(out))  # type: ignore[arg-type]
        else:
            self._ready.extend(out)

    def _begin(self) -> None:
        """A step begins, and is the only one."""
        if self._busy:
            raise MisuseError("a step of the output within another, or beside it", expected="one step at a time")
        self._busy = True

    def _give(self, end: type[Exception]) -> T:
        """What comes next of an output that may be done, or its end."""
        if self._ready:
            return self._ready.popleft()
        if self._cut is not None:
            raise self._cut
        error, self._machine.error = self._machine.error, None
        raise error if error is not None else end

    def _drop(self, broke: BaseException | None = None) -> None:
        """Give out nothing more; ``broke``: what broke a step off."""
        self._done = True
        self._ready.clear()
        self._machine.error = None
        self._cut = None
        if broke is not None and not isinstance(broke, Exception):
            # what comes next must not look like the end of a whole stream
            how = type(broke).__name__
            self._cut = TruncatedStream(f"a step of the output was broken off ({how}), and its source closed")

    def _opened(self, chunks: Any) -> None:
        if chunks is not self._to_close[0]:
            self._to_close.insert(0, chunks)

    def _parts(self) -> list[Any]:
        """What is to be closed: the iterator, then what it iterates over, each once."""
        parts, self._to_close = self._to_close, []
        return parts

    def _keep(self, fault: Exception) -> None:
        """An error of closing: it comes after the output that is ready, and behind the stream's own error."""
        if self._machine.error is None:
            self._machine.error = fault
        else:
            _beside(self._machine.error, fault)


def _beside(error: BaseException, fault: BaseException) -> None:
    error.add_note(f"closing the source failed, too: {shown(fault)}")


def _first(faults: list[BaseException]) -> None:
    """Raise the first of what went wrong, which tells of the others."""
    if faults:
        for other in faults[1:]:
            _beside(faults[0], other)
        raise faults[0]


class Stream(_Output[T]):
    """The output of a conversion: an iterator. Use it as a context manager, or :meth:`close` it, to end early.

    Input is pulled only when output is asked for and none is ready. The source is closed as soon as it is not needed:
    when the output ends, fails or is closed, also before the first unit.

    One step is taken at a time: a second one, of a source that asks its own output or of another thread, raises
    :class:`MisuseError`, and the first goes on. After a step that was broken off (``KeyboardInterrupt``), each next one
    raises :class:`TruncatedStream`, until the output is closed.
    """

    def __init__(self, source: Iterable[Any], machine: Machine) -> None:
        super().__init__(source, machine)
        self._source = source
        self._chunks: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        if self._ready and not self._busy:
            return self._ready.popleft()
        self._begin()
        try:
            while not (self._ready or self._done):
                self._step()
        finally:
            self._busy = False
        return self._give(StopIteration)

    def _step(self) -> None:
        try:
            self._add(self._pull())
        except BaseException as error:
            self._drop(error)
            try:
                self._close_source()
            except Exception as fault:
                _beside(error, fault)
            raise
        if self._machine.finished:
            self._done = True
            try:
                self._close_source()
            except Exception as fault:
                self._keep(fault)

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
        self._close_source()

    def _close_source(self) -> None:
        faults: list[BaseException] = []
        for part in self._parts():
            try:
                close = getattr(part, "close", None)
                if close is not None:
                    close()
            except BaseException as fault:
                faults.append(fault)
        _first(faults)

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncStream(_Output[T]):
    """The output of an asynchronous conversion: as :class:`Stream`, with :meth:`aclose`.

    On cancellation the source is closed, under a shield, before the cancellation goes on; what comes next is
    :class:`TruncatedStream`. A step that takes too long is therefore waited for in a task of its own, not cancelled.
    """

    def __init__(self, source: AsyncIterable[Any], machine: Machine) -> None:
        super().__init__(source, machine)
        self._source = source
        self._chunks: AsyncIterator[Any] | None = None

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        if self._ready and not self._busy:
            return self._ready.popleft()
        self._begin()
        try:
            while not (self._ready or self._done):
                await self._step()
        finally:
            self._busy = False
        return self._give(StopAsyncIteration)

    async def _step(self) -> None:
        try:
            self._add(await self._pull())
        except BaseException as error:
            self._drop(error)
            try:
                await self._close_source()
            except Exception as fault:
                _beside(error, fault)
            raise
        if self._machine.finished:
            self._done = True
            try:
                await self._close_source()
            except Exception as fault:
                self._keep(fault)

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
        await self._close_source()

    async def _close_source(self) -> None:
        faults: list[BaseException] = []
        with anyio.CancelScope(shield=True):
            for part in self._parts():
                try:
                    close = getattr(part, "aclose", None)
                    if close is not None:
                        await close()
                except BaseException as fault:
                    faults.append(fault)
        _first(faults)

    async def __aenter__(self) -> AsyncStream[T]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()
