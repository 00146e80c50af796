"""What the transports for httpx and httpx2 share. Both libraries have the same classes; these stand beside them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar, Unpack

from ..carry.losses import ErrorPolicy
from ..engine.streams import AsyncStream, Stream
from ..engine.translator import Translator
from .fields import OF_BYTES
from .media import IsStream, Recognition, media_type
from .options import StreamOptions
from .upstream import Upstream


class AsyncBody:
    """The body of a translated answer. Where its ``source`` has raised, so does it."""

    def __init__(self, stream: AsyncStream[bytes], source: AsyncSource) -> None:
        self._stream = stream
        self._source = source

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._stream:
            if self._source.raised is not None:
                break
            yield data
        if self._source.raised is not None:
            raise self._source.raised

    async def aclose(self) -> None:
        """Hang up."""
        await self._stream.aclose()


class Body:
    """As :class:`AsyncBody`, of a synchronous client."""

    def __init__(self, stream: Stream[bytes], source: Source) -> None:
        self._stream = stream
        self._source = source

    def __iter__(self) -> Iterator[bytes]:
        for data in self._stream:
            if self._source.raised is not None:
                break
            yield data
        if self._source.raised is not None:
            raise self._source.raised

    def close(self) -> None:
        """Hang up."""
        self._stream.close()


class AsyncSource:
    """A response, with its content encoding undone. Of what it raises it keeps what is of ``keeps``: the client's own
    concern, and none of the stream's.
    """

    def __init__(self, response: Any, keeps: type[Exception] | tuple[()]) -> None:
        self.raised: Exception | None = None
        self._upstream = Upstream(response)
        self._keeps = keeps

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._upstream:
                yield data
        except self._keeps as error:
            self.raised = error
            raise

    async def aclose(self) -> None:
        await self._upstream.aclose()


class Source:
    """As :class:`AsyncSource`, of a synchronous client."""

    def __init__(self, response: Any, keeps: type[Exception] | tuple[()]) -> None:
        self.raised: Exception | None = None
        self._response = response
        self._keeps = keeps

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._response.iter_bytes()
        except self._keeps as error:
            self.raised = error
            raise

    def close(self) -> None:
        self._response.close()


class Asked(Protocol):
    """What is used of a request."""

    method: str


class Answered(Protocol):
    """What is used of an answer."""

    status_code: int

    @property
    def headers(self) -> Any:
        """Its fields."""
        ...


Below = TypeVar("Below")
Q = TypeVar("Q", bound=Asked)
R = TypeVar("R", bound=Answered)


class Above:
    """Stands above another transport, and is entered and closed with it."""

    _transport: Any

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        # that closes it
        await self._transport.__aexit__(exc_type, exc_value, traceback)

    def __enter__(self) -> Self:
        self._transport.__enter__()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self._transport.__exit__(exc_type, exc_value, traceback)

    async def aclose(self) -> None:
        """Close the transport below."""
        await self._transport.aclose()

    def close(self) -> None:
        """Close the transport below."""
        self._transport.close()


class Transport(Above, Generic[Below, Q, R]):
    """A transport of clients, asynchronous and not, whose servers stream ``src`` where the client reads ``dst``.

    ``transport``  the transport below, such as the library's own ``AsyncHTTPTransport()``; it is closed with this one
    ``errors``     ``"encode"``: a stream that fails ends in the failure unit of ``dst``; ``"raise"``: reading its body
                   raises the error
    ``timeouts``   the same of the client's own time-outs: by default they are raised
    ``streams``    says which answers are streams: see :class:`translate.adapters.StreamResponse`

    All other answers are untouched, and so are requests and answers to ``HEAD``. Content encodings that the library
    knows are undone. Closing a response closes the one below. Other options are those of :func:`translate.convert`.
    Raises ``ValueError`` where ``dst`` is a format of objects.
    """

    timeout: type[Exception]
    """What the library raises where a wait takes too long."""
    bodies: tuple[type[AsyncBody], type[Body]]
    """Both bodies, as classes of the library."""

    def __init__(
        self,
        transport: Below,
        src: str,
        dst: str,
        *,
        errors: ErrorPolicy = "encode",
        timeouts: ErrorPolicy = "raise",
        streams: IsStream | None = None,
        **options: Unpack[StreamOptions],
    ) -> None:
        self._transport = transport
        self._formats = src, dst
        self._type = media_type(dst)
        self._recognition = Recognition(src, streams)
        self._errors: ErrorPolicy = errors
        self._keeps: type[Exception] | tuple[()] = self.timeout if timeouts == "raise" else ()
        self._options = options
        self._translator()

    @abstractmethod
    def _made(self, status: int, headers: Any, body: Any, extensions: Any) -> R:
        """An answer of the library."""

    async def handle_async_request(self, request: Q) -> R:
        """Send a request, and return the answer, translated."""
        response: R = await self._transport.handle_async_request(request)
        if not self._is_stream(request, response):
            return response
        source = AsyncSource(response, self._keeps)
        return self._answer(response, self.bodies[0](AsyncStream(source, self._translator()), source))

    def handle_request(self, request: Q) -> R:
        """As :meth:`handle_async_request`, for a synchronous client."""
        response: R = self._transport.handle_request(request)
        if not self._is_stream(request, response):
            return response
        source = Source(response, self._keeps)
        return self._answer(response, self.bodies[1](Stream(source, self._translator()), source))

    def _is_stream(self, request: Q, response: R) -> bool:
        if request.method == "HEAD":
            return False
        return self._recognition(response.status_code, response.headers.get("content-type"))

    def _translator(self) -> Translator:
        return Translator(*self._formats, errors=self._errors, **self._options)

    def _answer(self, response: Any, body: AsyncBody | Body) -> R:
        headers = response.headers.copy()
        for name in OF_BYTES:
            headers.pop(name.decode(), None)
        headers["content-type"] = self._type
        return self._made(response.status_code, headers, body, response.extensions)
