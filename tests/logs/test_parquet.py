"""Parquet: what is converted is what the library makes of each stream, and all else is what it was."""

from __future__ import annotations

import base64
import json
import random
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.logs import samples
from tests.logs.samples import BAD, GOOD, SETTINGS, said, text
from translate import convert, jsontext
from translate.logs import Job, Layout, Settings, convert_logs
from translate.logs.layout import Counts
from translate.logs.places import InputFault, Place
from translate.logs.rejects import SUFFIX
from translate.logs.stream import whole
from translate.logs.task import run
from translate.logs.work import Done, Task

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet")
parquet = pytest.importorskip("translate.logs.parquet")

STREAMS = Layout("parquet", "stream", id="id")
UNITS = Layout("parquet", "unit", units=True, id="id", order="seq")


def odd(number: int) -> dict[str, Any]:
    """Columns of many types, with nulls, and values that other ways of carrying them would change."""
    some = range(number)
    return {
        "ns": pa.array([None if n % 5 == 4 else 17 * 10**17 + 1 + n for n in some], pa.timestamp("ns", "UTC")),
        "decimal": pa.array([None if n % 7 == 3 else Decimal(n) / 1000 for n in some], pa.decimal128(38, 18)),
        "kind": pa.array([None if n % 6 == 2 else f"k{n % 3}" for n in some], pa.dictionary(pa.int8(), pa.string())),
        "nested": pa.array(
            [None if n % 4 == 1 else {"a": [n, None], "b": {"c": b"\xff\x00" * n, "d": None}} for n in some],
            pa.struct([("a", pa.list_(pa.int16())), ("b", pa.struct([("c", pa.binary()), ("d", pa.float32())]))]),
        ),
        "map": pa.array([[("x", n), ("y", None)] for n in some], pa.map_(pa.string(), pa.uint64())),
        "day": pa.array([date(1, 1, 1) if n % 2 else None for n in some], pa.date32()),
        "time": pa.array(list(some), pa.time64("ns")),
        "double": pa.array([float("nan") if n % 2 else -0.0 for n in some]),
        "large": pa.array([f"é{n}" for n in some], pa.large_string()),
        "tags": pa.array([["p", None, "p"]] * number, pa.list_(pa.dictionary(pa.int32(), pa.string()))),
        "nothing": pa.nulls(number),
    }


def table(columns: dict[str, Any]) -> Any:
    found = pa.table(columns)
    fields = [field.with_metadata({"note": f"of {field.name}"}) for field in found.schema]
    return found.cast(pa.schema(fields, metadata={"owner": "ours", "pandas": "{}"}))


def written(path: Path, found: Any, **options: Any) -> Path:
    pq.write_table(found, path, **{"compression": "zstd", "row_group_size": 17, **options})
    return path


def converted(source: Path | str, output: Path, layout: Layout, settings: Settings = SETTINGS, **more: Any) -> Done:
    place = Place(str(source), str(source).rpartition("/")[2])
    done = run(Task(place, str(output), layout, settings, **more))
    for suffix in ("", SUFFIX):
        found = output.with_name(f"{output.name}{suffix}.part")
        if found.exists():
            found.rename(output.with_name(f"{output.name}{suffix}"))
    assert done.counts.fault() is None
    return done


def read(path: Path) -> Any:
    # pyarrow cannot read all groups at once where there are dictionaries in lists
    file = pq.ParquetFile(path)
    return pa.concat_tables([file.read_row_group(index) for index in range(file.num_row_groups)])


def rejected(output: Path) -> list[dict[str, Any]]:
    path = output.with_name(output.name + SUFFIX)
    return [json.loads(line) for line in path.read_text().split("\n") if line] if path.exists() else []


def same(ours: Any, theirs: Any) -> None:
    """Equal arrays; NaN is NaN."""
    for before, after in zip(ours, theirs, strict=True):
        assert before.type == after.type
        assert before.equals(after) or repr(before.as_py()) == repr(after.as_py())


# ---- a row per stream ------------------------------------------------------------------------------------------


def test_a_column_of_streams_is_converted_and_all_else_is_what_it_was(tmp_path: Path) -> None:
    before = table({**odd(60), "id": list(GOOD), "stream": list(GOOD.values())})
    codecs = {"id": "gzip", "nested.b.c": "snappy"}
    source = written(tmp_path / "a.parquet", before, compression=dict.fromkeys(before.column_names, "zstd") | codecs)
    done = converted(source, tmp_path / "b.parquet", STREAMS)
    assert (done.counts.converted, done.counts.records_in, done.rejects) == (60, 60, 0)
    assert done.counts.units_in == sum(len(samples.frames(n % 23)) for n in range(60))
    ours, theirs = pq.ParquetFile(source), pq.ParquetFile(tmp_path / "b.parquet")
    assert theirs.schema_arrow.equals(ours.schema_arrow, check_metadata=True)
    for name in before.column_names[:-1]:
        same(read(source)[name], read(tmp_path / "b.parquet")[name])
    assert read(tmp_path / "b.parquet")["stream"].to_pylist() == [said(stream).text for stream in GOOD.values()]
    groups = [[file.metadata.row_group(i) for i in range(file.num_row_groups)] for file in (ours, theirs)]
    assert [group.num_rows for group in groups[0]] == [group.num_rows for group in groups[1]] == [17, 17, 17, 9]
    for left, right in zip(*groups, strict=True):
        for index in range(left.num_columns):
            assert left.column(index).compression == right.column(index).compression


@pytest.mark.parametrize("layout", [STREAMS, UNITS], ids=["streams", "units"])
def test_the_same_input_gives_the_same_bytes(tmp_path: Path, layout: Layout) -> None:
    source = written(tmp_path / "a.parquet", units_table(samples.rows(GOOD)) if layout.units else streams_table())
    for name, memory in (("b", 1 << 30), ("c", 20_000), ("d", 1 << 30)):
        converted(source, tmp_path / f"{name}.parquet", layout, memory=memory)
    found = {(tmp_path / f"{name}.parquet").read_bytes() for name in "bcd"}
    assert len(found) == 1


def streams_table() -> Any:
    return table({"id": list(GOOD), "stream": list(GOOD.values())})


def test_bad_streams_are_rejected_whole_and_the_others_converted(tmp_path: Path) -> None:
    mixed = {**GOOD, **BAD, "last": text(3)}
    order = random.Random(4).sample(list(mixed), len(mixed))
    columns = {"id": order, "day": [date(2026, 1, 2)] * len(order), "stream": [mixed[id] for id in order]}
    source = written(tmp_path / "a.parquet", pa.table(columns))
    done = converted(source, tmp_path / "b.parquet", STREAMS)
    assert (done.counts.converted, done.counts.rejected, done.rejects) == (61, len(BAD), len(BAD))
    found = pq.read_table(tmp_path / "b.parquet")
    assert found["id"].to_pylist() == [id for id in order if id not in BAD]
    assert found["stream"].to_pylist() == [said(mixed[id]).text for id in order if id not in BAD]
    rejects = rejected(tmp_path / "b.parquet")
    assert [reject["stream"] for reject in rejects] == [id for id in order if id in BAD]
    for reject in rejects:
        id = reject["stream"]
        assert json.loads(reject["content"]) == {"id": id, "day": "2026-01-02", "stream": BAD[id]}
        assert reject["error"]["type"] == said(BAD[id]).error
        assert reject["at"] == {"row": order.index(id)}


def test_a_row_that_json_cannot_say_is_rejected_as_arrow(tmp_path: Path) -> None:
    streams = [b"\xfe", b"bad", text(1).encode()]
    before = pa.table({"id": [b"\xff", b"2", b"3"], "raw": [b"x", b"y", None], "stream": streams})
    source = written(tmp_path / "a.parquet", before)
    assert converted(source, tmp_path / "b.parquet", STREAMS).rejects == 2
    first, second = rejected(tmp_path / "b.parquet")
    assert first["encoding"] == "base64"
    assert pa.ipc.open_stream(base64.b64decode(first["content"])).read_all().equals(before.slice(0, 1))
    assert json.loads(second["content"]) == {"id": "2", "raw": "y", "stream": "bad"}
    assert [first["stream"], second["stream"]] == ["ff", "32"]
    assert pq.read_table(tmp_path / "b.parquet")["stream"].to_pylist() == [said(text(1)).text.encode()]


def as_texts(streams: list[str]) -> list[list[str]]:
    found = (convert([stream], "gateway-sse", "gateway") for stream in streams)
    return [[jsontext.dumps(unit).decode() for unit in units] for units in found]


@pytest.mark.parametrize("kind", ["string", "large_string", "binary", "string_view", "dictionary"])
@pytest.mark.parametrize("objects", [False, True])
def test_every_type_of_text_holds_streams(tmp_path: Path, kind: str, objects: bool) -> None:
    types: dict[str, Any] = {"dictionary": pa.dictionary(pa.int8(), pa.string())}
    settings = replace(SETTINGS, dst="unievent" if objects else "unievent-sse")
    streams = pa.array([text(1), text(2), text(1)]).cast(types.get(kind) or getattr(pa, kind)())
    source = written(tmp_path / "a.parquet", pa.table({"stream": streams}))
    assert converted(source, tmp_path / "b.parquet", Layout("parquet"), settings).rejects == 0
    column = pq.ParquetFile(tmp_path / "b.parquet").read()["stream"]
    before = pq.ParquetFile(source).schema_arrow.field("stream").type
    assert column.type == (pa.string() if kind == "dictionary" else before)
    found = [each.decode() if kind == "binary" else each for each in column.to_pylist()]
    expected = [said(text(n), settings).text for n in (1, 2, 1)]
    assert ([json.loads(each) for each in found] if objects else found) == expected


def test_lists_of_units_are_streams(tmp_path: Path) -> None:
    settings = Settings("gateway", "unievent-sse")
    texts = as_texts([text(3), text(0)])
    note = {"org.apache.spark.sql.parquet.row.metadata": "of lists", "kept": "yes"}
    schema = pa.schema([("stream", pa.list_(pa.string()))], metadata=note)
    source = written(tmp_path / "a.parquet", pa.table({"stream": [*texts, None, [None]]}, schema=schema))
    assert converted(source, tmp_path / "b.parquet", Layout("parquet"), settings).rejects == 2
    found = pq.read_table(tmp_path / "b.parquet")
    assert found["stream"].to_pylist() == [whole(samples.frames(n), settings, Counts()) for n in (3, 0)]
    assert found.schema.metadata == {b"kept": b"yes"}
    back = Settings("unievent-sse", "gateway")
    converted(tmp_path / "b.parquet", tmp_path / "c.parquet", Layout("parquet"), back)
    lists = [json.loads(each) for each in pq.read_table(tmp_path / "c.parquet")["stream"].to_pylist()]
    assert lists == [samples.frames(3), samples.frames(0)]
    structs = pa.array([lists[1]])
    source = written(tmp_path / "d.parquet", pa.table({"stream": structs}))
    there = replace(settings, dst="unievent")
    assert converted(source, tmp_path / "e.parquet", Layout("parquet"), there).rejects == 0
    (found,) = pq.read_table(tmp_path / "e.parquet")["stream"].to_pylist()
    assert [json.loads(each) for each in found] == whole(samples.frames(0), there, Counts())


def test_a_stream_in_a_struct(tmp_path: Path) -> None:
    column = [{"n": 1, "body": {"text": text(2)}}, None, {"n": 3, "body": None}, {"n": None, "body": {"text": text(5)}}]
    source = written(tmp_path / "a.parquet", pa.table({"n": range(4), "log": column}))
    assert converted(source, tmp_path / "b.parquet", Layout("parquet", "log.body.text")).rejects == 2
    found = pq.read_table(tmp_path / "b.parquet").to_pylist()
    assert [row["n"] for row in found] == [0, 3]
    assert found[0]["log"] == {"n": 1, "body": {"text": said(text(2)).text}}
    assert found[1]["log"] == {"n": None, "body": {"text": said(text(5)).text}}


def test_a_large_group_is_written_as_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "GROUP", 30_000)
    monkeypatch.setattr(parquet, "BATCH", 10_000)
    source = written(tmp_path / "a.parquet", streams_table(), row_group_size=1000)
    converted(source, tmp_path / "b.parquet", STREAMS)
    assert pq.read_metadata(tmp_path / "b.parquet").num_row_groups > 3
    assert read(tmp_path / "b.parquet")["stream"].to_pylist() == [said(stream).text for stream in GOOD.values()]


def test_times_of_old_writers_stay_as_they_are(tmp_path: Path) -> None:
    before = streams_table().append_column("at", pa.array(range(60), pa.timestamp("ns")))
    source = written(tmp_path / "a.parquet", before, use_deprecated_int96_timestamps=True, compression="none")
    converted(source, tmp_path / "b.parquet", STREAMS)
    said_of = pq.read_metadata(tmp_path / "b.parquet").row_group(0).column(2)
    assert (said_of.physical_type, said_of.compression) == ("INT96", "UNCOMPRESSED")
    assert pq.read_table(tmp_path / "b.parquet")["at"].equals(pq.read_table(source)["at"])


@pytest.mark.parametrize("units", [False, True])
def test_what_is_not_chosen_is_left_out(tmp_path: Path, units: bool) -> None:
    pytest.importorskip("jmespath", reason="jmespath is not installed")
    names = ["a", "b", "c"]
    rows = [(name, n, unit) for name in names for n, unit in enumerate(samples.units(text(3)))]
    ids, orders, found = ([*each] for each in zip(*rows, strict=True))
    table = pa.table({"id": ids, "n": orders, "s": found} if units else {"id": names, "s": [text(3)] * 3})
    pq.write_table(table, tmp_path / "in.parquet")
    layout = Layout("parquet", "s", units=units, id="id", order="n" if units else None)
    settings = replace(SETTINGS, where="id != 'b'")
    summary = convert_logs(Job([str(tmp_path / "in.parquet")], str(tmp_path / "out.parquet"), layout, settings))
    assert (summary.counts.converted, summary.counts.left_out) == (2, len(rows) // 3 if units else 1)
    assert set(pq.read_table(tmp_path / "out.parquet")["id"].to_pylist()) == {"a", "c"}


def test_a_limit(tmp_path: Path) -> None:
    source = written(tmp_path / "a.parquet", streams_table())
    counts = converted(source, tmp_path / "b.parquet", STREAMS, limit=20).counts
    assert counts.streams_in == pq.read_metadata(tmp_path / "b.parquet").num_rows == 20


# ---- a row per unit ----------------------------------------------------------------------------------------------


def units_table(rows: list[samples.UnitRow], seq: Any = None) -> Any:
    ids, orders, texts = zip(*rows, strict=True)
    seq = pa.array(orders, pa.int16()) if seq is None else seq
    return table({**odd(len(rows)), "n": range(len(rows)), "id": ids, "seq": seq, "unit": pa.array(texts, pa.string())})


def by_stream(path: Path) -> dict[Any, list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = {}
    for row in read(path).select(["id", "n", "seq", "unit"]).to_pylist():
        found.setdefault(row["id"], []).append(row)
    return found


@pytest.mark.parametrize("memory", [1 << 30, 20_000])
def test_rows_of_units_are_put_together_and_keep_their_columns(tmp_path: Path, memory: int) -> None:
    rows = samples.rows(GOOD)
    before = units_table(rows)
    source = written(tmp_path / "a.parquet", before)
    done = converted(source, tmp_path / "b.parquet", UNITS, memory=memory)
    assert (done.counts.converted, done.counts.records_in, done.rejects) == (60, len(rows), 0)
    found = by_stream(tmp_path / "b.parquet")
    assert list(found) == list(dict.fromkeys(row.id for row in rows))
    for id, units in found.items():
        assert "".join(unit["unit"] for unit in units) == said(GOOD[id]).text
        assert [unit["seq"] for unit in units] == list(range(len(units)))
        sources = [rows[unit["n"]] for unit in units]
        assert {row.id for row in sources} == {id}
        assert [row.order for row in sources] == sorted(row.order for row in sources)
    after = read(tmp_path / "b.parquet")
    expected = pq.ParquetFile(source).schema_arrow
    for name, kind in {"seq": pa.int64(), "kind": pa.dictionary(pa.int32(), pa.string())}.items():
        index = expected.get_field_index(name)
        expected = expected.set(index, expected.field(index).with_type(kind))
    assert after.schema.equals(expected, check_metadata=True)
    picked = read(source).take(after["n"])
    for name in odd(0):
        same(picked[name].cast(after[name].type), after[name])


def test_dictionaries_have_room_for_the_values_of_many_groups(tmp_path: Path) -> None:
    rows = sorted(samples.rows({"a": text(396)}), key=lambda row: row.order)
    kinds = [[f"k{n}" for n in range(start, start + 100)] for start in range(0, 400, 100)]
    small = pa.chunked_array([pa.array(each, pa.dictionary(pa.int8(), pa.string())) for each in kinds])
    before = units_table(rows).select(["id", "seq", "unit"]).append_column("small", small)
    assert converted(written(tmp_path / "a.parquet", before), tmp_path / "b.parquet", UNITS).rejects == 0
    assert set(read(tmp_path / "b.parquet")["small"].to_pylist()) > {f"k{n}" for n in range(2, 390)}


def test_bad_rows_of_units(tmp_path: Path) -> None:
    rows, errors = samples.bad_rows()
    good = samples.rows({"good": text(6), "fine": text(1)})
    rows += good
    source = written(tmp_path / "a.parquet", units_table(rows))
    done = converted(source, tmp_path / "b.parquet", UNITS)
    assert (done.counts.streams_in, done.counts.converted) == (len(errors) + 4, 2)
    assert done.counts.records_rejected == len(rows) - len(good)
    assert set(by_stream(tmp_path / "b.parquet")) == {"good", "fine"}
    rejects = rejected(tmp_path / "b.parquet")
    for reject in rejects:
        error = f"{reject['error']['type']}: {reject['error']['message']}"
        assert error.startswith(errors.get(reject["stream"], "DecodeError: the row has no id at 'id'"))
    assert [reject["stream"] for reject in rejects].count(None) == 2
    assert {reject["stream"] for reject in rejects} == {None, *errors}
    assert sum(reject["at"].get("records", 1) for reject in rejects) == done.counts.records_rejected


@pytest.mark.parametrize(
    ("kind", "gaps"),
    [("timestamp", True), ("decimal", False), ("float", False), ("string", True), ("uint32", False), ("int16", False)],
)
def test_orders_of_every_type(tmp_path: Path, kind: str, gaps: bool) -> None:
    rows = samples.rows({1: text(3), 2: text(12)})
    types = {"timestamp": pa.timestamp("us"), "decimal": pa.decimal128(20, 0), "float": pa.float64()}
    orders: list[Any] = [row.order * 1000 if gaps else row.order for row in rows]
    if kind == "decimal":
        orders = [Decimal(order) for order in orders]
    elif kind == "string":
        orders = [f"{order:09}" for order in orders]
    seq = pa.array(orders, types.get(kind) or getattr(pa, kind)())
    source = written(tmp_path / "a.parquet", units_table(rows, seq))
    assert converted(source, tmp_path / "b.parquet", replace(UNITS, gaps=gaps)).rejects == 0
    found = {id: "".join(unit["unit"] for unit in units) for id, units in by_stream(tmp_path / "b.parquet").items()}
    assert found == {1: said(text(3)).text, 2: said(text(12)).text}
    widened = {"decimal": pa.decimal128(38, 0), "int16": pa.int64()}
    after = pq.read_table(tmp_path / "b.parquet")["seq"]
    assert after.type == widened.get(kind, seq.type)
    if gaps:
        assert set(after.to_pylist()) <= set(seq.to_pylist()), "a time is no number of a unit"
    if kind == "timestamp":
        assert converted(source, tmp_path / "c.parquet", UNITS).rejects == 2


@pytest.mark.parametrize("kind", ["binary", "struct"])
def test_units_of_every_type(tmp_path: Path, kind: str) -> None:
    frames, settings = samples.frames(3), Settings("gateway", "unievent")
    units = frames if kind == "struct" else [jsontext.dumps(each) for each in frames]
    source = written(tmp_path / "a.parquet", pa.table({"id": [b"\xff"] * 7, "seq": range(7), "unit": units}))
    assert converted(source, tmp_path / "b.parquet", UNITS, settings).rejects == 0
    found = pq.read_table(tmp_path / "b.parquet")
    assert found["unit"].type == (pa.string() if kind == "struct" else pa.binary())
    assert [json.loads(unit) for unit in found["unit"].to_pylist()] == whole(frames, settings, Counts())
    assert set(found["id"].to_pylist()) == {b"\xff"}


# ---- files -------------------------------------------------------------------------------------------------------


DAMAGE: dict[str, Any] = {
    "cut": lambda data: data[: len(data) // 2],
    "without its end": lambda data: data[:-1],
    "garbage": lambda data: b"PAR1" + random.Random(1).randbytes(len(data) - 8) + b"PAR1",
    "magic alone": lambda data: b"PAR1",
    "a page of zeros": lambda data: data[:200] + bytes(2000) + data[2200:],
    "empty": lambda data: b"",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_file_is_an_input_fault(tmp_path: Path, what: str) -> None:
    source = written(tmp_path / "a.parquet", streams_table())
    source.write_bytes(DAMAGE[what](source.read_bytes()))
    with pytest.raises(InputFault):
        converted(source, tmp_path / "b.parquet", STREAMS)
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


LACKING = [Layout("parquet", "other"), Layout("parquet", "n"), replace(UNITS, field="n"), replace(UNITS, id="x.y")]


@pytest.mark.parametrize("layout", LACKING)
def test_a_file_without_the_columns_is_an_input_fault(tmp_path: Path, layout: Layout) -> None:
    source = written(tmp_path / "a.parquet", pa.table({"n": [1], "id": [1], "seq": [1], "unit": ["x"]}))
    with pytest.raises(InputFault, match="column"):
        converted(source, tmp_path / "b.parquet", layout)


def test_no_rows(tmp_path: Path) -> None:
    for layout, found in ((STREAMS, streams_table()), (UNITS, units_table(samples.rows(GOOD)))):
        source = written(tmp_path / "a.parquet", found.slice(0, 0))
        assert converted(source, tmp_path / "b.parquet", layout).counts == Counts()
        assert pq.read_table(tmp_path / "b.parquet").num_rows == 0


def test_a_remote_file_and_a_job(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    source = written(tmp_path / "a.parquet", streams_table())
    fsspec.filesystem("memory").pipe("/logs/a.parquet", source.read_bytes())
    try:
        summary = convert_logs(Job(["memory://logs/a.parquet"], str(tmp_path / "b.parquet"), STREAMS, SETTINGS))
    finally:
        fsspec.filesystem("memory").rm("/logs", recursive=True)
    assert (summary.counts.converted, summary.failed) == (60, {})
    converted(source, tmp_path / "c.parquet", STREAMS)
    assert (tmp_path / "b.parquet").read_bytes() == (tmp_path / "c.parquet").read_bytes()


def test_the_first_rows_are_as_json_has_them(tmp_path: Path) -> None:
    source = written(tmp_path / "a.parquet", table({**odd(40), "stream": [text(1)] * 40}))
    first, second = parquet.first_rows(Place(str(source), ""), 2)
    assert (first["stream"], first["kind"], first["decimal"]) == (text(1), "k0", "0E-18")
    assert first["ns"].endswith(".000000001Z")
    assert second["map"] == [["x", 1], ["y", None]]
    assert len(list(parquet.first_rows(Place(str(source), ""), 50))) == 40
