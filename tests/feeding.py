"""Feeds readers input cut in every way, for the tests of shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from translate import LimitExceeded, Limits, TranslateError
from translate.shapes import Frame, Reader

Make: TypeAlias = Callable[[], Reader]


class Read(NamedTuple):
    """What a reader made of its input: frames, then perhaps an error."""

    frames: list[Frame]
    error: tuple[str, str, int | None] | None = None
    ended: bool = False


def read(make: Make, chunks: Iterable[Any]) -> Read:
    """Feed one reader. An excerpt is left out of the error: it may show what happened to be there."""
    reader, out = make(), list[Frame]()
    try:
        for chunk in chunks:
            # one by one: those before an error are kept
            for frame in reader.feed(chunk):
                out.append(frame)
        for frame in reader.close():
            out.append(frame)
    except TranslateError as error:
        return Read(out, (type(error).__name__, error.what, error.offset), reader.ended)
    return Read(out, None, reader.ended)


def singly(data: bytes) -> list[bytes]:
    """Byte by byte."""
    return [data[i : i + 1] for i in range(len(data))]


def cuttings(data: bytes) -> Iterator[list[bytes]]:
    """Whole, byte by byte, in threes, with empty chunks, and cut in two at every offset."""
    yield [data]
    yield singly(data)
    yield [data[i : i + 3] for i in range(0, len(data), 3)]
    yield [piece for byte in singly(data) for piece in (b"", byte)]
    for at in range(len(data) + 1):
        yield [data[:at], data[at:]]


def read_all_ways(make: Make, data: bytes) -> Read:
    """What a reader makes of ``data``, which must not depend on how it is cut."""
    found = read(make, [data])
    for chunks in cuttings(data):
        assert read(make, chunks) == found, chunks
    return found


def chunks_until_refused(reader: Reader, chunk: bytes) -> int:
    """How many chunks a reader takes before it has too much in hand."""
    taken = 0
    try:
        for taken in range(100_000):  # noqa: B007
            list(reader.feed(chunk))
    except LimitExceeded:
        return taken
    raise AssertionError("never refused")


def limits(unit: int) -> Limits:
    """Limits on the bytes of a unit."""
    return Limits(unit=unit)
