"""ASGI middleware that translates the event streams of the application it wraps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Unpack

from ..errors import TranslateError
from ..registry import resolve
from .asgi import PING, Answer, App, Fields, Message, Receive, Scope, Send
from .encodings import Inflater, undoes
from .media import PARAMETER, STREAM_HEADERS, chosen, is_stream, media_type
from .observe import Observer
from .options import StreamOptions, Timeouts
from .output import SinkError
from .pump import Pump

_VARY = (b"vary", b"accept")
_UNSEEN = ("http.response.pathsend", "http.response.zerocopysend")
_REPLACED = frozenset((b"content-type", b"content-length", b"content-encoding", *(name for name, _ in STREAM_HEADERS)))


class TranslateMiddleware:
    """Translates answers of ``app`` that are streams of format ``src``; all else passes through untouched.

    ``dst``       the format they become; or several that are offered beside ``src``: then the field ``Accept`` of a
                  request chooses, by a media type or by its parameter ``format``
                  (``text/event-stream;format=gateway-sse``), and an answer to one that asks for none stays as it is
    ``paths``     the paths whose answers are looked at: a collection of them, or a function of a path, such as
                  ``re.compile("/v1/.*").fullmatch``; default: all

    ``ping``, ``timeouts``, ``observer`` and the options of conversion are those of
    :class:`translate.adapters.StreamResponse`. An answer is a stream where its status is 200 and its media type that
    of ``src``; gzip and deflate are undone, and a stream in another encoding passes as it is. A stream that fails
    before its first unit becomes an HTTP status, a later failure the failure unit of the target; where ``app`` itself
    raised, the exception then goes on to the server. The application is held while the server takes no output, and
    cancelled when its stream has failed or timed out.
    """

    def __init__(
        self,
        app: App,
        src: str,
        dst: str | Sequence[str],
        *,
        paths: Collection[str] | Callable[[str], Any] | None = None,
        ping: float | None = PING,
        timeouts: Timeouts | None = None,
        observer: Observer | None = None,
        **options: Unpack[StreamOptions],
    ) -> None:
        resolve(src)
        self._app = app
        self._src = src
        self._dst = dst if isinstance(dst, str) else tuple(dst)
        for format in (dst,) if isinstance(dst, str) else dst:
            media_type(format)
        self._looks_at = paths if callable(paths) else paths.__contains__ if paths is not None else lambda path: True
        self._options = options
        self._pump_options: dict[str, Any] = {"ping": ping, "timeouts": timeouts}
        self._observers = [observer] if observer is not None else []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http" or not self._looks_at(scope["path"]):
            await self._app(scope, receive, send)
            return
        dst = self._target(scope)
        answer = _Untouched(send, vary=not isinstance(self._dst, str)) if dst is None else self._answer(send, dst)
        await answer.run(self._app, scope, receive)

    def _answer(self, send: Send, dst: str) -> _Translated:
        def pump(answer: Answer) -> Pump:
            return Pump(
                self._src,
                dst,
                answer.write,
                refuse=lambda error: answer.refuse(error, dst),
                observers=self._observers,
                **self._pump_options,
                **self._options,
            )

        return _Translated(send, self._src, dst, pump, negotiated=not isinstance(self._dst, str))

    def _target(self, scope: Scope) -> str | None:
        if isinstance(self._dst, str):
            return self._dst
        accept = b",".join(value for name, value in scope["headers"] if name == b"accept")
        return chosen(accept.decode("latin-1"), self._dst, self._src)


class _Untouched:
    """An answer that no one wants translated; that someone might is said in its head."""

    def __init__(self, send: Send, *, vary: bool) -> None:
        self._send = send
        self._vary = vary

    async def run(self, app: App, scope: Scope, receive: Receive) -> None:
        """Run the application."""
        await app(scope, receive, self._pass if self._vary else self._send)

    async def _pass(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), _VARY]}
        await self._send(message)


class _Translated:
    """An answer that is translated if it turns out to be a stream."""

    def __init__(
        self, send: Send, src: str, dst: str, pump: Callable[[Answer], Pump], *, negotiated: bool
    ) -> None:
        self._send = send
        self._src = src
        self._dst = dst
        self._negotiated = negotiated
        self._answer = Answer(send, 200, [])
        self._pump = pump(self._answer)
        self._inflater: Inflater | None = None
        self._head_only = False

    async def run(self, app: App, scope: Scope, receive: Receive) -> None:
        """Run the application."""
        raised: Exception | None = None
        self._head_only = scope["method"] == "HEAD"
        # a file that the server sends itself is not seen here
        extensions = {key: value for key, value in (scope.get("extensions") or {}).items() if key not in _UNSEEN}
        scope = {**scope, "extensions": extensions}

        async def received() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect" and not self._answer.ended:
                # the application ends by itself
                self._pump.left = True
            return message

        async def body() -> None:
            nonlocal raised
            try:
                await app(scope, received, self._take)
            except Exception as error:
                raised = error
                if self._pump.begun:
                    await self._pump.fail(error)
            else:
                if self._pump.begun and not self._answer.ended and not self._pump.left:
                    await self._end()

        await self._pump.run(body, begin=False)
        if self._pump.begun and self._pump.stats.outcome != "disconnected":
            await self._answer.end()
        if raised is not None:
            raise raised

    async def _take(self, message: Message) -> None:
        """What the application sends."""
        kind = message["type"]
        if kind == "http.response.start":
            message = self._begin(message)
        if not self._pump.begun:
            await self._send(message)
        elif kind == "http.response.body" and not self._answer.ended:
            try:
                await self._body(message.get("body", b""), more=message.get("more_body", False))
            except SinkError as failed:
                raise failed.error from None
            if self._pump.finished:
                # it ran for a stream that has failed
                self._pump.finish()
        elif kind not in ("http.response.start", "http.response.body"):
            await self._send(message)

    async def _body(self, data: bytes, *, more: bool) -> None:
        try:
            for piece in self._inflater.feed(data) if self._inflater is not None else (data,) if data else ():
                await self._pump.take(piece)
        except TranslateError as error:
            await self._pump.fail(error)
        if not more:
            await self._end()

    async def _end(self) -> None:
        try:
            if self._inflater is not None:
                self._inflater.close()
            await self._pump.end()
        except TranslateError as error:
            await self._pump.fail(error)
        await self._answer.end()

    def _begin(self, message: Message) -> Message:
        """Look at the head: hold it back where it is that of a stream, else pass it on."""
        fields: Fields = [(bytes(name).lower(), bytes(value)) for name, value in message.get("headers", ())]
        given = {name: value.decode("latin-1") for name, value in fields}
        encoding = given.get(b"content-encoding", "identity").strip().lower()
        stream = is_stream(self._src, message["status"], given.get(b"content-type"))
        stream = stream and (encoding == "identity" or undoes(encoding))
        if stream:
            kept = [(name, value) for name, value in fields if name not in _REPLACED]
            fields = [(b"content-type", self._type()), *STREAM_HEADERS, *kept]
        if self._negotiated:
            fields.append(_VARY)
        if stream and not self._head_only:
            self._inflater = None if encoding == "identity" else Inflater(encoding)
            self._answer.fields = fields
            self._pump.begin()
        return {**message, "headers": fields}

    def _type(self) -> bytes:
        name = media_type(self._dst)
        return (f"{name}; {PARAMETER}={self._dst}" if self._negotiated else name).encode()
