"""Spark, classic and Connect: each stream becomes what the library makes of it, wherever its rows were."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.logs import samples
from tests.logs.samples import BAD, GOOD, said, text
from translate import UnknownFormat
from translate.logs import Settings
from translate.logs.layout import Counts
from translate.logs.stream import whole

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java", allow_module_level=True)

from translate.adapters.spark import convert_column, convert_units

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

REMOTE = "TRANSLATE_TEST_SPARK_REMOTE"
ROOT = Path(__file__).parents[2]
FORMATS = ("gateway-sse", "unievent-sse")


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """One session, with few and small batches, so that streams run over their borders."""
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        paths = [str(ROOT), str(ROOT / "codecs"), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        builder: Any = SparkSession.builder
        remote = os.environ.get(REMOTE)
        builder = builder.remote(remote) if remote else builder.master("local[2]")
        for name, value in {
            "spark.ui.enabled": "false",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.shuffle.partitions": "3",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.execution.arrow.maxRecordsPerBatch": "7",
        }.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        try:
            yield session
        finally:
            session.stop()


def collected(df: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in df.collect()]


# ---- a row per stream ------------------------------------------------------------------------------------------


def test_a_column_of_streams(spark: SparkSession) -> None:
    streams = [*GOOD.values(), *BAD.values()]
    random.Random(1).shuffle(streams)
    rows = [
        (n, datetime(2026, 1, 1, 0, 0, 0, n), Decimal(n) / 1000, [n, None], {"k": n}, None if n % 3 else "x", stream)
        for n, stream in enumerate(streams)
    ]
    schema = "n int, at timestamp, price decimal(20,3), some array<int>, map map<string,int>, `a.b` string, s string"
    df = spark.createDataFrame(rows, schema).repartition(3)
    done = convert_column(df, "s", *FORMATS, error="why", clock=7)
    assert done.schema.names == [*df.schema.names, "why"]
    assert done.schema.fields[:6] == df.schema.fields[:6]
    found = sorted(collected(done), key=lambda row: row["n"])
    assert len(found) == len(rows)
    for row, before in zip(found, rows, strict=True):
        assert tuple(row.values())[:6] == before[:6]
        expected = said(before[6])
        assert row["s"] == expected.text
        assert (row["why"] or ":").partition(":")[0] == (expected.error or "")


def test_columns_of_other_types(spark: SparkSession) -> None:
    frames = samples.frames(4)
    lists = spark.createDataFrame([([json.dumps(frame) for frame in frames],), (None,)], "s array<string>")
    settings = Settings("gateway", "unievent-sse", clock=7)
    found = collected(convert_column(lists, "s", "gateway", "unievent-sse", clock=7))
    assert [row["s"] for row in found] == [whole(frames, settings, Counts()), None]
    assert [row["error"] is None for row in found] == [True, False]
    octets = spark.createDataFrame([(text(4).encode(),), (b"\xff",)], "s binary")
    done = convert_column(octets, "s", "gateway-sse", "gateway", loss="drop")
    assert done.schema["s"].dataType == octets.schema["s"].dataType
    first, second = collected(done)
    assert json.loads(first["s"]) == frames
    assert second["s"] is None
    assert "UTF-8" in second["error"]


# ---- a row per unit ----------------------------------------------------------------------------------------------


def of_units(spark: SparkSession, rows: list[samples.UnitRow]) -> DataFrame:
    numbered = [(n, *row) for n, row in enumerate(rows)]
    return spark.createDataFrame(numbered, "n long, id string, seq int, `the.unit` string").repartition(4)


def mixed() -> tuple[list[samples.UnitRow], dict[Any, str]]:
    rows, errors = samples.bad_rows()
    rows += samples.rows(GOOD)
    random.Random(8).shuffle(rows)
    return rows, errors


def test_rows_of_units_to_rows_of_streams(spark: SparkSession) -> None:
    rows, errors = mixed()
    done = convert_units(of_units(spark, rows), "id", "seq", "the.unit", *FORMATS, clock=7)
    assert done.schema.names == ["id", "the.unit", "error"]
    found = collected(done)
    assert sorted(str(row["id"]) for row in found) == sorted([*GOOD, *errors, "None", "None"])
    for row in found:
        if row["id"] in GOOD:
            assert (row["the.unit"], row["error"]) == (said(GOOD[row["id"]]).text, None)
        else:
            assert row["the.unit"] is None
            assert row["error"].startswith(errors.get(row["id"], "DecodeError: the row has no id"))


def test_rows_of_units_to_rows_of_units(spark: SparkSession) -> None:
    rows, errors = mixed()
    df = of_units(spark, rows)
    done = convert_units(df, "id", "seq", "the.unit", *FORMATS, explode=True, clock=7)
    assert done.schema.names == ["n", "id", "seq", "the.unit", "error"]
    streams: dict[Any, list[dict[str, Any]]] = {}
    for row in collected(done):
        streams.setdefault(row["id"], []).append(row)
    assert set(streams) == {None, *GOOD, *errors}
    for id, units in streams.items():
        assert all(rows[unit["n"]].id == id for unit in units)
        if id in GOOD:
            units.sort(key=lambda unit: unit["seq"])
            assert "".join(unit["the.unit"] for unit in units) == said(GOOD[id]).text
            assert [unit["seq"] for unit in units] == list(range(len(units)))
            orders = [rows[unit["n"]].order for unit in units]
            assert orders == sorted(orders)
        else:
            assert len(units) == (2 if id is None else 1)
            for unit in units:
                assert (unit["seq"], unit["the.unit"]) == (None, None)
                assert unit["error"].startswith(errors.get(id, "DecodeError: the row has no id"))


def test_columns_in_structs_and_in_other_letters(spark: SparkSession) -> None:
    rows = samples.rows({"a": text(12), "b": text(5)})
    nested = [(n, (row.id, {"Unit": row.unit, "at": row.order}), "kept") for n, row in enumerate(rows)]
    schema = "n long, Log struct<id:string, event:struct<Unit:string, at:int>>, other string"
    df = spark.createDataFrame(nested, schema).repartition(3)
    done = convert_units(df, "log.ID", "Log.event.AT", "LOG.Event.unit", *FORMATS, clock=7)
    assert done.schema.names == ["id", "Unit", "error"]
    assert {row["id"]: row["Unit"] for row in collected(done)} == {"a": said(text(12)).text, "b": said(text(5)).text}
    many = convert_units(df, "log.id", "log.event.at", "log.event.unit", *FORMATS, explode=True, clock=7)
    assert many.schema.names == [*df.schema.names, "error"]
    events = [row["Log"]["event"] for row in collected(many) if row["Log"]["id"] == "a"]
    found = sorted(events, key=lambda row: row["at"])
    assert [row["at"] for row in found] == list(range(len(found)))
    assert "".join(row["Unit"] for row in found) == said(text(12)).text
    schema = "Log struct<a:struct<s:string>>, n int"
    streams = spark.createDataFrame([(((text(3),),), 1), (((None,),), 2), ((None,), 3)], schema)
    done = convert_column(streams, "log.A.s", *FORMATS, clock=7)
    assert done.schema["Log"].dataType == streams.schema["Log"].dataType
    assert done.schema.names == ["Log", "n", "error"]
    one, *others = sorted(collected(done), key=lambda row: row["n"])
    assert (one["Log"]["a"]["s"], one["error"]) == (said(text(3)).text, None)
    assert all(row["error"].startswith("DecodeError") for row in others)
    structs = df.selectExpr("n", "Log.id as id", "Log.event as event")
    with pytest.raises(ValueError, match="an order beside the unit"):
        convert_units(structs, "id", "event.at", "event", *FORMATS, explode=True)
    for name in ("log.none", "other.x", "log.event.unit.x"):
        with pytest.raises(ValueError, match="there is no column"):
            convert_column(df, name, *FORMATS)
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        with pytest.raises(ValueError, match=r"there is no column 'log\.event\.Unit'"):
            convert_column(df, "log.event.Unit", *FORMATS)
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_orders_of_text_are_what_they_mean(spark: SparkSession) -> None:
    rows = [(row.id, f"1700000000480-{row.order}", row.unit) for row in samples.rows({1: text(15), 2: text(9)})]
    df = spark.createDataFrame(rows, "id long, at string, unit string")
    found = collected(convert_units(df, "id", "at", "unit", *FORMATS, clock=7))
    assert {row["id"]: row["unit"] for row in found} == {1: said(text(15)).text, 2: said(text(9)).text}


def test_times_are_orders_with_gaps(spark: SparkSession) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    rows = [(row.id, start + timedelta(seconds=row.order), row.unit) for row in samples.rows({1: text(5), 2: text(9)})]
    df = spark.createDataFrame(rows, "id long, at timestamp, unit string")
    found = collected(convert_units(df, "id", "at", "unit", *FORMATS, gaps=True, clock=7))
    assert {row["id"]: row["unit"] for row in found} == {1: said(text(5)).text, 2: said(text(9)).text}


# ---- faults ------------------------------------------------------------------------------------------------------


def test_what_cannot_be_is_refused_before_anything_runs(spark: SparkSession) -> None:
    df = spark.createDataFrame([(1, 1.5, "x")], "n long, f double, s string")
    for name, match in (("other", "no column"), ("n", "no stream")):
        with pytest.raises(ValueError, match=match):
            convert_column(df, name, *FORMATS)
    with pytest.raises(ValueError, match="already"):
        convert_column(df, "s", *FORMATS, error="n")
    with pytest.raises(ValueError, match="no such"):
        convert_units(df, "f", "n", "s", *FORMATS)
    with pytest.raises(UnknownFormat):
        convert_column(df, "s", "gateway-sse", "other")


@pytest.mark.skipif(REMOTE in os.environ, reason="this is Spark Connect")
def test_all_of_this_on_spark_connect() -> None:
    needed = ("grpc", "grpc_status", "google.rpc", "zstandard", "pandas")
    missing = [name for name in needed if not _installed(name)]
    if missing:
        pytest.skip(f"Spark Connect needs {', '.join(missing)}")
    # a process speaks one of the two
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__]
    env = {**os.environ, REMOTE: "local[2]"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "8 passed, 1 skipped" in done.stdout


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
