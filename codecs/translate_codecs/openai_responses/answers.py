"""Whole answers of OpenAI Responses."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from translate.algebra.events import JsonObject, Model
from translate.algebra.failures import reported
from translate.messages.answers import told_reason
from translate.messages.capability import Answers, Reading, Writing
from translate.messages.members import Members, wrong
from translate.messages.nodes import Answer, Part
from translate.messages.places import Places
from translate.messages.sealing import seal, sealed_part, settle
from translate.messages.telling import LossClass

from .conversation import read_item, reasoning_item, write_call
from .items import text_part, whole_item
from .words import (
    CALL,
    CUSTOM,
    IMAGE,
    ISSUER,
    MESSAGE,
    NAME,
    is_sayable,
    kind_of_item,
    phase_of,
    read_error,
    read_reason,
    read_usage,
    reason_words,
    says_state,
    usage_words,
)

_SILENT: Final = ("object", "error", "incomplete_details", "status")
_ECHOED: Final[JsonObject] = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}


class ResponsesAnswers(Answers):
    """The whole answers of OpenAI Responses."""

    classes: ClassVar[Mapping[str, LossClass]] = {}
    places = Places("beside", ISSUER, "encrypted_content", id="rs_ts_", says=says_state)

    def decode(self, document: JsonObject, reading: Reading) -> Answer:
        if isinstance(document.get("error"), dict):
            raise reported(read_error(document["error"]))
        members = Members(document, "")
        answer = Answer(members.take("id", str), Model(members.take("model", str)), source=NAME)
        answer.created = members.take("created_at", float)
        status = str(document.get("status") or "completed")
        if not isinstance(document.get("output"), list):
            raise wrong("", "lacks the member 'output'", "a list of items")
        found = (part for item in members.entries("output") for part in read_item(item, reading))
        answer.parts = settle([*found], reading)
        answer.reason = read_reason(status, document)
        if answer.reason.word == "stop" and any(part.kind == "refusal" for part in answer.parts):
            answer.reason.word = "refusal"
        answer.usage = read_usage(members.take("usage", dict))
        for key in _SILENT:
            members.left.pop(key, None)
        for key, value in _ECHOED.items():
            if members.left.get(key) == value:
                del members.left[key]
        answer.residue = members.rest(NAME)
        return answer

    def encode(self, answer: Answer, writing: Writing) -> JsonObject:
        output: list[JsonObject] = []
        for part in answer.parts:
            output += _write(part, writing, len(output))
        said = reason_words(answer.reason, home=writing.home)
        details = said.get("incomplete_details") or {}
        told_reason(answer.reason, str(details.get("reason") or said["status"]), None, writing)
        out: JsonObject = {
            "id": answer.id or "resp_unknown",
            "object": "response",
            "created_at": answer.created or 0,
            "model": answer.model.name or "unknown",
            "status": said["status"],
            "error": None,
            "incomplete_details": said.get("incomplete_details"),
            "output": output,
            **_ECHOED,
        }
        for name, known in (("id", answer.id), ("created_at", answer.created)):
            if known is None:
                writing.guess("", name, "default", str(out[name]))
        if answer.stop_sequence is not None:
            writing.lost("incidental", "stop_sequence", "stop_sequence", "member")
        if (usage := usage_words(answer.usage)) is not None:
            # whole answers must have this count, too
            usage["input_tokens_details"].setdefault("cache_write_tokens", 0)
            out["usage"] = usage
        writing.rest(answer, out)
        return out


def _write(part: Part, writing: Writing, index: int) -> list[JsonObject]:
    kind = part.kind
    if kind in ("text", "refusal"):
        return _beside(part, _message(part, writing, index), writing, index)
    if kind == "thinking":
        own = part.state is not None and part.state.namespace == ISSUER and is_sayable(part.state)
        sealed = seal(part, writing) if writing.seal != "off" and not own else None
        if part.state is not None and not own and sealed is None:
            writing.lost("state", part.path, "state", "state")
        item = reasoning_item(part, index, sealed)
        if part.state is not None and not own and sealed is None:
            item = {key: value for key, value in item.items() if key in ("type", "id", "summary", "content")}
        writing.part_rest(part, item)
        return [item]
    said = kind == "tool_call" and part.via is None and '"type":"' in part.data
    native = whole_item(part.data, sys.maxsize) if said else None
    if native is not None and _is_of_client(native):
        # a call that the client answers, as a stream says it
        return [native]
    if kind == "tool_call":
        item = {**write_call(part, writing), "status": "completed"}
        writing.part_rest(part, item, ("name",))
        return _beside(part, item, writing, index)
    if part.unit is not None and part.via == NAME:
        return [part.unit]
    if kind == "inline_data" and part.media == "image":
        item = {"type": IMAGE, "id": f"ig_ts_{index}", "status": "completed", "result": part.data}
        if (format := (part.mime_type or "").partition("/")[2]) != "png":
            item["output_format"] = format
        writing.part_rest(part, item)
        return _beside(part, item, writing, index)
    key = "unit" if part.unit is not None else "part"
    writing.lost("content", part.path, kind, key, part.via or kind.replace("_", " "))
    if writing.seal == "off":
        return []
    return [_holder(sealed_part(part, writing), index)]


def _is_of_client(item: JsonObject) -> bool:
    """Whether an item is a call of its own type that the client answers."""
    type = item.get("type")
    return isinstance(type, str) and type not in (CALL, CUSTOM) and kind_of_item(item, None) == "tool_call"


def _message(part: Part, writing: Writing, index: int) -> JsonObject:
    own = [each.data for each in part.annotations if each.namespace == ISSUER]
    writing.uncited(part, ISSUER)
    content = text_part(part.kind, part.data, own)
    item: JsonObject = {"type": MESSAGE, "id": f"msg_ts_{index}", "status": "completed", "role": "assistant"}
    item["content"] = [content]
    if (phase := phase_of(part.state)) is not None:
        item["phase"] = phase
    writing.part_rest(part, item, ("annotations",))
    return item


def _beside(part: Part, item: JsonObject, writing: Writing, index: int) -> list[JsonObject]:
    """An item, and the envelope of its state: before a call, after any other."""
    if part.state is None or "phase" in item:
        return [item]
    if writing.seal == "off":
        writing.lost("state", part.path, "state", "state")
        return [item]
    call = part.kind == "tool_call"
    held = _holder(seal(part, writing, neighbour="next" if call else "prev"), index + (0 if call else 1))
    return [held, item] if call else [item, held]


def _holder(envelope: str, index: int) -> JsonObject:
    item: dict[str, Any] = {"type": "reasoning", "id": f"rs_ts_{index}", "summary": []}
    return {**item, "encrypted_content": envelope}
