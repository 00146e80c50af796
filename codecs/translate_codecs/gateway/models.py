"""The gateway's wire as pydantic models: typed access, JSON Schema, and the form half of the strict check.

Unknown members are kept. ``Unit`` is any envelope; a frame of an unknown type is an object of any form.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    StrictBool,
    StrictInt,
    StrictStr,
    Tag,
    model_validator,
)


class Open(BaseModel):
    """Keeps the members it does not know."""

    model_config = ConfigDict(extra="allow")


class Model(Open):
    """Who answers."""

    name: StrictStr | None = None
    tier: StrictStr | None = None
    publisher: StrictStr | None = None
    provider: StrictStr | None = None


class ModelFrame(Open):
    """The resolved model of a segment, or the provider that broke."""

    type: Literal["streamStart", "streamError"]
    model: Model


class Marker(Open):
    """Opens a run, or closes an answer run."""

    type: Literal["thinkingStart", "contentStart", "contentEnd"]


class TextFrame(Open):
    """A text delta to append to the open run."""

    type: Literal["thinking", "content"]
    value: StrictStr


class ThinkingEnd(Open):
    """Closes a reasoning run, with the provider state needed to replay it."""

    type: Literal["thinkingEnd"]
    data: dict[str, Any] | None = None


class Call(Open):
    """A whole call."""

    id: StrictStr
    name: StrictStr
    arguments: StrictStr


class ToolFrame(Open):
    """A tool call."""

    type: Literal["tool"]
    value: Call


class Usage(Open):
    """What the request cost, and why it ended."""

    provider: StrictStr
    inputTokens: StrictInt
    outputTokens: StrictInt
    finishReason: StrictStr


class Stop(Open):
    """The model finished."""

    type: Literal["stop"]
    usage: Usage


class UnknownFrame(Open):
    """A frame of a type that is not in the table."""

    type: StrictStr


_FRAMES = {
    "streamStart": "model",
    "streamError": "model",
    "thinkingStart": "marker",
    "contentStart": "marker",
    "contentEnd": "marker",
    "thinking": "text",
    "content": "text",
    "thinkingEnd": "thinkingEnd",
    "tool": "tool",
    "stop": "stop",
}


def _frame_tag(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return _FRAMES.get(kind, "unknown") if isinstance(kind, str) else "unknown"


Frame = Annotated[
    Annotated[ModelFrame, Tag("model")]
    | Annotated[Marker, Tag("marker")]
    | Annotated[TextFrame, Tag("text")]
    | Annotated[ThinkingEnd, Tag("thinkingEnd")]
    | Annotated[ToolFrame, Tag("tool")]
    | Annotated[Stop, Tag("stop")]
    | Annotated[UnknownFrame, Tag("unknown")],
    Discriminator(_frame_tag),
]


class Success(Open):
    """An envelope with a frame."""

    success: Annotated[Literal[True], StrictBool]
    code: StrictInt
    value: Frame


class Failed(Open):
    """An envelope with a failure, and no frame."""

    success: Annotated[Literal[False], StrictBool]
    code: Annotated[StrictInt, Field(ge=400)]
    message: StrictStr

    @model_validator(mode="after")
    def _no_value(self) -> Failed:
        if "value" in (self.model_extra or {}):
            raise ValueError("an error envelope has no value")
        return self


def _unit_tag(value: Any) -> str:
    success = value.get("success") if isinstance(value, dict) else getattr(value, "success", None)
    return "failed" if success is False else "success"


class Unit(RootModel[Any]):
    """Any envelope."""

    root: Annotated[
        Annotated[Success, Tag("success")] | Annotated[Failed, Tag("failed")],
        Discriminator(_unit_tag),
    ]


class Message(Open):
    """An assembled message."""

    type: Literal["thinking", "content", "toolCall"]
    value: StrictStr | Call
    data: dict[str, Any] | None = None


MODELS: dict[str, type[BaseModel]] = {"unit": Unit, "message": Message}
