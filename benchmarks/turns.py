"""The turn in the words of each provider's format, written by hand, a unit a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import orjson

from .work import Run, Unit, frames, gateway_sse, unievent_sse, unievents

CHAT, CLAUDE = "openai-chat-sse", "anthropic-sse"
RESPONSES, GEMINI, INTERACTIONS = "openai-responses-sse", "gemini-sse", "gemini-interactions-sse"
HEAD: Final = {"id": "c1", "object": "chat.completion.chunk", "created": 5, "model": "m"}
NAME: Final = "get_weather"


def turns(runs: list[Run]) -> dict[str, list[bytes]]:
    """Format → the turn, a unit a block."""
    return {
        CHAT: chat_sse(chat(runs)),
        CLAUDE: named_sse(anthropic(runs)),
        RESPONSES: named_sse(responses(runs)),
        GEMINI: data_sse(gemini(runs)),
        INTERACTIONS: [*named_sse(interactions(runs), "event_type"), b"event: done\ndata: [DONE]\n\n"],
        "gateway-sse": gateway_sse(frames(runs)),
        "unievent-sse": unievent_sse(unievents(runs)),
    }


def data_sse(units: Sequence[Unit]) -> list[bytes]:
    """Units on SSE, without names."""
    return [b"data: " + orjson.dumps(unit) + b"\n\n" for unit in units]


def named_sse(units: Sequence[Unit], member: str = "type") -> list[bytes]:
    """Units on SSE, by the name in one of their members."""
    return [b"event: %b\ndata: %b\n\n" % (unit[member].encode(), orjson.dumps(unit)) for unit in units]


def chat_sse(units: Sequence[Unit]) -> list[bytes]:
    """Chunks of Chat on SSE."""
    return [*data_sse(units), b"data: [DONE]\n\n"]


# ---- Anthropic Messages ----------------------------------------------------------------------------------


def anthropic(runs: list[Run]) -> list[Unit]:
    """Runs in the words of Anthropic's messages."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    usage = {"input_tokens": 10, "output_tokens": 5}
    ends = {"stop_reason": None, "stop_sequence": None}
    out: list[Unit] = [{"type": "message_start", "message": {**message, **ends, "usage": usage}}]
    for index, run in enumerate(runs):
        start: Unit = {"type": run.kind, run.kind: ""} | ({"signature": ""} if run.kind == "thinking" else {})
        delta, member = f"{run.kind}_delta", run.kind
        if run.kind == "tool_call":
            start = {"type": "tool_use", "id": run.id, "name": NAME, "input": {}}
            delta, member = "input_json_delta", "partial_json"
        said = [{"type": delta, member: piece} for piece in run.pieces]
        if run.signature:
            said.append({"type": "signature_delta", "signature": run.signature})
        out.append({"type": "content_block_start", "index": index, "content_block": start})
        out += [{"type": "content_block_delta", "index": index, "delta": each} for each in said]
        out.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": "tool_use", "stop_sequence": None}
    return [*out, {"type": "message_delta", "delta": end, "usage": usage}, {"type": "message_stop"}]


# ---- Chat Completions ------------------------------------------------------------------------------------


def chunk(delta: Unit, reason: str | None = None) -> Unit:
    """A chunk of a Chat stream."""
    return {**HEAD, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def call(index: int, id: str) -> Unit:
    """The chunk that begins a call."""
    function = {"name": NAME, "arguments": ""}
    return chunk({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})


def piece(index: int, text: str) -> Unit:
    """A later chunk of it."""
    return chunk({"tool_calls": [{"index": index, "function": {"arguments": text}}]})


def chat(runs: list[Run]) -> list[Unit]:
    """Runs in the words of Chat; its thinking has no signature."""
    out, calls = [chunk({"role": "assistant", "content": ""})], 0
    for run in runs:
        if run.kind == "tool_call":
            out += [call(calls, run.id), *(piece(calls, text) for text in run.pieces)]
            calls += 1
        else:
            member = "content" if run.kind == "text" else "reasoning_content"
            out += [chunk({member: text}) for text in run.pieces]
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return [*out, chunk({}, "tool_calls" if calls else "stop"), {**HEAD, "choices": [], "usage": usage}]


# ---- Responses -------------------------------------------------------------------------------------------


def responses(runs: list[Run]) -> list[Unit]:
    """Runs in the words of Responses, with all that it repeats; thinking is a summary, with no state."""
    told = {"id": "resp_1", "object": "response", "created_at": 5, "model": "m"}
    out: list[Unit] = [{"type": "response.created", "response": {**told, "status": "in_progress", "output": []}}]
    items = []
    for index, run in enumerate(runs):
        item, units = _ITEMS[run.kind](index, run)
        begun: Unit = {key: type(value)() if key in _LATER else value for key, value in item.items()}
        if run.kind != "thinking":
            begun["status"] = "in_progress"
        out += [{"type": "response.output_item.added", "output_index": index, "item": begun}, *units]
        out.append({"type": "response.output_item.done", "output_index": index, "item": item})
        items.append(item)
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    end = {**told, "status": "completed", "output": items, "usage": usage}
    out.append({"type": "response.completed", "response": end})
    return [{**unit, "sequence_number": at} for at, unit in enumerate(out)]


def _message(index: int, run: Run) -> tuple[Unit, list[Unit]]:
    part = {"type": "output_text", "text": run.whole, "annotations": []}
    item = {"id": f"msg_{index}", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    at = {"item_id": item["id"], "output_index": index, "content_index": 0}
    kind = "response.output_text"
    return item, [
        {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
        *({"type": f"{kind}.delta", **at, "delta": text} for text in run.pieces),
        {"type": f"{kind}.done", **at, "text": run.whole},
        {"type": "response.content_part.done", **at, "part": part},
    ]


def _reasoning(index: int, run: Run) -> tuple[Unit, list[Unit]]:
    part = {"type": "summary_text", "text": run.whole}
    item = {"id": f"rs_{index}", "type": "reasoning", "summary": [part]}
    at = {"item_id": item["id"], "output_index": index, "summary_index": 0}
    kind = "response.reasoning_summary"
    return item, [
        {"type": f"{kind}_part.added", **at, "part": {**part, "text": ""}},
        *({"type": f"{kind}_text.delta", **at, "delta": text} for text in run.pieces),
        {"type": f"{kind}_text.done", **at, "text": run.whole},
        {"type": f"{kind}_part.done", **at, "part": part},
    ]


def _call_item(index: int, run: Run) -> tuple[Unit, list[Unit]]:
    named = {"id": f"fc_{index}", "type": "function_call", "call_id": run.id, "name": NAME}
    item = {**named, "arguments": run.whole, "status": "completed"}
    at = {"item_id": item["id"], "output_index": index}
    kind = "response.function_call_arguments"
    return item, [
        *({"type": f"{kind}.delta", **at, "delta": text} for text in run.pieces),
        {"type": f"{kind}.done", **at, "arguments": run.whole},
    ]


_LATER: Final = ("content", "summary", "arguments")
"""Members of an item that are empty at first."""
_ITEMS: Final[dict[str, Callable[[int, Run], tuple[Unit, list[Unit]]]]] = {
    "text": _message,
    "thinking": _reasoning,
    "tool_call": _call_item,
}


# ---- Gemini ----------------------------------------------------------------------------------------------


def gemini(runs: list[Run], *, grows: bool = True) -> list[Unit]:
    """Runs in the words of Gemini: calls come whole, and every chunk has the counts, which may grow."""
    out = [_chunk([part], at if grows else 0) for at, part in enumerate(_parts(runs))]
    return [*out, _chunk([{"text": ""}], len(out) if grows else 0, finishReason="STOP")]


def _chunk(parts: list[Unit], said: int, **members: str) -> Unit:
    details = [{"modality": "TEXT", "tokenCount": 10}]
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5 + said, "totalTokenCount": 15 + said}
    return {
        "candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0, **members}],
        "usageMetadata": {**usage, "promptTokensDetails": details},
        "modelVersion": "m",
        "responseId": "r1",
    }


def _parts(runs: list[Run]) -> Iterator[Unit]:
    for run in runs:
        if run.kind == "tool_call":
            yield {"functionCall": {"name": NAME, "args": orjson.loads(run.whole), "id": run.id}}
            continue
        thought = {"thought": True} if run.kind == "thinking" else {}
        yield from ({"text": text, **thought} for text in run.pieces)


# ---- Interactions ----------------------------------------------------------------------------------------


def interactions(runs: list[Run]) -> list[Unit]:
    """Runs in the words of Interactions; its thinking has no signature."""
    told = {"id": "i1", "object": "interaction", "model": "m"}
    out: list[Unit] = [{"event_type": "interaction.created", "interaction": {**told, "status": "in_progress"}}]
    for index, run in enumerate(runs):
        step, deltas = _step(run)
        out.append({"event_type": "step.start", "index": index, "step": step})
        out += [{"event_type": "step.delta", "index": index, "delta": delta} for delta in deltas]
        out.append({"event_type": "step.stop", "index": index})
    usage = {"total_input_tokens": 10, "total_output_tokens": 5, "total_tokens": 15}
    end = {**told, "status": "requires_action" if runs[-1].kind == "tool_call" else "completed", "usage": usage}
    return [*out, {"event_type": "interaction.completed", "interaction": end}]


def _step(run: Run) -> tuple[Unit, list[Unit]]:
    if run.kind == "tool_call":
        step = {"type": "function_call", "id": run.id, "name": NAME, "arguments": {}}
        return step, [{"type": "arguments_delta", "arguments": text} for text in run.pieces]
    if run.kind == "text":
        return {"type": "model_output"}, [{"type": "text", "text": text} for text in run.pieces]
    said = [{"type": "thought_summary", "content": {"type": "text", "text": text}} for text in run.pieces]
    return {"type": "thought"}, said
