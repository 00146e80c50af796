"""Chat Completions streams in short words, for tests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from translate import convert, decode
from translate.algebra.events import (
    Annotate,
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Foreign,
    Open,
    Start,
    State,
    Usage,
)
from translate.errors import TranslateError

HEAD: dict[str, Any] = {"id": "c1", "object": "chat.completion.chunk", "created": 5, "model": "m"}
DONE = b"data: [DONE]\n\n"
CLOCK = 1_700_000_000_000


def chunk(delta: Any, reason: str | None = None, **members: Any) -> dict[str, Any]:
    """A chunk with one choice."""
    return {**HEAD, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **members}


def say(**delta: Any) -> dict[str, Any]:
    """A chunk that says this delta."""
    return chunk(delta)


def end(reason: str, **members: Any) -> dict[str, Any]:
    """A chunk with an empty delta and a reason."""
    return chunk({}, reason, **members)


def entry(index: int | None, id: Any, name: Any, args: Any) -> dict[str, Any]:
    """A piece of a call; what is ``...`` is left out."""
    function = {k: v for k, v in (("name", name), ("arguments", args)) if v is not ...}
    head = {k: v for k, v in (("index", index), ("id", id)) if v is not None and v is not ...}
    return {**head, "type": "function", "function": function}


def call(index: int | None, id: Any, name: Any, args: Any) -> dict[str, Any]:
    """A chunk with the first piece of a call."""
    return say(tool_calls=[entry(index, id, name, args)])


def more(index: int | None, args: Any) -> dict[str, Any]:
    """A chunk with a later piece of a call."""
    return say(tool_calls=[{**({} if index is None else {"index": index}), "function": {"arguments": args}}])


def detail(kind: str, format: str | None, **members: Any) -> dict[str, Any]:
    """An entry of ``reasoning_details``."""
    return {"type": f"reasoning.{kind}", "format": format, "index": 0, **members}


S = say(role="assistant", content="")
COUNTS = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
U = {**HEAD, "choices": [], "usage": COUNTS}


def sse(units: Iterable[Any], *, done: bool = True) -> bytes:
    """The bytes of a stream; what is bytes already stands as it is."""
    blocks = [u if isinstance(u, bytes) else b"data: " + json.dumps(u).encode() + b"\n\n" for u in units]
    return b"".join(blocks) + (DONE if done else b"")


def native(data: bytes) -> list[Any]:
    """The units of SSE bytes."""
    found = re.findall(rb"^(?:data|error): ?(.*?)\s*$", data.replace(b"\r\n", b"\n"), re.MULTILINE)
    return [json.loads(value) for value in found if value != b"[DONE]"]


def words(event: Event) -> str | None:
    """An event in short words; none for what is transport."""
    match event:
        case Start():
            return "start"
        case Open(kind=kind):
            return " ".join(filter(None, ("open", kind, event.id, event.name)))
        case Append(data=data, state=state):
            return f"+{data!s}" + (f" {_state(state)}" if state is not None else "")
        case Close(cut=cut):
            return "cut" if cut else "close"
        case Usage(usage=n):
            return f"usage {n.input_tokens} {n.output_tokens}"
        case Finish(usage=n, reason=reason):
            return f"finish {reason.word} {reason.raw or ''} {n.input_tokens} {n.output_tokens}".replace("  ", " ")
        case Failure(code=code, message=message):
            return f"failure {code} {message}"
        case Foreign():
            return "foreign"
        case Annotate(namespace=namespace):
            return f"note {namespace}"
        case _:
            return None


def _state(state: State) -> str:
    held = ",".join(f"{key}={value}" for key, value in state.values.items() if key != "format")
    return f"[{state.namespace}:{held}]"


def said(data: bytes | list[Any], format: str = "openai-chat-sse", **options: Any) -> list[str]:
    """The events of a stream in short words, last the name of the error that it raises, if any."""
    out: list[str] = []
    try:
        for event in decode([data] if isinstance(data, bytes) else data, format, **options):
            word = words(event)
            out += [word] if word is not None else []
    except TranslateError as error:
        out.append(type(error).__name__)
    return out


def through(data: bytes, *formats: str, **options: Any) -> bytes:
    """SSE bytes of Chat through formats of bytes; the last one is the result's."""
    at = "openai-chat-sse"
    for format in formats:
        data = b"".join(convert([data], at, format, clock=lambda: CLOCK, errors="encode", **options))
        at = format
    return data
