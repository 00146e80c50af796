"""The half of a translation before the events: input becomes events, checked by the grammar.

What is true of every codec is done here, once: carries, limits, and the place of an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ..algebra.events import Event, JsonObject, Ping
from ..algebra.grammar import ENDED, Grammar
from ..carry.reading import CarryReader
from ..codec import Codec, Options
from ..errors import CarryError, CodecError, GrammarError, LimitExceeded, TranslateError, TruncatedStream, excerpt
from ..shapes import Chunk, Frame, Shape
from .forms import Run
from .frames import FrameOpener
from .hot import NESTS, WINDOW, HotReader

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
        run: Callable[[Run], None] | None = None,
        watch: Callable[[int, JsonObject], None] | None = None,
        opener: Opener = FrameOpener,
    ) -> None:
        """``run`` takes hot units together, where there are some; without it they are read as all others.

        ``watch`` is shown the index and the native part of every unit before it is decoded. ``opener`` makes what
        takes frames apart.
        """
        self._decoder = codec.decoder(options)
        self._format = format
        self._options = options
        self._emit = emit
        self._emit_run = run
        self._watch = watch
        self._reader = shape.reader(options.limits, options.strict)
        self._opener = opener(options, self._fault)
        self._grammar = Grammar(codec.name)
        self._carry = CarryReader(codec)
        self._unit = -1
        self._hot: HotReader | None = None
        self._tail: str | None = None
        # a report names what each unit loses, and where a limit is as low as a hot unit nests, each has to be looked at
        noted = options.report is not None and options.report.incidental
        self._cold = run is None or noted or options.limits.nesting < NESTS

    @property
    def ended(self) -> bool:
        """Whether the terminal unit was read."""
        return self._grammar.state == ENDED

    def feed(self, chunk: Chunk) -> None:
        """Read one chunk."""
        try:
            frames = self._reader.feed(chunk)
        except TranslateError as error:
            self._locate(error, self._unit + 1)
            raise
        self._take(frames)

    def close(self) -> None:
        """The input ended. Raises :class:`TruncatedStream` where there was no terminal unit."""
        self._take(self._reader.close())
        last = self._decoder.close()
        if last:
            self._check(last)
            self._emit(last)
        if not self.ended:
            raise self._truncated()

    @property
    def units(self) -> int:
        """How many units were begun."""
        return self._unit + 1

    @property
    def room(self) -> int:
        """By how much the open part may grow, and a unit be long."""
        return min(self._options.limits.part - self._grammar.size, self._options.limits.unit)

    @property
    def at_boundary(self) -> bool:
        """Whether all that came has been read, between two frames."""
        return self._reader.cursor.at == len(self._reader.cursor.data)

    def passed(self, run: Run) -> None:
        """Hot units of this stream were read by someone else."""
        self._grow(run, run.text)
        self._reader.cursor.base += run.size

    def _truncated(self) -> TruncatedStream:
        error = TruncatedStream("the input ended without a terminal unit")
        error.locate(excerpt=self._tail)
        self._locate(error, self._unit + 1)
        return error

    def _locate(self, error: TranslateError, unit: int) -> None:
        error.locate(format=self._format, unit=unit, state=self._decoder.state)

    def _take(self, frames: Iterator[Frame]) -> None:
        while True:
            while not self._cold and self._grammar.grows_by_text and self._run():
                pass
            try:
                frame = next(frames, None)
            except TranslateError as error:
                if self._reader.ended and not self.ended:
                    # what follows the end marker is not read: it may come in another chunk
                    raise self._truncated() from None
                self._locate(error, self._unit + 1)
                raise
            if frame is None:
                break
            self._frame(frame)
        if self._reader.ended and not self.ended:
            raise self._truncated()

    def _run(self) -> bool:
        """Read the hot units that come next; whether more may follow."""
        unit, reader = self._decoder.hot(), self._reader
        if unit is None or self.at_boundary or reader.framing is None or reader.ended:
            return False
        if self._hot is None:
            self._hot = HotReader(reader.framing, self._options.limits)
        at = reader.cursor.at
        run = self._hot.read(unit, reader.cursor, trusted=self._carry.trusted)
        if run is None:
            return False
        text = run.text
        if self._grammar.size + len(text) + run.texts.count("") > self._options.limits.part:
            # one of them passes the limit: the general way finds out which
            reader.cursor.at, self._cold = at, True
            return False
        self._grow(run, text)
        assert self._emit_run is not None
        self._emit_run(run)
        # after a long one the window was full; after a single one the form may change
        return run.size > WINDOW // 2 or len(run.texts) == 1

    def _grow(self, run: Run, text: str) -> None:
        self._grammar.size += len(text) + run.texts.count("")
        self._unit += len(run.texts)
        self._options.unit = self._unit
        self._decoder.grow(text)

    def _frame(self, frame: Frame) -> None:
        self._unit += frame.data is not None
        # a frame without a unit is of the one that comes
        self._options.unit = self._unit if frame.data is not None else self._unit + 1
        try:
            parts = self._opener.open(frame)
            events: list[Event] = [Ping() for _ in range(parts.pings)] if parts.pings and not self.ended else []
            if parts.unit is not None:
                meaning = self._meaning(parts.unit, parts.carry, frame)
                events = [*events, *meaning] if events else meaning
            elif parts.carry is not None:
                events += self._apply([], parts.carry)
            elif not (frame.whole or frame.pings or frame.carries or frame.data is not None):
                self._options.repair("end of input", "what holds the units lacks its end")
            if frame.data is not None and parts.unit is None:
                self._unit -= 1
                self._tail = excerpt(frame.data)
            self._check(events)
        except TranslateError as error:
            error.locate(offset=frame.offset, excerpt=excerpt(frame.data) if frame.data is not None else None)
            self._locate(error, self._options.unit)
            raise
        self._emit(events)

    def _meaning(self, unit: JsonObject, carry: JsonObject | None, frame: Frame) -> list[Event]:
        if self.ended:
            raise GrammarError("a unit after the terminal one", expected="nothing")
        if self._watch is not None:
            self._watch(self._unit, unit)
        ahead: list[Event] = []
        if carry is not None and "before" in carry:
            # what rode ahead is told to the decoder first, as it is where it has a block of its own
            told = self._carried(self._carry.ahead, [], carry)
            ahead, carry = (told, carry) if told is not None else ([], None)
        said = self._decoder.decode(unit, frame.name)
        if not frame.whole:
            self._options.repair("end of input", "the last unit lacks its blank line or line end")
        meant = self._apply(said, carry, ahead)
        return ahead + meant if ahead else meant

    def _apply(self, said: list[Event], carry: JsonObject | None, ahead: Sequence[Event] = ()) -> list[Event]:
        if carry is None:
            if self._carry.used:
                self._carry.native(said)
            return said
        meant = self._carried(self._carry.read, said, carry, ahead)
        return said if meant is None else meant

    def _carried(
        self,
        read: Callable[[list[Event], JsonObject], list[Event]],
        said: list[Event],
        carry: JsonObject,
        ahead: Sequence[Event] = (),
    ) -> list[Event] | None:
        """What a carry says, if the stream may go on so after ``ahead``; else its fault."""
        try:
            events = read(said, carry)
            self._grammar.allows([*ahead, *events] if ahead else events)
        except CarryError as error:
            self._fault(error)
            return None
        except CodecError as error:
            self._fault(CarryError(f"the carry makes no valid stream: {error.what}", expected=error.expected))
            return None
        self._decoder.meant(events)
        return events

    def _fault(self, error: CarryError) -> None:
        """A carry that is wrong: an error in strict mode, ignored and reported otherwise."""
        if self._options.strict:
            raise error
        self._options.repair("carry", f"ignored: {error.what}")

    def _check(self, events: Sequence[Event]) -> None:
        try:
            self._grammar.check(events)
        except CodecError as error:
            if not self._carry.used:
                raise
            raise CarryError(f"the carries make no valid stream: {error.what}", expected=error.expected) from None
        if self._grammar.size > self._options.limits.part:
            raise LimitExceeded("part", self._options.limits.part)
