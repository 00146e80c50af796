"""Long records: what is made of them is what is made of short ones, and memory is that of the record."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.logs import packing
from tests.logs.packing import STREAMS
from tests.sources import FRAMES, frame
from translate import convert, jsontext
from translate.errors import DecodeError
from translate.logs import wide
from translate.logs.wide import Text, Wide
from translate.shapes import long


def spoken(texts: list[str], parts: int = 1) -> bytes:
    """A stream with so many pieces of text, so many times."""
    units = [FRAMES[0], *[FRAMES[1], *(frame("content", value=text) for text in texts), FRAMES[4]] * parts, FRAMES[5]]
    return b"".join(convert(units, "gateway", "gateway-sse", loss="drop"))


LONG = spoken([f'{n} \u00e9\U0001f600\u2028 "\\\n' for n in range(60)])
BODIES: dict[str, Any] = {
    "text": LONG.decode(),
    "base64": b64encode(LONG).decode(),
    "broken": LONG.decode().replace('"type":"content"', '"type":"contentEnd"', 1),
    "cut": LONG.decode()[:-40],
    "half": LONG.decode().replace("7 \u00e9", "\ud83d"),
    "no base64": "x" * 999,
}


@pytest.mark.parametrize("dst", ["unievent-sse", "unievent", "unievent-jsonl"])
@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("verify", [True, False])
def test_a_long_record_becomes_what_a_short_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dst: str, ascii: bool, verify: bool
) -> None:
    lines = [
        json.dumps({"id": name, "other": "a\\u\U0001f600" * 200, "log": {"stream": body}}, ensure_ascii=ascii)
        for name, body in BODIES.items()
    ]
    data = "\n".join(lines).encode("utf-8", "surrogatepass") + b"\n"
    (tmp_path / "in").write_bytes(data)
    made = []
    for number, size in enumerate((1 << 20, 1 << 6)):
        monkeypatch.setattr(wide, "WIDE", size)
        monkeypatch.setattr(wide, "PIECE", size)
        monkeypatch.setattr(long, "PIECE", size)
        out = tmp_path / f"out{number}"
        summary = packing.run(tmp_path / "in", out, STREAMS, "gateway-sse", dst, verify=verify)
        made.append([packing.records_of(Path(f"{out}{end}").read_bytes()) for end in ("", ".rejects.jsonl")])
        assert summary.counts.converted == 2
        assert summary.counts.streams_in == len(BODIES)
    assert [each["id"] for each in made[0][0]] == ["text", "base64"]
    assert jsontext.same(made[0][0], made[1][0])
    for ours, theirs in zip(made[0][1], made[1][1], strict=True):
        assert (ours["content"], ours["error"]["type"]) == (theirs["content"], theirs["error"]["type"])


@pytest.mark.parametrize("spelled", [r"\ud83d\ude00", r"\\u12", "\u00e9\U0001f600", r"\"\/", r"a\n", "\\u4e2d" * 3])
def test_pieces_are_cut_anywhere_but_within_a_character(monkeypatch: pytest.MonkeyPatch, spelled: str) -> None:
    data = f'"{spelled * 50}"'.encode()
    for size in range(12, 40):
        monkeypatch.setattr(wide, "PIECE", size)
        monkeypatch.setattr(long, "PIECE", size)
        pieces = list(Text(data, 1, len(data) - 1).pieces())
        assert jsontext.whole("".join(pieces)) == json.loads(data)
        assert max(map(len, pieces)) <= size


@pytest.mark.parametrize("bad", [rb"\x", rb"\u12", b"\n", b"\xff"])
def test_a_long_string_that_is_none(monkeypatch: pytest.MonkeyPatch, bad: bytes) -> None:
    monkeypatch.setattr(wide, "WIDE", 8)
    monkeypatch.setattr(long, "PIECE", 16)
    for before in range(40):
        with pytest.raises(DecodeError):
            Wide(b'{"a": "' + b"x" * before + bad + b'yyyyyyyyyyyyyyyyyyyyyyyyy"}', 9)


MEASURED = """
import sys
from translate.cli import main
code = main(sys.argv[1:])
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(peak.split()[1])
sys.exit(code)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads its memory from /proc")
@pytest.mark.parametrize("shape", ["text", "base64", "pieces"])
def test_a_record_takes_at_most_three_times_its_size(tmp_path: Path, shape: str) -> None:
    # a part is held as a whole by whoever has to say it at its end
    text = "words " * 20 + "\U0001f600" * (shape != "pieces")
    few, stream = spoken(["x"]), spoken([text] * 1_500, 40)
    bodies: dict[str, Callable[[], Any]] = {
        "text": stream.decode,
        "base64": lambda: b64encode(stream).decode(),
        "pieces": lambda: packing.units(stream, "gateway-sse"),
    }
    record = packing.line({"id": 1, "body": bodies[shape](), "x": 1})
    paths = [str(tmp_path / name) for name in ("small", "in")]
    Path(paths[0]).write_bytes(packing.line({"id": 1, "body": few.decode()}))
    Path(paths[1]).write_bytes(record)
    peaks = []
    for path in paths[:2]:
        command = ["convert", path, "--from", "gateway-sse", "--to", "unievent-sse", "--stream-field", "body", "-q"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(packing.ROOT), str(packing.ROOT / "codecs")))}
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, *command, "-o", f"{path}.out"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        peaks.append(int(done.stdout) * 1024)
    assert Path(f"{paths[1]}.out").stat().st_size > len(stream) // 2
    # what is kept in memory before it is on disk is no matter of long records
    assert peaks[1] - peaks[0] <= 3 * len(record) + (8 << 20), (peaks, len(record))
