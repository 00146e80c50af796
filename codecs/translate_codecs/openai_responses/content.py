"""Content parts of Responses, read and written: of messages and of what tools answer."""

from __future__ import annotations

from typing import Any, Final

from translate.algebra.events import JsonObject
from translate.messages.capability import Reading, Writing
from translate.messages.media import data_url, described, filename, from_url, text_of
from translate.messages.members import Members, wrong
from translate.messages.nodes import Annotation, Part

from .words import ISSUER, NAME

_TEXTS: Final = ("input_text", "output_text", "text", "summary_text", "reasoning_text")


def read_content(value: Any, path: str, reading: Reading) -> list[Part]:
    """The parts of a content: text, a list of parts, or nothing."""
    if value is None:
        return []
    if isinstance(value, str):
        return [Part("text", value, path=path)]
    if not isinstance(value, list):
        raise wrong(path, "the content is of another type", "text or a list of parts")
    return [_read(Members(each, f"{path}[{i}]")) for i, each in enumerate(value)]


def _read(members: Members) -> Part:
    type = members.must("type", str)
    unit = {"type": type, **members.left}
    part = _part(type, members)
    if part is None:
        return Part("foreign", via=NAME, unit=unit, path=members.path)
    part.path = members.path
    part.residue = members.rest(NAME)
    return part


def _part(type: str, members: Members) -> Part | None:
    if type in _TEXTS:
        part = Part("text", members.must("text", str))
        part.annotations = [Annotation(ISSUER, each) for each in members.take("annotations", list) or ()]
        if not members.left.get("logprobs"):
            members.left.pop("logprobs", None)
        return part
    if type == "refusal":
        return Part("refusal", members.must("refusal", str))
    if type == "input_image":
        if (url := members.maybe("image_url", str)) is not None:
            return from_url(url, "image", members.path)
        id = members.maybe("file_id", str)
        return None if id is None else Part("linked_data", id, via="file", media="image")
    return _file(members) if type == "input_file" else None


def _file(members: Members) -> Part | None:
    data, url = members.maybe("file_data", str), members.maybe("file_url", str)
    id, name = (members.maybe(key, str) for key in ("file_id", "filename"))
    if data is not None:
        part = from_url(data, "file", members.path)
        if part.kind == "linked_data" and not data.lower().startswith(("http://", "https://")):
            part = Part("inline_data", data, mime_type="application/octet-stream", media="file")
        elif part.kind == "linked_data":
            part.media = "document"
    elif url is not None:
        part = Part("linked_data", url, via="url", media="document")
    elif id is not None:
        part = Part("linked_data", id, via="file", media="file")
    else:
        return None
    part.name = name
    return part


# ---- writing ---------------------------------------------------------------------------------------------


def write_part(part: Part, writing: Writing, *, user: bool = True) -> list[JsonObject]:
    """The content part of an input; none where there are no words for it, which is told."""
    found = _write(part, writing)
    if found is None:
        return []
    writing.part_rest(part, found, ("name",) if found.get("type") == "input_file" else (), user=user)
    if part.state is not None:
        writing.state(part)
    return [found]


def _write(part: Part, writing: Writing) -> JsonObject | None:
    kind, data = part.kind, part.data
    if kind in ("text", "refusal"):
        return {"type": "input_text", "text": data}
    if part.unit is not None:
        if part.via == NAME and writing.home:
            return part.unit
        writing.lost("content", part.path, kind, "unit", part.via or "its own format")
        return None
    said: JsonObject | None = None
    if kind == "inline_data":
        said = _write_data(part, writing)
    elif kind == "linked_data" and part.via == "file":
        if writing.home and writing.profile.file_ids:
            said = {"type": "input_image" if part.media == "image" else "input_file", "file_id": data}
    elif kind == "linked_data" and part.media == "image":
        said = {"type": "input_image", "image_url": data, "detail": "auto"}
    elif kind == "linked_data" and part.media in ("document", "file"):
        said = {"type": "input_file", "file_url": data, **({"filename": part.name} if part.name else {})}
    if said is None:
        writing.lost("content", part.path, kind, "file" if part.via == "file" else "part", described(part))
    return said


def _write_data(part: Part, writing: Writing) -> JsonObject | None:
    if part.via == "text":
        writing.guess(part.path, "inline_data", "as text", "a document")
        return {"type": "input_text", "text": text_of(part)}
    if part.media == "image":
        return {"type": "input_image", "image_url": data_url(part), "detail": "auto"}
    if part.media in ("audio", "video"):
        return None
    return {"type": "input_file", "filename": filename(part), "file_data": data_url(part)}
