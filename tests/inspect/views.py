"""Views made by hand: what the page draws, whatever made it."""

from __future__ import annotations

import json
from typing import Any

HOSTILE = (
    "<img src=x onerror=window.hurt=1>",
    "</script><script>window.hurt=2</script>",
    "<!--<script>",
    "a\u2028b\u2029c",
    "lone \ud800 surrogate",
    "אבג \u202e stays in its row",
    "nul \x00 bell \x07",
    "{{data}} {{js}}",
)


def source(index: int, kind: str, label: str, to: list[int], *marks: str, part: int | None = None) -> dict[str, Any]:
    raw = json.dumps({"type": kind, "value": label})
    return {"index": index, "kind": kind, "label": label, "time": 1_700_000_000_000 + 12 * index, "part": part,
            "raw": raw, "to": to, "failed": kind == "error", "marks": list(marks)}  # fmt: skip


def target(
    index: int,
    kind: str,
    label: str,
    of: list[int],
    *marks: str,
    part: int | None = None,
    carry: str | None = None,
    carried: list[int] | None = None,
) -> dict[str, Any]:
    unit = source(index, kind, label, [], *marks, part=part)
    del unit["to"]
    return {**unit, "from": of, "carried": carried or [], "carry": carry}


def view(sources: list[dict[str, Any]], targets: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "source": {"format": "unievent-sse", "units": sources},
        "target": {"format": "gateway-sse", "units": targets},
        **{"parts": [], "losses": [], "guesses": [], "repairs": [], "error": None, "folds": [], **more},
    }


def turn() -> dict[str, Any]:
    """A small one that has a bit of everything."""
    at = '{"unievent":{"at":1700000000012}}'
    sources = [
        source(0, "thinking.delta", "The", [1, 2], part=0),
        source(1, "thinking.delta", " user wants", [3], part=0),
        source(2, "thinking.done", "The user wants", [4], part=0),
        source(3, "text.delta", "Hello, ", [5, 6], part=1),
        source(4, "text.delta", "world", [7], part=1),
        source(5, "text.done", "Hello, world", [8], part=1),
        source(6, "tool_call.delta", '{"city":', [9], "held", "merged", part=2),
        source(7, "tool_call.delta", ' "Orléans"}', [9], "held", "merged", part=2),
        source(8, "tool_call.done", "weather", [9], "merged", part=2),
        source(9, "embedding", "[0.5, 0.25]", [10], "carried", part=3),
        source(10, "ping", "", [], "silent"),
        source(11, "refusal", "no", [], "lost"),
        source(12, "stop", "tool_call", [11]),
    ]
    targets = [
        target(0, "streamStart", "unknown", [], "made up", carry='{"v":1,"synthetic":true}'),
        target(1, "thinkingStart", "", [0], part=0, carry=at),
        target(2, "thinking", "The", [0], part=0),
        target(3, "thinking", " user wants", [1], part=0, carry=at),
        target(4, "thinkingEnd", "", [2], part=0),
        target(5, "contentStart", "", [3], part=1),
        target(6, "content", "Hello, ", [3], part=1),
        target(7, "content", "world", [4], part=1),
        target(8, "contentEnd", "", [5], part=1),
        target(9, "tool", "weather", [6, 7, 8], "merged", part=2),
        target(10, "carry", "", [9], "carry", carry='{"parts":[{"kind":"embedding"}]}', carried=[9], part=3),
        target(11, "stop", "toolCall", [12]),
    ]
    parts = [
        {"kind": "thinking", "source": [0, 2], "target": [1, 4], "native": True},
        {"kind": "text", "source": [3, 5], "target": [5, 8], "native": True},
        {"kind": "call", "source": [6, 8], "target": [9, 9], "native": True},
        {"kind": "embedding", "source": [9, 9], "target": [10, 10], "native": False},
    ]
    losses = [
        {"unit": 0, "field": "created_at", "reason": "no time stamps", "content": False, "carried": True},
        {"unit": 1, "field": "created_at", "reason": "no time stamps", "content": False, "carried": True},
        {"unit": 9, "field": "embedding", "reason": "no native form", "content": True, "carried": True},
        {"unit": 11, "field": "refusal", "reason": "no word for it", "content": True, "carried": False},
    ]
    return view(sources, targets, parts=parts, losses=losses)


def hostile() -> dict[str, Any]:
    """One whose every text would like to be more than text."""
    losses = [{"unit": 0, "field": text, "reason": text, "content": True, "carried": False} for text in HOSTILE]
    sources = [source(index, text, text, [index]) for index, text in enumerate(HOSTILE)]
    targets = [target(index, text, text, [index], carry=text) for index, text in enumerate(HOSTILE)]
    error = {"type": HOSTILE[0], "message": "".join(HOSTILE), "unit": 0, "offset": 1}
    return view(sources, targets, losses=losses, error=error)


def long(size: int) -> dict[str, Any]:
    """One of many units, of which every tenth is merged into the next."""
    sources = [source(index, "text.delta", f"word {index} of many", [], part=0) for index in range(size)]
    targets: list[dict[str, Any]] = []
    waiting: list[int] = []
    for index, unit in enumerate(sources):
        waiting.append(index)
        if index % 10 == 9:
            unit["marks"] += ["held", "merged"]
            continue
        of, waiting = waiting, []
        for each in of:
            sources[each]["to"] = [len(targets)]
        targets.append(target(len(targets), "content", f"word {index}", of, part=0, carry='{"at":1}'))
    losses = [
        {"unit": index, "field": "created_at", "reason": "no time stamps", "content": False, "carried": True}
        for index in range(size)
    ]
    parts = [{"kind": "text", "source": [0, size - 1], "target": [0, len(targets) - 1], "native": True}]
    return view(sources, targets, parts=parts, losses=losses)
