"""Rows of many streams, in any order, put together stream by stream, in bounded memory.

1. Streams come out in the order in which their first rows came in, each whole.
2. Beyond a limit, rows are on disk: spread over files by the hash of their id, so that a stream's rows are in one file.
   A file that is too large to be read at once is spread again.
"""

from __future__ import annotations

import heapq
import math
import os
import pickle
import tempfile
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple
from zlib import crc32

from ..errors import GrammarError

SPREAD = 64
"""Files that rows are spread over."""
MEMORY = 256 * 1024 * 1024
"""Bytes of rows that are kept in memory."""
_ROW = 200
"""Bytes that a row takes beside its payload."""
_DEPTH = 3


class Row(NamedTuple):
    """One unit of a stream. ``order``: ``None`` where there is none; ``place``: where it was, ascending; ``payload``:
    what it is.
    """

    id: Any
    order: Any
    place: int
    payload: bytes


class Group(NamedTuple):
    """The rows of one stream, in the order in which they came."""

    id: Any
    rows: list[Row]

    def in_order(self, *, gaps: bool) -> list[Row]:
        """The rows in the stream's own order. Raises :class:`GrammarError` where there is none: a row without a place,
        two rows at one place, integers that leave some out (unless ``gaps``), text among numbers.
        """
        if any(row.order is None for row in self.rows):
            raise GrammarError("a unit of the stream has no place in its order", expected="text or a number")
        try:
            rows = sorted(self.rows, key=lambda row: row.order)
        except TypeError:
            raise GrammarError("the order has text among numbers") from None
        for before, after in pairwise(rows):
            if before.order == after.order:
                raise GrammarError(f"two units of the stream are at {before.order!r} of its order")
            if not gaps and type(before.order) is type(after.order) is int and after.order != before.order + 1:
                raise GrammarError(
                    f"the order leaves out {before.order + 1}", expected="no gaps, or that gaps are allowed"
                )
        return rows


class Grouping:
    """Takes rows by :meth:`add`, then gives :meth:`groups` once. A context manager: files are gone at its end."""

    def __init__(self, memory: int = MEMORY, depth: int = 0) -> None:
        self._memory = memory
        self._depth = depth
        self._rows: list[Row] = []
        self._size = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._files: list[BinaryIO] = []

    def __enter__(self) -> Grouping:
        return self

    def __exit__(self, *raised: object) -> None:
        for file in self._files:
            file.close()
        if self._folder is not None:
            self._folder.cleanup()

    def add(self, row: Row) -> None:
        """Take a row."""
        self._rows.append(row)
        self._size += len(row.payload) + _ROW
        if self._size > self._memory and self._depth < _DEPTH:
            self._spill()

    def groups(self) -> Iterator[Group]:
        """The streams."""
        if not self._files:
            yield from _grouped(self._rows)
            return
        self._spill()
        for file in self._files:
            file.flush()
        yield from heapq.merge(*(self._of(file.name) for file in self._files), key=lambda group: group.rows[0].place)

    def _spill(self) -> None:
        """Put the rows into their files."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="translate-")
            names = (os.path.join(self._folder.name, str(index)) for index in range(SPREAD))
            self._files = [open(name, "wb") for name in names]  # noqa: SIM115
        for row in self._rows:
            pickle.dump(tuple(row), self._files[self._where(row.id)], pickle.HIGHEST_PROTOCOL)
        self._rows, self._size = [], 0

    def _where(self, id: Any) -> int:
        return crc32(f"{self._depth}{id!r}".encode("utf-8", "surrogatepass")) % SPREAD

    def _of(self, path: str) -> Iterator[Group]:
        """The streams of one file: read, put together, and written once more, so that few are in memory at once."""
        with Grouping(self._memory // 4, self._depth + 1) as inner:
            for row in _unpickled(path):
                inner.add(Row(*row))
            again = f"{path}.groups"
            with open(again, "wb") as file:
                for group in inner.groups():
                    pickle.dump((group.id, [tuple(row) for row in group.rows]), file, pickle.HIGHEST_PROTOCOL)
        os.unlink(path)
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


def _unpickled(path: str) -> Iterator[Any]:
    with open(path, "rb") as file:
        while True:
            try:
                yield pickle.load(file)
            except EOFError:
                return
