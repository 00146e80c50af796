"""Provenance: which units of the source each unit of the target came from.

Events are followed by identity, from the unit that says them to the units that an encoder puts them into; so with a
trace every unit goes the general way. All of it stands beside the engine: without a trace nothing is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..algebra.events import Event, JsonObject, bare, with_residue
from ..carry.losses import LossPolicy
from ..carry.making import script
from ..codec import Codec, Options, Said
from ..errors import CarryError
from ..shapes import Frame, Framing, Writer
from ..shapes.lines import together
from .frames import FrameOpener, Parts
from .sink import Ending, UnitSink


@dataclass(slots=True)
class SourceUnit:
    """A unit that was read.

    ``data``: as it came, ``None`` where only comments or carries came; ``unit``: its native part, ``None`` where it is
    broken; ``carries``: those beside it and ahead of it; ``offset``: bytes before it; ``name``: its event name on SSE.
    ``events``: what it means. ``said``: the index of the unit that was at work when the last of them was written,
    later than its own where they were held; ``None``: never. ``dropped``: the same for what was left out of the output.
    """

    index: int
    data: bytes | JsonObject | None = None
    unit: JsonObject | None = None
    carries: list[JsonObject] = field(default_factory=list)
    offset: int | None = None
    name: str | None = None
    events: list[Event] = field(default_factory=list)
    said: int | None = None
    dropped: int | None = None


@dataclass(slots=True)
class TargetUnit:
    """A unit that was written.

    ``unit``: its native part, ``None`` for a carry alone; ``carry``: what stands beside; ``output``: as it was given
    out. ``says``: the events that ``unit`` alone says; ``means``: those that it stands for, ``native``: those of them
    that ``unit`` says. ``sources``: indices of the source's units that it came from, in order; ``carried``: those of
    them that only the carry speaks of. ``at``: the index of the unit at work, ``None`` where there was none.
    """

    unit: JsonObject | None
    carry: JsonObject | None
    output: Any
    name: str | None
    says: tuple[Event, ...]
    means: tuple[Event, ...]
    native: tuple[Event, ...]
    sources: tuple[int, ...]
    carried: tuple[int, ...]
    at: int | None

    @property
    def made_up(self) -> bool:
        """Whether no unit of the source says it: a carry that rides on it has no part in that."""
        return not self.sources if self.unit is None else len(self.sources) == len(self.carried)


@dataclass(slots=True)
class Trace:
    """Collects where each unit came from. Give a fresh one to each conversion; it keeps the whole stream.

    ``sources`` and ``targets``: the units, in order. Keep-alives and end markers are none.
    """

    sources: list[SourceUnit] = field(default_factory=list)
    targets: list[TargetUnit] = field(default_factory=list)


class Tracer:
    """Fills a trace: what the engine tells of one conversion."""

    def __init__(self, trace: Trace) -> None:
        self.sources = trace.sources
        self.targets = trace.targets
        self._units: dict[int, int] = {}
        self._at: int | None = None
        self._event: Event | None = None
        self._saying: tuple[Sequence[Event], Sequence[Event], bool] = ((), (), False)
        self._ahead: list[tuple[_Meaning, JsonObject]] = []

    def opener(self, options: Options, fault: Callable[[CarryError], None]) -> FrameOpener:
        """What takes the frames of the source apart."""
        return TracingOpener(options, fault, self)

    def came(self, index: int) -> SourceUnit:
        """The unit of that index begins, or goes on."""
        while len(self.sources) <= index:
            self.sources.append(SourceUnit(len(self.sources)))
        return self.sources[index]

    def read(self, index: int, events: Sequence[Event]) -> list[Event]:
        """The events of a unit: to be encoded are those returned, which are of this unit alone."""
        self._at = index
        out = [with_residue(event, event.residue) if id(event) in self._units else event for event in events]
        if out:
            self.came(index).events += out
            self._units.update((id(event), index) for event in out)
        return out

    def begin(self, event: Event, *, own: bool = False) -> None:
        """An event is to be encoded; ``own``: one that the engine made itself."""
        self._event = event
        if own:
            self._at = None

    def saying(self, said: Sequence[Event], meant: Sequence[Event], *, made_up: bool) -> None:
        """What the next unit to be written says and means; see :meth:`translate.codec.Sink.put`."""
        self._saying = said, meant, made_up

    def saying_all(self) -> None:
        """The next unit to be written says the event at work."""
        event = () if self._event is None else (self._event,)
        self._saying = event, event, False

    def wrote(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, output: list[Any]) -> None:
        """A unit was written; no output: it waits for the next."""
        meaning = self._meaning(alone=unit is None)
        if not carry:
            for index in meaning.unsaid:
                self.sources[index].dropped = self._at
        if not output:
            if carry:
                self._ahead.append((meaning, carry))
            return
        ahead, self._ahead = self._ahead, []
        carry = together([held for _, held in ahead], carry) if ahead else carry
        parts = [*(held for held, _ in ahead), meaning]
        native = {index for part in parts for index in part.native}
        sources = native | ({index for part in parts for index in part.unsaid} if carry else set())
        for index in sources:
            self.sources[index].said = max(index, self._at or 0)
        self.targets.append(
            TargetUnit(
                unit,
                carry,
                output[-1],
                name,
                tuple(self._saying[0]),
                tuple(event for part in parts for event in part.means),
                tuple(event for part in parts for event in part.says),
                tuple(sorted(sources)),
                tuple(sorted(sources - native)),
                self._at,
            )
        )

    def _meaning(self, *, alone: bool) -> _Meaning:
        said, meant, made_up = self._saying
        entries = script(said, meant)
        out = _Meaning(list(meant), [], set(), set())
        for i, event in enumerate(meant):
            # an event that the encoder made is of the unit at work, or of no one
            index = self._units.get(id(event), None if made_up else self._at)
            entry = entries[i] if entries is not None else None
            unsaid = isinstance(entry, dict) and "event" in entry
            if not unsaid:
                out.says.append(event)
            if index is not None:
                (out.unsaid if unsaid else out.native).add(index)
        if not (alone or out.native):
            # a unit stands for what is meant, if in other words: the end of a part for a handover
            return _Meaning(out.means, out.means, out.unsaid, set())
        return out


@dataclass(slots=True)
class _Meaning:
    """What a unit means, and what of it is said; the units that both come from."""

    means: list[Event]
    says: list[Event]
    native: set[int]
    unsaid: set[int]


class TracingOpener(FrameOpener):
    """Tells a tracer of frames."""

    def __init__(self, options: Options, fault: Callable[[CarryError], None], tracer: Tracer) -> None:
        super().__init__(options, fault)
        self._tracer = tracer

    def open(self, frame: Frame) -> Parts:
        """As :meth:`FrameOpener.open`."""
        index = self._options.unit
        if frame.data is not None:
            came = self._tracer.came(index)
            came.data, came.offset, came.name = frame.data, frame.offset, frame.name
        parts = super().open(frame)
        if frame.data is not None:
            self._tracer.came(index).unit = parts.unit
        if parts.carry is not None:
            self._tracer.came(index).carries.append(parts.carry)
        return parts


class TracingSink(UnitSink):
    """Tells a tracer of what encoders put."""

    def __init__(self, codec: Codec, writer: Writer, options: Options, loss: LossPolicy, tracer: Tracer) -> None:
        super().__init__(codec, writer, options, loss)
        self._tracer = tracer

    def put(
        self,
        unit: JsonObject | None,
        name: str | None,
        said: Sequence[Event],
        meant: Sequence[Event],
        *,
        made_up: bool = False,
        later: Any = (),
        end: Ending | None = None,
    ) -> None:
        """As :meth:`UnitSink.put`."""
        spoken = (said, meant) if end is None else ([*said, *end.said], [*meant, *end.meant])
        self._tracer.saying(*spoken, made_up=made_up)
        super().put(unit, name, said, meant, made_up=made_up, later=later, end=end)

    def plain(self, said: Said, events: Sequence[Event]) -> None:
        """As :meth:`UnitSink.plain`."""
        unit, name, made_up = said
        self.put(unit, name, [*map(bare, events)], events, made_up=made_up)

    def native(self, unit: JsonObject, name: str | None = None) -> None:
        """As :meth:`UnitSink.native`."""
        self._tracer.saying_all()
        super().native(unit, name)


class TracingWriter:
    """Tells a tracer of what is written."""

    framing: Framing | None = None

    def __init__(self, writer: Writer, tracer: Tracer) -> None:
        self._writer = writer
        self._tracer = tracer
        self.joined = writer.joined
        self.ping = writer.ping
        self.end = writer.end

    @property
    def pending(self) -> list[JsonObject]:
        """Carries that wait for a unit to ride on."""
        return self._writer.pending

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        """As the writer itself."""
        before = len(out)
        self._writer.write(unit, name, carry, out)
        self._tracer.wrote(unit, name, carry, out[before:])
