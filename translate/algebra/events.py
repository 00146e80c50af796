"""The event algebra: what every stream of every format says, in one vocabulary.

``stream := (note | Annotate | Start | part | Handover)* (Finish | Failure)``;
``part := Open (Append | Annotate | note)* (Close | Handover | Failure)``; ``note := Ping | Usage | Foreign``.
The grammar as a table is in :mod:`translate.algebra.grammar`; the reference of each event is ``docs/algebra.md``.

Events are slotted and compared by value. Treat them as immutable: codecs share them.

Every event has a ``residue``: what only one codec can say about it, as ``{codec name: JSON object}``. An object
with the member ``"synthetic": true`` was made up by that codec: it says it again, every other encoder drops it. On an
event of :data:`WHOLE` the mark means that the whole event was made up: that of a unit that its format demands.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal, TypeAlias, get_args

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object as Python reads it: ``str`` keys; ``None, bool, int, float, str``, lists and objects as values."""

Residue: TypeAlias = dict[str, JsonObject]
"""Codec name → what only that codec can say of the event."""

PartKind: TypeAlias = Literal[
    "text",
    "thinking",
    "refusal",
    "tool_call",
    "server_tool_call",
    "server_tool_result",
    "inline_data",
    "inline_thinking",
    "embedding",
]
PART_KINDS: tuple[PartKind, ...] = get_args(PartKind)

ReasonWord: TypeAlias = Literal["stop", "length", "tool_call", "refusal", "content_filter", "pause", "unknown"]
REASONS: tuple[ReasonWord, ...] = get_args(ReasonWord)

Data: TypeAlias = str | bytes | list[float]
"""What a part grows by: text, raw argument text, bytes, or a vector."""

GROWS: dict[str, type] = {
    **dict.fromkeys(PART_KINDS, str),
    "inline_data": bytes,
    "inline_thinking": bytes,
    "embedding": list,
}
"""Part kind → the type of ``Append.data`` in it."""


@dataclass(slots=True)
class Model:
    """Who answers. ``None`` is unknown."""

    name: str | None = None
    tier: str | None = None
    publisher: str | None = None
    provider: str | None = None


@dataclass(slots=True)
class TokenCounts:
    """Tokens so far. ``input_tokens`` include cached ones, ``output_tokens`` include reasoning. ``None`` is unknown."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    provider: str | None = None
    other: JsonObject = field(default_factory=dict)


@dataclass(slots=True)
class Reason:
    """Why the model finished: the mapped word, and the source's own where that says more."""

    word: ReasonWord = "unknown"
    raw: str | None = None


@dataclass(slots=True)
class State:
    """Opaque provider state. ``namespace``: who issued it; ``None`` unknown, ``""`` known to have none."""

    namespace: str | None
    values: JsonObject


@dataclass(slots=True)
class Start:
    """The stream, or after a handover its next segment, opened. ``created``: Unix time in seconds."""

    model: Model = field(default_factory=Model)
    id: str | None = None
    created: int | float | None = None
    residue: Residue | None = None


@dataclass(slots=True)
class Open:
    """A part begins. ``name`` is for tools, ``id`` for them and for parts that have one, ``mime_type`` for bytes."""

    kind: PartKind
    id: str | None = None
    name: str | None = None
    mime_type: str | None = None
    residue: Residue | None = None


@dataclass(slots=True)
class Append:
    """The open part grows by ``data``; ``state`` is provider state that arrived with this fragment."""

    data: Data
    state: State | None = None
    residue: Residue | None = None


@dataclass(slots=True)
class Annotate:
    """A citation or the like, attached to the open part. ``data`` is any JSON value."""

    namespace: str | None
    data: Any
    residue: Residue | None = None


@dataclass(slots=True)
class Close:
    """The open part is over. ``cut``: the wire says that it was cut off: half a call is never taken for a whole one."""

    cut: bool = False
    residue: Residue | None = None


@dataclass(slots=True)
class Handover:
    """The named provider broke after producing output; another may follow. Ends the open part, if any."""

    model: Model = field(default_factory=Model)
    residue: Residue | None = None


@dataclass(slots=True)
class Usage:
    """Counts so far, cumulative: the latest stands."""

    usage: TokenCounts = field(default_factory=TokenCounts)
    residue: Residue | None = None


@dataclass(slots=True)
class Finish:
    """The model finished. Always last."""

    usage: TokenCounts = field(default_factory=TokenCounts)
    reason: Reason = field(default_factory=Reason)
    residue: Residue | None = None


@dataclass(slots=True)
class Failure:
    """The stream failed. Always last. ``code`` is an HTTP status, ``kind`` the reported class, ``details`` the rest."""

    code: int | None
    message: str
    kind: str | None = None
    details: JsonObject = field(default_factory=dict)
    residue: Residue | None = None


@dataclass(slots=True)
class Ping:
    """Keep-alive. No meaning, but it keeps connections open."""

    residue: Residue | None = None


@dataclass(slots=True)
class Foreign:
    """A well-formed unit of ``codec`` that has no meaning in the algebra, whole."""

    codec: str
    unit: JsonObject
    residue: Residue | None = None


Event: TypeAlias = Start | Open | Append | Annotate | Close | Handover | Usage | Finish | Failure | Ping | Foreign
EVENTS: dict[str, type[Event]] = {cls.__name__.lower(): cls for cls in get_args(Event)}
"""Name of an event in its JSON form → its class."""
NAMES: dict[type, str] = {cls: name for name, cls in EVENTS.items()}
FIELDS: dict[type, tuple[str, ...]] = {
    cls: tuple(f.name for f in fields(cls) if f.name != "residue")
    for cls in (*EVENTS.values(), Model, TokenCounts, State)
}
"""The members of an event but for its residue, and of what events hold, in order."""


WHOLE: tuple[type[Event], ...] = (Start, Usage, Foreign)
"""Events that may be synthetic as a whole."""


def _repr(value: Any) -> str:
    """As a dataclass is shown, without the members that are as they are by default."""
    given = (
        f"{f.name}={found!r}"
        for f in fields(value)
        if (found := getattr(value, f.name)) != (f.default if f.default_factory is MISSING else f.default_factory())
    )
    return f"{type(value).__name__}({', '.join(given)})"


for _class in (*EVENTS.values(), Model, TokenCounts, Reason, State):
    setattr(_class, "__repr__", _repr)  # noqa: B010  # mypy takes no method in this way


def with_residue(event: Event, residue: Residue | None) -> Event:
    """A copy with another residue."""
    cls: Any = type(event)
    return cls(*[getattr(event, name) for name in FIELDS[cls]], residue)  # type: ignore[no-any-return]


def bare(event: Event) -> Event:
    """The event without its residue."""
    return event if event.residue is None else with_residue(event, None)


def is_synthetic(event: Event, codec: str) -> bool:
    """Whether ``codec`` made up its residue of ``event``."""
    return bool(event.residue and event.residue.get(codec, {}).get("synthetic"))


def made_up_by_another(event: Event, codec: str) -> bool:
    """Whether the whole event was made up by a codec other than ``codec``, and so is not to be said by it."""
    return (
        type(event) in WHOLE
        and event.residue is not None
        and any(name != codec and own.get("synthetic") for name, own in event.residue.items())
    )
