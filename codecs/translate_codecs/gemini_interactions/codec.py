"""Gemini Interactions: what the engine must know of the format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from pydantic import BaseModel

from translate import jsontext
from translate.algebra.calls import same_call
from translate.algebra.events import Append, Close, Event, Failure, Finish, JsonObject, Open, Start, Usage
from translate.algebra.reading import milliseconds
from translate.codec import Codec, Options
from translate.shapes import Shape
from translate.shapes.lines import Lines
from translate.shapes.objects import Objects
from translate.shapes.sse import Sse

from . import models
from .assembled import assembled
from .encoder import InteractionsEncoder
from .words import (
    COMPLETED,
    DONE,
    ERROR,
    NAME,
    OCTETS,
    error_unit,
    is_sayable,
    numbers,
    said_kind,
    same_arguments,
    same_reason,
    signature_of,
    usage_words,
)

SSE: Final = Sse(DONE, writes_done="success")
"""After a failure the end marker would look like success."""


class Interactions(Codec):
    """The codec of Gemini Interactions."""

    name: ClassVar[str] = NAME
    shapes: ClassVar[Mapping[str, Shape]] = {"": Objects(sse=SSE), "jsonl": Lines(), "sse": SSE}
    says = frozenset(
        {"start", "text", "thinking", "refusal", "tool_call", "inline_data", "inline_thinking", "finish", "failure"}
    )
    leaves_out = frozenset({"start", "close"})
    partly: ClassVar[Mapping[str, str]] = {
        "state": "gemini-interactions has a place for its own signatures of thinking and calls alone",
        "annotate": "gemini-interactions has words for its own annotations alone",
        "usage": "gemini-interactions has a place for its own counts, and those of the end, alone",
        "server_tool_call": "gemini-interactions has words for its own server tools alone",
        "server_tool_result": "gemini-interactions has words for its own server tools alone",
    }

    def encoder(self, options: Options) -> InteractionsEncoder:
        return InteractionsEncoder(self, options)

    def is_terminal(self, unit: JsonObject) -> bool:
        return unit.get("event_type") in (COMPLETED, ERROR)

    def kind(self, unit: JsonObject) -> str:
        kind = unit.get("event_type")
        return kind if isinstance(kind, str) else ""

    def event_name(self, unit: JsonObject) -> str | None:
        return self.kind(unit) or None

    def time(self, unit: JsonObject) -> int | float | None:
        held = unit.get("interaction")
        return milliseconds(held.get("updated") or held.get("created")) if isinstance(held, dict) else None

    def sayable(self, event: Event) -> bool:
        return is_sayable(event) if type(event) is Open else super().sayable(event)

    def agrees(self, said: Event, meant: Event) -> bool:
        if type(said) is Open and type(meant) is Open:
            return _same_part(said, meant)
        if type(said) is Append and type(meant) is Append:
            same = jsontext.same(said.data, meant.data) or same_arguments(said.data, meant.data)
            return same and signature_of(said.state, None) == signature_of(meant.state, None)
        if type(said) is Start and type(meant) is Start:
            return (said.id == meant.id or not meant.id) and (
                said.model.name == meant.model.name or not meant.model.name
            )
        if type(said) is Usage and type(meant) is Usage:
            return numbers(said.usage) == numbers(meant.usage)
        if type(said) is Finish and type(meant) is Finish:
            counts = (usage_words(each.usage, home=False) for each in (said, meant))
            return jsontext.same(*counts) and same_reason(said.reason, meant.reason)
        if type(said) is Failure and type(meant) is Failure:
            return said == meant or jsontext.same(error_unit(said, at_home=True), error_unit(meant, at_home=False))
        # that a part was cut off is said nowhere
        return type(said) is type(meant) is Close or said == meant

    def assemble(self, events: Iterable[Event]) -> JsonObject:
        """An ``Interaction``, as the route without streaming would have answered."""
        return assembled(events, self)

    def models(self) -> Mapping[str, type[BaseModel]]:
        return models.MODELS


def _same_part(said: Open, meant: Open) -> bool:
    if said_kind(said.kind) != said_kind(meant.kind):
        return False
    if said.kind == "tool_call":
        return same_call(said, meant)
    if said.kind in ("inline_data", "inline_thinking"):
        return (said.mime_type or OCTETS) == (meant.mime_type or OCTETS)
    return said.kind in ("text", "thinking") or (said.id, said.name) == (meant.id, meant.name)
