"""The algebra itself as a format: events as objects, or one a line in their JSON form. All has words here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel

from translate import jsontext
from translate.algebra import models as event_models
from translate.algebra.events import NAMES, PART_KINDS, Event, JsonObject, with_residue
from translate.algebra.grammar import Grammar
from translate.algebra.json_form import from_json, to_json
from translate.codec import Codec, Encoder, Options, Pieces, Written
from translate.errors import DecodeError, excerpt
from translate.limits import Limits
from translate.shapes import Chunk, Cursor, Frame, Framing, Shape
from translate.shapes.lines import RidingWriter, StrictLines


class EventsEncoder(Encoder):
    """Reads events and holds them to the grammar, for they come from outside; writes them as they are."""

    def __init__(self, codec: Codec, options: Options) -> None:
        super().__init__(codec, options)
        self._grammar = Grammar()

    @property
    def state(self) -> str:
        return self._grammar.state

    def read(self, unit: JsonObject, name: str | None) -> list[Event]:
        event = unit["event"] if isinstance(unit.get("event"), Event) else from_json(jsontext.from_strict(unit))
        self._grammar.allows((event,))
        return [event]

    def take(self, unit: JsonObject | None, meant: Sequence[Event]) -> None:
        self._grammar.check(meant)

    def write(self, events: Sequence[Event]) -> Pieces:
        (event,) = events
        residue = event.residue
        if residue and any(own.get("synthetic") for own in residue.values()):
            # what a codec made up is said again by that codec alone
            event = with_residue(event, {k: own for k, own in residue.items() if not own.get("synthetic")} or None)
        return [Written({"event": event} if self.options.objects else to_json(event), events)]


class EventsReader:
    """Reads event objects."""

    framing: Framing | None = None
    ended = False

    def __init__(self) -> None:
        self.cursor = Cursor()

    def one(self, chunk: Chunk) -> Frame | None:
        return None

    def passes(self, size: int) -> bool:
        return False

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
    complete = True
    says = frozenset({*PART_KINDS, "start", "handover", "state", "annotate", "usage", "foreign", "finish", "failure"})

    def encoder(self, options: Options) -> EventsEncoder:
        return EventsEncoder(self, options)

    def is_terminal(self, unit: JsonObject) -> bool:
        return unit.get("event") in ("finish", "failure")

    def kind(self, unit: JsonObject) -> str:
        event = unit.get("event")
        return event if isinstance(event, str) else NAMES.get(type(event), "")

    def models(self) -> Mapping[str, type[BaseModel]]:
        return event_models.MODELS


CODEC = Events()
