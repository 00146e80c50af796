"""OpenAI Responses: what the engine must know of the format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from pydantic import BaseModel

from translate import jsontext
from translate.algebra.events import Append, Close, Event, Failure, Finish, JsonObject, Open, Start
from translate.codec import Codec, Options
from translate.messages.endpoint import Endpoint
from translate.shapes import Shape
from translate.shapes.lines import Lines
from translate.shapes.objects import Objects
from translate.shapes.sse import Sse

from . import models
from .answers import ResponsesAnswers
from .assembled import assembled
from .encoder import ResponsesEncoder
from .failures import ResponsesErrors
from .requests import ResponsesRequests
from .wire import CONTENT_OF
from .words import (
    DONE,
    NAME,
    TERMINAL,
    UNKNOWN,
    R,
    reason_words,
    same_failure,
    same_open,
    same_response_id,
    same_words,
    usage_words,
)

SSE: Final = Sse(DONE, writes_done="never")
"""The provider has no end marker; gateways add one."""
_HOME: Final = ("server_tool_call", "server_tool_result", "inline_data")
LATEST: Final = 1e12
"""Seconds that no time stamp reaches."""


class Responses(Codec):
    """The codec of OpenAI Responses."""

    name: ClassVar[str] = NAME
    shapes: ClassVar[Mapping[str, Shape]] = {"": Objects(sse=SSE), "jsonl": Lines(), "sse": SSE}
    says = frozenset({"start", "text", "thinking", "refusal", "tool_call", "finish", "failure"})
    partly: ClassVar[Mapping[str, str]] = {
        "state": "openai-responses has a place for its own state of thinking and the phase of text alone",
        "annotate": "openai-responses has words for its own annotations alone",
        "server_tool_call": "openai-responses has words for its own server tools alone",
        "server_tool_result": "openai-responses has words for its own server tools alone",
        "inline_data": "openai-responses has words for its own pictures alone",
    }
    only: ClassVar[Mapping[str, str]] = {"members": "numbers, padding, ids of items, constants of the request"}
    leaves_out = frozenset({"start"})
    requests = ResponsesRequests()
    answers = ResponsesAnswers()
    errors = ResponsesErrors()
    endpoint = Endpoint("/v1/responses", own=("openai-",), stored=True)

    def encoder(self, options: Options) -> ResponsesEncoder:
        return ResponsesEncoder(self, options)

    def is_terminal(self, unit: JsonObject) -> bool:
        return unit.get("type") in TERMINAL

    def kind(self, unit: JsonObject) -> str:
        kind = unit.get("type")
        return kind.removeprefix(R) if isinstance(kind, str) else ""

    def time(self, unit: JsonObject) -> int | float | None:
        response = unit.get("response")
        at = response.get("created_at") if isinstance(response, dict) else None
        known = isinstance(at, (int, float)) and not isinstance(at, bool) and 0 < at < LATEST
        return at * 1000 if known and at is not None else None

    def is_content(self, unit: JsonObject) -> bool:
        return CONTENT_OF in unit

    def event_name(self, unit: JsonObject) -> str | None:
        kind = unit.get("type")
        return kind if isinstance(kind, str) and kind else None

    def sayable(self, event: Event) -> bool:
        if type(event) is Open and event.kind == "tool_call":
            return bool(event.name)
        if type(event) is Open and event.kind in _HOME:
            return NAME in (event.residue or {})
        return super().sayable(event)

    def assemble(self, events: Iterable[Event]) -> JsonObject:
        """The response, as the route without streaming would have answered."""
        return assembled(events, self)

    def models(self) -> Mapping[str, type[BaseModel]]:
        return models.MODELS

    def agrees(self, said: Event, meant: Event) -> bool:
        if type(said) is Open and type(meant) is Open:
            return same_open(said, meant)
        if type(said) is Append and type(meant) is Append:
            if type(said.data) is not type(meant.data) or not same_words(said.state, meant.state):
                return False
            # no arguments at all are said as an empty object
            return jsontext.same(said.data, meant.data) or (said.data, meant.data) == ("{}", "")
        if type(said) is Start and type(meant) is Start:
            name = meant.model.name
            created = said.created == meant.created or meant.created is None
            known = not name or name == (said.model.name or UNKNOWN)
            return known and created and same_response_id(said.id, meant.id)
        if type(said) is Finish and type(meant) is Finish:
            words = (reason_words(each.reason, home=False) for each in (said, meant))
            return usage_words(said.usage) == usage_words(meant.usage) and jsontext.same(*words)
        if type(said) is Failure and type(meant) is Failure:
            return said == meant or same_failure(said, meant)
        # a message has no words for being cut off
        return type(said) is type(meant) is Close or said == meant
