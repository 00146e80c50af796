"""One call between a client of one format and a server of another, without any input or output of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, Literal

from .. import jsontext
from ..algebra.events import Event, Finish, JsonObject, Open, Start, TokenCounts
from ..carry.losses import Report
from ..engine.translator import EventReader, EventWriter
from ..errors import LimitExceeded, MisuseError, RequestError, TranslateError, UpstreamFailure
from ..limits import Limits
from .api import decode_error, encode_error
from .capability import Answers, Requests, Seal, Sealing
from .converting import Asked, capability, decode, encode, read_body
from .converting import convert as convert_document
from .failures import failure
from .folding import fold
from .nodes import Answer, Request
from .profiles import Profile, ProfileOption, profile_of
from .routes import PASSED_ON, Route, key_in, model_in
from .sealing_stream import SealedStream
from .settings import SETTINGS
from .tools import written_name

ModelMap = Mapping[str, str] | Callable[[str], str]
Headers = Mapping[str, str]
LOSSES: Final = "x-translate-loss"
"""The header that counts losses by class."""
MODEL: Final = "x-translate-model"
"""The header that names the model which answered."""
_CLASSES: Final = ("content", "control", "state", "tuning", "incidental")


class Exchange:
    """One call: :meth:`request`, then one of :meth:`answer` and :meth:`stream`; :meth:`error` at any time.

    ``client`` and ``server`` are formats that have requests. It remembers what the answer needs from its request: the
    model that was asked for, the names and kinds of tools, whether counts were asked for. No state outlives it.

    ``profile``    of the server; ``model_map``: patterns of names (``claude-*``) → the model that is asked, the first
                   that fits; or a callable. ``seal``: how state goes to the client
    ``refuse``     classes of losses that refuse a request; content always does, and so do several answers and a choice
                   of a tool that was lost
    ``key``        sent in place of the client's
    """

    def __init__(
        self,
        client: str,
        server: str,
        *,
        profile: ProfileOption | None = None,
        model_map: ModelMap | None = None,
        seal: Seal = "message",
        loss: Literal["drop", "raise"] = "drop",
        report: Report | None = None,
        refuse: Collection[str] = (),
        key: str | None = None,
        strict: bool = True,
        limits: Limits | None = None,
    ) -> None:
        if loss not in ("drop", "raise"):
            raise ValueError("a carry never goes to a server: loss is 'drop' or 'raise'")
        self.client, self.server = client, server
        self._ends = {name: capability(name, "request") for name in (client, server)}
        self.profile: Profile = profile_of(profile, self._able(server).profiles, server)
        self.report = Report() if report is None else report
        self._models, self._seal, self._loss = model_map, seal, loss
        self._refuse, self._key, self._strict = {"content", *refuse}, key, strict
        self._limits = limits or Limits()
        self.asked: str | None = None
        """The model that the client asked for."""
        self.streams = False
        """Whether the client wants a stream."""
        self._names: dict[str, str] = {}
        self._custom: set[str] = set()
        self._counts = True
        self._sent = False

    def _able(self, format: str) -> Requests:
        return self._ends[format][1]  # type: ignore[return-value]

    def _route(self, format: str) -> Route:
        route = self._able(format).route
        if route is None:
            raise MisuseError(f"{format!r} has no way to a server", expected="a format that has one")
        return route

    # ---- the request

    def request(self, path: str, headers: Headers, body: bytes) -> tuple[str, dict[str, str], bytes]:
        """What goes to the server: path, headers and body.

        Raises :class:`TranslateError` for a request that cannot be asked: answer it by :meth:`error`.
        """
        self._hold_to_limit(body)
        document = read_body(body, self._limits)
        asked = Asked(None, self.profile, "off", self._loss, self.report, self._strict, self._limits, spelled=True)
        request: Request = decode(document, self.client, "request", Asked(limits=self._limits, spelled=True))
        place, _, query = path.partition("?")
        named = model_in(place)
        self.asked = request.model or (named[0] if named else None)
        always = self._route(self.client).always
        self.streams = always or bool(request.stream) or (named is not None and named[1].startswith("stream"))
        served = self._served(self.asked or "")
        self._remember(request, document)
        if self.client == self.server:
            said = self._same(document, served)
        else:
            if self._able(self.server).model_in_body:
                asked.model = served or None
            said = convert_document(document, self.client, self.server, "request", asked)
            self._refuse_losses()
            self._ask_to_stream(said)
        route = self._route(self.server)
        stream = self.streams or route.always
        self._sent = True
        return route.path_for(served, stream=stream), self._headers(headers, query), jsontext.dumps(said)

    def _same(self, document: JsonObject, served: str) -> JsonObject:
        """The request of one format, but for its model and the envelopes in it."""
        said = convert_document(document, self.client, self.server, "request", Asked(loss="drop", limits=self._limits))
        return {**said, "model": served} if "model" in said else said

    def _hold_to_limit(self, body: bytes) -> None:
        if len(body) > self._limits.unit:
            raise LimitExceeded("unit", self._limits.unit)

    def _served(self, asked: str) -> str:
        if callable(self._models):
            return self._models(asked)
        for pattern, name in (self._models or {}).items():
            if fnmatchcase(asked, pattern):
                return name
        return asked

    def _remember(self, request: Request, document: JsonObject) -> None:
        for tool in request.tools:
            if tool.name is not None and tool.kind != "server":
                self._names[written_name(tool.name, self.profile.name_max)] = tool.name
                if tool.kind == "custom":
                    self._custom.add(tool.name)
        self._counts = self._able(self.client).asks_for_counts(document)

    def _ask_to_stream(self, said: JsonObject) -> None:
        self._able(self.server).ask_to_stream(said, stream=self.streams)

    def _refuse_losses(self) -> None:
        for found in self.report.losses:
            several = found.field in ("candidates", "n") and SETTINGS["candidates"].loss == found.kind
            lost = found.field == "tool_choice" and found.kind == "control" and "names" in found.reason
            if found.kind in self._refuse or several or lost:
                error = RequestError(f"{found.path}: {found.reason}" if found.path else found.reason)
                error.path = found.path
                raise error

    def _headers(self, headers: Headers, query: str) -> dict[str, str]:
        route, lower = self._route(self.server), {name.lower(): value for name, value in headers.items()}
        out: dict[str, str] = {name: lower[name] for name in PASSED_ON if name in lower}
        if self.client == self.server:
            out |= {name: value for name, value in lower.items() if name.startswith(route.own) and route.own}
        out |= {"content-type": "application/json", **dict(route.headers)}
        key = self._key if self._key is not None else key_in(headers, query)
        if key is not None:
            out[route.key] = route.prefix + key
        return out

    # ---- what comes back

    def answer(self, status: int, headers: Headers, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """What goes to the client: status, headers and body. A stream in the body is folded into one answer."""
        lower = {name.lower(): value for name, value in headers.items()}
        if not 200 <= status <= 299:
            return self._failed(status, headers, body)
        self._hold_to_limit(body)
        try:
            if "text/event-stream" in lower.get("content-type", ""):
                answer = fold(_events(body, f"{self.server}-sse", self._limits))
                answer.source = self.server
            else:
                document = read_body(body, self._limits)
                if self.client == self.server and not self._names_changed():
                    return status, self._reply({}), self._renamed(document)
                found = Asked(profile=self.profile, limits=self._limits, spelled=True)
                answer = decode(document, self.server, "answer", found)
        except UpstreamFailure:
            return self._failed(status, headers, body)
        more = {MODEL: answer.model.name} if answer.model.name else {}
        asked = Asked(None, None, self._seal, self._loss, self.report, True, self._limits, spelled=True)
        said = encode(self._restored(answer), self.client, "answer", asked)
        return status, self._reply(more), jsontext.dumps(said)

    def _failed(self, status: int, headers: Headers, body: bytes) -> tuple[int, dict[str, str], bytes]:
        return encode_error(decode_error(status, headers, body, self.server), self.client)

    def _names_changed(self) -> bool:
        return any(written != name for written, name in self._names.items())

    def _renamed(self, document: JsonObject) -> bytes:
        for member in ("model", "modelVersion"):
            if self.asked is not None and member in document:
                document = {**document, member: self.asked}
        return jsontext.dumps(document)

    def _restored(self, answer: Answer) -> Answer:
        """The answer in the words of who asked: the model, and the names and kinds of tools."""
        answer.model.name = self.asked or answer.model.name
        for part in answer.parts:
            if part.kind == "tool_call" and part.name is not None:
                part.name = self._names.get(part.name, part.name)
                part.via = "custom" if part.name in self._custom else part.via
        return answer

    def _reply(self, more: dict[str, str]) -> dict[str, str]:
        counts = dict.fromkeys(_CLASSES, 0)
        for found in self.report.losses:
            if found.kind in counts:
                counts[found.kind] += 1
        said = " ".join(f"{name}={count}" for name, count in counts.items())
        return {"content-type": "application/json", LOSSES: said, **more}

    def stream(self, *, clock: Callable[[], int] | None = None) -> ExchangeStream:
        """What reads the server's stream and writes the client's, in chunks: ``feed`` and ``close``."""
        return ExchangeStream(self, clock)

    def error(self, error: BaseException) -> tuple[int, dict[str, str], bytes]:
        """How an error of our own is said to the client: status, headers and body in its format."""
        if isinstance(error, UpstreamFailure):
            found = failure(error.code or 502, None, error.message)
        elif isinstance(error, LimitExceeded) and not self._sent:
            found = failure(413, "too_large", str(error))
        elif isinstance(error, TranslateError):
            said = error.what + (f"; expected {error.expected}" if error.expected else "")
            # before it went out it is the client's fault, after that the server's
            found = failure(error.code or 502, None, said) if self._sent else failure(400, "invalid_request", said)
        else:
            found = failure(502, "server", f"the upstream failed: {type(error).__name__}")
        return encode_error(found, self.client)

    @property
    def places(self) -> Sealing | None:
        """Where the client's streams have envelopes; ``None`` where there are to be none."""
        found = capability(self.client, "answer")[1]
        able = self._seal != "off" and self.client != self.server
        return found.sealing if able and isinstance(found, Answers) else None

    def restored_event(self, event: Event) -> Event:
        """An event of the server's stream in the words of who asked."""
        if type(event) is Start and self.asked is not None:
            model = type(event.model)(self.asked, event.model.tier, event.model.publisher, event.model.provider)
            return Start(model, event.id, event.created, event.residue)
        if type(event) is Open and event.kind == "tool_call" and event.name in self._names:
            return Open(event.kind, event.id, self._names[event.name], event.mime_type, event.residue)
        if type(event) is Finish and not self._counts:
            return Finish(TokenCounts(), event.reason, event.residue)
        return event


class ExchangeStream:
    """The stream of one call: give it the server's bytes, and send on what it returns."""

    def __init__(self, exchange: Exchange, clock: Callable[[], int] | None) -> None:
        self._exchange = exchange
        places = exchange.places
        self._sealed = SealedStream(places, exchange.profile.scope) if places is not None else None
        self._reader = EventReader(f"{exchange.server}-sse", clock=clock)
        self._writer: EventWriter[Any] = EventWriter(f"{exchange.client}-sse", loss="drop", clock=clock)

    def feed(self, data: bytes) -> list[bytes]:
        """Read one chunk; what it makes sayable. Raises as :meth:`translate.Translator.feed` does."""
        return self._written(self._reader.feed(data))

    def close(self) -> list[bytes]:
        """The server's stream ended."""
        out = self._written(self._reader.close())
        return [*out, *self._writer.close()]

    def _written(self, events: list[Event]) -> list[bytes]:
        out: list[bytes] = []
        for event in map(self._exchange.restored_event, events):
            for said in self._sealed.events(event) if self._sealed is not None else (event,):
                out += self._writer.feed(said)
        return out


def _events(body: bytes, format: str, limits: Limits) -> list[Event]:
    reader = EventReader(format, limits=limits)
    return [*reader.feed(body), *reader.close()]


