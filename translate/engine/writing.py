"""The half of a translation behind the grammar: events become units, and these output."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ..algebra.events import (
    Append,
    Event,
    Failure,
    Finish,
    Foreign,
    JsonObject,
    Ping,
    bare,
    is_synthetic,
    made_up_by_another,
    with_residue,
)
from ..algebra.failures import reported
from ..algebra.json_form import same_event
from ..algebra.serial import was_said
from ..algebra.weight import HELD, weight
from ..carry import patches
from ..carry.losses import LossPolicy
from ..codec import JOINED, Encoder, Options, Written
from ..errors import LimitExceeded, TranslateError, UpstreamFailure
from ..registry import resolve
from .residues import MOST, UNITS
from .runs import Fragments, Run, gather
from .sink import Ending, UnitSink
from .trace import Tracer, TracingSink, TracingWriter


class Writing:
    """The half of a translation behind the grammar: events in, output units out."""

    def __init__(
        self,
        dst: str,
        options: Options,
        loss: LossPolicy,
        tracer: Tracer | None = None,
        *,
        raises: bool = False,
    ) -> None:
        """``raises``: a failure that the source reports is raised instead of being said."""
        codec, shape = resolve(dst)
        self.format = dst
        self.codec = codec
        self.objects = shape.objects
        options.objects = shape.objects
        self._options = options
        writer = shape.writer()
        self.joined = writer.joined
        self._tracer = tracer
        if tracer is None:
            self.sink = UnitSink(codec, writer, options, loss)
        else:
            self.sink = TracingSink(codec, TracingWriter(writer, tracer), options, loss, tracer)
        self.encoder = codec.encoder(options)
        self._say = has_short_way(type(self.encoder), "write", "say")
        self._held: list[Event] = []
        self._fragments = Fragments()
        """Plain fragments behind what is held."""
        self._due = 0
        self._waiting = 0
        """What the events weigh that wait to be joined."""
        self._raises = raises
        self.failure: UpstreamFailure | None = None
        """What the failure that the source reported, and that was said, stands for."""
        self.ended = False

    def go_the_long_way(self) -> None:
        """For tests: say nothing by the short way."""
        self._say = False

    def encode_all(self, events: Sequence[Event]) -> None:
        """The events of a unit, in order."""
        if len(events) == 1:
            tried = self._say and not self._held
            if tried and (said := self.encoder.say(events)) is not None:
                self.sink.plain(said, events)
                if type(events[0]) is Finish:
                    self._end_well()
            else:
                self.encode_read(events[0], tried=tried)
            return
        at, end = 0, len(events)
        while at < end:
            event = events[at]
            if type(event) is Append and at + 1 < end and (run := gather(events, at)) is not None:
                self.run(run)
                at += len(run.texts)
                continue
            self.encode_read(event)
            at += 1

    def _end_well(self) -> None:
        self.ended = True
        self.sink.end(failed=False)

    def trace_all(self, events: Sequence[Event]) -> None:
        """As :meth:`encode_all`, one by one, each told to the tracer."""
        assert self._tracer is not None
        for event in self._tracer.read(self._options.unit, events):
            self._tracer.begin(event)
            self.encode_read(event)

    def encode_own(self, event: Event) -> None:
        """An event that comes from no unit of the source."""
        if self._tracer is not None:
            self._tracer.begin(event, own=True)
        self.encode(event)

    # ---- runs of fragments

    def run(self, run: Run) -> bool:
        """Plain fragments; whether they were written as a run, or only held."""
        if self._held:
            if not self._due and self.encoder.holds(self._held):
                if not self._fragments.extend(run):
                    self._unfold()
                    self._held += run.events()
                return True
        elif self.sink.run(self.encoder, run):
            return True
        # what the encoder holds, and the stream's first carry, go out with the first
        first, others = run.split(1)
        self._encode_each(first)
        if not others.texts:
            return False
        if not self.sink.run(self.encoder, others):
            self._encode_each(others)
            return False
        return True

    def _encode_each(self, run: Run) -> None:
        for event in run.events():
            self.encode(event)

    # ---- one event

    def encode_read(self, event: Event, *, tried: bool = False) -> None:
        """One event that a unit of the source means. ``tried``: there is no short way for it."""
        if type(event) is not Failure:
            self.encode(event, tried=tried)
        elif self._raises:
            raise reported(event)
        else:
            self.encode(event)
            self.failure = reported(event)
            self.failure.locate(unit=self._options.unit)

    def encode(self, event: Event, *, tried: bool = False) -> None:
        """One event of the grammar; what it lets be said is in the sink's ``out``."""
        kind = type(event)
        if self._due and (kind is Finish or kind is Failure) and not self._is_due(event):
            self._come_apart()
        held = self._held
        if held and not self._due and self.encoder.holds(held):
            # a tracer knows events by what they are, not by their values
            if kind is Append and self._tracer is None and self._fragments.add(event):  # type: ignore[arg-type]
                return
            self._unfold()
        if self._say and not tried and len(held) < 2 and not self._due:
            events = (*held, event)
            said = self.encoder.say(events)
            if said is not None:
                self._held = []
                self.sink.plain(said, events)
                if kind is Finish:
                    self._end_well()
                return
        if kind is Ping and event.residue is None and not self.codec.complete:
            self.sink.ping()
            return
        if event.residue is None or not made_up_by_another(event, self.codec.name):
            ahead = () if self._due else self.encoder.ahead(event)
            for piece in ahead:
                self._put(piece)
            if ahead and not held and self._say and (said := self.encoder.say((event,))) is not None:
                # what was demanded stands there now
                self.sink.plain(said, (event,))
                if kind is Finish:
                    self._end_well()
                return
            held.append(event)
            self._write(event)
        if kind is Finish or kind is Failure:
            self.ended = True
            self.sink.end(failed=kind is Failure)

    def _is_due(self, end: Event) -> bool:
        """Whether the end of the stream is an event of the unit whose other events wait."""
        if len(self._held) + 1 < self._due:
            return False
        events = [each for each in (*self._held, end) if type(each) is not Ping]
        unit = self.encoder.whole(events) or {}
        try:
            said = self.encoder.read(unit, self.codec.event_name(unit))
        except TranslateError:
            return False
        return [type(each) for each in said] == [type(each) for each in events]

    def _come_apart(self) -> None:
        """Write by themselves the events of one unit whose others do not come any more."""
        first, *others = self._held
        name = self.codec.name
        mark: JsonObject = {"synthetic": True} if is_synthetic(first, name) else {}
        self._held, self._due, self._waiting = [], 0, 0
        # what was special about the unit went with it
        for event in (with_residue(first, {**(first.residue or {}), name: mark}), *others):
            self.encode(event)

    def _unfold(self) -> None:
        self._held += self._fragments.events()

    def _write(self, event: Event) -> None:
        held, encoder = self._held, self.encoder
        if len(held) == 1:
            self._due = self._joined(event)
        if self._due:
            if len(held) < self._due:
                self._waiting += HELD + weight(event)
                if self._waiting > self._options.limits.part:
                    raise LimitExceeded("part", self._options.limits.part)
                return
            unit = encoder.whole([each for each in held if type(each) is not Ping]) or {}
            made_up = is_synthetic(held[0], self.codec.name)
            pieces: Sequence[Written] = [Written(unit, held, self.codec.event_name(unit), made_up)]
        else:
            try:
                written = encoder.write(held)
            except TranslateError:
                # what could not be written goes out with no other unit
                self._held = []
                raise
            if written is None:
                return
            own = encoder.residue(held[0])
            pieces = written if own is None or UNITS not in own else self._several(written, own[UNITS])
        self._held, self._due, self._waiting = [], 0, 0
        for piece in pieces:
            self._put(piece)

    def _several(self, pieces: Sequence[Written], found: object) -> Sequence[Written]:
        """The units of one event as they once were: all but the last say nothing."""
        expected = [piece for piece in pieces if piece.unit is not None]
        if not isinstance(found, list) or not 0 < len(found) <= MOST or not expected:
            self.encoder.fault("it holds no units")
            return pieces
        out: list[Written] = []
        last = expected[-1]
        for i, patch in enumerate(found):
            base = expected[i].unit if i < len(expected) else {}
            try:
                unit = patches.apply(base, patch, self._options.limits.nesting)
            except patches.PatchError as error:
                self.encoder.fault(f"the residue of {self.codec.name!r} does not fit its units: {error}")
                return pieces
            name = expected[i].name if i < len(expected) else last.name
            out.append(Written(unit, (), name) if i < len(found) - 1 else last._replace(unit=unit, name=name))
        if any(self.encoder.read(piece.unit or {}, piece.name) for piece in out[:-1]):
            self.encoder.fault("what should only repeat says something else")
            return pieces
        return [*(piece for piece in pieces if piece.unit is None), *out]

    def _joined(self, event: Event) -> int:
        """Of how many events the unit was made that this is the first of, where its own codec says so."""
        own = self.encoder.residue(event)
        count = own.get(JOINED, 0) if own is not None else 0
        if type(count) is int and 0 <= count <= MOST:
            return count
        self.encoder.fault("it joins more events than a unit says")
        return 0

    def _put(self, piece: Written) -> None:
        unit, meant, name = piece.unit, piece.meant, piece.name
        if piece.guess is not None:
            self._options.guess(*piece.guess)
        if unit is None:
            self._put_carry(piece)
            return
        if self.codec.complete:
            self.sink.native(unit, piece.name)
        else:
            own = self.encoder.residue(meant[0]) if meant else None
            if piece.exact and self._say and (own is None or "patch" not in own):
                self.encoder.go_on(unit, meant)
                self.sink.plain((unit, piece.name, piece.made_up), meant)
                return
            said: Sequence[Event] | None = None
            if own is not None and "patch" in own:
                unit, said = self._restored(unit, piece, own["patch"])
                name = self.codec.event_name(unit) or name
            if said is None and (self.sink.weighs or (meant and type(meant[0]) is Foreign)):
                said = self._read(unit, piece)
                if said is None:
                    return
            self.encoder.go_on(unit, meant)
            end = self._end(piece.ends)
            self.sink.put(unit, name, said or (), meant, made_up=piece.made_up, later=piece.later, end=end)
            return
        self.encoder.go_on(unit, meant)

    def _put_carry(self, piece: Written) -> None:
        """What has no words, but for what the codec said with units that came before."""
        meant = [event for event in piece.meant if not was_said(event, self.codec.name)]
        ends = meant[-1:] if meant and type(meant[-1]) is Finish and "finish" in self.codec.leaves_out else []
        self.encoder.go_on(None, piece.meant[: len(piece.meant) - len(ends)])
        end = self._end(ends)
        if ends or meant:
            self.sink.put(None, None, (), meant[: len(meant) - len(ends)], later=piece.later, end=end)

    def _end(self, ends: Sequence[Event]) -> Ending | None:
        """The end that no unit says, and that means ``ends``."""
        if not ends:
            return None
        end = Ending(self.encoder.close(marked=True), ends, not self.encoder.at_home(ends[0]))
        self.encoder.go_on(None, ends)
        return end

    def _read(self, unit: JsonObject, piece: Written) -> Sequence[Event] | None:
        """What a unit says that is about to be written; ``None`` where it must not be."""
        foreign = bool(piece.meant) and type(piece.meant[0]) is Foreign
        try:
            said = self.encoder.read(unit, piece.name)
        except TranslateError as error:
            if not foreign or isinstance(error, LimitExceeded):
                raise
            said = []
        if foreign and ([type(e) for e in said] != [Foreign] or isinstance(unit.get("carry"), dict)):
            self.encoder.fault("a foreign unit that has a meaning in its own format")
            return None
        return said

    def _restored(self, unit: JsonObject, piece: Written, patch: object) -> tuple[JsonObject, Sequence[Event] | None]:
        """The unit as it once was, by the ``patch`` in its residue, and what it says then.

        A residue comes from a carry, and a carry may not contradict: where the patched unit says other content, or
        the patch does not fit, strict mode raises :class:`CarryError`, lenient mode leaves the unit as it is.
        """
        said: Sequence[Event] | None = None
        try:
            restored = patches.apply(unit, patch, self._options.limits.nesting)
            if isinstance(restored, dict) and not isinstance(restored.get("carry"), dict):
                said = self.encoder.read(unit, piece.name) if unit else piece.meant
                found = self._says(restored, said, piece)
                if found is not None:
                    return restored, found
            what = "it makes a unit that says something else"
        except patches.PatchError as error:
            what = str(error)
        self.encoder.fault(f"the residue of {self.codec.name!r} does not fit its unit: {what}")
        return unit, said

    def _says(self, unit: JsonObject, said: Sequence[Event], piece: Written) -> list[Event] | None:
        """What a patched unit says, or ``None`` where that is not what is meant."""
        try:
            found = self.encoder.read(unit, self.codec.event_name(unit) or piece.name)
        except TranslateError:
            return None
        meant = piece.meant
        if len(found) == len(meant) and all(map(same_event, found, meant)):
            return found
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


@cache
def has_short_way(encoder: type[Encoder], long: str, short: str) -> bool:
    """Whether a short way may be used: only where the class that defines the long one defines it too."""
    for cls in encoder.__mro__:
        if long in cls.__dict__:
            return short in cls.__dict__
    return False
