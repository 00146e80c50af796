"""The message algebra: what a request and a whole answer say, in one vocabulary.

``Request := model, stream, Turn*, Tool*, Choice?, Thinking?, Format?, settings``; ``Turn := role, Part*``;
``Answer := id, model, created, Part*, usage, reason, stop_sequence``. Usage, reason, state and model are those of the
event algebra.

Nodes are slotted and compared by value, but for two members that say nothing of the message. ``path`` is where the
node stood in the source (``messages[3].content[1]``), for reports and errors. ``residue`` holds the members that its
own codec did not take, as ``{codec name: members}``: they are written to that codec alone, and reported to all others.
A turn is a message of the source: decoders never merge, split, hoist or reorder.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args

from ..algebra.events import PART_KINDS, JsonObject, Model, PartKind, Reason, Residue, State, TokenCounts

Role: TypeAlias = Literal["system", "developer", "user", "assistant"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
HEADS: Final = ("system", "developer")
"""Roles of those who instruct."""

Kind: TypeAlias = PartKind | Literal["linked_data", "tool_result", "document_parts", "foreign"]
KINDS: Final[tuple[Kind, ...]] = (*PART_KINDS, "linked_data", "tool_result", "document_parts", "foreign")
Media: TypeAlias = Literal["image", "document", "audio", "video", "file"]


@dataclass(slots=True)
class Annotation:
    """A citation or the like; ``namespace``: whose words ``data`` is in."""

    namespace: str | None
    data: Any
    path: str = field(default="", compare=False)
    """Where it stood, if that was not on its part."""


@dataclass(slots=True)
class Part:
    """A piece of a turn.

    ``data``: text; the raw argument text of a call (of a free text call ``{"input": …}``); base64 text of
    ``inline_data``, as it came; a URL or a file id of ``linked_data``. ``via``: ``url`` or ``file`` of linked data,
    ``text`` of inline data that is plain text and no base64, ``custom`` of a free text call. ``name``: of a call, or
    the title of a document. ``parts``: of a ``tool_result`` and of ``document_parts``. ``unit``: of ``foreign``, and
    of the tools that ran on the provider's side, whole. ``scope`` and ``issued_by``: the account and the model that
    ``state`` came from, where it is known.
    """

    kind: Kind
    data: str = ""
    id: str | None = None
    name: str | None = None
    mime_type: str | None = None
    media: Media | None = None
    via: str | None = None
    state: State | None = None
    annotations: list[Annotation] = field(default_factory=list)
    cache: JsonObject | None = None
    parts: list[Part] = field(default_factory=list)
    error: bool = False
    unit: JsonObject | None = None
    state_path: str = field(default="", compare=False)
    """Where its state stood, if that was elsewhere."""
    scope: str | None = field(default=None, compare=False)
    issued_by: str | None = field(default=None, compare=False)
    residue: Residue | None = field(default=None, compare=False)
    path: str = field(default="", compare=False)


@dataclass(slots=True)
class Turn:
    """One message of a conversation."""

    role: Role
    parts: list[Part] = field(default_factory=list)
    residue: Residue | None = field(default=None, compare=False)
    path: str = field(default="", compare=False)


@dataclass(slots=True)
class Tool:
    """A tool that is offered. ``custom``: it takes free text; ``server``: its codec's own, in ``unit`` as a whole."""

    kind: Literal["function", "custom", "server"] = "function"
    name: str | None = None
    description: str | None = None
    schema: JsonObject | None = None
    strict: bool | None = None
    cache: JsonObject | None = None
    unit: JsonObject | None = None
    residue: Residue | None = field(default=None, compare=False)
    path: str = field(default="", compare=False)


@dataclass(slots=True)
class Choice:
    """Which tools may or must be called.

    ``mode``: ``auto, required, none, tool, allowed``, or a codec's own word. ``names``: of ``tool`` and ``allowed``.
    ``force``: of ``allowed``, one of them must be called. ``parallel``: several at once; ``None`` unknown.
    """

    mode: str | None = None
    names: list[str] = field(default_factory=list)
    force: bool = False
    parallel: bool | None = None
    residue: Residue | None = field(default=None, compare=False)
    path: str = field(default="", compare=False)


@dataclass(slots=True)
class Thinking:
    """How much the model is to think, and whether that is shown.

    ``mode``: ``off, auto, on, between_tools``. ``effort``: one of :data:`translate.messages.effort.EFFORTS`, or a
    codec's own word. ``budget``: tokens. ``show``: ``none, auto, concise, detailed``, or a codec's own word.
    """

    mode: Literal["off", "auto", "on", "between_tools"] | None = None
    effort: str | None = None
    budget: int | None = None
    show: str | None = None
    residue: Residue | None = field(default=None, compare=False)
    paths: dict[str, str] = field(default_factory=dict, compare=False)
    """Where each of the members stood."""


@dataclass(slots=True)
class Format:
    """The form that the answer must have: ``json_schema``, ``json_object``, or a codec's own word."""

    type: str
    name: str | None = None
    description: str | None = None
    schema: JsonObject | None = None
    strict: bool | None = None
    residue: Residue | None = field(default=None, compare=False)
    path: str = field(default="", compare=False)


@dataclass(slots=True)
class Setting:
    """One value of a request's settings, and where it stood."""

    value: Any
    path: str = field(default="", compare=False)


@dataclass(slots=True)
class Request:
    """What is asked. ``settings``: by the names of :data:`translate.messages.settings.SETTINGS`."""

    model: str | None = None
    stream: bool | None = None
    turns: list[Turn] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=list)
    choice: Choice | None = None
    thinking: Thinking | None = None
    format: Format | None = None
    settings: dict[str, Setting] = field(default_factory=dict)
    counts: bool = field(default=True, compare=False)
    """Whether the counts of tokens are wanted in a stream: some formats must be asked for them."""
    source: str | None = field(default=None, compare=False)
    """The codec that read it."""
    residue: Residue | None = field(default=None, compare=False)
    path: str = field(default="", compare=False)


@dataclass(slots=True)
class Answer:
    """A whole answer."""

    id: str | None = None
    model: Model = field(default_factory=Model)
    created: int | float | None = None
    parts: list[Part] = field(default_factory=list)
    usage: TokenCounts = field(default_factory=TokenCounts)
    reason: Reason = field(default_factory=Reason)
    stop_sequence: str | None = None
    source: str | None = field(default=None, compare=False)
    residue: Residue | None = field(default=None, compare=False)
    path: str = field(default="", compare=False)


Node: TypeAlias = Request | Answer | Turn | Part | Tool | Choice | Thinking | Format
