"""Ray Data: each stream becomes what the library makes of it, wherever its rows were."""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.logs import samples
from tests.logs.samples import BAD, GOOD, said
from translate import UnknownFormat

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
data = pytest.importorskip("ray.data", reason="ray is not installed")

from translate.adapters.ray import convert_column, convert_units  # noqa: E402

FORMATS = ("gateway-sse", "unievent-sse")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def ray() -> Iterator[None]:
    import ray  # pyright: ignore[reportMissingImports]

    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    paths = [str(ROOT), str(ROOT / "codecs"), os.environ.get("PYTHONPATH", "")]
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=100 * 1024 * 1024,
        logging_level=logging.ERROR,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, paths))}},
        _node_ip_address="127.0.0.1",
    )
    data.DataContext.get_current().enable_progress_bars = False
    try:
        yield
    finally:
        ray.shutdown()
        patch.undo()


def test_a_column_of_streams() -> None:
    streams = [*GOOD.values(), *BAD.values()]
    random.Random(1).shuffle(streams)
    number = len(streams)
    ns = pa.array([None if n % 3 else 1_700_000_000 * 10**9 + n for n in range(number)], pa.timestamp("ns"))
    before = pa.table({"n": range(number), "ns": ns, "s": pa.array(streams, pa.string())})
    done = convert_column(data.from_arrow(before), "s", *FORMATS, error="why", batch_size=20, clock=7)
    found = pa.concat_tables(data_of(done)).sort_by("n")
    assert found.column_names == ["n", "ns", "s", "why"]
    assert found.select(["n", "ns"]).equals(before.select(["n", "ns"]))
    for stream, text, why in zip(streams, found["s"].to_pylist(), found["why"].to_pylist(), strict=True):
        assert (text, (why or ":").partition(":")[0]) == (said(stream).text, said(stream).error or "")


def data_of(ds: Any) -> list[Any]:
    return [batch for batch in ds.iter_batches(batch_format="pyarrow", batch_size=None) if batch.num_rows]


@pytest.mark.parametrize("explode", [False, True])
def test_rows_of_units(explode: bool) -> None:
    rows, errors = samples.bad_rows()
    rows += samples.rows(GOOD)
    random.Random(8).shuffle(rows)
    ids, orders, units = (list(each) for each in zip(*rows, strict=True))
    before = pa.table({"n": range(len(rows)), "id": ids, "seq": orders, "unit": units})
    ds = data.from_arrow([before.slice(0, 100), before.slice(100)])
    done = convert_units(ds, "id", "seq", "unit", *FORMATS, explode=explode, partitions=2, clock=7)
    streams: dict[Any, list[dict[str, Any]]] = {}
    for batch in data_of(done):
        assert batch.column_names == (["n", "id", "seq", "unit", "error"] if explode else ["id", "unit", "error"])
        for row in batch.to_pylist():
            streams.setdefault(row["id"], []).append(row)
    assert set(streams) == {None, *GOOD, *errors}
    for id, found in streams.items():
        if id in GOOD:
            assert {row["error"] for row in found} == {None}
            assert "".join(row["unit"] for row in found) == said(GOOD[id]).text
            assert [row["seq"] for row in found] == list(range(len(found))) if explode else len(found) == 1
            continue
        assert len(found) == (2 if id is None else 1)
        for row in found:
            assert row["unit"] is None
            assert row["error"].startswith(errors.get(id, "DecodeError: the row has no id"))


def test_an_error_of_a_column_keeps_its_type() -> None:
    ds = data.from_arrow(pa.table({"n": [1], "s": ["x"]}))
    for name, match in (("other", "no column 'other'"), ("n", "it holds no stream")):
        with pytest.raises(ValueError, match=match):
            convert_column(ds, name, *FORMATS)
    with pytest.raises(ValueError, match="no column 'other'"):
        convert_units(ds, "n", "other", "s", *FORMATS)
    with pytest.raises(ValueError, match="already"):
        convert_column(ds, "s", *FORMATS, error="n")


def test_a_format_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(UnknownFormat):
        convert_column(data.from_items([{"s": "x"}]), "s", "gateway-sse", "other")
