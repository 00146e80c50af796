"""Streams of different kinds, to be looked at."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.sources import MODEL, USAGE, frame
from translate import convert
from translate.inspect import view

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NOW = 1796030591000


def clock() -> int:
    return NOW


@dataclass(frozen=True)
class Case:
    """A stream, and how it is looked at."""

    name: str
    stream: bytes
    src: str
    dst: str
    options: dict[str, Any] = field(default_factory=dict)

    def view(self) -> dict[str, Any]:
        return view(self.stream, self.src, self.dst, clock=clock, **self.options)


def delta(at: float, kind: str, **members: Any) -> dict[str, Any]:
    event = {"role": "assistant", "event_type": "delta", "content_items": [{"type": kind, **members}]}
    return {**event, "usage_metadata": None, "finish_reason": None, "created_at": NOW + at}


def stop(at: int, reason: str = "stop") -> dict[str, Any]:
    counts = {"cached_tokens": 7, "prompt_tokens": 24, "thoughts_tokens": None, "response_tokens": 9}
    event = {"role": "assistant", "event_type": "stop", "content_items": [], "usage_metadata": counts}
    return {**event, "finish_reason": reason, "created_at": NOW + at}


def fragment(at: int, text: str, id: str = "", name: str = "") -> dict[str, Any]:
    return delta(at, "tool_call.delta", name=name, tool_call_id=id, arguments=text)


def call(at: int, id: str, name: str, pieces: Iterable[str]) -> list[dict[str, Any]]:
    first, *rest = pieces
    out = [fragment(at, first, id, name), *(fragment(at + 15 * i, text) for i, text in enumerate(rest, 1))]
    whole = json.loads("".join([first, *rest]))
    return [*out, delta(at + 90, "tool_call.done", name=name, tool_call_id=id, arguments=whole)]


def lines(units: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(unit, ensure_ascii=False).encode() + b"\n" for unit in units)


def blocks(units: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(b"data: " + json.dumps(unit, ensure_ascii=False).encode() + b"\n\n" for unit in units)


TURN = (EXAMPLES / "claude-turn.unievent.sse").read_bytes()
START, STOP = frame("streamStart", model=MODEL), frame("stop", usage=USAGE)
CONTENT = [frame("contentStart"), frame("content", value="Hel"), frame("content", value="lo"), frame("contentEnd")]
SIGNED = [
    *(frame("thinkingStart"), frame("thinking", value="Let me see."), frame("thinking", value=" 中文 也行")),
    frame("thinkingEnd", data={"anthropic.signature": "EqQBCkYIBx"}),
]
PARALLEL = [
    delta(0, "text.delta", text="Both."),
    delta(8, "text.done", text="Both."),
    *call(20, "toolu_1", "find", ['{"q"', ': "a', "b", '"}']),
    *call(130, "toolu_2", "weather", ['{"city": ', '"Orléans"}']),
    stop(240, "tool_call"),
]
IMAGE = {"mime_type": "image/png"}
INLINE = [
    *(delta(0, "inline_data.delta", data="iVBORw==", **IMAGE), delta(40, "inline_data.delta", data="AAEC", **IMAGE)),
    *(delta(60, "inline_data.done", data="iVBORwABAg==", **IMAGE), stop(70)),
]
VECTOR = [
    *(delta(0, "embedding.delta", embedding=[0.25, 1]), delta(9, "embedding.delta", embedding=[-1.5])),
    *(delta(9, "embedding.done", embedding=[0.25, 1, -1.5]), stop(12)),
]
OTHER = {"name": "backup", "tier": "low", "publisher": "q", "provider": "r"}
HANDOVER = [
    *(START, frame("contentStart"), frame("content", value="Half a"), frame("streamError", model=MODEL)),
    *(frame("streamStart", model=OTHER), *CONTENT, STOP),
]
UNKNOWN = [
    *({"event_type": "ping", "x": [1, None]}, delta(4, "text.delta", text="Hi", lang="en")),
    *(delta(5, "image.delta", url="https://example.org"), delta(6, "text.done", text="Hi"), stop(9, "content_filter")),
]
BROKEN = [START, CONTENT[0], CONTENT[1], frame("thinkingStart"), frame("thinking", value="hm"), STOP]
AWKWARD = "\x1b[2Jred\r\n\u202etxt 👩‍👩‍👧 ｆｕｌｌ e\u0301"
STEERING = [START, CONTENT[0], frame("content", value=AWKWARD), CONTENT[3], STOP]

CASES = [
    Case("turn", TURN, "unievent-sse", "gateway-sse"),
    Case("error", (EXAMPLES / "cut.unievent.sse").read_bytes(), "unievent-sse", "gateway-sse"),
    Case("cut", TURN[:4000], "unievent-sse", "gateway-sse"),
    Case("home", b"".join(convert(TURN, "unievent-sse", "gateway-sse", clock=clock)), "gateway-sse", "unievent-sse"),
    Case("signed", blocks([START, *SIGNED, *CONTENT, STOP]), "gateway-sse", "unievent-sse"),
    Case("parallel", lines(PARALLEL), "unievent-jsonl", "gateway-sse"),
    Case("inline", lines(INLINE), "unievent-jsonl", "gateway-sse"),
    Case("vector", lines(VECTOR), "unievent-jsonl", "gateway-jsonl"),
    Case("vector-dropped", lines(VECTOR), "unievent-jsonl", "gateway-jsonl", {"loss": "drop"}),
    Case("vector-refused", lines(VECTOR), "unievent-jsonl", "gateway-jsonl", {"loss": "raise"}),
    Case("handover", lines(HANDOVER), "gateway-jsonl", "unievent-jsonl"),
    Case("unknown", lines(UNKNOWN), "unievent-jsonl", "gateway-sse"),
    Case("broken", blocks(BROKEN), "gateway-sse", "unievent-sse"),
    Case("mended", blocks(BROKEN), "gateway-sse", "unievent-sse", {"strict": False}),
    Case("no-json", lines([START]) + b'{"success": true, "code"\n', "gateway-jsonl", "unievent-jsonl"),
    Case("steering", lines(STEERING), "gateway-jsonl", "events-jsonl"),
    Case("empty", b"", "gateway-jsonl", "unievent-jsonl"),
]
