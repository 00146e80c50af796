"""Documents of the tests, in few words: one builder for each message, block and item of a format."""

from typing import Any

Json = dict[str, Any]

Q: Json = {"role": "user", "content": "q"}
SIGNATURE = "EuYBCkQYAiJA0opaqueBytesOfOneIssuer+/=="
PNG: Json = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
PDF: Json = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQK"}}
TOOL: Json = {"name": "w", "input_schema": {"type": "object", "properties": {}}}
CHAT_TOOL: Json = {"type": "function", "function": {"name": "w", "parameters": {"type": "object", "properties": {}}}}


def anthropic(*messages: Json, **more: Any) -> Json:
    return {"model": "m", "max_tokens": 100, "messages": list(messages) or [Q], **more}


def chat(*messages: Json, **more: Any) -> Json:
    return {"model": "m", "messages": list(messages) or [Q], **more}


def assistant(*content: Json) -> Json:
    return {"role": "assistant", "content": list(content)}


def user(*content: Json) -> Json:
    return {"role": "user", "content": list(content)}


def text(value: str = "x") -> Json:
    return {"type": "text", "text": value}


def thinking(signature: str | None = SIGNATURE, value: str = "T") -> Json:
    return {"type": "thinking", "thinking": value, **({} if signature is None else {"signature": signature})}


def use(id: str = "toolu_1", name: str = "w", given: Json | None = None) -> Json:
    return {"type": "tool_use", "id": id, "name": name, "input": given or {}}


def result(id: str = "toolu_1", content: Any = "r", **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": id, **({} if content is None else {"content": content}), **more}


def call(id: str = "a", name: str = "w", arguments: str = "{}") -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*entries: Json, content: Any = None, **more: Any) -> Json:
    return {"role": "assistant", "content": content, "tool_calls": list(entries), **more}


def tool(id: str = "a", content: Any = "r") -> Json:
    return {"role": "tool", "tool_call_id": id, "content": content}


def message(*content: Json, reason: str = "end_turn", **more: Any) -> Json:
    """A whole answer of Anthropic."""
    usage = {"input_tokens": 1, "output_tokens": 2}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": list(content)}
    return {**head, "stop_reason": reason, "stop_sequence": None, "usage": usage, **more}


def completion(said: Json | None = None, reason: str = "stop", usage: Json | None = None, **more: Any) -> Json:
    """A whole answer of Chat."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "x", **(said or {})}, "finish_reason": reason}
    usage = usage or {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    head = {"id": "i", "object": "chat.completion", "created": 1, "model": "m"}
    return {**head, "choices": [choice], "usage": usage, **more}


def responses(*items: Json, **more: Any) -> Json:
    return {"model": "m", "input": list(items) or "q", **more}


def response(*output: Json, **more: Any) -> Json:
    """A whole answer of Responses."""
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 3,
    }
    tools: Json = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {**head, "output": list(output), **tools, "usage": usage, **more}


def gemini(*contents: Json, **more: Any) -> Json:
    return {"contents": list(contents) or [{"role": "user", "parts": [{"text": "q"}]}], **more}


def generated(*parts: Json) -> Json:
    """A whole answer of Gemini."""
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "g", "responseId": "r"}


def unievent(*messages: Json, **config: Any) -> Json:
    return {"model": "m", "messages": list(messages), "config": config}
