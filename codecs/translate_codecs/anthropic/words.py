"""The words of Anthropic Messages: its canonical units and what they say, for decoder and encoder alike."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from translate import jsontext
from translate.algebra.calls import word_to_act_on
from translate.algebra.events import (
    Append,
    Event,
    Failure,
    JsonObject,
    Open,
    PartKind,
    Reason,
    ReasonWord,
    State,
    TokenCounts,
)
from translate.algebra.reading import member, optional
from translate.algebra.usage import latest
from translate.carry.reasons import guessed
from translate.codec import TEXT, Hot

NAME: Final = "anthropic"
DONE: Final = b"[DONE]"
UNKNOWN: Final = "unknown"
REDACTED: Final = "_REDACTED_THINKING"
"""The text of a thinking part that stands for redacted thinking, in UniEvent and in the algebra."""
SYNTHETIC: Final = {NAME: {"synthetic": True}}

# ---- blocks and deltas -----------------------------------------------------------------------------------

_BLOCKS: Final[dict[str, PartKind]] = {
    "text": "text",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "tool_use": "tool_call",
    "server_tool_use": "server_tool_call",
    "mcp_tool_use": "server_tool_call",
}
_TYPES: Final[dict[PartKind, str]] = {
    "text": "text",
    "refusal": "text",
    "thinking": "thinking",
    "tool_call": "tool_use",
    "server_tool_call": "server_tool_use",
}
RESULT: Final = "_tool_result"
CALLS: Final = ("tool_call", "server_tool_call")
SERVERS: Final = ("server_tool_call", "server_tool_result")
"""Kinds that only this format can say, and only of what came from it."""

GROWS: Final[dict[str, tuple[str, str]]] = {
    "text": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "tool_call": ("input_json_delta", "partial_json"),
    "server_tool_call": ("input_json_delta", "partial_json"),
}
"""Kind of part → type of the delta that grows it, and the member that holds what it adds."""
DELTAS: Final[dict[str, tuple[str, ...]]] = {
    "text_delta": ("text",),
    "citations_delta": ("text",),
    "thinking_delta": ("thinking",),
    "signature_delta": ("thinking",),
    "input_json_delta": CALLS,
}
"""Type of delta → kinds of parts that it may stand in."""


def kind_of_block(type: str) -> PartKind | None:
    """The kind of part that a content block is, if it is one."""
    return "server_tool_result" if type.endswith(RESULT) else _BLOCKS.get(type)


def read_block(block: JsonObject) -> list[Event]:
    """What a content block says, but for its end: ``Open``, and ``Append`` where it holds data."""
    type = block["type"]
    kind, where = kind_of_block(type), f"a {type} block"
    if kind == "server_tool_result":
        head = Open(kind, member(block, "tool_use_id", str, where), type.removesuffix(RESULT))
        return [head, Append(_json(block["content"]))] if "content" in block else [head]
    if kind in CALLS:
        head = Open(kind, member(block, "id", str, where), member(block, "name", str, where))
        given = optional(block, "input", dict, where)
        return [head, Append(_json(given))] if given else [head]
    if type == "redacted_thinking":
        return [Open("thinking"), Append(REDACTED, state_of(member(block, "data", str, where)))]
    if kind == "text":
        text, state = member(block, "text", str, where), None
    else:
        text, signature = (optional(block, key, str, where) or "" for key in ("thinking", "signature"))
        state = state_of(signature) if signature else None
    head = Open(kind)  # type: ignore[arg-type]
    return [head, Append(text, state)] if text or state else [head]


def plain_head(block: JsonObject) -> Open | None:
    """The opening that a block says which holds nothing and is as this format writes it; ``None`` for any other."""
    type_ = block.get("type")
    if type_ == "text":
        return Open("text") if len(block) == 2 and block.get("text") == "" else None
    if type_ == "tool_use" and len(block) == 4 and block.get("input") == {}:
        id, called = block.get("id"), block.get("name")
        # without an id or a name it is not said as it came
        return Open("tool_call", id, called) if type(id) is type(called) is str and id and called else None
    empty = type_ == "thinking" and len(block) == 3 and block.get("thinking") == block.get("signature") == ""
    return Open("thinking") if empty else None


def said_open(head: Open) -> Open:
    """The opening that the block of a part says."""
    if head.kind in CALLS or head.kind == "server_tool_result":
        return Open(head.kind, head.id, head.name)
    return Open(_BLOCKS[_TYPES[head.kind]])


def block_of(head: Open, id: str | None, grown: Append | None, nesting: int) -> JsonObject:
    """The content block of a part, with the data that its start holds. Raises :class:`TranslateError`: no such block.

    ``id``: that of a call. A state in ``grown`` is one that can be said. ``nesting``: levels of its JSON, at most.
    """
    kind = head.kind
    text: Any = grown.data if grown is not None else ""
    signature = grown.state.values["signature"] if grown is not None and grown.state is not None else ""
    if kind == "server_tool_result":
        content = {} if grown is None else {"content": jsontext.loads_str(text, nesting)}
        return {"type": f"{head.name}{RESULT}", "tool_use_id": id, **content}
    if kind in CALLS:
        given = jsontext.loads_str(text, nesting, spelled=True) if text else {}
        return {"type": _TYPES[kind], "id": id, "name": head.name, "input": given}
    if kind == "thinking":
        if text == REDACTED and signature:
            return {"type": "redacted_thinking", "data": signature}
        return {"type": "thinking", "thinking": text, "signature": signature}
    return {"type": "text", "text": text}


def start_unit(index: int, block: JsonObject) -> JsonObject:
    """The unit that begins a block."""
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta_unit(index: int, type: str, key: str, value: Any) -> JsonObject:
    """The unit of one delta."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": type, key: value}}


def stop_unit(index: int) -> JsonObject:
    """The unit that ends a block."""
    return {"type": "content_block_stop", "index": index}


@lru_cache(maxsize=256)
def hot_unit(index: int, kind: str) -> Hot:
    """The unit of a plain fragment: one object for each form, so that what is known of it is found."""
    return Hot(delta_unit(index, *GROWS[kind], TEXT), NAME, "content_block_delta")


def _json(value: Any) -> str:
    return jsontext.dumps(value).decode("utf-8")


# ---- state -----------------------------------------------------------------------------------------------

_BESIDE: Final = {"signature", "format", "reasoning_field"}
"""All that a state of unknown issuer may hold to be taken for one of this format."""


def state_of(signature: str) -> State:
    """The state that a signature is."""
    return State(NAME, {"signature": signature})


def is_sayable(state: State | None, publisher: str | None) -> bool:
    """Whether a state can be said: a provider refuses what it did not sign.

    ``publisher``: of the model, in whose name a state of unknown issuer may be said.
    """
    if state is None or not isinstance(state.values.get("signature"), str):
        return False
    if state.namespace is not None:
        return state.namespace == NAME
    format = state.values.get("format")
    ours = not isinstance(format, str) or format.startswith(NAME)
    return ours and state.values.keys() <= _BESIDE and (publisher is None or publisher.lower() == NAME)


def said_state(state: State) -> State:
    """A state that can be said, as it is read again."""
    return state_of(state.values["signature"])


# ---- counts ----------------------------------------------------------------------------------------------

CREATED: Final = "cache_creation_input_tokens"
_OTHER: Final = ("cache_creation", "server_tool_use")
_NO_COUNTS: Final = {"input_tokens": 0, "output_tokens": 0}


def read_usage(usage: JsonObject | None, before: TokenCounts | None) -> TokenCounts:
    """All counts that are known once ``usage`` came: what it leaves out, or has as null, is as it was."""
    if not usage:
        return before or TokenCounts()
    where = "the usage"
    names = ("input_tokens", CREATED, "cache_read_input_tokens", "output_tokens")
    fresh, created, cached, output = (optional(usage, name, int, where) for name in names)
    details = optional(usage, "output_tokens_details", dict, where) or {}
    reasoning = optional(details, "thinking_tokens", int, where)
    other: JsonObject = {} if created is None else {CREATED: created}
    other |= {key: usage[key] for key in _OTHER if optional(usage, key, dict, where) is not None}
    now = latest(TokenCounts(None, output, cached, reasoning, None, other), before)
    if any(count is not None for count in (fresh, created, cached)):
        was = _fresh(before) if fresh is None and before is not None else fresh
        now.input_tokens = (was or 0) + _created(now) + (now.cached_tokens or 0)
    return now


def usage_words(counts: TokenCounts) -> JsonObject:
    """The counts as the format says them: ``input_tokens`` are those that no cache held, never below zero."""
    fresh = _fresh(counts)
    words: JsonObject = {} if fresh is None else {"input_tokens": fresh}
    if _is_created(counts):
        words[CREATED] = counts.other[CREATED]
    if counts.cached_tokens is not None:
        words["cache_read_input_tokens"] = counts.cached_tokens
    words["output_tokens"] = counts.output_tokens or 0
    if counts.reasoning_tokens is not None:
        words["output_tokens_details"] = {"thinking_tokens": counts.reasoning_tokens}
    return words | {key: counts.other[key] for key in _OTHER if type(counts.other.get(key)) is dict}


def same_counts(said: TokenCounts, meant: TokenCounts) -> bool:
    """Whether two sets of counts have the same words."""
    first, second = (read_usage(usage_words(counts), None) for counts in (said, meant))
    return first == second


def are_blank(counts: TokenCounts) -> bool:
    """Whether all counts are zero or unknown: servers write so who do not know yet."""
    named = (counts.input_tokens, counts.output_tokens, counts.cached_tokens, counts.reasoning_tokens)
    return not any(named) and not any(map(_counts, counts.other.values()))


def _counts(value: Any) -> bool:
    return any(map(_counts, value.values())) if isinstance(value, dict) else bool(value)


def _is_created(counts: TokenCounts) -> bool:
    return type(counts.other.get(CREATED)) is int


def _created(counts: TokenCounts) -> int:
    return counts.other[CREATED] if _is_created(counts) else 0


def _fresh(counts: TokenCounts) -> int | None:
    if counts.input_tokens is None:
        return None
    return max(0, counts.input_tokens - _created(counts) - (counts.cached_tokens or 0))


# ---- the message -----------------------------------------------------------------------------------------


def message_start(
    name: str, id: str, counts: TokenCounts | None = None, content: list[JsonObject] | None = None
) -> JsonObject:
    """The unit that begins the message; the counts are those that are known with it."""
    message = {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": name,
        "content": content or [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**_NO_COUNTS, **usage_words(counts)} if counts is not None else dict(_NO_COUNTS),
    }
    return {"type": "message_start", "message": message}


MADE_ID: Final = "msg_"
"""How the id of a message begins that nobody gave."""
_MADE: Final = re.compile(MADE_ID + "[0-9a-f]+")


def same_id(said: str | None, meant: str | None) -> bool:
    """Whether the id of a message is the one meant: a made-up one stands for none."""
    return said == meant or (meant is None and said is not None and bool(_MADE.fullmatch(said)))


def message_delta(reason: str | None, counts: TokenCounts) -> JsonObject:
    """The unit that says the reason and the counts."""
    delta = {"stop_reason": reason, "stop_sequence": None}
    return {"type": "message_delta", "delta": delta, "usage": usage_words(counts)}


_REASONS: Final[dict[str, ReasonWord]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_call",
    "refusal": "refusal",
    "pause_turn": "pause",
}
_SAID: Final[dict[ReasonWord, str]] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_call": "tool_use",
    "refusal": "refusal",
    "content_filter": "refusal",
    "pause": "pause_turn",
    "unknown": "end_turn",
}


def read_reason(raw: str | None) -> Reason:
    """The reason of a stop word; its own word is kept where it is not the one that is said for the mapped word."""
    word = _REASONS.get(raw or "", "unknown")
    return Reason(word, None if _REASONS.get(raw or "") and _SAID[word] == raw else raw)


def reason_words(reason: Reason, *, calls: bool) -> tuple[str, str | None]:
    """The stop word of a reason, and what was guessed; ``calls``: whether the message holds a call."""
    word = word_to_act_on(reason.word, calls=calls)
    if word != reason.word:
        return _SAID[word], guessed("reason to act on", meant=reason.word, said=_SAID[word])
    if reason.raw is not None and _REASONS.get(reason.raw) == word:
        return reason.raw, None
    guess = guessed("reason", meant=word, said=_SAID[word]) if word == "unknown" else None
    return _SAID[word], guess


def same_reason(said: Reason, meant: Reason) -> bool:
    """Whether a reason has the word that was read as another."""
    word = said.raw or _SAID[said.word]
    return said == meant or word in {reason_words(meant, calls=calls)[0] for calls in (False, True)}


def explains(residue: JsonObject) -> bool:
    """Whether a residue holds the ``explanation`` of ``stop_details``, which is text for the user."""
    patch = residue.get("patch")
    for op in patch if isinstance(patch, list) else ():
        path, details = op if isinstance(op, list) and len(op) == 2 else ((), None)
        if isinstance(details, dict) and isinstance(path, list) and path[-1:] == ["stop_details"]:
            return bool(details.get("explanation"))
    return False


# ---- errors ----------------------------------------------------------------------------------------------

_CODES: Final[dict[str, int]] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_KINDS: Final = {**{code: kind for kind, code in _CODES.items()}, 408: "timeout_error", 503: "overloaded_error"}


def error_unit(event: Failure, *, at_home: bool) -> JsonObject:
    """The unit of a failure."""
    code = event.code
    by_code = _KINDS.get(code or 500, "invalid_request_error" if code and 400 <= code <= 499 else "api_error")
    kind = event.kind if event.kind is not None and (at_home or event.kind in _CODES) else by_code
    return {"type": "error", "error": {"type": kind, "message": event.message, **(event.details if at_home else {})}}


def is_usual_error(error: JsonObject) -> bool:
    """Whether an error object is one that is written for the failures of others."""
    return error.keys() == {"type", "message"} and error["type"] in _CODES


def read_error(unit: JsonObject) -> Failure:
    """What an error says."""
    error = member(unit, "error", dict, "an error")
    kind, message = optional(error, "type", str, "the error"), optional(error, "message", str, "the error")
    details = {key: value for key, value in error.items() if key not in ("type", "message")}
    return Failure(_CODES.get(kind or "", 502), message or "", kind, details)


def same_failure(said: Failure, meant: Failure) -> bool:
    """Whether two failures have the same words."""
    return jsontext.same(error_unit(said, at_home=False), error_unit(meant, at_home=False))
