"""Streams, packed as logs hold them, and unpacked again."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from tests.sources import ERROR, FRAMES, frame
from translate import convert, jsontext
from translate.logs import Job, Layout, Settings, Summary, convert_logs
from translate.logs.places import zstd

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(os.environ.get("TRANSLATE_CORPUS") or ROOT.parent / "shared" / "corpus")
NOW = 1694502400000
OTHERS: tuple[dict[str, Any], ...] = (
    {"user": None, "tags": [], "big": 2**70, "price": 0.1, "stream.x": 1},
    {"meta": {"stream": "no", "deep": [[{"a": [None, True, -1]}]]}, "id.x": "é\u2028\U0001f600", "": {}},
    {"huge": 1e300, "minus": -0.0, "text": '{"stream": "[[[{{{"}', "log.streams": {"n": -(2**63)}},
)
"""Other fields of records."""

SSE = Layout("streams")
STREAMS = Layout("lines", "log.stream", id="id")
UNITS = Layout("lines", "log.unit", units=True, id="id", order="log.n")


def spoken(number: int) -> list[dict[str, Any]]:
    """A stream of the gateway, of a length of its own; some report a failure."""
    many = [frame("content", value=f"{number} {index} é\u2028") for index in range(1 + number * 7 % 50)]
    frames = [*FRAMES[:2], *many, *FRAMES[3:]]
    return [*frames[:-2], ERROR] if number % 5 == 4 else frames


def examples(format: str, number: int = 8) -> list[bytes]:
    """Streams of the project in a format."""
    files = [(path.read_bytes(), "unievent-sse") for path in sorted((ROOT / "examples").glob("*.unievent.sse"))]
    made = [(spoken(index), "gateway") for index in range(number)]
    return [whole(stream, src, format) for stream, src in (*files, *made)]


def corpus(folder: str) -> list[bytes]:
    """All recordings of a folder that are streams."""
    names = sorted((CORPUS / folder).iterdir()) if CORPUS.is_dir() else []
    none = ("prism-mistral-stream-reasoning-model-1-1.", "pydai-test_mistral-test_mistral_model_thinking_part_iter-i0.")
    return [path.read_bytes() for path in names if not path.name.startswith(none)]


def whole(stream: Any, src: str, dst: str) -> bytes:
    """What the library makes of one stream."""
    return b"".join(convert(stream, src, dst, errors="encode", clock=lambda: NOW))


def units(stream: bytes, format: str) -> list[str]:
    """The units of a stream, as text."""
    end = "\n\n" if format.endswith("-sse") else "\n"
    return [unit + end * (end == "\n\n") for unit in stream.decode().split(end) if unit.strip()]


def objects(stream: bytes, format: str) -> list[Any]:
    """The units of a stream, as objects."""
    return list(convert(stream, format, format.partition("-")[0], errors="encode", clock=lambda: NOW))


def line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=len(record) % 2 == 0).encode() + b"\n"


def record(number: int, **log: Any) -> dict[str, Any]:
    return {"id": f"s{number}", "log": {"a": 1, **log}, **OTHERS[number % len(OTHERS)]}


def of_streams(streams: Sequence[bytes], content: Callable[[bytes], Any] = bytes.decode) -> bytes:
    """Records of a stream each."""
    return b"".join(line(record(number, stream=content(stream))) for number, stream in enumerate(streams))


def of_units(streams: Sequence[bytes], split: Callable[[bytes], list[Any]], seed: int | None = 0) -> bytes:
    """Records of a unit each; with a seed in any order."""
    lines = [
        line(record(number, unit=unit, n=order))
        for number, stream in enumerate(streams)
        for order, unit in enumerate(split(stream))
    ]
    if seed is not None:
        random.Random(seed).shuffle(lines)
    return b"".join(lines)


def packed(data: bytes, suffix: str) -> bytes:
    """Compressed, as several members or frames."""
    pieces = [data[at : at + len(data) // 3 + 1] for at in range(0, len(data), len(data) // 3 + 1)]
    match suffix:
        case ".gz":
            return b"".join(map(gzip.compress, pieces))
        case ".zst":
            return b"".join(map(zstd().compress, pieces))
    return data


def unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else zstd().decompress(data) if path.suffix == ".zst" else data


def end(what: Any) -> None:
    """Ends the process."""
    os._exit(9)


def run(source: Path | str, output: Path | str, layout: Layout | None, src: str, dst: str, **options: Any) -> Summary:
    """Convert logs by a fixed clock."""
    options = {"verify": False, "loss": "carry", **options}
    settings = Settings(src, dst, clock=NOW, loss=options.pop("loss"), verify=options.pop("verify"))
    return convert_logs(Job([str(source)], str(output), layout, settings, **options))


def there_and_home(source: Path, layout: Layout, src: str, dst: str, **options: Any) -> tuple[Path, Path]:
    """Convert, and convert home; nothing may be rejected."""
    paths = source.parent / f"there-{source.name}", source.parent / f"home-{source.name}"
    for inner, outer, formats in ((source, paths[0], (src, dst)), (paths[0], paths[1], (dst, src))):
        summary = run(inner, outer, layout, *formats, **options)
        assert (summary.counts.rejected, summary.failed) == (0, {})
    return paths


def records_of(data: bytes) -> list[dict[str, Any]]:
    return [jsontext.loads(each) for each in data.splitlines() if each]


def grouped(records: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """The units of each stream of records of units, which come stream by stream, in order."""
    found: dict[str, list[Any]] = {}
    for each in records:
        found.setdefault(each["id"], []).append((each["log"]["n"], each["log"]["unit"]))
    assert all([order for order, _ in rows] == list(range(len(rows))) for rows in found.values())
    return {id: [unit for _, unit in rows] for id, rows in found.items()}


def others(each: dict[str, Any]) -> dict[str, Any]:
    """A record without what is converted."""
    log = {name: value for name, value in each["log"].items() if name not in ("stream", "unit", "n")}
    return {**each, "log": log}


def by_object(layout: Layout) -> Layout:
    return replace(layout, field="stream")


def end_to_end(streams: Sequence[bytes]) -> bytes:
    return b"".join(chain(streams))
