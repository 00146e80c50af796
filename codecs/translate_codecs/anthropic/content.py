"""Content blocks as parts, and parts as blocks: for requests and whole answers alike."""

from __future__ import annotations

import re
from typing import Any, Final

from translate.algebra.events import JsonObject
from translate.messages.capability import Reading, Writing
from translate.messages.media import PDF, described, media_of, text_of
from translate.messages.members import Members, wrong
from translate.messages.nodes import Annotation, Part
from translate.messages.sealing import marker, seal, sealed_part, settle

from .words import NAME, REDACTED, RESULT, is_sayable, state_of

IDS: Final = re.compile("[A-Za-z0-9_-]+")
_IMAGES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
_SERVER_CALLS: Final = ("server_tool_use", "mcp_tool_use")


# ---- reading ---------------------------------------------------------------------------------------------


def read_content(value: Any, path: str, reading: Reading) -> list[Part]:
    """The parts of a content: text, or a list of blocks."""
    if isinstance(value, str):
        return [Part("text", value, path=path)]
    if not isinstance(value, list):
        raise wrong(path, "the content is of another type", "text or a list of blocks")
    parts = [read_block(Members(block, f"{path}[{i}]"), reading) for i, block in enumerate(value)]
    return settle(parts, reading)


def read_block(block: Members, reading: Reading) -> Part:
    """The part that a block is."""
    type = block.must("type", str)
    unit = block.left
    part = _read(type, block, reading)
    if part is None:
        return Part(_kind(type), via=NAME, unit={"type": type, **unit}, path=block.path)
    part.cache = block.take("cache_control", dict)
    part.residue = block.rest(NAME)
    return part


def _kind(type: str) -> Any:
    if type in _SERVER_CALLS:
        return "server_tool_call"
    return "server_tool_result" if type.endswith(RESULT) else "foreign"


def _read(type: str, block: Members, reading: Reading) -> Part | None:
    path = block.path
    if type == "text":
        part = Part("text", block.must("text", str), path=path)
        part.annotations = [Annotation(NAME, each) for each in block.take("citations", list) or ()]
        return part
    if type == "thinking":
        return _thinking(block, reading)
    if type == "redacted_thinking":
        data = block.must("data", str)
        if reading.is_sealed(data):
            return marker(reading.open(data, path), path)
        return Part("thinking", REDACTED, state=state_of(data), path=path)
    if type == "tool_use":
        arguments = block.take("input", dict) or {}
        id, name = block.must("id", str), block.must("name", str)
        text = reading.text(arguments)
        caller = block.left.get("caller")
        if caller == {"type": "direct"}:
            del block.left["caller"]
        return Part("tool_call", text, reading.id(id), name, path=path)
    if type == "tool_result":
        part = Part("tool_result", id=reading.id(block.must("tool_use_id", str)), path=path)
        part.error = bool(block.take("is_error", bool))
        content = block.take("content")
        part.parts = read_content(content, block.at("content"), reading) if content is not None else []
        return part
    return _media(type, block, reading) if type in ("image", "document") else None


def _thinking(block: Members, reading: Reading) -> Part:
    part = Part("thinking", block.take("thinking", str) or "", path=block.path)
    signature = block.take("signature", str)
    if reading.is_sealed(signature):
        members = reading.open(signature or "", block.path)
        if not part.data and (members.get("b") or members.get("l")):
            return marker(members, block.path)
        reading.unseal(part, members)
    elif signature:
        part.state = state_of(signature)
    return part


def _media(type: str, block: Members, reading: Reading) -> Part | None:
    source = block.left.get("source")
    if not isinstance(source, dict):
        raise wrong(block.at("source"), "the source is no object", "an object")
    how, media = source.get("type"), "image" if type == "image" else None
    part: Part | None = None
    if how in ("base64", "text") and isinstance(source.get("data"), str):
        mime = str(source.get("media_type") or "text/plain")
        part = Part("inline_data", source["data"], mime_type=mime, media=media or media_of(mime))  # type: ignore[arg-type]
        part.via = "text" if how == "text" else None
    elif how in ("url", "file") and isinstance(source.get(how if how == "url" else "file_id"), str):
        part = Part("linked_data", source[how if how == "url" else "file_id"], via=how, media=media or "document")  # type: ignore[arg-type]
    elif how == "content" and isinstance(source.get("content"), (str, list)):
        part = Part("document_parts")
        part.parts = read_content(source["content"], f"{block.path}.source.content", reading)
    if part is None:
        return None
    used = {"type", "media_type", "data", "url", "content"} | ({"file_id"} if how == "file" else set())
    left = {key: value for key, value in source.items() if key not in used}
    block.left.pop("source")
    if left:
        block.left["source"] = left
    part.name = block.take("title", str)
    part.path = block.path
    return part


# ---- writing ---------------------------------------------------------------------------------------------


def write_part(part: Part, writing: Writing, *, user: bool) -> list[JsonObject]:
    """The blocks of a part that is no result; none where there are no words for it, which is told."""
    kind = part.kind
    if kind in ("text", "refusal"):
        block = _text(part, writing)
    elif kind == "thinking":
        return _write_thinking(part, writing)
    elif kind == "tool_call":
        block = _call(part, writing)
    elif part.unit is not None:
        if part.via == NAME and (writing.home or writing.client):
            return [part.unit]
        writing.lost("content", part.path, kind, "unit", part.via or "its own format")
        return _whole(part, writing)
    elif kind == "document_parts":
        content = [block for each in part.parts for block in write_part(each, writing, user=user)]
        block = {"type": "document", "source": {"type": "content", "content": content}, **_title(part)}
    else:
        found = None if writing.client else _write_media(part, writing)
        if found is None:
            writing.lost("content", part.path, kind, "part", described(part))
            return _whole(part, writing)
        block = found
    if part.cache and not writing.client:
        block["cache_control"] = part.cache
    writing.part_rest(part, block, ("cache", "annotations", "name"), user=user)
    return _beside(part, block, writing)


def _text(part: Part, writing: Writing) -> JsonObject:
    block: JsonObject = {"type": "text", "text": part.data}
    own = [each.data for each in part.annotations if each.namespace == NAME]
    if own:
        block["citations"] = own
    writing.uncited(part, NAME)
    return block


def _call(part: Part, writing: Writing) -> JsonObject:
    id = writing.id(part) or ""
    return {"type": "tool_use", "id": id, "name": writing.name(part.name), "input": writing.arguments(part)}


def _beside(part: Part, block: JsonObject, writing: Writing) -> list[JsonObject]:
    """A block, and for a client the envelope of its state: before a call, after any other part."""
    if part.state is None:
        return [block]
    if not writing.client:
        writing.state(part)
        return [block]
    if writing.seal == "off":
        writing.lost("state", part.path, "state", "state")
        return [block]
    call = part.kind == "tool_call"
    own = {"type": "thinking", "thinking": "", "signature": seal(part, writing, neighbour="next" if call else "prev")}
    return [own, block] if call else [block, own]


def _write_thinking(part: Part, writing: Writing) -> list[JsonObject]:
    state = part.state
    if writing.client:
        own = state is not None and is_sayable(state, None) and state.namespace == NAME
        signature = str(state.values["signature"]) if own and state is not None else ""
        if not own and writing.seal != "off":
            signature = seal(part, writing)
        elif state is not None and not own:
            writing.lost("state", part.path, "state", "state")
        redacted = own and part.data == REDACTED
    else:
        if not writing.knows(part) or state is None or not isinstance(state.values.get("signature"), str):
            said = writing.stays_home(part)
            return [] if said is None else [{"type": "text", "text": said}]
        signature, redacted = state.values["signature"], part.data == REDACTED
    if redacted:
        block: JsonObject = {"type": "redacted_thinking", "data": signature}
    else:
        block = {"type": "thinking", "thinking": part.data, "signature": signature}
    writing.part_rest(part, block)
    return [block]


def _whole(part: Part, writing: Writing) -> list[JsonObject]:
    if writing.client and writing.seal != "off":
        return [{"type": "redacted_thinking", "data": sealed_part(part, writing)}]
    return []


def _title(part: Part) -> JsonObject:
    return {"title": part.name} if part.name else {}


def _write_media(part: Part, writing: Writing) -> JsonObject | None:
    data, mime = part.data, (part.mime_type or "").lower()
    if part.kind == "linked_data":
        if part.via == "file" and not (writing.home and writing.profile.file_ids):
            return None
        source = {"type": "file", "file_id": data} if part.via == "file" else {"type": "url", "url": data}
        if part.media == "image":
            return {"type": "image", "source": source}
        return {"type": "document", "source": source, **_title(part)} if part.media in ("document", "file") else None
    if part.kind != "inline_data":
        return None
    if mime in _IMAGES and part.via is None:
        return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}}
    if mime == PDF:
        return {"type": "document", "source": {"type": "base64", "media_type": PDF, "data": data}, **_title(part)}
    text = text_of(part)
    if text is None:
        return None
    if part.via != "text":
        writing.guess(part.path, "inline_data", "decoded")
        writing.lost("incidental", part.path, "mime_type", "member")
    return {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}, **_title(part)}


