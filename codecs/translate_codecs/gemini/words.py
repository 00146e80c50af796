"""The words of Gemini: its canonical pieces and what they say, for decoder and encoder alike."""

from __future__ import annotations

import base64
import re
import sys
from typing import Any, Final

from translate import jsontext
from translate.algebra.calls import BLANK
from translate.algebra.events import (
    Failure,
    JsonObject,
    Open,
    Reason,
    ReasonWord,
    State,
    TokenCounts,
)
from translate.algebra.reading import kind_of, optional
from translate.errors import DecodeError, TranslateError

NAME: Final = "gemini"
ISSUER: Final = "google"
SIGNATURE: Final = "signature"
CODE: Final = "code_execution"
"""The name of the tool that runs code."""
PARTS: Final = "parts"
"""The member of a residue that holds the parts of a unit with pieces of a call."""
OCTETS: Final = "application/octet-stream"
MEMBERS: Final = ("candidates", "usageMetadata", "modelVersion", "responseId", "createTime", "promptFeedback")
"""What an object has to have one of to be a chunk."""
NOTES: Final = ("groundingMetadata", "citationMetadata", "urlContextMetadata")
"""Members of a candidate that annotate what it says."""
SERVERS: Final[dict[str, str]] = {
    "executableCode": "server_tool_call",
    "toolCall": "server_tool_call",
    "codeExecutionResult": "server_tool_result",
    "toolResponse": "server_tool_result",
}
"""Part of a tool that ran on the provider's side → what it is."""

# ---- calls

_MADE: Final = "made_"
_NUMBERED: Final = re.compile(r"made_(.*)_\d+", re.DOTALL)


def made_id(stem: str, n: int) -> str:
    """The id of the stream's call ``n``, from 0, that the wire gives none; ``stem``: the id of the response."""
    return f"{_MADE}{stem}_{n}"


def is_made(id: str | None) -> bool:
    """Whether an id was made up for a call that had none: it is not on the wire."""
    return not id or id.startswith(_MADE)


def stem_of(id: str | None) -> str | None:
    """What a made-up id was made of."""
    found = _NUMBERED.fullmatch(id) if id else None
    return found[1] if found else None


def compact(value: Any) -> str:
    """The text of a JSON value, as arguments that this wire said."""
    return jsontext.dumps(value).decode("utf-8", "surrogatepass")


def same_arguments(said: object, meant: object) -> bool:
    """Whether text that was read from arguments is how this wire says the text that is meant."""
    if not isinstance(said, str) or not isinstance(meant, str):
        return False
    if not meant.strip(BLANK):
        return said == "{}"
    try:
        value = jsontext.loads_str(meant, sys.maxsize)
    except TranslateError:
        return False
    return isinstance(value, dict) and jsontext.same(said, compact(value))


def is_sayable(head: Open) -> bool:
    """Whether there are words for a part; for those of the provider's own tools only where they came from here."""
    if head.kind == "tool_call":
        return bool(head.name)
    if head.kind in ("server_tool_call", "server_tool_result"):
        return NAME in (head.residue or {})
    return head.kind != "embedding"


def is_audio(mime_type: str | None) -> bool:
    """Whether data of this type goes on in further chunks."""
    return bool(mime_type and mime_type.lower().startswith("audio/"))


def read_base64(text: str) -> bytes:
    """Raises :class:`DecodeError`. Both alphabets are read."""
    try:
        return base64.b64decode(text.translate(_URL_SAFE), validate=True)
    except ValueError:
        raise DecodeError("the data of a part is not base64", expected="base64") from None


_URL_SAFE: Final = {ord("-"): "+", ord("_"): "/"}

# ---- states


def signature_of(state: State | None, publisher: str | None, *, home: bool) -> str | None:
    """What a state says as ``thoughtSignature``; ``None`` where there are no words for it.

    Only its issuer's own is said, or one of an unknown issuer, unless another provider is known to answer. What is not
    base64 makes the provider's Python reader refuse the chunk: it is said at home alone.
    """
    if state is None:
        return None
    values = state.values
    found = values.get(SIGNATURE)
    if type(found) is not str or not found or values.keys() - {SIGNATURE, "format"}:
        return None
    if home and state.namespace == ISSUER:
        return found
    other = state.namespace is None and bool(publisher) and ISSUER not in str(publisher).lower()
    if state.namespace not in (ISSUER, None) or other:
        return None
    try:
        return found if read_base64(found) else None
    except (DecodeError, ValueError):
        return None


# ---- reasons

_FILTERED: Final = (
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"),
    *("IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR"),
)
_UNKNOWN: Final = (
    *("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE"),
    *("MALFORMED_RESPONSE", "LANGUAGE", "OTHER", "NO_IMAGE", "IMAGE_OTHER", "FINISH_REASON_UNSPECIFIED"),
)
_WORDS: Final[dict[str, ReasonWord]] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(_FILTERED, "content_filter"),
    **dict.fromkeys(_UNKNOWN, "unknown"),
}
_NUMBERS: Final = {"1": "STOP", "2": "MAX_TOKENS", "3": "SAFETY", "4": "RECITATION", "5": "OTHER"}
"""The reasons of bodies that have numbers for words."""
_SAID: Final[dict[ReasonWord, str]] = {
    "stop": "STOP",
    "tool_call": "STOP",
    "length": "MAX_TOKENS",
    "refusal": "SAFETY",
    "content_filter": "SAFETY",
}


def read_reason(raw: str) -> Reason:
    """What a reason says; ``raw`` is the word of the wire, or its number as text."""
    return Reason(_WORDS.get(_NUMBERS.get(raw, raw), "unknown"), raw)


def read_blocked(raw: str) -> Reason:
    """What it says that the prompt was refused."""
    return Reason("content_filter", raw)


def reason_words(reason: Reason) -> str:
    """The word that is said for a reason: its own where that is one of this wire, and means the same."""
    if reason.raw is not None and _WORDS.get(reason.raw) == reason.word:
        return reason.raw
    return _SAID.get(reason.word, "OTHER")


def same_reason(said: Reason, meant: Reason) -> bool:
    """Whether a reason that was said is the one meant."""
    return said == meant or said.raw == reason_words(meant)


# ---- usage

TOOLS: Final = "toolUsePromptTokenCount"
_COUNTS: Final = ("promptTokenCount", TOOLS, "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount")
_TOTAL: Final = "totalTokenCount"
_ADDED: Final = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
_MOVE: Final = frozenset({*_ADDED, "cachedContentTokenCount", _TOTAL})
_DETAILS: Final = (
    *("promptTokensDetails", "candidatesTokensDetails", "cacheTokensDetails", "toolUsePromptTokensDetails"),
)


def read_usage(usage: JsonObject | None) -> TokenCounts | None:
    """The counts that a ``usageMetadata`` has, by itself; ``None`` where it has none."""
    if not usage:
        return None
    prompt, tools, said, thoughts, cached = (optional(usage, name, int, "the usage") for name in _COUNTS)
    total = optional(usage, "totalTokenCount", int, "the usage")
    if prompt is tools is said is thoughts is cached is total is None:
        return None
    other: JsonObject = {} if tools is None else {TOOLS: tools}
    other |= {name: jsontext.copied(usage[name]) for name in _DETAILS if usage.get(name) is not None}
    return TokenCounts(_sum(prompt, tools), _sum(said, thoughts), cached, thoughts, None, other)


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is b is None else (a or 0) + (b or 0)


def usage_after(counts: TokenCounts, before: TokenCounts | None) -> TokenCounts:
    """Counts that stand alone, after others: what was known and is now left out is none, not as it was."""
    if before is None:
        return counts
    gone: JsonObject = dict.fromkeys(name for name in before.other if name not in counts.other)
    pairs = zip(numbers(counts), numbers(before), strict=True)
    said, output, cached, thoughts = (0 if now is None and then is not None else now for now, then in pairs)
    return TokenCounts(said, output, cached, thoughts, None, {**gone, **counts.other})


def usage_change(counts: TokenCounts, before: TokenCounts | None) -> TokenCounts | None:
    """Of ``counts`` those that are not as they were; ``None`` where all are."""
    if before is None:
        return counts
    pairs = zip(numbers(counts), numbers(before), strict=True)
    found = [now if now != then else None for now, then in pairs]
    other = {name: value for name, value in counts.other.items() if not jsontext.same(value, before.other.get(name))}
    said, output, cached, thoughts = found
    changed = bool(other) or any(each is not None for each in found)
    return TokenCounts(said, output, cached, thoughts, None, other) if changed else None


def usage_grown(usage: JsonObject, before: JsonObject, counts: TokenCounts) -> tuple[TokenCounts, TokenCounts] | None:
    """The counts of a ``usageMetadata`` in which, against the one ``before``, counts alone moved, and what changed.

    ``counts``: those so far. ``None`` where more differs, where any is zero, or where the total is not their sum: then
    the long way tells.
    """
    if usage.keys() != before.keys():
        return None
    total = 0
    for name, value in usage.items():
        held = before[name]
        if name in _MOVE:
            if type(value) is not int or type(held) is not int or value <= 0:
                return None
            total += value if name in _ADDED else 0
        elif not (value is held or (type(value) is str and value == held) or jsontext.same(value, held)):
            return None
    total += usage.get(TOOLS) or 0
    if total != usage.get(_TOTAL):
        return None
    prompt, tools, said, thoughts, cached = map(usage.get, _COUNTS)
    now = TokenCounts(
        counts.input_tokens if prompt is None else prompt + (tools or 0),
        counts.output_tokens if said is thoughts is None else (said or 0) + (thoughts or 0),
        counts.cached_tokens if cached is None else cached,
        counts.reasoning_tokens if thoughts is None else thoughts,
        None,
        counts.other,
    )
    prompt, said, cached, thoughts = (
        new if new != old else None for new, old in zip(numbers(now), numbers(counts), strict=True)
    )
    return now, TokenCounts(prompt, said, cached, thoughts)


def numbers(counts: TokenCounts) -> tuple[int | None, int | None, int | None, int | None]:
    """The four counts that every format knows."""
    return counts.input_tokens, counts.output_tokens, counts.cached_tokens, counts.reasoning_tokens


def is_known(usage: TokenCounts) -> bool:
    """Whether any count is known."""
    return any(count is not None for count in numbers(usage))


def usage_words(usage: TokenCounts, before: JsonObject | None = None) -> JsonObject:
    """The counts as a chunk says them; ``before``: the ``usageMetadata`` of the chunk before, whose members stay.

    Those of zero are left out where they are left out there.
    """
    prompt, output, cached, thoughts = numbers(usage)
    tools = usage.other.get(TOOLS)
    said: JsonObject = {}
    if before is not None and type(tools) is int:
        said[TOOLS] = tools
        prompt = None if prompt is None else prompt - tools
    if thoughts is not None:
        output = thoughts if output is None else max(output, thoughts)
    said |= {
        "promptTokenCount": prompt,
        "candidatesTokenCount": None if output is None else output - (thoughts or 0),
        "thoughtsTokenCount": thoughts,
        "cachedContentTokenCount": cached,
    }
    total = (prompt or 0) + (said.get(TOOLS) or 0) + (output or 0)
    known = {name: count for name, count in said.items() if count is not None}
    if before is None:
        return {**known, "totalTokenCount": total}
    known |= {name: usage.other.get(name) for name in (*_DETAILS, TOOLS) if name in usage.other}
    left = {name: value for name, value in before.items() if name not in known or known[name]}
    return {**left, **{name: value for name, value in known.items() if value or name in left}, "totalTokenCount": total}


# ---- failures

_FALLBACK: Final = 502
_STATUS: Final[dict[int, str]] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def read_error(error: Any) -> Failure:
    """What an error says: text, or an object."""
    if isinstance(error, str):
        return Failure(_FALLBACK, error)
    if not isinstance(error, dict):
        raise DecodeError(f"the error is {kind_of(error)}", expected="an object")
    code, message, status = error.get("code"), error.get("message"), error.get("status")
    details = dict(error)
    for name, is_plain in (
        ("code", is_status(code)),
        ("message", type(message) is str),
        ("status", type(status) is str),
    ):
        if is_plain:
            del details[name]
    return Failure(
        code if is_status(code) else _FALLBACK,
        message if type(message) is str else "",
        status if type(status) is str else None,
        details,
    )


def is_status(code: object) -> bool:
    """Whether it is a status of an HTTP error."""
    return type(code) is int and 400 <= code <= 599


def error_unit(event: Failure, *, at_home: bool) -> JsonObject:
    """The unit of a failure: as it was where it came from here, else in the words for its status."""
    code = event.code if is_status(event.code) else _FALLBACK
    said: JsonObject = {"code": code, "message": event.message}
    if at_home:
        return {"error": {**said, **({} if event.kind is None else {"status": event.kind}), **event.details}}
    return {"error": {**said, "status": _STATUS.get(code or 0, "UNKNOWN")}}
