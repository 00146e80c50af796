"""What decoders share: reading members of a unit with a clear error, and the words of finish reasons."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ..errors import DecodeError
from .events import JsonObject, ReasonWord

_TYPES: dict[type, str] = {
    str: "text",
    int: "an integer",
    bool: "true or false",
    dict: "an object",
    list: "a list",
    float: "a number",
}

_WORDS: dict[str, ReasonWord] = {
    "stop": "stop",
    "endturn": "stop",
    "stopsequence": "stop",
    "length": "length",
    "maxtokens": "length",
    "maxoutputtokens": "length",
    "toolcall": "tool_call",
    "toolcalls": "tool_call",
    "tooluse": "tool_call",
    "functioncall": "tool_call",
}


def reason_word(raw: str) -> ReasonWord:
    """The mapped word for a finish reason of any spelling (camel, snake, upper case); ``unknown`` for any other."""
    return _WORDS.get(raw.replace("_", "").lower(), "unknown")


def kind_of(value: Any) -> str:
    """What a JSON value is, for a message."""
    return "null" if value is None else _TYPES.get(type(value), type(value).__name__)


def member(unit: JsonObject, key: str, kind: type, where: str) -> Any:
    """A member that must be there, of one type (``true`` is no integer). Raises :class:`DecodeError`."""
    try:
        value = unit[key]
    except KeyError:
        raise DecodeError(f"{where} lacks the member {key!r}", expected=_TYPES[kind]) from None
    if type(value) is not kind:
        raise DecodeError(f"{where} has {kind_of(value)} as its member {key!r}", expected=_TYPES[kind])
    return value


def optional(unit: JsonObject, key: str, kind: type, where: str) -> Any:
    """A member that may be absent or ``null``; then ``None``."""
    return None if unit.get(key) is None else member(unit, key, kind, where)


def milliseconds(at: object) -> float | None:
    """A time of RFC 3339 as milliseconds of Unix time; ``None`` for what is none."""
    try:
        return datetime.fromisoformat(at).timestamp() * 1000 if isinstance(at, str) else None
    except (ValueError, OverflowError):
        return None
