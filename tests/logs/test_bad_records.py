"""Whatever is wrong with a log, nothing of it is lost, and the job says what it did."""

from __future__ import annotations

import builtins
import errno
import json
import os
import subprocess
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from tests.logs import faults, packing
from tests.logs.faults import FAULTS, GOOD, SSE, Fault
from translate.cli import main
from translate.logs import Job, Layout, Settings, convert_logs, places, plan, processes, task, work
from translate.logs.grouping import Grouping
from translate.logs.layout import Counts, Unaccounted
from translate.logs.rejects import Rejects

DOCUMENT = packing.ROOT / "docs" / "logs-faults.md"


def convert(*arguments: str) -> int:
    return main(["convert", "in", *arguments, "--to", "gateway-sse", "--report", "report"])


def rejects(path: Path) -> list[dict[str, Any]]:
    return packing.records_of(path.read_bytes()) if path.exists() else []


def content(reject: dict[str, Any]) -> bytes:
    return b64decode(reject["content"]) if reject["encoding"] == "base64" else reject["content"].encode()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.about)
def test_a_fault(fault: Fault, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if fault.data.startswith(b"\x28\xb5\x2f\xfd"):
        pytest.importorskip("backports.zstd", reason="zstd is not installed")
    (tmp_path / "in" / "log").write_bytes(fault.data)
    if fault.prepare is not None:
        fault.prepare(tmp_path)
    arguments = [*fault.more, "--from", SSE, "-o", "out", *fault.arguments]
    assert convert(*arguments) == fault.code
    said = capsys.readouterr().err
    kept = rejects(tmp_path / "out" / "log.rejects.jsonl")
    assert tuple(map(content, kept)) == fault.rejected
    assert fault.says in said + " ".join(reject["error"]["message"] for reject in kept)
    if fault.counts is None:
        assert len(said.splitlines()) == 1
        assert not (tmp_path / "out" / "_manifest.jsonl").exists()
        return
    counts = json.loads((tmp_path / "report").read_text().splitlines()[-1])["counts"]
    assert (counts["streams_in"], counts["converted"], counts["rejected"]) == fault.counts
    assert f"{fault.counts[0]} in, {fault.counts[1]} converted, {fault.counts[2]} rejected" in said
    assert all(reject["source"] == "in/log" for reject in kept)
    assert not list(tmp_path.rglob("*.part"))
    if fault.fixed is not None:
        (tmp_path / "mended").write_bytes(b"".join(fault.fixed(content(reject)) for reject in kept))
        options = ("--from", SSE, "--to", "gateway-sse", "--jobs", "1", *fault.arguments)
        assert main(["convert", "mended", "-o", "new", *options]) == 0


def test_the_document_is_what_the_module_prints() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == faults.document(), "python -m tests.logs.faults"


def test_a_reject_says_where_it_was(tmp_path: Path) -> None:
    line = packing.line({"id": "x", "stream": "data: 7\n\n"})
    data = packing.of_streams([GOOD], lambda stream: stream.decode()).replace(b'"log"', b'"gol"') + line
    (tmp_path / "in" / "log").write_bytes(data)
    convert("--from", SSE, "-o", "out", "--stream-field", "stream", "--id-field", "id")
    last = rejects(tmp_path / "out" / "log.rejects.jsonl")[-1]
    assert (last["stream"], last["at"]) == ("x", {"offset": len(data) - len(line)})
    assert {"type", "message", "format", "unit"} <= last["error"].keys()


# ---- reading ------------------------------------------------------------------------------------------------


def good_and(tmp_path: Path, name: str) -> Path:
    (tmp_path / "in" / "good").write_bytes(GOOD)
    path = tmp_path / "in" / name
    path.write_bytes(GOOD)
    return path


def test_a_folder_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good_and(tmp_path, "log")
    (tmp_path / "in" / "below").mkdir()
    scan = os.scandir

    def refuse(path: Any) -> Any:
        if str(path).endswith("below"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert convert("--from", SSE, "-o", "out") == 3
    assert capsys.readouterr().err.endswith("cannot read in/below: Permission denied\n")
    assert not (tmp_path / "out").exists()


def test_a_file_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good_and(tmp_path, "log")
    real = builtins.open

    def refuse(path: Any, *options: Any, **more: Any) -> Any:
        if str(path).endswith("in/log"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, *options, **more)

    monkeypatch.setattr(places, "open", refuse, raising=False)
    assert convert("--from", SSE, "-o", "out") == 3
    assert "PermissionError" in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["_manifest.jsonl", "good"]


def test_an_input_that_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changing = good_and(tmp_path, "log")
    convert_into = task.convert_into

    def meanwhile(what: work.Task, *more: Any) -> None:
        convert_into(what, *more)
        if what.place.path.endswith("log"):
            changing.write_bytes(GOOD + GOOD)

    monkeypatch.setattr(task, "convert_into", meanwhile)
    assert convert("--from", SSE, "-o", "out") == 3
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["_manifest.jsonl", "good"]
    monkeypatch.undo()
    os.chdir(tmp_path)
    assert convert("--from", SSE, "-o", "out", "--resume") == 0


# ---- writing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fails", ["write", "fsync"])
@pytest.mark.parametrize("layout", ["streams", "units"])
def test_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fails: str, layout: str
) -> None:
    (tmp_path / "in" / "a").write_bytes(GOOD if layout == "streams" else faults.records(*faults.rows()))
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fail(*arguments: Any) -> None:
        raise full

    extra = () if layout == "streams" else faults.ROWS
    with monkeypatch.context() as patch:
        if fails == "fsync":
            # that of the manifest is the first
            calls = iter((None,))
            patch.setattr(os, "fsync", lambda number: number if next(calls, 0) is None else fail())
        else:
            patch.setattr(task, "convert_into", fail)
        assert convert("--from", SSE, "-o", "out", *extra) == 3
    assert os.strerror(errno.ENOSPC) in capsys.readouterr().err
    assert list((tmp_path / "out").iterdir()) == []
    assert convert("--from", SSE, "-o", "out", "--resume", *extra) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["_manifest.jsonl", "a"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of resources")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_file_that_may_not_grow(tmp_path: Path, jobs: str) -> None:
    (tmp_path / "in" / "a").write_bytes(GOOD * 300)
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000)); from translate.cli import main; sys.exit(main())"
    )
    command = ["convert", "in", "--from", SSE, "--to", "gateway-sse", "-o", "out", "--jobs", jobs]
    path = os.pathsep.join((str(packing.ROOT), str(packing.ROOT / "codecs")))
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (3, f"translate-streams: cannot write out/a: {os.strerror(errno.EFBIG)}\n")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_process_that_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in" / "a").write_bytes(GOOD)
    monkeypatch.setattr(processes, "run", packing.end)
    assert convert("--from", SSE, "-o", "out", "--jobs", "2") == 3
    assert "a process of the job was ended" in capsys.readouterr().err


# ---- accounts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [Layout(), Layout("lines"), Layout("lines", "unit", units=True, id="id", order="n")])
@pytest.mark.parametrize("lost", ["converted", "reject", "row"])
def test_counts_that_do_not_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: Layout, lost: str) -> None:
    data = {"streams": GOOD + faults.CUT, "lines": faults.records(faults.one(GOOD), faults.one(faults.CUT))}
    path = tmp_path / "in" / "log"
    path.write_bytes(data[layout.container])
    if layout.units:
        path.write_bytes(faults.records(*faults.rows(), *faults.rows(faults.CUT, 2)))
    settings = Settings(SSE, "gateway-sse")
    match lost:
        case "converted":
            monkeypatch.setattr(Counts, "fault", lambda self: "1 is not 2" if self.streams_in else None)
        case "reject":
            monkeypatch.setattr(Rejects, "add", lambda self, reject: None)
        case "row":
            if not layout.units:
                return
            groups = Grouping.groups
            monkeypatch.setattr(Grouping, "groups", lambda self: list(groups(self))[:1])
    summary = convert_logs(Job([str(path)], str(tmp_path / "out"), layout, settings))
    assert summary.failed[str(path)].startswith("internal error, Unaccounted: ")
    assert (summary.faults, summary.entries) == (1, [])
    assert [path.name for path in tmp_path.iterdir()] == ["in"], "a job that did nothing leaves nothing"


def test_the_job_itself_adds_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in" / "log").write_bytes(GOOD)
    monkeypatch.setattr(task, "_add_up", lambda *what: None)
    monkeypatch.setattr(Counts, "fault", lambda self: "1 is not 2")
    with pytest.raises(Unaccounted):
        convert_logs(Job([str(tmp_path / "in" / "log")], str(tmp_path / "out"), Layout(), Settings(SSE, "gateway-sse")))


@pytest.mark.parametrize("where", ["task", "recognise"])
def test_an_input_at_which_the_program_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], where: str
) -> None:
    good_and(tmp_path, "log")
    module: Any = task if where == "task" else plan
    name = {"task": "_run", "recognise": "recognise"}[where]
    real = getattr(module, name)

    def fail(what: Any, *more: Any) -> Any:
        if "log" in str(what):
            raise KeyError("seven")
        return real(what, *more)

    monkeypatch.setattr(module, name, fail)
    assert convert("--from", SSE if where == "task" else "auto", "-o", "out") == 70
    said = capsys.readouterr().err
    assert "in/log: internal error, KeyError: 'seven'" in said
    assert "1 of the program itself" in said
    assert (tmp_path / "out" / "good").read_bytes() == packing.whole(GOOD, SSE, "gateway-sse")
    monkeypatch.undo()
    os.chdir(tmp_path)
    assert convert("--from", SSE if where == "task" else "auto", "-o", "out", "--resume") == 0


def test_a_job_that_did_nothing_does_not_bar_the_next(tmp_path: Path) -> None:
    path = tmp_path / "in" / "log"
    path.write_bytes(b"\x1f\x8b" + GOOD)
    assert convert("--from", SSE, "-o", "out") == 3
    path.write_bytes(GOOD)
    assert convert("--from", SSE, "-o", "out") == 0


# ---- size -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pad", [-1, 0, 1, 2, 3_000_000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_a_record_that_is_too_long_is_rejected_whole(tmp_path: Path, pad: int, end: bytes, packed: str) -> None:
    limit = 20_000
    line = json.dumps({"stream": GOOD.decode(), "pad": ""}).encode()
    long = line.replace(b'"pad": "', b'"pad": "' + b"x" * (limit - len(line) + pad))
    assert len(long) == limit + pad
    path = tmp_path / "in" / f"log{packed}"
    path.write_bytes(packing.packed(line + end + long + end + line, packed))
    job = Job([str(path)], str(tmp_path / "out"), Layout("lines"), Settings(SSE, "gateway-sse"), record=limit)
    counts = convert_logs(job).counts
    assert (counts.converted, counts.rejected, counts.records_in) == ((3, 0, 3) if pad <= 0 else (2, 1, 3))
    for reject in rejects(tmp_path / "out.rejects.jsonl"):
        assert (content(reject), reject["at"]) == (long, {"offset": len(line + end)})
        assert reject["error"]["message"] == f"the record has {len(long)} bytes"
