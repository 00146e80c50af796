"""Tools: their names as a target takes them, and what their schemas are asked."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any, Final

from ..algebra.events import JsonObject

_REFUSED: Final = re.compile("[^A-Za-z0-9_-]")
_KEPT: Final = 52
FREE_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}
"""Of a tool that takes free text, where tools take objects alone."""


def written_name(name: str, longest: int) -> str:
    """A tool's name as a target takes it: itself, or its first characters and a hash."""
    if name and len(name) <= longest and not _REFUSED.search(name):
        return name
    return f"{_REFUSED.sub('', name)[:_KEPT]}_{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def is_closed(schema: Any) -> bool:
    """Whether every object in a schema is closed and requires all its properties, as strict tools must."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack += node
        elif isinstance(node, dict):
            properties = node.get("properties")
            if node.get("type") == "object" or isinstance(properties, dict):
                required = node.get("required")
                names = set(properties) if isinstance(properties, dict) else set()
                if node.get("additionalProperties") is not False or names - {*_texts(required)}:
                    return False
            stack += node.values()
    return True


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
