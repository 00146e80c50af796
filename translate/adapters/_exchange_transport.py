"""What the exchanging transports for httpx and httpx2 share: a client of one format asks a server of another."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar, Unpack
from urllib.parse import urlsplit

from ..algebra.events import Failure
from ..engine.streams import AsyncStream, Stream
from ..errors import TranslateError
from ..limits import Limits
from ..messages.capability import Seal
from ..messages.endpoint import without_key
from ..messages.exchange import Exchange, Models
from ..messages.profiles import ProfileOption
from ..registry import codec
from ._transport import Above, AsyncBody, AsyncSource, Body, Source
from .fields import OF_BYTES
from .media import media_type

Below = TypeVar("Below")
Q = TypeVar("Q")
R = TypeVar("R")


class Refusal(NamedTuple):
    """What is answered without the server."""

    status: int
    headers: dict[str, str]
    content: bytes


class ExchangeOptions(TypedDict, total=False):
    """The options of :class:`translate.Exchange`."""

    profile: ProfileOption | None
    model_map: Models | None
    seal: Seal
    refuse: Any
    strict: bool
    limits: Limits | None


class Exchanging(Above, Generic[Below, Q, R]):
    """A transport of clients, asynchronous and not: their library asks in ``client``, the server answers in ``server``.

    ``transport``  the transport below, such as the library's own ``HTTPTransport()``; it is closed with this one
    ``client``, ``server``  formats, by the names of their codecs
    ``upstream``   the server, ``http(s)://host[:port][/path]``: where the client believes to ask is of no matter
    ``key``        what the server is sent in place of the client's key

    Requests, whole answers, streams and errors are translated; what cannot be asked is answered with status 400, as
    the client's own server would. Paths that ask no model are answered with 404. Other options are those of
    :class:`translate.Exchange`.
    """

    bodies: tuple[type[AsyncBody], type[Body]]
    """Both bodies, as classes of the library."""

    def __init__(
        self,
        transport: Below,
        client: str,
        server: str,
        *,
        upstream: str,
        key: str | None = None,
        **options: Unpack[ExchangeOptions],
    ) -> None:
        self._transport = transport
        self._formats = client, server
        self._upstream, self._key, self._options = upstream.rstrip("/"), key, options
        if urlsplit(upstream).scheme not in ("http", "https"):
            raise ValueError("an upstream is http(s)://host[:port][/path]")
        self._exchange()

    @abstractmethod
    def _asked(self, url: str, headers: Any, content: bytes, extensions: Any) -> Q:
        """A request of the library."""

    @abstractmethod
    def _made(self, status: int, headers: Any, body: Any, extensions: Any) -> R:
        """An answer of the library, of a stream."""

    @abstractmethod
    def _whole(self, status: int, headers: Any, content: bytes) -> R:
        """An answer of the library, of bytes."""

    def handle_request(self, request: Q) -> R:
        """Send a request, translated, and return the answer, translated."""
        asked: Any = request
        exchange = self._exchange()
        below = self._request(exchange, asked, asked.read())
        if isinstance(below, Refusal):
            return self._whole(*below)
        response = self._transport.handle_request(below)
        if self._is_stream(exchange, response):
            source = Source(response, ())
            return self._answer(exchange, response, self.bodies[1](Stream(source, exchange.stream()), source))
        try:
            data = response.read()
        finally:
            response.close()
        return self._whole(*exchange.answer(response.status_code, dict(response.headers), data))

    async def handle_async_request(self, request: Q) -> R:
        """As :meth:`handle_request`, for an asynchronous client."""
        asked: Any = request
        exchange = self._exchange()
        below = self._request(exchange, asked, await asked.aread())
        if isinstance(below, Refusal):
            return self._whole(*below)
        response = await self._transport.handle_async_request(below)
        if self._is_stream(exchange, response):
            source = AsyncSource(response, ())
            return self._answer(exchange, response, self.bodies[0](AsyncStream(source, exchange.stream()), source))
        try:
            data = await response.aread()
        finally:
            await response.aclose()
        return self._whole(*exchange.answer(response.status_code, dict(response.headers), data))

    def _exchange(self) -> Exchange:
        return Exchange(*self._formats, hidden=[self._upstream, urlsplit(self._upstream).netloc], **self._options)

    def _request(self, exchange: Exchange, request: Any, body: bytes) -> Q | Refusal:
        """The request to the server; or what is answered without it."""
        path = request.url.raw_path.decode("ascii")
        endpoint = codec(self._formats[0]).endpoint
        if endpoint is None or request.method != "POST" or not self._asks(path):
            failure = Failure(404, "nothing is here but the models: they are asked by POST", "not_found")
            return Refusal(*exchange.error(failure))
        try:
            target, fields, sent = exchange.request(
                self._asks(path) or "", dict(request.headers), body, key=self._key
            )
        except TranslateError as error:
            return Refusal(*exchange.error(error))
        first = "/" + target.lstrip("/").partition("/")[0]
        base = self._upstream.removesuffix(first)
        extensions = {name: value for name, value in request.extensions.items() if name != "target"}
        return self._asked(base + target, fields, sent, extensions)

    def _asks(self, path: str) -> str | None:
        """The path of the client's endpoint that a path ends with: its base may have one of its own."""
        endpoint = codec(self._formats[0]).endpoint
        assert endpoint is not None
        path = without_key(path)
        while path:
            if endpoint.route(path) is not None:
                return path
            if endpoint.route("/v1" + path) is not None:
                return "/v1" + path
            _, slash, rest = path[1:].partition("/")
            path = slash + rest
        return None

    def _is_stream(self, exchange: Exchange, response: Any) -> bool:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return exchange.streams and response.status_code == 200 and kind in exchange.stream_types

    def _answer(self, exchange: Exchange, response: Any, body: AsyncBody | Body) -> R:
        headers = {**exchange.head(dict(response.headers)), "content-type": media_type(exchange.formats[1])}
        for name in OF_BYTES:
            headers.pop(name.decode(), None)
        return self._made(response.status_code, headers, body, response.extensions)
