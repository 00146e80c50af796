"""HAR, the archives of browsers, of proxies, and of Polly: one JSON document; its entries are requests with answers."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, BinaryIO

from ...errors import DecodeError
from ..layout import get, put
from ..wide import Made
from ..work import Task
from .answers import Recording, model_of
from .documents import Document, is_list, kind, read

_LIST = "log.entries"
_CONTENT = "response.content"
_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"log"\s*:\s*\{')


def load(file: BinaryIO, limit: int) -> Document:
    """The document. Raises :class:`DecodeError` where it is none."""
    document = Document(read(file, limit), lambda value: _LIST)
    if not is_list(document.entries):
        raise DecodeError("log.entries is no list of objects")
    return document


def _optional(entry: Any, path: str) -> Any:
    with suppress(KeyError):
        return get(entry, path)
    return None


def _how(document: Document, task: Task | None) -> Recording[dict[str, Any]]:
    def body(entry: dict[str, Any]) -> Any:
        found = document.of(_optional(entry, f"{_CONTENT}.text"))
        return None if isinstance(found, (list, dict, int, float)) else found

    def media_type(entry: dict[str, Any]) -> str:
        return str(_optional(entry, f"{_CONTENT}.mimeType")).partition(";")[0].strip().lower()

    def view(entry: dict[str, Any]) -> dict[str, Any]:
        url = _optional(entry, "request.url")
        return {
            **entry,
            "url": url,
            "method": _optional(entry, "request.method"),
            "status": _optional(entry, "response.status"),
            "type": media_type(entry),
            "model": model_of(_optional(entry, "request.postData.text"), url),
        }

    def described(entry: dict[str, Any], done: Any, told: str | None) -> dict[str, Any]:
        size = len(done.encode()) if isinstance(done, str) else done.spool.size if isinstance(done, Made) else 0
        content = {**get(entry, _CONTENT), "text": document.marked(done), "size": size}
        return put(entry, _CONTENT, content | ({"mimeType": told} if told else {}))

    return Recording(body, media_type, view, described, document.kept)


HAR = kind("HAR", lambda head: _BEGINNING.match(head) is not None, load, _how)
