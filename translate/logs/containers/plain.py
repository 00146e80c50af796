"""Files that are no tool's own: streams end to end, JSON lines of records, Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import BinaryIO

from ..ends import EndToEnd
from ..grouping import Grouping
from ..layout import Counts
from ..places import lines
from ..records import convert_streams, convert_units_of
from ..stream import Reject
from ..work import Seen, Sink, Task
from .kind import Kind, watched

_PIECE = 1 << 16
"""Bytes that are read together of streams end to end: what follows a stream's end in them is read again."""


def _none(file: BinaryIO, limit: int) -> tuple[()]:
    """What they are is told by their format, or by what is in records."""
    return ()


def _streams(
    file: BinaryIO, task: Task, counts: Counts, output: Sink, reject: Callable[[Reject], None], seen: Seen
) -> None:
    streams = EndToEnd(task.settings, counts, output.write, reject, task.limit)
    while not streams.full and (data := file.read(_PIECE)):
        streams.feed(data)
        if seen is not None:
            seen(file.tell())
    streams.close()


def _lines(
    file: BinaryIO, task: Task, counts: Counts, output: Sink, reject: Callable[[Reject], None], seen: Seen
) -> None:
    layout, settings = task.layout, task.settings
    found = watched(lines(file, task.start, task.end, task.record), file, seen)
    if layout.units:
        with Grouping(task.memory) as grouping:
            _all(output, convert_units_of(found, layout, settings, counts, reject, grouping, task.limit))
    else:
        _all(output, convert_streams(islice(found, task.limit), layout, settings, counts, reject))


def _all(output: Sink, pieces: Iterator[bytes]) -> None:
    for piece in pieces:
        output.write(piece)


def _parquet(
    file: BinaryIO, task: Task, counts: Counts, output: Sink, reject: Callable[[Reject], None], seen: Seen
) -> None:
    from ..parquet import convert_file

    convert_file(file, task, counts, output, reject)


STREAMS = Kind("streams end to end", None, _none, _streams, ends=True)
LINES = Kind("JSON lines", None, _none, _lines)
PARQUET = Kind("rows of Parquet", None, _none, _parquet)
