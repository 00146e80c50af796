"""The JSON form of events as pydantic models: the JSON Schema of ``events-jsonl`` and of the entries of a carry."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from .. import jsontext
from ..errors import DecodeError
from .events import PartKind, ReasonWord
from .json_form import base64_bytes


def _base64(text: str) -> str:
    base64_bytes(text)
    return text


Base64: TypeAlias = Annotated[
    StrictStr, AfterValidator(_base64), Field(json_schema_extra={"contentEncoding": "base64"})
]


class Closed(BaseModel):
    """Has the members of its table and no others."""

    model_config = ConfigDict(extra="forbid")


class Number(Closed):
    """A number that JSON has not: ``{"$number": "NaN"}``."""

    number: StrictStr = Field(alias="$number")


class ModelForm(Closed):
    """Who answers; a member that is unknown is left out."""

    name: StrictStr | None = None
    tier: StrictStr | None = None
    publisher: StrictStr | None = None
    provider: StrictStr | None = None


class TokenCountsForm(Closed):
    """Tokens so far."""

    input_tokens: StrictInt | None = None
    output_tokens: StrictInt | None = None
    cached_tokens: StrictInt | None = None
    reasoning_tokens: StrictInt | None = None
    provider: StrictStr | None = None
    other: dict[str, Any] | None = None


class StateForm(Closed):
    """Opaque provider state; ``namespace`` is left out where it is unknown, empty where there is none."""

    namespace: StrictStr | None = None
    values: dict[str, Any]


class EventForm(Closed):
    """What every event may have."""

    residue: dict[str, dict[str, Any]] | None = None


class StartForm(EventForm):
    """The stream, or its next segment, opened."""

    event: Literal["start"]
    model: ModelForm | None = None
    id: StrictStr | None = None
    created: StrictInt | StrictFloat | Number | None = None


class OpenForm(EventForm):
    """A part begins."""

    event: Literal["open"]
    kind: PartKind
    id: StrictStr | None = None
    name: StrictStr | None = None
    mime_type: StrictStr | None = None


class AppendForm(EventForm):
    """The open part grows by exactly one of ``text``, ``bytes`` (base64) and ``vector``."""

    event: Literal["append"]
    text: StrictStr | None = None
    bytes: Base64 | None = None
    vector: list[StrictInt | StrictFloat | Number] | None = None
    state: StateForm | None = None

    @model_validator(mode="after")
    def _one(self) -> AppendForm:
        if sum(value is not None for value in (self.text, self.bytes, self.vector)) != 1:
            raise ValueError("an append has exactly one of text, bytes and vector")
        return self


class AnnotateForm(EventForm):
    """A citation or the like."""

    event: Literal["annotate"]
    namespace: StrictStr | None = None
    data: Any


class CloseForm(EventForm):
    """The open part is over; ``cut``: the wire says that it was cut off."""

    event: Literal["close"]
    cut: StrictBool = False


class HandoverForm(EventForm):
    """The named provider broke."""

    event: Literal["handover"]
    model: ModelForm | None = None


class UsageForm(EventForm):
    """Counts so far."""

    event: Literal["usage"]
    usage: TokenCountsForm | None = None


class FinishForm(EventForm):
    """The model finished."""

    event: Literal["finish"]
    usage: TokenCountsForm | None = None
    reason: ReasonWord | None = "unknown"
    raw: StrictStr | None = None


class FailureForm(EventForm):
    """The stream failed."""

    event: Literal["failure"]
    code: StrictInt | None = None
    message: StrictStr
    kind: StrictStr | None = None
    details: dict[str, Any] | None = None


class PingForm(EventForm):
    """Keep-alive."""

    event: Literal["ping"]


class ForeignForm(EventForm):
    """A unit that has no meaning in the algebra."""

    event: Literal["foreign"]
    codec: StrictStr
    unit: dict[str, Any]


class Unit(RootModel[Any]):
    """Any event."""

    root: Annotated[
        StartForm
        | OpenForm
        | AppendForm
        | AnnotateForm
        | CloseForm
        | HandoverForm
        | UsageForm
        | FinishForm
        | FailureForm
        | PingForm
        | ForeignForm,
        Field(discriminator="event"),
    ]

    @field_validator("root", mode="before")
    @classmethod
    def _numbers(cls, value: Any) -> Any:
        try:
            jsontext.from_strict(value)
        except DecodeError as error:
            raise ValueError(str(error)) from None
        return value


MODELS: dict[str, type[BaseModel]] = {"unit": Unit}
