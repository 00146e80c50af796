"""The wire of Gemini Interactions as pydantic models: typed access, JSON Schema, and the form half of the strict check.

Unknown members are kept.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, StrictInt, StrictStr


class Kept(BaseModel):
    """Keeps the members it does not know."""

    model_config = ConfigDict(extra="allow")


class Counts(Kept):
    """Tokens so far; what is left out is as it was."""

    total_input_tokens: StrictInt | None = None
    total_tool_use_tokens: StrictInt | None = None
    total_output_tokens: StrictInt | None = None
    total_thought_tokens: StrictInt | None = None
    total_cached_tokens: StrictInt | None = None


class Metadata(Kept):
    """What stands beside an event."""

    usage: Counts | None = None
    total_usage: Counts | None = None


class Interaction(Kept):
    """The interaction, as far as it is known."""

    id: StrictStr | None = None
    model: StrictStr | None = None
    status: StrictStr | None = None
    usage: Counts | None = None


class Step(Kept):
    """What begins: a thought, the model's output, a call, or what a server's tool does."""

    type: StrictStr
    signature: StrictStr | None = None


class Delta(Kept):
    """What was added to the open step."""

    type: StrictStr


class Failed(Kept):
    """What went wrong."""

    message: Any = None
    code: Any = None


class Unit(Kept):
    """An event."""

    event_type: StrictStr
    index: StrictInt | None = None
    interaction: Interaction | None = None
    step: Step | None = None
    delta: Delta | None = None
    metadata: Metadata | None = None
    error: Failed | None = None


MODELS: dict[str, type[BaseModel]] = {"unit": Unit}
