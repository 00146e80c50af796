"""Gemini: what the engine must know of the format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from pydantic import BaseModel

from translate import jsontext
from translate.algebra.events import Append, Close, Event, Failure, Finish, JsonObject, Open, Start, Usage
from translate.algebra.reading import milliseconds
from translate.codec import Codec, Options
from translate.messages.endpoint import Endpoint
from translate.shapes import Shape
from translate.shapes.array import Array
from translate.shapes.lines import Lines
from translate.shapes.objects import Objects
from translate.shapes.sse import Sse

from . import models
from .answers import GeminiAnswers
from .assembled import assembled
from .encoder import GeminiEncoder
from .failures import GeminiErrors
from .requests import GeminiRequests
from .words import (
    NAME,
    OCTETS,
    SERVERS,
    error_unit,
    is_made,
    is_sayable,
    numbers,
    same_arguments,
    same_reason,
    signature_of,
    usage_words,
)

SSE: Final = Sse(b"[DONE]", writes_done="never", carry="member", names=False, comments=False, bare=True)
"""The provider's own readers raise at whatever is no ``data:`` line, or lose the chunk; what proxies add is read."""
ARRAY: Final = Array(bare=True)


class Gemini(Codec):
    """The codec of Gemini's ``streamGenerateContent``."""

    name: ClassVar[str] = NAME
    shapes: ClassVar[Mapping[str, Shape]] = {
        "": Objects(sse=SSE, array=ARRAY),
        "jsonl": Lines(),
        "sse": SSE,
        "array": ARRAY,
    }
    says = frozenset(
        {"start", "text", "thinking", "refusal", "tool_call", "inline_data", "inline_thinking", "finish", "failure"}
    )
    leaves_out = frozenset({"close", "finish", "start"})
    partly: ClassVar[Mapping[str, str]] = {
        "state": "gemini has a place for its own signatures alone",
        "usage": "gemini has a place for its own counts, and those of the end, alone",
        "annotate": "gemini has words for its own annotations alone",
        "server_tool_call": "gemini has words for its own server tools alone",
        "server_tool_result": "gemini has words for its own server tools alone",
    }
    only: ClassVar[Mapping[str, str]] = {"members": "safety ratings, details of counts, arguments by paths"}
    requests = GeminiRequests()
    answers = GeminiAnswers()
    errors = GeminiErrors()
    endpoint = Endpoint(
        "/{version}/models/{model}:generateContent",
        key=("x-goog-api-key", ""),
        stream="/{version}/models/{model}:streamGenerateContent?alt=sse",
        own=("x-goog-",),
        arrays="array",
        count="/{version}/models/{model}:countTokens",
        counted="totalTokens",
        models="google",
    )

    def encoder(self, options: Options) -> GeminiEncoder:
        return GeminiEncoder(self, options)

    def is_terminal(self, unit: JsonObject) -> bool:
        return bool(unit.get("error"))

    def kind(self, unit: JsonObject) -> str:
        if unit.get("error"):
            return "error"
        candidates = unit.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(candidate, dict):
            return next((word for member, word in _KINDS.items() if unit.get(member)), "")
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        found = [_kind_of_part(part) for part in parts or () if isinstance(part, dict)] if _is_list(parts) else []
        said = next((kind for kind in found if kind), "")
        reason = candidate.get("finishReason")
        return said or (str(reason) if reason else found[0] if found else "")

    def time(self, unit: JsonObject) -> int | float | None:
        return milliseconds(unit.get("createTime"))

    def sayable(self, event: Event) -> bool:
        return is_sayable(event) if type(event) is Open else super().sayable(event)

    def agrees(self, said: Event, meant: Event) -> bool:
        if type(said) is Open and type(meant) is Open:
            return _same_part(said, meant)
        if type(said) is Append and type(meant) is Append:
            same = jsontext.same(said.data, meant.data) or same_arguments(said.data, meant.data)
            return same and len({signature_of(each.state, None, home=True) for each in (said, meant)}) == 1
        if type(said) is Start and type(meant) is Start:
            return (said.id == meant.id or not meant.id) and (
                said.model.name == meant.model.name or not meant.model.name
            )
        if type(said) is Usage and type(meant) is Usage:
            return numbers(said.usage) == numbers(meant.usage)
        if type(said) is Finish and type(meant) is Finish:
            return usage_words(said.usage) == usage_words(meant.usage) and same_reason(said.reason, meant.reason)
        if type(said) is Failure and type(meant) is Failure:
            return said == meant or jsontext.same(error_unit(said, at_home=True), error_unit(meant, at_home=False))
        # that a part was cut off is said by the reason alone
        return type(said) is type(meant) is Close or said == meant

    def assemble(self, events: Iterable[Event]) -> JsonObject:
        """A ``GenerateContentResponse``, as the route without streaming would have answered."""
        return assembled(events, self)

    def models(self) -> Mapping[str, type[BaseModel]]:
        return models.MODELS


_KINDS: Final = {"promptFeedback": "promptFeedback", "usageMetadata": "usage"}


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _kind_of_part(part: JsonObject) -> str:
    """What people call a part; an empty text has no name."""
    if part.get("text"):
        return "thought" if part.get("thought") is True else "text"
    return next((name for name in ("functionCall", "inlineData", *SERVERS, "fileData") if name in part), "")


def _same_part(said: Open, meant: Open) -> bool:
    if meant.kind == "refusal":
        return said.kind == "text"
    if said.kind != meant.kind:
        return False
    if said.kind == "tool_call":
        return said.name == meant.name and (said.id == meant.id or (is_made(said.id) and is_made(meant.id)))
    if said.kind in ("inline_data", "inline_thinking"):
        return (said.mime_type or OCTETS) == (meant.mime_type or OCTETS)
    return said.kind in ("text", "thinking") or (said.id, said.name) == (meant.id, meant.name)
