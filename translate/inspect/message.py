"""A message as its reader has it: its parts, whole, and how it ended."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from ..algebra.events import Annotate, Append, Close, Event, Failure, Finish, Handover, JsonObject, Open, Start
from .words import counted, words

TEXT, BYTES = 20_000, 200_000
"""Characters of a text, and bytes of an image, that are kept at most: what is looked at is not what is stored."""
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""What is shown as a picture."""


def message(events: Iterable[Event]) -> JsonObject:
    """``model``: who answers, or ``None``; ``parts``; ``end``: in words, ``None`` where it has not come.

    A part has ``kind``, ``name`` and ``id``, ``text``, ``image`` (base64 of bytes that a browser shows, with
    ``mime_type``), ``whole``: whether it ended and ``text`` is all of it, and ``notes``: what is attached, in words.
    """
    found: JsonObject = {"model": None, "parts": [], "end": None}
    open: _Part | None = None
    for event in events:
        match event:
            case Start():
                found["model"] = event.model.name or found["model"]
            case Open():
                open = _Part(event)
                found["parts"].append(open.shown)
            case Append() if open is not None:
                open.grow(event)
            case Annotate() if open is not None:
                open.shown["notes"].append(words([event]))
            case Close() | Handover() if open is not None:
                open.close(cut=isinstance(event, Handover) or event.cut)
                open = None
            case Finish() | Failure():
                failed = type(event) is Failure
                found["end"] = f"{'failed: ' if failed else ''}{words([event])}"
                if open is not None:
                    open.close(cut=True)
                open = None
            case _:
                pass
    if open is not None:
        open.close(cut=True)
    return found


class _Part:
    def __init__(self, event: Open) -> None:
        self._data: list[Any] = []
        self._states: dict[str, None] = {}
        self.shown: JsonObject = {
            "kind": event.kind,
            "name": event.name,
            "id": event.id,
            "mime_type": event.mime_type,
            "text": "",
            "image": None,
            "whole": False,
            "notes": [],
        }

    def grow(self, event: Append) -> None:
        self._data.append(event.data)
        if event.state is not None:
            self._states |= dict.fromkeys(event.state.values)

    def close(self, *, cut: bool) -> None:
        shown, whole = self.shown, not cut
        if all(isinstance(data, str) for data in self._data):
            text = "".join(self._data)
            shown["text"], whole = text[:TEXT], whole and len(text) <= TEXT
        elif isinstance(self._data[0], bytes):
            data = b"".join(self._data)
            shown["text"] = counted(len(data), "byte")
            if shown["mime_type"] in IMAGES and len(data) <= BYTES:
                shown["image"] = base64.b64encode(data).decode()
        else:
            shown["text"] = counted(sum(map(len, self._data)), "number")
        shown["whole"] = whole
        shown["notes"] += [f"signed: {name}" for name in self._states]
