"""The wire of Gemini as pydantic models: typed access, JSON Schema, and the form half of the strict check.

Unknown members are kept.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr


class Kept(BaseModel):
    """Keeps the members it does not know."""

    model_config = ConfigDict(extra="allow")


class PartialArg(Kept):
    """A piece of the arguments: where it belongs, and one value."""

    jsonPath: StrictStr
    stringValue: StrictStr | None = None
    numberValue: StrictInt | StrictFloat | None = None
    boolValue: StrictBool | None = None
    nullValue: StrictStr | None = None
    willContinue: StrictBool | None = None


class FunctionCall(Kept):
    """A call: whole, or its beginning and its pieces."""

    name: StrictStr | None = None
    id: StrictStr | None = None
    args: dict[str, Any] | None = None
    partialArgs: list[PartialArg] | None = None
    willContinue: StrictBool | None = None


class Blob(Kept):
    """Data within the message, as base64."""

    mimeType: StrictStr | None = None
    data: StrictStr | None = None


class Part(Kept):
    """One part: text, a thought, a call, data, or what a tool of the provider said."""

    text: StrictStr | None = None
    thought: StrictBool | None = None
    thoughtSignature: StrictStr | None = None
    functionCall: FunctionCall | None = None
    inlineData: Blob | None = None
    executableCode: dict[str, Any] | None = None
    codeExecutionResult: dict[str, Any] | None = None
    toolCall: dict[str, Any] | None = None
    toolResponse: dict[str, Any] | None = None


class Content(Kept):
    """What was added."""

    role: StrictStr | None = None
    parts: list[Part] | None = None


class Candidate(Kept):
    """The one candidate: one stream is one message."""

    content: Content | None = None
    index: StrictInt | None = Field(default=0, le=0, ge=0)
    finishReason: StrictStr | StrictInt | None = None


class UsageMetadata(Kept):
    """Tokens so far, by themselves: what is left out here is not as it was."""

    promptTokenCount: StrictInt | None = None
    toolUsePromptTokenCount: StrictInt | None = None
    candidatesTokenCount: StrictInt | None = None
    thoughtsTokenCount: StrictInt | None = None
    cachedContentTokenCount: StrictInt | None = None
    totalTokenCount: StrictInt | None = None


class PromptFeedback(Kept):
    """What became of the prompt."""

    blockReason: StrictStr | None = None


class Unit(Kept):
    """A chunk, or an error."""

    candidates: list[Candidate] | None = Field(default=None, max_length=1)
    usageMetadata: UsageMetadata | None = None
    modelVersion: Any = None
    responseId: Any = None
    promptFeedback: PromptFeedback | None = None
    error: Any = None


MODELS: dict[str, type[BaseModel]] = {"unit": Unit}
