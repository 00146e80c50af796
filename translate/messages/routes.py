"""Where a format's requests go, and how they are signed: as data, for whoever carries them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

PASSED_ON: Final = ("user-agent", "traceparent", "x-request-id", "idempotency-key")
"""Headers of a client that go on to any server."""
_MODEL: Final = re.compile(r"/models/(?P<model>[^/?:]+(?:/[^/?:]+)*):(?P<method>\w+)")


@dataclass(frozen=True, slots=True)
class Route:
    """The way to a server of one format.

    ``path``, ``streamed``: of a request, the latter where it is to stream, with ``{model}`` for the model's name.
    ``key``: the header of the key, of which ``prefix`` is the beginning. ``headers``: sent with each request. ``own``:
    beginnings of headers that go on where client and server speak this format. ``always``: its answers are streams.
    """

    path: str
    streamed: str
    key: str
    prefix: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    own: tuple[str, ...] = ()
    always: bool = False

    def path_for(self, model: str, *, stream: bool) -> str:
        """The path of a request."""
        return (self.streamed if stream else self.path).replace("{model}", quote(model, safe="/@"))


def key_in(headers: Mapping[str, str], query: str = "") -> str | None:
    """The key that a client sent, by any format's way."""
    lower = {name.lower(): value for name, value in headers.items()}
    for name in ("x-api-key", "x-goog-api-key"):
        if lower.get(name):
            return lower[name]
    scheme, _, token = lower.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    found = re.search(r"(?:^|&)key=([^&]+)", query)
    return unquote(found[1]) if found else None


def model_in(path: str) -> tuple[str, str] | None:
    """The model and the method that a path names, where a format's does."""
    found = _MODEL.search(path)
    return (unquote(found["model"]), found["method"]) if found else None
