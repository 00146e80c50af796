"""Parquet: rows hold a stream each, or one unit of one. Needs pyarrow.

1. All but the converted column, and the order column of units, comes back as it was: values, types, metadata. So do
   codecs and groups of rows; a group that is large when converted is written as several.
2. Where rows are put together by id, indices of dictionaries have 32 bits at least.
3. A row whose stream is broken is rejected, with all of its columns: as a line of JSON, or, if that cannot say it, as
   an Arrow IPC stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import compress, islice
from typing import Any, BinaryIO, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import DecodeError
from . import arrow
from .grouping import Group, Grouping, Row
from .layout import Counts
from .places import CHUNK, InputFault, Place, reading
from .selection import selection
from .stream import Reject, Whole
from .work import Sink, Task

GROUP = 64 * CHUNK
"""Bytes of rows, as Arrow has them, from which they are written as a group."""
BATCH = 8 * CHUNK
"""Bytes of rows, as Parquet has them, that are read at once."""
ROWS = 256
"""Rows that are read at once at most: a stream that is there many times is there once in Parquet."""
_Change: TypeAlias = Callable[[Any], Any]
_SPARK = b"org.apache.spark.sql.parquet.row.metadata"


def first_rows(place: Place, number: int) -> Iterator[dict[str, Any]]:
    """The first rows, as JSON has them; what it cannot say is ``None``. Raises :class:`InputFault`."""
    with reading(place) as raw, _opened(raw) as file:
        yield from islice((row for _, batch in _batches(file) for row in _rows(batch)), number)


def _rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    for row in batch.to_struct_array():
        yield {name: _said(value) for name, value in row.items()}


def _said(value: Any) -> Any:
    try:
        return arrow.said(value)
    except (UnicodeDecodeError, pa.ArrowException):
        return None


def convert_file(
    raw: BinaryIO, task: Task, counts: Counts, output: Sink, reject: Callable[[Reject], None]
) -> None:
    """Convert a file. Raises :class:`InputFault` where it cannot be read, or has no columns as the layout says."""
    with _opened(raw) as file:
        try:
            schema = arrow.converted_schema(file.schema_arrow, task.layout, task.settings)
        except arrow.NoSuchColumn as error:
            raise InputFault(str(error)) from None
        if task.layout.units:
            schema = _retyped(schema, _roomy)
        with _Writer(output, schema, file) as writer:
            if task.layout.units:
                with Grouping(task.memory) as grouping:
                    _convert_units(file, task, counts, writer, reject, grouping)
            else:
                _convert_streams(file, task, counts, writer, reject)


# ---- reading -------------------------------------------------------------------------------------------------


@contextmanager
def _safe() -> Iterator[None]:
    try:
        yield
    except InputFault:
        raise
    except Exception as error:
        # data that is damaged raises errors of many kinds
        raise InputFault(f"{type(error).__name__}: {error}") from error


@contextmanager
def _opened(raw: BinaryIO) -> Iterator[pq.ParquetFile]:
    with _safe():
        source = pa.PythonFile(_Open(raw), mode="r")
        file = pq.ParquetFile(source, buffer_size=CHUNK, pre_buffer=False, page_checksum_verification=True)
    yield file


class _Open:
    """A file as pyarrow wants it: it is closed by whoever opened it."""

    closed = False

    def __init__(self, file: Any) -> None:
        self.read, self.seek, self.tell = file.read, file.seek, file.tell

    def flush(self) -> None:
        """As of a file."""

    def close(self) -> None:
        """As of a file."""


def _batches(file: pq.ParquetFile) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows, with the number of their group."""
    for group in range(file.num_row_groups):
        said = file.metadata.row_group(group)
        rows = min(max(BATCH * said.num_rows // max(said.total_byte_size, 1), 1), ROWS)
        with _safe():
            found = file.iter_batches(rows, row_groups=[group], use_threads=False)
        while True:
            with _safe():
                batch = next(found, None)
            if batch is None:
                break
            yield group, batch


# ---- writing -------------------------------------------------------------------------------------------------


class _Writer:
    """Writes rows, in groups. A context manager: only where it is left in peace is the file whole."""

    def __init__(self, output: Sink, schema: pa.Schema, like: pq.ParquetFile) -> None:
        said = like.metadata
        groups = [said.row_group(index) for index in range(said.num_row_groups)]
        columns = [groups[0].column(index) for index in range(said.num_columns)] if groups else []
        self._rows = max([group.num_rows for group in groups], default=0)
        self.schema = schema if schema.types == like.schema_arrow.types else _without_types(schema)
        self._held: list[pa.RecordBatch] = []
        self._size = self._number = 0
        self._sink = _Sink(output)
        self._file = pq.ParquetWriter(
            self._sink,
            self.schema,
            version=said.format_version if said.format_version in ("1.0", "2.4", "2.6") else "2.6",
            compression=_codecs(columns, schema),
            use_deprecated_int96_timestamps=any(column.physical_type == "INT96" for column in columns),
        )

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, kind: object, *raised: object) -> None:
        if kind is None:
            self.end_group()
            self._file.close()
            return
        # the output is given up
        self._sink.deaf = True
        with suppress(Exception):
            self._file.close()

    def add(self, batch: pa.RecordBatch) -> None:
        """Take rows, dictionaries undone or not."""
        self._held.append(pa.RecordBatch.from_arrays(batch.columns, schema=self.schema))
        self._size += batch.nbytes
        self._number += batch.num_rows
        if self._size >= GROUP:
            self.end_group()

    @property
    def full(self) -> bool:
        """Whether there are as many rows as in a group of the input."""
        return self._number >= self._rows

    def end_group(self) -> None:
        """Write what came as a group."""
        table = pa.Table.from_batches(self._held, self.schema)
        self._held, self._size, self._number = [], 0, 0
        if table.num_rows:
            self._file.write_table(table, row_group_size=table.num_rows)


class _Sink(_Open):
    def __init__(self, output: Sink) -> None:
        self._output = output
        self._size = 0
        self.deaf = False

    def write(self, data: Any) -> int:
        """As of a file."""
        if not self.deaf:
            self._output.write(bytes(data))
            self._size += len(data)
        return len(data)

    def tell(self) -> int:
        """As of a file."""
        return self._size


def _codecs(columns: list[Any], schema: pa.Schema) -> Any:
    """The codec of each column; those that are named otherwise now get that of the first."""
    names = {column.path_in_schema: column.compression for column in columns}
    found = {name: "NONE" if codec == "UNCOMPRESSED" else codec for name, codec in names.items()}
    if len(set(found.values())) <= 1:
        return next(iter(found.values()), "snappy")
    return {name: next(iter(found.values())) for name in schema.names} | found


def _without_types(schema: pa.Schema) -> pa.Schema:
    """Spark believes its own note on types more than the file, and this has others now."""
    kept = {name: value for name, value in (schema.metadata or {}).items() if name != _SPARK}
    return schema.with_metadata(kept or None)


# ---- a row per stream ----------------------------------------------------------------------------------------


def _convert_streams(
    file: pq.ParquetFile, task: Task, counts: Counts, writer: _Writer, reject: Callable[[Reject], None]
) -> None:
    layout, at, taken, last = task.layout, 0, 0, 0
    chosen = selection(task.settings.where)
    named = layout.id if layout.id and arrow.has_ids(file.schema_arrow, layout.id) else None
    for group, batch in _batches(file):
        if group != last:
            writer.end_group()
            last = group
        rows, places = batch, list(range(at, at + batch.num_rows))
        at += batch.num_rows
        if chosen is not None:
            keep = [chosen(row) for row in _rows(batch)]
            rows, places = batch.filter(pa.array(keep, pa.bool_())), list(compress(places, keep))
            counts.left_out += batch.num_rows - rows.num_rows
        rows = rows if task.limit is None else rows.slice(0, task.limit - taken)
        taken += rows.num_rows
        bad: dict[int, Exception] = {}
        done = arrow.convert_streams(rows, layout.field, task.settings, counts, bad.__setitem__)
        for index, error in bad.items():
            row = rows.slice(index, 1)
            id = arrow.values(arrow.column(row, named))[0] if named else None
            reject(Reject(error, Whole(*arrow.rows_as_text([row])), {"row": places[index]}, _id(id)))
        if bad:
            done = done.filter(pa.array([index not in bad for index in range(rows.num_rows)]))
        writer.add(done)
        if taken == task.limit:
            return


# ---- a row per unit ------------------------------------------------------------------------------------------


def _convert_units(
    file: pq.ParquetFile,
    task: Task,
    counts: Counts,
    writer: _Writer,
    reject: Callable[[Reject], None],
    grouping: Grouping,
) -> None:
    # a row by itself cannot have a dictionary
    schema = _retyped(file.schema_arrow, lambda kind: kind.value_type)
    at = left = 0
    chosen = selection(task.settings.where)
    for _, batch in _batches(file):
        plain = _cast(batch, schema)
        keep = [chosen(row) for row in _rows(batch)] if chosen is not None else None
        for index, (id, order) in enumerate(arrow.keys(plain, task.layout)):
            if keep is not None and not keep[index]:
                counts.left_out += 1
                continue
            row = plain.slice(index, 1)
            counts.records_in += 1
            if id is not None:
                grouping.add(Row(id, order, at + index, row.serialize().to_pybytes()))
                left += 1
                continue
            # it belongs to no stream that is known
            counts.streams_in += 1
            error = DecodeError(f"the row has no id at {task.layout.id!r}", expected="text or an integer")
            counts.reject(error, 1)
            reject(Reject(error, Whole(*arrow.rows_as_text([row])), {"row": at + index}))
        at += batch.num_rows
    for group in islice(grouping.groups(), task.limit):
        left -= len(group.rows)
        done = _convert_group(group, task, counts, reject, schema)
        if done is not None:
            writer.add(done)
        if writer.full:
            writer.end_group()
    if task.limit is not None:
        # those of other streams
        counts.records_in -= left


def _convert_group(
    group: Group, task: Task, counts: Counts, reject: Callable[[Reject], None], schema: pa.Schema
) -> pa.RecordBatch | None:
    counts.streams_in += 1
    try:
        ordered = group.in_order(task.layout)
        rows = arrow.one([_row(row, schema) for row in ordered.rows])
        done = arrow.convert_rows(rows, task.layout, task.settings, counts)
        if ordered.counted and task.layout.numbers is not None:
            done = arrow.numbered(done, task.layout.numbers)
    except Exception as error:
        counts.reject(error, len(group.rows))
        content = Whole(*arrow.rows_as_text([_row(row, schema) for row in group.rows]))
        at = {"row": group.rows[0].place, "records": len(group.rows)}
        reject(Reject(error, content, at, _id(group.id)))
        return None
    counts.records_converted += rows.num_rows
    return done


def _id(id: Any) -> Any:
    """An id as JSON has it."""
    if isinstance(id, bytes):
        return id.hex()
    return id if id is None or isinstance(id, (str, int)) else str(id)


def _row(row: Row, schema: pa.Schema) -> pa.RecordBatch:
    return pa.ipc.read_record_batch(pa.py_buffer(row.payload), schema)


def _cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    if batch.schema.types == schema.types:
        return batch
    return arrow.one(pa.Table.from_batches([batch]).cast(schema).to_batches())


def _roomy(kind: pa.DictionaryType) -> pa.DataType:
    """Rows of many groups come together in one, and so do their dictionaries."""
    index = kind.index_type
    return pa.dictionary(pa.int32() if index.bit_width < 32 else index, kind.value_type, kind.ordered)


def _retyped(schema: pa.Schema, change: _Change) -> pa.Schema:
    """A schema with other types for dictionaries."""
    return pa.schema([_changed(field, change) for field in schema], metadata=schema.metadata)


def _changed(field: pa.Field, change: _Change) -> pa.Field:
    types, kind = pa.types, field.type
    if types.is_dictionary(kind):
        kind = change(kind)
    elif types.is_struct(kind):
        kind = pa.struct([_changed(each, change) for each in kind])
    elif types.is_map(kind):
        kind = pa.map_(kind.key_type, _changed(kind.item_field, change), keys_sorted=kind.keys_sorted)
    elif types.is_list(kind):
        kind = pa.list_(_changed(kind.value_field, change))
    elif types.is_large_list(kind):
        kind = pa.large_list(_changed(kind.value_field, change))
    return field.with_type(kind)
