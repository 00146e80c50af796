"""Events in a few words, for people."""

from __future__ import annotations

from collections.abc import Iterable

from .. import jsontext
from ..algebra.events import (
    Annotate,
    Append,
    Data,
    Event,
    Failure,
    Finish,
    Foreign,
    Handover,
    JsonObject,
    Model,
    Open,
    Start,
    TokenCounts,
    Usage,
)
from ..algebra.json_form import to_json

LONG = 200
"""Characters of a text at most."""


def words(events: Iterable[Event]) -> str:
    """What events say, shortly; nothing where they only open and close parts."""
    return shortened(" ".join(filter(None, map(_said, events))))


def shortened(text: str) -> str:
    """A text, ended where it becomes long."""
    return text if len(text) <= LONG else text[: LONG - 1] + "…"


def json_text(unit: JsonObject) -> str:
    """A unit as JSON; an event that is an object in its JSON form."""
    event = unit.get("event")
    if isinstance(event, Event):
        return jsontext.dumps_strict(to_json(event)).decode()
    return jsontext.dumps(unit).decode()


def _said(event: Event) -> str:
    match event:
        case Open():
            name = event.name if event.name is not None else event.mime_type
            return " ".join(filter(None, (name, f"({event.id})" if event.id else None)))
        case Append():
            state = f"+ state {', '.join(event.state.values)}" if event.state is not None else ""
            data = "" if state and not event.data else _data(event.data)
            return " ".join(filter(None, (data, state)))
        case Start():
            return _model(event.model)
        case Handover():
            return f"{_model(event.model)} broke off"
        case Usage():
            return _counts(event.usage)
        case Finish():
            return f"{event.reason.raw or event.reason.word}, {_counts(event.usage)}"
        case Failure():
            return f"{' '.join(str(x) for x in (event.code, event.kind) if x is not None)}: {event.message}".strip(": ")
        case Annotate():
            return "note " + _shown(event.data)
        case Foreign():
            return json_text(event.unit)
        case _:
            return ""


def _data(data: Data) -> str:
    if isinstance(data, str):
        return f'"{data[:LONG]}"'
    return counted(len(data), "byte" if isinstance(data, bytes) else "number")


def counted(number: int, what: str) -> str:
    """So many of something."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _model(model: Model) -> str:
    if model.name is None:
        return model.provider or model.publisher or "no model named"
    return f"{model.name} of {model.provider}" if model.provider else model.name


def _counts(counts: TokenCounts) -> str:
    pairs = ((counts.input_tokens, "in"), (counts.output_tokens, "out"))
    return ", ".join(f"{count} {name}" for count, name in pairs if count is not None) or "no counts"


def _shown(value: object) -> str:
    return jsontext.dumps_strict(value).decode()
