"""Batches of rows that are all kept, as data frames send them: wherever a batch ends, a stream is whole."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.logs import samples
from tests.logs.samples import BAD, GOOD, SETTINGS, said
from translate.logs import Layout

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
arrow = pytest.importorskip("translate.logs.arrow")
kept = pytest.importorskip("translate.logs.kept")

UNITS = Layout("parquet", "unit", units=True, id="id", order="seq")


def sent(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def of_units() -> tuple[Any, dict[Any, str]]:
    """Rows of streams, good and bad, those of each together but in no order of their own."""
    rows, errors = samples.bad_rows()
    rows += samples.rows(GOOD)
    ids, orders, units = (list(each) for each in zip(*rows, strict=True))
    schema = pa.schema([("n", pa.int64()), ("id", pa.string()), ("seq", pa.int64()), ("unit", pa.string())], {"k": "v"})
    return pa.table([range(len(rows)), ids, orders, units], schema=schema).sort_by("id"), errors


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("explode", [False, True])
def test_a_stream_may_run_over_batches(size: int, explode: bool) -> None:
    table, errors = of_units()
    convert = sent(kept.KeptUnits(UNITS, SETTINGS, "why", explode))
    batches = list(convert.convert(iter(table.to_batches(max_chunksize=size))))
    assert all(batch.schema.equals(convert.schema(table.schema), check_metadata=True) for batch in batches)
    streams: dict[Any, list[dict[str, Any]]] = {}
    for row in pa.Table.from_batches(batches).to_pylist():
        streams.setdefault(row["id"], []).append(row)
    assert set(streams) == {None, *GOOD, *errors}
    before = dict(zip(table["n"].to_pylist(), table["seq"].to_pylist(), strict=True))
    for id, rows in streams.items():
        if id in GOOD:
            assert "".join(row["unit"] for row in rows) == said(GOOD[id]).text
            assert {row["why"] for row in rows} == {None}
            if explode:
                assert [row["seq"] for row in rows] == list(range(len(rows)))
                orders = [before[row["n"]] for row in rows]
                assert orders == sorted(orders)
            continue
        assert len(rows) == (2 if id is None else 1)
        for row in rows:
            assert (row["unit"], row.get("seq")) == (None, None)
            assert row["why"].startswith(errors.get(id, "DecodeError: the row has no id"))


def test_only_one_stream_is_held_at_a_time() -> None:
    table, _ = of_units()
    taken = 0

    def batches() -> Iterator[Any]:
        nonlocal taken
        for batch in table.to_batches(max_chunksize=10):
            taken += 1
            yield batch

    runs = kept._runs(batches(), UNITS)
    for group, held in runs:
        rows = sum(batch.num_rows for batch in held)
        assert rows == max(len(group.rows), 1)
        if taken * 10 >= table.num_rows:
            break
    assert sum(1 for _ in runs) < 5


def test_the_arrays_of_other_columns_are_the_very_same() -> None:
    streams = [*GOOD.values(), *BAD.values()]
    batch = pa.record_batch({"n": pa.array(range(len(streams))), "s": pa.array(streams), "t": pa.array(streams)})
    (done,) = sent(kept.KeptStreams("s", SETTINGS, "error")).convert([batch.slice(3)])
    for name in ("n", "t"):
        ours, theirs = (each.column(name).buffers()[-1] for each in (batch, done))
        assert ours.address == theirs.address
        assert done.column(name).equals(batch.column(name).slice(3))
    assert done.column("s").to_pylist() == [said(stream).text for stream in streams[3:]]


def test_no_rows() -> None:
    table, _ = of_units()
    for convert in (kept.KeptUnits(UNITS, SETTINGS, "e", True), kept.KeptStreams("unit", SETTINGS, "e")):
        done = convert.convert_table(table.slice(0, 0))
        assert done.num_rows == 0
        assert done.schema.equals(convert.schema(table.schema))


def test_columns_that_cannot_be() -> None:
    schema = pa.schema([("n", pa.int64()), ("s", pa.string()), ("s", pa.string())])
    for column in ("n", "s", "other"):
        with pytest.raises(arrow.NoSuchColumn):
            kept.KeptStreams(column, SETTINGS, "error").schema(schema)
    with pytest.raises(ValueError, match="already"):
        kept.KeptStreams("t", SETTINGS, "n").schema(pa.schema([("n", pa.int64()), ("t", pa.string())]))


def test_a_number_that_is_none_is_no_place() -> None:
    units = samples.units(samples.text(4))
    places = [float(index) for index in range(len(units))]
    places[3] = float("nan")
    table = pa.table({"id": [1] * len(units), "seq": places, "unit": units})
    done = kept.KeptUnits(replace(UNITS, gaps=True), SETTINGS, "error", False).convert_table(table)
    (row,) = done.to_pylist()
    assert row["unit"] is None
    assert "has no place in its order" in row["error"]


def test_a_struct_that_is_null_stays_so() -> None:
    batch = pa.record_batch({"s": pa.array([{"a": 1, "b": 2}, None, {"a": None, "b": 3}])}).slice(1)
    done = arrow.put(batch, "s.a", pa.array(["x", "y"]))
    assert done.column("s").to_pylist() == [None, {"a": "y", "b": 3}]
