"""VCR cassettes: of vcrpy and of ruby's VCR, as YAML or JSON. YAML needs pyyaml.

1. ``interactions`` (vcrpy) and ``http_interactions`` (ruby, betamax) are lists of requests with their answers. The body
   of one is text, base64, or what YAML has as binary; compressed, it stays so.
2. The content type that an answer names is that of its new body; a length that it names is its length.
3. YAML comes out as YAML, with the same values; comments are lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, BinaryIO

from ...errors import DecodeError
from ..layout import get, put
from ..places import MissingExtra
from ..stream import Content, Whole
from ..wide import Made
from ..work import Task
from .answers import Recording, model_of
from .documents import Document, is_list, kind, read

_LISTS = ("http_interactions", "interactions")
_BODIES = ("response.body.string", "response.body.base64_string", "response.content", "response.body")
_STATUSES = ("response.status.code", "response.status_code", "response.status")
_BEGINNING = re.compile(
    rb"(?:---[^\n]*\n|#[^\n]*\n|\s)*(?:http_)?interactions:\s*(?:\n|\[)"
    rb'|\s*\{(?:\s*"(?:version|recorded_with)"\s*:\s*[^,{}\[\]]*,)?\s*"(?:http_)?interactions"\s*:'
)


class _Yaml:
    """A document of YAML: as :class:`Document`, all in memory."""

    def __init__(self, data: bytes) -> None:
        yaml, loader, _ = _library()
        try:
            self.value = yaml.load(data, loader)
        except (yaml.YAMLError, ValueError) as error:
            raise DecodeError(f"not YAML: {' '.join(str(error).split())[:300]}") from None
        self.path = _list(self.value)

    @property
    def entries(self) -> list[dict[str, Any]]:
        """What is in the list."""
        return self.value[self.path]  # type: ignore[no-any-return]

    def of(self, value: Any) -> Any:
        """There are no marks."""
        return value

    def marked(self, done: Any) -> Any:
        """There are no marks."""
        return done

    def kept(self, entry: Any) -> Content:
        """An entry, as a reject keeps it."""
        return Whole(_dumped(entry))

    def written(self, entries: Iterable[Any]) -> Iterator[bytes]:
        """The document, with other entries."""
        yield _dumped({**self.value, self.path: list(entries)})


@cache
def _library() -> tuple[Any, Any, Any]:
    """The library, and how it reads and writes: plain values, times as they are spelled."""
    try:
        yaml: Any = import_module("yaml")
    except ImportError:
        raise MissingExtra("pyyaml is not installed: pip install -e '.[logs]', in the project's checkout") from None
    found = []
    for base in (getattr(yaml, "CSafeLoader", yaml.SafeLoader), getattr(yaml, "CSafeDumper", yaml.SafeDumper)):
        resolvers = {
            first: [(tag, pattern) for tag, pattern in each if not tag.endswith(":timestamp")]
            for first, each in base.yaml_implicit_resolvers.items()
        }
        found.append(type(base.__name__, (base,), {"yaml_implicit_resolvers": resolvers}))
    return yaml, *found


def _dumped(value: Any) -> bytes:
    yaml, _, dumper = _library()
    out: bytes = yaml.dump(value, Dumper=dumper, sort_keys=False, allow_unicode=True, encoding="utf-8")
    return out


def load(file: BinaryIO, limit: int) -> Document | _Yaml:
    """The cassette. Raises :class:`DecodeError` where it is none."""
    data = read(file, limit)
    return Document(data, _list) if data.lstrip()[:1] == b"{" else _Yaml(bytes(data))


def _list(value: Any) -> str:
    for name in _LISTS:
        if isinstance(value, dict) and is_list(value.get(name)):
            return name
    raise DecodeError("it has no list of interactions", expected=" or ".join(_LISTS))


def _first(entry: Any, paths: Iterable[str], kinds: type | tuple[type, ...] = object) -> tuple[str, Any]:
    """The first path at which an entry has a value of a kind, and that."""
    for path in paths:
        try:
            found = get(entry, path)
        except KeyError:
            continue
        if isinstance(found, kinds):
            return path, found
    return "", None


def _header(entry: Any, name: str) -> tuple[str, Any]:
    """The path of a field of an answer's head, and its value."""
    _, headers = _first(entry, ("response.headers",), dict)
    found = next((key for key in headers or () if isinstance(key, str) and key.lower() == name), None)
    return ("", None) if found is None else (found, (headers or {})[found])


def _with_header(entry: dict[str, Any], name: str, value: str) -> dict[str, Any]:
    """An entry whose answer has another value of a field that it has."""
    key, was = _header(entry, name)
    if not key:
        return entry
    headers = {**get(entry, "response.headers"), key: [value] if isinstance(was, list) else value}
    return put(entry, "response.headers", headers)


def _how(document: Any, task: Task | None) -> Recording[dict[str, Any]]:
    def body(entry: dict[str, Any]) -> Any:
        return document.of(_first(entry, _BODIES, (str, bytes))[1])

    def media_type(entry: dict[str, Any]) -> str:
        _, found = _header(entry, "content-type")
        found = found[0] if isinstance(found, list) and found else found
        return str(found).partition(";")[0].strip().lower()

    def view(entry: dict[str, Any]) -> dict[str, Any]:
        _, url = _first(entry, ("request.uri", "request.url"))
        _, asked = _first(entry, ("request.body.string", "request.body"), (str, bytes))
        return {
            **entry,
            "url": url,
            "method": _first(entry, ("request.method",))[1],
            "status": _first(entry, _STATUSES, int)[1],
            "type": media_type(entry),
            "model": model_of(asked, url),
        }

    def described(entry: dict[str, Any], done: Any, told: str | None) -> dict[str, Any]:
        path, _ = _first(entry, _BODIES, (str, bytes))
        size = done.spool.size if isinstance(done, Made) else len(done.encode() if isinstance(done, str) else done)
        entry = put(entry, path, document.marked(done))
        entry = _with_header(entry, "content-length", str(size))
        return _with_header(entry, "content-type", told) if told else entry

    return Recording(body, media_type, view, described, document.kept)


VCR = kind("a VCR cassette", lambda head: _BEGINNING.match(head) is not None, load, _how)
