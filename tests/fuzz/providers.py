"""The units of the formats of providers, for :mod:`tests.fuzz.spelling`."""

from __future__ import annotations

from typing import Any, Final

TEXT, COUNT = "\x00", 770077
"""In a unit: where the text of a fragment stands, and the number of the part."""
_COUNTS = {"input_tokens": 3, "cache_read_input_tokens": 1, "output_tokens": 2}


def _block(type: str, **members: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": COUNT, "content_block": {"type": type, **members}}


def _delta(type: str, **members: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": COUNT, "delta": {"type": type, **members}}


def _over(reason: str | None) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": _COUNTS}


ANTHROPIC: Final[dict[str, dict[str, Any]]] = {
    "start": {
        "type": "message_start",
        "message": {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": [], "usage": _COUNTS},
    },
    "text(": _block("text", text=""),
    "thinking(": _block("thinking", thinking="", signature=""),
    "call(": _block("tool_use", id=f"c{COUNT}", name="f", input={}),
    "server(": _block("server_tool_use", id=f"c{COUNT}", name="f", input={}),
    "unknown(": _block("x", x=TEXT),
    "text+": _delta("text_delta", text=TEXT),
    "thinking+": _delta("thinking_delta", thinking=TEXT),
    "call+": _delta("input_json_delta", partial_json=TEXT),
    "signature": _delta("signature_delta", signature=TEXT),
    "citation": _delta("citations_delta", citation={"x": TEXT}),
    "unknown+": _delta("x_delta", x=TEXT),
    ".": {"type": "content_block_stop", "index": COUNT},
    "redacted": _block("redacted_thinking", data=TEXT),
    "_REDACTED": _delta("thinking_delta", thinking="_REDACTED_THINKING"),
    "whole": _block("tool_use", id=f"c{COUNT}", name="f", input={"a": [1.5, {"b": TEXT}]}),
    "said": _block("text", text=TEXT, citations=None),
    "result": _block("web_search_tool_result", tool_use_id="c", content=[TEXT]),
    "more": {**_delta("text_delta", text=TEXT), "x": TEXT},
    "so far": _over(None),
    "end": _over("end_turn"),
    "ran out": _over("max_tokens"),
    "stop": {"type": "message_stop"},
    "error": {"type": "error", "error": {"type": "overloaded_error", "message": TEXT}},
    "ping": {"type": "ping"},
    "foreign": {"type": "x", "y": TEXT},
}


def _chunk(delta: Any, reason: str | None = None, **members: Any) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
    return {"id": "c", "object": "chat.completion.chunk", "created": 5, "model": "x", "choices": choices, **members}


def _piece(**members: Any) -> dict[str, Any]:
    return _chunk({"tool_calls": [{"index": COUNT, **members}]})


def _detail(type: str, format: str, **members: Any) -> dict[str, Any]:
    return _chunk({"reasoning_details": [{"type": f"reasoning.{type}", "format": format, "index": 0, **members}]})


_USED = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5, "prompt_tokens_details": {"cached_tokens": 1}}
CHAT: Final[dict[str, dict[str, Any]]] = {
    "start": _chunk({"role": "assistant", "content": ""}),
    "text+": _chunk({"content": TEXT}),
    "thinking+": _chunk({"reasoning_content": TEXT}),
    "reasoning+": _chunk({"reasoning": TEXT}),
    "refusal+": _chunk({"refusal": TEXT}),
    "call(": _piece(id=f"c{COUNT}", type="function", function={"name": "f", "arguments": ""}),
    "call+": _piece(function={"arguments": TEXT}),
    "first": _chunk({"tool_calls": [{"index": 0, "function": {"arguments": TEXT}}]}),
    "both": _chunk({"content": TEXT, "reasoning": TEXT}),
    "custom": _piece(id=f"d{COUNT}", type="custom", custom={"name": "f", "input": TEXT}),
    "old": _chunk({"function_call": {"name": "f", "arguments": TEXT}}),
    "list": _chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": TEXT}]}]}),
    "signature": _detail("text", "anthropic-claude-v1", signature=TEXT),
    "redacted": _detail("encrypted", "anthropic-claude-v1", data=TEXT),
    "encrypted": _detail("encrypted", "openai-responses-v1", data=TEXT, id="i"),
    "tool": _chunk({"executed_tools": [{"index": COUNT, "type": "x", "arguments": TEXT}]}),
    "note": _chunk({"annotations": [{"x": TEXT}]}),
    "padded": {**_chunk({"content": TEXT}), "obfuscation": TEXT},
    "counted": _chunk({"content": TEXT}, usage=_USED),
    "empty": _chunk({}),
    "stop": _chunk({}, "stop"),
    "called": _chunk({}, "tool_calls"),
    "ran out": _chunk({}, "length"),
    "usage": {**_chunk({}), "choices": [], "usage": _USED},
    "error": {"error": {"message": TEXT, "type": "rate_limit_error"}},
    "choices": _chunk({}) | {"choices": [{"index": 1, "delta": {}}]},
    "foreign": {"x": TEXT},
}

UNITS: Final = {"anthropic": ANTHROPIC, "openai-chat": CHAT}
RUNS: Final = {
    "anthropic": [(f"{kind}(", f"{kind}+", ".") for kind in ("text", "thinking", "call")],
    "openai-chat": [*(("", f"{kind}+", "") for kind in ("text", "thinking", "reasoning")), ("call(", "call+", "")],
}
NOTES: Final = {"anthropic": ["ping", "foreign", "unknown+"], "openai-chat": ["empty", "foreign"]}
ENDS: Final = {"anthropic": ["end", "stop"], "openai-chat": ["stop", "usage"]}
FORMATS: Final = {
    **{f"{codec}-{shape}": (codec, shape) for codec in UNITS for shape in ("sse", "jsonl")},
    **{codec: (codec, "any") for codec in UNITS},
}
