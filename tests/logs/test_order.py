"""An order is that of the units, in whatever it is written, or the stream is rejected; and it is not made up."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.logs import packing, samples
from tests.logs.samples import SETTINGS, said, text
from translate import GrammarError, jsontext
from translate.cli import main
from translate.logs.grouping import Group, Row
from translate.logs.layout import Counts, Layout
from translate.logs.stream import whole

LAYOUT = Layout("lines", "unit", units=True, id="id", order="at")


def in_order(orders: Sequence[Any], layout: Layout = LAYOUT) -> list[Any]:
    """Orders that are given as they follow one another, turned round, and put in order."""
    rows = [Row("a", order, place, b"%d" % place) for place, order in enumerate(orders)]
    return [row.place for row in Group("a", rows[::-1]).in_order(layout).rows]


@pytest.mark.parametrize(
    "orders",
    [
        ["1700000000480-9", "1700000000480-10", "1700000000481-0", "1700000001000-0"],
        ["9-10", "10-1", "10-2"],
        ["2026-01-01T10:00:05Z", "2026-01-01T10:00:05.1Z", "2026-01-01T10:00:05.15Z", "2026-01-01T10:00:05.9Z"],
        ["2026-01-01T10:00:05.123456789Z", "2026-01-01T10:00:05.1234567891Z", "2026-01-01T10:00:05.12345679Z"],
        ["2026-01-01 23:30:00+01:00", "2026-01-01 22:31:00Z", "2026-01-02T00:00:00+0100", "2026-01-02T00:00:01+01"],
        ["2026-12-31T23:59:59.9Z", "2026-12-31T23:59:60Z", "2027-01-01T00:00:00.5Z"],
        ["20260101T100005,9", "20260101T100006", "20260101T100006,05"],
        ["1700000000.85", "1700000000.9", "1700000001", "1700000010.1"],
        ["chunk-9.json", "chunk-10.json", "chunk-11.json"],
        ["a_0009", "a_0010", "a_9999"],
        ["01HF8ZK9QXVJ5N1A2B3C4D5E6F", "01HF8ZK9QXVJ5N1A2B3C4D5E6G", "01HF8ZKAQXVJ5N1A2B3C4D5E6F"],
        ["018C1F3A-0000-7000-8000-000000000009", "018c1f3a-0001-7000-8000-000000000002"],
        ["-1", "0", "1", "2"],
        ["9" * 25, "1" + "0" * 25],
    ],
)
def test_text_is_put_in_the_order_that_it_means(orders: list[str]) -> None:
    assert in_order(orders) == list(range(len(orders)))


@pytest.mark.parametrize(
    ("orders", "says"),
    [
        (["2026-01-01T10:00:05Z", "2026-01-01T10:00:06"], "with a zone, and without one"),
        (["2026-01-01T10:00:05Z", "5"], "a time that is not read: '2026"),
        (["2026-01-01T10:00:05Z", "2026-13-01T10:00:05Z"], "a time that is not read"),
        (["10:00:05.9", "10:00:05.10"], "a time that is not read: '10:00:05"),
        (["05/Jan/2026:10:00:05 +0000", "05/Jan/2026:10:00:06 +0000"], "a time that is not read"),
        (["first", "second"], "text of different forms, such as 'second' and 'first'"),
        (["a-1", "a_2"], "text of different forms"),
        (["2.9", "2.11"], "a fraction, or counts with a dot"),
        (["6ba7b810-9dad-41d1-80b4-00c04fd430c8", "6ba7b811-9dad-41d1-80b4-00c04fd430c8"], "UUIDs that say no time"),
        (["1" * 2000, "2" * 2000], "more than 1000 characters"),
        ([1, "2"], "text among numbers"),
        (["7", "07"], "two units of the stream are at"),
    ],
)
def test_what_has_no_order_is_refused(orders: list[Any], says: str) -> None:
    with pytest.raises(GrammarError, match=says):
        in_order(orders)


@pytest.mark.parametrize(
    "layout", [replace(LAYOUT, order=None), replace(LAYOUT, gaps=True), replace(LAYOUT, order="text")]
)
def test_units_at_one_time_stand_as_they_came(layout: Layout) -> None:
    times = [0, 5, 5, 5, 9] if layout.order == "at" else [f"2026-01-01T00:00:0{n}Z" for n in (0, 5, 5, 5, 9)]
    rows = [Row("a", time, place, b"%d" % place) for place, time in enumerate(times)]
    assert Group("a", rows).in_order(layout).rows == rows
    if layout.order is None:
        return
    # of two that are equal nobody can tell whether one was written twice
    doubled = [row._replace(payload=b"0") if row.place in (1, 3) else row for row in rows]
    with pytest.raises(GrammarError, match="two units of the stream are at"):
        Group("a", doubled).in_order(layout)


def records(path: Path, orders: Any, shuffle: bool = True) -> str:
    """A stream in units, each with a place in the order; and what it becomes."""
    stream = text(30)
    units = samples.units(stream)
    lines = [packing.line({"id": 1, "at": orders(n), "unit": unit}) for n, unit in enumerate(units)]
    path.write_bytes(b"".join(random.Random(1).sample(lines, len(lines)) if shuffle else lines))
    return str(said(stream).text)


def convert(path: Path, out: Path, *more: str) -> list[dict[str, Any]]:
    fields = ("--unit-field", "unit", "--id-field", "id", "--clock", "7")
    options = ("--from", "gateway-sse", "--to", "unievent-sse", *fields, *more)
    assert main(["convert", str(path), "-o", str(out), *options]) == 0
    return packing.records_of(out.read_bytes())


def test_redis_ids_on_the_command_line(tmp_path: Path) -> None:
    expected = records(tmp_path / "in", lambda n: f"1700000000480-{n}")
    made = convert(tmp_path / "in", tmp_path / "out", "--order-field", "at", "--verify")
    assert "".join(each["unit"] for each in made) == expected
    assert all(each["at"].startswith("1700000000480-") for each in made), "an order that counts nothing stays"
    home = tmp_path / "home"
    back = ("--from", "unievent-sse", "--to", "gateway-sse", "--unit-field", "unit", "--id-field", "id")
    assert main(["convert", str(tmp_path / "out"), "-o", str(home), *back, "--order-field", "at"]) == 0
    assert "".join(each["unit"] for each in packing.records_of(home.read_bytes())) == text(30)


@pytest.mark.parametrize(("first", "kind"), [(0, int), ("0", str)])
def test_a_count_is_counted_anew_in_its_own_type(tmp_path: Path, first: Any, kind: type) -> None:
    records(tmp_path / "in", kind)
    made = convert(tmp_path / "in", tmp_path / "out", "--order-field", "at")
    assert [each["at"] for each in made] == [kind(n) for n in range(len(made))]
    assert type(made[0]["at"]) is type(first)


def test_without_an_order_units_stand_as_their_lines_do(tmp_path: Path) -> None:
    expected = records(tmp_path / "in", lambda n: "now", shuffle=False)
    assert "".join(each["unit"] for each in convert(tmp_path / "in", tmp_path / "out")) == expected


@pytest.mark.parametrize("target", ["gateway", "unievent-sse"])
@pytest.mark.parametrize("order", ["event.created_at", "event"])
def test_an_order_within_the_unit_is_read_alone(tmp_path: Path, target: str, order: str) -> None:
    units = packing.objects(packing.examples("unievent-sse")[3], "unievent-sse")
    for number, unit in enumerate(units):
        unit["created_at"] = 1_700_000_000 + 7 * number
    rows = [packing.line({"id": "a", "event": unit}) for unit in units]
    path = tmp_path / "in"
    path.write_bytes(b"".join(reversed(rows)))
    fields = ("--unit-field", "event", "--id-field", "id", "--order-field", order, "--gaps")
    code = main(["convert", str(path), "-o", str(tmp_path / "out"), "--from", "unievent", "--to", target, *fields])
    if order == "event":
        assert code == 1, "an object is no place in an order"
        return
    assert code == 0
    made = [each["event"] for each in packing.records_of((tmp_path / "out").read_bytes())]
    clock = path.stat().st_mtime_ns // 1_000_000
    expected = whole(units, replace(SETTINGS, src="unievent", dst=target, clock=clock), Counts())
    assert jsontext.same(made, expected) if target == "gateway" else "".join(made) == expected


def test_an_order_of_text_in_tables() -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from translate.logs.kept import KeptUnits

    units = samples.units(text(30))
    times = [f"2026-01-01T00:00:00.{n:03}".rstrip("0").rstrip(".") for n in range(len(units))]
    rows = [{"id": 1, "at": time, "unit": unit} for time, unit in zip(times, units, strict=True)]
    table = pa.Table.from_pylist(random.Random(2).sample(rows, len(rows)))
    layout = replace(LAYOUT, container="parquet")
    done = KeptUnits(layout, SETTINGS, "error", explode=False).convert_table(table).to_pylist()
    assert done == [{"id": 1, "unit": said(text(30)).text, "error": None}]
    with pytest.raises(ValueError, match="an order beside the unit"):
        KeptUnits(replace(layout, order="unit.at"), SETTINGS, "error", explode=True)


def test_an_order_within_the_struct_of_a_table(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    frames = samples.frames(30)
    rows = [{"id": 1, "event": {**frame, "at": number}} for number, frame in enumerate(frames)]
    parquet.write_table(pa.Table.from_pylist(random.Random(3).sample(rows, len(rows))), tmp_path / "in")
    fields = ("--unit-field", "event", "--id-field", "id", "--order-field", "event.at")
    formats = ("--from", "gateway", "--to", "gateway")
    assert main(["convert", str(tmp_path / "in"), "-o", str(tmp_path / "out"), *formats, *fields]) == 0
    made = [jsontext.loads(row["event"].encode()) for row in parquet.read_table(tmp_path / "out").to_pylist()]
    assert [unit["at"] for unit in made] == list(range(len(frames)))
