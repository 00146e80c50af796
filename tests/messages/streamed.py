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


def responses_stream(response: Json) -> Iterator[bytes]:
    count = iter(range(10_000))

    def event(type: str, **more: Any) -> bytes:
        return sse({"type": f"response.{type}", "sequence_number": next(count), **more}, f"response.{type}")

    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    yield event("created", response=begun)
    yield event("in_progress", response=begun)
    for i, item in enumerate(response["output"]):
        at = {"output_index": i, "item_id": item["id"]}
        if item["type"] == "reasoning":
            yield event("output_item.added", output_index=i, item={**item, "summary": [], "encrypted_content": ""})
            for n, part in enumerate(item["summary"]):
                empty = {**part, "text": ""}
                yield event("reasoning_summary_part.added", **at, summary_index=n, part=empty)
                for piece in halves(part["text"]):
                    yield event("reasoning_summary_text.delta", **at, summary_index=n, delta=piece)
                yield event("reasoning_summary_text.done", **at, summary_index=n, text=part["text"])
                yield event("reasoning_summary_part.done", **at, summary_index=n, part=part)
        elif item["type"] == "function_call":
            empty = {**item, "arguments": "", "status": "in_progress"}
            yield event("output_item.added", output_index=i, item=empty)
            for piece in halves(item["arguments"]):
                yield event("function_call_arguments.delta", **at, delta=piece)
            yield event("function_call_arguments.done", **at, arguments=item["arguments"], name=item["name"])
        else:
            yield event("output_item.added", output_index=i, item={**item, "content": [], "status": "in_progress"})
            for n, part in enumerate(item["content"]):
                yield event("content_part.added", **at, content_index=n, part={**part, "text": ""})
                for piece in halves(part["text"]):
                    yield event("output_text.delta", **at, content_index=n, delta=piece, logprobs=[])
                yield event("output_text.done", **at, content_index=n, text=part["text"], logprobs=[])
                yield event("content_part.done", **at, content_index=n, part=part)
        yield event("output_item.done", output_index=i, item=item)
    yield event("completed", response=response)


def gemini_stream(answer: Json) -> Iterator[bytes]:
    head = {key: answer[key] for key in ("modelVersion", "responseId")}
    (candidate,) = answer["candidates"]
    for part in candidate["content"]["parts"]:
        for piece in [{**part, "text": half} for half in halves(part["text"])] if "text" in part else [part]:
            content = {"role": "model", "parts": [piece]}
            yield sse({"candidates": [{"content": content, "index": 0}], **head})
    ended = {"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP", "index": 0}
    yield sse({"candidates": [ended], "usageMetadata": answer["usageMetadata"], **head})


STREAMS = {
    "anthropic": anthropic_stream,
    "openai-chat": chat_stream,
    "openai-responses": responses_stream,
    "gemini": gemini_stream,
}
