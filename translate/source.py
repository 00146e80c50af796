"""The half of a translation before the events: input becomes events, checked by the grammar.

What is true of every codec is done here, once: carries, limits, and the place of an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from . import hot
from .carry_reader import CarryReader
from .codec import Codec, Options
from .errors import CarryError, CodecError, GrammarError, LimitExceeded, TranslateError, TruncatedStream, excerpt
from .events import Event, JsonObject, Ping
from .frames import FrameOpener
from .grammar import ENDED, Grammar
from .shapes import Chunk, Frame, Shape

Emit: TypeAlias = Callable[[Sequence[Event]], None]
"""Takes the events of one unit, or of a run of hot units."""


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
        watch: Callable[[int, JsonObject], None] | None = None,
    ) -> None:
        """``watch`` is shown the index and the native part of every unit before it is decoded."""
        self._decoder = codec.decoder(options)
        self._format = format
        self._options = options
        self._emit = emit
        self._watch = watch
        self._reader = shape.reader(options.limits, options.strict)
        self._opener = FrameOpener(options, self._fault)
        self._grammar = Grammar(codec.name)
        self._carry = CarryReader(codec)
        self._unit = -1
        self._window = hot.WINDOW
        self._tail: str | None = None
        # a report names units, and where a limit is as low as a hot unit nests, every unit has to be looked at
        self._cold = watch is not None or options.report is not None or options.limits.nesting < hot.NESTS

    @property
    def ended(self) -> bool:
        """Whether the terminal unit was read."""
        return self._grammar.state == ENDED

    def feed(self, chunk: Chunk) -> None:
        """Read one chunk."""
        self._read(self._reader.feed, chunk)

    def close(self) -> None:
        """The input ended. Raises :class:`TruncatedStream` where there was no terminal unit."""
        self._read(self._reader.close)
        last = self._decoder.close()
        if last:
            self._check(last)
            self._emit(last)
        if not self.ended:
            raise self._truncated()

    def _read(self, read: Callable[..., None], *chunk: Chunk) -> None:
        frames: list[Frame] = []
        try:
            read(*chunk, frames)
        except TranslateError as error:
            # what was read before comes first
            self._take(frames)
            self._locate(error, self._unit + 1)
            raise
        self._take(frames)

    def _truncated(self) -> TruncatedStream:
        error = TruncatedStream("the input ended without a terminal unit")
        error.locate(excerpt=self._tail)
        self._locate(error, self._unit + 1)
        return error

    def _locate(self, error: TranslateError, unit: int) -> None:
        error.locate(format=self._format, unit=unit, state=self._decoder.state)

    def _take(self, frames: list[Frame]) -> None:
        at, end = 0, len(frames)
        while at < end:
            read = self._hot(frames, at) if self._grammar.grows_by_text and not self._cold else 0
            if not read:
                self._frame(Frame(*frames[at]))
            at += read or 1
        if self._reader.ended and not self.ended:
            raise self._truncated()

    def _hot(self, frames: list[Frame], at: int) -> int:
        """Read hot units from ``at`` on; how many. The window closes while there are few, and opens again."""
        unit = self._decoder.hot()
        if unit is None:
            return 0
        options, grammar, window = self._options, self._grammar, self._window
        carry = options.limits.carry if self._carry.trusted else 0
        events: list[Event] = []
        texts = hot.read(unit, frames, at, events, residues=options.residues, window=window, carry=carry)
        self._window = min(hot.WINDOW, max(4, len(texts)) * 4)
        if not texts:
            return 0
        size = grammar.size
        grammar.grown(texts)
        if grammar.size > options.limits.part:
            # one of them passes the limit: the general way finds out which
            grammar.size, self._cold = size, True
            return 0
        self._unit += len(texts)
        options.unit = self._unit
        self._decoder.grow(texts)
        self._emit(events)
        return len(texts)

    def _frame(self, frame: Frame) -> None:
        self._unit += frame.data is not None
        # a frame without a unit is of the one that comes
        self._options.unit = self._unit if frame.data is not None else self._unit + 1
        try:
            parts = self._opener.open(frame)
            events: list[Event] = [] if self.ended else [Ping() for _ in range(parts.pings)]
            if parts.unit is not None:
                events += self._meaning(parts.unit, parts.carry, frame)
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
            held = carry
            told = self._carried(lambda: self._carry.ahead(held), [])
            ahead, carry = (told, carry) if told is not None else ([], None)
        said = self._decoder.decode(unit, frame.name)
        if not frame.whole:
            self._options.repair("end of input", "the last unit lacks its blank line or line end")
        return ahead + self._apply(said, carry, ahead)

    def _apply(self, said: list[Event], carry: JsonObject | None, ahead: Sequence[Event] = ()) -> list[Event]:
        if carry is None:
            self._carry.native(said)
            return said
        meant = self._carried(lambda: self._carry.read(said, carry), ahead)
        return said if meant is None else meant

    def _carried(self, read: Callable[[], list[Event]], ahead: Sequence[Event]) -> list[Event] | None:
        """What a carry says, if the stream may go on so after ``ahead``; else its fault."""
        try:
            events = read()
            self._grammar.allows([*ahead, *events])
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
        self._bound()

    def _bound(self) -> None:
        if self._grammar.size > self._options.limits.part:
            raise LimitExceeded("part", self._options.limits.part)
