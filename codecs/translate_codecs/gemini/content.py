"""Parts of Gemini's contents, read and written: for requests and whole answers alike.

Members are read in camel and in snake case, and written in camel case.
"""

from __future__ import annotations

import re
from typing import Any, Final

from translate.algebra.events import JsonObject, State
from translate.messages.capability import Reading, Writing
from translate.messages.media import described, media_of, plain_base64, text_of
from translate.messages.members import Members, wrong
from translate.messages.nodes import Part
from translate.messages.reasons import why
from translate.messages.sealing import marker, seal, sealed_part, settle

from .words import ISSUER, NAME, SERVERS, SIGNATURE, compact, signature_of

SKIPPED: Final = "skip_thought_signature_validator"
"""What a call has in place of a signature that nobody can give. It is nobody's state."""
_SNAKE: Final = re.compile(r"_([a-z])")
_PLAIN: Final = ("result", "output")
"""Members of a response that hold a text and nothing else."""


class Names(Members):
    """The members of an object in either spelling, by their names in camel case."""

    __slots__ = ("names",)

    def __init__(self, value: Any, path: str) -> None:
        super().__init__(value, path)
        self.names = {_SNAKE.sub(lambda found: found[1].upper(), key): key for key in self.left}
        self.left = {camel: self.left[key] for camel, key in self.names.items()}

    def at(self, key: str) -> str:
        return super().at(self.names.get(key, key))

    def rest(self, codec: str) -> dict[str, JsonObject] | None:
        self.left = {self.names.get(key, key): value for key, value in self.left.items()}
        return super().rest(codec)


def read_parts(content: Members, reading: Reading) -> list[Part]:
    """The parts of a content."""
    return settle([_read(part, reading) for part in content.entries("parts")], reading)


def _read(members: Members, reading: Reading) -> Part:
    signature = members.take("thoughtSignature", str)
    thought = members.take("thought", bool)
    path = members.path
    unit = dict(members.left)
    part = _part(members, thought=bool(thought), reading=reading)
    if part is None:
        kind = next((SERVERS[key] for key in unit if key in SERVERS), "foreign")
        whole = {**unit, **({"thoughtSignature": signature} if signature else {})}
        return Part(kind, via=NAME, unit=whole, path=path)  # type: ignore[arg-type]
    part.path = path
    if reading.is_sealed(signature):
        opened = reading.open(signature or "", path)
        if opened.get("l") and part.data in ("", *(entry.get("t") for entry in opened["l"] if isinstance(entry, dict))):
            # of a client that joins pieces, it stands for what they say
            return marker(opened, path)
        reading.unseal(part, opened)
    elif signature and signature != SKIPPED:
        part.state = State(ISSUER, {SIGNATURE: signature})
    part.residue = members.rest(NAME)
    return part


def _part(members: Members, *, thought: bool, reading: Reading) -> Part | None:
    if "text" in members.left:
        return Part("thinking" if thought else "text", members.take("text", str) or "")
    if (call := members.inner("functionCall")) is not None:
        given = compact(call.take("args", dict) or {})
        part = Part("tool_call", given, reading.id(call.take("id", str)) or None, call.must("name", str))
        members.put_back("functionCall", call)
        return part
    if (answer := members.inner("functionResponse")) is not None:
        return _result(members, answer, reading)
    if (data := members.inner("inlineData")) is not None:
        mime = data.take("mimeType", str) or "application/octet-stream"
        given = data.take("data", str) or ""
        # its own library writes the alphabet of URLs, which others refuse
        held = plain_base64(given)
        if held != given:
            reading.telling.repair(data.at("data"), "data", why("alphabet", reading.format))
        part = Part("inline_data", held, mime_type=mime, media=media_of(mime))
        part.name = data.take("displayName", str)
        members.put_back("inlineData", data)
        return part
    if (file := members.inner("fileData")) is not None:
        mime = file.take("mimeType", str) or ""
        uri = file.must("fileUri", str)
        stored = "generativelanguage.googleapis.com" in uri or uri.startswith("gs://") or "://" not in uri
        part = Part("linked_data", uri, mime_type=mime or None, media=media_of(mime) if mime else "file")
        part.via, part.name = "file" if stored else "url", file.take("displayName", str)
        if part.media == "file" and not stored:
            part.media = "document"
        members.put_back("fileData", file)
        return part
    return None


def _result(members: Members, answer: Members, reading: Reading) -> Part:
    part = Part("tool_result", id=reading.id(answer.take("id", str)) or None, name=answer.take("name", str))
    path = answer.at("response")
    response = answer.take("response", dict)
    if response is not None:
        member, value = next(iter(response.items())) if len(response) == 1 else ("", None)
        if isinstance(value, str) and member in (*_PLAIN, "error"):
            part.error = member == "error"
            part.parts = [Part("text", value, path=f"{path}.{member}")]
        else:
            part.parts = [Part("text", compact(response), path=path)]
    for each in answer.entries("parts"):
        part.parts.append(_read(each, reading))
    members.put_back("functionResponse", answer)
    return part


# ---- writing ---------------------------------------------------------------------------------------------


def write_part(part: Part, writing: Writing, *, user: bool) -> list[JsonObject]:
    """The part of a part that is no result; none where there are no words for it, which is told."""
    kind = part.kind
    if part.unit is not None:
        if part.via == NAME and (writing.home or writing.client):
            return [part.unit]
        writing.lost("content", part.path, kind, "unit", part.via or "its own format")
        return _whole(part, writing)
    if kind == "document_parts":
        writing.guess(part.path, "document", "as text", "the pieces of a document")
        writing.part_rest(part)
        return [said for each in part.parts for said in write_part(each, writing, user=user)]
    said: JsonObject | None
    if kind == "thinking":
        return _write_thinking(part, writing)
    if kind in ("text", "refusal"):
        if not part.data and part.state is None:
            if not writing.home:
                writing.repair(part.path, "text", "empty", "empty text")
            writing.part_rest(part, user=user)
            return []
        said = {"text": part.data}
    elif kind == "tool_call":
        said = {"functionCall": _call(part, writing)}
    else:
        said = write_media(part, writing)
    if said is None:
        writing.lost("content", part.path, kind, "file" if part.via == "file" else "part", described(part))
        return _whole(part, writing)
    writing.part_rest(part, said, ("name",) if kind == "tool_call" or _names(said) else (), user=user)
    return [said | _signature(part, writing)]


def _names(said: JsonObject) -> bool:
    return any(isinstance(value, dict) and "displayName" in value for value in said.values())


def _call(part: Part, writing: Writing) -> JsonObject:
    said: JsonObject = {"name": writing.name(part.name), "args": writing.arguments(part)}
    id = writing.id(part)
    return said if id is None else {"id": id, **said}


def _signature(part: Part, writing: Writing) -> JsonObject:
    """The signature of a part: its own state, or for a client the envelope of another's."""
    state = part.state
    if state is None:
        return {}
    own = signature_of(state, None, home=True) if state.namespace == ISSUER else None
    if writing.client and own is None:
        if writing.seal != "off":
            return {"thoughtSignature": seal(part, writing)}
        writing.lost("state", part.state_path or part.path, "state", "state")
        return {}
    if not writing.client:
        known = writing.state(part)
        own = signature_of(known, None, home=True) if known is not None else None
    return {} if own is None else {"thoughtSignature": own}


def _write_thinking(part: Part, writing: Writing) -> list[JsonObject]:
    if not writing.client and not (writing.knows(part) or (part.state is None and writing.home)):
        text = writing.stays_home(part)
        return [] if text is None else [{"text": text}]
    said: JsonObject = {"text": part.data, "thought": True}
    writing.part_rest(part, said)
    return [said | _signature(part, writing)]


def _whole(part: Part, writing: Writing) -> list[JsonObject]:
    if writing.client and writing.seal != "off":
        return [{"text": "", "thought": True, "thoughtSignature": sealed_part(part, writing)}]
    return []


def write_media(part: Part, writing: Writing) -> JsonObject | None:
    """The part of data or a link."""
    if part.kind == "inline_data":
        if part.via == "text":
            writing.guess(part.path, "inline_data", "as text", "a document")
            return {"text": text_of(part)}
        mime = part.mime_type or "application/octet-stream"
        named = {"displayName": part.name} if part.name else {}
        return {"inlineData": {"mimeType": mime, "data": part.data, **named}}
    if part.kind != "linked_data" or (part.via == "file" and not writing.home):
        return None
    mime = {"mimeType": part.mime_type} if part.mime_type else {}  # type: ignore[assignment]
    return {"fileData": {"fileUri": part.data, **mime}}  # type: ignore[dict-item]


def write_result(part: Part, name: str | None, writing: Writing) -> JsonObject:
    """The part of what a tool answered; ``name``: of the tool."""
    texts, beside = list[str](), list[JsonObject]()
    for each in part.parts:
        said = text_of(each) if each.kind == "inline_data" and each.via == "text" else None
        if each.kind in ("text", "refusal") or said is not None:
            texts.append(each.data if said is None else said)
            writing.part_rest(each, None, ("name",) if said is None else ())
        else:
            beside += write_part(each, writing, user=True)
    response: JsonObject = {"error" if part.error else "result": "\n".join(texts)}
    answer: JsonObject = {"name": writing.name(name or part.name or part.id or "tool"), "response": response}
    if (id := writing.id(part)) is not None:
        answer = {"id": id, **answer}
    if beside:
        answer["parts"] = beside
    out: JsonObject = {"functionResponse": answer}
    writing.part_rest(part, out, ("name", "error"))
    return out | (_signature(part, writing))


def content_of(value: Any, path: str) -> Names:
    """The members of a content; a bare text is one of one part."""
    if isinstance(value, str):
        return Names({"parts": [{"text": value}]}, path)
    if not isinstance(value, dict):
        raise wrong(path, "it is of another type", "an object")
    return Names(value, path)
