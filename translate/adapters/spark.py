"""Streams in data frames of Spark, classic or Connect. Needs the extra ``spark``, and this package on the executors.

1. A stream that is broken never fails the job: it is null, and the column ``error`` says why, as ``Type: message``; it
   is null where all is well. What fails at once is a column that is not there or of no fitting type (``ValueError``),
   and a format that does not exist (``UnknownFormat``).
2. What each stream becomes is what :func:`translate.convert` makes of it. ``clock`` is a number, 0 by default: a task
   that Spark runs again gives the same.
3. All columns pass through Arrow, as with Spark's own ``mapInArrow``: what Spark cannot send so has to be left out.
4. Columns are named as in Spark itself: with dots for members of structs, and in letters of either case, unless
   ``spark.sql.caseSensitive`` is set.
5. Rows reach Python in batches of ``spark.sql.execution.arrow.maxRecordsPerBatch``: where streams are large, lower it.
"""

from __future__ import annotations

from typing import Unpack

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from ..logs.kept import KeptStreams, KeptUnits, StreamSettings, settings_of
from ..logs.layout import Layout
from ..registry import resolve

_TEXT = (T.StringType, T.BinaryType)
_ID = (*_TEXT, T.IntegralType, T.DecimalType, T.DateType, T.TimestampType, T.TimestampNTZType)
_NUMBER = (T.IntegerType, T.LongType)
_ERROR = "error"
_ORDER = (T.StringType, T.NumericType, T.DateType, T.TimestampType, T.TimestampNTZType)


def convert_column(
    df: DataFrame, col: str, src: str, dst: str, *, error: str = "error", **options: Unpack[StreamSettings]
) -> DataFrame:
    """Convert a column that holds a stream in each row: text, binary, or an array of units (text, or structs).

    Text and binary stay so; streams of a format of objects are arrays of JSON in them. An array becomes text where
    ``dst`` is a format of bytes, else an array of text, JSON. All other columns are as they were. A null is no stream,
    and has an error.
    """
    settings = settings_of(src, dst, options)
    fields = _fields(df)
    path, field = _find(df, fields, col)
    kind = field.dataType
    if isinstance(kind, T.ArrayType) and isinstance(kind.elementType, (*_TEXT, T.StructType)):
        kind = T.ArrayType(T.StringType()) if resolve(dst)[1].objects else T.StringType()
    elif not isinstance(kind, _TEXT):
        raise ValueError(f"the column {col!r} is of {kind.simpleString()}: it holds no stream")
    _retype(fields, path, kind)
    return _mapped(df.toDF(*fields), KeptStreams(path, settings, _ERROR), fields, error)


def convert_units(
    df: DataFrame,
    id: str,
    order: str,
    col: str,
    src: str,
    dst: str,
    *,
    error: str = "error",
    gaps: bool = False,
    explode: bool = False,
    **options: Unpack[StreamSettings],
) -> DataFrame:
    """Convert a column that holds one unit of a stream in each row (text, binary or a struct), in any order of rows.

    A row comes out for each stream, with the columns ``id``, ``col``, by their last names, and ``error``; ``col`` is
    the whole stream, as text; an array of JSON for a format of objects. With ``explode``, a row for each output unit:
    with the other columns of the row that let it be said, and its number, from 0, in ``order``, which must be none of
    the unit's own members; of a stream that is broken one row is left, without a unit and a number.

    A stream is broken, too, where it has no order: where it is null (or NaN) in a row, where two rows are at the same
    place, where integers leave some out (unless ``gaps``, as for time stamps). A row whose ``id`` is null belongs to no
    stream: it has an error of its own.

    Rows are spread by ``id`` and sorted; a task needs memory for its largest stream, not for its partition.
    """
    settings = settings_of(src, dst, options)
    fields = _fields(df)
    found = [_find(df, fields, name) for name in (id, order, col)]
    for (_, field), fits in zip(found, (_ID, _ORDER, (*_TEXT, T.StructType)), strict=True):
        if not isinstance(field.dataType, fits):
            raise ValueError(f"the column {field.name!r} is of {field.dataType.simpleString()}: it holds no such thing")
    (key, id_field), (place, order_field), (unit, unit_field) = found
    rows = df.toDF(*fields)
    if explode:
        kind, number = unit_field.dataType, order_field.dataType
        _retype(fields, unit, kind if isinstance(kind, _TEXT) else T.StringType())
        if not place.startswith(f"{unit}."):
            _retype(fields, place, number if isinstance(number, _NUMBER) else T.LongType())
    else:
        # those of structs become columns, as with Spark's own select
        named = {path: path.replace(".", "_") for path in (key, place, unit)}
        rows = rows.select(*(rows[path].alias(name) for path, name in named.items()))
        key, place, unit = (named[path] for path in (key, place, unit))
        fields = {key: id_field, unit: T.StructField(unit_field.name, T.StringType())}
    kept = KeptUnits(Layout("parquet", unit, units=True, id=key, order=place, gaps=gaps), settings, _ERROR, explode)
    return _mapped(rows.repartition(rows[key]).sortWithinPartitions(key, place), kept, fields, error)


def _fields(df: DataFrame) -> dict[str, T.StructField]:
    """The columns, by names that Spark takes for nothing else: those with dots in them it cannot map."""
    return {f"c{index}": field for index, field in enumerate(df.schema.fields)}


def _find(df: DataFrame, fields: dict[str, T.StructField], name: str) -> tuple[str, T.StructField]:
    """The path of a column, below its new name, and what it is. As Spark has it, members of structs are named with
    dots, and letters are of either case, unless it is told otherwise.
    """
    exact = df.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
    found = _match(fields, name, exact)
    top, *names = name.split(".")
    if found is None and names:
        found = _match(fields, top, exact)
        for each in names:
            found = None if found is None else _within(*found, each, exact)
    if found is None:
        raise ValueError(f"there is no column {name!r}, or there are several")
    return found


def _within(path: str, field: T.StructField, name: str, exact: bool) -> tuple[str, T.StructField] | None:
    inner = field.dataType.fields if isinstance(field.dataType, T.StructType) else []
    found = _match({each.name: each for each in inner}, name, exact)
    return found and (f"{path}.{found[0]}", found[1])


def _match(fields: dict[str, T.StructField], name: str, exact: bool) -> tuple[str, T.StructField] | None:
    found = [item for item in fields.items() if item[1].name == name]
    if not found and not exact:
        found = [item for item in fields.items() if item[1].name.lower() == name.lower()]
    return found[0] if len(found) == 1 else None


def _retype(fields: dict[str, T.StructField], path: str, kind: T.DataType) -> None:
    """Give the column at a path another type."""
    top, *names = path.split(".")
    fields[top] = _retyped(fields[top], names, kind)


def _retyped(field: T.StructField, names: list[str], kind: T.DataType) -> T.StructField:
    if names and isinstance(field.dataType, T.StructType):
        kind = T.StructType(
            [_retyped(each, names[1:], kind) if each.name == names[0] else each for each in field.dataType]
        )
    return T.StructField(field.name, kind, nullable=field.nullable if names else True, metadata=field.metadata)


def _mapped(rows: DataFrame, kept: KeptStreams | KeptUnits, fields: dict[str, T.StructField], error: str) -> DataFrame:
    names = [field.name for field in fields.values()]
    if error in names:
        raise ValueError(f"there is a column {error!r} already")
    schema = [T.StructField(name, field.dataType, field.nullable, field.metadata) for name, field in fields.items()]
    done = rows.mapInArrow(kept.convert, T.StructType([*schema, T.StructField(_ERROR, T.StringType())]))
    return done.toDF(*names, error)
