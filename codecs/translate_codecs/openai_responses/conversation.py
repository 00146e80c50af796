"""Items of Responses as turns, and turns as items.

1. The assistant's items between two of others are one turn, each item its part or parts.
2. What tools answered is a user's turn of one result, an item of its own.
3. A text of the assistant's is a message item with the bare text: ``output_text`` demands an id that nobody gave.
4. Items that only this format has are foreign as a whole.
"""

from __future__ import annotations

from typing import Any, Final

from translate import jsontext
from translate.algebra.calls import FREE, FREE_END, escaped
from translate.algebra.events import JsonObject, State
from translate.messages.capability import Reading, Writing
from translate.messages.members import Members, wrong
from translate.messages.nodes import ROLES, Part, Turn
from translate.messages.sealing import marker, settle
from translate.messages.steps import is_reordered, others, results, steps

from .content import read_content, write_part
from .words import (
    CALL,
    CUSTOM,
    IMAGE,
    ISSUER,
    MESSAGE,
    NAME,
    PHASE,
    REASONING,
    SUMMARY,
    is_sayable,
    phase_of,
    state_of_item,
    state_words,
)

_ANSWERS: Final = ("function_call_output", "custom_tool_call_output")
_USERS: Final = ("additional_tools", "mcp_approval_response", "item_reference", "compaction_trigger")
_MADE: Final = ("rs_ts_", "msg_ts_")


# ---- reading ---------------------------------------------------------------------------------------------


def read_input(value: Any, reading: Reading) -> list[Turn]:
    """The turns of an input: text, or a list of items."""
    if value is None:
        return []
    if isinstance(value, str):
        return [Turn("user", [Part("text", value, path="input")], path="input")]
    if not isinstance(value, list):
        raise wrong("input", "it is of another type", "text or a list of items")
    turns: list[Turn] = []
    for i, each in enumerate(value):
        item = Members(each, f"input[{i}]")
        turn = _read_other(item, reading)
        if turn is not None:
            turns.append(turn)
            continue
        if not turns or turns[-1].role != "assistant":
            turns.append(Turn("assistant", path=item.path))
        turns[-1].parts += read_item(item, reading)
    for turn in turns:
        turn.parts = settle(turn.parts, reading)
    return turns


def _read_other(item: Members, reading: Reading) -> Turn | None:
    """The turn of an item that is not the assistant's."""
    type = item.left.get("type", MESSAGE)
    if type == MESSAGE and item.left.get("role") != "assistant":
        item.take("type")
        role = item.must("role", str)
        if role not in ROLES:
            raise wrong(item.at("role"), f"found {role!r}", ", ".join(ROLES))
        turn = Turn(role, path=item.path)
        turn.parts = read_content(item.take("content"), item.at("content"), reading)
        _drop_status(item)
        turn.residue = item.rest(NAME)
        return turn
    if type in _ANSWERS:
        item.take("type")
        part = Part("tool_result", id=reading.id(item.must("call_id", str)), path=item.path)
        part.via = "custom" if type == _ANSWERS[1] else None
        output = item.take("output")
        part.parts = read_content(output, item.at("output"), reading)
        _drop_status(item)
        part.residue = item.rest(NAME)
        return Turn("user", [part], path=item.path)
    client = str(type).endswith("_output") and item.left.get("execution") != "server" and type != "program_output"
    if type in _USERS or client:
        return Turn("user", [Part("foreign", via=NAME, unit=item.left, path=item.path)], path=item.path)
    return None


def read_item(item: Members, reading: Reading) -> list[Part]:
    """The parts of an item of the assistant's."""
    type = item.left.get("type", MESSAGE)
    path = item.path
    if type == MESSAGE:
        return _read_message(item, reading)
    if type == REASONING:
        return [_read_reasoning(item, reading)]
    if type in (CALL, CUSTOM):
        item.take("type")
        id = item.take("call_id", str) or item.left.get("id")
        name = item.must("name", str)
        if type == CALL:
            part = Part("tool_call", item.take("arguments", str) or "", reading.id(id), name, path=path)
        else:
            given = f"{FREE}{escaped(item.take('input', str) or '')}{FREE_END}"
            part = Part("tool_call", given, reading.id(id), name, via="custom", path=path)
        _drop_status(item)
        part.residue = item.rest(NAME)
        return [part]
    if type == IMAGE and isinstance(item.left.get("result"), str):
        item.take("type")
        mime = f"image/{item.take('output_format', str) or 'png'}"
        part = Part("inline_data", item.must("result", str), mime_type=mime, media="image", path=path)
        _drop_status(item)
        part.residue = item.rest(NAME)
        return [part]
    kind = "server_tool_call" if str(type).endswith("_call") else "foreign"
    kind = "server_tool_result" if str(type).endswith("_output") else kind
    return [Part(kind, via=NAME, unit=item.left, path=path)]  # type: ignore[arg-type]


def _read_message(item: Members, reading: Reading) -> list[Part]:
    item.take("type")
    item.take("role", str)
    parts = read_content(item.take("content"), item.at("content"), reading)
    phase = item.maybe("phase", str)
    if phase is not None and parts:
        parts[0].state = State(ISSUER, {PHASE: phase})
        parts[0].state_path = item.at("phase")
    elif phase is not None:
        item.left["phase"] = phase
    _drop_status(item)
    rest = item.rest(NAME)
    if rest is not None and parts:
        # of the item, and so of a part's neighbours: it is told with the first
        parts[0].residue = {NAME: {**(parts[0].residue or {}).get(NAME, {}), **rest[NAME]}}
        if parts[0].path.endswith("]"):
            parts[0].path = item.path if len(parts) == 1 else parts[0].path
    return parts


def _read_reasoning(item: Members, reading: Reading) -> Part:
    sealed = item.left.get("encrypted_content")
    state = state_of_item(item.left)
    texts = [entry.must("text", str) for entry in item.entries("summary")]
    texts += [entry.must("text", str) for entry in item.entries("content")]
    part = Part("thinking", "".join(texts), path=item.path)
    item.take("type")
    for key in ("encrypted_content", "signature", "format"):
        item.take(key, str)
    if reading.is_sealed(sealed):
        item.take("id", str)
        members = reading.open(str(sealed), item.path)
        if not part.data and (members.get("b") or members.get("l")):
            return marker(members, item.path)
        reading.unseal(part, members)
    elif state is not None:
        part.state = state
        item.take("id", str)
    _drop_status(item)
    part.residue = item.rest(NAME)
    return part


def _drop_status(item: Members) -> None:
    if item.left.get("status") == "completed":
        del item.left["status"]


# ---- writing ---------------------------------------------------------------------------------------------


def write_items(turns: list[Turn], writing: Writing) -> list[JsonObject]:
    """The items of a conversation, for a server."""
    out: list[JsonObject] = []
    custom: set[str] = set()
    for step in steps(turns):
        if isinstance(step, Turn):
            for part in step.parts:
                if part.via == "custom" and part.kind == "tool_call":
                    custom.add(writing.ids.of(part))
                out += _write_said(part, writing, len(out))
            writing.rest(step)
            continue
        if (moved := is_reordered(step)) is not None and not writing.home:
            writing.repair(moved.path, "order", "order", "results first")
        out += [_write_result(part, custom, writing) for part in results(step)]
        for turn in step:
            if others(turn) or not turn.parts:
                out += write_turn(turn, writing)
            else:
                writing.rest(turn)
    return out


def write_turn(turn: Turn, writing: Writing) -> list[JsonObject]:
    """The item of a turn that is not the assistant's, without its results."""
    own = others(turn)
    if len(own) == 1 and own[0].unit is not None and own[0].via == NAME and writing.home:
        return [own[0].unit]
    content: list[JsonObject] = []
    for part in own:
        if part.kind == "text" and not part.data:
            writing.repair(part.path, "text", "empty", "empty text")
            writing.part_rest(part)
        elif part.kind == "document_parts":
            writing.guess(part.path, "document", "as text", "the pieces of a document")
            content += [found for each in part.parts for found in write_part(each, writing)]
            writing.part_rest(part)
        else:
            content += write_part(part, writing)
    if not content:
        writing.repair(turn.path, "message", "empty", "an empty message")
        writing.rest(turn)
        return []
    bare = len(content) == 1 and content[0].keys() == {"type", "text"}
    item: JsonObject = {"type": MESSAGE, "role": turn.role, "content": content[0]["text"] if bare else content}
    writing.rest(turn, item)
    return [item]


def _write_result(part: Part, custom: set[str], writing: Writing) -> JsonObject:
    free = part.via == "custom" or writing.ids.of(part) in custom
    content = [found for each in part.parts for found in write_part(each, writing)]
    bare = len(content) == 1 and content[0].keys() == {"type", "text"}
    output = content[0]["text"] if bare else content or ""
    item: JsonObject = {"type": _ANSWERS[int(free)], "call_id": writing.id(part) or "", "output": output}
    if part.state is not None:
        writing.state(part)
    writing.part_rest(part, item, ("name",))
    return item


def _write_said(part: Part, writing: Writing, index: int) -> list[JsonObject]:
    """The items of what the assistant said, as a server takes them back."""
    kind = part.kind
    if kind in ("text", "refusal"):
        if not part.data:
            writing.repair(part.path, "text", "empty", "empty text")
            writing.part_rest(part)
            return []
        item: JsonObject = {"type": MESSAGE, "role": "assistant", "content": part.data}
        phase = phase_of(part.state) if part.state is not None and writing.knows(part) else None
        if phase is not None:
            item["phase"] = phase
        elif part.state is not None:
            writing.state(part)
        writing.part_rest(part, item if writing.home else None, user=False)
        return [item]
    if kind == "thinking":
        return _write_thinking(part, writing, index)
    if kind == "tool_call":
        item = write_call(part, writing)
        if part.state is not None:
            writing.state(part)
        writing.part_rest(part, item, ("name",))
        return [item]
    if part.via == NAME and part.unit is not None and writing.home:
        return [part.unit]
    key = "unit" if part.unit is not None else "part"
    writing.lost("content", part.path, kind, key, part.via or kind.replace("_", " "))
    return []


def write_call(part: Part, writing: Writing) -> JsonObject:
    """The item of a call."""
    id = writing.id(part) or ""
    if part.via == "custom":
        given = writing.arguments(part).get("input")
        return {"type": CUSTOM, "call_id": id, "name": writing.name(part.name), "input": given}
    arguments = jsontext.whole(part.data) if part.data.strip() else "{}"
    return {"type": CALL, "call_id": id, "name": writing.name(part.name), "arguments": arguments}


def _write_thinking(part: Part, writing: Writing, index: int) -> list[JsonObject]:
    if not (writing.knows(part) and is_sayable(part.state)):
        said = writing.stays_home(part)
        return [] if said is None else [{"type": MESSAGE, "role": "assistant", "content": said}]
    item = reasoning_item(part, index)
    writing.part_rest(part, item)
    return [item]


def reasoning_item(part: Part, index: int, sealed: str | None = None) -> JsonObject:
    """The item of thinking, with its own state, an envelope, or neither."""
    values: JsonObject = part.state.values if part.state is not None and sealed is None else {}
    id = values.get("reasoning_id")
    words = {"encrypted_content": sealed} if sealed is not None else state_words(part.state)
    spoken = [{"type": "summary_text", "text": part.data}] if part.data else []
    item: JsonObject = {"type": REASONING, "id": id if isinstance(id, str) else f"rs_ts_{index}", "summary": spoken}
    if spoken and words and values.get("channel") != SUMMARY and sealed is None:
        item["summary"], item["content"] = [], [{"type": "reasoning_text", "text": part.data}]
    return item | words
