"""One logged stream, whole: converted, verified, counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, Protocol

from .. import jsontext
from ..api import convert
from ..carry.losses import Report
from ..engine.translator import Translator
from ..errors import DecodeError, TranslateError, UpstreamFailure
from ..registry import resolve
from .bodies import is_gzip, opened
from .layout import Counts, Settings
from .places import CHUNK
from .wide import Made, Pieces, Text


class Mismatch(TranslateError):
    """A stream that was converted there and back is not what it was."""


@dataclass(frozen=True, slots=True)
class Reject:
    """A stream that could not be converted: ``content`` is all of it, as it was.

    ``source``: where it was read; ``stream``: its id, where it has one; ``at``: its place in the source.
    """

    error: Exception
    content: Content
    at: dict[str, Any]
    stream: Any = None


class Content(Protocol):
    """Bytes, or what has them in pieces."""

    def pieces(self) -> Iterator[bytes]:
        """All of it, from the start."""
        ...


class Whole:
    """Content that is in memory."""

    def __init__(self, *data: bytes | bytearray) -> None:
        self._data = data

    def pieces(self) -> Iterator[bytes]:
        """All of it."""
        return (bytes(data[at : at + CHUNK]) for data in self._data for at in range(0, len(data), CHUNK))


def translator(settings: Settings, report: Report | None) -> Translator:
    """A translator for one stream. A failure that the stream itself reports is said by the target's failure unit."""
    return Translator(
        settings.src,
        settings.dst,
        model=settings.model,
        clock=lambda: settings.clock or 0,
        loss=settings.loss,
        errors="encode",
        strict=settings.strict,
        limits=settings.limits,
        report=report,
    )


def report_for(settings: Settings) -> Report:
    """What is lost for good has to be noted unit by unit; what travels in the carry is not."""
    return Report(limit=0, incidental=settings.loss == "drop")


def count(counts: Counts, settings: Settings, done: Translator, report: Report, units: int | None = None) -> None:
    """A stream was converted, of so many ``units`` if more were read. What travels in the carry is not lost."""
    counts.converted += 1
    counts.units_in += done.units if units is None else units
    counts.units_out += done.units_written
    for (kind, name), number in report.counts.items():
        if kind != "predicted":
            said = "carried" if (kind, settings.loss) == ("losses", "carry") else kind
            counts.losses[f"{said}: {name}"] += number


def broken(done: Translator) -> Exception | None:
    """Why a stream that is over could not be converted, if it could not."""
    if done.error is not None:
        return done.error
    return None if isinstance(done.failure, UpstreamFailure) else done.failure


def whole(content: Any, settings: Settings, counts: Counts) -> Any:
    """Convert one stream: text, bytes, or a list of units. The result is text for formats of bytes, else a list; it is
    on disk for text that is long, see :mod:`.wide`.

    Raises :class:`TranslateError` where it is broken.
    """
    if isinstance(content, (Text, Pieces)):
        return _long(content, settings, counts)
    chunks = chunks_of(content, settings.src) if isinstance(content, list) else [content]
    out: list[Any] = []
    joined = _run(lambda: chunks, settings, counts, out.append, lambda: out)
    return b"".join(out).decode() if joined else [_plain(unit) for unit in out]


def _long(text: Text | Pieces, settings: Settings, counts: Counts) -> Any:
    encoded = text.encoded
    if encoded and is_gzip(next(text.decoded())):
        # it is not as long as it looks: it has to be taken as a whole
        body, pack = opened("".join(text.pieces()))
        done = whole(body, settings, counts)
        return pack(done.encode() if isinstance(done, str) else jsontext.dumps(done)) if pack else done
    lines = resolve(settings.dst)[1].objects
    made = Made(lines=lines, encoded=encoded)
    write = made.spool.write
    _run(
        text.decoded if encoded else text.pieces,
        settings,
        counts,
        (lambda unit: write(jsontext.dumps(unit) + b"\n")) if lines else write,
        made.units if lines else made.spool.pieces,
    )
    return made


def _run(
    there: Callable[[], Iterable[Any]],
    settings: Settings,
    counts: Counts,
    write: Callable[[Any], object],
    back: Callable[[], Iterable[Any]],
) -> bool:
    """Convert what ``there`` gives, anew each time; ``back`` gives what was written. Whether that is bytes."""
    report = report_for(settings)
    running = translator(settings, report)
    for chunk in there():
        for unit in running.feed(chunk):
            write(unit)
    for unit in running.close():
        write(unit)
    error = broken(running)
    if error is not None:
        raise error
    if settings.verify:
        verify(settings, there, back)
    count(counts, settings, running, report)
    return running.joined


def chunks_of(units: Sequence[Any], format: str) -> list[Any]:
    """Units that were told apart, objects or text, as a translator takes them."""
    end = end_of(format)
    return [unit if isinstance(unit, dict) else _ended(unit, end) for unit in units]


def end_of(format: str) -> bytes:
    """What ends a unit."""
    types = resolve(format)[1].media_types
    return b"\n\n" if types and types[0] == "text/event-stream" else b"\n"


def _ended(unit: Any, end: bytes) -> bytes:
    if not isinstance(unit, str):
        raise DecodeError("a unit is text or an object")
    # bytes of one unit each take the fast lane of a translator
    return unit.rstrip("\r\n").encode("utf-8", "surrogatepass") + end


def _plain(unit: Any) -> Any:
    """A unit in its JSON form: bytes are base64 text."""
    return jsontext.loads(jsontext.dumps(unit))


def verify(settings: Settings, there: Callable[[], Iterable[Any]], back: Callable[[], Iterable[Any]]) -> None:
    """Compare a stream, unit by unit, with what comes of its translation. ``there`` and ``back`` give them anew.

    Strict, it is compared as its shape alone reads it, too: a codec that does not see something loses it on both ways.
    Raises :class:`Mismatch`.
    """
    if _comes_home(settings, there, back):
        return
    units = resolve(settings.src)[0].name
    same = {"errors": "encode", "strict": settings.strict, "limits": settings.limits}
    before = convert(there(), settings.src, units, **same)  # type: ignore[call-overload]
    after = convert(back(), settings.dst, units, clock=lambda: settings.clock or 0, **same)  # type: ignore[call-overload]
    raw = _units(there(), settings) if settings.strict else None
    for index, (ours, theirs, seen) in enumerate(zip_longest(before, after, raw or ())):
        if not jsontext.same(ours, theirs) or (raw is not None and not _same_native(ours, seen)):
            error = Mismatch("the stream does not come back as it was")
            error.locate(format=settings.src, unit=index)
            raise error


def _comes_home(settings: Settings, there: Callable[[], Iterable[Any]], back: Callable[[], Iterable[Any]]) -> bool:
    """Whether a stream of bytes comes back as the very bytes that it was: then its units do, however they are read.

    That costs one conversion, and what it was is not read again.
    """
    if resolve(settings.src)[1].objects:
        return False
    home: Iterator[Any] = convert(
        back(),
        settings.dst,
        settings.src,
        clock=lambda: settings.clock or 0,
        errors="encode",
        strict=settings.strict,
        limits=settings.limits,
    )
    pieces, held, at = iter(there()), b"", 0
    try:
        for data in home:
            while len(held) - at < len(data) and (piece := next(pieces, None)) is not None:
                held, at = held[at:] + (piece if isinstance(piece, bytes) else str(piece).encode()), 0
            if not held.startswith(data, at):
                return False
            at += len(data)
    except (TranslateError, UnicodeEncodeError):
        # what it is, is told unit by unit
        return False
    return at == len(held) and next(pieces, None) is None


def _units(chunks: Iterable[Any], settings: Settings) -> Iterator[Any]:
    """The units as their shape reads them."""
    reader = resolve(settings.src)[1].reader(settings.limits, settings.strict)
    for frames in chain((reader.feed(chunk) for chunk in chunks), (reader.close() for _ in (1,))):
        for frame in frames:
            if isinstance(frame.data, bytes):
                yield jsontext.loads(frame.data)
            elif frame.data is not None:
                yield frame.data


def _same_native(unit: Any, raw: Any) -> bool:
    """Whether a unit is, but for its carry, what its shape alone reads."""
    return jsontext.same(_native(unit), _native(raw)) or jsontext.same(_native(_plain(unit)), _native(raw))


def _native(unit: Any) -> Any:
    return {name: value for name, value in unit.items() if name != "carry"} if isinstance(unit, dict) else unit
