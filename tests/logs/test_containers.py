"""Streams packed into every container go and come home equal, and are what the library makes of each by itself."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import packing
from tests.logs.packing import NOW, SSE, STREAMS, UNITS, there_and_home, unpacked, whole
from tests.strategies import sources
from translate import Append, convert, jsontext, registry
from translate.engine.options import make_options
from translate.errors import TranslateError
from translate.logs import Layout, Settings, places, processes
from translate.logs.layout import Counts
from translate.logs.stream import Mismatch, verify
from translate.logs.stream import whole as convert_whole
from translate.logs.units import convert_units

PAIRS = [("unievent-sse", "gateway-sse"), ("gateway-sse", "unievent-jsonl"), ("unievent-jsonl", "gateway-jsonl")]


def streams_of(name: str, format: str) -> list[bytes]:
    if name == "examples":
        return packing.examples(format)
    found = packing.corpus({"unievent-sse": "unievent-sse", "unievent-jsonl": "unievent"}[format])
    if not found:
        pytest.skip(f"the corpus of recordings is not at {packing.CORPUS}")
    # TRANSLATE_LONG: all of them, which takes minutes
    return found if os.environ.get("TRANSLATE_LONG") else found[::6]


CASES = [
    *(("examples", src, dst, "") for src, dst in PAIRS),
    *(("examples", *PAIRS[0], suffix) for suffix in (".gz", ".zst")),
    ("corpus", "unievent-sse", "gateway-sse", ".zst"),
    ("corpus", "unievent-jsonl", "gateway-jsonl", ""),
]


def same_units(ours: Any, theirs: Any, format: str) -> bool:
    return jsontext.same(packing.objects(ours, format), packing.objects(theirs, format))


@pytest.fixture(autouse=True)
def _needs(request: pytest.FixtureRequest) -> None:
    suffix = request.node.callspec.params.get("suffix") if hasattr(request.node, "callspec") else None
    if suffix == ".zst":
        pytest.importorskip("backports.zstd", reason="zstd is not installed")


@pytest.mark.parametrize(("name", "src", "dst", "suffix"), CASES)
def test_files_of_a_stream_in_folders(tmp_path: Path, name: str, src: str, dst: str, suffix: str) -> None:
    streams = streams_of(name, src)[:60]
    ends = [f".{format.partition('-')[2]}{suffix}" for format in (src, dst)]
    root = tmp_path / "logs"
    for number, stream in enumerate(streams):
        path = root / "abc"[number % 3] / f"{number}{ends[0]}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packing.packed(stream, suffix))
    (root / "_notes").write_text("no stream")
    there, home = there_and_home(root, SSE, src, dst)
    for number, stream in enumerate(streams):
        folder = "abc"[number % 3]
        assert unpacked(there / folder / f"{number}{ends[1]}") == whole(stream, src, dst)
        assert same_units(unpacked(home / folder / f"{number}{ends[0]}"), stream, src)
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize(("name", "src", "dst", "suffix"), CASES)
def test_streams_end_to_end(tmp_path: Path, name: str, src: str, dst: str, suffix: str) -> None:
    streams = streams_of(name, src)
    path = tmp_path / f"all{suffix}"
    path.write_bytes(packing.packed(packing.end_to_end(streams), suffix))
    there, home = there_and_home(path, SSE, src, dst)
    assert unpacked(there) == b"".join(whole(stream, src, dst) for stream in streams)
    assert unpacked(home) == b"".join(whole(whole(stream, src, dst), dst, src) for stream in streams)


@pytest.mark.parametrize(("name", "src", "dst", "suffix"), CASES)
def test_records_of_a_stream_each(tmp_path: Path, name: str, src: str, dst: str, suffix: str) -> None:
    streams = streams_of(name, src)
    path = tmp_path / f"records{suffix}"
    path.write_bytes(packing.packed(packing.of_streams(streams), suffix))
    there, home = there_and_home(path, STREAMS, src, dst)
    before, after, back = map(packing.records_of, (packing.of_streams(streams), unpacked(there), unpacked(home)))
    assert [each["log"]["stream"].encode() for each in after] == [whole(stream, src, dst) for stream in streams]
    for ours, middle, theirs in zip(before, after, back, strict=True):
        assert jsontext.same(packing.others(ours), packing.others(middle))
        assert jsontext.same(packing.others(ours), packing.others(theirs))
        assert same_units(theirs["log"]["stream"].encode(), ours["log"]["stream"].encode(), src)


@pytest.mark.parametrize(("name", "src", "dst", "suffix"), CASES)
def test_records_of_a_unit_each(tmp_path: Path, name: str, src: str, dst: str, suffix: str) -> None:
    streams = streams_of(name, src)
    path = tmp_path / f"units{suffix}"
    data = packing.of_units(streams, lambda stream: packing.units(stream, src))
    path.write_bytes(packing.packed(data, suffix))
    there, home = there_and_home(path, UNITS, src, dst)
    sent = packing.grouped(packing.records_of(unpacked(there)))
    back = packing.grouped(packing.records_of(unpacked(home)))
    end = "" if dst.endswith("-sse") else "\n"
    for number, stream in enumerate(streams):
        assert "".join(unit + end for unit in sent[f"s{number}"]).encode() == whole(stream, src, dst)
        end_home = "" if src.endswith("-sse") else "\n"
        assert same_units("".join(unit + end_home for unit in back[f"s{number}"]).encode(), stream, src)
    first = {each["id"]: packing.others(each) for each in packing.records_of(data)}
    for each in packing.records_of(unpacked(home)):
        assert jsontext.same(packing.others(each), first[each["id"]])


def test_lists_of_units_and_objects(tmp_path: Path) -> None:
    streams = packing.examples("unievent-sse")
    kinds: dict[str, tuple[str, str, Callable[[bytes], Any]]] = {
        "text": ("unievent-sse", "gateway-jsonl", lambda stream: packing.units(stream, "unievent-sse")),
        "objects": ("unievent", "gateway", lambda stream: packing.objects(stream, "unievent-sse")),
    }
    for kind, (src, dst, content) in kinds.items():
        path = tmp_path / kind
        path.write_bytes(packing.of_streams(streams, content))
        there, home = there_and_home(path, STREAMS, src, dst, verify=True)
        for stream, sent, back in zip(
            streams, *(packing.records_of(each.read_bytes()) for each in (there, home)), strict=True
        ):
            if kind == "objects":
                assert jsontext.same(back["log"]["stream"], content(stream))
            else:
                assert sent["log"]["stream"].encode() == whole(stream, "unievent-sse", dst)


def test_units_as_objects(tmp_path: Path) -> None:
    streams = packing.examples("unievent-sse")
    path = tmp_path / "units"
    path.write_bytes(packing.of_units(streams, lambda stream: packing.objects(stream, "unievent-sse")))
    there, home = there_and_home(path, UNITS, "unievent", "gateway", verify=True)
    back = packing.grouped(packing.records_of(home.read_bytes()))
    sent = packing.grouped(packing.records_of(there.read_bytes()))
    for number, stream in enumerate(streams):
        units = list(convert(stream, "unievent-sse", "gateway", errors="encode", clock=lambda: NOW))
        assert jsontext.same(sent[f"s{number}"], units)
        assert jsontext.same(back[f"s{number}"], packing.objects(stream, "unievent-sse"))


def test_text_that_is_digits_is_an_order_of_numbers(tmp_path: Path) -> None:
    stream = packing.examples("unievent-sse")[0]
    units = packing.units(stream, "unievent-sse")
    rows: list[dict[str, Any]] = [{"id": 1, "n": str(order), "unit": unit} for order, unit in enumerate(units)]
    path = tmp_path / "units"
    path.write_bytes(b"".join(map(packing.line, sorted(rows, key=lambda row: row["n"]))))
    layout = Layout("lines", "unit", units=True, id="id", order="n")
    assert packing.run(path, tmp_path / "out", layout, "unievent-sse", "gateway-sse").counts.converted == 1
    sent = "".join(each["unit"] for each in packing.records_of((tmp_path / "out").read_bytes()))
    assert sent.encode() == whole(stream, "unievent-sse", "gateway-sse")


# ---- several processes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("packing_of_output", ["", ".gz"])
def test_processes_change_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, packing_of_output: str
) -> None:
    monkeypatch.setattr(processes, "PART", 20_000)
    streams = packing.examples("unievent-sse", 60)
    streams[7] = streams[7][:-400]
    data = packing.of_streams(streams).replace(b"\n", ending.encode())
    path = tmp_path / "records"
    path.write_bytes(data)
    assert len(data) > 100_000
    made = []
    for jobs in (1, 2):
        out = tmp_path / f"out{jobs}{packing_of_output}"
        summary = packing.run(path, out, STREAMS, "unievent-sse", "gateway-sse", jobs=jobs)
        assert (summary.counts.converted, summary.counts.rejected) == (61, 1)
        made.append((out.read_bytes(), Path(f"{out}.rejects.jsonl").read_bytes(), summary.counts.as_json()))
    assert made[0] == made[1]
    assert len(packing.records_of(unpacked(out))) == 61
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_parts_have_borders_anywhere(tmp_path: Path, ending: bytes) -> None:
    streams = [packing.end_to_end([stream])[:] for stream in packing.examples("gateway-jsonl", 3)[2:]]
    data = packing.of_streams(streams).replace(b"\n", ending)
    path = tmp_path / "records"
    path.write_bytes(data)
    place = places.Place(str(path), "records")
    whole_file = list(read_lines(place, 0, None))
    assert len(whole_file) == 3
    for border in range(1, len(data)):
        assert [*read_lines(place, 0, border), *read_lines(place, border, len(data))] == whole_file


def read_lines(place: places.Place, start: int, end: int | None) -> list[tuple[int, bytes]]:
    with places.reading(place) as file:
        return [(at, line) for at, line in places.lines(file, start, end) if isinstance(line, bytes)]


def test_parts_beside_logs_that_are_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PART", 5_000)
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(4):
        data = packing.of_streams(packing.examples("unievent-sse", 10 + number))
        (folder / ("log.jsonl" + f".{number}" * bool(number))).write_bytes(data)
    for jobs in (1, 2):
        packing.run(folder, tmp_path / f"out{jobs}", STREAMS, "unievent-sse", "gateway-sse", jobs=jobs)
    for path in folder.iterdir():
        assert (tmp_path / "out1" / path.name).read_bytes() == (tmp_path / "out2" / path.name).read_bytes()


# ---- grouping on disk -------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [100, 3_000, 100_000])
def test_spilled_units_are_the_same(tmp_path: Path, memory: int) -> None:
    streams = packing.examples("unievent-sse", 40)
    path = tmp_path / "units"
    path.write_bytes(packing.of_units(streams, lambda stream: packing.units(stream, "unievent-sse")))
    packing.run(path, tmp_path / "a", UNITS, "unievent-sse", "gateway-sse")
    packing.run(path, tmp_path / "b", UNITS, "unievent-sse", "gateway-sse", memory=memory)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


# ---- verify -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [SSE, STREAMS, UNITS], ids=["streams", "records", "units"])
@pytest.mark.parametrize("lossy", ["unievent", "gateway"])
def test_verify_notices_a_codec_that_loses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: Layout, lossy: str
) -> None:
    stream = packing.examples("unievent-sse")[0]
    encoder = type(registry.codec(lossy).encoder(make_options()))
    decoder: Any = next(cls for cls in encoder.__mro__ if "plain" in cls.__dict__)
    plain = decoder.plain
    path = tmp_path / "log"
    data = {
        SSE: stream,
        STREAMS: packing.of_streams([stream]),
        UNITS: packing.of_units([stream], lambda stream: packing.units(stream, "unievent-sse")),
    }
    path.write_bytes(data[layout])
    assert packing.run(path, tmp_path / "a", layout, "unievent-sse", "gateway-sse", verify=True).counts.rejected == 0

    def deaf(self: Any, unit: dict[str, Any], name: str | None) -> Any:
        events = plain(self, unit, name)
        for event in events or ():
            if type(event) is Append and type(event.data) is str:
                event.data = event.data[:-1]
        return events

    monkeypatch.setattr(decoder, "plain", deaf)
    summary = packing.run(path, tmp_path / "b", layout, "unievent-sse", "gateway-sse", verify=True)
    assert summary.counts.rejected == 1
    (reject,) = packing.records_of((tmp_path / "b.rejects.jsonl").read_bytes())
    assert reject["error"]["type"] in ("Mismatch", "DecodeError", "GrammarError")


def test_verify_compares_with_what_was_written() -> None:
    settings = Settings("gateway-jsonl", "unievent-jsonl", clock=NOW, verify=True)
    stream = packing.examples("gateway-jsonl")[2]
    good = whole(stream, "gateway-jsonl", "unievent-jsonl")
    verify(settings, lambda: [stream], lambda: [good])
    for bad in (good.replace(b"0 0 ", b"3 0 "), good[:-30], b""):
        with pytest.raises(Mismatch):
            verify(settings, lambda: [stream], partial(list, [bad]))


# ---- any stream -------------------------------------------------------------------------------------------


@given(source=sources(("unievent-sse", "unievent-jsonl", "gateway-sse", "gateway-jsonl")), data=st.data())
def test_any_stream_as_text_and_as_units(source: Any, data: st.DataObject) -> None:
    dst = data.draw(st.sampled_from(("unievent-sse", "gateway-sse", "gateway-jsonl", "events-jsonl")))
    settings = Settings(source.format, dst, clock=NOW)
    text = source.joined.decode()
    try:
        expected = b"".join(convert(source.joined, source.format, dst, errors="encode", clock=lambda: NOW))
    except TranslateError:
        return
    counts = Counts()
    assert convert_whole(text, settings, counts).encode() == expected
    rows = convert_units(packing.units(source.joined, source.format), settings, counts)
    end = "" if dst.endswith("-sse") else "\n"
    assert "".join(unit + end for _, unit in rows).encode() == expected
    assert [index for index, _ in rows] == sorted(index for index, _ in rows)
    assert json.dumps(counts.as_json())
    assert (counts.converted, counts.fault() is None) == (2, False)
