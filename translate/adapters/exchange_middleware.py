"""A middleware for ASGI: an application that answers in one format is asked, too, by clients of others."""

from __future__ import annotations

from collections.abc import Collection
from typing import Unpack
from urllib.parse import unquote

from ..algebra.events import Failure
from ..engine.translator import Translator
from ..errors import TranslateError, UnsupportedFormat
from ..messages.exchange import Exchange
from ..registry import codec
from ._exchange_transport import ExchangeOptions
from .asgi import App, Message, Receive, Scope, Send
from .media import STREAM_HEADERS, media_type

MAX_BODY = 50 * 1024 * 1024
"""Bytes of a request, or of an answer that is no stream, at most."""


class ExchangeMiddleware:
    """Translates what clients of other formats ask of ``app``, and what it answers.

    ``app``      answers in the format ``server``
    ``clients``  formats, by the names of their codecs; their endpoints (``/v1/messages``, …) are served in place of the
                 application's own, all other paths are left to it

    A client that leaves is told to the application as ever. What cannot be asked is answered with status 400 in the
    client's words. Other options are those of :class:`translate.Exchange`. Raises :class:`UnknownFormat`,
    :class:`UnsupportedFormat`.
    """

    def __init__(
        self,
        app: App,
        clients: Collection[str],
        server: str,
        *,
        max_body: int = MAX_BODY,
        **options: Unpack[ExchangeOptions],
    ) -> None:
        self._app = app
        self._clients = [client for client in clients if client != server]
        self._server, self._options, self._max_body = server, options, max_body
        for client in self._clients:
            Exchange(client, server, **options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        client = self._client(scope)
        if client is None:
            await self._app(scope, receive, send)
            return
        exchange = Exchange(client, self._server, **self._options)
        out = _Answering(send, exchange, self._max_body)
        body = await self._body(receive)
        if body is None:
            await out.whole(*exchange.error(Failure(413, "the body is too large", "too_large")))
            return
        query = scope.get("query_string", b"").decode("latin-1")
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            target, fields, sent = exchange.request(f"{scope['path']}?{query}", headers, body)
        except TranslateError as error:
            await out.whole(*exchange.error(error))
            return
        path, _, query = target.partition("?")
        asked = {
            **scope,
            "path": unquote(path),
            "raw_path": path.encode("ascii"),
            "query_string": query.encode("ascii"),
            "headers": [*_named(fields), (b"content-length", b"%d" % len(sent))],
        }
        given = False

        async def received() -> Message:
            nonlocal given
            if not given:
                given = True
                return {"type": "http.request", "body": sent, "more_body": False}
            return await receive()

        try:
            await self._app(asked, received, out)
        except Exception as error:
            await out.fail(error)
            raise

    def _client(self, scope: Scope) -> str | None:
        """The format of who asks, where it is asked by the endpoint of one."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return None
        for client in self._clients:
            endpoint = codec(client).endpoint
            if endpoint is None:
                raise UnsupportedFormat(f"{client!r} has no endpoint")
            if endpoint.route(scope["path"]) is not None:
                return client
        return None

    async def _body(self, receive: Receive) -> bytes | None:
        pieces: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                break
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            more = message.get("more_body", False)
            if size > self._max_body:
                return None
        return b"".join(pieces)


class _Answering:
    """Takes what the application answers, and sends what the client reads."""

    def __init__(self, send: Send, exchange: Exchange, most: int) -> None:
        self._send, self._exchange, self._most = send, exchange, most
        self._status, self._fields = 502, dict[str, str]()
        self._pieces: list[bytes] = []
        self._translator: Translator[bytes] | None = None
        self._begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            pairs = message.get("headers", ())
            self._fields = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in pairs}
            kind = self._fields.get("content-type", "").partition(";")[0].strip().lower()
            if self._exchange.streams and self._status == 200 and kind in self._exchange.stream_types:
                self._translator = self._exchange.stream()
        elif message["type"] == "http.response.body":
            await self._take(message.get("body", b""), more=message.get("more_body", False))

    async def _take(self, data: bytes, *, more: bool) -> None:
        if self._translator is None:
            self._pieces.append(data)
            if sum(map(len, self._pieces)) > self._most:
                await self.whole(*self._exchange.error(Failure(502, "the answer is too large", "server")))
            elif not more:
                await self.whole(*self._exchange.answer(self._status, self._fields, b"".join(self._pieces)))
            return
        out = self._translator.feed(data) if data else []
        if not more:
            out = [*out, *self._translator.close()]
        await self._piece(b"".join(out), more=more)

    async def _piece(self, data: bytes, *, more: bool) -> None:
        if not self._begun:
            self._begun = True
            head = {**self._exchange.head(self._fields), "content-type": media_type(self._exchange.formats[1])}
            fields = [*_named(head), *STREAM_HEADERS]
            await self._send({"type": "http.response.start", "status": 200, "headers": fields})
        if data or not more:
            await self._send({"type": "http.response.body", "body": data, "more_body": more})

    async def whole(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """Send an answer of bytes, once."""
        if not self._begun:
            self._begun = True
            fields = [*_named(headers), (b"content-length", b"%d" % len(body))]
            await self._send({"type": "http.response.start", "status": status, "headers": fields})
            await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def fail(self, error: Exception) -> None:
        """The application raised: a stream ends in the client's failure, which never looks like an end."""
        if self._translator is not None and self._begun:
            await self._piece(b"".join(self._translator.fail(error)), more=False)


def _named(fields: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in fields.items()]
