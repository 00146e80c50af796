"""Gemini's own dialect of JSON Schema, read: types in capitals, and ``nullable``."""

from __future__ import annotations

from typing import Any, Final

from translate.algebra.events import JsonObject
from translate.messages.members import wrong

_DEEPEST: Final = 128
_LISTS: Final = ("anyOf", "prefixItems")
_MAPS: Final = ("properties", "defs")
_ONE: Final = ("items", "additionalProperties")


def json_schema(value: Any, path: str, depth: int = 0) -> JsonObject:
    """The JSON Schema of a schema in the dialect; what has the same name in both stays as it is."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        raise wrong(path, "it is no schema", "an object")
    out: JsonObject = {}
    for key, item in value.items():
        if key == "type" and isinstance(item, str):
            out[key] = item.lower()
        elif key == "nullable" and isinstance(item, bool):
            continue
        elif key in _MAPS and isinstance(item, dict):
            inner = {name: json_schema(each, f"{path}.{key}.{name}", depth + 1) for name, each in item.items()}
            out["$defs" if key == "defs" else key] = inner
        elif key in _LISTS and isinstance(item, list):
            out[key] = [json_schema(each, f"{path}.{key}[{i}]", depth + 1) for i, each in enumerate(item)]
        elif key == "any_of" and isinstance(item, list):
            out["anyOf"] = [json_schema(each, f"{path}.{key}[{i}]", depth + 1) for i, each in enumerate(item)]
        elif key in _ONE and isinstance(item, dict):
            out[key] = json_schema(item, f"{path}.{key}", depth + 1)
        else:
            out[key] = item
    if value.get("nullable") is True:
        known = out.get("type")
        if isinstance(known, str):
            out["type"] = [known, "null"]
        elif isinstance(out.get("anyOf"), list):
            out["anyOf"] = [*out["anyOf"], {"type": "null"}]
    return out
