"""What a kind of container is: how it is known, read, and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from ..layout import Counts
from ..places import Line
from ..records import Lines
from ..stream import Reject
from ..work import Seen, Sink, Task

_LINES = 256
"""Lines from which on the place in the input is told again."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of container.

    ``title``    what it is called
    ``begins``   whether a file that begins so is one; ``None``: that is told by what is in records
    ``bodies``   the streams in a file, or their beginnings, among what else it may hold: by these the format is told.
                 Takes the file, and the bytes of a document at most
    ``convert``  converts a file into an output
    ``ends``     whether the output is streams, end to end
    ``made``     where the output is a document: the streams that one becomes, one by one, for statistics
    """

    title: str
    begins: Callable[[bytes], bool] | None
    bodies: Callable[[BinaryIO, int], Iterable[Any]]
    convert: Callable[[BinaryIO, Task, Counts, Sink, Callable[[Reject], None], Seen], None]
    ends: bool = False
    made: Callable[[BinaryIO, Task, Counts, Callable[[Reject], None]], Iterator[Any]] | None = None


def watched(found: Lines, file: BinaryIO, seen: Seen) -> Iterator[tuple[int, Line]]:
    """Lines; ``seen`` is told the place in the file, now and then."""
    for number, each in enumerate(found):
        if seen is not None and not number % _LINES:
            seen(file.tell())
        yield each
