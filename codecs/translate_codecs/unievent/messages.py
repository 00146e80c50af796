"""UniMessages as turns, and turns as UniMessages: items, states and results.

1. A message has the role ``user`` or ``assistant``. Instructions within the conversation are text in ``<system>``.
2. A state is the ``fidelity`` of its item: its values, ``issuer`` and, of thinking, a ``digest`` of the text.
3. Images are ``image_url``, with the bytes in a data URL; what the assistant made is ``inline_data``.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final

from translate.algebra.events import JsonObject, State
from translate.algebra.states import is_hint
from translate.messages.capability import Reading, Writing
from translate.messages.envelope import digest
from translate.messages.media import data_url, described, from_url, media_of, text_of
from translate.messages.members import Members, wrong
from translate.messages.nodes import Part, Turn
from translate.messages.reasons import why
from translate.messages.sealing import part_of, state_members
from translate.messages.steps import is_reordered, others, results, steps

from .words import NAME

_DONE: Final = ".done"
_DATA: Final = ("inline_data", "inline_thinking")
ROLES: Final = ("user", "assistant")


# ---- reading ---------------------------------------------------------------------------------------------


def read_turn(message: Members, reading: Reading) -> Turn:
    """The turn that a message is."""
    role = message.must("role", str)
    if role not in ROLES:
        raise wrong(message.at("role"), f"found {role!r}", "user or assistant")
    turn = Turn(role, read_items(message, reading), path=message.path)  # type: ignore[arg-type]
    turn.residue = message.rest(NAME)
    return turn


def read_items(message: Members, reading: Reading) -> list[Part]:
    """The parts of a message."""
    parts: list[Part] = []
    for item in message.entries("content_items"):
        parts += _read(item, reading)
    return parts


def _read(item: Members, reading: Reading) -> list[Part]:
    type = item.must("type", str)
    unit = {"type": type, **item.left}
    part = _part(type.removesuffix(_DONE), item, reading)
    if part is None:
        return [Part("foreign", via=NAME, unit=unit, path=item.path)]
    part.path = item.path
    values = item.take("fidelity", dict)
    if values:
        values = dict(values)
        whole = values.pop("whole", None)
        if whole is not None and (found := part_of(whole, item.path)) is not None:
            return [found]
        issuer, known = values.pop("issuer", None), values.pop("digest", None)
        if known is not None and known != digest(part.data):
            reading.telling.lost("state", f"{item.path}.fidelity", "state", why("changed", NAME))
        elif values:
            part.state = State(issuer if isinstance(issuer, str) else None, values)
    part.residue = item.rest(NAME)
    return [part]


def _part(kind: str, item: Members, reading: Reading) -> Part | None:
    if kind == "text":
        return Part("text", item.must("text", str))
    if kind == "thinking":
        return Part("thinking", item.must("thinking", str))
    if kind == "image_url":
        return from_url(item.must("image_url", str), "image", item.path)
    if kind in _DATA:
        data = item.take("data")
        text = b64encode(data).decode("ascii") if isinstance(data, (bytes, bytearray)) else data
        if not isinstance(text, str):
            raise wrong(item.at("data"), "it is of another type", "base64 text or bytes")
        mime = item.must("mime_type", str)
        return Part(kind, text, mime_type=mime, media=media_of(mime))  # type: ignore[arg-type]
    if kind == "tool_call":
        given = item.take("arguments")
        text = given if isinstance(given, str) else reading.text(given if given is not None else {})
        return Part("tool_call", text, reading.id(item.must("tool_call_id", str)) or None, item.must("name", str))
    if kind == "tool_result":
        part = Part("tool_result", id=reading.id(item.must("tool_call_id", str)) or None)
        text = item.take("text", str)
        part.parts = [Part("text", text, path=item.at("text"))] if text is not None else []
        for i, url in enumerate(item.take("images", list) or ()):
            path = f"{item.at('images')}[{i}]"
            if not isinstance(url, str):
                raise wrong(path, "it is no text", "a URL")
            part.parts.append(from_url(url, "image", path))
            part.parts[-1].path = path
        return part
    return None


# ---- writing ---------------------------------------------------------------------------------------------


def write_messages(body: list[Turn], writing: Writing) -> list[JsonObject]:
    """The messages of a conversation."""
    out: list[JsonObject] = []
    for step in steps(body):
        if isinstance(step, Turn):
            items = [item for part in step.parts for item in write_item(part, writing, user=False)]
            _add(out, "assistant", items, step, writing)
            continue
        if (moved := is_reordered(step)) is not None and not writing.home:
            writing.repair(moved.path, "order", "order", "results first")
        found = [_result(part, writing) for part in results(step)]
        for turn in step:
            items = [item for part in others(turn) for item in write_item(part, writing, user=True)]
            if turn.role != "user":
                writing.repair(turn.path, "role", "as text", "in <system> tags")
                items = [_instruction(item) for item in items]
            if found and turn.role == "user":
                items, found = found + items, []
            if items or not turn.parts or others(turn):
                _add(out, "user", items, turn, writing)
            else:
                writing.rest(turn)
    return out


def _instruction(item: JsonObject) -> JsonObject:
    return {**item, "text": f"<system>{item['text']}</system>"} if "text" in item else item


def _add(out: list[JsonObject], role: str, items: list[JsonObject], turn: Turn, writing: Writing) -> None:
    if not items:
        writing.rest(turn)
        if not writing.home:
            writing.repair(turn.path, "message", "empty", "an empty message")
        return
    message: JsonObject = {"role": role, "content_items": items}
    writing.rest(turn, message)
    out.append(message)


def write_item(part: Part, writing: Writing, *, user: bool) -> list[JsonObject]:
    """The items of a part that is no result; none where there are no words for it, which is told."""
    kind = part.kind
    if part.unit is not None and part.via == NAME and (writing.home or writing.client):
        return [part.unit]
    if kind == "document_parts":
        writing.guess(part.path, "document", "as text", "the pieces of a document")
        writing.part_rest(part)
        return [item for each in part.parts for item in write_item(each, writing, user=user)]
    item = _item(part, writing, user=user)
    if item is None:
        key = "unit" if part.unit is not None else "file" if part.via == "file" else "part"
        what = described(part) if key != "unit" else str(part.via)
        writing.lost("content", part.path, kind, key, what)
        return _whole(part, writing)
    if kind in ("text", "refusal") and not part.data and part.state is None and not writing.home:
        writing.repair(part.path, "text", "empty", "empty text")
        writing.part_rest(part, user=user)
        return []
    if (values := fidelity(part, writing)) and "image_url" not in item:
        item["fidelity"] = values
    writing.part_rest(part, item, ("name",) if kind == "tool_call" else (), user=user)
    return [item]


def fidelity(part: Part, writing: Writing) -> JsonObject:
    """What the state of a part is said as."""
    state = part.state
    if state is None:
        return {}
    if writing.client and writing.seal == "off":
        return dict(state.values)
    return held(part).values


def held(part: Part) -> State:
    """The state of a part as a client of this format keeps it: with who issued it, and of which thinking."""
    state = part.state or State(None, {})
    issuer = {"issuer": state.namespace} if state.namespace else {}
    known = {"digest": digest(part.data)} if part.kind == "thinking" and not is_hint(state) else {}
    return State(None, {**state.values, **issuer, **known})


def _item(part: Part, writing: Writing, *, user: bool) -> JsonObject | None:
    kind, data = part.kind, part.data
    if kind in ("text", "refusal"):
        return {"type": "text.done", "text": data}
    if kind == "thinking":
        return {"type": "thinking.done", "thinking": data}
    if kind == "tool_call":
        id, name = writing.id(part) or "", writing.name(part.name)
        return {"type": "tool_call.done", "name": name, "arguments": writing.arguments(part), "tool_call_id": id}
    if kind == "linked_data" and part.via == "url" and part.media == "image":
        return {"type": "image_url.done", "image_url": data}
    if kind == "inline_data" and part.via == "text":
        writing.guess(part.path, kind, "as text", "a document")
        return {"type": "text.done", "text": text_of(part)}
    if kind == "inline_data" and part.media == "image" and user:
        return {"type": "image_url.done", "image_url": data_url(part)}
    if kind in _DATA:
        mime = part.mime_type or "application/octet-stream"
        return {"type": f"{kind}.done", "data": data, "mime_type": mime}
    return None


def _whole(part: Part, writing: Writing) -> list[JsonObject]:
    if not writing.client or writing.seal == "off":
        return []
    whole: dict[str, Any] = {"k": part.kind, **state_members(part, writing)}
    whole |= {"u": {"codec": part.via, "unit": part.unit}} if part.unit is not None else {"t": part.data}
    whole = {key: value for key, value in whole.items() if value is not None}
    return [{"type": "thinking.done", "thinking": "", "fidelity": {"whole": whole}}]


def _result(part: Part, writing: Writing) -> JsonObject:
    texts, images = list[str](), list[str]()
    for each in part.parts:
        if each.kind in ("text", "refusal"):
            texts.append(each.data)
        elif each.kind == "inline_data" and each.media == "image":
            images.append(data_url(each))
        elif each.kind == "linked_data" and each.media == "image" and each.via == "url":
            images.append(each.data)
        elif each.via == "text":
            writing.guess(each.path, each.kind, "as text", "a document")
            texts.append(each.data)
        else:
            key = "unit" if each.unit is not None else "part"
            writing.lost("content", each.path, each.kind, key, described(each) if key == "part" else str(each.via))
            continue
        writing.part_rest(each)
    item: JsonObject = {"type": "tool_result.done", "text": "\n".join(texts), "tool_call_id": writing.id(part) or ""}
    if images:
        item["images"] = images
    if part.state is not None:
        writing.lost("state", part.path, "state", "state")
    writing.part_rest(part, item, ("name",))
    return item
