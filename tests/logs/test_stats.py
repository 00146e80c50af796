"""Statistics of logs, and what the command line makes of jobs."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.logs import packing
from translate.cli import main

SSE = "unievent-sse"
STREAMS = packing.examples(SSE, 6)
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join((str(packing.ROOT), str(packing.ROOT / "codecs")))}
PACKED = {
    "streams": (b"".join(STREAMS), ()),
    "records": (packing.of_streams(STREAMS), ("--stream-field", "log.stream", "--id-field", "id")),
    "units": (
        packing.of_units(STREAMS, lambda stream: packing.units(stream, SSE)),
        ("--unit-field", "log.unit", "--id-field", "id", "--order-field", "log.n"),
    ),
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("container", PACKED)
def test_stats(container: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data, arguments = PACKED[container]
    (tmp_path / "log").write_bytes(data)
    assert main(["stats", "log", *arguments, "--from", SSE, "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["streams"] == {"converted": 8, "rejected": 0}
    assert found["format"] == {SSE: 8}
    assert found["part"] == {"text": 8, "thinking": 1, "tool_call": 3}
    assert found["finish reason"] == {"stop": 5, "tool_call": 1}
    assert sum(found["failure"].values()) == 2
    assert found["would lose"] == {}
    assert main(["stats", "log", *arguments, "--from", SSE, "--to", "gateway-sse"]) == 0
    table = capfd.readouterr().out
    assert re.search(r"^streams +converted +8$", table, re.MULTILINE)
    assert "would lose" in table


def test_stats_of_files_of_one_name_and_of_broken_ones(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "log").write_bytes(STREAMS[2])
    (tmp_path / "c").write_bytes(STREAMS[3][:-200])
    (tmp_path / "d").write_bytes(b"?")
    assert main(["stats", "a", "b", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["model"] == {"m": 2}
    assert main(["stats", "a", "c", "--json"]) == 1
    assert json.loads(capfd.readouterr().out)["rejected for"] == {"TruncatedStream": 1}
    assert main(["stats", "a", "d"]) == 3
    assert "d: it is text, neither JSON nor SSE" in capfd.readouterr().err


# ---- convert ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", PACKED)
def test_limit(container: str, tmp_path: Path) -> None:
    data, arguments = PACKED[container]
    (tmp_path / "in").mkdir()
    for name in "ab":
        (tmp_path / "in" / name).write_bytes(data)
    options = ("--from", SSE, "--to", "gateway-sse", "--report", "report")
    for limit in (1, 3, 8, 100):
        assert main(["convert", "in", "-o", f"out{limit}", "--limit", str(limit), *options, *arguments]) == 0
        report = [json.loads(each) for each in (tmp_path / "report").read_text().splitlines()]
        assert [each["kind"] for each in report] == ["input", "input", "summary"]
        assert report[-1]["counts"]["converted"] == 2 * min(limit, 8)
    assert main(["convert", "in", "-o", "all", *options, *arguments]) == 0
    whole = (tmp_path / "all" / "a").read_bytes()
    assert (tmp_path / "out8" / "a").read_bytes() == whole
    assert whole.startswith((tmp_path / "out3" / "a").read_bytes())
    assert json.loads((tmp_path / "report").read_text().splitlines()[-1])["counts"]["rejected"] == 0


def test_a_dry_run_does_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in" / "x").mkdir(parents=True)
    (tmp_path / "in" / "x" / "a.sse").write_bytes(STREAMS[0])
    assert main(["convert", "in", "-o", "out", "--from", SSE, "--to", "gateway-jsonl", "--dry-run"]) == 0
    assert capfd.readouterr().out == f"in/x/a.sse -> out/x/a.jsonl ({SSE})\n"
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_force(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.sse.gz").write_bytes(packing.packed(STREAMS[0], ".gz"))
    (tmp_path / "out.gz").write_bytes(b"mine")
    (tmp_path / "out.gz.rejects.jsonl").write_bytes(b"old\n")
    arguments = ["convert", "a.sse.gz", "-o", "out.gz", "--to", "gateway-sse", "--from", SSE]
    for more in ((), ("--dry-run",), ("--resume",)):
        assert main([*arguments, *more]) == 2
        assert (tmp_path / "out.gz").read_bytes() == b"mine"
        assert "out.gz exists already; --force writes over it" in capfd.readouterr().err
    assert main([*arguments, "--force"]) == 0
    assert packing.unpacked(tmp_path / "out.gz").startswith(b": carry")
    assert not (tmp_path / "out.gz.rejects.jsonl").exists()
    assert main([*arguments, "--resume"]) == 0
    assert "1 done (1 before)" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--to", "gateway-sse"), 2, "-o OUT"),
        (("--to", "gateway-sse", "-o", "out", "--unit-field", "u"), 2, "need a container of records, and an id"),
        (("--to", "gateway-sse", "-o", "out", "--unit-field", "u", "--stream-field", "s"), 2, "not both"),
        (("--to", "gateway-sse", "-o", "out", "--container", "streams", "--stream-field", "s"), 2, "no fields"),
        (("--to", "gateway-sse", "-o", "out", "--verify", "--loss", "drop"), 2, "with the carry"),
        (("--to", "gateway", "-o", "out"), 2, "objects"),
        (("--to", "nothing", "-o", "out"), 4, "nothing"),
        (("--to", "gateway-sse", "-o", "out", "--report", "in/a"), 2, "the report would be written over in/a"),
        (("--to", "gateway-sse", "-o", "out", "--report", "no/report"), 3, "cannot write no/report"),
    ],
)
def test_wrong_usage(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, says: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(STREAMS[0])
    assert main(["convert", "in", *arguments]) == code
    said = capfd.readouterr().err
    assert says in said
    assert len(said.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "in"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs terminals")
@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_for_terminals(tmp_path: Path, terminal: bool) -> None:
    pytest.importorskip("rich", reason="rich is not installed")
    (tmp_path / "in").mkdir()
    for name in ("a", "[red]b"):
        (tmp_path / "in" / name).write_bytes(STREAMS[0])
    command = [sys.executable, "-m", "translate", "convert", "in", "-o", "out", "--to", "gateway-sse"]
    ours, theirs = os.openpty() if terminal else os.pipe()
    environment = {**ENVIRONMENT, "TERM": "xterm"}
    with subprocess.Popen(command, env=environment, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        end = time.monotonic() + 30
        while time.monotonic() < end and select.select([ours], [], [], 30)[0]:
            try:
                data = os.read(ours, 65536)
            except OSError:
                break
            if not data:
                break
            said += data
        assert process.wait(30) == 0
    os.close(ours)
    assert (b"\x1b[" in said) == terminal
    assert (b"converting" in said or b"[red]b" in said) == terminal or not terminal
    # it counts bytes
    assert (re.search(rb"/[\d.]+ (bytes|[KM]iB)", said) is not None) == terminal
    assert b"2 in, 2 converted" in said
