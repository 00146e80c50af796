"""The wire of Chat Completions as pydantic models: typed access, JSON Schema, and the form half of the strict check.

Unknown members are kept: vendors add their own everywhere.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, field_validator


class Kept(BaseModel):
    """Keeps the members it does not know."""

    model_config = ConfigDict(extra="allow")


class Function(Kept):
    """What is called: the name once, the arguments in pieces of raw text."""

    name: StrictStr | None = None
    arguments: StrictStr | dict[str, Any] | None = None


class Custom(Kept):
    """A tool that takes free text."""

    name: StrictStr | None = None
    input: StrictStr | None = None


class ToolCall(Kept):
    """A piece of a call, which is known by its index."""

    index: StrictInt | None = None
    id: StrictStr | None = None
    type: StrictStr | None = None
    function: Function | None = None
    custom: Custom | None = None


class ReasoningDetail(Kept):
    """A piece of reasoning, or its state: text, summary, signature, encrypted data."""

    type: StrictStr | None = None
    format: StrictStr | None = None
    index: StrictInt | None = None


class Delta(Kept):
    """What was added."""

    role: StrictStr | None = None
    content: StrictStr | list[dict[str, Any]] | None = None
    reasoning_content: StrictStr | None = None
    reasoning: StrictStr | None = None
    reasoning_details: list[ReasoningDetail] | None = None
    refusal: StrictStr | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None
    annotations: list[Any] | None = None
    audio: dict[str, Any] | None = None
    executed_tools: list[dict[str, Any]] | None = None


class Choice(Kept):
    """The one choice: one stream is one message."""

    index: StrictInt | None = Field(default=0, le=0, ge=0)
    delta: Delta | None = None
    finish_reason: StrictStr | None = None


class Counts(Kept):
    """Tokens so far."""

    prompt_tokens: StrictInt | None = None
    completion_tokens: StrictInt | None = None
    total_tokens: StrictInt | None = None
    prompt_tokens_details: dict[str, Any] | None = None
    completion_tokens_details: dict[str, Any] | None = None


class Unit(Kept):
    """A chunk, or an error."""

    id: StrictStr | None = None
    object: StrictStr | None = None
    created: StrictInt | StrictFloat | None = None
    model: StrictStr | None = None
    choices: list[Choice] | None = Field(default=None, max_length=1)
    usage: Counts | None = None
    error: Any = None

    @field_validator("created", mode="before")
    @classmethod
    def _created(cls, value: Any) -> Any:
        # some servers send text, which says nothing here
        return None if isinstance(value, str) else value


MODELS: dict[str, type[BaseModel]] = {"unit": Unit}
