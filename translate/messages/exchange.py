"""One call of a client of one format to a server of another: its request, then its answer, whole or as a stream.

Sans I/O. A request is translated, and what its answer needs of it is remembered: the model that was asked, what the
server calls the tools, whether counts were asked for. Nothing outlives the call: state comes home by the client, in
envelopes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, TypeAlias

from .. import jsontext
from ..algebra.events import Failure
from ..carry.losses import ErrorPolicy, LossPolicy, Report
from ..codec import Codec
from ..engine.stage import Staged
from ..engine.translator import EventReader, EventWriter, Translator
from ..errors import MisuseError, RequestError, TranslateError, UnsupportedFormat, UpstreamFailure
from ..limits import Limits
from ..registry import codec as find_codec
from .api import decode_error, encode_error
from .capability import Requests, Seal
from .converting import Asked, convert, decode, encode, issued, read_body
from .endpoint import PASSED, Endpoint, Route, key_of
from .failures import OTHER_ID, REQUEST_ID, refusal_of
from .folding import fold, unfold
from .nodes import Answer, Request
from .profiles import Profile, ProfileOption, profile_of
from .reasons import why
from .sealed_stream import Answering, Facts
from .telling import CLASSES
from .tools import written_name

Models: TypeAlias = Mapping[str, str] | Callable[[str], str]
"""Which model is asked for the one that a client names: by patterns, the first that fits, or by a callable."""
Response: TypeAlias = tuple[int, dict[str, str], bytes]
"""Status, fields and body."""
REFUSED: Final = ("content",)
"""Classes of losses that a request is refused for."""
_PASSED_BACK: Final = ("retry-after",)


class Exchange:
    """One call: :meth:`request`, then one of :meth:`answer`, :meth:`stream` and :meth:`error`.

    ``client``, ``server``  formats, by the names of their codecs
    ``profile``    what the server takes: see :func:`translate.convert_request`
    ``model_map``  which model is asked for the one that the client names: patterns (``claude-*``) and models, or a
                   callable; without a match the name goes on as it is
    ``seal``       how state of the server travels through the client: see :func:`translate.convert_answer`
    ``loss``       ``"drop"``; ``"raise"``: as ``refuse`` of content and control. A carry is never sent to a server
    ``report``     a fresh :class:`Report` of the request
    ``refuse``     classes of losses (``content, control, state, tuning, incidental``) for which a request is refused;
                   several candidates and the choice of a lost tool are refused always
    ``hidden``     what no message of an error may show: the address of the upstream, keys

    Raises :class:`UnknownFormat`, :class:`UnsupportedFormat`; ``ValueError`` for options that are none.
    """

    def __init__(
        self,
        client: str,
        server: str,
        *,
        profile: ProfileOption | None = None,
        model_map: Models | None = None,
        seal: Seal = "message",
        loss: Literal["drop", "raise"] = "drop",
        report: Report | None = None,
        refuse: Collection[str] = REFUSED,
        strict: bool = True,
        limits: Limits | None = None,
        foreign_thinking: Literal["drop", "text"] = "drop",
        hidden: Iterable[str] = (),
    ) -> None:
        if loss not in ("drop", "raise"):
            raise ValueError(f"loss is 'drop' or 'raise' for what goes to a server, not {loss!r}")
        if strange := set(refuse) - {*CLASSES}:
            raise ValueError(f"refuse is of the classes {', '.join(CLASSES)}, not {sorted(strange)[0]!r}")
        self.client, self.server = client, server
        self._from, self._ask = _spoken(client)
        self._to, self._endpoint = _spoken(server)
        requests = self._to.requests
        known = requests.profiles if isinstance(requests, Requests) else {server: Profile()}
        self.profile = profile_of(profile, known, server)
        self._custom = profile is not None
        self._models = model_map
        self._seal: Seal = seal
        self._loss: LossPolicy = loss
        self.report = report if report is not None else Report()
        self._refuse = frozenset(refuse)
        self._strict = strict
        self._limits = limits or Limits()
        self._foreign_thinking: Literal["drop", "text"] = foreign_thinking
        self._hidden = [*hidden]
        self._facts: Facts | None = None
        self.streams = False
        """Whether the client asked for a stream."""
        self.model: str | None = None
        """The model that the server is asked for."""

    # ---- the request

    def request(
        self, path: str, headers: Mapping[str, str], body: bytes, *, key: str | None = None
    ) -> tuple[str, dict[str, str], bytes]:
        """The request to the server: path, fields, body. ``key``: in place of the client's own.

        Raises what :func:`translate.convert_request` does, and :class:`RequestError` for a loss that is refused: see
        :meth:`error`. The path may be of any of the client's endpoints, or empty.
        """
        if self._facts is not None:
            raise MisuseError("an exchange is one call", expected="a new one")
        given = {name.lower(): value for name, value in headers.items()}
        route = self._ask.route(path) or Route(None, None)
        document = read_body(body, self._limits)
        self._facts = facts = Facts(self.client, self.server, seal=self._seal, scope=self.profile.scope)
        facts.shape = self._ask.shape_of(path)
        asked = route.model or (document.get("model") if isinstance(document, dict) else None)
        facts.asked = asked if isinstance(asked, str) else None
        if route.stream is None:
            self.streams = isinstance(document, dict) and document.get("stream") is True
        else:
            self.streams = route.stream
        self.model = self._model(facts.asked)
        same = self.client == self.server
        if same and self._profile is None and self.model == facts.asked:
            options = self._options()
            said = convert(document, self.client, self.server, "request", options)
            sent = body if said == document else jsontext.dumps(said)
        else:
            options = self._options(look=self._look)
            if not self._endpoint.names_model:
                options.model = self.model
            said = convert(document, self.client, self.server, "request", options)
            sent = jsontext.dumps(said)
        self._check()
        target = self._endpoint.address(self.model, stream=self.streams)
        if same and "?" in path:
            target = target.partition("?")[0] + "?" + path.partition("?")[2]
        return target, self._fields(given, key or key_of(path, given), same=same), sent

    def _model(self, asked: str | None) -> str | None:
        if asked is None or self._models is None:
            return asked
        if not isinstance(self._models, Mapping):
            return self._models(asked)
        return next((model for pattern, model in self._models.items() if fnmatchcase(asked, pattern)), asked)

    @property
    def _profile(self) -> Profile | None:
        return self.profile if self._custom else None

    def _options(self, look: Callable[[Any], None] | None = None) -> Asked:
        return Asked(
            profile=self._profile,
            loss=self._loss,
            report=self.report,
            strict=self._strict,
            limits=self._limits,
            foreign_thinking=self._foreign_thinking,
            spelled=True,
            look=look,
        )

    def _look(self, node: Request) -> None:
        facts = self._facts
        assert facts is not None
        facts.counts = node.counts
        facts.calls = sum(part.kind == "tool_call" for turn in node.turns for part in turn.parts)
        if node.stream is not None or self.streams:
            node.stream = self.streams
        node.counts = True
        for tool in node.tools:
            if tool.name is not None and tool.kind != "server":
                facts.tools[written_name(tool.name, self.profile.name_max)] = (tool.name, tool.kind)
        choice = node.choice
        self._chosen = [why("choice lost", self.server, repr(name)) for name in choice.names] if choice else []

    _chosen: Collection[str] = ()

    def _check(self) -> None:
        """Raise for a loss that a request is refused for."""
        for found in self.report.losses:
            lost = found.field == "candidates" or found.reason in self._chosen
            if found.kind in self._refuse or lost:
                error = RequestError(f"{found.path}: {found.reason}" if found.path else found.reason)
                error.path = found.path
                raise error

    def _fields(self, given: Mapping[str, str], key: str | None, *, same: bool) -> dict[str, str]:
        endpoint = self._endpoint
        out = {"content-type": "application/json", **endpoint.fields}
        out |= {name: given[name] for name in PASSED if name in given}
        if same:
            out |= {name: value for name, value in given.items() if name.startswith(endpoint.own)}
        if key is not None:
            name, before = endpoint.key
            out[name] = before + key
            self._hidden.append(key)
        return out

    @property
    def losses(self) -> dict[str, int]:
        """How many losses there are so far, by class."""
        counts: dict[str, int] = dict.fromkeys(CLASSES, 0)
        for found in self.report.losses:
            if found.kind in counts:
                counts[found.kind] += 1
        return counts

    # ---- its answer

    def answer(self, status: int, headers: Mapping[str, str], body: bytes) -> Response:
        """The whole answer to the client, or the error that the server answered with.

        Where the client asked for a stream, and the server answers whole, the answer is said as a stream.
        """
        facts = self._asked()
        if not 200 <= status < 300:
            return self._failed(decode_error(status, headers, body, self.server))
        try:
            said = self._answered(body, facts)
        except UpstreamFailure:
            return self._failed(decode_error(status, headers, body, self.server))
        except TranslateError as error:
            return self._failed(Failure(502, f"the answer of the server cannot be read: {error.what}", "server"))
        kind = self._from.shapes[facts.shape].media_types[0] if self.streams else "application/json"
        return 200, {"content-type": kind, **self._noted(headers)}, said

    def _answered(self, body: bytes, facts: Facts) -> bytes:
        options = Asked(
            profile=self.profile, seal=self._seal, report=Report(), limits=self._limits, spelled=True, loss="drop"
        )
        if self._endpoint.streams:
            return self._folded(body, options)
        document = read_body(body, self._limits)
        if self.streams:
            writer: EventWriter[bytes] = EventWriter(self.formats[1], loss="drop")
            events = [*unfold(decode(document, self.server, "answer", options))]
            return b"".join(piece for event in Answering(facts).take(events) for piece in writer.feed(event))
        if self.client == self.server:
            if facts.asked == self.model or self._ask.names_model:
                return body
            options = Asked(model=facts.asked, loss="drop", limits=self._limits, spelled=True)
        else:
            options.look = self._restore
        return jsontext.dumps(convert(document, self.server, self.client, "answer", options))

    def _folded(self, body: bytes, options: Asked) -> bytes:
        """The whole answer of a server that only streams."""
        reader = EventReader(self.formats[0], strict=self._strict, limits=self._limits)
        answer = fold([*reader.feed(body), *reader.close()])
        answer.source = self.server
        issued(answer, self.profile)
        self._restore(answer)
        return jsontext.dumps(encode(answer, self.client, "answer", options))

    def _restore(self, node: Answer) -> None:
        facts = self._asked()
        facts.answered = node.model.name
        if facts.asked is not None:
            node.model.name = facts.asked
        calls = [part for part in node.parts if part.kind == "tool_call"]
        for n, part in enumerate(calls):
            part.name, part.id, kind = facts.called(part.name, part.id, n)
            if kind == "custom" and part.via is None:
                part.via = "custom"

    def stream(self, *, report: Report | None = None, errors: ErrorPolicy = "encode") -> Translator[bytes]:
        """What translates the server's stream into the client's: bytes in, bytes out.

        ``errors``: as for :func:`translate.convert`.
        """
        facts = self._asked()
        src, dst = self.formats
        options: dict[str, Any] = {
            "model": facts.asked,
            "loss": "drop",
            "errors": errors,
            "strict": self._strict,
            "limits": self._limits,
            "report": report,
        }
        return Staged(src, dst, Answering(facts, self._limits), **options)

    @property
    def formats(self) -> tuple[str, str]:
        """The formats of the server's stream, and of the client's."""
        return f"{self.server}-{self._endpoint.shape}", f"{self.client}-{self._asked().shape}"

    @property
    def stream_types(self) -> Collection[str]:
        """The media types of the server's streams."""
        return self._to.shapes[self._endpoint.shape].media_types

    def error(self, error: Exception | Failure) -> Response:
        """What the client is told of an error: of its own request, of the way to the server, or of a failure."""
        if isinstance(error, Failure):
            return self._failed(error)
        return self._failed(refusal_of(error))

    def _failed(self, failure: Failure) -> Response:
        for each in sorted(filter(None, self._hidden), key=len, reverse=True):
            failure.message = failure.message.replace(each, "[…]")
        return encode_error(failure, self.client)

    def _noted(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The fields of the server's answer that the client is given."""
        given = {name.lower(): value for name, value in headers.items()}
        out = {name: given[name] for name in _PASSED_BACK if name in given}
        id = given.get(REQUEST_ID.get(self.server, OTHER_ID))
        if id is not None:
            out[REQUEST_ID.get(self.client, OTHER_ID)] = id
        if self.client == self.server:
            out |= {name: value for name, value in given.items() if "ratelimit" in name}
        if self.model is not None and self.model != self._asked().asked:
            out["x-translate-model"] = self.model
        return out

    def head(self, headers: Mapping[str, str]) -> dict[str, str]:
        """The fields that a stream of the server's is answered with, beside its media type."""
        return self._noted(headers)

    def _asked(self) -> Facts:
        if self._facts is None:
            raise MisuseError("an answer before its request", expected="request() first")
        return self._facts


def _spoken(format: str) -> tuple[Codec, Endpoint]:
    found = find_codec(format)
    if format != found.name or found.endpoint is None or found.requests is None:
        raise UnsupportedFormat(f"{format!r} has no requests of its own", expected="a format that has some")
    return found, found.endpoint
