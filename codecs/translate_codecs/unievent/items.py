"""The items of UniEvents as they are read: what they say of their part, with a clear error."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from translate import jsontext
from translate.algebra.events import GROWS, Data, JsonObject, Open
from translate.algebra.reading import kind_of, member
from translate.codec import Piece
from translate.errors import DecodeError, excerpt

from .words import FIELD, is_stamp

HEADER: Final = {"name": "name", "tool_call_id": "id", "mime_type": "mime_type"}
"""Member of an item → what it is of an opening."""
_TEXTS: Final = ("text.delta", "thinking.delta", "tool_call.delta")


def check_event(unit: JsonObject) -> None:
    """What every event must have."""
    if unit.get("role") != "assistant":
        raise DecodeError(f"the role is {excerpt(unit.get('role'))}", expected="'assistant'")
    if not is_stamp(at := unit.get("created_at")):
        raise DecodeError(f"created_at is {kind_of(at)}", expected="milliseconds, a number")


def kind_of_unit(unit: JsonObject) -> tuple[str, JsonObject]:
    """What a unit is in the grammar, empty for what is foreign to it, and the item that it holds, if it does."""
    if "error" in unit or unit["event_type"] != "delta":
        return ("error" if "error" in unit else unit["event_type"]), {}
    item: JsonObject = unit["content_items"][0]
    kind, _, phase = item["type"].partition(".")
    return (phase if kind in FIELD else ""), item


def delta_unit(unit: JsonObject, item: JsonObject) -> JsonObject:
    """A unit with another item."""
    return {**unit, "content_items": [item]}


def header(item: JsonObject, kind: str) -> Open:
    """What an item says of its part."""
    where = f"a {item['type']}"
    if kind == "tool_call":
        return Open("tool_call", member(item, "tool_call_id", str, where), member(item, "name", str, where))
    mime = member(item, "mime_type", str, where) if GROWS[kind] is bytes else None
    return Open(kind, mime_type=mime)  # type: ignore[arg-type]


def data_of(item: JsonObject, kind: str) -> Data:
    """What an item, but a whole call, says of its part's data."""
    grows, where = GROWS[kind], f"a {item['type']}"
    if grows is bytes:
        value = item.get("data")
        if isinstance(value, (bytes, bytearray)):
            return bytes(value)
        try:
            return base64.b64decode(member(item, "data", str, where), validate=True)
        except (binascii.Error, ValueError):
            raise DecodeError(f"the data of {where} is not base64", excerpt=excerpt(value)) from None
    value = member(item, FIELD[kind], grows, where)
    if grows is list and not {*map(type, value)} <= {int, float, jsontext.Beyond}:
        raise DecodeError(f"the vector of {where} holds what is no number", expected="numbers")
    return value  # type: ignore[no-any-return]


def stated_item(piece: Piece) -> JsonObject | None:
    """The item of a fragment of text that has a fidelity."""
    items = piece.unit.get("content_items")
    item = items[0] if piece.unit.get("event_type") == "delta" and isinstance(items, list) and len(items) == 1 else None
    if not isinstance(item, dict) or item.get("type") not in _TEXTS or not isinstance(item.get("fidelity"), dict):
        return None
    return item if item["fidelity"] and isinstance(item.get(FIELD[item["type"][:-6]]), str) else None
