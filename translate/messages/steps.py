"""Steps: the runs of turns that are not the assistant's. Within one an encoder may reorder, across it never."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .capability import Writing
from .nodes import HEADS, Part, Turn


def head_and_body(turns: Sequence[Turn], writing: Writing) -> tuple[list[Turn], list[Turn]]:
    """The instructions at the head, and the conversation. A list of messages has no head: all stands in it."""
    n = 0
    while not writing.in_list and n < len(turns) and turns[n].role in HEADS:
        n += 1
    return list(turns[:n]), list(turns[n:])


def steps(turns: Iterable[Turn]) -> Iterator[Turn | list[Turn]]:
    """The assistant's turns by themselves, and those between them together."""
    step: list[Turn] = []
    for turn in turns:
        if turn.role != "assistant":
            step.append(turn)
            continue
        if step:
            yield step
            step = []
        yield turn
    if step:
        yield step


def results(step: Iterable[Turn]) -> list[Part]:
    """The results of a step, in order."""
    return [part for turn in step for part in turn.parts if part.kind == "tool_result"]


def others(turn: Turn) -> list[Part]:
    """What of a turn is no result."""
    return [part for part in turn.parts if part.kind != "tool_result"]


def is_reordered(step: Sequence[Turn]) -> Part | None:
    """The first result of a step that does not stand at its head, so that it is said before what it stood behind."""
    behind = False
    for turn in step:
        for part in turn.parts:
            if part.kind != "tool_result":
                behind = True
            elif behind:
                return part
    return None
