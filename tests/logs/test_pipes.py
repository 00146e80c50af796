"""One input is treated as many are, in a job or piped through; and options that have no effect are refused."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.logs import packing
from tests.logs.faults import CUT, GOOD, OTHER, SSE
from translate.cli import main

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join((str(packing.ROOT), str(packing.ROOT / "codecs")))}
TO = ("convert", "--to", "gateway-sse", "--clock", str(packing.NOW))
STREAMS = [GOOD, OTHER]
MADE = [packing.whole(stream, SSE, "gateway-sse") for stream in STREAMS]
UNITS = packing.of_units(STREAMS, lambda stream: packing.units(stream, SSE))
FIELD = ("--stream-field", "log.stream")
FIELDS = ("--unit-field", "log.unit", "--id-field", "id", "--order-field", "log.n")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def piped(data: bytes, *arguments: str) -> tuple[int, bytes, str]:
    """Status, output, and what is said, of a process of its own with standard input."""
    command = [sys.executable, "-m", "translate", *TO, *arguments]
    done = subprocess.run(command, input=data, env=ENVIRONMENT, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def streams_of(data: bytes) -> list[bytes]:
    return [record["log"]["stream"].encode() for record in packing.records_of(data)]


def units_of(data: bytes) -> list[bytes]:
    return ["".join(units).encode() for units in packing.grouped(packing.records_of(data)).values()]


# ---- standard input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fields", [(), FIELD, ("--from", SSE, *FIELD)])
def test_records_through_a_pipe(fields: tuple[str, ...]) -> None:
    status, out, said = piped(packing.of_streams(STREAMS), *fields)
    assert (status, streams_of(out)) == (0, MADE)
    told = f"standard input: {SSE}, JSON lines with a stream each in 'log.stream'\n"
    assert said == ("" if "--from" in fields else told)


@pytest.mark.parametrize("fields", [(), FIELDS])
def test_units_through_a_pipe(fields: tuple[str, ...]) -> None:
    status, out, _ = piped(UNITS, *fields, "-q")
    assert (status, sorted(units_of(out))) == (0, sorted(MADE))


def test_compressed_through_a_pipe() -> None:
    assert piped(gzip.compress(packing.of_streams(STREAMS)), "-q")[:2] == (0, piped(packing.of_streams(STREAMS))[1])
    assert piped(gzip.compress(GOOD + OTHER), "-q") == (0, b"".join(MADE), "")
    status, _, said = piped(gzip.compress(GOOD)[:-20], "-q")
    assert (status, said.partition("EOFError")[0]) == (3, "translate-streams: cannot read standard input: ")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("output", ["out.gz", "out.parquet", "out/"])
def test_a_pipe_makes_no_output_that_its_name_does_not_say(output: str) -> None:
    for data, fields in ((GOOD, ()), (packing.of_streams(STREAMS), FIELD)):
        status, _, said = piped(data, "-o", output, *fields)
        assert (status, os.listdir()) == (2, [])
        assert "-o OUT" in said


def test_what_fails_in_a_pipe_is_told_and_kept() -> None:
    data = packing.of_streams([GOOD, CUT, OTHER])
    status, _, said = piped(data, *FIELD, "--id-field", "id", "--rejects", "bad", "--report", "report", "-o", "out")
    assert (status, streams_of(Path("out").read_bytes())) == (1, MADE)
    assert "standard input: the stream 's1' at offset " in said
    assert "is rejected: TruncatedStream: " in said
    assert said.endswith("standard input: 3 streams in, 2 converted, 1 rejected\n")
    (reject,) = packing.records_of(Path("bad").read_bytes())
    assert json.loads(reject["content"])["log"]["stream"].encode() == CUT
    counts = json.loads(Path("report").read_text())["counts"]
    assert (counts["streams_in"], counts["converted"], counts["rejected"]) == (3, 2, 1)


def test_a_record_is_written_as_soon_as_it_is_read() -> None:
    command = [sys.executable, "-m", "translate", *TO, "--from", SSE, "--stream-field", "log.stream"]
    with subprocess.Popen(command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(packing.of_streams([GOOD]))
        process.stdin.flush()
        assert streams_of(process.stdout.readline()) == MADE[:1]
        process.stdin.close()
        assert process.wait(30) == 0


# ---- one file --------------------------------------------------------------------------------------------------

HELD = {
    "streams": (GOOD + OTHER, b"".join(MADE)),
    "records": (packing.of_streams(STREAMS), None),
    "gzip": (gzip.compress(GOOD), MADE[0]),
    "gzip of streams": (gzip.compress(GOOD + OTHER), b"".join(MADE)),
    "one": (GOOD, MADE[0]),
}


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("output", ["-", "out", "out/"])
def test_one_file_is_treated_as_many_are(held: str, output: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    data, made = HELD[held]
    Path("in").write_bytes(data)
    assert main([*TO, "in", "-o", output]) == 0
    written = Path("out/in" if output == "out/" else "out")
    found = capfdbinary.readouterr().out if output == "-" else written.read_bytes()
    assert found == made if made is not None else streams_of(found) == MADE
    many = output == "out/" or (output == "out" and held != "one")
    assert (Path("out.manifest.jsonl").exists() or Path("out/_manifest.jsonl").exists()) == many


def test_what_is_not_one_file_needs_a_place(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in").mkdir()
    for name in "ab":
        Path("in", name).write_bytes(GOOD)
    for asked in (["in"], ["in/*"], ["in/a", "in/b"], ["in/a", "-"]):
        assert main([*TO, *asked]) == 2
        assert "-o OUT" in capsys.readouterr().err


# ---- options ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("in", "--id-field", "id"), "--id-field has no effect"),
        (("in", "-o", "out/", "--order-field", "n"), "--order-field has no effect"),
        (("in", "-o", "out/", "--stream-field", "s", "--gaps"), "--gaps has no effect"),
        (("in", "-o", "out/", "--errors", "encode"), "--errors has no effect"),
        (("in", "-o", "out/", "--rejects", "bad"), "--rejects has no effect"),
        (("in", "-o", "out/", "--dry-run", "--report", "r"), "--report has no effect"),
        (("in", "--stream-field", "s", "--resume"), "--resume has no effect"),
        (("in", "--stream-field", "s", "--jobs", "2"), "--jobs has no effect"),
        (("in", "--stream-field", "s", "--errors", "encode"), "--errors has no effect"),
    ],
)
def test_options_without_effect_are_refused(
    arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("in").write_bytes(GOOD)
    assert main([*TO, *arguments]) == 2
    assert says in capsys.readouterr().err
    assert os.listdir() == ["in"]


def test_quiet_and_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in").mkdir()
    for name, data in {"a": GOOD, "b": GOOD + CUT, "c": b"?"}.items():
        Path("in", name).write_bytes(data)
    assert main([*TO, "in", "-o", "quiet", "-q"]) == 3
    assert capsys.readouterr().err.startswith("failed    in/c: it is text, neither JSON nor SSE")
    assert main([*TO, "in", "-o", "told", "-v"]) == 3
    said = capsys.readouterr().err.splitlines()
    assert said[:2] == ["in/a -> told/a: 1 converted, 0 rejected", "in/b -> told/b: 1 converted, 1 rejected"]
    assert any(line.startswith("streams") for line in said)
    for option, lines in (("-q", 0), ("-v", 2)):
        assert main([*TO, "in/a", "-o", f"one{option}", option]) == 0
        assert len(capsys.readouterr().err.splitlines()) == lines


@pytest.mark.parametrize(
    ("data", "arguments", "says"),
    [
        (UNITS, ("--stream-field", "log.unit"), "--unit-field log.unit --id-field id --order-field log.n"),
        (packing.of_streams(STREAMS), ("--stream-field", "body"), "--stream-field log.stream --id-field id"),
        (GOOD, ("--from", "gateway-sse", "--container", "streams"), f"in looks like {SSE}, streams end to end"),
    ],
)
def test_a_job_that_read_nothing_says_what_the_data_is(
    data: bytes, arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("in").write_bytes(data)
    named = arguments if "--from" in arguments else ("--from", SSE, *arguments)
    assert main([*TO, "in", "-o", "out", *named]) == 1
    assert says in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_job_that_is_told_to_end_leaves_nothing() -> None:
    Path("in").write_bytes(GOOD * 3000)
    command = [sys.executable, "-m", "translate", *TO, "--from", SSE, "in", "-o", "out"]
    with subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 30
        while not Path("out.part").exists() and time.monotonic() < end:
            time.sleep(0.01)
        process.terminate()
        assert process.communicate(timeout=30)[1] == b""
        assert process.returncode == 128 + signal.SIGTERM
    assert os.listdir() == ["in"]
