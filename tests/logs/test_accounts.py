"""Orders of whole numbers of any type, records that are all accounted for, and faults of codecs in tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.logs import faults, packing, samples
from tests.logs.samples import GOOD, SETTINGS, text
from translate import GrammarError, registry
from translate.cli import main
from translate.engine.options import make_options
from translate.logs import Job, Layout, convert_logs
from translate.logs.grouping import Group, Grouping, Row
from translate.logs.layout import Counts

UNITS = Layout("parquet", "unit", units=True, id="id", order="seq")


@pytest.mark.parametrize("number", [int, float, Decimal, lambda value: Decimal(value).scaleb(-2).scaleb(2)])
def test_whole_numbers_of_any_type_have_no_gaps(number: Callable[[int], Any]) -> None:
    rows = [Row("a", number(value), value, b"") for value in (3, 1, 2, 5)]
    assert [row.place for row in Group("a", rows[:3]).in_order(UNITS).rows] == [1, 2, 3]
    with pytest.raises(GrammarError, match="leaves out 4"):
        Group("a", rows).in_order(UNITS)
    assert [row.place for row in Group("a", rows).in_order(replace(UNITS, gaps=True)).rows] == [1, 2, 3, 5]


@pytest.mark.parametrize("orders", [(0.5, 2.0, 7.0), (Decimal("0.5"), Decimal(2), Decimal(7)), (0.0, float("inf"))])
def test_other_numbers_may_leave_some_out(orders: Any) -> None:
    rows = [Row("a", order, place, b"") for place, order in enumerate(orders)]
    assert Group("a", rows).in_order(UNITS) == (rows, False)


def test_records_add_up() -> None:
    counts = Counts(records_in=3, records_converted=2)
    assert counts.fault() == "3 records came in, and 2 + 0 were accounted for"
    counts.add(Counts(records_rejected=1))
    assert counts.fault() is None


def table(pa: Any, rows: list[samples.UnitRow]) -> Any:
    ids, orders, units = (list(each) for each in zip(*rows, strict=True))
    return pa.table({"id": ids, "seq": orders, "unit": units})


@pytest.mark.parametrize("limit", [None, 7])
@pytest.mark.parametrize("container", ["lines", "parquet"])
def test_rows_that_are_lost_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, container: Any, limit: int | None
) -> None:
    rows = samples.bad_rows()[0] + samples.rows(GOOD)
    path = tmp_path / "in"
    if container == "parquet":
        pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        pytest.importorskip("pyarrow.parquet").write_table(table(pa, rows), path)
    else:
        path.write_bytes(faults.records(*({"id": row.id, "seq": row.order, "unit": row.unit} for row in rows)))
    job = Job([str(path)], str(tmp_path / "out"), Layout(container, "unit", True, "id", "seq"), SETTINGS, limit=limit)
    counts = convert_logs(job).counts
    assert counts.records_in == counts.records_converted + counts.records_rejected
    if limit is not None:
        return
    assert counts.records_in == len(rows)
    groups = Grouping.groups
    monkeypatch.setattr(Grouping, "groups", lambda self: list(groups(self))[:-1])
    again = convert_logs(Job(job.inputs, str(tmp_path / "new"), job.layout, SETTINGS))
    assert (again.faults, list(again.failed)) == (1, list(job.inputs))


# ---- faults of a codec --------------------------------------------------------------------------------------


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A codec that fails for one unit, by whichever way that is read."""
    decoder: Any = type(registry.codec("gateway").encoder(make_options()))

    def failing(read: Any) -> Any:
        def fail(self: Any, unit: dict[str, Any], name: str | None) -> Any:
            if "777" in str(unit):
                raise KeyError("seven")
            return read(self, unit, name)

        return fail

    for way in ("read", "plain"):
        monkeypatch.setattr(decoder, way, failing(getattr(decoder, way)))


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize("units", [False, True])
def test_a_codec_that_fails_stops_no_job(tmp_path: Path, units: bool) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    streams = {"good": text(3), "bad": text(12).replace('"inputTokens":1', '"inputTokens":777')}
    path = tmp_path / "in"
    found = table(pa, samples.rows(streams)) if units else pa.table({"stream": list(streams.values())})
    pytest.importorskip("pyarrow.parquet").write_table(found, path)
    layout = UNITS if units else Layout("parquet", "stream")
    summary = convert_logs(Job([str(path)], str(tmp_path / "out"), layout, SETTINGS))
    assert (summary.counts.converted, summary.counts.rejected, summary.faults) == (1, 1, 1)
    (reject,) = packing.records_of((tmp_path / "out.rejects.jsonl").read_bytes())
    assert reject["error"] == {"type": "KeyError", "message": "'seven'"}


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize("command", [("convert", "-o", "out", "--to", "unievent-sse"), ("stats",)])
def test_a_fault_is_not_taken_for_a_broken_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "log").write_text(text(12).replace('"inputTokens":1', '"inputTokens":777') + text(3))
    assert main([*command, "in", "--from", "gateway-sse"]) == 70


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize("units", [False, True])
def test_a_codec_that_fails_is_an_error_of_its_row(units: bool) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from translate.logs.kept import KeptStreams, KeptUnits

    streams = {"bad": text(12).replace('"inputTokens":1', '"inputTokens":777'), "good": text(3)}
    kept: Any = KeptStreams("stream", SETTINGS, "why")
    found = pa.table({"stream": list(streams.values())})
    if units:
        kept = KeptUnits(UNITS, SETTINGS, "why", False)
        found = table(pa, samples.rows(streams)).sort_by("id")
    done = kept.convert_table(found).to_pylist()
    assert [row["why"] for row in done] == ["KeyError: 'seven'", None]
    assert [row["unit" if units else "stream"] is None for row in done] == [True, False]
