"""The sans-I/O core: one stream of one format in, another format out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from ..algebra.events import PART_KINDS, Append, Event, JsonObject, Model, Ping, TokenCounts
from ..algebra.failures import failure_of
from ..algebra.grammar import ENDED, Grammar
from ..carry.losses import ErrorPolicy, Finding, LossPolicy, Report, unsaid, unsaid_of
from ..errors import CarryError, MisuseError, TranslateError, TruncatedStream, UpstreamFailure, too_deep
from ..limits import Limits
from ..registry import resolve
from ..shapes import Chunk
from .memory import OpenPart
from .options import ModelOption, make_options, of_type, one_of
from .runs import Run
from .source import Source
from .trace import Trace, Tracer
from .writing import Writing

if TYPE_CHECKING:
    from typing import Unpack

    from typing_extensions import TypeVar as DefaultedTypeVar

    from ..api import ByteFormat, ConvertOptions, EventFormat, Format, ObjectFormat

    Unit = DefaultedTypeVar("Unit", default=Any)
else:
    Unit = TypeVar("Unit")


class Machine(ABC, Generic[Unit]):
    """What the skins drive: one stream, in steps.

    Each call returns the output that the input so far makes sayable. An error that is met after output was made is
    kept and raised by the next call; it is raised by every call after that too.
    """

    def __init__(self, formats: str, *, joined: bool) -> None:
        self.formats = formats
        """What is read and what is written, in words."""
        self.joined = joined
        """Whether the output is bytes, whose units may be joined."""
        self.error: Exception | None = None
        """The error that the next call raises."""
        self.finished = False
        """Whether nothing more is to be read."""
        self.failure: Exception | None = None
        """What the failure unit that ends the output stands for, under ``errors="encode"``."""
        self._closed = False
        self._broke: Exception | None = None

    @property
    def ended(self) -> bool:
        """Whether the terminal unit was said."""
        return False

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lstrip('_')} {self.progress()}>"

    def progress(self) -> str:
        """Formats, how many units, and whether the stream is open, ended, or failed by which error."""
        failed = self._broke or self.failure
        state = f"failed ({type(failed).__name__})" if failed else "ended" if self.ended else "open"
        return f"{self.formats}: {self._counted()}, {state}"

    def _counted(self) -> str:
        """How much was read and written."""
        return "nothing counted"

    @abstractmethod
    def _read(self, data: Any, out: list[Any]) -> None:
        """Take one chunk; ``out`` gets the output, also where this raises."""

    @abstractmethod
    def _end(self, out: list[Any]) -> None:
        """Take the end of input."""

    def _meet(self, error: Exception, out: list[Any]) -> Exception | None:
        """What becomes of an error: an error to raise, or ``None`` where the output says it."""
        return error

    def feed(self, data: Any) -> list[Unit]:
        """Read one chunk: bytes or text for byte formats, one unit for object formats.

        Raises :class:`MisuseError` after :meth:`close`. What follows an error that the output said is not read.
        """
        if self._closed and self.error is None:
            self.error = MisuseError("input after the end of input", expected="nothing after close()")
        if self.error is not None:
            raise self.error
        out: list[Any] = []
        if not self.finished:
            try:
                self._read(data, out)
            except RecursionError:
                self._stop(too_deep(), out)
            except Exception as error:
                self._stop(error, out)
        return out

    def close(self) -> list[Unit]:
        """The input ended. Raises :class:`TruncatedStream` where it ended without a terminal unit."""
        self._closed = True
        if self.error is not None:
            raise self.error
        out: list[Any] = []
        if not self.finished:
            self.finished = True
            try:
                self._end(out)
            except RecursionError:
                self._stop(too_deep(), out)
            except Exception as error:
                self._stop(error, out)
        return out

    def fail(self, error: Exception) -> list[Unit]:
        """The source itself raised ``error``; once the terminal unit was said, that is no one's concern."""
        if self.error is not None:
            raise self.error
        out: list[Any] = []
        if not self.finished and not self.ended:
            self._stop(error, out)
        self.finished = True
        return out

    def _stop(self, error: Exception, out: list[Any]) -> None:
        self.finished = True
        try:
            self.error = self._meet(error, out)
        except Exception as raised:
            # what says errors failed itself
            self.error = raised
        self._broke = self.error
        if self.error is not None and not out:
            if isinstance(self.error, TranslateError):
                raise self.error from None
            # an error of the source, or of a codec, keeps its cause
            raise self.error


class Translator(Machine[Unit]):
    """Translates one stream, sans I/O.

    Call :meth:`feed` with each chunk of input, in order, then :meth:`close` once. Both return units of the target,
    ``bytes`` or objects: all that the input so far makes sayable. An error that is met after output was made is kept
    and raised by the next call, and by every call after that.

    ``errors="raise"``: a failure that the stream itself reports is raised as :class:`UpstreamFailure`, other errors
    as they are. ``errors="encode"``: the output ends in the target's own failure unit instead, and what is fed after
    that is not read. Units after the terminal one raise in both.

    To type checkers it is a ``Translator[bytes]``, ``Translator[JsonObject]`` or ``Translator[Event]``, by the name of
    the target.
    """

    @overload
    def __init__(self: Translator[bytes], src: Format, dst: ByteFormat, **options: Unpack[ConvertOptions]) -> None: ...
    @overload
    def __init__(
        self: Translator[JsonObject], src: Format, dst: ObjectFormat, **options: Unpack[ConvertOptions]
    ) -> None: ...
    @overload
    def __init__(self: Translator[Event], src: Format, dst: EventFormat, **options: Unpack[ConvertOptions]) -> None: ...
    @overload
    def __init__(self, src: Format, dst: Format, **options: Unpack[ConvertOptions]) -> None: ...
    def __init__(
        self,
        src: str,
        dst: str,
        *,
        model: ModelOption | None = None,
        clock: Callable[[], int] | None = None,
        loss: LossPolicy = "carry",
        errors: ErrorPolicy = "raise",
        strict: bool = True,
        limits: Limits | None = None,
        report: Report | None = None,
        trace: Trace | None = None,
    ) -> None:
        """See :func:`translate.convert` for the options. Raises :class:`UnknownFormat`."""
        one_of("loss", loss, "carry", "drop", "raise")
        one_of("errors", errors, "raise", "encode")
        of_type("trace", trace)
        options = make_options(model, clock, strict, limits, report)
        codec, shape = resolve(src)
        tracer = Tracer(trace) if trace is not None else None
        self._writing = Writing(dst, options, loss, tracer, raises=errors == "raise")
        target = self._writing.codec
        if tracer is None:
            self._source = Source(codec, shape, src, options, *self._takers())
        else:
            self._source = Source(codec, shape, src, options, self._writing.trace_all, opener=tracer.opener)
        self._part: OpenPart | None = None
        if codec is target:
            # at home nothing is filled in
            options.model = Model()
        self._format = src
        self._options = options
        self._raise_errors = errors == "raise"
        super().__init__(f"{src} to {dst}", joined=self._writing.joined)
        if report is not None:
            _predict(report, codec, self._writing.codec, loss)

    def _takers(self) -> tuple[Callable[[Sequence[Event]], None], Callable[[Run], object]]:
        """What takes the events, and the runs, of the source."""
        return self._writing.encode_all, self._writing.run

    def ping(self) -> list[Unit]:
        """A keep-alive of the target, between any two units; nothing where its shape has none."""
        if self._writing.ended:
            return []
        out: list[Any] = []
        self._writing.sink.out = out
        self._writing.encode_own(Ping())
        return out

    @property
    def units(self) -> int:
        """How many units of the source were read so far, one that raised included."""
        return self._source.units

    @property
    def units_written(self) -> int:
        """How many units of the target were written so far."""
        return self._writing.sink.units

    def _counted(self) -> str:
        return f"{self.units} units read, {self.units_written} written"

    @property
    def model(self) -> Model | None:
        """Who answers, as the stream says it, once it has."""
        return start.model if (start := self._source.grammar.start) is not None else None

    @property
    def usage(self) -> TokenCounts | None:
        """What its counts of tokens add up to so far, once there are some."""
        return self._source.grammar.usage

    @property
    def held(self) -> int:
        """Bytes that the open part takes in memory, about and rather too many. To be asked after each chunk."""
        self._part = self._part or OpenPart(self._source.grammar)
        return self._part.size(self._source.units)

    @property
    def ended(self) -> bool:
        """Whether the terminal unit of the target was said."""
        return self._writing.ended

    def _read(self, data: Chunk, out: list[Any]) -> None:
        self._writing.sink.out = out
        try:
            self._source.feed(data)
        finally:
            # also where what follows a failure in the same chunk is wrong
            if self._writing.failure is not None:
                self._reported()

    def _end(self, out: list[Any]) -> None:
        self._writing.sink.out = out
        try:
            self._source.close()
        finally:
            self._reported()

    def _reported(self) -> None:
        if self._writing.failure is not None and self.failure is None:
            self.failure = self._writing.failure
            self.failure.locate(format=self._format)

    def _meet(self, error: Exception, out: list[Any]) -> Exception | None:
        """Say an error in the target's own words, or have it raised."""
        self._writing.sink.out = out
        if not self._raise_errors and not self._writing.ended:
            try:
                self._writing.encode_own(failure_of(error))
                self.failure = error
                return None
            except TranslateError as raised:
                error = raised
        if isinstance(error, TranslateError):
            error.pending = list(self._writing.sink.pending)
            # a carry that is found wrong as it is written came with the source
            of_source = isinstance(error, (UpstreamFailure, CarryError))
            error.locate(format=self._format if of_source else self._writing.format, unit=max(self._options.unit, 0))
        return error


def _predict(report: Report, src: Any, dst: Any, loss: LossPolicy) -> None:
    """What a stream of ``src`` may hold that ``dst`` cannot say: known before the first unit."""
    if src.name == dst.name:
        return
    content = frozenset({*PART_KINDS, "annotate", "state"})
    carried = loss == "carry"
    for word in sorted(src.says - dst.says):
        reason = dst.partly.get(word) or unsaid(word, dst.name)
        report.add("predicted", Finding(None, word, reason, word in content, carried))
    for word, what in src.only.items():
        report.add("predicted", Finding(None, word, unsaid_of(src.name, dst.name, what), False, carried))


class EventReader(Machine[Event]):
    """Input to events, checked: the first half of a translation by itself. Its output is events."""

    def __init__(
        self,
        src: str,
        *,
        clock: Callable[[], int] | None = None,
        strict: bool = True,
        limits: Limits | None = None,
        report: Report | None = None,
        folds: bool = False,
    ) -> None:
        """``folds``: plain fragments that are read together become one event, without what only their units had."""
        codec, shape = resolve(src)
        options = make_options(clock=clock, strict=strict, limits=limits, report=report)
        self._out: list[Any] = []
        self._source = Source(codec, shape, src, options, self._collect, self._fold if folds else self._run)
        super().__init__(f"{src} to events", joined=False)

    def _counted(self) -> str:
        return f"{self._source.units} units read"

    @property
    def ended(self) -> bool:
        """Whether the terminal unit was read."""
        return self._source.ended

    def _run(self, run: Run) -> None:
        self._out.extend(run.events())

    def _fold(self, run: Run) -> None:
        self._out.append(Append(run.text))

    def _collect(self, events: Sequence[Event]) -> None:
        self._out.extend(events)

    def _read(self, data: Chunk, out: list[Any]) -> None:
        self._out = out
        self._source.feed(data)

    def _end(self, out: list[Any]) -> None:
        self._out = out
        self._source.close()


class EventWriter(Machine[Unit]):
    """Events to output, checked: the second half of a translation by itself. Its input is events."""

    def __init__(
        self,
        dst: str,
        *,
        model: ModelOption | None = None,
        clock: Callable[[], int] | None = None,
        loss: LossPolicy = "carry",
        report: Report | None = None,
    ) -> None:
        options = make_options(model, clock, report=report)
        one_of("loss", loss, "carry", "drop", "raise")
        self._writing = Writing(dst, options, loss)
        self._grammar = Grammar()
        self._options = options
        super().__init__(f"events to {dst}", joined=self._writing.joined)

    def _counted(self) -> str:
        return f"{self._options.unit + 1} events read, {self._writing.sink.units} units written"

    @property
    def ended(self) -> bool:
        """Whether the terminal unit was said."""
        return self._writing.ended

    def _read(self, data: Event, out: list[Any]) -> None:
        self._writing.sink.out = out
        self._options.unit += 1
        try:
            self._grammar.check((data,))
            self._writing.encode(data)
        except TranslateError as error:
            error.locate(unit=self._options.unit)
            raise

    def _end(self, out: list[Any]) -> None:
        if self._grammar.state != ENDED:
            raise TruncatedStream("the events ended without a finish or a failure", expected=self._grammar.expected())

    def _meet(self, error: Exception, out: list[Any]) -> Exception | None:
        if isinstance(error, TranslateError):
            error.pending = list(self._writing.sink.pending)
            error.locate(format="events", state=self._grammar.state)
        return error
