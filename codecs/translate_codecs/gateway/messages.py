"""Messages of the gateway as turns, and turns as messages.

1. A message is ``user``, ``content``, ``thinking`` or ``toolCall``; those of the assistant's that follow one another
   are one turn. What tools answer, media and tools have no words that are known here.
2. The ``data`` of thinking is its state, its keys prefixed with who issued it.
"""

from __future__ import annotations

from typing import Any, Final

from translate.algebra.calls import made_id
from translate.algebra.events import JsonObject, Open
from translate.messages.capability import Reading, Writing
from translate.messages.media import described
from translate.messages.members import Members, wrong
from translate.messages.nodes import Part, Turn
from translate.messages.steps import steps

from .words import NAME, assembled, read_data, state_data

_SAID: Final = ("content", "thinking", "toolCall")


def read_turns(document: Members, reading: Reading) -> list[Turn]:
    """The turns of a conversation."""
    turns: list[Turn] = []
    for message in document.entries("messages"):
        type = message.must("type", str)
        if type in _SAID:
            if not turns or turns[-1].role != "assistant":
                turns.append(Turn("assistant", path=message.path))
            turns[-1].parts.append(read_said(type, message, reading))
        elif type == "user":
            part = Part("text", message.must("value", str), path=message.path)
            part.residue = message.rest(NAME)
            turns.append(Turn("user", [part], path=message.path))
        else:
            unit = {"type": type, **message.left}
            turns.append(Turn("user", [Part("foreign", via=NAME, unit=unit, path=message.path)], path=message.path))
    return turns


def read_said(type: str, message: Members, reading: Reading) -> Part:
    """The part of a message of the assistant's."""
    if type == "toolCall":
        call = message.inner("value")
        if call is None:
            raise wrong(message.at("value"), "it is missing", "an object")
        id, name = reading.id(call.take("id", str)) or None, call.must("name", str)
        part = Part("tool_call", call.take("arguments", str) or "", id, name)
        message.put_back("value", call)
    elif type == "thinking":
        part = Part("thinking", message.take("value", str) or "")
        part.state = read_data(message.take("data", dict))
    else:
        part = Part("text", message.take("value", str) or "")
    part.path = message.path
    part.residue = message.rest(NAME)
    return part


def write_turns(body: list[Turn], writing: Writing) -> list[JsonObject]:
    """The messages of a conversation."""
    out: list[JsonObject] = []
    for step in steps(body):
        if isinstance(step, Turn):
            for part in step.parts:
                out += write_said(part, writing, len(out))
            writing.rest(step)
            continue
        for turn in step:
            texts: list[str] = []
            for part in turn.parts:
                texts += _text(part, writing, out)
            writing.rest(turn)
            if turn.role != "user":
                writing.repair(turn.path, "role", "as text", "in <system> tags")
                texts = [f"<system>{text}</system>" for text in texts]
            if len(texts) > 1:
                writing.repair(turn.path, "text", "joined")
            if texts:
                out.append({"type": "user", "value": "\n\n".join(texts)})
    return out


def _text(part: Part, writing: Writing, out: list[JsonObject]) -> list[str]:
    if part.unit is not None and part.via == NAME and writing.home:
        out.append(part.unit)
        return []
    if part.kind in ("text", "refusal") or part.via == "text":
        writing.part_rest(part)
        return [part.data] if part.data else []
    if part.kind == "document_parts":
        return [text for each in part.parts for text in _text(each, writing, out)]
    key = "unit" if part.unit is not None else "part"
    writing.lost("content", part.path, part.kind, key, described(part) if key == "part" else str(part.via))
    return []


def write_said(part: Part, writing: Writing, index: int) -> list[JsonObject]:
    """The message of a part of the assistant's."""
    kind = part.kind
    if kind not in ("text", "refusal", "thinking", "tool_call"):
        key = "unit" if part.unit is not None else "part"
        writing.lost("content", part.path, kind, key, described(part) if key == "part" else str(part.via))
        return []
    if kind in ("text", "refusal") and not part.data:
        writing.repair(part.path, "text", "empty", "empty text")
        writing.part_rest(part, user=False)
        return []
    data: Any = state_data(part.state, None) or {} if kind == "thinking" else {}
    if part.state is not None and kind != "thinking":
        writing.lost("state", part.state_path or part.path, "state", "state")
    head = Open(kind, part.id, part.name)
    if kind == "tool_call":
        head = Open("tool_call", writing.id(part) or made_id(index), part.name)
    message = assembled(head, part.data, data)
    writing.part_rest(part, message, ("name",) if kind == "tool_call" else (), user=False)
    return [message]
