"""Units of Anthropic Messages that stand for several events, or that nest deeply."""

from __future__ import annotations

import json
from typing import Any

import pytest

from translate import Close, Limits, Open, convert, decode

CALL: dict[str, Any] = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
USED: dict[str, Any] = {"type": "server_tool_use", "id": "s", "name": "w", "input": {"q": 1}}


def streamed(*blocks: tuple[dict[str, Any], str, str, str], reason: str = "end_turn") -> bytes:
    """A stream of blocks, each with one delta, on SSE."""
    message: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": []}
    units: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, (block, kind, key, text) in enumerate(blocks):
        units.append({"type": "content_block_start", "index": index, "content_block": block})
        units.append({"type": "content_block_delta", "index": index, "delta": {"type": kind, key: text}})
        units.append({"type": "content_block_stop", "index": index})
    units.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}})
    units.append({"type": "message_stop"})
    return b"".join(b"event: %b\ndata: %b\n\n" % (u["type"].encode(), json.dumps(u).encode()) for u in units)


def names(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line.startswith(b"event: ")]


@pytest.mark.parametrize("other", ["anthropic-sse", "openai-responses-sse"])
@pytest.mark.parametrize("second", [{"type": "text", "text": ""}, CALL, USED])
def test_a_unit_of_several_events_has_its_name(second: dict[str, Any], other: str) -> None:
    is_text = second["type"] == "text"
    kind, key, text = ("text_delta", "text", "x") if is_text else ("input_json_delta", "partial_json", "")
    source = streamed((CALL, "input_json_delta", "partial_json", '{"a'), (second, kind, key, text))
    out = b"".join(convert([source], "anthropic-sse", other))
    home = out if other == "anthropic-sse" else b"".join(convert([out], other, "anthropic-sse"))
    assert names(home) == names(source)


def test_arguments_nest_as_deeply_as_the_limit_says() -> None:
    deep = '{"a":' * 300 + "1" + "}" * 300
    limits = Limits(nesting=400)
    source = streamed((CALL, "input_json_delta", "partial_json", deep), reason="tool_use")
    kinds = [type(event) for event in decode([source], "anthropic-sse", limits=limits)]
    assert kinds[3] is Close
    used = {**USED, "input": json.loads(deep)}
    source = streamed((used, "input_json_delta", "partial_json", ""))
    opened = next(e for e in decode([source], "anthropic-sse", limits=limits) if type(e) is Open)
    # the unit is the one expected
    assert "patch" not in (opened.residue or {}).get("anthropic", {})
