"""The calls of the library: each takes any iterable, synchronous or not, and options by name."""

from __future__ import annotations

import difflib
import re
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import PurePath
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

from . import jsontext
from .algebra.events import Event, Failure, JsonObject, Model
from .algebra.failures import reported
from .algebra.json_form import to_json
from .carry.losses import ErrorPolicy, Finding, LossPolicy, Report
from .codec import Options
from .engine.source import Source
from .engine.streams import AsyncStream, Stream
from .engine.trace import Trace
from .engine.translator import EventReader, EventWriter, Machine, ModelOption, Translator, make_options
from .errors import TranslateError
from .limits import Limits
from .recognise import Hinting
from .registry import codec as find_codec
from .registry import resolve

ByteFormat: TypeAlias = Literal["unievent-jsonl", "unievent-sse", "gateway-jsonl", "gateway-sse", "events-jsonl"]
ObjectFormat: TypeAlias = Literal["unievent", "gateway"]
EventFormat: TypeAlias = Literal["events"]
Format: TypeAlias = ByteFormat | ObjectFormat | EventFormat | str
"""The name of a format. The built-in ones are spelled out, for editors; those of installed codecs are any text."""


class ReadOptions(TypedDict, total=False):
    """The options of calls that read: see :func:`convert`."""

    strict: bool
    limits: Limits | None
    report: Report | None


class WriteOptions(TypedDict, total=False):
    """The options of calls that write: see :func:`convert`."""

    model: ModelOption | None
    clock: Callable[[], int] | None
    loss: LossPolicy
    report: Report | None


class ConvertOptions(ReadOptions, WriteOptions, total=False):
    """The options of :func:`convert`."""

    errors: ErrorPolicy
    trace: Trace | None


@overload
def convert(
    stream: AsyncIterable[Any], src: Format, dst: ByteFormat, **options: Unpack[ConvertOptions]
) -> AsyncStream[bytes]: ...
@overload
def convert(
    stream: AsyncIterable[Any], src: Format, dst: ObjectFormat, **options: Unpack[ConvertOptions]
) -> AsyncStream[JsonObject]: ...
@overload
def convert(
    stream: AsyncIterable[Any], src: Format, dst: EventFormat, **options: Unpack[ConvertOptions]
) -> AsyncStream[Event]: ...
@overload
def convert(
    stream: Iterable[Any], src: Format, dst: ByteFormat, **options: Unpack[ConvertOptions]
) -> Stream[bytes]: ...
@overload
def convert(
    stream: Iterable[Any], src: Format, dst: ObjectFormat, **options: Unpack[ConvertOptions]
) -> Stream[JsonObject]: ...
@overload
def convert(
    stream: Iterable[Any], src: Format, dst: EventFormat, **options: Unpack[ConvertOptions]
) -> Stream[Event]: ...
@overload
def convert(
    stream: AsyncIterable[Any], src: Format, dst: Format, **options: Unpack[ConvertOptions]
) -> AsyncStream[Any]: ...
@overload
def convert(stream: Iterable[Any], src: Format, dst: Format, **options: Unpack[ConvertOptions]) -> Stream[Any]: ...
def convert(
    stream: Iterable[Any] | AsyncIterable[Any], src: Format, dst: Format, **options: Unpack[ConvertOptions]
) -> Stream[Any] | AsyncStream[Any]:
    """Translate one stream of format ``src`` into format ``dst``.

    ``stream`` is any iterable, or asynchronous iterable, of chunks: bytes or text cut anywhere for byte formats, one
    unit for object formats; a single ``bytes`` or ``str`` is one chunk. The result is an iterator of the same colour;
    of ``bytes`` for byte formats (one item a step, of one or more whole units), of units for object formats.

    ``model``    who answers, for targets that name it where the source does not: a :class:`Model`, a mapping of its
                 fields, or a name
    ``clock``    milliseconds of Unix time, for targets that stamp; default: now
    ``loss``     ``"carry"``: what the target cannot say travels beside; ``"drop"``: it is left out; ``"raise"``: it
                 is left out, but :class:`LossError` stops the conversion before a unit that would lose content
    ``errors``   ``"raise"``, or ``"encode"``: the output ends in the target's own failure unit
    ``strict``   false: what has one obvious reading is repaired and reported
    ``limits``   bounds on memory
    ``report``   a fresh :class:`Report` that collects losses, guesses and repairs
    ``trace``    a fresh :class:`Trace` that collects which units each unit came from; it keeps the whole stream

    Raises, while it is iterated and ``errors`` is ``"raise"``: :class:`TranslateError` and its kinds, each after all
    output that comes before it; an exception of ``stream`` itself as it is. With ``"encode"`` they are the output's
    ``failure``. :class:`UnknownFormat` is raised at once, as are ``TypeError`` and ``ValueError`` for an option that
    does not exist or takes something else, and for a path in place of what it holds. Closing the output closes
    ``stream``.
    """
    _check_options("convert", options, ConvertOptions)
    return _skin(stream, _Translator(src, dst, **options))


@overload
def decode(stream: AsyncIterable[Any], src: Format, **options: Unpack[ReadOptions]) -> AsyncStream[Event]: ...
@overload
def decode(stream: Iterable[Any], src: Format, **options: Unpack[ReadOptions]) -> Stream[Event]: ...
def decode(
    stream: Iterable[Any] | AsyncIterable[Any], src: Format, **options: Unpack[ReadOptions]
) -> Stream[Event] | AsyncStream[Event]:
    """The events of a stream. A :class:`Failure` that the stream reports is yielded, not raised."""
    _check_options("decode", options, ReadOptions)
    return _skin(stream, _EventReader(src, **options))


@overload
def encode(
    events: AsyncIterable[Event], dst: ByteFormat, **options: Unpack[WriteOptions]
) -> AsyncStream[bytes]: ...
@overload
def encode(
    events: AsyncIterable[Event], dst: ObjectFormat, **options: Unpack[WriteOptions]
) -> AsyncStream[JsonObject]: ...
@overload
def encode(
    events: AsyncIterable[Event], dst: EventFormat, **options: Unpack[WriteOptions]
) -> AsyncStream[Event]: ...
@overload
def encode(events: Iterable[Event], dst: ByteFormat, **options: Unpack[WriteOptions]) -> Stream[bytes]: ...
@overload
def encode(events: Iterable[Event], dst: ObjectFormat, **options: Unpack[WriteOptions]) -> Stream[JsonObject]: ...
@overload
def encode(events: Iterable[Event], dst: EventFormat, **options: Unpack[WriteOptions]) -> Stream[Event]: ...
@overload
def encode(events: AsyncIterable[Event], dst: Format, **options: Unpack[WriteOptions]) -> AsyncStream[Any]: ...
@overload
def encode(events: Iterable[Event], dst: Format, **options: Unpack[WriteOptions]) -> Stream[Any]: ...
def encode(
    events: Iterable[Event] | AsyncIterable[Event], dst: Format, **options: Unpack[WriteOptions]
) -> Stream[Any] | AsyncStream[Any]:
    """A stream of format ``dst`` from events, which must follow the grammar (:class:`GrammarError` otherwise).

    A :class:`Failure` is written as the format's failure unit. Options as for :func:`convert`.
    """
    _check_options("encode", options, WriteOptions)
    return _skin(events, EventWriter(dst, **options))


@overload
def check(stream: AsyncIterable[Any], format: Format, *, limits: Limits | None = None) -> Awaitable[list[Finding]]: ...
@overload
def check(stream: Iterable[Any], format: Format, *, limits: Limits | None = None) -> list[Finding]: ...
def check(
    stream: Iterable[Any] | AsyncIterable[Any], format: Format, *, limits: Limits | None = None
) -> list[Finding] | Awaitable[list[Finding]]:
    """What is wrong with a stream, none if it conforms: each unit by its pydantic model, then all by the grammar.

    The check ends at the first unit that is wrong: with all the faults of its form by the model, then with what the
    decoder says of it and where it is. For an asynchronous stream, await the result.
    """
    _check_options("check", {"limits": limits}, ReadOptions)
    checker = _Checker(format, make_options(limits=limits))
    if isinstance(stream, AsyncIterable):
        return _acheck(stream, checker)
    # nothing is given out, so that the first step is the last
    next(Stream[Any](_chunks(stream), checker), None)
    return checker.findings


async def _acheck(stream: AsyncIterable[Any], checker: _Checker) -> list[Finding]:
    await anext(AsyncStream[Any](stream, checker), None)
    return checker.findings


@overload
def assemble(
    stream: AsyncIterable[Any], src: Format, dst: Format, *, strict: bool = True, limits: Limits | None = None
) -> Awaitable[Any]: ...
@overload
def assemble(
    stream: Iterable[Any], src: Format, dst: Format, *, strict: bool = True, limits: Limits | None = None
) -> Any: ...
def assemble(
    stream: Iterable[Any] | AsyncIterable[Any],
    src: Format,
    dst: Format,
    *,
    strict: bool = True,
    limits: Limits | None = None,
) -> Any:
    """The message that a stream of format ``src`` adds up to, in the form of the codec ``dst``.

    ``"unievent"``: a UniMessage (a dict; bytes as ``bytes``). ``"gateway"``: the list of gateway messages. A stream
    that reports a failure raises :class:`UpstreamFailure`. For an asynchronous stream, await the result.
    """
    target = find_codec(dst)
    reading = decode(stream, src, strict=strict, limits=limits)
    if isinstance(reading, AsyncStream):
        return _aassemble(reading, src, target.assemble)
    return target.assemble([_no_failure(event, src) for event in reading])


async def _aassemble(reading: AsyncStream[Event], src: Format, assembled: Callable[[list[Event]], Any]) -> Any:
    return assembled([_no_failure(event, src) async for event in reading])


def _no_failure(event: Event, src: str) -> Event:
    if type(event) is Failure:
        error = reported(event)
        error.locate(format=src)
        raise error
    return event


def _skin(stream: Iterable[Any] | AsyncIterable[Any], machine: Machine) -> Stream[Any] | AsyncStream[Any]:
    if isinstance(stream, AsyncIterable):
        return AsyncStream[Any](stream, machine)
    return Stream[Any](_chunks(stream), machine)


def _chunks(stream: Iterable[Any]) -> Iterable[Any]:
    if isinstance(stream, PurePath) or (isinstance(stream, str) and _PATH.fullmatch(stream)):
        raise TypeError(f"a stream is what a file holds, not its path {str(stream)!r}: pass open(path, 'rb')")
    if isinstance(stream, (str, bytes, bytearray, memoryview)):
        return (stream,)
    if isinstance(stream, Iterable) and not isinstance(stream, Mapping):
        return stream
    raise TypeError(f"a stream is an iterable or asynchronous iterable of chunks, not {type(stream).__name__}")


_PATH = re.compile(r"\w+://\S+|[^\s{}\[\]\"][^\r\n{}\[\]\"]{0,300}\.[A-Za-z][A-Za-z0-9]{0,7}")
"""A text of one line that ends as names of files do, and is no JSON."""


def _check_options(call: str, given: Mapping[str, Any], takes: type) -> None:
    names = takes.__annotations__
    for name, value in given.items():
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise TypeError(f"{call}() has no option {name!r}{hint} Its options are {', '.join(sorted(names))}")
        if name in _OPTIONS and not isinstance(value, _OPTIONS[name][0]):
            raise TypeError(f"{name} is {_OPTIONS[name][1]}, not {value!r}")
    model = given.get("model")
    if isinstance(model, Mapping) and (wrong := sorted({*map(str, model)} - {*_MODEL})):
        raise TypeError(f"model has no field {wrong[0]!r}: its fields are {', '.join(_MODEL)}")


_MODEL = tuple(field.name for field in fields(Model))
_OPTIONS: dict[str, tuple[Any, str]] = {
    "strict": ((bool,), "True or False"),
    "limits": ((Limits, type(None)), "a translate.Limits, or None"),
    "report": ((Report, type(None)), "a translate.Report, or None"),
    "trace": ((Trace, type(None)), "a translate.Trace, or None"),
    "model": ((Model, Mapping, str, type(None)), "a translate.Model, a mapping of its fields, its name, or None"),
    "clock": ((Callable, type(None)), "a function that gives milliseconds, or None"),
}
"""Option → the types of its values, and what it takes; the others are of few words, see :class:`Translator`."""


class _Checking(Machine):
    """Reads a stream strictly, and has every unit looked at by its model on the way."""

    def __init__(self, format: Format, options: Options) -> None:
        found, shape = resolve(format)
        self.findings: list[Finding] = []
        self._model = found.models().get("unit")
        self._source = Source(found, shape, format, options, lambda events: None, watch=self._look)
        super().__init__(joined=False)

    def _look(self, index: int, unit: JsonObject) -> None:
        if self._model is None:
            return
        from pydantic import ValidationError

        event = unit.get("event")
        try:
            # an event that is an object is looked at in its JSON form
            self._model.model_validate(jsontext.to_strict(to_json(event)) if isinstance(event, Event) else unit)
        except ValidationError as error:
            for found in error.errors(include_url=False, include_input=False):
                self.findings.append(Finding(index, ".".join(map(str, found["loc"])), found["msg"], content=True))

    def _read(self, data: Any, out: list[Any]) -> None:
        self._source.feed(data)

    def _end(self, out: list[Any]) -> None:
        self._source.close()

    def _meet(self, error: Exception, out: list[Any]) -> Exception | None:
        if not isinstance(error, TranslateError):
            return error
        self.findings.append(Finding(error.unit, type(error).__name__, str(error), content=True))
        return None


class _Translator(Hinting, Translator):
    pass


class _EventReader(Hinting, EventReader):
    pass


class _Checker(Hinting, _Checking):
    pass
