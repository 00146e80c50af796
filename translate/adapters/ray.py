"""Streams in data sets of Ray Data. Needs the extra ``ray``, and this package on the workers.

A stream that is broken never fails the job: it is null, and the column ``error`` says why, as ``Type: message``; it is
null where all is well. What each stream becomes is what :func:`translate.convert` makes of it; ``clock`` is a number, 0
by default. What fails at once is a format that does not exist (``UnknownFormat``), and a column that is not there or of
no fitting type (``ValueError``): for that the schema of the data set is asked for, and of one that does not know it yet
Ray reads the first rows. While a data set is read, Ray makes errors of its own of others.
"""

from __future__ import annotations

from typing import Unpack

import pyarrow as pa
from ray.data import Dataset  # pyright: ignore[reportMissingImports]

from ..logs.kept import KeptStreams, KeptUnits, StreamSettings, settings_of
from ..logs.layout import Layout

BATCH = 256
"""Streams that are in memory at once, in each task."""


def convert_column(
    ds: Dataset,
    col: str,
    src: str,
    dst: str,
    *,
    error: str = "error",
    batch_size: int = BATCH,
    **options: Unpack[StreamSettings],
) -> Dataset:
    """Convert a column that holds a stream in each row: text, binary, or a list of units.

    Types and nulls are as with :func:`translate.adapters.spark.convert_column`.
    """
    kept = KeptStreams(col, settings_of(src, dst, options), error)
    _check(ds, kept)
    return ds.map_batches(kept.convert_table, batch_format="pyarrow", batch_size=batch_size)


def convert_units(
    ds: Dataset,
    id: str,
    order: str,
    col: str,
    src: str,
    dst: str,
    *,
    error: str = "error",
    gaps: bool = False,
    explode: bool = False,
    partitions: int | None = None,
    **options: Unpack[StreamSettings],
) -> Dataset:
    """Convert a column that holds one unit of a stream in each row, in any order of rows.

    Rows that come out, what ``gaps`` and ``explode`` are, and what is an error in an order or an id, are as with
    :func:`translate.adapters.spark.convert_units`. ``partitions``: how many Ray groups into.
    """
    layout = Layout("parquet", col, units=True, id=id, order=order, gaps=gaps)
    kept = KeptUnits(layout, settings_of(src, dst, options), error, explode)
    _check(ds, kept)
    rows = ds if explode else ds.select_columns(list(dict.fromkeys((id, order, col))))
    return rows.groupby(id, num_partitions=partitions).map_groups(kept.convert_table, batch_format="pyarrow")


def _check(ds: Dataset, kept: KeptStreams | KeptUnits) -> None:
    """Raises ``ValueError`` where a data set lacks a column, which would be an error of Ray's own in its tasks."""
    schema = ds.schema()
    if schema is not None and isinstance(schema.base_schema, pa.Schema):
        kept.schema(schema.base_schema)
