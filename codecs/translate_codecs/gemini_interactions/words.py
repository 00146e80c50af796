"""The words of Gemini Interactions: its units and what they say, for decoder and encoder alike."""

from __future__ import annotations

import base64
import sys
from functools import lru_cache
from typing import Any, Final

from translate import jsontext
from translate.algebra.calls import BLANK
from translate.algebra.events import (
    Failure,
    Finish,
    JsonObject,
    Open,
    PartKind,
    Reason,
    ReasonWord,
    Start,
    State,
    TokenCounts,
)
from translate.algebra.reading import kind_of, optional
from translate.codec import TEXT, Hot
from translate.errors import DecodeError, TranslateError

NAME: Final = "gemini-interactions"
ISSUER: Final = "google"
SIGNATURE: Final = "signature"
DONE: Final = b"[DONE]"
OCTETS: Final = "application/octet-stream"
SYNTHETIC: Final[dict[str, JsonObject]] = {NAME: {"synthetic": True}}
CREATED: Final = "interaction.created"
COMPLETED: Final = "interaction.completed"
START: Final = "step.start"
DELTA: Final = "step.delta"
STOP: Final = "step.stop"
ERROR: Final = "error"

# ---- steps

PLAIN: Final[dict[str, tuple[str, str]]] = {
    "text": ("text", "text"),
    "thinking": ("thought_summary", "content"),
    "tool_call": ("arguments_delta", "arguments"),
}
"""Kind of a part → the delta that its text comes in, and the member of that."""
MEDIA: Final = ("image", "audio", "video", "document")
"""Deltas of bytes."""


def kind_of_step(type_: str) -> PartKind | None:
    """The part that a step of this type is; ``None`` where its deltas say."""
    if type_ == "thought":
        return "thinking"
    if type_ == "function_call":
        return "tool_call"
    if type_.endswith("_call"):
        return "server_tool_call"
    return "server_tool_result" if type_.endswith("_result") else None


def step_of(kind: PartKind) -> str:
    """The type of the step that says a part of this kind."""
    return {"thinking": "thought", "tool_call": "function_call"}.get(kind, "model_output")


def is_sayable(head: Open) -> bool:
    """Whether there are words for a part; for those of the provider's own tools only where they came from here."""
    if head.kind == "tool_call":
        return bool(head.name)
    if head.kind in ("server_tool_call", "server_tool_result"):
        return NAME in (head.residue or {})
    return head.kind != "embedding"


def said_kind(kind: PartKind) -> PartKind:
    """What a part is said as: a refusal is text, and thinking that is bytes is bytes."""
    others: dict[PartKind, PartKind] = {"refusal": "text", "inline_thinking": "inline_data"}
    return others.get(kind, kind)


def unit_of(event_type: str, **members: Any) -> JsonObject:
    """A unit."""
    return {**members, "event_type": event_type}


def delta_unit(index: int, delta: JsonObject) -> JsonObject:
    """What grows the open step."""
    return {"index": index, "delta": delta, "event_type": DELTA}


def text_delta(kind: str, text: str) -> JsonObject:
    """A fragment of a part."""
    type_, key = PLAIN[kind]
    return {"type": type_, key: {"type": "text", "text": text} if key == "content" else text}


@lru_cache(maxsize=64)
def hot_unit(index: int, kind: str) -> Hot:
    """The unit of a fragment, with a hole for its text."""
    return Hot(delta_unit(index, text_delta(kind, TEXT)), NAME, DELTA)


def media_delta(head: Open, data: bytes) -> JsonObject:
    """A delta of bytes, named by their type."""
    mime_type = head.mime_type or OCTETS
    begins = mime_type.lower().partition("/")[0]
    type_ = begins if begins in MEDIA else "document"
    return {"type": type_, "data": base64.b64encode(data).decode("ascii"), "mime_type": mime_type}


def read_base64(text: str) -> bytes:
    """Raises :class:`DecodeError`. Both alphabets are read."""
    try:
        return base64.b64decode(text.translate({ord("-"): "+", ord("_"): "/"}), validate=True)
    except ValueError:
        raise DecodeError("the data of a delta is not base64", expected="base64") from None


def compact(value: Any) -> str:
    """The text of a JSON value."""
    return jsontext.dumps(value).decode("utf-8", "surrogatepass")


def same_arguments(said: object, meant: object) -> bool:
    """Whether text that was read from an object is how this wire says the text that is meant."""
    if not isinstance(said, str) or not isinstance(meant, str) or not meant.strip(BLANK):
        return False
    try:
        value = jsontext.loads_str(meant, sys.maxsize)
    except TranslateError:
        return False
    return isinstance(value, dict) and jsontext.same(said, compact(value) if value else "")


# ---- states


def signature_of(state: State | None, publisher: str | None) -> str | None:
    """What a state says as a signature; ``None`` where there are no words for it.

    Only its issuer's own is said, or one of an unknown issuer that is base64, as its signatures are, unless another
    provider is known to answer.
    """
    if state is None:
        return None
    values = state.values
    found = values.get(SIGNATURE)
    if type(found) is not str or not found or values.keys() - {SIGNATURE, "format"}:
        return None
    if state.namespace is not None:
        return found if state.namespace == ISSUER else None
    if publisher and ISSUER not in publisher.lower():
        return None
    try:
        return found if read_base64(found) else None
    except (DecodeError, ValueError):
        return None


def state_of(signature: str) -> State:
    """The state that a signature is."""
    return State(ISSUER, {SIGNATURE: signature})


# ---- ends

FAILED: Final = ("failed", "cancelled", "budget_exceeded")
_WORDS: Final[dict[str, ReasonWord]] = {"completed": "stop", "requires_action": "tool_call", "incomplete": "unknown"}


def read_status(status: str | None) -> Reason:
    """What a status says."""
    return Reason(_WORDS.get(status or "", "unknown"), status)


def status_words(reason: Reason, *, calls: bool, home: bool) -> str:
    """The status that is said for a reason: at home its own, where that means the same.

    ``calls``: whether the message holds a call, which clients run on that word.
    """
    if home and reason.raw is not None and read_status(reason.raw).word == reason.word:
        return reason.raw
    if reason.word == "tool_call" or (reason.word == "stop" and calls):
        return "requires_action"
    return "completed" if reason.word == "stop" else "incomplete"


def same_reason(said: Reason, meant: Reason) -> bool:
    """Whether a reason that was said is the one meant."""
    return said == meant or said.raw in {status_words(meant, calls=calls, home=False) for calls in (False, True)}


# ---- usage

_INPUT: Final = "total_input_tokens"
_OUTPUT: Final = "total_output_tokens"
_TOOLS: Final = "total_tool_use_tokens"
_THOUGHTS: Final = "total_thought_tokens"
_CACHED: Final = "total_cached_tokens"
_TOTAL: Final = "total_tokens"
_COUNTS: Final = (_INPUT, _TOOLS, _OUTPUT, _THOUGHTS, _CACHED)


def read_usage(usage: Any, before: TokenCounts | None) -> TokenCounts | None:
    """All that is known of counts once ``usage`` came; ``None`` where nothing is."""
    if usage is None:
        return before
    if not isinstance(usage, dict):
        raise DecodeError(f"the usage is {kind_of(usage)}", expected="an object")
    known = {} if before is None else _raw(before)
    counts = {name: optional(usage, name, int, "the usage") for name in _COUNTS}
    known |= {name: count for name, count in counts.items() if count is not None}
    other = {name: value for name, value in usage.items() if name not in (*_COUNTS, _TOTAL) and value is not None}
    if not known and not other:
        return before
    if known.get(_TOOLS) is not None:
        other[_TOOLS] = known[_TOOLS]
    kept = {} if before is None else before.other
    return TokenCounts(
        _sum(known.get(_INPUT), known.get(_TOOLS)),
        _sum(known.get(_OUTPUT), known.get(_THOUGHTS)),
        known.get(_CACHED),
        known.get(_THOUGHTS),
        None,
        {**kept, **jsontext.copied(other)},
    )


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is b is None else (a or 0) + (b or 0)


def _raw(counts: TokenCounts) -> dict[str, int]:
    """The counts as the wire has them."""
    tools = counts.other.get(_TOOLS)
    tools = tools if type(tools) is int else None
    thoughts, prompt, output = counts.reasoning_tokens, counts.input_tokens, counts.output_tokens
    if thoughts is not None:
        output = thoughts if output is None else max(output, thoughts)
    found = {
        _INPUT: prompt if prompt is None else prompt - (tools or 0),
        _CACHED: counts.cached_tokens,
        _OUTPUT: output if output is None else output - (thoughts or 0),
        _TOOLS: tools,
        _THOUGHTS: thoughts,
    }
    return {name: count for name, count in found.items() if count is not None}


def usage_words(counts: TokenCounts, *, home: bool) -> JsonObject:
    """The counts as a unit says them; ``home``: with those that only this format knows."""
    if not home:
        counts = TokenCounts(*numbers(counts))
    raw = _raw(counts)
    total = sum(raw.get(name, 0) for name in (_INPUT, _TOOLS, _OUTPUT, _THOUGHTS))
    others = {name: value for name, value in counts.other.items() if name != _TOOLS} if home else {}
    return {_TOTAL: total, **raw, **others}


def numbers(counts: TokenCounts) -> tuple[int | None, int | None, int | None, int | None]:
    """The four counts that every format knows."""
    return counts.input_tokens, counts.output_tokens, counts.cached_tokens, counts.reasoning_tokens


def usage_change(counts: TokenCounts, before: TokenCounts | None) -> TokenCounts | None:
    """Of ``counts`` those that are not as they were; ``None`` where all are."""
    if before is None:
        return counts
    pairs = zip(numbers(counts), numbers(before), strict=True)
    said, output, cached, thoughts = (now if now != then else None for now, then in pairs)
    other = {name: value for name, value in counts.other.items() if not jsontext.same(value, before.other.get(name))}
    changed = bool(other) or any(each is not None for each in (said, output, cached, thoughts))
    return TokenCounts(said, output, cached, thoughts, None, other) if changed else None


def is_known(counts: TokenCounts) -> bool:
    """Whether any count is known."""
    return any(count is not None for count in numbers(counts))


# ---- whole interactions


def interaction(start: Start, name: str | None, status: str, usage: JsonObject | None = None) -> JsonObject:
    """What is known of the interaction; ``name``: that of the model, where nobody said it."""
    said: JsonObject = {"id": start.id or "", "status": status, "object": "interaction"}
    model = start.model.name or name
    if model:
        said["model"] = model
    return said if usage is None else {**said, "usage": usage}


def read_start(unit: JsonObject) -> Start:
    """What an ``interaction.created`` says of who answers."""
    id, name = (optional(unit["interaction"], key, str, "the interaction") or None for key in ("id", "model"))
    start = Start(id=id)
    start.model.name = name
    return start


def read_end(unit: JsonObject, counts: TokenCounts | None) -> Finish | Failure:
    """What an ``interaction.completed`` says."""
    status = optional(unit["interaction"], "status", str, "the interaction")
    if status in FAILED:
        error = unit["interaction"].get("error")
        message = error.get("message") if isinstance(error, dict) else None
        return Failure(_FALLBACK, message if type(message) is str else f"the interaction is {status}", status)
    return Finish(counts or TokenCounts(), read_status(status))


# ---- failures

_FALLBACK: Final = 502


def read_error(unit: JsonObject) -> Failure:
    """What an error says."""
    error = unit.get("error")
    if not isinstance(error, dict):
        raise DecodeError(f"the error is {kind_of(error)}", expected="an object")
    code, message = error.get("code"), error.get("message")
    status = _status(code)
    details = dict(error)
    if type(message) is str:
        del details["message"]
    if status is not None or type(code) is str:
        del details["code"]
    kind = code if status is None and type(code) is str else None
    return Failure(status or _FALLBACK, message if type(message) is str else "", kind, details)


def _status(code: object) -> int | None:
    """A status of an HTTP error, as digits or a number."""
    if type(code) is str and len(code) == 3 and code.isascii() and code.isdigit():
        code = int(code)
    return code if type(code) is int and 400 <= code <= 599 else None


def error_unit(event: Failure, *, at_home: bool) -> JsonObject:
    """The unit of a failure: as it was where it came from here, else in the words for its status."""
    code = str(_status(event.code) or _FALLBACK)
    if not at_home:
        return unit_of(ERROR, error={"code": code, "message": event.message})
    said = {"code": code if event.kind is None else event.kind, "message": event.message, **event.details}
    return unit_of(ERROR, error=said)
