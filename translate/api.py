"""The calls of the library: each takes any iterable, synchronous or not, and options by name."""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from pathlib import PurePath
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

from .algebra.events import Event, Failure, JsonObject
from .algebra.failures import reported
from .algebra.parts import Gathered
from .carry.losses import ErrorPolicy, LossPolicy, Report
from .engine.checker import Checker, Fault
from .engine.options import ModelOption, check_names
from .engine.streams import AsyncStream, Stream
from .engine.trace import Trace
from .engine.translator import EventReader, EventWriter, Machine, Translator
from .errors import shown
from .limits import Limits
from .messages.checking import check_document
from .recognise import Hinting
from .registry import codec as find_codec

ByteFormat: TypeAlias = Literal[
    "unievent-jsonl",
    "unievent-sse",
    "gateway-jsonl",
    "gateway-sse",
    "openai-chat-jsonl",
    "openai-chat-sse",
    "openai-responses-jsonl",
    "openai-responses-sse",
    "anthropic-jsonl",
    "anthropic-sse",
    "gemini-jsonl",
    "gemini-sse",
    "gemini-array",
    "gemini-interactions-jsonl",
    "gemini-interactions-sse",
    "events-jsonl",
]
ObjectFormat: TypeAlias = Literal[
    "unievent", "gateway", "openai-chat", "openai-responses", "anthropic", "gemini", "gemini-interactions"
]
EventFormat: TypeAlias = Literal["events"]
Format: TypeAlias = ByteFormat | ObjectFormat | EventFormat | str
"""The name of a format. The built-in ones are spelled out, for editors; those of installed codecs are any text."""


class ReadOptions(TypedDict, total=False):
    """The options of calls that read: see :func:`convert`."""

    clock: Callable[[], int] | None
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
    of ``bytes`` for byte formats (an item is one or more whole units), of units for object formats.

    ``model``    who answers, for targets that name it where the source does not: a :class:`Model`, a mapping of its
                 fields, or a name
    ``clock``    milliseconds of Unix time, for what is stamped and for ids that are made up; default: now
    ``loss``     ``"carry"``: what the target cannot say travels beside; ``"drop"``: it is left out; ``"raise"``: it
                 is left out, but :class:`LossError` stops the conversion before a unit that would lose content
    ``errors``   ``"raise"``, or ``"encode"``: the output ends in the target's own failure unit
    ``strict``   false: what has one obvious reading is repaired and reported
    ``limits``   bounds on memory
    ``report``   a fresh :class:`Report` that collects losses, guesses and repairs
    ``trace``    a fresh :class:`Trace` that collects which units each unit came from; it keeps the whole stream

    Raises at once: :class:`UnknownFormat`; ``TypeError`` or ``ValueError`` for an option that does not exist or takes
    something else, and for a path in place of what it holds. While it is iterated and ``errors`` is ``"raise"``:
    :class:`TranslateError` and its kinds, each after all output that comes before it; an exception of ``stream`` itself
    as it is, unless the terminal unit was said. With ``"encode"`` they are the output's ``failure``. Closing the output
    closes ``stream``.
    """
    check_names("convert", options, ConvertOptions.__annotations__)
    return _skin(stream, _Translator(src, dst, **options))


@overload
def decode(stream: AsyncIterable[Any], src: Format, **options: Unpack[ReadOptions]) -> AsyncStream[Event]: ...
@overload
def decode(stream: Iterable[Any], src: Format, **options: Unpack[ReadOptions]) -> Stream[Event]: ...
def decode(
    stream: Iterable[Any] | AsyncIterable[Any], src: Format, **options: Unpack[ReadOptions]
) -> Stream[Event] | AsyncStream[Event]:
    """The events of a stream. A :class:`Failure` that the stream reports is yielded, not raised."""
    check_names("decode", options, ReadOptions.__annotations__)
    return _skin(stream, _EventReader(src, **options))


@overload
def encode(events: AsyncIterable[Event], dst: ByteFormat, **options: Unpack[WriteOptions]) -> AsyncStream[bytes]: ...
@overload
def encode(
    events: AsyncIterable[Event], dst: ObjectFormat, **options: Unpack[WriteOptions]
) -> AsyncStream[JsonObject]: ...
@overload
def encode(events: AsyncIterable[Event], dst: EventFormat, **options: Unpack[WriteOptions]) -> AsyncStream[Event]: ...
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
    check_names("encode", options, WriteOptions.__annotations__)
    return _skin(events, EventWriter(dst, **options))


@overload
def check(
    stream: AsyncIterable[Any], format: Format, *, what: Literal["stream"] = "stream", limits: Limits | None = None
) -> Awaitable[list[Fault]]: ...
@overload
def check(
    stream: Iterable[Any],
    format: Format,
    *,
    what: Literal["stream", "request", "answer"] = "stream",
    limits: Limits | None = None,
) -> list[Fault]: ...
def check(
    stream: Iterable[Any] | AsyncIterable[Any],
    format: Format,
    *,
    what: Literal["stream", "request", "answer"] = "stream",
    limits: Limits | None = None,
) -> list[Fault] | Awaitable[list[Fault]]:
    """What is wrong with a stream, none if it conforms: each unit by its pydantic model, then all by the grammar.

    Each finding says whether readers tolerate it: what the model alone refuses, a missing last line end, blank line or
    end marker, a carry without a unit that speaks of one.
    The check ends at the first unit that is wrong: with all the faults of its form by the model, then with what the
    decoder says of it and where it is. For an asynchronous stream, await the result.

    ``what="request"`` or ``"answer"``: a document in place of a stream, a dict or bytes. What is wrong with it is named
    by its ``path``, calls and results that do not pair among it.
    """
    if what != "stream":
        return check_document(stream, format, what, limits or Limits())
    checker = _Checker(format, limits)
    if isinstance(stream, AsyncIterable):
        return _acheck(stream, checker)
    # nothing is given out, so that the first step is the last
    next(Stream[Any](_chunks(stream), checker), None)
    return checker.findings


async def _acheck(stream: AsyncIterable[Any], checker: _Checker) -> list[Fault]:
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
    reading = _skin(stream, _EventReader(src, strict=strict, limits=limits, folds=True))
    if isinstance(reading, AsyncStream):
        return _aassemble(reading, src, target.assemble)
    gathered = Gathered()
    for event in reading:
        gathered.add(_no_failure(event, src))
    return target.assemble(gathered.events())


async def _aassemble(reading: AsyncStream[Event], src: Format, assembled: Callable[[list[Event]], Any]) -> Any:
    gathered = Gathered()
    async for event in reading:
        gathered.add(_no_failure(event, src))
    return assembled(gathered.events())


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
        raise TypeError(f"a stream is what a file holds, not its path {shown(str(stream))}: pass open(path, 'rb')")
    if isinstance(stream, (str, bytes, bytearray, memoryview)):
        return (stream,)
    if isinstance(stream, Iterable) and not isinstance(stream, Mapping):
        return stream
    raise TypeError(f"a stream is an iterable or asynchronous iterable of chunks, not {type(stream).__name__}")


_PATH = re.compile(r"\w+://\S+|[^\s{}\[\]\"][^\r\n{}\[\]\"]{0,300}\.[A-Za-z][A-Za-z0-9]{0,7}")
"""A text of one line that ends as names of files do, and is no JSON."""


class _Translator(Hinting, Translator):
    pass


class _EventReader(Hinting, EventReader):
    pass


class _Checker(Hinting, Checker):
    pass
