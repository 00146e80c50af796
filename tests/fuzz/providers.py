"""The units of the formats of providers, for :mod:`tests.fuzz.spelling`."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

TEXT, COUNT, ORDER = "\x00", 770077, 660066
"""In a unit: where the text of a fragment stands, the number of the part, and that of the unit."""
Unit: TypeAlias = dict[str, Any] | list[dict[str, Any]]
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


def _response(kind: str, **members: Any) -> dict[str, Any]:
    told = {"id": "r", "model": "x", "created_at": 1, "output": [], **members}
    return {"type": f"response.{kind}", "response": told, "sequence_number": ORDER}


def _item(phase: str, type: str, **members: Any) -> dict[str, Any]:
    item = {"id": f"i{COUNT}", "type": type, **members}
    return {"type": f"response.output_item.{phase}", "output_index": COUNT, "item": item, "sequence_number": ORDER}


def _of(kind: str, **members: Any) -> dict[str, Any]:
    at = {"item_id": f"i{COUNT}", "output_index": COUNT, "sequence_number": ORDER}
    return {"type": f"response.{kind}", **at, **members}


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": []}


def _summed(kind: str, **members: Any) -> dict[str, Any]:
    return _of(f"reasoning_summary_{kind}", summary_index=0, **members)


_MESSAGE, _SUMMARY = {"role": "assistant", "status": "completed"}, {"type": "summary_text", "text": TEXT}
_FUNCTION = {"call_id": f"c{COUNT}", "name": "f", "arguments": TEXT}
_SPENT = {
    **{"input_tokens": 3, "input_tokens_details": {"cached_tokens": 1}, "output_tokens": 2, "total_tokens": 5},
    **{"output_tokens_details": {"reasoning_tokens": 0}},
}
RESPONSES: Final[dict[str, Unit]] = {
    "start": _response("created"),
    "text(": [
        _item("added", "message", role="assistant", status="in_progress", content=[]),
        _of("content_part.added", content_index=0, part=_part("")),
    ],
    "text+": _of("output_text.delta", content_index=0, delta=TEXT),
    "text.": [
        _of("output_text.done", content_index=0, text=TEXT),
        _of("content_part.done", content_index=0, part=_part(TEXT)),
        _item("done", "message", content=[_part(TEXT)], **_MESSAGE),
    ],
    "thinking(": [
        _item("added", "reasoning", summary=[]),
        _summed("part.added", part={"type": "summary_text", "text": ""}),
    ],
    "thinking+": _summed("text.delta", delta=TEXT),
    "thinking.": [
        _summed("text.done", text=TEXT),
        _summed("part.done", part=_SUMMARY),
        _item("done", "reasoning", summary=[_SUMMARY], encrypted_content="e"),
    ],
    "call(": _item("added", "function_call", **{**_FUNCTION, "arguments": ""}),
    "call+": _of("function_call_arguments.delta", delta=TEXT),
    "call.": [
        _of("function_call_arguments.done", arguments=TEXT),
        _item("done", "function_call", **_FUNCTION, status="completed"),
    ],
    "custom(": _item("added", "custom_tool_call", call_id="c", name="p", input=""),
    "custom+": _of("custom_tool_call_input.delta", delta=TEXT),
    "custom.": _item("done", "custom_tool_call", call_id="c", name="p", input=TEXT),
    "item": _item("added", "message", role="assistant", content=[]),
    "item.": _item("done", "message", content=[_part(TEXT)], **_MESSAGE),
    "part": _of("content_part.added", content_index=1, part=_part("")),
    "part.": _of("content_part.done", content_index=0, part=_part(TEXT)),
    "call.done": _item("done", "function_call", **_FUNCTION),
    "cut": _item("done", "function_call", **_FUNCTION, status="incomplete"),
    "next": {**_item("added", "function_call", call_id="d", name="g", arguments=""), "output_index": 1},
    "next+": {**_of("function_call_arguments.delta", delta=TEXT), "output_index": 1},
    "next.": {**_item("done", "function_call", call_id="d", name="g", arguments="{}"), "output_index": 1},
    "noted": _of("output_text.annotation.added", content_index=0, annotation_index=0, annotation={"x": TEXT}),
    "padded": _of("output_text.delta", content_index=0, delta=TEXT, obfuscation=TEXT, logprobs=[]),
    "refused": _of("refusal.delta", content_index=0, delta=TEXT),
    "searched": _item("done", "web_search_call", status="completed", action={"x": TEXT}),
    "searching": _of("web_search_call.searching"),
    "kindless": _item("added", "mcp_list_tools", tools=[]),
    "progress": _response("in_progress"),
    "stop": _response("completed", usage=_SPENT),
    "whole": _response("completed", output=[{"id": "w", "type": "message", "content": [_part(TEXT)], **_MESSAGE}]),
    "ran out": _response("incomplete", incomplete_details={"reason": "max_output_tokens"}),
    "failed": _response("failed", error={"code": "server_error", "message": TEXT}),
    "error": {"type": "error", "error": {"type": "x", "code": "rate_limit_exceeded", "message": TEXT}},
    "ping": {"type": "keepalive", "sequence_number": ORDER},
    "foreign": _of("x", y=TEXT),
}


def _candidate(*parts: dict[str, Any], reason: str | None = None, **members: Any) -> dict[str, Any]:
    reasons = {} if reason is None else {"finishReason": reason}
    candidate = {"content": {"parts": [*parts], "role": "model"}, "index": 0, **reasons}
    return {"candidates": [candidate], "modelVersion": "x", "responseId": "r", **members}


def _function(**members: Any) -> dict[str, Any]:
    return {"functionCall": members}


def _argument(path: str, value: str, **members: Any) -> dict[str, Any]:
    return {"jsonPath": path, "stringValue": value, **members}


_TOLD = {"promptTokenCount": 3, "candidatesTokenCount": 2, "thoughtsTokenCount": 1, "totalTokenCount": 6}
_SIGNED = {"thoughtSignature": "c2ln"}
GEMINI: Final[dict[str, Unit]] = {
    "text+": _candidate({"text": TEXT}),
    "thinking+": _candidate({"text": TEXT, "thought": True}),
    "pieces(": _candidate(_function(name="f", willContinue=True)),
    "pieces+": _candidate(_function(partialArgs=[_argument("$.a", TEXT, willContinue=True)], willContinue=True)),
    "pieces.": _candidate(_function()),
    "empty": _candidate({"text": ""}),
    "signed": _candidate({"text": TEXT, **_SIGNED}),
    "signature": _candidate({"text": "", **_SIGNED}),
    "call": _candidate(_function(name="f", args={"a": TEXT})),
    "bare call": _candidate({**_function(name="f", id=f"c{COUNT}"), **_SIGNED}),
    "path": _candidate(_function(partialArgs=[_argument("$.b[0]['c.d']", TEXT)], willContinue=True)),
    "several": _candidate({"text": TEXT, "thought": True}, {"text": TEXT}, _function(name="f", args={"n": 1.0})),
    "image": _candidate({"inlineData": {"mimeType": "image/png", "data": "YQ=="}}),
    "audio": _candidate({"inlineData": {"mimeType": "audio/pcm", "data": "YQ=="}}),
    "code": _candidate({"executableCode": {"language": "PYTHON", "code": TEXT}}),
    "result": _candidate({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": TEXT}}),
    "file": _candidate({"fileData": {"fileUri": TEXT}}),
    "counted": _candidate({"text": TEXT}, usageMetadata=_TOLD),
    "traffic": _candidate({"text": TEXT}, usageMetadata={"trafficType": "ON_DEMAND"}),
    "grounded": {"candidates": [{"index": 0, "groundingMetadata": {"x": TEXT}}]},
    "partless": {"candidates": [{"content": {"role": "model"}, "finishReason": "RECITATION"}]},
    "reason": _candidate({"text": TEXT}, reason="STOP"),
    "stop": _candidate({"text": ""}, reason="STOP", usageMetadata=_TOLD),
    "ran out": _candidate(reason="MAX_TOKENS"),
    "refused": {"promptFeedback": {"blockReason": "SAFETY"}},
    "second": {"candidates": [{"index": 1}]},
    "error": {"error": {"code": 503, "message": TEXT, "status": "UNAVAILABLE"}},
    "foreign": {"x": TEXT},
}


def _event(kind: str, **members: Any) -> dict[str, Any]:
    return {"event_type": kind, **members}


def _interaction(kind: str, status: str, **members: Any) -> dict[str, Any]:
    return _event(f"interaction.{kind}", interaction={"id": "i", "status": status, "model": "x", **members})


def _step(type: str, **members: Any) -> dict[str, Any]:
    return _event("step.start", index=COUNT, step={"type": type, **members})


def _grows(type: str, **members: Any) -> dict[str, Any]:
    return _event("step.delta", index=COUNT, delta={"type": type, **members})


_TOTAL = {"total_input_tokens": 3, "total_output_tokens": 2, "total_thought_tokens": 1, "total_tokens": 6}
INTERACTIONS: Final[dict[str, Unit]] = {
    "start": _interaction("created", "in_progress"),
    "text(": _step("model_output"),
    "text+": _grows("text", text=TEXT),
    "thinking(": _step("thought"),
    "thinking+": _grows("thought_summary", content={"type": "text", "text": TEXT}),
    "call(": _step("function_call", id=f"c{COUNT}", name="f", arguments={}),
    "call+": _grows("arguments_delta", arguments=TEXT),
    ".": _event("step.stop", index=COUNT),
    "signature": _grows("thought_signature", signature="c2ln"),
    "unsigned": _grows("thought_signature", signature=""),
    "noted": _grows("text_annotation_delta", annotations=[{"x": TEXT}]),
    "image": _grows("image", data="YQ==", mime_type="image/png"),
    "linked": _grows("image", uri=TEXT, mime_type="image/png"),
    "whole": _step("function_call", id=f"c{COUNT}", name="f", arguments={"a": TEXT}, signature="c2ln"),
    "search(": _step("google_search_call", id=f"c{COUNT}"),
    "search+": _grows("google_search_call", arguments={"q": TEXT}),
    "found(": _step("google_search_result", call_id=f"c{COUNT}"),
    "found+": _grows("google_search_result", result=[TEXT]),
    "unknown(": _step("x"),
    "unknown+": _grows("x", x=TEXT),
    "counted": {**_grows("text", text=TEXT), "metadata": {"usage": _TOTAL}},
    "status": _event("interaction.status_update", interaction_id="i", status="in_progress"),
    "stop": _interaction("completed", "completed", usage=_TOTAL),
    "waits": _interaction("completed", "requires_action"),
    "failed": _interaction("completed", "failed"),
    "error": _event("error", error={"code": "429", "message": TEXT}),
    "foreign": _event("x", y=TEXT),
}

UNITS: Final[dict[str, dict[str, Unit]]] = {
    "anthropic": {**ANTHROPIC},
    "openai-chat": {**CHAT},
    "openai-responses": RESPONSES,
    "gemini": GEMINI,
    "gemini-interactions": INTERACTIONS,
}
"""Codec → name → a unit, or some in a row."""
RUNS: Final = {
    "anthropic": [(f"{kind}(", f"{kind}+", ".") for kind in ("text", "thinking", "call")],
    "openai-chat": [*(("", f"{kind}+", "") for kind in ("text", "thinking", "reasoning")), ("call(", "call+", "")],
    "openai-responses": [(f"{kind}(", f"{kind}+", f"{kind}.") for kind in ("text", "thinking", "call", "custom")],
    "gemini": [("", "text+", ""), ("", "thinking+", ""), ("pieces(", "pieces+", "pieces.")],
    "gemini-interactions": [(f"{kind}(", f"{kind}+", ".") for kind in ("text", "thinking", "call")],
}
NOTES: Final = {
    "anthropic": ["ping", "foreign", "unknown+"],
    "openai-chat": ["empty", "foreign"],
    "openai-responses": ["ping", "foreign", "kindless"],
    "gemini": ["empty", "foreign", "traffic"],
    "gemini-interactions": ["status", "foreign", "unknown+"],
}
ENDS: Final = {"anthropic": ["end", "stop"], "openai-chat": ["stop", "usage"]}
MARKS: Final = {
    "unievent": b"data: [DONE]\n\n",
    "openai-chat": b"data: [DONE]\n\n",
    "gemini-interactions": b"event: done\ndata: [DONE]\n\n",
}
"""What stands behind the last unit on SSE."""
FORMATS: Final = {
    **{f"{codec}-{shape}": (codec, shape) for codec in UNITS for shape in ("sse", "jsonl")},
    "gemini-array": ("gemini", "array"),
    **{codec: (codec, "any") for codec in UNITS},
}


NAMED: Final = {
    **dict.fromkeys(("gateway", "anthropic", "openai-responses"), "type"),
    "gemini-interactions": "event_type",
}
"""Codec → the member that is also the name of the SSE event."""


def name_of(codec: str, unit: dict[str, Any]) -> str | None:
    """The name of the SSE event that a unit comes as."""
    if codec == "gateway":
        unit = unit.get("value", {})
    return unit.get(NAMED.get(codec, ""))
