"""What the peers are given: gateway streams written by hand, and such as only a translation has, with carries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.wire import PARIS_MODEL, Object, blocks, broken, content, failed, frame, start, stripped, thinking, tool
from tests.wire import usage as stop
from translate import (
    Annotate,
    Append,
    Close,
    Event,
    Finish,
    Foreign,
    Handover,
    Model,
    Open,
    Ping,
    Start,
    State,
    TokenCounts,
    Usage,
    convert,
)

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NOW = 1700000000000
SIGNATURE = "EqQB+/not=a//signature==" * 40
OTHER_MODEL: Object = {"name": "gpt-5.2", "tier": "high", "publisher": "OpenAI", "provider": "Azure"}

LONG = "x" * 200_000
HOSTILE = (
    *("a\u2028b\u2029c\x85d", "\x0b\x0c\x1c\x1d\x1e\ufeff\x00\x7f\ufffe", "\r\n: carry {}\n\ndata: [DONE]\n\n"),
    *("\ud83d", "\ude00", "half \ud83d", " and the other \ude00 half", "👩🏽‍", "🚒", LONG + "é"),
)
"""Fragments that line readers, JSON readers and readers of UTF-8 stumble over."""
WHOLE = "".join(HOSTILE).replace("\ud83d\ude00", "\U0001f600")
"""What they add up to."""
RAW = json.dumps({"\u2028 k": WHOLE, "n": 2**70}, ensure_ascii=False)
ESCAPED = json.dumps({"\u2028 k": WHOLE, "n": 2**70})

_STATE: Object = {"anthropic.signature": SIGNATURE}
_PARIS = start(PARIS_MODEL)

FRAMES: dict[str, list[Object]] = {
    "turn": [
        _PARIS,
        *thinking("Let me", " check ", "théâtre", data=_STATE),
        *content("I'll look ", "it ", "up. 🌍"),
        tool("toolu_1", "find_concert", '{"title":  "Orl\\u00e9ans", "id": 9007199254740993, "max": 24.50}'),
        tool("toolu_2", "get_weather", ""),
        stop(2345, 187, "toolCall", "anthropic"),
    ],
    "handover": [
        _PARIS,
        *content("Half an ans")[:-1],
        broken(PARIS_MODEL),
        start(OTHER_MODEL),
        *content("The whole", " answer."),
        stop(24, 3, provider="azure"),
    ],
    "hostile": [
        _PARIS,
        *thinking(*HOSTILE, data={**_STATE, "anthropic.\u2028": "\x85\u2029"}),
        *content(*HOSTILE),
        tool("toolu_1", "say", RAW),
        tool("toolu_\u2028", "say\x85", ESCAPED),
        stop(reason="toolCall", provider="anthropic"),
    ],
    "error": [_PARIS, *content("One mom")[:-1], failed(503, "Overloaded \u2028 \x85 \ud83d")],
    "error alone": [failed(429, "Slow down")],
}
"""Streams of the gateway, as envelopes."""


def gateway(name: str) -> bytes:
    """One of them, as the gateway writes it."""
    return blocks(FRAMES[name])


def cut(name: str) -> bytes:
    """One of them, without its last frame and half of the one before."""
    return blocks(FRAMES[name][:-1])[:-40]


EVENTS: list[Event] = [
    Ping(),
    Start(Model("claude-sonnet-5", "high", "Anthropic", "Anthropic"), "msg_1", 1.5),
    Foreign("elsewhere", {"type": "\u2028\x85", "n": 1}),
    Open("thinking"),
    Append("Hm\u2028", State(None, {"signature": SIGNATURE})),
    Append("", None),
    Usage(TokenCounts(24, 3)),
    Close(),
    Open("embedding"),
    Append([0.5, 1e300]),
    Close(),
    Open("text"),
    Annotate("anthropic", {"cited_text": "\u2029\ud83d\n\n", "url": None}),
    Append("Half\x85"),
    Handover(Model("claude-sonnet-5")),
    Start(Model("gpt-5.2")),
    Open("tool_call", "call_1", "say"),
    *(Append(RAW[at : at + 9_999]) for at in range(0, len(RAW), 9_999)),
    Close(),
    Open("text"),
    *(Append(text) for text in HOSTILE),
    Close(),
    Finish(TokenCounts(44, 3, 20, 1, "azure", {"x": 1})),
]
"""All that a carry can stand beside."""


def _carried(stream: Any, src: str, **options: Any) -> bytes:
    out = b"".join(convert(stream, src, "gateway-sse", clock=lambda: NOW, **options))
    assert b": carry " in out
    return out


def _of_unievents(name: str) -> bytes:
    """A stream of the table, as a UniEvent server that knows no carry would have said it."""
    said = b"".join(convert(gateway(name), "gateway-sse", "unievent-sse", clock=lambda: NOW))
    return _carried(stripped(said, "unievent-sse"), "unievent-sse")


def translated() -> dict[str, bytes]:
    """Gateway streams with carries in them, each by its name."""
    turn = _carried((EXAMPLES / "claude-turn.unievent.sse").read_bytes(), "unievent-sse")
    return {
        "turn": turn,
        "hostile": _of_unievents("hostile"),
        "failure": _carried((EXAMPLES / "cut.unievent.sse").read_bytes(), "unievent-sse", errors="encode"),
        "everything": _carried(EVENTS, "events"),
        "cut short": turn[: turn.rindex(b"data: ") + 30],
        "as it was": gateway("turn"),
        "an unknown frame": blocks([*FRAMES["turn"][:1], frame("sources", urls=[]), *FRAMES["turn"][1:]]),
    }


def native(stream: bytes) -> list[list[str]]:
    """Name and data of each whole frame, by the plainest reading there is: all carries and comments are lines."""
    whole = stream.split(b"\n\n")[:-1]
    found = []
    for block in whole:
        lines = [line for line in block.split(b"\n") if not line.startswith(b":")]
        if lines:
            name, data = lines
            assert name.startswith(b"event: ")
            assert data.startswith(b"data: ")
            found.append([name[7:].decode(), data[6:].decode()])
    assert found
    return found
