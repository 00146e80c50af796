"""Rows of many streams, in any order, put together stream by stream, in bounded memory.

1. Streams come out in the order in which their first rows came in, each whole.
2. Beyond a limit, rows are on disk: spread over files by the hash of their id, so that a stream's rows are in one file.
   A file that is too large to be read at once is spread again.
3. The files have no names, so that nothing of them is left, however the process ends.
"""

from __future__ import annotations

import heapq
import math
import pickle
from collections.abc import Iterable, Iterator
from itertools import pairwise
from operator import itemgetter
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple
from zlib import crc32

from ..errors import GrammarError, shown
from .layout import Layout
from .order import comparable

SPREAD = 64
"""Files that rows are spread over."""
MEMORY = 256 * 1024 * 1024
"""Bytes of rows that are kept in memory."""
_ROW = 400
"""Bytes that a row takes beside its payload."""
_BUFFER = 1 << 16
_DEPTH = 3
"""How often rows are spread: by other bits of the hash each time, of which there are 32."""


class Row(NamedTuple):
    """One unit of a stream. ``order``: ``None`` where there is none; ``place``: where it was, ascending; ``payload``:
    what it is; ``record``: what was read of it, which is not kept on disk.
    """

    id: Any
    order: Any
    place: int
    payload: bytes
    record: Any = None


class Ordered(NamedTuple):
    """The rows of one stream, in its order; whether that counts them."""

    rows: list[Row]
    counted: bool


class Group(NamedTuple):
    """The rows of one stream, in the order in which they came."""

    id: Any
    rows: list[Row]

    def in_order(self, layout: Layout) -> Ordered:
        """The rows in the stream's own order: see :mod:`.order`. Without one, and at one time, they stand as they came.

        Raises :class:`GrammarError` where there is none: a row without a place, whole numbers that leave some out or
        are there twice (unless they may have gaps: then they are times), two equal rows at one place.
        """
        if layout.order is None:
            return Ordered(self.rows, counted=False)
        if any(row.order is None for row in self.rows):
            raise GrammarError("a unit of the stream has no place in its order", expected="text or a number")
        keys = comparable([row.order for row in self.rows])
        counted = not layout.gaps and all(type(key) is int for key in keys)
        first = keys[0]
        if counted and keys == [*range(first, first + len(keys))]:
            # as they came
            return Ordered(self.rows, counted)
        keyed = sorted(zip(keys, self.rows, strict=True), key=itemgetter(0))
        here = set[bytes]()
        for (before, last), (after, row) in pairwise(keyed):
            here = here | {last.payload} if before == after else set()
            if before == after and (counted or row.payload in here):
                raise GrammarError(f"two units of the stream are at {shown(row.order)} of its order")
            if counted and after != before + 1:
                raise GrammarError(f"the order leaves out {before + 1}", expected="no gaps, or that gaps are allowed")
        return Ordered([row for _, row in keyed], counted)


class Grouping:
    """Takes rows by :meth:`add`, then gives :meth:`groups` once. A context manager: files are gone at its end."""

    def __init__(self, memory: int = MEMORY, depth: int = 0) -> None:
        self._memory = memory
        self._depth = depth
        self._rows: list[Row] = []
        self._size = 0
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> Grouping:
        return self

    def __exit__(self, *raised: object) -> None:
        self._rows, self._size = [], 0
        for file in self._files:
            file.close()

    def add(self, row: Row) -> None:
        """Take a row."""
        self._rows.append(row)
        self._size += len(row.payload) + _ROW if row.record is None else 2 * (len(row.payload) + _ROW)
        if self._size > self._memory and self._depth < _DEPTH:
            self._spill()

    def groups(self) -> Iterator[Group]:
        """The streams."""
        if not self._files:
            yield from _grouped(self._rows)
            return
        self._spill()
        yield from heapq.merge(*map(self._of, self._files), key=lambda group: group.rows[0].place)

    def _spill(self) -> None:
        """Put the rows into their files."""
        self._files = self._files or [_file() for _ in range(SPREAD)]
        for row in self._rows:
            pickle.dump(tuple(row)[:4], self._files[self._where(row.id)], pickle.HIGHEST_PROTOCOL)
        self._rows, self._size = [], 0

    def _where(self, id: Any) -> int:
        # another start value, or text before the id, would not do: of ids of one length the same would fall together
        return crc32(repr(id).encode("utf-8", "surrogatepass")) // int(SPREAD**self._depth) % SPREAD

    def _of(self, file: IO[bytes]) -> Iterator[Group]:
        """The streams of one file: read, put together, and written once more, so that few are in memory at once."""
        with _file() as again:
            with Grouping(self._memory // 4, self._depth + 1) as inner:
                for row in _unpickled(file):
                    inner.add(Row(*row))
                file.close()
                for group in inner.groups():
                    pickle.dump((group.id, [tuple(row)[:4] for row in group.rows]), again, pickle.HIGHEST_PROTOCOL)
            for id, rows in _unpickled(again):
                yield Group(id, [Row(*row) for row in rows])


def is_nan(order: Any) -> bool:
    """Whether a number has no place among others."""
    return isinstance(order, float) and math.isnan(order)


def _grouped(rows: Iterable[Row]) -> Iterator[Group]:
    found: dict[Any, Group] = {}
    for row in rows:
        # 1 and True, and 1 and "1", are different ids
        key = (type(row.id), row.id)
        if key not in found:
            found[key] = Group(row.id, [])
        found[key].rows.append(row)
    return iter(found.values())


def _file() -> IO[bytes]:
    return TemporaryFile(prefix="translate-")


def _unpickled(file: IO[bytes]) -> Iterator[Any]:
    """What was put into a file. One that can be written, too, would be read anew from where it is for each row."""
    file.flush()
    file.seek(0)
    with open(file.fileno(), "rb", _BUFFER, closefd=False) as reading:
        while True:
            try:
                yield pickle.load(reading)
            except EOFError:
                return
