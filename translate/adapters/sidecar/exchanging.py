"""One request of a client that speaks a format of its own, and its answer: whole, a stream, or an error."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import httpx2

from ... import jsontext
from ...errors import TranslateError, UpstreamFailure
from ...messages.api import decode_request
from ...messages.endpoint import key_of, without_key
from ...messages.exchange import Exchange
from ...registry import codec
from ..asgi import Answer, Receive, Scope, Send, StreamResponse, disconnected
from ..fields import Fields, joined
from ..observe import Observer
from ..running import Running
from ..upstream import Response
from .asking import Asking, named, tell
from .doors import estimate, listed, models_in
from .forward import Forwarder, id_field
from .rules import Refused, sent_fields
from .settings import Route

_log = logging.getLogger("translate.sidecar")
_NO_COUNT: Final = (404, 405, 501)
"""What servers answer that do not count."""
_WORDS: Final = {
    "stored": "what is stored is not here: a request has to say all it needs",
    "none": "nothing is here by this method and path",
}


class Exchanging(Asking):
    """A route whose clients speak formats of their own."""

    def forward(  # type: ignore[override]  # it answers in the same steps
        self, scope: Scope, body: bytes, target: str, request_id: bytes, fields: Fields
    ) -> Exchanged:
        """The answer to a request, with ``fields`` in place of its own."""
        target = target[len(self.prefix) :]
        return Exchanged(self, scope, body, target if target.startswith("/") else "/" + target, request_id, fields)


def forwarders(routes: Sequence[Route], running: Running, observers: Sequence[Observer]) -> list[Forwarder]:
    """What asks each route's upstream."""
    shared: dict[tuple[str | None, str], list[Asking]] = {}
    return [
        Forwarder(route, running, observers)
        if route.settings.server is None
        else Exchanging(route, running, observers, shared.setdefault((route.host, route.prefix), []))
        for route in routes
    ]


class Exchanged:
    """One request, and what is answered to it."""

    upstream: int | None = None
    """The status of the upstream's answer."""
    share: Any = None
    outcome = "answered"

    def __init__(
        self, route: Asking, scope: Scope, body: bytes, target: str, request_id: bytes, fields: Fields
    ) -> None:
        self._route, self._body, self._target = route, body, target
        self._request_id, self._fields = request_id, fields
        self._given = named(fields)
        self._door = route.door(scope, target, fields)
        self.status = 0
        self._stream: _Stream | None = None

    @property
    def pump(self) -> Any:
        """The stream, where the answer is one."""
        return self._stream.pump if self._stream is not None else None

    async def respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        answer = Answer(send, 200, [])
        try:
            await self._respond(scope, receive, send, answer)
        except (TranslateError, OSError, httpx2.HTTPError) as error:
            if answer.begun:
                raise
            self.outcome = "refused"
            await self._route.refuse(answer, scope, error, id_field(self._request_id))
        finally:
            self.status = self._stream.status if self._stream is not None else answer.status

    async def _respond(self, scope: Scope, receive: Receive, send: Send, answer: Answer) -> None:
        self._admit()
        match self._door.what:
            case "alive":
                await tell(answer, 200, {"content-type": "application/json"}, b"{}")
            case "ask":
                await self._ask(scope, receive, send, answer)
            case "count":
                await self._watched(receive, self._count(answer))
            case "models":
                await self._watched(receive, self._models(answer))
            case "stored" if self._door.client == self._route.server:
                await self._watched(receive, self._pass(scope, answer))
            case "stored":
                raise Refused(400, _WORDS["stored"])
            case _:
                raise Refused(404, _WORDS["none"])

    def _admit(self) -> None:
        """Let in who has the key of the door, if there is one."""
        wanted = self._route.settings.client_key
        given = key_of(self._target, self._given)
        if wanted is not None and not hmac.compare_digest((given or "").encode(), wanted.encode()):
            raise Refused(401, "the key is not known")

    def _key(self, route: Asking) -> str | None:
        return route.settings.upstream_key or key_of(self._target, self._given)

    def _sent(self, route: Asking, fields: dict[str, str], scope: Scope) -> Fields:
        """The fields that the upstream is sent: those of the exchange, and those of the way."""
        own = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in fields.items()]
        host = urlsplit(route.base).netloc.encode("ascii")
        return [(b"host", host), *sent_fields(own, self._request_id, scope, route.settings)]

    # ---- a model is asked

    async def _ask(self, scope: Scope, receive: Receive, send: Send, answer: Answer) -> None:
        client = self._door.client
        route = self._route.serving(self._door.model or _model_in(self._body))
        exchange = route.exchange(client)
        target, fields, body = exchange.request(
            without_key(self._target), self._given, self._body, key=self._key(route)
        )
        losses = " ".join(f"{name}={number}" for name, number in exchange.losses.items())
        self._log(exchange, losses)
        added = {"x-translate-loss": losses, id_field(b"")[0].decode(): self._request_id.decode("latin-1")}
        sent = self._sent(route, fields, scope)

        async def open() -> httpx2.Response:
            response = await route.send("POST", target, sent, body)
            self.upstream = response.status_code
            return response

        if exchange.streams:
            self._stream = _Stream(exchange, route, open, added)
            self._stream.share = self.share
            await self._stream.respond(scope, receive, send)
            return

        async def whole() -> None:
            response = await open()
            data = await route.whole(response)
            if self.share is not None:
                self.share.hold(len(self._body) + len(data))
            status, headers, said = exchange.answer(response.status_code, dict(response.headers), data)
            await tell(answer, status, {**headers, **added}, said)

        await self._watched(receive, whole())

    def _log(self, exchange: Exchange, losses: str) -> None:
        id = self._request_id.decode("latin-1")
        if any(exchange.losses.values()):
            _log.info("%s loses %s", id, losses)
            for found in exchange.report.losses[:100]:
                _log.debug("%s: %s %s: %s", *(id, found.kind, found.path, found.reason))

    async def _watched(self, receive: Receive, work: Any) -> None:
        """Do some work until it is done, or the client has left."""
        done = False

        async def watch() -> None:
            await disconnected(receive)
            if not done:
                self.outcome = "disconnected"
                group.cancel_scope.cancel()

        raised: Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            try:
                await work
            except Exception as error:
                raised = error
            done = True
            group.cancel_scope.cancel()
        if raised is not None:
            raise raised

    # ---- beside it

    async def _count(self, answer: Answer) -> None:
        client, route = self._door.client, self._route.serving(self._door.model or _model_in(self._body))
        endpoint = codec(client).endpoint
        assert endpoint is not None
        document = jsontext.loads(self._body, 64)
        held = document.get("generateContentRequest", document) if isinstance(document, dict) else document
        request = decode_request(held, client)
        if client == route.server:
            exchange = route.exchange(client)
            _, fields, _ = exchange.request("", self._given, jsontext.dumps(held), key=self._key(route))
            sent = self._sent(route, fields, {"type": "http", "headers": []})
            response = await route.send("POST", without_key(self._target), sent, self._body)
            data = await route.whole(response)
            if response.status_code not in _NO_COUNT:
                failed = response.status_code >= 400
                fields = {"content-type": "application/json"}
                headers = dict(response.headers)
                told = exchange.answer(response.status_code, headers, data) if failed else (200, fields, data)
                await tell(answer, *told)
                return
        said = jsontext.dumps({endpoint.counted: estimate(request)})
        await tell(answer, 200, {"content-type": "application/json", "x-translate-estimate": "1"}, said)

    async def _models(self, answer: Answer) -> None:
        route = self._route
        names = [name for each in route.beside for name in each.settings.model_map if not set("*?[") & set(name)]
        if not names:
            names = await self._upstream_models(route)
        one = self._door.model
        found = listed(names, self._door.client, one)
        if found is None:
            raise Refused(404, f"there is no model {one!r}")
        await tell(answer, 200, {"content-type": "application/json"}, jsontext.dumps(found))

    async def _upstream_models(self, route: Asking) -> list[str]:
        endpoint = codec(route.server).endpoint
        assert endpoint is not None
        name, before = endpoint.key
        key = self._key(route)
        fields = {**endpoint.fields, **({name: before + key} if key is not None else {})}
        sent = self._sent(route, fields, {"type": "http", "headers": []})
        target = "/v1beta/models" if endpoint.models == "google" else "/v1/models"
        response = await route.send("GET", target, sent, None)
        data = await route.whole(response)
        if response.status_code != 200:
            raise Refused(404, "the upstream has no list of its models")
        return models_in(jsontext.loads(data, 64))

    async def _pass(self, scope: Scope, answer: Answer) -> None:
        """What only this upstream has stored."""
        route = self._route
        endpoint = codec(route.server).endpoint
        assert endpoint is not None
        name, before = endpoint.key
        key = self._key(route)
        fields = {"content-type": "application/json", **({name: before + key} if key is not None else {})}
        sent = self._sent(route, fields, scope)
        response = await route.send(scope["method"], without_key(self._target), sent, self._body or None)
        data = await route.whole(response)
        await tell(answer, response.status_code, {"content-type": "application/json"}, data)


class _Stream(StreamResponse):
    """The answer where the client asked for a stream."""

    def __init__(self, exchange: Exchange, route: Asking, open: Any, added: dict[str, str]) -> None:
        settings = route.settings
        self._exchange, self._exchanging, self._opened = exchange, route, open
        super().__init__(
            self._open,
            *exchange.formats,
            headers=added,
            ping=settings.ping,
            timeouts=settings.timeouts,
            running=route.running,
            **settings.options,
        )
        self._pump_options["make"] = exchange.stream
        self.observers = route.observers

    async def _open(self) -> httpx2.Response:
        response: httpx2.Response = await self._opened()
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.status_code == 200 and kind in self._exchange.stream_types:
            return response
        data = await self._exchanging.whole(response)
        raise _Told(*self._exchange.answer(response.status_code, dict(response.headers), data))

    def _answer(self, send: Send) -> Answer:
        plain = super()._answer(send)
        return _Refusing(send, plain.status, plain.fields, self._exchange, self.added)

    def _fits(self, response: Response) -> bool:
        return True

    def fields(self, response: Response, stream: Fields | None) -> Fields:
        head = self._exchange.head(dict(response.headers))
        said = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in head.items()]
        return joined(said, stream or [])


class _Told(UpstreamFailure):
    """An answer that is no stream: what is said in its place."""

    def __init__(self, status: int, fields: dict[str, str], body: bytes) -> None:
        try:
            document = jsontext.loads(body, 64)
            error = document.get("error", document)
            message, kind = str(error.get("message", "")), error.get("type")
        except (TranslateError, AttributeError):
            # it was said as a stream, all of it
            message, kind = "the upstream answers whole", None
        super().__init__(status, message, kind if isinstance(kind, str) else None, {})
        self.said = status, fields, body


class _Refusing(Answer):
    """An answer whose refusals are in the client's words."""

    def __init__(self, send: Send, status: int, fields: Fields, exchange: Exchange, added: Fields) -> None:
        super().__init__(send, status, fields)
        self._exchange, self._added = exchange, added

    async def refuse(self, error: Exception, dst: str, fields: Any = ()) -> None:
        if isinstance(error, _Told):
            status, said, body = error.said
        else:
            status, said, body = self._exchange.error(error)
        await tell(self, status, said, body, [*self._added, *fields, *getattr(error, "fields", ())])


def _model_in(body: bytes) -> str | None:
    try:
        document = jsontext.loads(body, 256)
    except TranslateError:
        return None
    found = document.get("model") if isinstance(document, dict) else None
    return found if isinstance(found, str) else None
