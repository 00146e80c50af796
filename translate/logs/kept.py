"""Streams in tables that keep all of them, as data frames do: what is broken is null, with the error beside it.

Functions of batches that are plain data, so that they can be sent to other processes. Needs pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, TypedDict

import pyarrow as pa

from ..carry.losses import LossPolicy
from ..engine.options import ModelOption
from ..errors import DecodeError
from ..limits import Limits
from ..registry import resolve
from . import arrow
from .grouping import Group, Row
from .layout import Counts, Layout, Settings

_ROWS, _BYTES = 1024, 4 * 1024 * 1024
_NUMBERS = (pa.int32(), pa.int64())
"""Types of an order that hold the numbers of units."""


class StreamSettings(TypedDict, total=False):
    """The options of a conversion: see :class:`translate.logs.Settings`. ``clock`` is 0 by default."""

    loss: LossPolicy
    strict: bool
    model: ModelOption | None
    limits: Limits
    clock: int
    verify: bool


def settings_of(src: str, dst: str, options: StreamSettings) -> Settings:
    """Settings of formats that exist. Raises :class:`translate.UnknownFormat`."""
    resolve(src)
    resolve(dst)
    options.setdefault("clock", 0)
    return Settings(src, dst, **options)


@dataclass(frozen=True, slots=True)
class KeptStreams:
    """Converts a column of streams. The column ``error`` is added."""

    column: str
    settings: Settings
    error: str

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of what rows become."""
        return _with_error(arrow.converted_schema(schema, Layout("parquet", self.column), self.settings), self)

    def convert(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Convert batches, one by one."""
        for batch in batches:
            errors: dict[int, Exception] = {}
            done = arrow.convert_streams(batch, self.column, self.settings, Counts(), errors.__setitem__)
            said = [_said(errors.get(index)) for index in range(batch.num_rows)]
            yield _columns(done, said, self.schema(batch.schema))

    def convert_table(self, table: pa.Table) -> pa.Table:
        """Convert a table."""
        return pa.Table.from_batches(self.convert(table.to_batches()), self.schema(table.schema))


@dataclass(frozen=True, slots=True)
class KeptUnits:
    """Converts rows of units, those of a stream one after another, in any order; a stream may run over batches.

    ``explode``: a row for each output unit, as :func:`.arrow.convert_rows` has them, with its number in the column of
    the order, for rows of data frames have none; and one for a stream that is broken: its first, without a unit and a
    number. Else a row for each stream: its id, and its text.
    """

    layout: Layout
    settings: Settings
    error: str
    explode: bool

    def __post_init__(self) -> None:
        if self.explode and self.layout.numbers is None:
            raise ValueError("rows of units need an order beside the unit, which says their numbers")

    @property
    def column(self) -> str:
        """The column with the units."""
        return self.layout.field

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of what rows become."""
        done = arrow.converted_schema(schema, self.layout, self.settings)
        if not self.explode:
            done = pa.schema([done.field(self.layout.id or ""), pa.field(self.column, pa.string())])
        if self.explode and self.layout.order:
            kind = arrow.type_of(done, self.layout.order)
            number = kind if kind in _NUMBERS else pa.int64()
            done = arrow.changed(done, self.layout.order, lambda field: field.with_type(number).with_nullable(True))
        return _with_error(done, self)

    def convert(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Convert them; memory is that of the largest stream."""
        held: list[pa.RecordBatch] = []
        rows = size = 0
        for done in map(self._stream, _runs(batches, self.layout)):
            held.append(done)
            rows += done.num_rows
            size += done.nbytes
            if rows >= _ROWS or size >= _BYTES:
                yield from pa.Table.from_batches(held).combine_chunks().to_batches()
                held, rows, size = [], 0, 0
        if held:
            yield from pa.Table.from_batches(held).combine_chunks().to_batches()

    def convert_table(self, table: pa.Table) -> pa.Table:
        """Convert a table: rows of units of one stream, or several one after another."""
        return pa.Table.from_batches(self.convert(table.to_batches()), self.schema(table.schema))

    def _stream(self, run: tuple[Group, list[pa.RecordBatch]]) -> pa.RecordBatch:
        group, batches = run
        first = batches[0].slice(0, 1)
        schema = self.schema(first.schema)
        try:
            if group.id is None:
                raise DecodeError("the row has no id", expected="text or an integer")
            places = [row.place for row in group.in_order(self.layout).rows]
            rows = arrow.one(batches).take(pa.array(places, pa.int64()))
            if self.explode:
                done = arrow.convert_rows(rows, self.layout, self.settings, Counts())
                done = arrow.numbered(done, self.layout.order or "", arrow.type_of(schema, self.layout.order or ""))
                return _columns(done, [None] * done.num_rows, schema)
            said, text = None, arrow.join_rows(rows, self.column, self.settings, Counts())
        except Exception as error:
            said, text = _said(error), None
        if self.explode:
            for path in (self.column, self.layout.order or ""):
                first = arrow.put(first, path, pa.nulls(1, arrow.type_of(schema, path)))
            return _columns(first, [said], schema)
        words = [pa.array([each], pa.string()) for each in (text, said)]
        return pa.RecordBatch.from_arrays([arrow.column(first, self.layout.id or ""), *words], schema=schema)


def _runs(batches: Iterable[pa.RecordBatch], layout: Layout) -> Iterator[tuple[Group, list[pa.RecordBatch]]]:
    """The rows of each stream; a row without an id is by itself."""
    group, held = Group(None, []), list[pa.RecordBatch]()
    for batch in batches:
        start = 0
        for id, run in groupby(arrow.keys(batch, layout), key=itemgetter(0)):
            orders = [order for _, order in run]
            rows = batch.slice(start, len(orders))
            start += len(orders)
            if held and id != group.id:
                yield group, held
                held = []
            if id is None:
                yield from ((Group(None, []), [rows.slice(index, 1)]) for index in range(len(orders)))
                continue
            if not held:
                group = Group(id, [])
            held.append(rows)
            at = len(group.rows)
            group.rows.extend(Row(id, order, at + index, b"") for index, order in enumerate(orders))
    if held:
        yield group, held


def _said(error: Exception | None) -> str | None:
    return None if error is None else f"{type(error).__name__}: {error}"


def _with_error(schema: pa.Schema, kept: KeptStreams | KeptUnits) -> pa.Schema:
    if kept.error in schema.names:
        raise ValueError(f"there is a column {kept.error!r} already")
    arrow.type_of(schema, kept.column)
    done = arrow.changed(schema, kept.column, lambda field: field.with_nullable(True))
    return done.append(pa.field(kept.error, pa.string()))


def _columns(batch: pa.RecordBatch, errors: list[Any], schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([*batch.columns, pa.array(errors, pa.string())], schema=schema)
