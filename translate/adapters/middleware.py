"""ASGI middleware that translates the event streams of the application it wraps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Unpack

import anyio
import anyio.lowlevel

from ..engine.translator import Translator
from .asgi import PING, Answer, App, Message, Receive, Scope, Send
from .encodings import Inflater, undoes
from .fields import OF_BYTES, Fields, joined
from .media import PARAMETER, STREAM_HEADERS, IsStream, Recognition, chosen, media_type
from .observe import Observer
from .options import StreamOptions, Timeouts
from .output import LEFT, SinkError
from .pump import Pump
from .running import Running

_GONE = "the client has left"
_VARY = (b"vary", b"accept")
_UNSEEN = ("http.response.pathsend", "http.response.zerocopysend")
_REPLACED = frozenset((b"content-type", b"trailer", *OF_BYTES))
_OF_ANSWER = ("http.response.start", "http.response.body", "http.response.trailers")


class TranslateMiddleware:
    """Translates answers of ``app`` that are streams of format ``src``; all else passes through untouched.

    ``dst``       the format they become; or several that are offered beside ``src``: then the field ``Accept`` of a
                  request chooses, by a media type or by its parameter ``format``
                  (``text/event-stream;format=gateway-sse``), and an answer to one that asks for none stays as it is
    ``paths``     the paths whose answers are looked at: a collection of them, or a function of a path, such as
                  ``re.compile("/v1/.*").fullmatch``; default: all

    ``ping``, ``timeouts``, ``observer``, ``running``, ``streams`` and the options of conversion are those of
    :class:`translate.adapters.StreamResponse`. gzip and deflate are undone, and a stream in another encoding passes as
    it is. A stream that fails before its first unit becomes an HTTP status, a later failure the failure unit of the
    target; where ``app`` itself raised, the exception then goes on to the server. The application is held while the
    server takes no output, and cancelled when its stream has failed or timed out, or the client has left and it does
    not look. Fields of its head that speak of its bytes are left out, such as ``ETag``, and so are trailers.
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
        running: Running | None = None,
        streams: IsStream | None = None,
        **options: Unpack[StreamOptions],
    ) -> None:
        self._app = app
        self._src = src
        self._recognition = Recognition(src, streams)
        self._dst = dst if isinstance(dst, str) else tuple(dst)
        for format in (dst,) if isinstance(dst, str) else dst:
            media_type(format)
            # what is wrong with the options is said before the first request
            Translator(src, format, **options)
        self._looks_at = paths if callable(paths) else paths.__contains__ if paths is not None else lambda path: True
        self._options = options
        self._pump_options: dict[str, Any] = {"ping": ping, "timeouts": timeouts, "running": running}
        self._observers = [observer] if observer is not None else []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http" or not self._looks_at(scope["path"]):
            await self._app(scope, receive, send)
            return
        dst = self._target(scope)
        answer = _Untouched(send, self._recognition) if dst is None else self._answer(send, dst)
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

        return _Translated(send, self._recognition, dst, pump, negotiated=not isinstance(self._dst, str))

    def _target(self, scope: Scope) -> str | None:
        if isinstance(self._dst, str):
            return self._dst
        accept = b",".join(value for name, value in scope["headers"] if name == b"accept")
        return chosen(accept.decode("latin-1"), self._dst, self._src)


def _encoding(recognition: Recognition, message: Message) -> str | None:
    """The content encoding of an answer that can be translated; ``None`` for all others."""
    if not recognition(message["status"], _value(message, b"content-type")):
        return None
    encoding = _value(message, b"content-encoding").lower() or "identity"
    return encoding if encoding == "identity" or undoes(encoding) else None


def _value(message: Message, field: bytes) -> str:
    values = (bytes(value) for name, value in message.get("headers", ()) if bytes(name).lower() == field)
    return b", ".join(values).decode("latin-1").strip()


class _Untouched:
    """An answer that no one wants translated. Of a stream, its head says that someone might."""

    def __init__(self, send: Send, recognition: Recognition) -> None:
        self._send = send
        self._recognition = recognition

    async def run(self, app: App, scope: Scope, receive: Receive) -> None:
        """Run the application."""
        await app(scope, receive, self._take)

    async def _take(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _encoding(self._recognition, message) is not None:
            message = {**message, "headers": [*message.get("headers", ()), _VARY]}
        await self._send(message)


class _Client:
    """What a client sends, for the application; :meth:`gone` looks ahead for the news that it has left.

    Ahead of the application at most one message of the request is read.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._reads = anyio.Lock()
        self._kept: Message | None = None
        self._taken = anyio.Event()
        self._last: Message | None = None
        self.told = False
        """Whether the application knows that the client has left."""

    async def receive(self) -> Message:
        """The next message, for the application."""
        if self._kept is None and self._last is None:
            # a lock that is free is no wait: some ask within a scope that is cancelled, only to see what is there
            try:
                self._reads.acquire_nowait()
            except anyio.WouldBlock:
                await self._reads.acquire()
            try:
                if self._kept is None and self._last is None:
                    await self._next()
            finally:
                self._reads.release()
        message, self._kept = self._kept, None
        if message is not None:
            self._taken.set()
            return message
        assert self._last is not None
        self.told = True
        return self._last

    async def gone(self) -> None:
        """Return when the client has left, and who waited for that knows."""
        while self._last is None:
            async with self._reads:
                if self._last is None:
                    await self._next()
            if self._kept is not None and self._kept.get("more_body", False):
                await self._taken.wait()
        # those who waited come first
        async with self._reads:
            pass

    async def _next(self) -> None:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._last = message
        elif self._kept is None:
            # else the request is whole, and nothing else follows it
            self._kept, self._taken = message, anyio.Event()


class _Translated:
    """An answer that is translated if it turns out to be a stream."""

    def __init__(
        self, send: Send, recognition: Recognition, dst: str, pump: Callable[[Answer], Pump], *, negotiated: bool
    ) -> None:
        self._send = send
        self._recognition = recognition
        self._dst = dst
        self._negotiated = negotiated
        self._answer = Answer(send, 200, [])
        self._pump = pump(self._answer)
        self._course = self._pump.course
        self._inflater: Inflater | None = None
        self._head_only = False
        self._began = anyio.Event()
        self._torn = False
        """Whether the server has raised: nothing can follow what it was taking."""

    async def run(self, app: App, scope: Scope, receive: Receive) -> None:
        """Run the application."""
        raised: Exception | None = None
        self._head_only = scope["method"] == "HEAD"
        # a file that the server sends itself is not seen here
        extensions = {key: value for key, value in (scope.get("extensions") or {}).items() if key not in _UNSEEN}
        scope = {**scope, "extensions": extensions}

        client = _Client(receive)

        async def received() -> Message:
            message = await client.receive()
            if message["type"] == "http.disconnect" and not self._answer.ended:
                # the application ends by itself
                self._pump.leave()
            return message

        async def gone() -> None:
            await self._began.wait()
            await client.gone()
            if client.told or self._answer.ended or self._course.whole:
                await anyio.sleep_forever()

        async def body() -> None:
            nonlocal raised
            try:
                await app(scope, received, self._take)
            except Exception as error:
                raised = error
            if not self._course.begun or self._course.receiver == "left" or self._torn:
                return
            if raised is not None:
                await self._fail(raised)
            elif not self._answer.ended:
                await self._end()

        await self._pump.run(body, gone, begin=False)
        if self._course.begun and self._pump.stats.outcome != "disconnected":
            await self._answer.end()
        elif self._course.begun and raised is None:
            await self._answer.leave()
        if raised is not None:
            try:
                raise raised
            finally:
                # it holds the frames that hold it, and what the application streams from
                raised = None

    async def _take(self, message: Message) -> None:
        """What the application sends."""
        if self._torn:
            raise OSError(_GONE)
        kind = message["type"]
        if kind == "http.response.start" and not self._course.begun:
            message = self._begin(message)
        if not self._course.begun:
            await self._send(message)
        elif kind == "http.response.body" and not self._course.finished:
            more = message.get("more_body", False)
            try:
                await self._body(bytes(message.get("body", b"")), more=more)
            except SinkError as failed:
                self._torn = True
                # one of its own: ours is kept with the figures, and would keep all that the application holds
                raise (OSError(_GONE) if isinstance(failed.error, LEFT) else failed.error) from None
            if more and self._course.finished:
                # it ran for a stream that has failed: it ends here, or where it next waits
                self._pump.cancel()
                await anyio.lowlevel.checkpoint()
        elif kind not in _OF_ANSWER:
            await self._send(message)

    async def _body(self, data: bytes, *, more: bool) -> None:
        try:
            for piece in self._inflater.feed(data) if self._inflater is not None else (data,) if data else ():
                await self._pump.take(piece)
                if self._course.finished:
                    break
        except SinkError:
            raise
        except Exception as error:
            await self._fail(error)
        if not more:
            await self._end()

    async def _end(self) -> None:
        try:
            if self._inflater is not None and not self._course.finished:
                self._inflater.close()
            await self._pump.end()
        except SinkError:
            raise
        except Exception as error:
            await self._fail(error)
        await self._answer.end()

    async def _fail(self, error: Exception) -> None:
        """Say a failure; when all was said, it is no one's concern."""
        try:
            await self._pump.fail(error)
        except SinkError:
            raise
        except Exception:
            if not self._course.whole:
                raise

    def _begin(self, message: Message) -> Message:
        """Look at the head: hold it back where it is that of a stream, else pass it on."""
        encoding = _encoding(self._recognition, message)
        if encoding is None:
            return message
        fields: Fields = [(bytes(name).lower(), bytes(value)) for name, value in message.get("headers", ())]
        fields = joined(STREAM_HEADERS, [(name, value) for name, value in fields if name not in _REPLACED])
        fields.append((b"content-type", self._type()))
        if self._negotiated:
            fields.append(_VARY)
        if not self._head_only:
            self._inflater = None if encoding == "identity" else Inflater(encoding)
            self._answer.fields = fields
            self._pump.begin()
            self._began.set()
        return {**message, "headers": fields}

    def _type(self) -> bytes:
        name = media_type(self._dst)
        return (f"{name}; {PARAMETER}={self._dst}" if self._negotiated else name).encode()
