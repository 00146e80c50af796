"""What a document is: a request, a whole answer or a list of messages, and of which format."""

from __future__ import annotations

from typing import Any, Final

_ANSWERS: Final = {
    ("type", "message"): "anthropic",
    ("object", "chat.completion"): "openai-chat",
    ("object", "response"): "openai-responses",
}
_BLOCKS: Final = ("tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document")
_ANTHROPIC: Final = ("system", "stop_sequences", "output_config", "metadata")
_CHAT: Final = ("max_completion_tokens", "response_format", "reasoning_effort", "stream_options", "parallel_tool_calls")


def document_format(document: Any, what: str) -> str | None:
    """The format of a ``request``, an ``answer`` or ``messages``; ``None`` where it cannot be told."""
    if what == "answer":
        return _answer(document) if isinstance(document, dict) else None
    if what == "messages":
        return _messages(document)
    return _request(document) if isinstance(document, dict) else None


def _answer(document: dict[str, Any]) -> str | None:
    found = next((name for (key, word), name in _ANSWERS.items() if document.get(key) == word), None)
    if found is not None:
        return found
    if "candidates" in document or "usageMetadata" in document:
        return "gemini"
    if "content_items" in document:
        return "unievent"
    return "gateway" if isinstance(document.get("value"), dict) and "success" in document else None


def _request(document: dict[str, Any]) -> str | None:
    if "contents" in document:
        return "gemini"
    if "input" in document:
        return "openai-responses"
    if "systemPrompt" in document or "streaming" in document:
        return "gateway"
    found = _messages(document.get("messages"))
    if found is not None or "messages" not in document:
        return found
    if any(name in document for name in _CHAT):
        return "openai-chat"
    if any(isinstance(document.get(name), kind) for name, kind in (("system", (str, list)), ("tool_choice", dict))):
        return "anthropic"
    tools = document.get("tools")
    if isinstance(tools, list) and tools and isinstance(tools[0], dict):
        return "openai-chat" if "function" in tools[0] else "anthropic" if "input_schema" in tools[0] else None
    return "anthropic" if any(name in document for name in _ANTHROPIC) else None


def _messages(messages: Any) -> str | None:
    for message in messages if isinstance(messages, list) else ():
        found = _message(message) if isinstance(message, dict) else None
        if found is not None:
            return found
    return None


def _message(message: dict[str, Any]) -> str | None:
    if "content_items" in message:
        return "unievent"
    if "parts" in message:
        return "gemini"
    if "value" in message and "role" not in message:
        return "gateway"
    if message.get("role") in ("developer", "tool", "function") or "tool_calls" in message:
        return "openai-chat"
    if "call_id" in message or ("type" in message and "role" not in message):
        return "openai-responses"
    content = message.get("content")
    kinds = {block.get("type") for block in content if isinstance(block, dict)} if isinstance(content, list) else set()
    if kinds & {*_BLOCKS}:
        return "anthropic"
    if kinds & {"input_text", "output_text", "input_image", "input_file"}:
        return "openai-responses"
    return "openai-chat" if kinds & {"image_url", "input_audio", "file"} else None
