"""Anthropic Messages streams in short words, for tests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from translate import convert
from translate.algebra.events import Event
from translate.api import encode

CLOCK = 1_700_000_000_000
Units = list[dict[str, Any]]


def start(usage: dict[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    """A message_start; the counts are zero where none are given."""
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage or {"input_tokens": 0, "output_tokens": 0},
    }
    return {"type": "message_start", "message": {**message, **members}}


S = start({"input_tokens": 7, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 5, "output_tokens": 1})
STOP = {"type": "message_stop"}
PING = {"type": "ping"}


def block(index: int, type: str, **members: Any) -> dict[str, Any]:
    """A content_block_start, with the members that its type needs."""
    call = {"id": f"toolu_{index}", "name": "f", "input": {}}
    needs: dict[str, dict[str, Any]] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": call,
        "server_tool_use": call,
    }
    return {
        "type": "content_block_start",
        "index": index,
        "content_block": {"type": type, **needs.get(type, {}), **members},
    }


def delta(index: int, type: str, **members: Any) -> dict[str, Any]:
    """A content_block_delta."""
    return {"type": "content_block_delta", "index": index, "delta": {"type": type, **members}}


def text(index: int, value: str) -> dict[str, Any]:
    """A fragment of text."""
    return delta(index, "text_delta", text=value)


def thinks(index: int, value: str) -> dict[str, Any]:
    """A fragment of thinking."""
    return delta(index, "thinking_delta", thinking=value)


def args(index: int, value: str) -> dict[str, Any]:
    """A fragment of a call's arguments."""
    return delta(index, "input_json_delta", partial_json=value)


def signed(index: int, value: str) -> dict[str, Any]:
    """A signature."""
    return delta(index, "signature_delta", signature=value)


def stop(index: int) -> dict[str, Any]:
    """A content_block_stop."""
    return {"type": "content_block_stop", "index": index}


def end(reason: str | None, output: int | None = 9, **members: Any) -> dict[str, Any]:
    """A message_delta with a reason and a count; ``usage`` gives others."""
    usage = {} if output is None else {"output_tokens": output}
    said = {"stop_reason": reason, "stop_sequence": None}
    return {"type": "message_delta", "delta": said, "usage": usage, **members}


def fails(type: str, message: str = "no", **members: Any) -> dict[str, Any]:
    """An error."""
    return {"type": "error", "error": {"type": type, "message": message, **members}}


def sse(units: Iterable[dict[str, Any]]) -> bytes:
    """The bytes of a stream."""
    return b"".join(b"event: %s\ndata: %s\n\n" % (u["type"].encode(), json.dumps(u).encode()) for u in units)


def written(events: Iterable[Event], **options: Any) -> Units:
    """The native units of events, without carries."""
    return list(encode(events, "anthropic", clock=lambda: CLOCK, loss="drop", **options))


def home(units: Units, *formats: str) -> Units:
    """The units again, after they went through ``formats``."""
    now: list[Any] = units
    at = "anthropic"
    for format in (*formats, "anthropic"):
        now = list(convert(now, at, format, clock=lambda: CLOCK, errors="encode"))
        at = format
    return now


def converted(units: Units, format: str) -> list[Any]:
    """The units in another format."""
    return list(convert(units, "anthropic", format, clock=lambda: CLOCK, errors="encode"))
