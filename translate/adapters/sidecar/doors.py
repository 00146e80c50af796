"""What a path of the sidecar is for, where clients ask it in their own formats; and what it answers by itself.

No format is known here: each codec says where its servers are asked (:class:`translate.messages.endpoint.Endpoint`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ... import jsontext
from ...algebra.events import JsonObject
from ...messages.endpoint import Endpoint
from ...messages.nodes import Part, Request
from ...registry import codec, formats

_IMAGE: Final = 1600
"""Tokens that an image is taken for."""
_BYTES: Final = 4
"""Bytes of text that a token is taken for."""
_LISTS: Final = ("/v1/models", "/v1beta/models", "/models")
_GOOGLE: Final = "/v1beta"
_ANTHROPIC: Final = "anthropic-version"


@dataclass(frozen=True, slots=True)
class Door:
    """What a request is for: ``ask`` a model, ``count`` tokens, list ``models``, ``alive``, ``stored`` or ``none``.

    ``client``: the format that it is answered in. ``model``: the one that a path names.
    """

    what: Literal["ask", "count", "models", "alive", "stored", "none"]
    client: str
    model: str | None = None


def spoken() -> list[str]:
    """The formats that clients and servers may speak, by the names of their codecs."""
    names = dict.fromkeys(codec(name).name for name in formats())
    return [name for name in names if (found := codec(name)).requests is not None and found.endpoint is not None]


def door_of(method: str, path: str, fields: Mapping[str, str], clients: Sequence[str]) -> Door:
    """What a request is for. ``clients``: the formats that are spoken here."""
    bare = path.partition("?")[0]
    shape = _shape(bare, fields, clients)
    for client in clients:
        endpoint = _endpoint(client)
        if method == "POST" and (asked := endpoint.route(bare)) is not None:
            return Door("ask", client, asked.model)
        if method == "POST" and (counted := endpoint.counts(bare)) is not None:
            return Door("count", client, counted.model)
        if endpoint.stored and bare.startswith(endpoint.path + "/"):
            return Door("stored", client)
    if method in ("GET", "HEAD"):
        if bare == "/":
            return Door("alive", shape)
        for place in _LISTS:
            if bare == place or bare.startswith(place + "/"):
                return Door("models", shape, bare[len(place) + 1 :] or None)
    return Door("none", shape)


def _endpoint(client: str) -> Endpoint:
    endpoint = codec(client).endpoint
    assert endpoint is not None
    return endpoint


def _shape(path: str, fields: Mapping[str, str], clients: Sequence[str]) -> str:
    """The format in whose words a path is answered that is none of the endpoints."""
    listed: dict[str, str] = {}
    for client in clients:
        listed.setdefault(_endpoint(client).models, client)
    style = "google" if path.startswith(_GOOGLE) else "anthropic" if _ANTHROPIC in fields else "openai"
    near = next((each for each in clients if path.startswith(_endpoint(each).path)), None)
    return near or listed.get(style) or clients[0]


# ---- counting


def estimate(request: Request) -> int:
    """About how many tokens a request takes: its text in bytes by four, and so many for an image."""
    size, images = 0, 0
    for turn in request.turns:
        for part in _parts(turn.parts):
            if part.kind in ("inline_data", "linked_data") and part.via != "text":
                images += part.media == "image"
                continue
            size += len(part.data.encode("utf-8", "surrogatepass")) + len((part.name or "").encode())
            if part.unit is not None:
                size += len(jsontext.dumps(part.unit))
    for tool in request.tools:
        for text in (tool.name, tool.description):
            size += len((text or "").encode("utf-8", "surrogatepass"))
        for value in (tool.schema, tool.unit):
            size += len(jsontext.dumps(value)) if value is not None else 0
    return math.ceil(size / _BYTES) + _IMAGE * images


def _parts(parts: Iterable[Part]) -> Iterable[Part]:
    for part in parts:
        yield part
        yield from _parts(part.parts)


# ---- models


def models_in(document: Any) -> list[str]:
    """The names of the models that a list of any style holds."""
    held = document if isinstance(document, dict) else {}
    entries = held.get("data") or held.get("models") or []
    names = [entry.get("id") or entry.get("name") for entry in entries if isinstance(entry, dict)]
    return [name.removeprefix("models/") for name in names if isinstance(name, str)]


def listed(names: Collection[str], client: str, one: str | None = None) -> JsonObject | None:
    """The list of models as a client reads it, or ``one`` of them; ``None`` where there is no such."""
    style = _endpoint(client).models
    entries = [_entry(name, style) for name in names]
    if one is not None:
        return next((entry for name, entry in zip(names, entries, strict=True) if name == one), None)
    if style == "google":
        return {"models": entries}
    if style == "anthropic":
        first, last = (entries[0]["id"], entries[-1]["id"]) if entries else (None, None)
        return {"data": entries, "has_more": False, "first_id": first, "last_id": last}
    return {"object": "list", "data": entries}


def _entry(name: str, style: str) -> JsonObject:
    if style == "google":
        methods = ["generateContent", "countTokens"]
        return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}
    if style == "anthropic":
        return {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"}
    return {"id": name, "object": "model", "created": 0, "owned_by": "system"}
