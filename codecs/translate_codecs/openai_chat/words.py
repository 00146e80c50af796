"""The words of Chat Completions: its canonical pieces and what they say, for decoder and encoder alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from translate import jsontext
from translate.algebra.events import (
    Failure,
    JsonObject,
    Open,
    Reason,
    ReasonWord,
    Start,
    State,
    TokenCounts,
)
from translate.algebra.reading import kind_of, optional
from translate.algebra.states import REASONING_FIELD, is_hint
from translate.errors import DecodeError

NAME: Final = "openai-chat"
DONE: Final = b"[DONE]"
OBJECT: Final = "chat.completion.chunk"
MADE_ID: Final = "chatcmpl-"
"""What an id that was made up here begins with."""
REDACTED: Final = "_REDACTED_THINKING"
"""The text of a thinking part that only its issuer can read."""
FIELDS: Final = ("reasoning_content", "reasoning")
"""The members that a thinking part may come in; the first is written where no state names one."""
REASON: Final = "reason"
"""The member of a residue that holds the reason that a unit gives."""
OCTETS: Final = "application/octet-stream"


# ---- reasons

_WORDS: Final[dict[str, ReasonWord]] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_call",
    "function_call": "tool_call",
    "content_filter": "content_filter",
}
_SAID: Final[dict[ReasonWord, str]] = {
    "length": "length",
    "tool_call": "tool_calls",
    "content_filter": "content_filter",
    "refusal": "content_filter",
}
_STANDS: Final = ("tool_calls", "length", "content_filter")
"""Reasons that a later ``stop`` does not replace."""


def read_reason(raw: str | None) -> Reason:
    """What a reason says; ``None`` where none was given."""
    word = _WORDS.get(raw or "", "unknown")
    return Reason(word, None if raw is None or raw == _SAID.get(word, "stop" if word == "stop" else None) else raw)


def reason_words(reason: Reason, *, calls: bool) -> str:
    """The word that is said for a reason; ``calls``: whether the message holds a call, which clients run on that."""
    if reason.word == "tool_call" and reason.raw == "function_call":
        return "function_call"
    return "tool_calls" if reason.word == "stop" and calls else _SAID.get(reason.word, "stop")


def standing(reason: str, before: str | None) -> str:
    """The reason that stands once ``reason`` came after ``before``."""
    return before if reason == "stop" and before in _STANDS else reason


def same_reason(said: Reason, meant: Reason) -> bool:
    """Whether a reason that was said is the one meant."""
    words = {reason_words(meant, calls=calls) for calls in (False, True)}
    return said == meant or reason_words(said, calls=False) in words


# ---- usage

_CACHED: Final = ("prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens", "cache_read_input_tokens")
_WRITTEN: Final = "cache_creation_input_tokens"
_OTHER: Final[dict[tuple[str, str], str]] = {
    ("prompt_tokens_details", "cache_write_tokens"): _WRITTEN,
    ("prompt_tokens_details", "audio_tokens"): "input_audio_tokens",
    ("prompt_tokens_details", "image_tokens"): "input_image_tokens",
    ("completion_tokens_details", "audio_tokens"): "output_audio_tokens",
    ("completion_tokens_details", "image_tokens"): "output_image_tokens",
    ("completion_tokens_details", "accepted_prediction_tokens"): "accepted_prediction_tokens",
    ("completion_tokens_details", "rejected_prediction_tokens"): "rejected_prediction_tokens",
}
"""Place of a count that only some formats know → its name in ``other``."""


def read_usage(unit: JsonObject) -> TokenCounts | None:
    """The counts that a unit holds, if any is known."""
    usage = optional(unit, "usage", dict, "a chunk")
    if usage is None:
        if "x_groq" not in unit:
            return None
        groq = unit.get("x_groq")
        usage = optional(groq, "usage", dict, "x_groq") if isinstance(groq, dict) else None
    if not usage:
        return None
    prompt, completion, total = (
        optional(usage, name, int, "the usage") for name in ("prompt_tokens", "completion_tokens", "total_tokens")
    )
    if prompt is completion is total is None:
        return None
    details = {
        name: optional(usage, name, dict, "the usage") or {}
        for name in ("prompt_tokens_details", "completion_tokens_details")
    }
    cached = _first(details["prompt_tokens_details"].get("cached_tokens"), *map(usage.get, _CACHED))
    reasoning = _first(details["completion_tokens_details"].get("reasoning_tokens"), usage.get("reasoning_tokens"))
    if reasoning and None not in (prompt, completion) and total == prompt + completion + reasoning:
        completion += reasoning
    other: JsonObject = {}
    for (group, name), known in _OTHER.items():
        if (count := _first(details[group].get(name))) is not None and (count or known == _WRITTEN):
            other[known] = count
    if (count := _first(usage.get(_WRITTEN))) is not None:
        other[_WRITTEN] = count
    return TokenCounts(prompt, completion, cached, reasoning, None, other)


def _first(*values: Any) -> int | None:
    """The first that is a count."""
    return next((value for value in values if type(value) is int), None)


def usage_words(usage: TokenCounts) -> JsonObject:
    """The counts as a chunk says them."""
    prompt, completion = usage.input_tokens or 0, usage.output_tokens or 0
    out: JsonObject = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    details: dict[str, JsonObject] = {"prompt_tokens_details": {}, "completion_tokens_details": {}}
    if usage.cached_tokens is not None:
        details["prompt_tokens_details"]["cached_tokens"] = usage.cached_tokens
    if usage.reasoning_tokens is not None:
        details["completion_tokens_details"]["reasoning_tokens"] = usage.reasoning_tokens
    for (group, name), known in _OTHER.items():
        if type(usage.other.get(known)) is int:
            details[group][name] = usage.other[known]
    return {**out, **{group: counts for group, counts in details.items() if counts}}


def is_known(usage: TokenCounts) -> bool:
    """Whether any count is known."""
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens)
    return any(count is not None for count in counts)


# ---- failures

_CODES: Final[dict[str, int]] = {
    "invalid_request_error": 400,
    "tool_use_failed": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
}
_TYPES: Final[dict[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_UNKNOWN: Final = 502


def error_of(unit: JsonObject) -> Any:
    """What a unit says of an error; false where it says none."""
    if unit.get("error"):
        error = unit["error"]
        # a server in between wraps what the one behind it said
        inner = error.get("error") if isinstance(error, dict) else None
        return inner if isinstance(inner, dict) else error
    return unit if unit.get("object") == "error" and "choices" not in unit else None


def read_error(error: Any) -> Failure:
    """What an error says: text, or an object."""
    if isinstance(error, str):
        return Failure(_UNKNOWN, error)
    if not isinstance(error, dict):
        raise DecodeError(f"the error is {kind_of(error)}", expected="text or an object")
    message, kind = error.get("message"), error.get("type")
    details = {k: v for k, v in error.items() if not (k == "message" and type(v) is str)}
    if type(kind) is str:
        del details["type"]
    codes = (_status(error.get(name)) for name in ("code", "status_code", "status"))
    named = (_CODES.get(word) for word in (kind, error.get("code")) if type(word) is str)
    code = next(filter(None, (*codes, *named)), _UNKNOWN)
    return Failure(code, message if type(message) is str else "", kind if type(kind) is str else None, details)


def _status(value: Any) -> int | None:
    """A status of an HTTP error, as a number or digits."""
    if type(value) is str and len(value) == 3 and value.isascii() and value.isdigit():
        value = int(value)
    return value if type(value) is int and 400 <= value <= 599 else None


def error_unit(event: Failure, *, at_home: bool) -> JsonObject:
    """The unit of a failure: as it was where it came from here, else in the words for its status."""
    if at_home:
        kind: JsonObject = {} if event.kind is None else {"type": event.kind}
        return {"error": {"message": event.message, **kind, **event.details}}
    code = _status(event.code) or _UNKNOWN
    return {"error": {"message": event.message, "type": _TYPES.get(code, "server_error"), "code": code}}


# ---- states

_ISSUERS: Final[dict[str, str]] = {
    "anthropic": "anthropic",
    "openai": "openai",
    "azure-openai": "openai",
    "google": "google",
    "xai": "xai",
}
"""What the ``format`` of an entry begins with → who issued it."""
_FORMATS: Final[dict[str | None, str]] = {
    "anthropic": "anthropic-claude-v1",
    "openai": "openai-responses-v1",
    "google": "google-gemini-v1",
    "xai": "xai-responses-v1",
}
_VALUES: Final[dict[str, Mapping[str, str]]] = {
    "reasoning.text": {"signature": "signature"},
    "reasoning.encrypted": {"data": "encrypted_content", "id": "reasoning_id"},
}
"""Type of an entry of ``reasoning_details`` → its members that are state, and what they are called in one."""


def issuer(entry: JsonObject) -> str | None:
    """Who issued what an entry holds, if its format says so."""
    format = entry.get("format")
    if type(format) is not str:
        return None
    return next((name for begins, name in _ISSUERS.items() if format.startswith(begins)), None)


def read_entry(entry: JsonObject) -> State | None:
    """The state that an entry holds; the first member of its type's is what makes one."""
    names = _VALUES.get(str(entry.get("type")), {})
    values = {known: entry[name] for name, known in names.items() if type(entry.get(name)) is str}
    if not values.get(next(iter(names.values()), "")):
        return None
    format = entry.get("format")
    return State(issuer(entry), {**values, "format": format} if type(format) is str else values)


def is_redacted(entry: JsonObject) -> bool:
    """Whether an entry is a whole thinking part that only its issuer can read."""
    return entry.get("type") == "reasoning.encrypted" and issuer(entry) == "anthropic"


def entry_of(state: State, index: int, *, redacted: bool = False) -> JsonObject | None:
    """The entry of ``reasoning_details`` that says a state; ``None`` where there are no words for it.

    ``index`` counts the entries of the stream, so that no reader joins two.
    """
    values = state.values
    format = values.get("format")
    said: JsonObject = {"format": format if type(format) is str else _FORMATS.get(state.namespace), "index": index}
    if redacted and type(values.get("signature")) is str:
        return {"type": "reasoning.encrypted", "data": values["signature"], **said, "format": _FORMATS["anthropic"]}
    for type_, names in _VALUES.items():
        found = {name: values[known] for name, known in names.items() if type(values.get(known)) is str}
        if found.get(next(iter(names))):
            return {"type": type_, **found, **said}
    return None


def told(state: State) -> bytes:
    """What says a state, wherever it stands: the same for two that an entry cannot tell apart."""
    return jsontext.dumps(entry_of(state, 0))


def field_of(state: State | None) -> str | None:
    """The member that a state names for its thinking part."""
    field = state.values.get(REASONING_FIELD) if state is not None else None
    return field if field in FIELDS else None


def state_words(state: State | None, *, redacted: bool = False) -> JsonObject | None:
    """What a state says in the words of this format; ``redacted``: of a part that only its issuer can read."""
    if state is None:
        return None
    if is_hint(state):
        return None if field_of(state) in (None, FIELDS[0]) else {REASONING_FIELD: field_of(state)}
    return entry_of(state, 0, redacted=redacted)


# ---- who answers


def read_start(unit: JsonObject) -> Start:
    """What the first chunk says of who answers."""
    name, id = (optional(unit, key, str, "a chunk") or None for key in ("model", "id"))
    created = unit.get("created")
    known = isinstance(created, (int, float)) and not isinstance(created, bool)
    start = Start(id=id, created=created if known else None)
    start.model.name = name
    return start


def sayable(head: Open) -> bool:
    """Whether there are words for a part."""
    return bool(head.name) if head.kind == "tool_call" else head.kind in ("text", "thinking", "refusal")
