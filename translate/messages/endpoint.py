"""Where servers of a format are asked, and how they know who asks: what a client's address and key become."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode

VERSIONS: Final = ("v1beta", "v1", "v1alpha")
"""What ``{version}`` in a path may be, the usual one first."""
_KEY_FIELDS: Final = (("x-api-key", ""), ("authorization", "Bearer "), ("x-goog-api-key", ""))
_KEY: Final = "key"
"""The parameter of a query that holds a key."""
PASSED: Final = ("user-agent", "traceparent", "x-request-id", "idempotency-key")
"""Fields of a request that go to any server."""


class Route(NamedTuple):
    """What a path says: the model, if it names one, and whether a stream is asked for, if it says so."""

    model: str | None
    stream: bool | None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The endpoint of a format's servers.

    ``path``     of a request; ``{model}`` where the path names it, ``{version}`` for any of :data:`VERSIONS`
    ``stream``   the path of streams, where that is another
    ``key``      the field that holds the key, and the word before it
    ``fields``   that every request has
    ``own``      how the names of fields begin that only servers of this format know
    ``shape``    of its streams, as codecs name it
    ``arrays``   the shape of streams that are not asked for with ``alt=sse``, where the format has such
    ``streams``  whether all that it answers are streams
    ``count``    the path that counts the tokens of a request, and the member of its answer that says how many
    ``counted``
    ``stored``   whether what was asked before can be asked for, below its path
    ``models``   the style of its list of models
    """

    path: str
    key: tuple[str, str] = ("authorization", "Bearer ")
    stream: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    own: tuple[str, ...] = ()
    shape: str = "sse"
    arrays: str | None = None
    streams: bool = False
    count: str | None = None
    counted: str = "input_tokens"
    stored: bool = False
    models: Literal["openai", "anthropic", "google"] = "openai"

    def route(self, path: str) -> Route | None:
        """What a path (with or without a query) asks of this endpoint; ``None``: it is of another."""
        path = path.partition("?")[0]
        for template, stream in ((self.stream, True), (self.path, None if self.stream is None else False)):
            found = _pattern(template).fullmatch(path) if template is not None else None
            if found is not None:
                model = found.groupdict().get("model")
                return Route(None if model is None else unquote(model), True if self.streams else stream)
        return None

    def counts(self, path: str) -> Route | None:
        """What a path asks of the endpoint that counts; ``None``: it is of another."""
        found = _pattern(self.count).fullmatch(path.partition("?")[0]) if self.count is not None else None
        if found is None:
            return None
        model = found.groupdict().get("model")
        return Route(None if model is None else unquote(model), False)

    def address(self, model: str | None, *, stream: bool) -> str:
        """The path, and the query, of a request."""
        template = self.stream if stream and self.stream is not None else self.path
        return filled(template, model)

    @property
    def names_model(self) -> bool:
        """Whether the path names the model, and the body does not."""
        return "{model}" in self.path

    def shape_of(self, path: str) -> str:
        """The shape of the stream that a path asks for."""
        query = dict(parse_qsl(path.partition("?")[2]))
        return self.arrays if self.arrays is not None and query.get("alt") != "sse" else self.shape


def filled(template: str, model: str | None) -> str:
    """A path with its model and its usual version."""
    return template.replace("{version}", VERSIONS[0]).replace("{model}", quote(model or "unknown", safe=""))


def key_of(path: str, headers: Mapping[str, str]) -> str | None:
    """The key that a client gave, wherever clients give it."""
    for name, before in _KEY_FIELDS:
        value = headers.get(name)
        if value and value.lower().startswith(before.lower()):
            return value[len(before) :].strip() or None
    return dict(parse_qsl(path.partition("?")[2])).get(_KEY)


def without_key(path: str) -> str:
    """A path whose query holds no key."""
    bare, _, query = path.partition("?")
    kept = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] != _KEY]
    return f"{bare}?{urlencode(kept)}" if kept else bare


def _pattern(template: str) -> re.Pattern[str]:
    text = re.escape(template.partition("?")[0])
    text = text.replace(re.escape("{version}"), f"(?:{'|'.join(VERSIONS)})")
    return re.compile(text.replace(re.escape("{model}"), "(?P<model>[^:?]+)"))
