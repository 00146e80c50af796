"""UniEvent: what the engine must know of the format."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar, Final

from pydantic import BaseModel

from translate import jsontext
from translate.algebra.calls import same_call
from translate.algebra.events import (
    Append,
    Close,
    Event,
    Failure,
    Finish,
    JsonObject,
    Open,
)
from translate.algebra.parts import Part, parts
from translate.algebra.states import is_hint
from translate.carry import patches
from translate.codec import Codec, Options
from translate.errors import GrammarError, TranslateError
from translate.messages.endpoint import Endpoint
from translate.shapes import Shape
from translate.shapes.lines import Lines
from translate.shapes.objects import Objects
from translate.shapes.sse import Sse

from . import models
from .answers import UniEventAnswers
from .encoder import UniEventEncoder
from .failures import UniEventErrors
from .requests import UniEventRequests
from .words import (
    COUNTS,
    DONE,
    FIELD,
    NAME,
    STAMP,
    assembled,
    error_unit,
    read_stop,
    said_open,
    stop_event,
)

LATEST: Final = 1e15
"""Milliseconds that no time stamp reaches."""


class UniEvent(Codec):
    """The codec of UniEvent."""

    name: ClassVar[str] = NAME
    shapes: ClassVar[Mapping[str, Shape]] = {"": Objects(DONE), "jsonl": Lines(), "sse": Sse(DONE)}
    says = frozenset({*FIELD, "refusal", "state", "finish", "failure"})
    only: ClassVar[Mapping[str, str]] = {"created_at": "time stamps of single events"}
    requests = UniEventRequests()
    answers = UniEventAnswers()
    errors = UniEventErrors()
    endpoint = Endpoint("/v1/stream", streams=True)

    def encoder(self, options: Options) -> UniEventEncoder:
        return UniEventEncoder(self, options)

    def is_terminal(self, unit: JsonObject) -> bool:
        return unit.get("event_type") == "stop" or "error" in unit

    def kind(self, unit: JsonObject) -> str:
        items = unit.get("content_items")
        item = items[0] if isinstance(items, list) and items else None
        kind = item.get("type") if isinstance(item, dict) else unit.get("event_type", "error")
        return kind if isinstance(kind, str) else ""

    def time(self, unit: JsonObject) -> int | float | None:
        at = unit.get("created_at")
        known = isinstance(at, (int, float)) and not isinstance(at, bool) and -LATEST < at < LATEST
        return at if known else None

    def sayable(self, event: Event) -> bool:
        if type(event) is Open and event.kind == "tool_call":
            return bool(event.name)
        return super().sayable(event)

    def agrees(self, said: Event, meant: Event) -> bool:
        if type(said) is Open and type(meant) is Open:
            if said.kind == meant.kind == "tool_call":
                return same_call(said, meant)
            return said == replace(said_open(meant), residue=said.residue)
        if type(said) is Append and type(meant) is Append:
            values = [e.state.values if e.state and not is_hint(e.state) else None for e in (said, meant)]
            return jsontext.same(said.data, meant.data) and jsontext.same(*values)
        if type(said) is Finish and type(meant) is Finish:
            # an unknown total beside a known part of it is read as that part; a raw word that was read stands
            raw = said.reason.raw is None or said.reason == meant.reason
            return raw and jsontext.same(stop_event(said), stop_event(read_stop(stop_event(meant))))
        if type(said) is Failure and type(meant) is Failure:
            ours = error_unit(said, at_home=True)
            return any(jsontext.same(ours, error_unit(meant, at_home=home)) for home in (True, False))
        return type(said) is Close or said == meant

    def assemble(self, events: Iterable[Event]) -> JsonObject:
        """A UniMessage: the ``.done`` items, with the usage and finish reason of the stop event."""
        items: list[JsonObject] = []
        calls = 0
        for part in parts(events):
            if isinstance(part, Part):
                # one state is all that an item can say, and a group that broke before its first fragment says nothing
                state = next((state.values for state in part.states if state.values), None)
                if self.sayable(part.head) and part.begun:
                    items.append(assembled(said_open(part.head, calls), part.data, state))
                calls += part.head.kind == "tool_call"
            elif type(part) is Finish:
                stop = as_it_was(stop_event(part), part)
                ends: JsonObject = {
                    key: stop[key] for key in ("usage_metadata", "finish_reason", "created_at") if key in stop
                }
                return {"role": "assistant", "content_items": items, **ends}
        raise GrammarError("the events have no finish", expected="finish")

    def models(self) -> Mapping[str, type[BaseModel]]:
        return models.MODELS


def as_it_was(stop: JsonObject, event: Finish) -> JsonObject:
    """A stop event as it stood at home, where it came from there."""
    own = (event.residue or {}).get(NAME, {})
    if STAMP in own:
        stop["created_at"] = own[STAMP]
    try:
        was = patches.apply(stop, own.get("patch", []), sys.maxsize)
        if read_stop(was) != read_stop(stop):
            return stop
        # what the event left out is unknown
        return {**was, "usage_metadata": {**dict.fromkeys(COUNTS), **was["usage_metadata"]}}
    except (patches.PatchError, TranslateError, KeyError, TypeError):
        # the residue came by a carry
        return stop
