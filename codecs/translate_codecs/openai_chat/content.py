"""Content parts of Chat messages, read and written."""

from __future__ import annotations

from typing import Any, Final

from translate.algebra.events import JsonObject
from translate.messages.capability import Reading, Writing
from translate.messages.media import data_url, described, filename, from_url, text_of
from translate.messages.members import Members, wrong
from translate.messages.nodes import Part

from .words import NAME

_AUDIO: Final = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_SOUNDS: Final = {
    **dict.fromkeys(("audio/wav", "audio/x-wav", "audio/wave"), "wav"),
    **dict.fromkeys(("audio/mpeg", "audio/mp3"), "mp3"),
}
_LINKS: Final = {"image_url": "image", "video_url": "video", "audio_url": "audio", "document_url": "document"}
"""Type of a part that holds a URL, of this format or its dialects → media."""


def read_content(value: Any, path: str, reading: Reading) -> list[Part]:
    """The parts of a content: text, a list of parts, or nothing."""
    if value is None:
        return []
    if isinstance(value, str):
        return [Part("text", value, path=path)]
    if not isinstance(value, list):
        raise wrong(path, "the content is of another type", "text or a list of parts")
    return [part for i, each in enumerate(value) for part in _read(Members(each, f"{path}[{i}]"), reading)]


def _read(members: Members, reading: Reading) -> list[Part]:
    type = members.must("type", str)
    unit = {"type": type, **members.left}
    if type == "thinking":
        # Mistral's: a list of texts
        inner = read_content(members.take("thinking"), members.at("thinking"), reading)
        members.left.pop("closed", None)
        return [Part("thinking", "".join(part.data for part in inner), residue=members.rest(NAME), path=members.path)]
    part = _part(type, members)
    if part is None:
        return [Part("foreign", via=NAME, unit=unit, path=members.path)]
    part.cache = members.take("cache_control", dict)
    part.path = members.path
    part.residue = members.rest(NAME)
    return [part]


def _part(type: str, members: Members) -> Part | None:
    if type == "text":
        return Part("text", members.must("text", str))
    if type == "refusal":
        return Part("refusal", members.must("refusal", str))
    if type in _LINKS:
        return _link(type, members)
    if type == "input_audio":
        audio = members.inner("input_audio")
        if audio is None or type_of(audio, "data") is not str:
            raise wrong(members.at("input_audio"), "it holds no data", "base64 text")
        format = str(audio.take("format") or "")
        data = audio.must("data", str)
        mime = _AUDIO.get(format, f"audio/{format or 'unknown'}")
        members.put_back("input_audio", audio)
        return Part("inline_data", data, mime_type=mime, media="audio")
    return _file(members) if type == "file" else None


def type_of(members: Members, key: str) -> type:
    """The type of a member that was not taken."""
    return type(members.left.get(key))


def _link(type: str, members: Members) -> Part:
    if type_of(members, type) is str:
        url = members.must(type, str)
    else:
        link = members.inner(type)
        if link is None:
            raise wrong(members.at(type), "it is missing", "an object")
        url = link.must("url", str)
        members.put_back(type, link)
    return from_url(url, _LINKS[type], members.path)  # type: ignore[arg-type]


def _file(members: Members) -> Part | None:
    file = members.inner("file")
    if file is None:
        return None
    data, id = file.maybe("file_data", str), file.maybe("file_id", str)
    name = file.take("filename", str)
    if data is not None:
        part = from_url(data, "file", members.path)
        if part.kind == "linked_data":
            part.media = "document"
            if not data.lower().startswith(("http://", "https://")):
                # bare base64, whose type only the name tells
                part = Part("inline_data", data, mime_type=_type_by_name(name), media="file")
    elif id is not None:
        part = Part("linked_data", id, via="file", media="file")
    else:
        members.left["file"] = {**file.left, **({} if name is None else {"filename": name})}
        return None
    part.name = name
    members.put_back("file", file)
    return part


def _type_by_name(name: str | None) -> str:
    return "application/pdf" if (name or "").lower().endswith(".pdf") else "application/octet-stream"


# ---- writing ---------------------------------------------------------------------------------------------


def write_part(part: Part, writing: Writing, *, role: str) -> list[JsonObject]:
    """The content part of a part; none where there are no words for it, which is told."""
    found = _write(part, writing, role)
    if found is None:
        return []
    writing.part_rest(part, found, ("name",) if found["type"] == "file" else (), user=role != "assistant")
    if part.state is not None:
        writing.state(part)
    return [found]


def _write(part: Part, writing: Writing, role: str) -> JsonObject | None:
    kind, media = part.kind, part.media
    if kind == "text":
        return {"type": "text", "text": part.data}
    if kind == "refusal":
        type = "refusal" if role == "assistant" else "text"
        return {"type": type, type: part.data}
    if part.unit is not None and part.via == NAME and writing.home:
        return part.unit
    if part.unit is not None:
        writing.lost("content", part.path, kind, "unit", part.via or "its own format")
        return None
    said: JsonObject | None = None
    if kind == "inline_data" and role == "user":
        said = _write_data(part, writing)
    elif kind == "inline_data" and (text := text_of(part)) is not None:
        writing.guess(part.path, kind, "as text", "a document")
        said = {"type": "text", "text": text}
    elif kind == "linked_data" and role == "user":
        if part.via == "url" and media == "image":
            said = {"type": "image_url", "image_url": {"url": part.data}}
        elif part.via == "file" and writing.home and writing.profile.file_ids:
            said = {"type": "file", "file": {"file_id": part.data, **_named(part)}}
        elif part.via == "url" and writing.home and media == "document":
            said = {"type": "file", "file": {"file_data": part.data, **_named(part)}}
    if said is None:
        key = "file" if part.via == "file" else "part"
        writing.lost("content", part.path, kind, key, described(part))
    return said


def _write_data(part: Part, writing: Writing) -> JsonObject | None:
    mime = (part.mime_type or "").lower()
    if part.via == "text":
        writing.guess(part.path, "inline_data", "as text", "a document")
        return {"type": "text", "text": part.data}
    if part.media == "image":
        return {"type": "image_url", "image_url": {"url": data_url(part)}}
    if part.media == "audio":
        if mime not in _SOUNDS:
            return None
        return {"type": "input_audio", "input_audio": {"data": part.data, "format": _SOUNDS[mime]}}
    if part.media == "video":
        return None
    return {"type": "file", "file": {"filename": filename(part), "file_data": data_url(part)}}


def _named(part: Part) -> JsonObject:
    return {"filename": part.name} if part.name else {}
