"""Gateway: what the engine must know of the format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from pydantic import BaseModel

from translate.algebra.calls import same_call
from translate.algebra.events import (
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Handover,
    JsonObject,
    Model,
    Open,
    Start,
)
from translate.algebra.parts import Part, parts
from translate.codec import Codec, Options
from translate.shapes import Shape
from translate.shapes.lines import Lines
from translate.shapes.objects import Objects
from translate.shapes.sse import Sse

from . import models
from .answers import GatewayAnswers
from .encoder import GatewayEncoder
from .failures import GatewayErrors
from .requests import GatewayRequests
from .words import (
    NAME,
    assembled,
    error_envelope,
    guessed_issuer,
    kind_of_frame,
    known_model,
    said_open,
    same_data,
    same_finish,
    same_state,
    state_data,
)


class Gateway(Codec):
    """The codec of the gateway's frames."""

    name: ClassVar[str] = NAME
    shapes: ClassVar[Mapping[str, Shape]] = {"": Objects(), "jsonl": Lines(), "sse": Sse()}
    says = frozenset({"start", "handover", "text", "thinking", "refusal", "tool_call", "finish", "failure"})
    partly: ClassVar[Mapping[str, str]] = {"state": "gateway has a place for the provider's state in thinking alone"}
    only: ClassVar[Mapping[str, str]] = {"code": "envelope codes other than 200"}
    requests = GatewayRequests()
    answers = GatewayAnswers()
    errors = GatewayErrors()

    def encoder(self, options: Options) -> GatewayEncoder:
        return GatewayEncoder(self, options)

    def is_terminal(self, unit: JsonObject) -> bool:
        value = unit.get("value")
        return unit.get("success") is False or (isinstance(value, dict) and value.get("type") == "stop")

    def kind(self, unit: JsonObject) -> str:
        return kind_of_frame(unit)

    def sayable(self, event: Event) -> bool:
        if type(event) is Open and event.kind == "tool_call":
            return event.name is not None
        return super().sayable(event)

    def agrees(self, said: Event, meant: Event) -> bool:
        if type(said) is Open and type(meant) is Open:
            if said.kind == meant.kind == "tool_call":
                return same_call(said, meant)
            return said_open(meant) == said_open(said) and said.kind == said_open(said).kind
        if type(said) is Append and type(meant) is Append:
            return same_data(said, meant) and same_state(said.state, meant.state)
        if type(said) is Finish and type(meant) is Finish:
            return same_finish(said, meant)
        if type(said) is Failure and type(meant) is Failure:
            return said.message == meant.message and error_envelope(said)["code"] == error_envelope(meant)["code"]
        if isinstance(said, (Start, Handover)) and isinstance(meant, (Start, Handover)):
            # who answers may be filled in where the source names nobody
            nobody = type(said) is Start and known_model(meant.model) == Model()
            return nobody or known_model(said.model) == known_model(meant.model)
        return type(said) is Close or said == meant

    def assemble(self, events: Iterable[Event]) -> list[JsonObject]:
        """The ``messages`` that the unary route would have returned: ``thinking``, ``content``, ``toolCall``."""
        messages: list[JsonObject] = []
        model, calls = Model(), 0
        for part in parts(events):
            if isinstance(part, Part):
                data: JsonObject = {}
                for state in part.states:
                    data |= state_data(state, guessed_issuer(model)) or {}
                if self.sayable(part.head):
                    messages.append(assembled(said_open(part.head, calls), part.data, data))
                calls += part.head.kind == "tool_call"
            elif type(part) is Start:
                model = part.model
        return messages

    def models(self) -> Mapping[str, type[BaseModel]]:
        return models.MODELS
