"""What several formats ask of a server alike: efforts, strict schemas, and who speaks last."""

from __future__ import annotations

from ..algebra.events import JsonObject
from .capability import Writing
from .effort import effort_of, nearest
from .nodes import Request, Thinking, Turn
from .tools import is_closed


def said_effort(asked: Thinking, writing: Writing) -> str | None:
    """The word for an effort, where a format has that alone: for a budget, for none, and for a way to think."""
    paths, known = asked.paths, writing.profile.efforts
    effort = asked.effort
    if asked.mode == "off":
        if "none" not in known:
            writing.lost("control", paths.get("mode", paths.get("effort", "")), "thinking", "thinking off")
            return None
        effort = "none"
    elif effort is None and asked.budget is not None:
        effort = effort_of(asked.budget)
        writing.guess(paths.get("budget", ""), "budget", "budget", effort)
    if effort is None:
        if asked.mode is not None:
            writing.lost("tuning", paths.get("mode", ""), "thinking", "value", asked.mode)
        return None
    found = nearest(effort, known)
    if found is None and not writing.home:
        writing.lost("tuning", paths.get("effort", ""), "effort", "value", repr(effort))
    elif found is not None and found != effort:
        writing.guess(paths.get("effort", ""), "effort", "effort", found)
    return found or (effort if writing.home else None)


def strictly(strict: bool | None, schema: JsonObject | None, path: str, writing: Writing) -> bool | None:
    """``strict`` as OpenAI's formats say it: true only of a closed schema, and of a server that knows it."""
    if strict and not writing.profile.strict_tools:
        writing.lost("tuning", path, "strict", "setting", "strict")
        return None
    if strict and not writing.home and not is_closed(schema or {}):
        writing.repair(path, "strict", "strict")
        return False
    return strict


def without_prefill(request: Request, writing: Writing) -> list[Turn]:
    """The turns, but for a last one of the assistant's that the server does not go on with."""
    turns = request.turns
    last = turns[-1] if turns else None
    if last is None or last.role != "assistant" or writing.profile.prefill or writing.home:
        return turns
    if any(part.kind == "tool_call" for part in last.parts):
        return turns
    writing.lost("content", last.path, "prefill", "prefill")
    return turns[:-1]
