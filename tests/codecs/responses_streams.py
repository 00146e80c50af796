"""OpenAI Responses streams in short words, for tests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from translate import convert
from translate.algebra.events import Event
from translate.api import encode

CLOCK = 1_700_000_000_000
Unit = dict[str, Any]
Units = list[Unit]

R = "response."


def response(status: str, output: Any = None, **members: Any) -> Unit:
    """A terminal unit, or another that tells of the whole response."""
    told = {"id": "r1", "model": "m", "created_at": 1, "status": status}
    return {"type": R + status, "response": {**told, "output": [] if output is None else output, **members}}


CREATED: Unit = {"type": R + "created", "response": {"id": "r1", "model": "m", "created_at": 1, "output": []}}
LENGTH = response("incomplete", incomplete_details={"reason": "max_output_tokens"})


def added(index: int, item: Unit) -> Unit:
    """An output_item.added."""
    return {"type": R + "output_item.added", "output_index": index, "item": item}


def done(index: int, item: Unit) -> Unit:
    """An output_item.done."""
    return {"type": R + "output_item.done", "output_index": index, "item": item}


def of(index: int, type: str, **members: Any) -> Unit:
    """A unit of the part 0 of a message."""
    return {"type": R + type, "item_id": f"m{index}", "output_index": index, "content_index": 0, **members}


def part(text: str = "", kind: str = "output_text", **members: Any) -> Unit:
    """A part of a message."""
    if kind == "refusal":
        return {"type": kind, "refusal": text, **members}
    return {"type": kind, "text": text, "annotations": [], **members}


def message(index: int, text: str | None = None, kind: str = "output_text", **members: Any) -> Unit:
    """A message, whole where it has a text."""
    status: Unit = {"status": "in_progress", "content": []}
    if text is not None:
        status = {"status": "completed", "content": [part(text, kind)]}
    return {"id": f"m{index}", "type": "message", "role": "assistant", **status, **members}


def begin(index: int = 0, kind: str = "output_text", **members: Any) -> Units:
    """The units before the text of a message."""
    return [added(index, message(index, **members)), of(index, "content_part.added", part=part(kind=kind))]


def text(value: str, index: int = 0, **members: Any) -> Unit:
    """A fragment of text."""
    return of(index, "output_text.delta", delta=value, **members)


def end(value: str, index: int = 0, kind: str = "output_text", **members: Any) -> Units:
    """The units behind the text of a message."""
    key = "refusal" if kind == "refusal" else "text"
    return [
        of(index, f"{kind}.done", **{key: value}),
        of(index, "content_part.done", part=part(value, kind)),
        done(index, message(index, value, kind, **members)),
    ]


def call(index: int, arguments: str = "", **members: Any) -> Unit:
    """A function call."""
    named = {"id": f"fc{index}", "type": "function_call", "call_id": f"c{index}", "name": "f"}
    return {**named, "arguments": arguments, "status": "in_progress", **members}


def args(index: int, value: str, **members: Any) -> Unit:
    """A fragment of a call's arguments."""
    at = {"item_id": f"fc{index}", "output_index": index}
    return {"type": R + "function_call_arguments.delta", **at, "delta": value, **members}


def whole_args(index: int, value: str, **members: Any) -> Unit:
    """All of a call's arguments."""
    at = {"item_id": f"fc{index}", "output_index": index}
    return {"type": R + "function_call_arguments.done", **at, "arguments": value, **members}


def custom(value: str, name: str = "p") -> Unit:
    """A call of a custom tool."""
    return {"id": "ct", "type": "custom_tool_call", "call_id": "c0", "name": name, "input": value}


def piece(value: str) -> Unit:
    """A fragment of the text of a custom tool."""
    return {"type": R + "custom_tool_call_input.delta", "item_id": "ct", "output_index": 0, "delta": value}


def reasoning(**members: Any) -> Unit:
    """A reasoning item."""
    return {"id": "rs0", "type": "reasoning", "summary": [], **members}


def summary(index: int, value: str) -> Units:
    """The units of a part of a summary."""
    at = {"item_id": "rs0", "output_index": 0, "summary_index": index}
    said = {"type": "summary_text", "text": value}
    return [
        {"type": R + "reasoning_summary_part.added", **at, "part": {"type": "summary_text", "text": ""}},
        {"type": R + "reasoning_summary_text.delta", **at, "delta": value},
        {"type": R + "reasoning_summary_text.done", **at, "text": value},
        {"type": R + "reasoning_summary_part.done", **at, "part": said},
    ]


def numbered(units: Iterable[Unit], first: int = 0) -> Units:
    """The units with their numbers."""
    return [{**unit, "sequence_number": first + i} for i, unit in enumerate(units)]


def sse(units: Iterable[Unit]) -> bytes:
    """The bytes of a stream."""
    return b"".join(b"event: %s\ndata: %s\n\n" % (u["type"].encode(), json.dumps(u).encode()) for u in units)


def written(events: Iterable[Event], **options: Any) -> Units:
    """The native units of events, without carries."""
    return list(encode(events, "openai-responses", clock=lambda: CLOCK, loss="drop", **options))


def home(units: Units, *formats: str) -> Units:
    """The units again, after they went through ``formats``."""
    now: list[Any] = units
    at = "openai-responses"
    for format in (*formats, "openai-responses"):
        now = list(convert(now, at, format, clock=lambda: CLOCK, errors="encode"))
        at = format
    return now
