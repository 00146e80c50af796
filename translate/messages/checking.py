"""What is wrong with a request or a whole answer."""

from __future__ import annotations

from typing import Any

from ..engine.checker import Fault
from ..errors import TranslateError, UnsupportedFormat
from ..limits import Limits
from .converting import Asked, What, capability, check_pairs, decode, read_body
from .nodes import Request


def check_document(document: Any, format: str, what: What, limits: Limits) -> list[Fault]:
    """The faults of a document: each says its path. Raises :class:`UnsupportedFormat`."""
    _, able = capability(format, what)
    try:
        body = read_body(bytes(document) if isinstance(document, (bytearray, memoryview)) else document, limits)
        faults = _by_model(body, able.model())
        if faults:
            return faults
        node = decode(body, format, what, Asked(limits=limits))
        if isinstance(node, Request):
            check_pairs(node)
    except UnsupportedFormat:
        raise
    except TranslateError as error:
        reason = error.what.removeprefix(f"{error.path}: ") if error.path else error.what
        expected = f"; expected {error.expected}" if error.expected else ""
        return [Fault(None, (error.path or "").rpartition(".")[2], reason + expected, path=error.path or "")]
    return []


def _by_model(body: Any, model: Any) -> list[Fault]:
    if model is None:
        return []
    from pydantic import ValidationError

    try:
        model.model_validate(body)
    except ValidationError as error:
        out: list[Fault] = []
        for found in error.errors(include_url=False, include_input=False):
            path = _path(found["loc"])
            out.append(Fault(None, path.rpartition(".")[2], found["msg"], path=path))
        return out
    return []


def _path(place: tuple[int | str, ...]) -> str:
    """A place as paths are spelled; what names a choice among types is left out."""
    out = ""
    for key in place:
        if isinstance(key, int):
            out += f"[{key}]"
        elif key.isidentifier() and not key[:1].isupper():
            out += f".{key}" if out else key
    return out
