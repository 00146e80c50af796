"""The rows of a timeline: which units stand beside each other, and the lines between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..algebra.events import JsonObject

LEFT, RIGHT, ABOVE, BELOW = 1, 2, 4, 8
"""What a joint joins."""
_MANY = 4


@dataclass(frozen=True, slots=True)
class Row:
    """A unit of the source, one of the target, or both, ``count`` of them alike. ``joint``: the line between them.

    ``brackets``: where in their parts the two are: ``begin``, ``within``, ``end``, ``whole`` or nothing.
    """

    left: JsonObject | None
    right: JsonObject | None
    joint: int
    brackets: tuple[str, str]
    count: int = 1


def rows(view: JsonObject) -> list[Row]:
    """All rows. What was read first is said first, so that lines never cross."""
    return list(_rows(view))


def folded(found: Sequence[Row]) -> list[Row]:
    """Four rows and more that are alike become one, with the texts of all."""
    out: list[Row] = []
    at = 0
    while at < len(found):
        end = at + 1
        while end < len(found) and _alike(found[end], found[at]):
            end += 1
        run = found[at:end]
        out += run if len(run) < _MANY else [_together(run)]
        at = end
    return out


def _rows(view: JsonObject) -> Iterator[Row]:
    sources, targets, parts = view["source"]["units"], view["target"]["units"], view["parts"]
    beside: list[list[JsonObject]] = [[] for _ in range(len(sources) + 1)]
    ahead: list[list[JsonObject]] = [[] for _ in range(len(sources) + 1)]
    place = len(sources)
    for target in reversed(targets):
        came = target["from"]
        # what no one says stands before what was said next
        (beside[came[-1]] if came else ahead[place]).insert(0, target)
        place = came[0] if came else place
    until = -1
    for i, source in enumerate(sources):
        yield from (_row(None, target, RIGHT, parts) for target in ahead[i])
        to = [targets[at]["from"][-1] for at in source["to"]]
        here, above = beside[i], until >= i
        until = max([until, *to])
        held = until > i
        joint = (LEFT if to else 0) | (RIGHT if here else 0) | (ABOVE if above else 0)
        yield _row(source, here[0] if here else None, joint | (BELOW if held or len(here) > 1 else 0), parts)
        for k, target in enumerate(here[1:], 2):
            yield _row(None, target, RIGHT | ABOVE | (BELOW if held or k < len(here) else 0), parts)
    yield from (_row(None, target, RIGHT, parts) for target in ahead[-1])


def _row(left: JsonObject | None, right: JsonObject | None, joint: int, parts: Sequence[JsonObject]) -> Row:
    return Row(left, right, joint, (_bracket(left, "source", parts), _bracket(right, "target", parts)))


def _bracket(unit: JsonObject | None, side: str, parts: Sequence[JsonObject]) -> str:
    span = None if unit is None or unit["part"] is None else parts[unit["part"]][side]
    if unit is None or span is None or not span[0] <= unit["index"] <= span[1]:
        return ""
    if span[0] == span[1]:
        return "whole"
    return {span[0]: "begin", span[1]: "end"}.get(unit["index"], "within")


def _alike(row: Row, other: Row) -> bool:
    return (
        (row.joint, row.brackets) == (other.joint, other.brackets)
        and _sort(row.left) == _sort(other.left)
        and _sort(row.right) == _sort(other.right)
    )


def _sort(unit: JsonObject | None) -> object:
    return None if unit is None else (unit["kind"], unit["part"], unit["marks"], _is_text(unit["label"]))


def _is_text(label: str) -> bool:
    return len(label) > 1 and label[0] == label[-1] == '"'


def _together(run: Sequence[Row]) -> Row:
    lefts = [row.left for row in run if row.left is not None]
    rights = [row.right for row in run if row.right is not None]
    return replace(run[0], left=_joined(lefts), right=_joined(rights), count=len(run))


def _joined(units: Sequence[JsonObject]) -> JsonObject | None:
    if not units:
        return None
    labels = [unit["label"] for unit in units]
    label = '"' + "".join(label[1:-1] for label in labels) + '"' if _is_text(labels[0]) else labels[0]
    return {**units[0], "label": label, "last": units[-1]["index"]}
