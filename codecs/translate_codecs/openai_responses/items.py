"""Whole items: the parts that they are, and the items that parts become."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from translate import jsontext
from translate.algebra.calls import FREE, FREE_END, escaped, unescaped
from translate.algebra.events import Annotate, Append, Close, Event, JsonObject, Open, State
from translate.algebra.json_form import base64_bytes
from translate.algebra.parts import Part, parts
from translate.algebra.reading import member, optional
from translate.errors import DecodeError

from .words import (
    CALL,
    CUSTOM,
    IMAGE,
    ISSUER,
    MESSAGE,
    PHASE,
    REASONING,
    RESULTS,
    item_type,
    kind_of_item,
    made,
    open_of,
    phase_of,
    state_of_item,
    state_words,
)


def dumped(value: Any) -> str:
    """A JSON value as text."""
    return jsontext.dumps(value).decode("utf-8", "surrogatepass")


def part_text(part: Any, where: str) -> str:
    """The text of a part of an item, whatever its type."""
    if not isinstance(part, dict):
        raise DecodeError(f"{where} has a part that is no object")
    return optional(part, "refusal" if part.get("type") == "refusal" else "text", str, where) or ""


def objects(owner: JsonObject, key: str, where: str) -> list[JsonObject]:
    """A list of objects that may be absent or null. Raises :class:`DecodeError`."""
    found: list[JsonObject] = optional(owner, key, list, where) or []
    for each in found:
        if not isinstance(each, dict):
            raise DecodeError(f"{where} has an element of {key!r} that is no object")
    return found


# ---- what items say --------------------------------------------------------------------------------------


def opening(part: JsonObject, item: JsonObject) -> list[Event]:
    """What a part of a message says as it is added to ``item``."""
    said: list[Event] = [Open("refusal" if part.get("type") == "refusal" else "text")]
    if isinstance(item.get(PHASE), str):
        said.append(Append("", State(ISSUER, {PHASE: item[PHASE]})))
    if text := part_text(part, "a part"):
        said.append(Append(text))
    return said


def is_part(part: JsonObject) -> bool:
    """Whether a part of a message is one of the algebra."""
    return part.get("type") in ("output_text", "refusal")


def is_cut(item: JsonObject) -> bool:
    """Whether an item is marked as one that was cut off."""
    return item.get("status") == "incomplete"


def image_of(item: JsonObject) -> bytes | None:
    """The bytes of a picture that an item holds."""
    result = item.get("result")
    if not isinstance(result, str) or not result:
        return None
    try:
        return base64_bytes(result)
    except ValueError:
        return None


def end_of_whole(item: JsonObject, head: Open) -> list[Event]:
    """What an item says at its end that is said in JSON: its data, its ``Close``, and the answer that it holds."""
    result = RESULTS.get(str(item["type"]), "")
    answered = head.kind == "server_tool_call" and item.get(result) is not None
    call = {k: v for k, v in item.items() if k != result} if answered else item
    said: list[Event] = [Append(dumped(call)), Close(head.kind == "tool_call" and is_cut(item))]
    if answered:
        said += [Open("server_tool_result", head.id, head.name), Append(dumped(item[result])), Close()]
    return said


def events_of_item(item: JsonObject, tools: Any) -> list[Event]:
    """What an item says that was never streamed."""
    type_ = member(item, "type", str, "an item")
    if type_ == MESSAGE:
        return [event for part in objects(item, "content", "a message") for event in events_of_part(part, item)]
    kind = kind_of_item(item, tools)
    if kind is None:
        return []
    head = open_of(item, kind)
    if kind == "inline_data":
        data = image_of(item)
        return [] if data is None else [head, Append(data), Close()]
    if type_ == REASONING:
        text = "".join(part_text(part, "reasoning") for part in reasoning_parts(item))
        state = state_of_item(item)
        said: list[Event] = [Append(text)] if text else []
        return [head, *said, *([Append("", state)] if state else []), Close(is_cut(item))]
    if type_ == CALL:
        text = optional(item, "arguments", str, "a call") or ""
        return [head, *([Append(text)] if text else []), Close(is_cut(item))]
    if type_ == CUSTOM and kind == "tool_call":
        text = FREE + escaped(optional(item, "input", str, "a call") or "")
        return [head, Append(text if is_cut(item) else text + FREE_END), Close(is_cut(item))]
    return [head, *end_of_whole(item, head)]


def events_of_part(part: JsonObject, item: JsonObject) -> list[Event]:
    """What a part of a message says that was never streamed."""
    if not is_part(part):
        return []
    notes: list[Event] = [Annotate(ISSUER, note) for note in objects(part, "annotations", "a part")]
    return [*opening(part, item), *notes, Close()]


def reasoning_parts(item: JsonObject) -> list[JsonObject]:
    """The parts of a reasoning item: its summary, else its content."""
    return objects(item, "summary", "reasoning") or objects(item, "content", "reasoning")


# ---- the items that are written --------------------------------------------------------------------------


def text_part(kind: str, text: str = "", annotations: Sequence[Any] = ()) -> JsonObject:
    """A part of a message."""
    if kind == "refusal":
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "annotations": list(annotations), "logprobs": [], "text": text}


def message_item(id: str, phase: str | None = None, parts: Sequence[JsonObject] | None = None) -> JsonObject:
    """A message: as it is added, or whole with its ``parts``."""
    said = {} if phase is None else {PHASE: phase}
    status = "in_progress" if parts is None else "completed"
    content = list(parts or ())
    return {"id": id, "type": MESSAGE, "status": status, "content": content, "role": "assistant", **said}


def added_item(head: Open, response: Any, index: int, type_: str | None = None) -> JsonObject:
    """The item of a part as it is added. ``type_``: its type, where it is not the usual one."""
    type_ = type_ or item_type(head)
    if type_ == REASONING:
        return {"id": head.id or made("rs", response, index), "type": type_, "summary": []}
    id = head.id or made("made", response, index)
    if type_ == CALL:
        said = {"arguments": "", "call_id": id, "name": head.name}
        return {"id": made("fc", response, index), "type": type_, "status": "in_progress", **said}
    if type_ == CUSTOM:
        return {"id": id, "type": type_, "status": "in_progress", "call_id": id, "name": head.name, "input": ""}
    named = {} if head.name in (None, type_) or head.kind != "server_tool_call" else {"name": head.name}
    return {"id": id, "type": type_, "status": "in_progress", "call_id": id, **named}


def whole_item(data: object, nesting: int) -> JsonObject | None:
    """The item that was said in JSON. Raises :class:`LimitExceeded` for more than ``nesting`` levels."""
    try:
        found = jsontext.loads_str(data, nesting) if isinstance(data, str) else None
    except DecodeError:
        return None
    return found if isinstance(found, dict) else None


def answered_item(said: Sequence[Event], nesting: int) -> JsonObject | None:
    """The item that :func:`end_of_whole` told by ``said``. Raises as :func:`whole_item`."""
    data = [event.data for event in said if type(event) is Append]
    item = whole_item(data[0], nesting) if data else None
    if item is None or len(data) == 1:
        return item
    result = RESULTS.get(str(item.get("type")))
    try:
        return {**item, result: jsontext.loads_str(str(data[1]), nesting)} if result else item
    except DecodeError:
        return item


def image_item(head: Open, data: bytes, response: Any, index: int) -> JsonObject:
    """The item of a picture."""
    text = base64.b64encode(data).decode("ascii")
    format = (head.mime_type or "").removeprefix("image/")
    said = {"output_format": format, "result": text}
    return {"id": head.id or made("ig", response, index), "type": IMAGE, "status": "completed", **said}


def item_of(
    part: Part, response: Any, index: int, annotations: Sequence[Any] = (), *, nesting: int = sys.maxsize
) -> JsonObject:
    """The whole item of a part, alone; an empty one where there are no words for it. Raises as :func:`whole_item`."""
    head, data = part.head, part.data
    type_ = item_type(head)
    if isinstance(data, bytes):
        return image_item(head, data, response, index)
    if not isinstance(data, str):
        return {}
    if type_ == MESSAGE:
        phase = next(filter(None, map(phase_of, part.states)), None)
        text = text_part(head.kind, jsontext.whole(data), annotations)
        return message_item(made("msg", response, index), phase, [text])
    item = added_item(head, response, index)
    if type_ == REASONING:
        summary = [{"type": "summary_text", "text": jsontext.whole(data)}] if data else []
        return {**item, "summary": summary, **state_words(part.states[-1] if part.states else None)}
    if type_ == CALL:
        return {**item, "status": "completed", "arguments": data or "{}"}
    return whole_item(data, nesting) or {}


def items_of(events: Iterable[Event], response: Any, index: int, nesting: int) -> list[JsonObject]:
    """The items of parts that came with no item of their own. Raises as :func:`whole_item`."""
    out: list[JsonObject] = []
    for part in parts(events):
        if isinstance(part, Part):
            out.append(item_of(part, response, index + len(out), nesting=nesting))
    return [item for item in out if item]


def free_text(data: str, *, ended: bool = False) -> str:
    """The free text that a fragment of arguments holds; ``ended``: it is the last one."""
    return unescaped(data.removesuffix(FREE_END) if ended else data)
