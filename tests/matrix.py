"""What the formats' own readers see of recordings, and what travels beside: ``python -m tests.matrix DIR``.

``DIR`` has a folder of recordings for each format. Of each pair two figures are told: the share of recordings whose
whole content a reader sees that knows nothing of carries, and the bytes of carry that a unit has. What the source's own
codec refuses is left out. The recordings are not part of the project; ``docs/losses.md`` shows what was told of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from translate import Append, Open, TranslateError, convert, decode, jsontext
from translate.algebra.events import Event, Finish

FORMATS: Final = (
    *("unievent-sse", "gateway-sse", "anthropic-sse", "openai-chat-sse", "openai-responses-sse"),
    *("gemini-sse", "gemini-interactions-sse"),
)
FOLDERS: Final = {format: format.removesuffix("-sse") for format in FORMATS[2:]} | {"unievent-sse": "unievent-sse"}
"""Formats of which there are recordings, and where."""


class Pair(NamedTuple):
    """What was found of one recording: whether all content is seen, bytes of carry, units."""

    seen: bool
    carry: int
    units: int


def content(events: Iterable[Event]) -> list[Any]:
    """What the events say: texts by kind, joined; calls by name and arguments; data."""
    found: list[list[Any]] = []
    for event in events:
        if type(event) is Open:
            kind = "text" if event.kind == "refusal" else event.kind
            if not (found and found[-1][0] == kind in ("text", "thinking")):
                found.append([kind, event.name if kind == "tool_call" else None, None])
        elif type(event) is Append and found:
            data: Any = found[-1][2]
            found[-1][2] = event.data if data is None else data + event.data
    return [_whole(part) for part in found if part[2] or part[0] not in ("text", "thinking")]


def _whole(part: list[Any]) -> list[Any]:
    """Arguments are compared as values; blank ones are an empty object."""
    kind, name, data = part
    if kind != "tool_call":
        return part
    try:
        return [kind, name, jsontext.loads(data.encode() if data and data.strip() else b"{}")]
    except TranslateError:
        return part


def pair(data: bytes, src: str, dst: str, want: list[Any]) -> Pair | None:
    """One recording, from one format to another; ``None`` where the target refuses it."""
    try:
        bare = b"".join(convert([data], src, dst, loss="drop", clock=lambda: 0))
        carrying = b"".join(convert([data], src, dst, clock=lambda: 0))
        seen = content(decode([bare], dst)) == want
    except TranslateError:
        return None
    return Pair(seen, len(carrying) - len(bare), max(1, bare.count(b"data: {")))


def readings(folder: Path, src: str) -> Iterator[tuple[bytes, list[Any]]]:
    """The recordings of a format that its codec reads to a good end, and what they say."""
    for path in sorted(folder.glob("*.sse")):
        data = path.read_bytes()
        try:
            events = list(decode([data], src))
        except TranslateError:
            continue
        if type(events[-1]) is Finish:
            yield data, content(events)


def table(directory: Path) -> list[str]:
    """The lines of a table in Markdown: a row for each source, a column for each target."""
    names = [format.removesuffix("-sse") for format in FORMATS]
    out = [f"| from, recordings | {' | '.join(names)} |", "| --- " * (len(names) + 1) + "|"]
    for src in FORMATS:
        folder = directory / FOLDERS.get(src, "-")
        held = list(readings(folder, src)) if folder.is_dir() else []
        if held:
            others = ([pair(data, src, dst, want) for data, want in held] for dst in FORMATS if dst != src)
            cells = [_cell(found) for found in others]
            cells.insert(FORMATS.index(src), "")
            out.append(f"| {src.removesuffix('-sse')}, {len(held)} | {' | '.join(cells)} |")
    return out


def _cell(found: list[Pair | None]) -> str:
    good = [each for each in found if each is not None]
    if not good:
        return "none"
    seen, carry, units = (sum(column) for column in zip(*good, strict=True))
    refused = f", {len(found) - len(good)} refused" if len(good) < len(found) else ""
    return f"{100 * seen / len(found):.0f} %, {carry / units:.0f} B{refused}"


if __name__ == "__main__":
    print(*table(Path(sys.argv[1])), sep="\n")
