"""Where units stand beside each other, and which lines fold into one: the layout of the page and of the picture."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from ..algebra.events import JsonObject
from .rows import folded, rows
from .words import shortened

SIDES = ("source", "target")


def placed(view: dict[str, Any]) -> dict[str, list[int]]:
    """The line of each unit: one of the target is on that of the last source unit it came from, or below.

    One that came from none was needed by the next that did.
    """
    sources, targets = view["source"]["units"], view["target"]["units"]
    causes: list[int] = []
    cause = len(sources) - 1
    for unit in reversed(targets):
        cause = unit["from"][-1] if unit["from"] else cause
        causes.append(cause)
    slots: dict[str, list[int]] = {"source": [], "target": []}
    free, latest = 0, -1
    for index in range(max(len(sources), bool(targets))):
        line = free
        if index < len(sources):
            slots["source"].append(free)
            free += 1
        while causes:
            latest = max(latest, causes[-1])
            if latest > index:
                break
            causes.pop()
            slots["target"].append(line)
            line += 1
        free = max(free, line)
    return slots


def folds(view: dict[str, Any]) -> list[JsonObject]:
    """The runs of lines that are alike, as the terminal folds them.

    Each has ``line`` and ``count``, in lines of :func:`placed`; ``source`` and ``target``: its first and last unit on
    either side, or ``None``; and ``labels``: what all of them say, on either side.
    """
    slots = placed(view)
    found: list[JsonObject] = []
    for row in folded(rows(view)):
        if row.count == 1:
            continue
        units = {side: _span(unit) for side, unit in zip(SIDES, (row.left, row.right), strict=True)}
        lines = {tuple(slots[side][span[0] : span[1] + 1]) for side, span in units.items() if span is not None}
        first = min(line[0] for line in lines)
        # what stands on lines of its own alone: a unit that was made up may stand beside one of a run
        if lines == {tuple(range(first, first + row.count))}:
            labels = [shortened(unit["label"]) if unit else "" for unit in (row.left, row.right)]
            found.append({"line": first, "count": row.count, **units, "labels": labels})
    owned = [{*side} for side in slots.values()]
    return [fold for fold in found if not _mixed(fold, owned)]


def closed(slots: dict[str, list[int]], found: list[JsonObject]) -> dict[str, list[int]]:
    """The lines that units stand on where runs have one line each."""
    hidden = [line for fold in found for line in range(fold["line"] + 1, fold["line"] + fold["count"])]
    return {side: [line - bisect_right(hidden, line) for line in lines] for side, lines in slots.items()}


def _mixed(fold: JsonObject, owned: list[set[int]]) -> bool:
    """Whether a unit that is none of the run's stands on its lines."""
    lines = range(fold["line"], fold["line"] + fold["count"])
    return any(
        fold[side] is None and any(line in there for line in lines) for side, there in zip(SIDES, owned, strict=True)
    )


def _span(unit: JsonObject | None) -> list[int] | None:
    if unit is None:
        return None
    first: int = unit["index"]
    last: int = unit.get("last", first)
    return [first, last]
