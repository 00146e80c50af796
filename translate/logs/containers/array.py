"""Exports of tools: one JSON document with a list of records, a stream in a field of each.

The list is the document, or its first member that is one.
"""

from __future__ import annotations

from typing import Any, BinaryIO

from ...errors import DecodeError
from ..layout import put
from ..records import content
from ..work import Task
from .answers import Recording
from .documents import Document, is_list, kind, read


def load(file: BinaryIO, limit: int) -> Document:
    """The document. Raises :class:`DecodeError` where it has no list of objects."""
    return Document(read(file, limit), _list)


def _list(value: Any) -> str:
    """Where the list is: the document itself, or its first member that is one."""
    if isinstance(value, list) and is_list(value):
        return ""
    for name, member in value.items() if isinstance(value, dict) else ():
        if is_list(member) and member:
            return str(name)
    raise DecodeError("it has no list of objects", expected="a JSON array of records, or an object with one")


def _how(document: Document, task: Task | None) -> Recording[dict[str, Any]]:
    field = task.layout.field if task is not None else ""
    return Recording(
        body=lambda entry: document.of(content(entry, field)),
        media_type=lambda entry: "",
        view=lambda entry: entry,
        put=lambda entry, done, told: put(entry, field, document.marked(done)),
        kept=document.kept,
        always=True,
    )


ARRAY = kind("a JSON array of records", None, load, _how)
