"""The wire of OpenAI Responses as pydantic models: typed access, JSON Schema, and the form half of the strict check.

Unknown members are kept. A unit or an item of unknown type is an object of any form.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, RootModel, StrictInt, StrictStr, Tag


class Kept(BaseModel):
    """Keeps the members it does not know."""

    model_config = ConfigDict(extra="allow")


class InputDetails(Kept):
    """What the input tokens are."""

    cached_tokens: StrictInt | None = None


class OutputDetails(Kept):
    """What the output tokens are."""

    reasoning_tokens: StrictInt | None = None


class Usage(Kept):
    """Counts of the whole response."""

    input_tokens: StrictInt | None = None
    input_tokens_details: InputDetails | None = None
    output_tokens: StrictInt | None = None
    output_tokens_details: OutputDetails | None = None
    total_tokens: StrictInt | None = None


class ContentPart(Kept):
    """A part of a message, of a summary, or of what was reasoned; which member holds its text depends on the type."""

    type: StrictStr
    text: StrictStr | None = None
    refusal: StrictStr | None = None
    annotations: list[dict[str, Any]] | None = None


class Item(Kept):
    """An item of the output; which members it has depends on the type."""

    type: StrictStr
    id: StrictStr | None = None
    call_id: StrictStr | None = None
    name: StrictStr | None = None
    content: list[ContentPart] | None = None
    summary: list[ContentPart] | None = None
    encrypted_content: StrictStr | None = None


class Details(Kept):
    """Why a response is incomplete."""

    reason: StrictStr | None = None


class Response(Kept):
    """The response: as it begins, as it ended, or assembled."""

    id: StrictStr | None = None
    model: StrictStr | None = None
    status: StrictStr | None = None
    output: list[Item] | None = None
    usage: Usage | None = None
    error: dict[str, Any] | None = None
    incomplete_details: Details | None = None


class Counted(Kept):
    """What every unit has."""

    type: StrictStr
    sequence_number: StrictInt | None = None


class ResponseUnit(Counted):
    """The state of the whole response."""

    response: Response


class ItemUnit(Counted):
    """An item begins, or is over."""

    output_index: StrictInt | None = None
    item: Item


class Placed(Counted):
    """What a unit speaks of."""

    item_id: StrictStr | None = None
    output_index: StrictInt | None = None
    content_index: StrictInt | None = None
    summary_index: StrictInt | None = None


class PartUnit(Placed):
    """A part of an item begins, or is over."""

    part: ContentPart


class DeltaUnit(Placed):
    """An item grows, or a part of it."""

    delta: StrictStr
    obfuscation: StrictStr | None = None


class AnnotationUnit(Placed):
    """A citation of the open part of text."""

    annotation: Any
    annotation_index: StrictInt | None = None


class ErrorUnit(Counted):
    """What went wrong: nested, or its members flat."""

    type: Literal["error"]  # pyright: ignore[reportIncompatibleVariableOverride]
    error: dict[str, Any] | None = None
    message: StrictStr | None = None


class OtherUnit(Placed):
    """Repeats, progress, keep-alives, and units of unknown type."""


_RESPONSES = ("created", "queued", "in_progress", "completed", "incomplete", "failed")
_PARTS = ("content_part", "reasoning_part", "reasoning_summary_part")
_DELTAS = (
    *("output_text", "refusal", "reasoning_text", "reasoning_summary_text"),
    *("function_call_arguments", "custom_tool_call_input"),
)
_TAGS = {
    **{f"response.{name}": "response" for name in _RESPONSES},
    **{f"response.output_item.{end}": "item" for end in ("added", "done")},
    **{f"response.{name}.{end}": "part" for name in _PARTS for end in ("added", "done")},
    **{f"response.{name}.delta": "delta" for name in _DELTAS},
    "response.output_text.annotation.added": "annotation",
    "error": "error",
}


def _tag(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return _TAGS.get(kind, "other") if isinstance(kind, str) else "other"


class Unit(RootModel[Any]):
    """Any unit of a stream."""

    root: Annotated[
        Annotated[ResponseUnit, Tag("response")]
        | Annotated[ItemUnit, Tag("item")]
        | Annotated[PartUnit, Tag("part")]
        | Annotated[DeltaUnit, Tag("delta")]
        | Annotated[AnnotationUnit, Tag("annotation")]
        | Annotated[ErrorUnit, Tag("error")]
        | Annotated[OtherUnit, Tag("other")],
        Discriminator(_tag),
    ] = Field()


MODELS: dict[str, type[BaseModel]] = {"unit": Unit, "response": Response}
