"""A translated stream as an ASGI response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any, TypeAlias, Unpack, cast

import anyio

from ..algebra.events import Failure
from ..algebra.failures import failure_of
from ..algebra.json_form import to_json
from ..codec import Codec
from ..engine.translator import EventWriter, Translator
from ..jsontext import dumps
from ..registry import resolve
from .budget import Share
from .fields import OF_STREAM, Fields, joined, of_answer
from .media import STREAM_HEADERS, IsStream, Recognition, media_type
from .observe import Observer, Stats
from .options import StreamOptions, Timeouts
from .output import GRACE, LEFT
from .pump import Pump
from .reported import reported
from .running import Running
from .upstream import Response, Source, Upstream, is_open

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
PING = 15.0
"""Seconds of silence after which a keep-alive is sent: proxies cut what is silent for 30 or 60."""


class Answer:
    """One HTTP answer on its way out. Its head is sent with the first of its body, when it is known what it is."""

    def __init__(self, send: Send, status: int, fields: Fields) -> None:
        self.status = status
        self.fields = fields
        self.begun = False
        self.ended = False
        self.over = False
        """Whether its last piece was taken, or the server takes nothing any more."""
        self._to = send

    async def write(self, data: bytes) -> None:
        """Send a piece of the body."""
        if not self.begun:
            await self._begin()
        try:
            await self._to({"type": "http.response.body", "body": data, "more_body": True})
        except BaseException as error:
            self._tore(error)
            raise

    async def end(self, data: bytes = b"") -> None:
        """Send the last piece of the body, if none was sent before. A client that has left need not hear it."""
        if not self.ended:
            self.ended = True
            if data and not self.begun:
                self.fields = joined(self.fields, [(b"content-length", b"%d" % len(data))])
            with suppress(*LEFT):
                await self._begin()
                await self._send({"type": "http.response.body", "body": data, "more_body": False})

    async def leave(self) -> None:
        """The client has left: end the answer all the same, for middleware around that waits for its end.

        A server may hold on to what no one takes: it has ``GRACE`` seconds.
        """
        with anyio.move_on_after(GRACE):
            if not self.ended:
                await self.end()
            elif not self.over:
                with suppress(*LEFT):
                    await self._to({"type": "http.response.body", "body": b"", "more_body": False})
                    self.over = True

    async def _send(self, message: Message) -> None:
        try:
            await self._to(message)
            self.over = not message.get("more_body", True)
        except BaseException as error:
            self._tore(error)
            raise

    def _tore(self, error: BaseException) -> None:
        # nothing can follow what may not have been taken
        self.ended, self.over = True, isinstance(error, Exception)

    async def _begin(self) -> None:
        if not self.begun:
            self.begun = True
            await self._send({"type": "http.response.start", "status": self.status, "headers": self.fields})

    async def refuse(self, error: Exception, dst: str, fields: Iterable[tuple[bytes, bytes]] = ()) -> None:
        """Answer with the status of ``error``; the body is the failure unit of the target's codec, as JSON.

        Fields that do not speak of the stream stay: cookies, and those that let a browser read the answer. ``fields``:
        more of them, beside the ``fields`` that the error has, if any.
        """
        failure = failure_of(error)
        body = failure_body(failure, resolve(dst)[0])
        self.status = failure.code if failure.code is not None and 400 <= failure.code <= 599 else 502
        own: Fields = [(b"content-type", b"application/json"), (b"cache-control", b"no-store"), *fields]
        own += getattr(error, "fields", ())
        self.fields = joined([field for field in self.fields if field[0] not in OF_STREAM], own)
        await self.end(body)


def failure_body(failure: Failure, codec: Codec) -> bytes:
    """A failure in a format's own words: the last JSON line of a stream that is nothing else."""
    if "jsonl" not in codec.shapes:
        return dumps(to_json(failure))
    lines = EventWriter(f"{codec.name}-jsonl", loss="drop").feed(failure)
    return bytes(b"".join(lines).splitlines()[-1])


class StreamResponse:
    """An ASGI application that answers with a translated stream, and owns its upstream.

    ``source``    a response of httpx or httpx2 that was asked for as a stream, any asynchronous iterable, or an async
                  callable that opens one of them: then a client that leaves before cancels the opening, too
    ``src, dst``  formats; ``dst`` one of bytes
    ``headers``   more of them for the head, beside those of an event stream or instead of them
    ``ping``      seconds of silence after which a keep-alive comment is sent; ``None``: never
    ``timeouts``  see :class:`translate.adapters.Timeouts`
    ``observer``  is told what happens
    ``streams``   says which responses are streams, by status and ``Content-Type``; default: 200, and a type of ``src``
    ``running``   knows of the stream while it runs: see :class:`translate.adapters.Running`

    Input is read only while the server takes output. When the client leaves, the source is cancelled and closed at
    once; it is closed in every other case, too. A source that fails before its first unit gives an HTTP status, the
    one it reports or else 502 (504 for a time-out), with the failure unit of ``dst`` as JSON; one that fails later,
    if only after a keep-alive, ends in that unit. A response that is no stream is passed on as it is, with a
    warning where it seems to be one; after a keep-alive the failure unit says what it says. Of the
    upstream's fields all are passed on but those of its connection and its origin, cookies among them, and of its
    content where that was translated. To ``HEAD`` the answer is a head alone: a source that is open is
    closed, none is opened.
    Raises what is wrong with the arguments at once; other options are those of :func:`translate.convert`.
    """

    def __init__(
        self,
        source: Source,
        src: str,
        dst: str,
        *,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        ping: float | None = PING,
        timeouts: Timeouts | None = None,
        observer: Observer | None = None,
        running: Running | None = None,
        streams: IsStream | None = None,
        **options: Unpack[StreamOptions],
    ) -> None:
        self._source = source
        self._formats = src, dst
        pairs = cast(Iterable[tuple[str, str]], headers.items() if isinstance(headers, Mapping) else headers)
        self.added: Fields = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in pairs]
        self._type = media_type(dst).encode()
        self._recognition = Recognition(src, streams)
        self._options = options
        self._pump_options: dict[str, Any] = {"ping": ping, "timeouts": timeouts, "running": running}
        self.observers = [observer] if observer is not None else []
        """Who is told what happens."""
        self.eager = True
        """Whether keep-alives are sent even before the source is open: until then, it may turn out to be no stream."""
        self.share: Share | None = None
        """Its part of the memory that all may hold."""
        self.pump: Pump | None = None
        """The stream, once it runs."""
        self.status = 200
        """The status that was sent; 0 where the client left before."""
        Translator(src, dst, **options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] == "HEAD":
            await self._head(send)
        else:
            await self.respond(scope, receive, send)

    async def respond(self, scope: Scope, receive: Receive, send: Send) -> Stats:
        """Answer one request, and return what became of it. Raises what has to make the server hang up."""
        src, dst = self._formats
        answer, left = self._answer(send), False

        async def refuse(error: Exception) -> None:
            await answer.refuse(error, dst)

        async def head(upstream: Upstream) -> None:
            if upstream.response is not None and answer.begun and not self._fits(upstream.response):
                # a keep-alive was sent before: it is too late for another answer
                raise await reported(upstream.response)
            if not self._streams(upstream, answer):
                upstream.raw = True
                pump.course.happens("passes")
            elif scope["method"] == "HEAD":
                pump.course.happens("passes")

        async def gone() -> None:
            await disconnected(receive)
            if answer.ended:
                # servers say so, too, once the answer is out
                await anyio.sleep_forever()

        pump = self.pump = Pump(
            *(src, dst, answer.write),
            refuse=refuse,
            observers=self.observers,
            share=self.share,
            eager=self.eager,
            **self._pump_options,
            **self._options,
        )
        try:
            try:
                stats = await pump.pull(self._source, gone, head)
            except Exception:
                if not pump.course.whole:
                    raise
                stats = pump.stats
            left = stats.outcome == "disconnected" and not answer.begun
            await (answer.leave() if stats.outcome == "disconnected" else answer.end())
        finally:
            self.status = answer.status if answer.begun and not left else 0
        return stats

    def _answer(self, send: Send) -> Answer:
        return Answer(send, 200, joined([(b"content-type", self._type), *STREAM_HEADERS], self.added))

    def _streams(self, upstream: Upstream, answer: Answer) -> bool:
        """Whether a source is a stream; the answer gets its head."""
        response = upstream.response
        if response is None:
            return True
        stream = self._fits(response)
        if not stream:
            answer.status = response.status_code
        answer.fields = self.fields(response, answer.fields if stream else None)
        return stream

    def _fits(self, response: Response) -> bool:
        return self._recognition(response.status_code, response.headers.get("content-type"), expected=self.eager)

    async def _head(self, send: Send) -> None:
        """Answer with the head alone."""
        answer = self._answer(send)
        if is_open(self._source):
            upstream = Upstream(self._source)
            self._streams(upstream, answer)
            await upstream.aclose()
        await answer.end()

    def fields(self, response: Response, stream: Fields | None) -> Fields:
        """The head of an answer made of ``response``. ``stream``: that of a translated one; ``None``: it passes."""
        passed = of_answer(response.headers.raw, translated=stream is not None)
        return joined(self.added, passed) if stream is None else joined(passed, stream)


async def disconnected(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
