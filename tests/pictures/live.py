"""A recorded stream while it is translated: what comes in, and what goes out, each at its time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from translate.inspect.view import view

from .svg import Canvas

RECORDING = Path(__file__).resolve().parents[2] / "examples" / "claude-turn.unievent.sse"
SRC, DST = "unievent-sse", "gateway-sse"
PITCH, BAR, HIGH = 9, 7, 24
LEFT, IN, OUT = 20, 40, 118
SECONDS, SLOWER = 10, 5
"""Of a round, and how many times slower than the recording it is shown."""
NAMES = {"thinking": "thinking", "text": "text", "tool_call": "call"}
STYLE = """
.thinking{fill:#8250df;color:#8250df}.text{fill:#0a5fb4;color:#0a5fb4}.call{fill:#bc4c00;color:#bc4c00}
.frame{fill:#57606a;color:#57606a}
@media (prefers-color-scheme:dark){.thinking{fill:#b78aff;color:#b78aff}.text{fill:#79b8ff;color:#79b8ff}
.call{fill:#ffa657;color:#ffa657}.frame{fill:#9ea7b3;color:#9ea7b3}}
.way{fill:none;stroke:currentColor;stroke-width:1}
"""


def live() -> Canvas:
    """Both rails of the example: a bar a unit, from left to right in the order of the source."""
    seen = view(RECORDING.read_bytes(), SRC, DST)
    units, said = seen["source"]["units"], seen["target"]["units"]
    first, last = units[0]["time"], units[-1]["time"]
    whole = (last - first) / 1000
    title = f"{RECORDING.stem}: {SRC} to {DST}, live"
    heads = (
        f"in: {SRC}, {len(units)} events in {whole:.1f} s",
        f"out: {DST}, {len(said)} frames, each as soon as it can be said",
    )
    parts = [(NAMES[part["kind"]], part["source"]) for part in seen["parts"]]
    about = (
        f"{heads[0]}. {heads[1]}. In order: {', then '.join(name for name, _ in parts)}. "
        f"The fragments of a call wait, and leave as one frame. Shown {SLOWER} times slower than it was."
    )
    canvas = Canvas(title, about)
    canvas.text(LEFT, IN - 12, heads[0])
    times: set[int] = set()

    def at(unit: int) -> str:
        percent = 3 + round((units[unit]["time"] - first) / 1000 * SLOWER / SECONDS * 100)
        times.add(percent)
        return f"t{percent}"

    for unit in units:
        canvas.box(_x(unit["index"]), IN, BAR, HIGH, 1, f"{_kind(seen, unit)} {at(unit['index'])}")
    sources = [max(unit["from"], default=0) for unit in said]
    shares, before = Counter(sources), Counter[int]()
    for unit, source in zip(said, sources, strict=True):
        kind, width = _kind(seen, unit), BAR / shares[source]
        left = _x(source) + before[source] * width
        before[source] += 1
        for each in unit["from"]:
            way = ("M", _x(each) + BAR / 2, IN + HIGH, "L", left + width / 2, OUT)
            canvas.path(f"way {kind} {at(source)}", *way)
        canvas.box(left, OUT, width - 0.5, HIGH, 1, f"{kind} {at(source)}")
    for name, (begin, end) in parts:
        canvas.text((_x(begin) + _x(end) + BAR) / 2, OUT + HIGH + 18, name, name, middle=True)
    canvas.text(LEFT, OUT + HIGH + 42, heads[1])
    canvas.style = STYLE + "".join(map(_appears, sorted(times)))
    return canvas


def _x(unit: int) -> float:
    return LEFT + unit * PITCH


def _kind(seen: dict[str, Any], unit: dict[str, Any]) -> str:
    return "frame" if unit["part"] is None else NAMES[seen["parts"][unit["part"]]["kind"]]


def _appears(percent: int) -> str:
    """What appears then, and goes with all others at the end of a round; whoever wants no motion sees all of it."""
    return (
        "@media (prefers-reduced-motion:no-preference){"
        f"@keyframes k{percent}{{0%,{percent}%{{opacity:.1}}{percent + 1}%,95%{{opacity:1}}100%{{opacity:.1}}}}"
        f".t{percent}{{animation:k{percent} {SECONDS}s linear infinite}}}}\n"
    )
