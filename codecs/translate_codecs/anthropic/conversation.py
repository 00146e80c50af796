"""Messages of Anthropic as turns, and turns as messages.

1. Instructions at the head are ``system``, text if they were one text. Later ones are a message of the role ``system``,
   the last of its step, where the profile allows it and the step has a user's message; else text in ``<system>``.
2. All results of a step are in one user's message, first in it and first in the step.
3. Empty texts and messages are refused, and left out.
"""

from __future__ import annotations

from typing import Final

from translate.algebra.events import JsonObject
from translate.messages.capability import Reading, Writing
from translate.messages.members import Members, wrong
from translate.messages.nodes import Part, Turn
from translate.messages.steps import is_reordered, others, results, steps

from .content import read_content, write_part
from .words import NAME

_ROLES: Final = ("user", "assistant", "system")


def read_turn(message: Members, reading: Reading) -> Turn:
    """The turn that a message is."""
    role = message.must("role", str)
    if role not in _ROLES:
        raise wrong(message.at("role"), f"found {role!r}", "user, assistant or system")
    turn = Turn(role, path=message.path)  # type: ignore[arg-type]
    turn.parts = read_content(message.take("content"), message.at("content"), reading)
    turn.residue = message.rest(NAME)
    return turn


def write_system(head: list[Turn], out: JsonObject, writing: Writing) -> None:
    """The instructions at the head, into ``out``."""
    blocks: list[JsonObject] = []
    for turn in head:
        blocks += _texts(turn, writing)
        writing.rest(turn)
        if turn.role == "developer":
            writing.repair(turn.path, "role", "role", "developer")
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        out["system"] = blocks[0]["text"]
    elif blocks:
        out["system"] = blocks


def _texts(turn: Turn, writing: Writing) -> list[JsonObject]:
    """The instructions of a turn: texts alone."""
    out: list[JsonObject] = []
    for part in turn.parts:
        if part.kind in ("text", "refusal"):
            out += _said(part, writing)
        elif part.unit is not None and part.via == NAME and writing.home:
            out.append(part.unit)
        else:
            writing.lost("content", part.path, part.kind, "part", "in instructions what is no text")
    return out


def _said(part: Part, writing: Writing, *, user: bool = True) -> list[JsonObject]:
    """The blocks of a part, but for an empty text."""
    if part.kind in ("text", "refusal") and not part.data:
        if not writing.home:
            writing.repair(part.path, "text", "empty", "empty text")
        writing.part_rest(part)
        return []
    return write_part(part, writing, user=user)


def write_messages(body: list[Turn], writing: Writing) -> list[JsonObject]:
    """The messages of a conversation, for a server."""
    out: list[JsonObject] = []
    for step in steps(body):
        if isinstance(step, Turn):
            blocks = [block for part in step.parts for block in _said(part, writing, user=False)]
            _add(out, "assistant", blocks, step, writing)
        else:
            _write_step(step, out, writing)
    return out


def _add(out: list[JsonObject], role: str, blocks: list[JsonObject], turn: Turn, writing: Writing) -> None:
    """A message, its content the bare text where it is one."""
    if not blocks:
        if turn.parts or not writing.home:
            writing.repair(turn.path, "message", "empty", "an empty message")
        writing.rest(turn)
        return
    bare = len(blocks) == 1 and blocks[0].keys() == {"type", "text"}
    message: JsonObject = {"role": role, "content": blocks[0]["text"] if bare else blocks}
    writing.rest(turn, message)
    out.append(message)


def _write_step(step: list[Turn], out: list[JsonObject], writing: Writing) -> None:
    users = [turn for turn in step if turn.role == "user"]
    late = [turn for turn in step if turn.role != "user"]
    found = [_result(part, writing) for part in results(step)]
    if (moved := is_reordered(step)) is not None and not writing.home:
        writing.repair(moved.path, "order", "order", "results first")
    first = next((turn for turn in users if any(part.kind == "tool_result" for part in turn.parts)), None)
    messages: list[JsonObject] = []
    if first is not None:
        own = [block for part in others(first) for block in _said(part, writing)]
        _add(messages, "user", found + own, first, writing)
    for turn in users:
        if turn is not first and (others(turn) or not turn.parts):
            _add(messages, "user", [block for part in others(turn) for block in _said(part, writing)], turn, writing)
        elif turn is not first:
            writing.rest(turn)
    _write_late(late, messages, writing)
    out += messages


def _write_late(late: list[Turn], messages: list[JsonObject], writing: Writing) -> None:
    """Instructions within the conversation: the last message of their step."""
    blocks: list[JsonObject] = []
    for turn in late:
        blocks += _texts(turn, writing)
        writing.rest(turn)
    if not blocks:
        return
    if messages and writing.profile.mid_system:
        bare = len(blocks) == 1 and blocks[0].keys() == {"type", "text"}
        messages.append({"role": "system", "content": blocks[0]["text"] if bare else blocks})
        return
    said = [{"type": "text", "text": f"<system>{block['text']}</system>"} for block in blocks if "text" in block]
    for turn in late:
        writing.repair(turn.path, "role", "as text", "in <system> tags")
    if messages:
        last = messages[-1]
        content = last["content"]
        last["content"] = [*([{"type": "text", "text": content}] if isinstance(content, str) else content), *said]
    else:
        messages.append({"role": "user", "content": said})


def _result(part: Part, writing: Writing) -> JsonObject:
    block: JsonObject = {"type": "tool_result", "tool_use_id": writing.id(part) or ""}
    blocks = [found for each in part.parts for found in _said(each, writing)]
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        block["content"] = blocks[0]["text"]
    elif blocks:
        block["content"] = blocks
    if part.error:
        block["is_error"] = True
    if part.cache:
        block["cache_control"] = part.cache
    if part.state is not None:
        writing.state(part)
    writing.part_rest(part, block, ("cache", "error", "name"))
    return block
