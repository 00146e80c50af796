"""Chat Completions: what the engine must know of the format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from pydantic import BaseModel

from translate import jsontext
from translate.algebra.calls import BLANK, same_call
from translate.algebra.events import Append, Event, Failure, Finish, JsonObject, Open, Start, Usage
from translate.codec import Codec, Options
from translate.messages.endpoint import Endpoint
from translate.shapes import Shape
from translate.shapes.lines import Lines
from translate.shapes.objects import Objects
from translate.shapes.sse import Sse

from . import models
from .answers import ChatAnswers
from .assembled import assembled
from .encoder import ChatEncoder
from .failures import ChatErrors
from .requests import ChatRequests
from .words import DONE, MADE_ID, NAME, REDACTED, error_of, error_unit, same_reason, sayable, state_words, usage_words

SSE: Final = Sse(DONE, writes_done="success", errors=True, names=False)
"""After a failure the end marker would look like success."""


class Chat(Codec):
    """The codec of Chat Completions."""

    name: ClassVar[str] = NAME
    shapes: ClassVar[Mapping[str, Shape]] = {"": Objects(sse=SSE), "jsonl": Lines(), "sse": SSE}
    says = frozenset({"start", "text", "thinking", "refusal", "tool_call", "finish", "failure"})
    leaves_out = frozenset({"close", "finish", "start"})
    partly: ClassVar[Mapping[str, str]] = {
        "state": "openai-chat has a place for signatures and encrypted content of thinking alone",
        "usage": "openai-chat has a place for counts at the end alone",
        "annotate": "openai-chat has words for its own annotations alone",
    }
    only: ClassVar[Mapping[str, str]] = {"members": "members that repeat, obfuscation, logprobs"}
    requests = ChatRequests()
    answers = ChatAnswers()
    errors = ChatErrors()
    endpoint = Endpoint("/v1/chat/completions", own=("openai-",))

    def encoder(self, options: Options) -> ChatEncoder:
        return ChatEncoder(self, options)

    def is_terminal(self, unit: JsonObject) -> bool:
        return bool(error_of(unit))

    def kind(self, unit: JsonObject) -> str:
        if error_of(unit):
            return "error"
        choices = unit.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict):
            return "usage" if unit.get("usage") else ""
        delta = choice.get("delta")
        found = [name for name, value in delta.items() if value] if isinstance(delta, dict) else []
        if reason := choice.get("finish_reason"):
            return str(reason)
        return next((name for name in found if name != "role"), found[0] if found else "")

    def time(self, unit: JsonObject) -> int | float | None:
        at = unit.get("created")
        known = isinstance(at, (int, float)) and not isinstance(at, bool) and 0 < at < LATEST
        return at * 1000 if known and at is not None else None

    def sayable(self, event: Event) -> bool:
        return sayable(event) if type(event) is Open else super().sayable(event)

    def agrees(self, said: Event, meant: Event) -> bool:
        if type(said) is Open and type(meant) is Open:
            return said.kind == meant.kind and (said.kind != "tool_call" or same_call(said, meant))
        if type(said) is Append and type(meant) is Append:
            blank = said.data == "{}" and isinstance(meant.data, str) and not meant.data.strip(BLANK)
            same = type(said.data) is type(meant.data) and (blank or jsontext.same(said.data, meant.data))
            states = (state_words(each.state, redacted=said.data == REDACTED) for each in (said, meant))
            return same and jsontext.same(*states)
        if type(said) is Start and type(meant) is Start:
            made = said.id is not None and said.id.startswith(MADE_ID)
            return (
                (said.id == meant.id or (not meant.id and made))
                and (said.created == meant.created or meant.created is None)
                and (said.model.name == meant.model.name or not meant.model.name)
            )
        if type(said) is Usage and type(meant) is Usage:
            return usage_words(said.usage) == usage_words(meant.usage)
        if type(said) is Finish and type(meant) is Finish:
            return usage_words(said.usage) == usage_words(meant.usage) and same_reason(said.reason, meant.reason)
        if type(said) is Failure and type(meant) is Failure:
            return said == meant or jsontext.same(error_unit(said, at_home=True), error_unit(meant, at_home=False))
        return said == meant

    def assemble(self, events: Iterable[Event]) -> Any:
        """A ``chat.completion``, as the route without streaming would have answered."""
        return assembled(events, self)

    def models(self) -> Mapping[str, type[BaseModel]]:
        return models.MODELS


LATEST: Final = 1e12
"""Seconds that no time stamp reaches."""
