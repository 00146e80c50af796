"""The work: a generated stream, and the limits that a translation of it is measured against."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import orjson

WORDS = ["The", " quick", " brown", " fox", " in", " Paris", " é", " “so”", "日本", " token", "ization", ".", "\n"]
ARGUMENTS = '{"location": "Paris, France", "unit": "celsius", "days": [1, 2, 3, 4, 5]}'


def stream(events: int = 500, seed: int = 1) -> list[dict[str, Any]]:
    """About ``events`` UniEvents: one thinking run with its signature, one text run, two calls, all token-sized."""
    rng = random.Random(seed)
    out: list[dict[str, Any]] = []

    def add(item: dict[str, Any]) -> None:
        out.append(
            {
                "role": "assistant",
                "event_type": "delta",
                "content_items": [item],
                "usage_metadata": None,
                "finish_reason": None,
                "created_at": 1796030591499 + 7 * len(out),
            }
        )

    def run(kind: str, count: int, signature: str | None = None) -> None:
        pieces = [rng.choice(WORDS) for _ in range(count)]
        for piece in pieces:
            add({"type": f"{kind}.delta", kind: piece})
        state = {} if signature is None else {"fidelity": {"signature": signature}}
        if signature is not None:
            add({"type": f"{kind}.delta", kind: "", **state})
        add({"type": f"{kind}.done", kind: "".join(pieces), **state})

    run("thinking", events * 36 // 100, "E" * 400)
    run("text", events * 54 // 100)
    for call in range(2):
        head = {"name": "get_weather", "tool_call_id": f"toolu_{call}"}
        pieces = [ARGUMENTS[i : i + 4] for i in range(0, len(ARGUMENTS), 4)]
        for i, piece in enumerate(pieces):
            name, id = (head["name"], head["tool_call_id"]) if i == 0 else ("", "")
            add({"type": "tool_call.delta", "name": name, "arguments": piece, "tool_call_id": id})
        whole = {"name": head["name"], "arguments": orjson.loads(ARGUMENTS), "tool_call_id": head["tool_call_id"]}
        add({"type": "tool_call.done", **whole})
    usage = {"cached_tokens": 0, "prompt_tokens": 10, "thoughts_tokens": None, "response_tokens": 5}
    stop = {"role": "assistant", "event_type": "stop", "content_items": [], "usage_metadata": usage}
    out.append({**stop, "finish_reason": "tool_call", "created_at": out[-1]["created_at"] + 1})
    return out


def limit_forward(lines: list[bytes]) -> Callable[[], list[bytes]]:
    """L_fwd: each line read as JSON, and an envelope of its size written with its framing, in turn."""
    envelopes: list[dict[str, Any]] = []
    for line in lines:
        items = orjson.loads(line)["content_items"]
        text = (items[0].get("text") or items[0].get("thinking") or items[0].get("arguments")) if items else "stop"
        envelopes.append({"success": True, "code": 200, "value": {"type": "content", "value": text}})

    def limit() -> list[bytes]:
        out = []
        for line, envelope in zip(lines, envelopes, strict=True):
            orjson.loads(line)
            out.append(b"event: content\ndata: " + orjson.dumps(envelope) + b"\n\n")
        return out

    return limit


def limit_reverse(frames: list[bytes], events: list[dict[str, Any]]) -> Callable[[], list[bytes]]:
    """L_rev: each frame's data read as JSON, and an event written as a line, in turn."""
    data = [frame.partition(b"data: ")[2] for frame in frames]
    pairs = list(zip(data, [events[i % len(events)] for i in range(len(data))], strict=True))

    def limit() -> list[bytes]:
        out = []
        for text, event in pairs:
            orjson.loads(text)
            out.append(orjson.dumps(event) + b"\n")
        return out

    return limit


def cut(data: bytes, size: int) -> list[bytes]:
    """``data`` in chunks of ``size`` bytes."""
    return [data[i : i + size] for i in range(0, len(data), size)]
