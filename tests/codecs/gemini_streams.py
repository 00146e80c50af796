"""Streams of Gemini, and of its Interactions, in short words, for tests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from typing import Any

from tests.codecs.chat_streams import words
from translate import convert, decode
from translate.errors import TranslateError

CLOCK = 1_700_000_000_000


def chunk(*parts: dict[str, Any], reason: Any = None, usage: Any = None, **members: Any) -> dict[str, Any]:
    """A chunk with one candidate; ``members`` are the candidate's."""
    reasons = {} if reason is None else {"finishReason": reason}
    counts = {} if usage is None else {"usageMetadata": usage}
    candidate = {"content": {"parts": list(parts), "role": "model"}, "index": 0, **reasons, **members}
    return {"candidates": [candidate], **counts, "modelVersion": "m", "responseId": "r"}


def text(said: str, signature: str | None = None, *, thought: bool = False) -> dict[str, Any]:
    """A part of text."""
    state = {} if signature is None else {"thoughtSignature": signature}
    return {"text": said, **({"thought": True} if thought else {}), **state}


def call(name: str, args: Any = ..., signature: str | None = None, **members: Any) -> dict[str, Any]:
    """A part that is a call; without ``args`` it has none."""
    given = {} if args is ... else {"args": args}
    state = {} if signature is None else {"thoughtSignature": signature}
    return {"functionCall": {"name": name, **given, **members}, **state}


def piece(*partials: dict[str, Any], more: bool = True) -> dict[str, Any]:
    """A part that is a piece of the open call."""
    held: dict[str, Any] = {"partialArgs": list(partials)} if partials else {}
    return {"functionCall": {**held, **({"willContinue": True} if more else {})}}


def at(path: str, value: Any, *, more: bool = False) -> dict[str, Any]:
    """One argument by its path."""
    name = {str: "stringValue", bool: "boolValue", type(None): "nullValue"}.get(type(value), "numberValue")
    goes_on = {"willContinue": True} if more else {}
    return {"jsonPath": path, name: "NULL_VALUE" if value is None else value, **goes_on}


def data(mime_type: str, base64: str, **members: Any) -> dict[str, Any]:
    """A part that is data."""
    return {"inlineData": {"mimeType": mime_type, "data": base64}, **members}


def event(event_type: str, **members: Any) -> dict[str, Any]:
    """An event of Interactions."""
    return {**members, "event_type": event_type}


HEAD = {"id": "i", "status": "in_progress", "object": "interaction", "model": "m"}
CREATED = event("interaction.created", interaction=HEAD)


def begin(type_: str, index: int = 0, **members: Any) -> dict[str, Any]:
    """The start of a step."""
    return event("step.start", index=index, step={"type": type_, **members})


def delta(type_: str, index: int = 0, **members: Any) -> dict[str, Any]:
    """What grows a step."""
    return event("step.delta", index=index, delta={"type": type_, **members})


def say(said: str, index: int = 0) -> dict[str, Any]:
    """A fragment of text."""
    return delta("text", index, text=said)


def think(said: str, index: int = 0) -> dict[str, Any]:
    """A fragment of a thought."""
    return delta("thought_summary", index, content={"type": "text", "text": said})


def sign(signature: str, index: int = 0) -> dict[str, Any]:
    """A signature of a thought."""
    return delta("thought_signature", index, signature=signature)


def stop(index: int = 0) -> dict[str, Any]:
    """The end of a step."""
    return event("step.stop", index=index)


def completed(status: str = "completed", usage: Any = None) -> dict[str, Any]:
    """The end of an interaction."""
    counts = {} if usage is None else {"usage": usage}
    said = {"id": "i", "status": status, "object": "interaction", "model": "m", **counts}
    return event("interaction.completed", interaction=said)


def sse(units: Iterable[Any]) -> bytes:
    """The bytes of a stream; what is bytes already stands as it is. Events have their names."""
    out = []
    for unit in units:
        if isinstance(unit, bytes):
            out.append(unit)
            continue
        name = f"event: {unit['event_type']}\n" if "event_type" in unit else ""
        out.append(f"{name}data: {json.dumps(unit)}\n\n".encode())
    return b"".join(out)


def native(stream: bytes) -> list[Any]:
    """The units of SSE bytes."""
    lines = (line[6:] for line in stream.replace(b"\r\n", b"\n").split(b"\n") if line.startswith(b"data: "))
    return [json.loads(line) for line in lines if line != b"[DONE]"]


def said(stream: bytes | list[Any], format: str, **options: Any) -> list[str]:
    """The events of a stream in short words, last the name of the error that it raises, if any."""
    out: list[str] = []
    try:
        for each in decode([stream] if isinstance(stream, bytes) else stream, format, clock=lambda: CLOCK, **options):
            word = words(each)
            out += [word] if word is not None else []
    except TranslateError as error:
        out.append(type(error).__name__)
    return out


def through(stream: bytes, at: str, *formats: str, **options: Any) -> bytes:
    """Bytes of the format ``at`` through formats of bytes; the last one is the result's."""
    for n, format in enumerate(formats):
        clock = CLOCK + n
        stream = b"".join(convert([stream], at, format, clock=partial(int, clock), errors="encode", **options))
        at = format
    return stream
