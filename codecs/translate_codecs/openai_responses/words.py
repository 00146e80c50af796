"""The words of OpenAI Responses: types of units and items, reasons, counts, errors, states and ids."""

from __future__ import annotations

import re
from typing import Any, Final

from translate import jsontext
from translate.algebra.calls import same_call
from translate.algebra.events import Failure, JsonObject, Open, PartKind, Reason, ReasonWord, State, TokenCounts
from translate.algebra.reading import optional

NAME: Final = "openai-responses"
ISSUER: Final = "openai"
DONE: Final = b"[DONE]"
UNKNOWN: Final = "unknown"
SYNTHETIC: Final = {NAME: {"synthetic": True}}

UNIT: Final = "unit"
"""The member of a residue that holds the type of the unit, where it is not the one that such events come as."""
ITEM: Final = "item"
"""The member of a residue that holds the type of the item that an ``Open`` is, where it is not the usual one."""
PADDING: Final = "o"
"""The member of a residue that holds the padding of a delta."""
PAD: Final = "obfuscation"
LOGPROBS: Final = "logprobs"
COUNTER: Final = "sequence_number"

R: Final = "response."
LIFECYCLE: Final = (R + "created", R + "queued", R + "in_progress")
TERMINAL: Final = (R + "completed", R + "incomplete", R + "failed")
ADDED: Final = R + "output_item.added"
DONE_ITEM: Final = R + "output_item.done"
PART_ADDED: Final = (R + "content_part.added", R + "reasoning_part.added", R + "reasoning_summary_part.added")
PART_DONE: Final = (R + "content_part.done", R + "reasoning_part.done", R + "reasoning_summary_part.done")
ANNOTATION: Final = R + "output_text.annotation.added"
ERROR: Final = "error"
KEEPALIVE: Final = "keepalive"

CONTENT: Final = "content"
SUMMARY: Final = "summary"
INDEX: Final = {CONTENT: "content_index", SUMMARY: "summary_index"}
"""List of an item that holds its parts → the member of a unit that counts them."""

TEXTS: Final[dict[str, tuple[str, str]]] = {
    R + "output_text": (CONTENT, "text"),
    R + "refusal": (CONTENT, "refusal"),
    R + "reasoning_text": (CONTENT, "text"),
    R + "reasoning_summary_text": (SUMMARY, "text"),
}
"""What units of deltas are named by → where the part is, and the member that holds its whole text."""
WHOLES: Final[dict[str, str]] = {
    R + "function_call_arguments": "arguments",
    R + "custom_tool_call_input": "input",
    R + "code_interpreter_call_code": "code",
    R + "mcp_call_arguments": "arguments",
    R + "apply_patch_call_operation_diff": "diff",
    R + "shell_call_command": "command",
}
"""The same of what grows an item without parts."""
DELTA: Final = ".delta"
WHOLE: Final = ".done"
SUMMARY_TEXT: Final = R + "reasoning_summary_text"
REASONING_TEXT: Final = R + "reasoning_text"
ARGUMENTS: Final = R + "function_call_arguments"
INPUT: Final = R + "custom_tool_call_input"

_PROGRESS: Final = tuple(
    f"{R}{tool}.{word}"
    for tool in (
        *("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"),
        "mcp_list_tools",
    )
    for word in ("in_progress", "searching", "interpreting", "generating", "completed", "failed")
)
KNOWN: Final = frozenset(
    {
        *LIFECYCLE,
        *TERMINAL,
        *(ADDED, DONE_ITEM, ANNOTATION, ERROR),
        *PART_ADDED,
        *PART_DONE,
        *(family + end for family in (*TEXTS, *WHOLES) for end in (DELTA, WHOLE)),
        *_PROGRESS,
        *(R + "image_generation_call.partial_image", R + "shell_call_command.added"),
        *(R + "shell_call_output_content.delta", R + "shell_call_output_content.done"),
    }
)
"""Types of units that are foreign by what differs from the unit expected; others are foreign as a whole."""

# ---- items -----------------------------------------------------------------------------------------------

MESSAGE: Final = "message"
REASONING: Final = "reasoning"
CALL: Final = "function_call"
CUSTOM: Final = "custom_tool_call"
IMAGE: Final = "image_generation_call"
_CLIENT: Final = ("apply_patch_call", "local_shell_call", "computer_call")
"""Calls that the client answers, whatever they hold."""
_SERVER: Final = ("web_search_call", "file_search_call", "code_interpreter_call", "mcp_call")
_OUTPUTS: Final = ("tool_search_output", "shell_call_output", "apply_patch_call_output")
RESULTS: Final = {"code_interpreter_call": "outputs", "file_search_call": "results", "mcp_call": "output"}
"""Type of an item → its member that holds what the tool answered."""


def is_custom(name: Any, tools: Any) -> bool:
    """Whether the client has a custom tool of that name, by the response's ``tools``."""
    if not isinstance(tools, list) or not tools:
        return True
    return any(isinstance(tool, dict) and tool.get("type") == "custom" and tool.get("name") == name for tool in tools)


def kind_of_item(item: JsonObject, tools: Any) -> PartKind | None:
    """The kind of the part that an item is. A message is none but has some; ``tools``: those of the response."""
    kind = item.get("type")
    if kind == REASONING:
        return "thinking"
    if kind == CALL or kind in _CLIENT:
        return "tool_call"
    if kind == CUSTOM:
        return "tool_call" if is_custom(item.get("name"), tools) else "server_tool_call"
    if kind == "shell_call":
        where = item.get("environment")
        served = isinstance(where, dict) and str(where.get("type", "")).startswith("container")
        return "server_tool_call" if served else "tool_call"
    if kind == "tool_search_call":
        return "tool_call" if item.get("execution") == "client" else "server_tool_call"
    if kind == IMAGE:
        return "inline_data"
    return "server_tool_call" if kind in _SERVER else "server_tool_result" if kind in _OUTPUTS else None


def open_of(item: JsonObject, kind: PartKind) -> Open:
    """The opening of the part that an item is."""
    type_ = str(item["type"])
    where = f"an item of type {type_!r}"
    id = optional(item, "id", str, where)
    if kind == "thinking":
        return Open(kind, id)
    if kind == "inline_data":
        return Open(kind, id, mime_type=f"image/{optional(item, 'output_format', str, where) or 'png'}")
    call = optional(item, "call_id", str, where)
    if type_ in (CALL, CUSTOM):
        return Open(kind, call or id, optional(item, "name", str, where))
    if kind == "tool_call":
        return Open(kind, call or id, type_.removesuffix("_call"))
    name = type_.removesuffix("_output") if kind == "server_tool_result" else optional(item, "name", str, where)
    return Open(kind, call or id, name or type_)


def item_type(head: Open) -> str:
    """The type of the item that a part is, where nothing else is known."""
    match head.kind:
        case "thinking":
            return REASONING
        case "tool_call":
            return CALL
        case "inline_data":
            return IMAGE
        case "server_tool_call":
            return head.name if head.name in _SERVER else "mcp_call"
        case "server_tool_result":
            return f"{head.name}_output"
        case _:
            return MESSAGE


# ---- ids -------------------------------------------------------------------------------------------------

_MADE: Final = re.compile(r"(?:msg|rs|fc|made)_.*_[0-9]+", re.DOTALL)
MADE_ID: Final = "resp_"
"""How the id of a response begins that nobody gave."""
_MADE_RESPONSE: Final = re.compile(MADE_ID + "[0-9a-f]+")


def made(prefix: str, response: Any, index: int) -> str:
    """An id that nobody gave, of the item ``index`` of a response."""
    return f"{prefix}_{str(response or '').removeprefix('resp_')}_{index}"


def is_made(id: str | None) -> bool:
    """Whether an id was made up."""
    return id is not None and _MADE.fullmatch(id) is not None


def same_response_id(said: str | None, meant: str | None) -> bool:
    """Whether the id of a response is the one meant: a made-up one stands for none."""
    return said == meant or (not meant and said is not None and bool(_MADE_RESPONSE.fullmatch(said)))


def same_open(said: Open, meant: Open) -> bool:
    """Whether the opening of a part is the one meant."""
    if said.kind != meant.kind:
        return False
    if said.kind == "tool_call":
        return same_call(said, meant)
    # where a format has an id for such a part, ours is only made up
    same = said.id == meant.id or (is_made(said.id) and not meant.id) or said.id is None
    return same and (said.name, said.mime_type) in ((meant.name, meant.mime_type), (None, None))


# ---- states ----------------------------------------------------------------------------------------------

PHASE: Final = "phase"
_OPAQUE: Final = ("encrypted_content", "signature")
_VALUES: Final = frozenset({*_OPAQUE, "reasoning_id", "id", "format", "channel", "reasoning_field"})
_ISSUERS: Final = ("anthropic", "openai", "azure-openai", "google", "xai")


def _issuer(format: Any) -> str | None:
    """Who issued a state, if its format says so."""
    if not isinstance(format, str) or not format:
        return None
    found = next((name for name in _ISSUERS if format.startswith(name)), None)
    return ISSUER if found == "azure-openai" else found


def state_of_item(item: JsonObject) -> State | None:
    """The state of a reasoning item."""
    values: JsonObject = {name: item[name] for name in _OPAQUE if isinstance(item.get(name), str) and item[name]}
    if not values:
        return None
    if isinstance(item.get("id"), str):
        values = {"reasoning_id": item["id"], **values}
    format = item.get("format")
    if isinstance(format, str):
        values["format"] = format
    if item.get("summary"):
        values["channel"] = SUMMARY
    return State(_issuer(format) if format else ISSUER, values)


def state_words(state: State | None) -> JsonObject:
    """The members of a reasoning item that say a state."""
    names = (*_OPAQUE, "format")
    return {} if state is None else {k: state.values[k] for k in names if isinstance(state.values.get(k), str)}


def is_sayable(state: State | None) -> bool:
    """Whether a state of thinking can be said: a provider refuses what it did not issue."""
    if state is None or not any(state_words(state).get(name) for name in _OPAQUE):
        return False
    if state.namespace == ISSUER:
        return True
    ours = _issuer(state.values.get("format")) in (None, ISSUER) and isinstance(state.values.get(_OPAQUE[0]), str)
    return state.namespace is None and ours and state.values.keys() <= _VALUES


def phase_of(state: State | None) -> str | None:
    """The phase that a state of text says."""
    if state is None or state.namespace not in (ISSUER, None) or state.values.keys() != {PHASE}:
        return None
    found = state.values[PHASE]
    return found if isinstance(found, str) else None


def says_state(state: State) -> bool:
    """Whether a state is said as it is: one of thinking, or a phase."""
    return (state.namespace == ISSUER and is_sayable(state)) or phase_of(state) is not None


def same_words(said: State | None, meant: State | None) -> bool:
    """Whether two states have the same words. A phase is said by the item, not by what it came with."""
    return state_words(said) == state_words(meant)


# ---- counts ----------------------------------------------------------------------------------------------

_DETAILS: Final = {"input_tokens_details": "cached_tokens", "output_tokens_details": "reasoning_tokens"}
_COUNTS: Final = ("input_tokens", "output_tokens", "total_tokens")
_OTHER: Final = {("input_tokens_details", "cache_write_tokens"): "cache_creation_input_tokens"}
"""Place of a count that other formats know, too → its name in ``other``."""


def read_usage(usage: JsonObject | None) -> TokenCounts:
    """The counts of a response."""
    if not usage:
        return TokenCounts()
    given, output, _ = (optional(usage, name, int, "the usage") for name in _COUNTS)
    other: JsonObject = {k: v for k, v in usage.items() if k not in (*_COUNTS, *_DETAILS)}
    known: list[int | None] = []
    for group, name in _DETAILS.items():
        details = optional(usage, group, dict, "the usage") or {}
        known.append(optional(details, name, int, "the usage"))
        other |= {_OTHER.get((group, k), f"{group}.{k}"): v for k, v in details.items() if k != name}
    return TokenCounts(given, output, known[0], known[1], None, other)


def usage_words(counts: TokenCounts) -> JsonObject | None:
    """The counts as a response says them; those that are unknown as zero, ``None`` where none is known."""
    known = (counts.input_tokens, counts.cached_tokens, counts.output_tokens, counts.reasoning_tokens)
    if all(count is None for count in known):
        return None
    given, cached, output, reasoning = (count or 0 for count in known)
    details: dict[str, JsonObject] = {
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens_details": {"reasoning_tokens": reasoning},
    }
    for (group, name), key in _OTHER.items():
        if type(counts.other.get(key)) is int:
            details[group][name] = counts.other[key]
    for key, value in counts.other.items():
        group, dot, name = key.partition(".")
        if dot and group in details and name:
            details[group][name] = value
    return {
        "input_tokens": given,
        "input_tokens_details": details["input_tokens_details"],
        "output_tokens": output,
        "output_tokens_details": details["output_tokens_details"],
        "total_tokens": given + output,
    }


# ---- reasons ---------------------------------------------------------------------------------------------

_REASONS: Final[dict[str, ReasonWord]] = {"max_output_tokens": "length", "content_filter": "content_filter"}
_WORDS: Final[dict[ReasonWord, str]] = {word: raw for raw, word in _REASONS.items()}


def status_of(unit: JsonObject) -> str:
    """The status that a terminal unit says."""
    given = unit["response"].get("status")
    known = ("completed", "incomplete", "failed", "cancelled")
    return given if given in known else str(unit["type"]).removeprefix(R)


def read_reason(status: str, response: JsonObject) -> Reason:
    """The reason that the end of a response says, which is no failure."""
    if status == "completed":
        return Reason("stop", "completed")
    details = optional(response, "incomplete_details", dict, "the response") or {}
    raw = optional(details, "reason", str, "the details") or ""
    word = _REASONS.get(raw, "unknown")
    return Reason(word, (raw or "incomplete") if word == "unknown" else None)


def reason_words(reason: Reason, *, home: bool) -> JsonObject:
    """The members of a response that say a reason; ``home``: of an unknown one that came from here."""
    raw = _WORDS.get(reason.word)
    if raw is None and home and reason.word == "unknown":
        details = None if reason.raw in (None, "incomplete") else {"reason": reason.raw}
        return {"status": "incomplete", "incomplete_details": details}
    if raw is None:
        return {"status": "completed"}
    return {"status": "incomplete", "incomplete_details": {"reason": raw}}


# ---- errors ----------------------------------------------------------------------------------------------

_CODES: Final = {"rate_limit_exceeded": 429, "insufficient_quota": 429, "server_error": 500}
_STATUSES: Final = ("status", "status_code", "code")


def _status(value: Any) -> int | None:
    if type(value) is str and len(value) == 3 and value.isascii() and value.isdigit():
        value = int(value)
    return value if type(value) is int and 400 <= value <= 599 else None


def read_error(error: JsonObject) -> Failure:
    """What an error object says."""
    words = [error[name] for name in ("code", "type") if isinstance(error.get(name), str) and error[name]]
    kind = words[0] if words else None
    message = error.get("message")
    used = {"code"} if kind is not None and error.get("code") == kind else {"type"} if kind is not None else set()
    used |= {"message"} if isinstance(message, str) else set()
    status = next(filter(None, (_status(error.get(name)) for name in _STATUSES)), None)
    other = 400 if (kind or "").startswith("invalid_") else 502
    named = next((_CODES[word] for word in words if word in _CODES), other)
    details = {k: v for k, v in error.items() if k not in used}
    return Failure(status or named, message if isinstance(message, str) else "", kind, details)


def error_of(unit: JsonObject) -> JsonObject:
    """The error object of a unit of type ``error``: nested, or its members flat."""
    nested = unit.get("error")
    if isinstance(nested, dict):
        return nested
    return {k: v for k, v in unit.items() if k not in ("type", COUNTER, "error")}


def error_words(event: Failure, *, home: bool) -> JsonObject:
    """The error object of a failure: as it was where it came from here."""
    return {"code": event.kind or "server_error", "message": event.message, **(event.details if home else {})}


def is_usual_error(event: Failure) -> bool:
    """Whether a failure is told by the words that are written for those of others."""
    return not event.details


def same_failure(said: Failure, meant: Failure) -> bool:
    """Whether two failures have the same words."""
    return jsontext.same(error_words(said, home=False), error_words(meant, home=False))
