"""The wire of Anthropic Messages as pydantic models: typed access, JSON Schema, and the form half of the strict check.

Unknown members are kept. A unit, a block or a delta of unknown type is an object of any form.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, RootModel, StrictInt, StrictStr, Tag


def _type_of(value: Any) -> Any:
    return value.get("type") if isinstance(value, dict) else getattr(value, "type", None)


class Kept(BaseModel):
    """Keeps the members it does not know."""

    model_config = ConfigDict(extra="allow")


class OutputDetails(Kept):
    """What the output tokens are."""

    thinking_tokens: StrictInt | None = None


class Usage(Kept):
    """Counts so far. ``input_tokens`` are those that no cache held."""

    input_tokens: StrictInt | None = None
    cache_creation_input_tokens: StrictInt | None = None
    cache_read_input_tokens: StrictInt | None = None
    cache_creation: dict[str, Any] | None = None
    output_tokens: StrictInt | None = None
    output_tokens_details: OutputDetails | None = None
    server_tool_use: dict[str, Any] | None = None


class TextBlock(Kept):
    """Text for the user."""

    type: Literal["text"]
    text: StrictStr


class ThinkingBlock(Kept):
    """Reasoning, and what proves that the model said it."""

    type: Literal["thinking"]
    thinking: StrictStr | None = None
    signature: StrictStr | None = None


class RedactedThinkingBlock(Kept):
    """Reasoning that only the provider can read."""

    type: Literal["redacted_thinking"]
    data: StrictStr


class ToolUseBlock(Kept):
    """A call, of the client's tool or of the provider's."""

    type: Literal["tool_use", "server_tool_use", "mcp_tool_use"]
    id: StrictStr
    name: StrictStr
    input: dict[str, Any] | None = None


class ToolResultBlock(Kept):
    """What a tool of the provider's answered; its type is that of the tool."""

    type: Annotated[StrictStr, Field(pattern="_tool_result$")]
    tool_use_id: StrictStr


class UnknownBlock(Kept):
    """A block of a type that has no meaning here."""

    type: StrictStr


_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


def _block_tag(value: Any) -> str:
    kind = _type_of(value)
    if isinstance(kind, str) and kind.endswith("_tool_result"):
        return "result"
    if kind in _CALLS:
        return "call"
    return str(kind) if kind in ("text", "thinking", "redacted_thinking") else "unknown"


Block = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ThinkingBlock, Tag("thinking")]
    | Annotated[RedactedThinkingBlock, Tag("redacted_thinking")]
    | Annotated[ToolUseBlock, Tag("call")]
    | Annotated[ToolResultBlock, Tag("result")]
    | Annotated[UnknownBlock, Tag("unknown")],
    Discriminator(_block_tag),
]


class Message(Kept):
    """The message: as it begins, or assembled."""

    id: StrictStr | None = None
    model: StrictStr | None = None
    content: list[Block] | None = None
    stop_reason: StrictStr | None = None
    usage: Usage | None = None


class MessageStart(Kept):
    """The message begins."""

    type: Literal["message_start"]
    message: Message


class ContentBlockStart(Kept):
    """A block begins."""

    type: Literal["content_block_start"]
    index: StrictInt
    content_block: Block


_DELTAS = ("text_delta", "thinking_delta", "input_json_delta", "signature_delta", "citations_delta")


def _delta_tag(value: Any) -> str:
    return "known" if _type_of(value) in _DELTAS else "unknown"


class Delta(Kept):
    """What a block grows by; which member holds it depends on the type."""

    type: StrictStr
    text: StrictStr | None = None
    thinking: StrictStr | None = None
    partial_json: StrictStr | None = None
    signature: StrictStr | None = None


class ContentBlockDelta(Kept):
    """The open block grows; one of unknown type may hold what it likes."""

    type: Literal["content_block_delta"]
    index: StrictInt
    delta: Annotated[
        Annotated[Delta, Tag("known")] | Annotated[UnknownBlock, Tag("unknown")], Discriminator(_delta_tag)
    ]


class ContentBlockStop(Kept):
    """The open block is over."""

    type: Literal["content_block_stop"]
    index: StrictInt


class MessageEnd(Kept):
    """Why the message ended."""

    stop_reason: StrictStr | None = None


class MessageDelta(Kept):
    """The reason, and the counts so far."""

    type: Literal["message_delta"]
    delta: MessageEnd
    usage: Usage | None = None


class Error(Kept):
    """What went wrong."""

    type: StrictStr | None = None
    message: StrictStr | None = None


class ErrorUnit(Kept):
    """The end of a stream that failed."""

    type: Literal["error"]
    error: Error


class OtherUnit(Kept):
    """``message_stop``, ``ping``, and units of unknown type."""

    type: StrictStr


_UNITS = (
    *("message_start", "content_block_start", "content_block_delta"),
    *("content_block_stop", "message_delta", "error"),
)


def _unit_tag(value: Any) -> str:
    kind = _type_of(value)
    return str(kind) if kind in _UNITS else "other"


class Unit(RootModel[Any]):
    """Any unit of a stream."""

    root: Annotated[
        Annotated[MessageStart, Tag("message_start")]
        | Annotated[ContentBlockStart, Tag("content_block_start")]
        | Annotated[ContentBlockDelta, Tag("content_block_delta")]
        | Annotated[ContentBlockStop, Tag("content_block_stop")]
        | Annotated[MessageDelta, Tag("message_delta")]
        | Annotated[ErrorUnit, Tag("error")]
        | Annotated[OtherUnit, Tag("other")],
        Discriminator(_unit_tag),
    ]


MODELS: dict[str, type[BaseModel]] = {"unit": Unit, "message": Message}
