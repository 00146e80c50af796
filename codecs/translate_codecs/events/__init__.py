"""The algebra itself as a format: events as objects, or one a line in their JSON form. All has words here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import BaseModel

from translate import jsontext
from translate.algebra import models as event_models
from translate.algebra.events import NAMES, PART_KINDS, WHOLE, Event, JsonObject, Ping
from translate.algebra.grammar import Grammar
from translate.algebra.json_form import from_json, to_json
from translate.codec import Codec, Decoder, Encoder, Options, Sink
from translate.errors import DecodeError, excerpt
from translate.limits import Limits
from translate.shapes import Chunk, Cursor, Frame, Framing, Shape
from translate.shapes.lines import RidingWriter, StrictLines


class EventsDecoder(Decoder):
    """Reads events and holds them to the grammar: they come from outside."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._grammar = Grammar()

    @property
    def state(self) -> str:
        return self._grammar.state

    def decode(self, unit: JsonObject, name: str | None) -> list[Event]:
        event = unit["event"] if isinstance(unit.get("event"), Event) else from_json(jsontext.from_strict(unit))
        self._grammar.check((event,))
        return [event]


class EventsEncoder(Encoder):
    """Writes events as they are."""

    def encode(self, event: Event) -> None:
        residue = event.residue
        if residue and any(own.get("synthetic") for own in residue.values()):
            # what a codec made up is said again by that codec alone
            if type(event) in WHOLE:
                return
            kept = {name: own for name, own in residue.items() if not own.get("synthetic")}
            event = replace(event, residue=kept or None)
        self.handle(event)

    def ping(self, event: Ping) -> None:
        self.encode(event)

    def reread(self, unit: JsonObject) -> list[Event]:
        return [from_json(unit)]

    def handle(self, event: Event) -> None:
        self.sink.native({"event": event} if self.options.objects else to_json(event))


class EventsReader:
    """Reads event objects."""

    framing: Framing | None = None
    ended = False

    def __init__(self) -> None:
        self.cursor = Cursor()

    def feed(self, chunk: Chunk) -> Iterator[Frame]:
        if not isinstance(chunk, Event):
            raise DecodeError(f"a unit is an event, not {type(chunk).__name__}", excerpt=excerpt(chunk))
        return iter((Frame({"event": chunk}),))

    def close(self) -> Iterator[Frame]:
        """Nothing is ever unfinished."""
        return iter(())


class EventsWriter(RidingWriter):
    """Writes event objects."""

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        assert unit is not None
        out.append(unit["event"])


class EventObjects:
    """The shape of event objects."""

    objects = True
    media_types: Sequence[str] = ()

    def reader(self, limits: Limits, strict: bool) -> EventsReader:
        return EventsReader()

    def writer(self) -> EventsWriter:
        return EventsWriter()


class Events(Codec):
    """The codec of the algebra."""

    name: ClassVar[str] = "events"
    shapes: ClassVar[Mapping[str, Shape]] = {"": EventObjects(), "jsonl": StrictLines()}
    says = frozenset(
        {*PART_KINDS, "start", "handover", "state", "annotate", "usage", "foreign", "finish", "failure"}
    )

    def decoder(self, options: Options) -> EventsDecoder:
        return EventsDecoder(options)

    def encoder(self, sink: Sink, options: Options) -> EventsEncoder:
        return EventsEncoder(self, sink, options)

    def is_terminal(self, unit: JsonObject) -> bool:
        return unit.get("event") in ("finish", "failure")

    def kind(self, unit: JsonObject) -> str:
        event = unit.get("event")
        return event if isinstance(event, str) else NAMES.get(type(event), "")

    def models(self) -> Mapping[str, type[BaseModel]]:
        return event_models.MODELS


CODEC = Events()
