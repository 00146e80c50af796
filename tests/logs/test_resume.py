"""A job that is killed, and resumed, leaves what one leaves that was not."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

import translate
from tests.logs import packing
from translate.cli import main
from translate.logs import Job, Settings, convert_logs, processes
from translate.logs.guard import OutputExists
from translate.logs.manifest import OtherJob

PATIENCE = 30
PART = 30_000
MOMENTS = 20
MANIFEST = "_manifest.jsonl"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join((str(packing.ROOT), str(packing.ROOT / "codecs")))}
FORMATS = ("--from", "unievent-sse", "--to", "gateway-sse", "--stream-field", "log.stream", "--id-field", "id")


@pytest.fixture(autouse=True)
def _no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is of use where the machine fails, and takes most of the time here."""
    monkeypatch.setattr(os, "fsync", lambda number: None)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Many files and a large one, with broken streams in all."""
    folder = tmp_path_factory.mktemp("logs") / "in"
    folder.mkdir()
    for number in range(10):
        streams = packing.examples("unievent-sse", 4 + 200 * (number == 7))
        streams[number % 4] = streams[number % 4][:-200]
        (folder / f"{number:02}.jsonl").write_bytes(packing.of_streams(streams))
    return folder


@pytest.fixture(scope="module")
def expected(logs: Path) -> dict[str, bytes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "PART", PART)
        assert convert(logs, logs.parent / "whole") == 1
    return content(logs.parent / "whole")


def arguments(logs: Path, out: Path, *more: str) -> list[str]:
    return ["convert", *FORMATS, *more, "--report", str(out.parent / f"{out.name}.report"), "-o", str(out), str(logs)]


def convert(logs: Path, out: Path, *more: str) -> int:
    return main(arguments(logs, out, *more))


def content(out: Path) -> dict[str, bytes]:
    """All that a job has left, but its manifest; and what it says of it."""
    found = {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}
    report = (out.parent / f"{out.name}.report").read_text().splitlines()
    counts = json.dumps(json.loads(report[-1])["counts"]).encode()
    return {name: data for name, data in found.items() if name != MANIFEST} | {"counts": counts}


def start(logs: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    """The same by a process of its own, at the head of a group that its workers are of."""
    code = f"from translate.logs import processes as p; p.PART = {PART}; from translate.cli import main; exit(main())"
    command = [sys.executable, "-c", code, *arguments(logs, out, "--jobs", "2", *more)]
    return subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.DEVNULL, start_new_session=True)


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


def is_gone(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def kill(process: subprocess.Popen[bytes], out: Path, moment: float) -> bool:
    """Kill it so many seconds after it began to work; whether it was still at work. Its workers end by themselves."""
    until(lambda: (out / MANIFEST).exists() or process.poll() is not None)
    with suppress(subprocess.TimeoutExpired):
        process.wait(moment)
    working = process.poll() is None
    process.kill()
    process.wait(PATIENCE)
    until(partial(is_gone, process.pid))
    return working


@pytest.fixture(scope="module")
def duration(logs: Path, expected: dict[str, bytes]) -> float:
    """Seconds that it works."""
    out = logs.parent / "timed"
    process = start(logs, out)
    until((out / MANIFEST).exists)
    began = time.monotonic()
    assert process.wait(PATIENCE) == 1
    assert content(out) == expected
    return time.monotonic() - began


@pytest.fixture(scope="module")
def at_work() -> Iterator[list[bool]]:
    """Whether each process was at work when it was killed: most were, or the moments are chosen badly."""
    found: list[bool] = []
    yield found
    assert len(found) < MOMENTS or sum(found) >= MOMENTS / 2


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "out"
    shutil.rmtree(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="needs process groups")
@pytest.mark.parametrize("moment", range(MOMENTS))
def test_killed_at_any_moment(
    logs: Path,
    expected: dict[str, bytes],
    duration: float,
    out: Path,
    moment: int,
    at_work: list[bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processes, "PART", PART)
    chance = random.Random(moment)
    at_work.append(kill(start(logs, out), out, duration * (moment + chance.random()) / MOMENTS))
    if moment % 5 == 0:
        kill(start(logs, out, "--resume"), out, duration * chance.random())
    assert convert(logs, out, "--resume") == 1
    assert content(out) == expected


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(logs: Path, expected: dict[str, bytes], duration: float, out: Path, number: int) -> None:
    process = start(logs, out)
    until((out / MANIFEST).exists)
    time.sleep(duration / 3)
    # a terminal tells all of a group, and whoever ends a job the first alone
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    # it may have been faster
    assert process.wait(PATIENCE) in (128 + number, 1)
    until(partial(is_gone, process.pid))
    assert not list(out.rglob("*.part"))
    assert convert(logs, out, "--resume") == 1
    assert content(out) == expected


# ---- what is done again, and what is not -------------------------------------------------------------------


@pytest.fixture
def done(tmp_path: Path) -> Path:
    """A job of three files that is done."""
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.sse").write_bytes(packing.examples("unievent-sse", 3)[number])
    convert_logs(asked(tmp_path))
    return tmp_path


def asked(folder: Path, dst: str = "gateway-sse", **options: bool) -> Job:
    return Job([str(folder / "in")], str(folder / "out"), None, Settings("unievent-sse", dst), **options)


def again(folder: Path) -> list[str]:
    """What is done again by a job that is resumed."""
    before = {path: path.stat().st_ino for path in (folder / "out").glob("*.sse")}
    summary = convert_logs(asked(folder, resume=True))
    changed = sorted(path.name for path in (folder / "out").glob("*.sse") if path.stat().st_ino != before.get(path))
    assert summary.skipped == 3 - len(changed)
    assert (len(summary.entries), summary.counts.converted) == (3, 3)
    return changed


def test_nothing_is_done_again(done: Path) -> None:
    assert again(done) == []


def test_an_input_that_changed_is_done_again(done: Path) -> None:
    data = packing.examples("unievent-sse", 9)[8]
    (done / "in" / "1.sse").write_bytes(data)
    assert again(done) == ["1.sse"]
    assert (done / "out" / "1.sse").read_bytes() == b"".join(translate.convert(data, "unievent-sse", "gateway-sse"))


def test_an_input_that_is_only_newer_is_not(done: Path) -> None:
    os.utime(done / "in" / "1.sse", (1, 1))
    assert again(done) == []


def test_an_output_that_is_gone_is_done_again(done: Path) -> None:
    (done / "out" / "2.sse").unlink()
    assert again(done) == ["2.sse"]


def test_an_output_that_was_cut_off_is_done_again(done: Path) -> None:
    path = done / "out" / "2.sse"
    path.write_bytes(path.read_bytes()[:-1])
    assert again(done) == ["2.sse"]


def test_an_output_that_was_changed_and_kept_its_size_is_done_again(done: Path) -> None:
    path = done / "out" / "2.sse"
    before = path.read_bytes()
    path.write_bytes(before.replace(b"content", b"CONTENT"))
    assert again(done) == ["2.sse"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_outputs_of_all_kinds_are_known_again(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, jobs: int
) -> None:
    """One that is compressed, one that is put together of parts, and what was rejected of it."""
    monkeypatch.setattr(processes, "PART", PART)
    out = tmp_path / f"out{suffix}"
    rejects = tmp_path / f"out{suffix}.rejects.jsonl"

    def run() -> int:
        options = {"jobs": jobs, "resume": True}
        return packing.run(logs / "07.jsonl", out, packing.STREAMS, "unievent-sse", "gateway-sse", **options).skipped

    assert [run(), run()] == [0, 1]
    for path in (out, rejects):
        before = path.read_bytes()
        path.write_bytes(before[:-5] + b"7" + before[-4:])
        assert [run(), run()] == [0, 1]
        assert path.read_bytes() == before


def test_an_input_that_changed_and_kept_its_time_is_done_again(done: Path) -> None:
    path = done / "in" / "1.sse"
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"0 ", b"1 ").replace(b"text.done", b"text.dome"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    summary = convert_logs(asked(done, resume=True))
    assert (summary.skipped, summary.counts.rejected) == (2, 1)
    # what was rejected is part of what was done
    (done / "out" / "1.sse.rejects.jsonl").unlink()
    summary = convert_logs(asked(done, resume=True))
    assert (summary.skipped, summary.counts.rejected) == (2, 1)
    assert convert_logs(asked(done, resume=True)).skipped == 3


@pytest.mark.parametrize("cut", [1, 30])
def test_a_manifest_whose_last_line_is_torn(done: Path, cut: int) -> None:
    path = done / "out" / MANIFEST
    path.write_bytes(path.read_bytes()[:-cut])
    assert again(done) == ([] if cut == 1 else ["2.sse"])
    assert again(done) == []


def test_other_settings_are_refused(done: Path) -> None:
    with pytest.raises(OtherJob):
        convert_logs(asked(done, dst="gateway-jsonl", resume=True))


@pytest.mark.parametrize("manifest", [b"", b"{}\n", b"[]\n", b"\xff"])
def test_another_file_in_the_manifests_place_is_refused(done: Path, manifest: bytes) -> None:
    (done / "out" / MANIFEST).write_bytes(manifest)
    with pytest.raises(OtherJob):
        convert_logs(asked(done, resume=True))


def test_without_a_manifest_nothing_is_written_over(done: Path) -> None:
    (done / "out" / MANIFEST).unlink()
    with pytest.raises(OutputExists):
        convert_logs(asked(done, resume=True))
    shutil.rmtree(done / "out")
    assert convert_logs(asked(done, resume=True)).counts.converted == 3


def test_a_glob_goes_on_in_its_folder(done: Path) -> None:
    asked_for = Job([str(done / "in" / "*.sse")], str(done / "new"), None, Settings("unievent-sse", "gateway-sse"))
    convert_logs(asked_for)
    (done / "in" / "3.sse").write_bytes((done / "in" / "0.sse").read_bytes())
    resumed = Job(asked_for.inputs, asked_for.output, None, asked_for.settings, resume=True)
    assert convert_logs(resumed).skipped == 3
