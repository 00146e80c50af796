"""Streams in columns of Arrow: a row holds a stream, or one unit of one. Needs pyarrow.

=============================  ===========================  ==============================
the column holds               ``dst`` is a format of bytes  of objects
=============================  ===========================  ==============================
a stream: text, binary         the same type                the same type: an array of JSON
a stream: a list of units      ``string``                   ``list<string>``: JSON
a unit: text, binary           the same type                the same type: JSON
a unit: a struct               ``string``                   ``string``: JSON
=============================  ===========================  ==============================

1. Units of a list are text, binary or structs. A member of a struct that is null counts as absent: Arrow has no other
   way to say so.
2. Text is read as bytes: what is no UTF-8 is a broken stream, no failure of the reader.
3. Columns in structs are named with dots, as members of records are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from .. import jsontext
from ..errors import DecodeError, LimitExceeded, not_utf8
from ..registry import resolve
from .grouping import is_nan
from .layout import Counts, Layout, Settings
from .stream import whole
from .units import convert_units

_types = pa.types
_SMALL = (pa.int8(), pa.int16(), pa.uint8(), pa.uint16())
"""Types that do not hold any number of a unit in its stream."""


class NoSuchColumn(ValueError):
    """A column is not there, or cannot hold what it should."""


# ---- columns -------------------------------------------------------------------------------------------------


def _names(schema: pa.Schema, path: str) -> list[str]:
    return [path] if schema.get_all_field_indices(path) else path.split(".")


def type_of(schema: pa.Schema, path: str) -> pa.DataType:
    """The type of the column at a path. Raises :class:`NoSuchColumn`."""
    found: Any = schema
    for name in _names(schema, path):
        is_parent = found is schema or _types.is_struct(found)
        places: list[int] = found.get_all_field_indices(name) if is_parent else []
        if len(places) != 1:
            raise NoSuchColumn(f"there is no column {path!r}, or there are several")
        found = found.field(places[0]).type
    return found


def column(batch: pa.RecordBatch, path: str) -> pa.Array:
    """The column at a path; it is null where a struct around it is."""
    first, *names = _names(batch.schema, path)
    found = batch.column(batch.schema.get_field_index(first))
    for name in names:
        found = pc.struct_field(found, name)  # pyright: ignore[reportAttributeAccessIssue]
    return found


def put(batch: pa.RecordBatch, path: str, values: pa.Array) -> pa.RecordBatch:
    """A batch with other values in a column that it has; the other arrays and the metadata are the same."""
    arrays, fields = list(batch.columns), list(batch.schema)
    _put(arrays, fields, _names(batch.schema, path), values)
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields, metadata=batch.schema.metadata))


def _put(arrays: list[pa.Array], fields: list[pa.Field], names: Sequence[str], values: pa.Array) -> None:
    index = [field.name for field in fields].index(names[0])
    if len(names) > 1:
        struct = arrays[index]
        inner = [struct.field(i) for i in range(struct.type.num_fields)]
        inner_fields = list(struct.type)
        _put(inner, inner_fields, names[1:], values)
        values = pa.StructArray.from_arrays(inner, fields=inner_fields, mask=struct.is_null())
    arrays[index] = values
    fields[index] = fields[index].with_type(values.type)


def _bare(kind: pa.DataType) -> pa.DataType:
    """The type of the values, however they are packed."""
    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif _types.is_dictionary(kind):
            kind = kind.value_type
        else:
            return kind


def _unpacked(array: pa.Array) -> pa.Array:
    while True:
        if isinstance(array.type, pa.BaseExtensionType):
            array = array.storage
        elif _types.is_dictionary(array.type):
            array = array.dictionary_decode()
        else:
            return array


def _is(kind: pa.DataType, *names: str) -> bool:
    # some of them are unknown to older versions
    return any(getattr(_types, f"is_{name}", lambda kind: False)(kind) for name in names)


def _is_text(kind: pa.DataType) -> bool:
    return _is(kind, "string", "large_string", "string_view")


def _is_octets(kind: pa.DataType) -> bool:
    return _is_text(kind) or _is(kind, "binary", "large_binary", "binary_view", "fixed_size_binary")


def _is_list(kind: pa.DataType) -> bool:
    return _is(kind, "list", "large_list", "fixed_size_list", "list_view", "large_list_view")


# ---- types ---------------------------------------------------------------------------------------------------


def converted_schema(schema: pa.Schema, layout: Layout, settings: Settings) -> pa.Schema:
    """The schema of what rows become. Raises :class:`NoSuchColumn` where they cannot hold streams so."""
    kind = type_of(schema, layout.field)
    result = _unit_type(kind) if layout.units else _stream_type(kind, settings)
    if result is None:
        what = "unit" if layout.units else "stream"
        raise NoSuchColumn(f"the column {layout.field!r} is of {kind}: it holds no {what}")
    for path, fits in ((layout.id, _is_id), (layout.order, _is_order)) if layout.units else ():
        if path is not None and not fits(_bare(type_of(schema, path))):
            raise NoSuchColumn(f"the column {path!r} is of {type_of(schema, path)}: it holds no id or order")
    done = _with_type(schema, layout.field, result)
    if layout.numbers is None or layout.gaps:
        return done
    return _with_type(done, layout.numbers, _number_type(type_of(schema, layout.numbers)))


def _stream_type(kind: pa.DataType, settings: Settings) -> pa.DataType | None:
    kind = _bare(kind)
    if _is_list(kind):
        inner = _bare(kind.value_type)
        units = pa.list_(pa.string()) if resolve(settings.dst)[1].objects else pa.string()
        return units if _is_octets(inner) or _types.is_struct(inner) else None
    return _unit_type(kind) if _is_octets(kind) else None


def _unit_type(kind: pa.DataType) -> pa.DataType | None:
    kind = _bare(kind)
    if _types.is_fixed_size_binary(kind):
        return pa.binary()
    if _types.is_struct(kind):
        return pa.string()
    return kind if _is_octets(kind) else None


def _number_type(kind: pa.DataType) -> pa.DataType:
    kind = _bare(kind)
    if _types.is_decimal(kind):
        return pa.decimal128(38, kind.scale) if kind.bit_width <= 128 else pa.decimal256(76, kind.scale)
    return pa.int64() if kind in _SMALL else kind


def _is_id(kind: pa.DataType) -> bool:
    return _is_octets(kind) or _is(kind, "integer", "decimal", "temporal")


def _is_order(kind: pa.DataType) -> bool:
    return _is_text(kind) or _is(kind, "integer", "floating", "decimal", "temporal")


_Change: TypeAlias = Callable[[Any], Any]
"""What makes a field of another."""


def changed(schema: pa.Schema, path: str, change: _Change) -> pa.Schema:
    """A schema with another field at a path that it has."""
    return pa.schema(_changed(schema, _names(schema, path), change), metadata=schema.metadata)


def _changed(fields: Iterable[pa.Field], names: Sequence[str], change: _Change) -> list[pa.Field]:
    def at(field: pa.Field) -> pa.Field:
        if field.name != names[0]:
            return field
        return field.with_type(pa.struct(_changed(field.type, names[1:], change))) if names[1:] else change(field)

    return [at(field) for field in fields]


def _with_type(schema: pa.Schema, path: str, kind: pa.DataType) -> pa.Schema:
    return changed(schema, path, lambda field: field.with_type(kind))


# ---- values --------------------------------------------------------------------------------------------------


def _octets(value: pa.Scalar) -> bytes:
    return bytes(value.as_buffer())


def _text(value: pa.Scalar) -> str:
    data = _octets(value)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(data, error) from None


def _unit(value: pa.Scalar) -> Any:
    """A unit: text, or an object."""
    if not value.is_valid:
        raise DecodeError("the row holds no unit", expected="text or a struct")
    if isinstance(value, (pa.DictionaryScalar, pa.ExtensionScalar)):
        return _unit(value.value)
    if _types.is_struct(value.type):
        try:
            return _without_nulls(said(value))
        except (UnicodeDecodeError, pa.ArrowException) as error:
            raise DecodeError(f"a struct that is no unit: {error}") from None
    return _text(value)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def _stream(value: pa.Scalar) -> Any:
    """A stream: bytes, or a list of units."""
    if not value.is_valid:
        raise DecodeError("the row holds no stream", expected="text, or a list of units")
    return [_unit(each) for each in value.values] if _is_list(value.type) else _octets(value)


def _json(value: Any) -> str:
    return value if isinstance(value, str) else jsontext.dumps(value).decode()


def _array(values: list[str | None], kind: pa.DataType) -> pa.Array:
    return pa.array(values if _is_text(kind) else [None if each is None else each.encode() for each in values], kind)


def said(value: pa.Scalar) -> Any:
    """A value as JSON has it; times and decimals are text. Raises ``UnicodeDecodeError`` for octets that are none, and
    ``ArrowException`` for what has no text.
    """
    kind = value.type
    if not value.is_valid:
        return None
    if isinstance(value, (pa.DictionaryScalar, pa.ExtensionScalar)):
        return said(value.value)
    if _types.is_struct(kind):
        return {name: said(each) for name, each in value.items()}
    if _is_list(kind):
        return [said(each) for each in value.values]
    if _types.is_map(kind):
        return [[said(each["key"]), said(each["value"])] for each in value.values]
    if _is_octets(kind):
        return _octets(value).decode()
    if _is(kind, "boolean", "integer", "floating"):
        return value.as_py()
    return str(value.as_py()) if _types.is_decimal(kind) else value.cast(pa.string()).as_py()


def rows_as_text(batches: Sequence[pa.RecordBatch]) -> Iterator[bytes]:
    """Rows as JSON lines; if that cannot say them, as an Arrow IPC stream."""
    try:
        yield from [jsontext.dumps(said(row)) + b"\n" for batch in batches for row in batch.to_struct_array()]
    except (UnicodeDecodeError, pa.ArrowException):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batches[0].schema) as stream:
            for batch in batches:
                stream.write_batch(batch)
        yield sink.getvalue().to_pybytes()


# ---- a row per stream ----------------------------------------------------------------------------------------


def convert_streams(
    batch: pa.RecordBatch,
    path: str,
    settings: Settings,
    counts: Counts,
    rejected: Callable[[int, Exception], None],
) -> pa.RecordBatch:
    """Convert a column of streams. ``rejected`` is told of each row whose stream is broken: its column is null then."""
    array = _unpacked(column(batch, path))
    kind = _stream_type(array.type, settings)
    if kind is None:
        raise NoSuchColumn(f"the column {path!r} is of {array.type}: it holds no stream")
    done: list[Any] = []
    for index, value in enumerate(array):
        counts.streams_in += 1
        counts.records_in += 1
        try:
            result = whole(_stream(value), settings, counts)
        except Exception as error:
            # of whatever kind: a fault of a codec is one of its stream, and the others go on
            counts.reject(error, 1)
            rejected(index, error)
            done.append(None)
        else:
            counts.records_converted += 1
            done.append([_json(unit) for unit in result] if _is_list(kind) else _json(result))
    return put(batch, path, pa.array(done, kind) if _is_list(kind) else _array(done, kind))


# ---- a row per unit ------------------------------------------------------------------------------------------


def keys(batch: pa.RecordBatch, layout: Layout) -> Iterator[tuple[Any, Any]]:
    """The id and the order of each row, ``None`` where there is none."""
    ids, orders = (values(column(batch, path or "")) for path in (layout.id, layout.order))
    return zip(ids, (None if is_nan(order) else order for order in orders), strict=True)


def has_ids(schema: pa.Schema, path: str) -> bool:
    """Whether there is a column of ids at a path."""
    try:
        return _is_id(_bare(type_of(schema, path)))
    except NoSuchColumn:
        return False


def values(array: pa.Array) -> list[Any]:
    """Ids, or places in an order, so that they can be compared: text, bytes and numbers. Times are integers."""
    array = _unpacked(array)
    kind = array.type
    found: list[Any]
    if _is_octets(kind):
        # it may be no UTF-8, and is an id for all that
        found = [_octets(value) if value.is_valid else None for value in array]
        if _is_text(kind):
            found = [each if each is None else each.decode("utf-8", "surrogateescape") for each in found]
        return found
    if _types.is_temporal(kind) and not _types.is_interval(kind):
        array = array.view(pa.int64() if kind.bit_width == 64 else pa.int32())
    found = array.to_pylist()
    if _types.is_decimal(kind) and kind.scale <= 0:
        return [None if each is None else int(each) for each in found]
    return found


def one(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The rows of batches in one. Raises :class:`LimitExceeded` where an array cannot hold them."""
    if len(batches) == 1:
        return batches[0]
    joined = pa.Table.from_batches(batches).combine_chunks().to_batches()
    if len(joined) != 1:
        raise LimitExceeded("stream", 2**31 - 1, what="the rows of a stream are too large for one array")
    return joined[0]


def convert_rows(rows: pa.RecordBatch, layout: Layout, settings: Settings, counts: Counts) -> pa.RecordBatch:
    """Convert the rows of one stream, which are its units, in order: a row for each output unit, with the other columns
    of the row that let it be said. Raises :class:`TranslateError`.
    """
    units = column(rows, layout.field)
    done = convert_units([_unit(each) for each in units], settings, counts)
    batch = rows.take(pa.array([index for index, _ in done], pa.int64()))
    return put(batch, layout.field, _array([_json(unit) for _, unit in done], _unit_type(units.type)))


def numbered(rows: pa.RecordBatch, path: str, kind: pa.DataType | None = None) -> pa.RecordBatch:
    """Rows with their numbers, from 0, in a column: of a type, or of its own that holds them all."""
    kind = _number_type(type_of(rows.schema, path)) if kind is None else kind
    numbers = [str(number) if _is_octets(_bare(kind)) else number for number in range(rows.num_rows)]
    return put(rows, path, pa.array(numbers).cast(kind))


def join_rows(rows: pa.RecordBatch, field: str, settings: Settings, counts: Counts) -> str:
    """Convert the rows of one stream, in order, to one text. Raises :class:`TranslateError`."""
    return _json(whole([_unit(each) for each in column(rows, field)], settings, counts))
