"""What a codec is: a decoder and an encoder of one format, and what the engine must know of it.

A codec's author writes how a unit is read and written *natively*. The engine does the rest: bytes and units, the
carry, losses, reports, errors with their place, limits. ``translate.testing`` holds a codec to this contract.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from .algebra.events import (
    Append,
    Event,
    Foreign,
    Handover,
    JsonObject,
    Model,
    Open,
    Ping,
    Start,
    bare,
    is_synthetic,
    made_up_by_another,
)
from .carry import patches as patch
from .carry.losses import Finding, Report
from .carry.making import same_event
from .errors import CarryError, CodecError, TranslateError
from .limits import Limits

if TYPE_CHECKING:
    from pydantic import BaseModel

    from .engine.forms import Hot
    from .shapes import Shape


@dataclass(slots=True)
class Options:
    """What a conversion was asked for, as codecs see it.

    ``model``: who answers, for targets that name it where the source does not. ``clock``: milliseconds of Unix time,
    for targets that stamp. ``objects``: the units are Python objects, not bytes.
    """

    model: Model
    clock: Callable[[], int]
    strict: bool
    limits: Limits
    report: Report | None
    objects: bool = False
    unit: int = field(default=-1)
    """Index of the source's unit at work, kept by the engine."""

    def guess(self, name: str, reason: str) -> None:
        """Report something that was assumed."""
        if self.report is not None:
            self.report.add("guesses", Finding(self.unit, name, reason))

    def repair(self, name: str, reason: str) -> None:
        """Report something that was mended."""
        if self.report is not None:
            self.report.add("repairs", Finding(self.unit, name, reason))


class Sink(Protocol):
    """Where an encoder puts its units. The engine's: see :class:`translate.engine.sink.UnitSink`."""

    def put(
        self,
        unit: JsonObject | None,
        name: str | None,
        said: Sequence[Event],
        meant: Sequence[Event],
        *,
        made_up: bool = False,
        later: Iterable[str] = (),
    ) -> None:
        """One unit.

        ``unit``: the native unit, ``None`` where the format has no words for what is meant. ``name``: its event name
        on SSE. ``said``: the events that the codec's decoder makes of ``unit`` alone, without residues. ``meant``:
        the events it stands for, with theirs; the unit itself says the codec's own residue of the first. ``made_up``:
        what the codec added to the unit comes from no one. ``later``: members that are said natively further on.
        """

    def native(self, unit: JsonObject, name: str | None = None) -> None:
        """One unit that says all that is meant, residues included."""

    def ping(self) -> None:
        """A keep-alive, where the shape has one."""

    def end(self) -> None:
        """After the terminal unit: the end marker, where the format has one."""


class Decoder(ABC):
    """Reads the units of one stream.

    The engine calls :meth:`decode` once a unit, in order, and :meth:`meant` after each, with what the unit's carry
    made of its events. A raised error ends the stream; what was returned before it is delivered.
    """

    options: Options

    def __init__(self, options: Options) -> None:
        self.options = options

    @property
    @abstractmethod
    def state(self) -> str:
        """What the grammar is in, for errors."""

    @abstractmethod
    def decode(self, unit: JsonObject, name: str | None) -> list[Event]:
        """The events that ``unit`` says by itself, at least one. Everything that can be said now is.

        ``name`` is the SSE event name, ``None`` where there is none. What only this codec can say of the unit is its
        residue of the first event. Must not change or keep ``unit``. Raises :class:`DecodeError` or
        :class:`GrammarError`.
        """

    def close(self) -> list[Event]:
        """The input ended. What was waiting for more of it; a terminal event only where the format ends so."""
        return []

    def hot(self) -> Hot | None:
        """The unit that more of the open part would come as, where such units may be read by their holes alone."""
        return None

    def grow(self, text: str) -> None:
        """Told of the text of hot units that were read in place of :meth:`decode`."""

    def meant(self, events: Sequence[Event]) -> None:
        """Told of the events a unit turned out to mean, where a carry had a say."""


class Encoder(ABC):
    """Writes the units of one stream: the engine calls :meth:`encode` once an event, in the order of the grammar."""

    name: str

    def __init__(self, codec: Codec, sink: Sink, options: Options) -> None:
        self.codec = codec
        self.name = codec.name
        self.sink = sink
        self.options = options

    def encode(self, event: Event) -> None:
        """Put all the units that ``event`` makes sayable. No event is held longer than its part is open."""
        if type(event) is not Start or not made_up_by_another(event, self.name):
            self.handle(event)

    def hot(self) -> Hot | None:
        """The unit that a plain fragment of the open part is written as, where it may be written by its holes alone."""
        return None

    def grow(self, text: str) -> None:
        """Told of the text of plain fragments that were written in place of :meth:`encode`."""

    def ping(self, event: Ping) -> None:
        """A keep-alive: what the shape has for one, if anything."""
        self.sink.ping()

    @property
    def holds(self) -> bool:
        """Whether a plain fragment of the open part is only kept for later: nothing is put, and nothing can fail."""
        return False

    def hold(self, fragments: list[Append]) -> None:
        """Keep plain fragments in place of :meth:`encode`, where it :attr:`holds` them."""

    @abstractmethod
    def handle(self, event: Event) -> None:
        """One event of the grammar."""

    def carried(self, *meant: Event, later: Iterable[str] = ()) -> None:
        """Put what the format has no words for; ``later``: members that are said natively further on."""
        self.sink.put(None, None, (), meant, later=later)

    def residue(self, event: Event) -> JsonObject | None:
        """This codec's own residue of ``event``."""
        return event.residue.get(self.name) if event.residue else None

    def at_home(self, event: Event) -> bool:
        """Whether ``event`` came from this codec, by a unit that someone really said."""
        return self.residue(event) is not None and not is_synthetic(event, self.name)

    @abstractmethod
    def reread(self, unit: JsonObject) -> list[Event]:
        """What this codec's decoder makes of a unit that is about to be put here, in strict mode."""

    def restore(self, unit: JsonObject, said: list[Event], meant: Sequence[Event]) -> tuple[JsonObject, list[Event]]:
        """The unit as it once was, by the ``patch`` in the residue of the first event meant, and what it says then.

        A residue comes from a carry, and a carry may not contradict: where the patched unit says other content, or
        the patch does not fit, strict mode raises :class:`CarryError`, lenient mode leaves the unit as it is.
        """
        residue = self.residue(meant[0])
        if residue is None or "patch" not in residue:
            return unit, said
        try:
            restored = patch.apply(unit, residue["patch"])
            if isinstance(restored, dict) and not isinstance(restored.get("carry"), dict):
                found = self._says(restored, said, meant)
                if found is not None:
                    return restored, found
            what = "it makes a unit that says something else"
        except patch.PatchError as error:
            what = str(error)
        self.fault(f"the residue of {self.name!r} does not fit its unit: {what}")
        return unit, said

    def _says(self, unit: JsonObject, said: list[Event], meant: Sequence[Event]) -> list[Event] | None:
        """What a patched unit says, or ``None`` where that is not what is meant."""
        try:
            found = [bare(event) for event in self.reread(unit)]
        except TranslateError:
            return None
        if len(found) != len(said):
            return None
        for i, (now, before) in enumerate(zip(found, said, strict=True)):
            if type(now) is not type(before):
                return None
            if not same_event(now, before) and not (
                len(said) == len(meant) and type(now) is type(meant[i]) and self.codec.agrees(now, bare(meant[i]))
            ):
                return None
        return found

    def foreign(self, event: Foreign, name: str | None) -> None:
        """Put a unit of this codec's own that has no meaning in the algebra."""
        try:
            found = self.reread(event.unit)
        except TranslateError:
            found = []
        if [type(e) for e in found] != [Foreign] or isinstance(event.unit.get("carry"), dict):
            self.fault("a foreign unit that has a meaning in its own format")
            return
        self.sink.put(event.unit, name, [Foreign(self.name, event.unit)], [event])

    def fault(self, what: str) -> None:
        """Something that came by a carry is wrong: an error in strict mode, left out and reported otherwise."""
        if self.options.strict:
            raise CarryError(what)
        self.options.repair("carry", f"left out: {what}")


class Codec(ABC):
    """One grammar in its shapes: a factory of decoders and encoders, itself without state.

    Class attributes: ``name`` names the codec for ever, in residues too. ``shapes``: the formats, by what follows the
    name (``""``: objects, ``"jsonl"``, ``"sse"``, …), made of :mod:`translate.shapes`. ``says``: the names
    of events and kinds of parts that have native words. ``partly``: of what else some has words, and which. ``only``:
    what no other codec says, by name; both are for predictions and documentation.
    """

    name: ClassVar[str]
    shapes: ClassVar[Mapping[str, Shape]]
    says: ClassVar[frozenset[str]]
    partly: ClassVar[Mapping[str, str]] = {}
    only: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def decoder(self, options: Options) -> Decoder:
        """A decoder for one stream."""

    @abstractmethod
    def encoder(self, sink: Sink, options: Options) -> Encoder:
        """An encoder for one stream."""

    def is_terminal(self, unit: JsonObject) -> bool:
        """Whether a unit ends a stream wherever it stands: in a log, the next stream begins after it.

        Only asked where a stream is broken. Without an answer, all that follows is part of the broken one.
        """
        return False

    def kind(self, unit: JsonObject) -> str:
        """What people call such a unit, in a word; ``""`` where it has no name. For display: takes any object."""
        return ""

    def time(self, unit: JsonObject) -> int | float | None:
        """When the unit says that it was made, in milliseconds of Unix time. For display: takes any object."""
        return None

    def sayable(self, event: Event) -> bool:
        """Whether the format has native words for a ``Start``, a ``Handover``, or a part so opened."""
        if type(event) is Open:
            return event.kind in self.says
        return {Start: "start", Handover: "handover"}.get(type(event), "") in self.says

    def agrees(self, said: Event, meant: Event) -> bool:
        """Whether the native words of ``meant`` are those that were read as ``said``.

        Both are of one type. Asked of a carry that changes members of what its unit says; a wrong *yes* lets a carry
        contradict its unit.
        """
        return said == meant

    def assemble(self, events: Iterable[Event]) -> Any:
        """The message that complete, valid events add up to, in the format's own form."""
        raise CodecError(f"the codec {self.name!r} has no form for an assembled message")

    def models(self) -> Mapping[str, type[BaseModel]]:
        """The pydantic models of the wire; ``"unit"`` is that of every unit, the base of the strict check."""
        return {}

    def schemas(self) -> dict[str, JsonObject]:
        """The JSON Schemas of :meth:`models`."""
        return {name: model.model_json_schema() for name, model in self.models().items()}
