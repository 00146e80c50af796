"""What a codec may have beside its stream: requests, whole answers and error bodies, each read and written.

A codec's author reads a document into the algebra (``decode``) and writes it from there (``encode``). Identity, the
carry, reports, envelopes, ids and pairs are done here for all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from re import Pattern
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from .. import jsontext
from ..algebra.calls import parse_arguments
from ..algebra.events import Failure, JsonObject, State
from ..algebra.states import REDACTED, is_hint
from ..errors import TranslateError
from ..limits import Limits
from .envelope import Unreadable, digest, is_envelope, opened
from .ids import MADE, Ids, true_id, written_id
from .members import Rest, at
from .nodes import Answer, Node, Part, Request, Tool
from .profiles import Profile
from .reasons import why
from .telling import LossClass, Telling
from .tools import written_name

if TYPE_CHECKING:
    from pydantic import BaseModel

    from .places import Places

Seal: TypeAlias = Literal["off", "message", "ids"]
Headers: TypeAlias = Mapping[str, str]


@dataclass(slots=True)
class Reading:
    """One document that is read.

    ``raw``: envelopes are left as they are. ``issuer``: of the server it came from. ``whole_answer``: it is an answer.
    """

    format: str
    telling: Telling
    limits: Limits = field(default_factory=Limits)
    raw: bool = False
    issuer: str | None = None
    whole_answer: bool = False

    def id(self, id: str | None) -> str | None:
        """The true id that an id of the wire stands for."""
        return id if self.raw else true_id(id)

    def text(self, arguments: Any) -> str:
        """The text of arguments that came as an object."""
        return jsontext.dumps(arguments).decode("utf-8", "surrogatepass")

    def is_sealed(self, text: object) -> bool:
        """Whether a text is an envelope, or claims to be one."""
        return not self.raw and is_envelope(text)

    def open(self, text: str, path: str) -> JsonObject:
        """The members of an envelope; none where it cannot be read, which is told."""
        try:
            return opened(text, self.limits.state)
        except Unreadable as error:
            self.telling.lost("state", path, "state", why("envelope", self.format, str(error)))
            return {}

    def unseal(self, part: Part, members: JsonObject) -> None:
        """Give a part the state that an envelope holds, if its text is still the one that was sealed."""
        known = members.get("h")
        if known is not None and known != digest(part.data):
            self.telling.lost("state", part.path, "state", why("changed", self.format))
            return
        part.scope, part.issued_by = members.get("s"), members.get("m")
        if members.get("d"):
            part.state = State(members.get("i"), members["d"])


@dataclass(slots=True)
class Writing:
    """One document that is written. ``client``: to whoever asked; else to a server, by its ``profile``."""

    target: str
    source: str | None
    profile: Profile
    telling: Telling
    ids: Ids
    charset: Pattern[str] | None = None
    ids_may_lack: bool = False
    client: bool = False
    seal: Seal = "off"
    foreign_thinking: Literal["drop", "text"] = "drop"
    limits: Limits = field(default_factory=Limits)
    in_list: bool = False
    """Only the messages are wanted."""
    spelled: bool = False
    """Numbers in arguments keep their spelling."""
    classes: Mapping[str, Mapping[str, LossClass]] = field(default_factory=dict)
    """Codec → member → class of the loss of a member that only that codec knows."""

    @property
    def home(self) -> bool:
        """Whether it came from the format that it goes to."""
        return self.source == self.target

    def lost(self, kind: LossClass, path: str, field: str, key: str, what: str = "") -> None:
        """Tell a loss; ``key``: of the reason."""
        self.telling.lost(kind, path, field, why(key, self.target, what))

    def guess(self, path: str, field: str, key: str, what: str = "") -> None:
        """Tell a guess."""
        self.telling.guess(path, field, why(key, self.target, what))

    def repair(self, path: str, field: str, key: str, what: str = "") -> None:
        """Tell a repair."""
        self.telling.repair(path, field, why(key, self.target, what))

    def rest(self, node: Node, out: JsonObject | None = None, path: str | None = None) -> None:
        """Write what only this codec says of a node into ``out``, and tell what only others say."""
        for codec, members in (node.residue or {}).items():
            if codec == self.target and out is not None:
                for key, value in members.items():
                    if isinstance(value, dict) and isinstance(out.get(key), dict):
                        out[key] = {**value, **out[key]}
                    else:
                        out.setdefault(key, value)
                continue
            where = getattr(node, "path", "") if path is None else path
            self._rest(members, where, self.classes.get(codec, {}), "incidental")

    def _rest(self, members: JsonObject, where: str, classes: Mapping[str, LossClass], usual: LossClass) -> None:
        for key, value in members.items():
            path, kind = f"{where}.{key}" if where else key, classes.get(key, usual)
            if isinstance(value, Rest):
                self._rest(value, path, classes, kind)
            else:
                self.lost(kind, path, key, "member")

    def part_rest(
        self, part: Part, out: JsonObject | None = None, says: tuple[str, ...] = (), *, user: bool = True
    ) -> None:
        """As :meth:`rest`, and tell what of a part is not said; ``says``: what of that is."""
        if part.cache and "cache" not in says:
            self.lost("tuning", part.path, "cache", "cache")
        if part.annotations and "annotations" not in says:
            self.uncited(part, "", user=user)
        if part.error and "error" not in says:
            self.lost("tuning", part.path, "error", "error flag")
        if part.name and "name" not in says:
            self.lost("incidental", part.path, "title", "title")
        self.rest(part, out)

    def server_tool(self, tool: Tool) -> list[JsonObject]:
        """A tool that runs on the side of its format's servers: itself at home, told and nothing elsewhere."""
        if self.home and tool.unit is not None:
            return [tool.unit]
        self.lost("control", tool.path, "tool", "tool", self.source or "another format")
        return []

    def tool_rest(self, tool: Tool, out: JsonObject, says: tuple[str, ...] = ()) -> None:
        """As :meth:`part_rest`, of a tool that is a function."""
        if tool.strict is not None and "strict" not in says:
            self.lost("tuning", tool.path, "strict", "setting", "strict")
        if tool.cache and "cache" not in says:
            self.lost("tuning", tool.path, "cache", "cache")
        self.rest(tool, out)

    def uncited(self, part: Part, own: str | None, *, user: bool = False) -> None:
        """Tell the annotations of a part that are not said: those of others than ``own``."""
        for path in dict.fromkeys(each.path or part.path for each in part.annotations if each.namespace != own):
            self.lost("content" if user else "incidental", path, "citations", "citations")

    def id(self, part: Part) -> str | None:
        """The id of a call or a result, as the target takes it; ``None`` where it is to be left out."""
        found = self.ids.of(part)
        if self.ids_may_lack and found.startswith(MADE):
            return None
        return written_id(found, self.charset, None if self.client else self.profile.id_max)

    def name(self, name: str | None) -> str:
        """A tool's name, as the target takes it."""
        return name or "" if self.client else written_name(name or "", self.profile.name_max)

    def arguments(self, part: Part) -> JsonObject:
        """The arguments of a call as an object. Raises :class:`ToolArgumentsError`, which names the path."""
        nesting = self.limits.nesting
        try:
            found = parse_arguments(part.data, part.name or "", part.id or "", nesting)
        except TranslateError as error:
            raise at(part.path, error) from None
        if self.spelled and found:
            return jsontext.loads_str(part.data, nesting, spelled=True)  # type: ignore[no-any-return]
        return found

    def knows(self, part: Part) -> bool:
        """Whether the state of a part is at home with the server that this goes to."""
        state, profile = part.state, self.profile
        if state is None:
            return False
        if state.namespace:
            strange = part.scope and profile.scope and part.scope != profile.scope
            return state.namespace == profile.issuer and not strange
        return self.home or profile.trust_unknown

    def state(self, part: Part) -> State | None:
        """The state of a part, if the server may see it; else that is told."""
        if part.state is None:
            return None
        if self.knows(part):
            return part.state
        if not is_hint(part.state):
            self.lost("state", part.state_path or part.path, "state", "state")
        return None

    def stays_home(self, part: Part) -> str | None:
        """Thinking that a server did not sign: it stays home, which is told, or is the text that is returned."""
        if part.state_path:
            self.lost("state", part.state_path, "state", "state")
        if self.foreign_thinking == "text" and part.data not in ("", REDACTED):
            return f"<thinking>{part.data}</thinking>"
        self.lost("state", part.path, "thinking", "thinking")
        return None


class Requests(ABC):
    """The requests of a format.

    ``profiles``: of its servers, by name, the usual one first. ``listed``: the member that holds the conversation.
    ``charset``: of ids; ``ids_may_lack``: a call may have none. ``classes``: of the loss of its own members.
    """

    profiles: ClassVar[Mapping[str, Profile]]
    listed: ClassVar[str] = "messages"
    charset: ClassVar[Pattern[str] | None] = None
    ids_may_lack: ClassVar[bool] = False
    classes: ClassVar[Mapping[str, LossClass]] = {}

    @abstractmethod
    def decode(self, document: JsonObject, reading: Reading) -> Request:
        """The request that a document is. Raises :class:`DecodeError` with its path. Changes nothing."""

    @abstractmethod
    def encode(self, request: Request, writing: Writing) -> JsonObject:
        """The document of a request, for a server. Raises :class:`ToolArgumentsError`."""

    def stored(self, document: JsonObject) -> str | None:
        """The path of what a document needs that only its own server has stored."""
        return None

    def model(self) -> type[BaseModel] | None:
        """The pydantic model of a document, for the strict check."""
        return None


class Answers(ABC):
    """The whole answers of a format. ``places``: where its clients keep envelopes in a stream, if they do."""

    classes: ClassVar[Mapping[str, LossClass]] = {}
    places: ClassVar[Places | None] = None

    @abstractmethod
    def decode(self, document: JsonObject, reading: Reading) -> Answer:
        """The answer that a document is. Raises :class:`DecodeError`, and :class:`UpstreamFailure` for an error."""

    @abstractmethod
    def encode(self, answer: Answer, writing: Writing) -> JsonObject:
        """The document of an answer, for a client."""

    def model(self) -> type[BaseModel] | None:
        """The pydantic model of a document, for the strict check."""
        return None


class Errors(ABC):
    """The error bodies of a format."""

    @abstractmethod
    def decode(self, status: int, body: Any) -> Failure:
        """The failure that a body says; ``kind`` is one of :data:`translate.messages.failures.KINDS`."""

    @abstractmethod
    def encode(self, failure: Failure) -> tuple[int, JsonObject]:
        """The status and the body that say a failure."""
