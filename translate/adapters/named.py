"""A translated stream as named events, for frameworks that lay out server-sent events themselves."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import Any, Generic, NamedTuple, TypeVar, Unpack, overload

from ..engine.streams import AsyncStream
from ..engine.translator import Translator
from ..registry import resolve
from ..shapes import EVENT_STREAM
from .options import StreamOptions
from .upstream import Source, Upstream, opened

T = TypeVar("T")


class NamedEvent(NamedTuple):
    """One block of an event stream; the members are those that frameworks have words for, ``None`` where it has none.

    ``data``: its data, one line of text. ``event``: its name. ``comment``: the comment at its head, without the colon
    and the space: the carry, or a keep-alive. A block may be a comment alone.
    """

    data: str | None = None
    event: str | None = None
    comment: str | None = None


def blocks(stream: bytes) -> Iterator[NamedEvent]:
    """The blocks of an event stream as this library writes it: whole, one line for each of their members."""
    for block in stream.decode().split("\n\n")[:-1]:
        found: dict[str, str] = {}
        for line in block.split("\n"):
            field, _, value = line.partition(": ")
            found[field or "comment"] = value
        yield NamedEvent(**found)


class NamedEvents(Generic[T]):
    """The events of a stream: an asynchronous iterable, to be iterated over once."""

    def __init__(self, source: Source, translator: Translator, make: Callable[..., T]) -> None:
        self._stream = AsyncStream[bytes](_Unopened(source), translator)
        self._make = make
        self._events = self._all()

    @property
    def failure(self) -> Exception | None:
        """What the failure unit that ended the stream stands for; ``None`` without one."""
        return self._stream.failure

    def __aiter__(self) -> AsyncIterator[T]:
        # a generator: frameworks drop what they iterate over, and a loop closes what was dropped
        return self._events

    async def _all(self) -> AsyncGenerator[T, None]:
        async with self._stream as stream:
            async for data in stream:
                for event in blocks(data):
                    yield self._make(**event._asdict())

    async def aclose(self) -> None:
        """End now: the source is closed."""
        await self._events.aclose()
        await self._stream.aclose()

    async def __aenter__(self) -> NamedEvents[T]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()


class _Unopened:
    """A source that is opened when it is first asked for something."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._upstream: Upstream | None = None
        self._chunks: AsyncIterator[Any] | None = None

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        if self._chunks is None:
            self._upstream = await opened(self._source)
            self._chunks = aiter(self._upstream)
        return await anext(self._chunks)

    async def aclose(self) -> None:
        """Close it; one that would have been opened only now has nothing to close."""
        if self._upstream is None and hasattr(self._source, "aclose"):
            self._upstream = await opened(self._source)
        if self._upstream is not None:
            await self._upstream.aclose()


@overload
def named_events(source: Source, src: str, dst: str, **options: Unpack[StreamOptions]) -> NamedEvents[NamedEvent]: ...
@overload
def named_events(
    source: Source, src: str, dst: str, *, make: Callable[..., T], **options: Unpack[StreamOptions]
) -> NamedEvents[T]: ...
def named_events(
    source: Source, src: str, dst: str, *, make: Callable[..., Any] = NamedEvent, **options: Unpack[StreamOptions]
) -> NamedEvents[Any]:
    """Translate a stream into events for a framework that lays them out, and sends keep-alives, itself.

    ``dst`` is a format of server-sent events. ``make`` makes an event of the keywords ``data``, ``event`` and
    ``comment``: ``sse_starlette.ServerSentEvent`` as it is, or for FastAPI
    ``lambda data, event, comment: ServerSentEvent(raw_data=data, event=event, comment=comment)``. The carry is the
    comment of its event; a framework that has no place for comments writes the native stream alone.

    Whatever fails, the events end in the target's failure unit, and ``failure`` is why. Input is pulled when an event
    is asked for; when the iteration ends, is cancelled or dropped, the source is closed. ``source`` and options are
    those of :func:`translate.adapters.relay`. Raises ``ValueError`` for a ``dst`` of another shape.
    """
    if tuple(resolve(dst)[1].media_types) != EVENT_STREAM:
        raise ValueError(f"named events are of a format of server-sent events, and {dst!r} is none")
    return NamedEvents(source, Translator(src, dst, errors="encode", **options), make)
