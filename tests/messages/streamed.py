"""Whole answers as the streams that their servers would have sent: one event or chunk for each piece."""

import json
from collections.abc import Iterator
from typing import Any

from tests.messages.documents import Json


def halves(text: str) -> list[str]:
    """A text in two pieces, or one."""
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def sse(event: Json, name: str | None = None) -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(event)}\n\n".encode()


def anthropic_stream(message: Json) -> Iterator[bytes]:
    def event(type: str, **more: Any) -> bytes:
        return sse({"type": type, **more}, type)

    usage = message["usage"]
    start = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield event("message_start", message=start)
    for i, block in enumerate(message["content"]):
        deltas: list[Json] = []
        opened = {**block}
        if block["type"] == "text":
            opened["text"] = ""
            deltas = [{"type": "text_delta", "text": piece} for piece in halves(block["text"])]
        elif block["type"] == "thinking":
            opened = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in halves(block["thinking"])]
            if block.get("signature"):
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
        elif block["type"] == "tool_use":
            opened["input"] = {}
            given = json.dumps(block["input"], separators=(",", ":"))
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in halves(given)]
        yield event("content_block_start", index=i, content_block=opened)
        for delta in deltas:
            yield event("content_block_delta", index=i, delta=delta)
        yield event("content_block_stop", index=i)
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": message["stop_sequence"]}
    yield event("message_delta", delta=ended, usage=usage)
    yield event("message_stop")


def chat_stream(completion: Json) -> Iterator[bytes]:
    head = {key: completion[key] for key in ("id", "created", "model")}
    (choice,) = completion["choices"]

    def chunk(delta: Json, reason: str | None = None) -> bytes:
        found = {"index": 0, "delta": delta, "finish_reason": reason}
        return sse({**head, "object": "chat.completion.chunk", "choices": [found]})

    said = choice["message"]
    yield chunk({"role": "assistant", "content": ""})
    for name in ("reasoning_content", "reasoning"):
        for piece in halves(said.get(name) or ""):
            yield chunk({name: piece})
    for entry in said.get("reasoning_details") or ():
        yield chunk({"reasoning_details": [entry]})
    for name in ("content", "refusal"):
        for piece in halves(said.get(name) or ""):
            yield chunk({name: piece})
    for i, call in enumerate(said.get("tool_calls") or ()):
        function = call["function"]
        yield chunk({"tool_calls": [{**call, "index": i, "function": {**function, "arguments": ""}}]})
        for piece in halves(function["arguments"]):
            yield chunk({"tool_calls": [{"index": i, "function": {"arguments": piece}}]})
    yield chunk({}, choice["finish_reason"])
    yield sse({**head, "object": "chat.completion.chunk", "choices": [], "usage": completion["usage"]})
    yield b"data: [DONE]\n\n"


STREAMS = {"anthropic": anthropic_stream, "openai-chat": chat_stream}
