"""The words of UniEvent: its canonical units and what they say, for decoder and encoder alike."""

from __future__ import annotations

import math
import sys
from typing import Any, Final

from translate import jsontext
from translate.algebra.calls import made_id, parse_arguments
from translate.algebra.events import GROWS, Data, Failure, Finish, JsonObject, Open, PartKind, Reason, TokenCounts
from translate.algebra.reading import optional, reason_word
from translate.codec import NUMBER, TEXT, Hot

NAME: Final = "unievent"
DONE: Final = b"[DONE]"
STAMP: Final = "at"
"""The member of the residue that holds ``created_at``. It is on every unit of a carry, so it is short."""
FIELD: Final[dict[str, str]] = {
    "text": "text",
    "thinking": "thinking",
    "tool_call": "arguments",
    "inline_data": "data",
    "inline_thinking": "data",
    "embedding": "embedding",
}
"""Kind of item → the field that its fragments grow."""

PLAIN: Final[dict[str, tuple[PartKind, str, int]]] = {
    "text.delta": ("text", "text", 2),
    "thinking.delta": ("thinking", "thinking", 2),
    "tool_call.delta": ("tool_call", "arguments", 4),
    "text.done": ("text", "text", -2),
    "thinking.done": ("thinking", "thinking", -2),
    "tool_call.done": ("tool_call", "arguments", -4),
}
"""Usual items: type → kind, growing field, and how many members they have, less than nothing in a complete one."""
DELTA: Final = {kind: f"{kind}.delta" for kind in ("text", "thinking", "tool_call")}
COUNTS: Final = ("cached_tokens", "prompt_tokens", "thoughts_tokens", "response_tokens")
REASONS: Final = ("stop", "length", "tool_call", "unknown")
"""Finish reasons that are written here."""

BETWEEN: Final = "between groups"
GROUP: Final = "in a group"
ENDED: Final = "ended"
STATES: Final[dict[str, dict[str, str]]] = {
    BETWEEN: {"delta": GROUP, "stop": ENDED, "error": ENDED},
    GROUP: {"delta": GROUP, "done": BETWEEN, "error": ENDED},
    ENDED: {},
}
"""State → what may come → next state. The encoder moves through the same table, from the other side."""

_BAD_REQUEST = ("UnsupportedParameterError", "UnsupportedOperationError")


def is_texts(values: Any) -> bool:
    """Whether a state is texts alone, at least one: all that shares nothing with its copy."""
    return type(values) is dict and bool(values) and {*map(type, values.values())} == {str}


def is_stamp(value: Any) -> bool:
    """Whether a value may be a ``created_at``."""
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def delta_event(item: JsonObject) -> JsonObject:
    """A delta event with one item, not stamped yet."""
    return {
        "role": "assistant",
        "event_type": "delta",
        "content_items": [item],
        "usage_metadata": None,
        "finish_reason": None,
    }


def item_of(kind: str, phase: str, grown: Any, head: Open, state: JsonObject | None) -> JsonObject:
    """An item. ``head`` has the header fields that this item says."""
    item: JsonObject = {"type": f"{kind}.{phase}"}
    if kind == "tool_call":
        item |= {"name": head.name or "", "arguments": grown, "tool_call_id": head.id or ""}
    else:
        item[FIELD[kind]] = grown
        if GROWS[kind] is bytes:
            item["mime_type"] = head.mime_type or "application/octet-stream"
    if state is not None:
        item["fidelity"] = state
    return item


def stop_event(event: Finish) -> JsonObject:
    """The stop event, not stamped yet."""
    usage, word = event.usage, event.reason.word
    return {
        "role": "assistant",
        "event_type": "stop",
        "content_items": [],
        "usage_metadata": {
            "cached_tokens": usage.cached_tokens,
            "prompt_tokens": _less(usage.input_tokens, usage.cached_tokens),
            "thoughts_tokens": usage.reasoning_tokens,
            "response_tokens": _less(usage.output_tokens, usage.reasoning_tokens),
        },
        "finish_reason": word if word in REASONS else "unknown",
    }


def _less(total: int | None, part: int | None) -> int | None:
    return None if total is None else total - (part or 0)


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None and b is None else (a or 0) + (b or 0)


def read_stop(unit: JsonObject) -> Finish:
    """What a stop event says (its counts may be missing or null)."""
    counts, raw = unit["usage_metadata"], unit["finish_reason"]
    cached, thoughts = counts.get("cached_tokens"), counts.get("thoughts_tokens")
    usage = TokenCounts(
        input_tokens=_plus(cached, counts.get("prompt_tokens")),
        output_tokens=_plus(thoughts, counts.get("response_tokens")),
        cached_tokens=cached,
        reasoning_tokens=thoughts,
    )
    word = reason_word(raw)
    return Finish(usage, Reason(word, None if raw == word else raw))


def error_unit(event: Failure, *, at_home: bool) -> JsonObject:
    """The error of a failure: as it was where it came from UniEvent, else as a relayed one.

    Details stand beside what the failure itself says, and never in its place.
    """
    details = {k: v for k, v in event.details.items() if k not in ("type", "message")}
    if at_home:
        kind: JsonObject = {} if event.kind is None else {"type": event.kind}
        own = {**kind, "message": event.message, **details}
        if event.code == read_error(own).code:
            return {"error": own}
    elif event.kind == "ToolArgumentsError":
        head = {"type": "ToolCallArgumentParseError", "message": event.message, "client": "translate-streams"}
        return {"error": {**head, **details}}
    status: JsonObject = {} if event.code is None else {"status": event.code}
    return {"error": {"type": "UpstreamError", "message": event.message, **status}}


def read_error(error: JsonObject) -> Failure:
    """What an error object says."""
    kind, message = optional(error, "type", str, "the error"), optional(error, "message", str, "the error")
    details = {k: v for k, v in error.items() if k not in ("type", "message")}
    status = details.get("status")
    own = status if type(status) is int and 400 <= status <= 599 else None
    code = own or (400 if kind in _BAD_REQUEST else 502)
    return Failure(code, message or "", kind, details)


def close_enough(done: Any, parsed: Any) -> bool:
    """Whether a ``.done``'s arguments are what some reader made of the fragments: numbers compare as doubles."""
    if isinstance(done, dict) and isinstance(parsed, dict):
        return done.keys() == parsed.keys() and all(close_enough(v, parsed[k]) for k, v in done.items())
    if isinstance(done, list) and isinstance(parsed, list):
        return len(done) == len(parsed) and all(map(close_enough, done, parsed))
    if jsontext.same(done, parsed):
        return True
    return _is_number(done) and _is_number(parsed) and _double(done) == _double(parsed)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _hot(kind: str) -> Hot:
    unit = delta_event(item_of(kind, "delta", TEXT, Open("tool_call"), None))
    return Hot({**unit, "created_at": NUMBER}, NAME, stamp=STAMP)


HOT: Final = {kind: _hot(kind) for kind in ("text", "thinking", "tool_call")}


def said_kind(head: Open) -> str:
    """The kind of item that says a part: a refusal is text."""
    return "text" if head.kind == "refusal" else head.kind


def said_open(head: Open, calls: int = 0) -> Open:
    """The opening that the first fragment of a part says, after so many ``calls``."""
    kind = said_kind(head)
    if kind == "tool_call":
        return Open("tool_call", head.id or made_id(calls), head.name)
    mime = (head.mime_type or "application/octet-stream") if GROWS[kind] is bytes else None
    return Open(kind, mime_type=mime)  # type: ignore[arg-type]


def assembled(head: Open, data: Data, state: JsonObject | None) -> JsonObject:
    """A complete item of a message."""
    kind = said_kind(head)
    if kind == "tool_call":
        # the limit was held to as it was read
        whole = parse_arguments(str(data), head.name or "", head.id or "", sys.maxsize)
        return item_of(kind, "done", whole, head, state)
    empty = GROWS[kind]()
    return item_of(kind, "done", jsontext.whole(data) if isinstance(data, str) and data else data or empty, head, state)
