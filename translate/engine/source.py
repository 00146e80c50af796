"""The half of a translation before the events: input becomes events, checked by the grammar.

What is true of every codec is done here, once: carries, what a unit has beyond the expected, limits, and the place of
an error. A usual unit takes the short way (``Decoder.plain``), all others the long one, which is the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import orjson

from ..algebra.events import Append, Event, JsonObject, Ping
from ..algebra.grammar import ENDED, INSIDE, Grammar
from ..carry import reasons, short
from ..codec import Codec, Decoder, Hot, Options
from ..errors import CarryError, CodecError, GrammarError, LimitExceeded, TranslateError, TruncatedStream, excerpt
from ..shapes import Chunk, Frame, Shape
from ..shapes.long import WIDE, shorn
from . import runs
from .carried import Carried
from .frames import FrameOpener
from .held import HeldBack
from .meaning import Meanings
from .residues import Residues
from .run_reader import RunReader
from .runs import Run
from .writing import has_short_way

Emit: TypeAlias = Callable[[Sequence[Event]], None]
"""Takes the events of one unit."""
Opener: TypeAlias = Callable[[Options, Callable[[CarryError], None]], FrameOpener]
"""Makes what takes the frames of a stream apart."""


class Source:
    """Input to events: :meth:`feed` for each chunk, :meth:`close` at the end of input.

    Both hand on the events of each unit as soon as it is read, so that what came before an error is out.
    """

    def __init__(
        self,
        codec: Codec,
        shape: Shape,
        format: str,
        options: Options,
        emit: Emit,
        run: Callable[[Run], object] | None = None,
        watch: Callable[[int, JsonObject], None] | None = None,
        opener: Opener = FrameOpener,
    ) -> None:
        """``run`` takes plain fragments together, where there are some; without it they are read as all others.

        ``watch`` is shown the index and the native part of each unit before its events are handed on, but of those of
        a run, which differ from one that was shown in its text alone. ``opener`` makes what takes frames apart.
        """
        self._codec = codec
        self._name = codec.name
        self._wire = codec.encoder(options)
        self._wire.at_source = True
        self._format = format
        self._options = options
        self._emit = emit
        self._emit_run = run
        self._watch = watch
        self._marks = getattr(shape, "done", None) is not None
        self._reader = shape.reader(options.limits, options.strict)
        self.grammar = Grammar(codec.name)
        """Where the stream stands."""
        self._carried = Carried(codec, self.grammar, options)
        self._carry = self._carried.reader
        self._opener = opener(options, self._carried.fault)
        self._opener.spelled = codec.spelled
        # text that is no longer cannot nest deeper than the limit
        self._deep = 2 * options.limits.nesting
        self._unit = -1
        self._tail: str | None = None
        self._residues = Residues(self._wire)
        plain = has_short_way(type(self._wire), "read", "plain")
        self._meanings = Meanings(codec, self._wire, self._carried, self._residues, plain=plain)
        self._grows = type(self._wire).grow is not Decoder.grow
        self._short = plain and opener is FrameOpener
        whole = run is not None and self._short and runs.ON and self._reader.framing is not None
        # a report names what each unit loses, unit by unit
        noted = options.report is not None and options.report.incidental
        self._runs = RunReader(options.limits, self._wire) if whole and not noted else None
        self._next: Hot | None = None
        """What the next unit may well be, if it differs from the last in its holes alone."""
        self._held = None if options.strict else HeldBack(self._wire, options)

    def go_the_long_way(self) -> None:
        """For tests: read nothing by the short way."""
        self._meanings.plain = self._short = False
        self._runs = self._next = None

    @property
    def ended(self) -> bool:
        """Whether the terminal unit was read."""
        return self.grammar.state is ENDED

    @property
    def units(self) -> int:
        """How many units were read so far, one that raised included."""
        return self._unit + 1

    def feed(self, chunk: Chunk) -> None:
        """Read one chunk."""
        if self._next is not None and self._alike(chunk):
            return
        frame = self._reader.one(chunk) if self._short else None
        if frame is not None:
            if not self._usual(frame, chunk):
                self._next = None
                self._frame(frame)
            return
        try:
            frames = self._reader.feed(chunk)
        except TranslateError as error:
            self._locate(error, self._unit + 1)
            raise
        self._take(frames)

    def close(self) -> None:
        """The input ended. Raises :class:`TruncatedStream` where that was too early."""
        self._take(self._reader.close())
        self._give_up()
        if not self.ended:
            self._close(marked=False)
            if self._marks:
                self._options.repair("end of input", reasons.repaired("no marker"))

    def _close(self, *, marked: bool) -> None:
        """The end of the stream where no unit said it: what it makes, and the last unit's carry says of that."""
        said = self._wire.close(marked=marked)
        events = self._carried.read(self._carry.end, said) or said if said else said
        self._wire.go_on(None, events)
        self._check(events)
        self._emit(events)
        if not self.ended:
            error = TruncatedStream("the input ended without a terminal unit", excerpt=self._tail)
            self._locate(error, self._unit + 1)
            raise error

    def _locate(self, error: TranslateError, unit: int) -> None:
        error.locate(format=self._format, unit=unit, state=self._wire.state)

    def _locate_at(self, error: TranslateError, frame: Frame) -> None:
        error.locate(offset=frame.offset, excerpt=excerpt(frame.data) if frame.data is not None else None)
        self._locate(error, self._options.unit)

    def _take(self, frames: Iterator[Frame]) -> None:
        reader = self._reader
        while True:
            if self._next is not None:
                self._run(self._next)
            start = reader.cursor.at
            try:
                frame = next(frames, None)
            except TranslateError as error:
                self._give_up()
                if reader.ended and not self.ended:
                    # the end comes first, whether or not what follows its marker came in the same chunk
                    self._close(marked=True)
                self._locate(error, self._unit + 1)
                raise
            if frame is None:
                break
            if not (self._short and self._usual(frame, start)):
                self._next = None
                self._frame(frame)
        if reader.ended:
            self._give_up()
        if reader.ended and not self.ended:
            self._close(marked=True)

    # ---- runs of fragments

    def _run(self, hot: Hot) -> None:
        """Read the fragments that come next and differ from the last unit in their holes alone."""
        reader, found = self._reader, self._runs
        at = reader.cursor.at
        if found is None or reader.ended or at >= len(reader.cursor.data):
            return
        if (run := found.read(hot, reader.cursor)) is None:
            return
        grammar, text = self.grammar, run.text
        size = grammar.size + len(text) + run.texts.count("")
        if size > self._options.limits.part:
            # one of them passes the limit: the other way finds out which
            reader.cursor.at, self._runs = at, None
            return
        grammar.size = size
        self._unit += len(run.texts)
        self._wire.grow(text, len(run.texts))
        assert self._emit_run is not None
        # what the first of them lets be said is said of that one
        self._options.unit = self._unit - len(run.texts) + 1
        self._emit_run(run)
        self._options.unit = self._unit

    def _alike(self, chunk: Chunk) -> bool:
        """A chunk that is one such fragment; false, before anything was changed, where it is not."""
        found, hot, grammar = self._runs, self._next, self.grammar
        if found is None or hot is None or type(chunk) is not bytes:
            return False
        if (run := found.one(hot, chunk)) is None:
            return False
        text = run.texts[0]
        size = grammar.size + (len(text) or 1)
        if size > self._options.limits.part or not self._reader.passes(len(chunk)):
            return False
        grammar.size = size
        self._unit += 1
        self._options.unit = self._unit
        if self._grows:
            self._wire.grow(text, 1)
        self._emit_run(run)  # type: ignore[misc]
        return True

    # ---- one unit, the short way

    def _usual(self, frame: Frame, where: int | bytes) -> bool:
        """A unit as most are; false, before anything was changed, where it is in any way unusual.

        ``where``: it begins in what is at hand, or the chunk that it is.
        """
        data, _, name, carries, pings, whole = frame
        if pings or not whole or len(carries) > 1 or self.grammar.state is ENDED:
            return False
        if self._held is not None and (self._carry.used or self._held):
            return False
        unit: Any = data
        carry: Any = None
        end: Any = None
        if type(data) is bytes:
            try:
                unit = orjson.loads(data) if len(data) <= self._deep else self._quickly(data)
                carry = orjson.loads(carries[0]) if carries else None
            except ValueError:
                return False
        if type(unit) is not dict or ("carry" in unit and (carries or type(unit["carry"]) is not dict)):
            return False
        read: Any = unit
        if "carry" in unit:
            unit = dict(unit)
            carry = unit.pop("carry")
        if carry is not None:
            size = len(carries[0]) if carries else len(data or ())
            if type(carry) is not dict or size > self._options.limits.carry or not self._carry.plain:
                return False
            if not short.allows(carry, self._name):
                if not short.changes_end(carry, carries[0] if carries else data):
                    return False
                end = carry
        state = self._wire.state if end is not None else ""
        events = self._wire.plain(unit, name)
        if events is None:
            if type(data) is not bytes or len(data) <= WIDE:
                self._opener.read = data, read
            return False
        self._unit += 1
        self._options.unit = self._unit
        if self._watch is not None:
            self._watch(self._unit, unit)
        if end is not None:
            self._end_at(events, end, frame, state)
            return True
        if carry is not None:
            short.put(carry, events[0], self._name)
            self._carry.used = True
        event, grammar = events[0], self.grammar
        if (
            type(event) is Append
            and len(events) == 1
            and event.state is None
            and (grammar.state is INSIDE and type(event.data) is grammar.grows)
            and (size := grammar.size + (len(event.data) or 1)) <= self._options.limits.part
        ):
            grammar.size = size
        else:
            try:
                self._check(events)
            except TranslateError as error:
                self._locate_at(error, frame)
                raise
        if self._runs is not None:
            self._next = self._runs.learned(self._wire.hot(), self._reader, events, unit, frame, where)
        self._emit(events)
        return True

    def _quickly(self, data: bytes) -> Any:
        """A unit, what may have been changed without a word a float, and as such unusual; ``None`` for what nests.

        A long text that is only compared stays in its JSON.
        """
        long = shorn(data) if len(data) > WIDE and self._wire.compares and self._watch is None else None
        text = data if long is None else long.rest
        if len(text) > self._deep and text.count(b"[") + text.count(b"{") > self._deep // 2:
            return None
        return orjson.loads(text) if long is None else long.put(orjson.loads(text))

    def _end_at(self, said: list[Event], carry: JsonObject, frame: Frame, state: str) -> None:
        """An end with a carry that changes it, in ``state``: whatever a carry does to another event is refused."""
        try:
            events = self._carried.apply(said, carry, [])
            self._check(events)
        except TranslateError as error:
            error.locate(state=state)
            self._locate_at(error, frame)
            raise
        self._emit(events)

    # ---- one frame, the long way

    def _frame(self, frame: Frame) -> None:
        if self._held is None:
            self._read_frame(frame)
            return
        try:
            found = self._held.put(frame, self._unit)
        except TranslateError as error:
            error.locate(offset=frame.offset, excerpt=excerpt(frame.data))
            self._locate(error, self._options.unit)
            raise
        self._read_held(found)

    def _read_held(self, found: Sequence[tuple[Frame, int]]) -> None:
        for frame, more in found:
            self._read_frame(frame)
            self._unit += more

    def _give_up(self) -> None:
        """Nothing comes that could tell what the frames are that are held back."""
        if self._held:
            self._read_held(self._held.rest(self._unit))

    def _read_frame(self, frame: Frame) -> None:
        self._unit += frame.data is not None
        # a frame without a unit is of the one that comes
        self._options.unit = self._unit if frame.data is not None else self._unit + 1
        try:
            parts = self._opener.open(frame)
            events: list[Event] = [Ping() for _ in range(parts.pings)] if parts.pings and not self.ended else []
            if parts.unit is not None:
                meaning = self._meant(parts.unit, parts.carry, frame)
                events = [*events, *meaning] if events else meaning
            elif parts.carry is not None:
                events += self._meanings.alone(parts.carry)
            elif not (frame.whole or frame.pings or frame.carries or frame.data is not None):
                self._options.repair("end of input", reasons.repaired("no container end"))
            if frame.data is not None and parts.unit is None:
                self._unit -= 1
                self._tail = excerpt(frame.data)
            self._check(events)
        except TranslateError as error:
            self._locate_at(error, frame)
            raise
        self._emit(events)

    def _meant(self, unit: JsonObject, carry: JsonObject | None, frame: Frame) -> list[Event]:
        if self.ended:
            if self._options.strict or not self._wire.trails(unit):
                raise GrammarError("a unit after the terminal one", expected="nothing")
            self._options.repair("end", reasons.repaired("after the end"))
            return []
        if self._watch is not None:
            self._watch(self._unit, unit)
        return self._meanings.of(unit, carry, frame)

    def _check(self, events: Sequence[Event]) -> None:
        grammar = self.grammar
        try:
            grammar.check(events)
        except CodecError as error:
            if not self._carry.used:
                raise
            raise CarryError(f"the carries make no valid stream: {error.what}", expected=error.expected) from None
        # one measure for the open part and all that waits with it
        beside = self._residues.size
        size = beside + grammar.size if grammar.state is INSIDE else max(beside, grammar.size)
        if size > self._options.limits.part:
            raise LimitExceeded("part", self._options.limits.part)
