"""Anthropic Messages: what the engine must know of the format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar, Final

from pydantic import BaseModel

from translate import jsontext
from translate.algebra.calls import same_call
from translate.algebra.events import Append, Close, Event, Failure, Finish, JsonObject, Open, Start, Usage
from translate.codec import Codec, Options
from translate.messages.endpoint import Endpoint
from translate.shapes import Shape
from translate.shapes.lines import Lines
from translate.shapes.objects import Objects
from translate.shapes.sse import Sse

from . import models
from .answers import AnthropicAnswers
from .assembled import assembled
from .encoder import AnthropicEncoder
from .failures import AnthropicErrors
from .requests import AnthropicRequests
from .words import (
    DONE,
    NAME,
    SERVERS,
    UNKNOWN,
    explains,
    is_sayable,
    said_open,
    same_counts,
    same_failure,
    same_id,
    same_reason,
)

SSE: Final = Sse(DONE, writes_done="never")
"""The provider has no end marker; gateways add one."""


class Anthropic(Codec):
    """The codec of Anthropic Messages."""

    name: ClassVar[str] = NAME
    shapes: ClassVar[Mapping[str, Shape]] = {"": Objects(sse=SSE), "jsonl": Lines(), "sse": SSE}
    says = frozenset({"start", "text", "thinking", "refusal", "tool_call", "finish", "failure"})
    partly: ClassVar[Mapping[str, str]] = {
        "state": "anthropic has a place for its own state of thinking alone",
        "annotate": "anthropic has words for its own citations alone",
        "server_tool_call": "anthropic has words for its own server tools alone",
        "server_tool_result": "anthropic has words for its own server tools alone",
    }
    leaves_out = frozenset({"start", "close"})
    spelled = b'"input"'
    requests = AnthropicRequests()
    answers = AnthropicAnswers()
    errors = AnthropicErrors()
    endpoint = Endpoint(
        "/v1/messages",
        key=("x-api-key", ""),
        fields={"anthropic-version": "2023-06-01"},
        own=("anthropic-",),
        count="/v1/messages/count_tokens",
        models="anthropic",
    )

    def encoder(self, options: Options) -> AnthropicEncoder:
        return AnthropicEncoder(self, options)

    def is_terminal(self, unit: JsonObject) -> bool:
        return unit.get("type") in ("message_stop", "error")

    def kind(self, unit: JsonObject) -> str:
        kind = unit.get("type")
        return kind if isinstance(kind, str) else ""

    def event_name(self, unit: JsonObject) -> str | None:
        return self.kind(unit) or None

    def sayable(self, event: Event) -> bool:
        if type(event) is Open and event.kind == "tool_call":
            return bool(event.name)
        if type(event) is Open and event.kind in SERVERS:
            return NAME in (event.residue or {})
        return super().sayable(event)

    def content(self, residue: JsonObject) -> str:
        return "why the model stopped, in words for the user" if explains(residue) else ""

    def assemble(self, events: Iterable[Event]) -> JsonObject:
        """The message, as the route without streaming would have answered."""
        return assembled(events, self)

    def models(self) -> Mapping[str, type[BaseModel]]:
        return models.MODELS

    def agrees(self, said: Event, meant: Event) -> bool:
        if type(said) is Open and type(meant) is Open:
            if said.kind == meant.kind == "tool_call":
                return same_call(said, meant)
            return said == replace(said_open(meant), residue=said.residue)
        if type(said) is Append and type(meant) is Append:
            return jsontext.same(said.data, meant.data) and _signature(said) == _signature(meant)
        if type(said) is Start and type(meant) is Start:
            name = meant.model.name
            return (not name or name == (said.model.name or UNKNOWN)) and same_id(said.id, meant.id)
        if type(said) is Finish and type(meant) is Finish:
            return same_counts(said.usage, meant.usage) and same_reason(said.reason, meant.reason)
        if type(said) is Usage and type(meant) is Usage:
            return same_counts(said.usage, meant.usage)
        if type(said) is Failure and type(meant) is Failure:
            return same_failure(said, meant)
        # that the part was cut off is said by the reason alone
        return type(said) is type(meant) is Close or said == meant


def _signature(event: Append) -> str | None:
    """What of a state is native, whoever is taken to have issued an unknown one."""
    if event.state is None or not is_sayable(event.state, None):
        return None
    signature = event.state.values["signature"]
    return signature if isinstance(signature, str) else None
