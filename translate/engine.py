"""The two halves of a translation: a source makes events of input, a sink makes output of what an encoder says.

Between them stands the list of events, checked by the grammar. What is true of every codec is done here, once:
carries, losses, limits, and the place of an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from . import hot, jsontext
from .carry import CarryReader, compose
from .codec import Codec, Encoder, Options
from .errors import (
    CarryError,
    CodecError,
    DecodeError,
    GrammarError,
    LimitExceeded,
    LossError,
    TranslateError,
    TruncatedStream,
    excerpt,
)
from .events import Event, JsonObject, Ping
from .grammar import ENDED, Grammar
from .loss import Finding, LossPolicy, losses
from .shapes import Chunk, Frame, Shape, Writer


class Source:
    """Input to events: :meth:`feed` for each chunk, :meth:`close` at the end of input.

    Both append to a list that the caller gives; when they raise, the list has all that came before.
    """

    def __init__(
        self,
        codec: Codec,
        shape: Shape,
        format: str,
        options: Options,
        watch: Callable[[int, JsonObject], None] | None = None,
    ) -> None:
        """``watch`` is shown the index and the native part of every unit before it is decoded."""
        self._watch = watch
        self._decoder = codec.decoder(options)
        self._codec = codec
        self._format = format
        self._options = options
        self._reader = shape.reader(options.limits, options.strict)
        self._grammar = Grammar(codec.name)
        self._carry = CarryReader(codec)
        self._unit = -1
        self._window = hot.WINDOW
        # where a limit is as low as a hot unit nests, every unit has to be looked at
        self._cold = watch is not None or options.limits.nesting < hot.NESTS

    @property
    def ended(self) -> bool:
        """Whether the terminal unit was read."""
        return self._grammar.state == ENDED

    def feed(self, chunk: Chunk, out: list[Event]) -> None:
        """Read one chunk."""
        frames: list[Frame] = []
        try:
            self._reader.feed(chunk, frames)
        except TranslateError as error:
            self._broken(error, frames, out)
        self._take(frames, out)

    def close(self, out: list[Event]) -> None:
        """The input ended. Raises :class:`TruncatedStream` where there was no terminal unit."""
        frames: list[Frame] = []
        try:
            self._reader.close(frames)
        except TranslateError as error:
            self._broken(error, frames, out)
        self._take(frames, out)
        last = self._decoder.close()
        self._check(last)
        out += last
        if not self.ended:
            raise self._truncated()

    def _truncated(self) -> TruncatedStream:
        error = TruncatedStream("the input ended without a terminal unit")
        error.locate(format=self._format, unit=self._unit + 1, state=self._decoder.state)
        return error

    def _broken(self, error: TranslateError, frames: list[Frame], out: list[Event]) -> NoReturn:
        """The reader failed: what it read before comes first."""
        self._take(frames, out)
        error.locate(format=self._format, unit=self._unit + 1, state=self._decoder.state)
        raise error

    def _take(self, frames: list[Frame], out: list[Event]) -> None:
        at, end = 0, len(frames)
        while at < end:
            read = self._hot(frames, at, out) if self._grammar.grows_by_text and not self._cold else 0
            at += read
            if not read:
                self._frame(Frame(*frames[at]), out)
                at += 1
        if self._reader.ended and not self.ended:
            raise self._truncated()

    def _hot(self, frames: list[Frame], at: int, out: list[Event]) -> int:
        """Read hot units from ``at`` on; how many. The window closes while there are few, and opens again."""
        unit = self._decoder.hot()
        if unit is None:
            return 0
        options, grammar, window = self._options, self._grammar, self._window
        carry = options.limits.carry if self._carry.trusted else 0
        texts = hot.read(unit, frames, at, out, residues=options.residues, window=window, carry=carry)
        self._window = min(hot.WINDOW, max(4, len(texts)) * 4)
        if not texts:
            return 0
        size = grammar.size
        grammar.grown(texts)
        if grammar.size > options.limits.part:
            # one of them passes the limit: the general way finds out which
            grammar.size, self._cold = size, True
            del out[-len(texts) :]
            return 0
        self._unit += len(texts)
        options.unit = self._unit
        self._decoder.grow(texts)
        return len(texts)

    def _frame(self, frame: Frame, out: list[Event]) -> None:
        options = self._options
        try:
            events: list[Event] = []
            if frame.data is not None:
                self._unit += 1
                options.unit = self._unit
                unit, carry = self._load(frame)
                if unit is None:
                    self._unit -= 1
                    return
                if not frame.whole:
                    options.repair("end of input", "the last unit lacks its blank line or line end")
                events += self._meaning(unit, frame, carry)
            elif frame.carries and frame.whole:
                # a carry in an unfinished block speaks for a unit that never came
                options.unit = self._unit + 1
                events += self._apply([], self._beside(frame))
            elif not (frame.whole or frame.pings or frame.carries):
                options.repair("end of input", "what holds the units lacks its end")
            if frame.pings and not self.ended:
                events = [*(Ping() for _ in range(frame.pings)), *events]
            self._check(events)
        except TranslateError as error:
            index = self._unit if frame.data is not None else self._unit + 1
            error.locate(
                format=self._format,
                unit=max(index, 0),
                offset=frame.offset,
                state=self._decoder.state,
                excerpt=excerpt(frame.data) if frame.data is not None else None,
            )
            raise
        out += events

    def _load(self, frame: Frame) -> tuple[JsonObject | None, JsonObject | None]:
        """The unit and its carry. An unfinished unit at the end of input is none."""
        data = frame.data
        try:
            unit = data if isinstance(data, dict) else self._json(data)
        except DecodeError:
            if frame.whole:
                raise
            return None, None
        if not isinstance(unit, dict):
            if not frame.whole:
                return None, None
            raise DecodeError(f"a unit is an object, not {type(unit).__name__}")
        return self._split(unit, frame)

    def _json(self, data: bytes | None) -> Any:
        assert data is not None
        limits = self._options.limits
        if self._options.strict:
            return jsontext.loads(data, limits.nesting)
        try:
            return jsontext.loads(data, limits.nesting)
        except DecodeError:
            repaired = data.decode("utf-8", "replace").encode()
            if repaired == data:
                raise
            self._options.repair("utf-8", "bytes that are not UTF-8 were replaced")
            return jsontext.loads(repaired, limits.nesting)

    def _split(self, unit: JsonObject, frame: Frame) -> tuple[JsonObject, JsonObject | None]:
        carry = self._beside(frame)
        inside = unit.get("carry")
        if not isinstance(inside, dict):
            return unit, carry
        unit = {k: v for k, v in unit.items() if k != "carry"}
        if "member" in inside:
            unit["carry"] = inside["member"]
        limit = self._options.limits.carry
        if isinstance(frame.data, bytes) and len(frame.data) > limit and len(jsontext.dumps(inside)) > limit:
            self._fault(_too_large(limit))
            return unit, carry
        if carry is not None:
            self._fault(CarryError("a unit with two carries", expected="one"))
            return unit, carry
        return unit, self._exact(inside)

    def _exact(self, carry: JsonObject) -> JsonObject | None:
        """The carry with its numbers as they were."""
        try:
            return jsontext.from_strict(carry)  # type: ignore[no-any-return]
        except DecodeError as error:
            self._fault(CarryError(f"the carry holds what is no number: {error.what}"))
        except RecursionError:
            self._fault(CarryError("the carry nests too deeply", expected=f"at most {self._options.limits.nesting} levels"))
        return None

    def _beside(self, frame: Frame) -> JsonObject | None:
        """The carry in the comments of an SSE block. A comment that only looks like one is a comment."""
        found: list[JsonObject] = []
        for text in frame.carries:
            if len(text) > self._options.limits.carry:
                self._fault(_too_large(self._options.limits.carry))
                continue
            try:
                value = jsontext.loads(text, self._options.limits.nesting)
            except DecodeError:
                self._utf8(text)
                value = None
            except LimitExceeded as error:
                self._fault(CarryError(f"the carry passes a limit: {error.what}"))
                continue
            if not isinstance(value, dict):
                continue
            value = self._exact(value)
            if value is not None:
                found.append(value)
        if len(found) > 1:
            self._fault(CarryError("a unit with two carries", expected="one"))
        return found[0] if found else None

    def _utf8(self, text: bytes) -> None:
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as error:
            if self._options.strict:
                raise jsontext.not_utf8(text, error) from None

    def _meaning(self, unit: JsonObject, frame: Frame, carry: JsonObject | None) -> list[Event]:
        if self._grammar.state == ENDED:
            raise GrammarError("a unit after the terminal one", expected="nothing")
        if self._watch is not None:
            self._watch(self._unit, unit)
        ahead: list[Event] = []
        if carry is not None and "before" in carry:
            # what rode ahead is told to the decoder first, as it is where it has a block of its own
            try:
                ahead = self._carry.ahead(carry)
                self._decoder.meant(ahead)
            except CarryError as error:
                self._fault(error)
                carry = None
        said = self._decoder.decode(unit, frame.name)
        if carry is None:
            return said
        return ahead + self._apply(said, carry)

    def _apply(self, said: list[Event], carry: JsonObject | None) -> list[Event]:
        if carry is None:
            return said
        try:
            events = self._carry.read(said, carry)
        except CarryError as error:
            self._fault(error)
            return said
        self._carry.ended(events)
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


def _too_large(limit: int) -> CarryError:
    return CarryError("the carry is too large", expected=f"at most {limit} bytes")


class UnitSink:
    """Where an encoder puts its units: adds the carry or not, notes and refuses losses, lays the units out."""

    def __init__(self, codec: Codec, writer: Writer, options: Options, loss: LossPolicy) -> None:
        self._name = codec.name
        self._writer = writer
        self._options = options
        self._loss = loss
        self._weigh = loss != "drop" or options.report is not None
        self._first = True
        plain = options.report is None and loss != "raise"
        self._hot = hot.HotWriter(writer.framing if plain else None, loss == "carry", options.clock)
        self.out: list[Any] = []

    @property
    def pending(self) -> list[JsonObject]:
        """Carries that wait for a unit to ride on."""
        return self._writer.pending

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
        """See :meth:`translate.codec.Sink.put`."""
        carry: JsonObject | None = None
        if self._weigh:
            carry = compose(said, meant, self._name, made_up=made_up)
            if carry:
                self._note(carry, later)
                if self._loss != "carry":
                    carry = None
                elif self._first:
                    carry = {"v": 1, **carry}
                    self._first = False
        self._writer.write(unit, name, carry, self.out)

    def _note(self, carry: JsonObject, later: Iterable[str]) -> None:
        options = self._options
        if options.report is None and self._loss != "raise":
            return
        for field, reason, content in losses(carry, self._name, later):
            if options.report is not None:
                options.report.add("losses", Finding(options.unit, field, reason, content, self._loss == "carry"))
            if content and self._loss == "raise":
                raise LossError(f"{reason}, and loss='raise'", field=field)

    def run(self, encoder: Encoder, events: Sequence[Event], at: int) -> int:
        """Write the plain fragments among ``events`` from ``at`` on; how many."""
        unit = encoder.hot()
        if unit is None or self._writer.pending:
            return 0
        texts = self._hot.write(unit, events, at, self.out, first=self._first)
        if texts:
            encoder.grow(texts)
        return len(texts)

    def native(self, unit: JsonObject, name: str | None = None) -> None:
        """One unit that says all that is meant."""
        self._writer.write(unit, name, None, self.out)

    def ping(self) -> None:
        """A keep-alive."""
        self._writer.ping(self.out)

    def end(self) -> None:
        """After the terminal unit."""
        self._writer.end(self.out)
