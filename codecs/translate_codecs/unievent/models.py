"""The wire of UniEvent as pydantic models: typed access, JSON Schema, and the form half of the strict check.

Unknown members are kept. ``Unit`` is any unit; one of an unknown event type or item type is an object of any form.
"""

from __future__ import annotations

import base64
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    StrictBytes,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
)


def _base64(text: str) -> str:
    base64.b64decode(text, validate=True)
    return text


Number = StrictInt | StrictFloat
FinishReason = Literal["stop", "length", "tool_call", "unknown"]
"""Why the model finished: the four words. Readers take any other for one of them."""


class Open(BaseModel):
    """Keeps the members it does not know."""

    model_config = ConfigDict(extra="allow")


Fidelity = dict[str, Any] | None
Data = StrictBytes | Annotated[StrictStr, AfterValidator(_base64)]


class TextItem(Open):
    """A fragment of text, or the whole of it."""

    type: Literal["text.delta", "text.done"]
    text: StrictStr
    fidelity: Fidelity = None


class ThinkingItem(Open):
    """A fragment of reasoning, or the whole of it."""

    type: Literal["thinking.delta", "thinking.done"]
    thinking: StrictStr
    fidelity: Fidelity = None


class ToolCallDelta(Open):
    """A fragment of a call; name and id are set on the first one only."""

    type: Literal["tool_call.delta"]
    name: StrictStr
    arguments: StrictStr
    tool_call_id: StrictStr
    fidelity: Fidelity = None


class ToolCallDone(Open):
    """A whole call, its arguments parsed."""

    type: Literal["tool_call.done"]
    name: StrictStr
    arguments: dict[str, Any]
    tool_call_id: StrictStr
    fidelity: Fidelity = None


class InlineItem(Open):
    """Bytes: base64 text on a wire, ``bytes`` as objects."""

    type: Literal["inline_data.delta", "inline_data.done", "inline_thinking.delta", "inline_thinking.done"]
    data: Data
    mime_type: StrictStr
    fidelity: Fidelity = None


class EmbeddingItem(Open):
    """A vector."""

    type: Literal["embedding.delta", "embedding.done"]
    embedding: list[Number]


class UnknownItem(Open):
    """An item of a type that is not in the table."""

    type: StrictStr


_ITEMS = {
    "text": "text",
    "thinking": "thinking",
    "inline_data": "inline",
    "inline_thinking": "inline",
    "embedding": "embedding",
}


def _item_tag(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    name, _, phase = str(kind).partition(".")
    if phase not in ("delta", "done"):
        return "unknown"
    return f"tool_call.{phase}" if name == "tool_call" else _ITEMS.get(name, "unknown")


Item = Annotated[
    Annotated[TextItem, Tag("text")]
    | Annotated[ThinkingItem, Tag("thinking")]
    | Annotated[ToolCallDelta, Tag("tool_call.delta")]
    | Annotated[ToolCallDone, Tag("tool_call.done")]
    | Annotated[InlineItem, Tag("inline")]
    | Annotated[EmbeddingItem, Tag("embedding")]
    | Annotated[UnknownItem, Tag("unknown")],
    Discriminator(_item_tag),
]


class UsageMetadata(Open):
    """The tokens of the request; each may be null."""

    cached_tokens: StrictInt | None = None
    prompt_tokens: StrictInt | None = None
    thoughts_tokens: StrictInt | None = None
    response_tokens: StrictInt | None = None


class DeltaEvent(Open):
    """One item."""

    role: Literal["assistant"]
    event_type: Literal["delta"]
    content_items: Annotated[list[Item], Field(min_length=1, max_length=1)]
    usage_metadata: None = None
    finish_reason: None = None
    created_at: Number | None = None


class StopEvent(Open):
    """The end of a complete stream."""

    role: Literal["assistant"]
    event_type: Literal["stop"]
    content_items: Annotated[list[Item], Field(max_length=0)]
    usage_metadata: UsageMetadata
    finish_reason: FinishReason
    created_at: Number | None = None


class Error(Open):
    """What went wrong."""

    type: StrictStr | None = None
    message: StrictStr | None = None


class ErrorUnit(Open):
    """The end of a stream that failed."""

    error: Error


class UnknownEvent(Open):
    """An event of a type that is not in the table."""

    event_type: StrictStr


def _unit_tag(value: Any) -> str:
    kind = value.get("event_type") if isinstance(value, dict) else getattr(value, "event_type", None)
    if kind is None:
        return "error"
    return str(kind) if kind in ("delta", "stop") else "unknown"


class Unit(RootModel[Any]):
    """Any unit of a UniEvent stream."""

    root: Annotated[
        Annotated[DeltaEvent, Tag("delta")]
        | Annotated[StopEvent, Tag("stop")]
        | Annotated[ErrorUnit, Tag("error")]
        | Annotated[UnknownEvent, Tag("unknown")],
        Discriminator(_unit_tag),
    ]


class UniMessage(Open):
    """An assembled message."""

    role: Literal["user", "assistant"]
    content_items: list[Item]
    usage_metadata: UsageMetadata | None = None
    finish_reason: FinishReason | None = None
    created_at: Number | None = None


MODELS: dict[str, type[BaseModel]] = {"unit": Unit, "message": UniMessage}
