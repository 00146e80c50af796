"""A job writes over none of its inputs, over nothing of another's, and not where another job writes."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.logs import packing
from tests.logs.faults import CUT, GOOD, OTHER, SSE
from translate.cli import main
from translate.logs import Job, Settings, convert_logs
from translate.logs.guard import BadPlan, OutputExists, alone
from translate.logs.plan import plan

SETTINGS = Settings(SSE, "gateway-sse", clock=packing.NOW)
FORMATS = ("--from", SSE, "--to", "gateway-sse")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def put(name: str, data: bytes = GOOD) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def convert(*arguments: str) -> int:
    return main(["convert", *FORMATS, "--jobs", "1", *arguments])


def everything() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


# ---- two jobs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("manifest", ["out/_manifest.jsonl", "out.manifest.jsonl"])
def test_a_second_job_does_nothing(manifest: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fcntl", reason="there are no locks of files")
    put("in/log")
    name = "in" if "/" in manifest else "in/log"
    with alone(manifest):
        before = everything()
        assert convert(name, "-o", "out", "--force") == 2
        assert "another job is writing there" in capsys.readouterr().err
        assert everything() == before
    assert convert(name, "-o", "out") == 0
    assert not list(Path().rglob(".*"))


def test_a_job_in_another_process_is_noticed() -> None:
    pytest.importorskip("fcntl", reason="there are no locks of files")
    put("in/log")
    code = (
        "import sys; from translate.logs.guard import alone\n"
        "with alone('out/_manifest.jsonl'): print('ready', flush=True); sys.stdin.read()"
    )
    environment = {**os.environ, "PYTHONPATH": str(packing.ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        assert convert("in", "-o", "out") == 2
        other.kill()
    # the lock of a job that was killed is none
    assert convert("in", "-o", "out") == 0


# ---- inputs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["out.manifest.jsonl", "out.manifest.jsonl.part", "out.rejects.jsonl", "out.part", "out.~0.part", "out"]
)
def test_what_is_written_is_no_input(name: str) -> None:
    path = put(name)
    assert convert(name, "-o", "out", "--force") == 2
    assert path.read_bytes() == GOOD


def test_the_manifest_of_a_folder_is_no_input() -> None:
    put("in/log")
    path = put("out/_manifest.jsonl")
    assert convert("in/log", "out/_manifest.jsonl", "-o", "out/", "--force") == 2
    assert path.read_bytes() == GOOD
    put("in/_manifest.jsonl")
    assert convert("in/_manifest.jsonl", "-o", "new/") == 2


def test_a_link_hides_no_input() -> None:
    path = put("in/log")
    os.symlink("in", "linked")
    os.symlink("in/log", "one")
    for asked, output in (("in/log", "linked/log"), ("linked/log", "in/log"), ("one", "in/log"), ("in", "linked/")):
        assert convert(asked, "-o", output, "--force") == 2
    assert path.read_bytes() == GOOD


def test_an_object_is_not_its_own_output(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    url = f"memory://{tmp_path.name}/log"
    with fsspec.open(url, "wb") as file:
        file.write(GOOD)
    with pytest.raises(BadPlan):
        convert_logs(Job([url], url, None, SETTINGS, force=True))
    with fsspec.open(url) as file:
        assert file.read() == GOOD


# ---- what another has written -------------------------------------------------------------------------------


def test_other_inputs_do_not_take_an_output(capsys: pytest.CaptureFixture[str]) -> None:
    put("a/log")
    put("b/log", OTHER)
    put("c/new", OTHER)
    assert convert("a/log", "-o", "out/") == 0
    before = everything()
    assert convert("b/log", "-o", "out/", "--resume") == 2
    assert everything() == before
    assert convert("c/new", "-o", "out/", "--resume") == 0
    entries = [json.loads(line) for line in Path("out/_manifest.jsonl").read_bytes().splitlines()[1:]]
    assert sorted(entry["input"] for entry in entries) == ["a/log", "c/new"]
    assert "1 done (1 before)" not in capsys.readouterr().err
    assert convert("a/log", "-o", "out/", "--resume") == 0
    assert "1 done (1 before)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["out", "out.rejects.jsonl", "out.manifest.jsonl", "out.part", "out.rejects.jsonl.part"]
)
def test_nothing_that_is_there_is_replaced(name: str) -> None:
    put("in/log", GOOD + CUT)
    put(name, b"mine")
    before = everything()
    with pytest.raises(OutputExists):
        convert_logs(Job(["in/log"], "out", None, SETTINGS))
    assert everything() == before
    assert convert_logs(Job(["in/log"], "out", None, SETTINGS, force=True)).counts.rejected == 1


@pytest.mark.parametrize(
    "report", ["in/log", "out/log", "out/log.rejects.jsonl", "out/log.part", "out/_manifest.jsonl", "in/none"]
)
def test_a_report_is_none_of_the_jobs_files(report: str) -> None:
    put("in/log", GOOD + CUT)
    os.symlink("nowhere", "in/none")
    before = everything()
    inputs = ("in/log", "in/none")
    assert list(plan(Job(inputs, "out/", None, SETTINGS)).failed) == ["in/none"]
    assert convert(*inputs, "-o", "out/", "--report", report) == 2
    assert everything() == before


def test_a_report_in_the_folder_that_the_job_makes() -> None:
    put("in/log")
    assert convert("in", "-o", "out", "--report", "out/all/report") == 0
    assert json.loads(Path("out/all/report").read_bytes().splitlines()[-1])["counts"]["converted"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes with names")
@pytest.mark.parametrize("name", ["out", "out.rejects.jsonl", "out.manifest.jsonl", "out.part"])
def test_what_is_no_regular_file_is_never_replaced(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    put("in/log")
    os.mkfifo(name)
    linked = put("other", b"mine")
    for more in (("--force",), ("--force", "--dry-run"), ("--resume",)):
        assert convert("in/log", "-o", "out", *more) == 2
        assert f"{name} is no regular file" in capsys.readouterr().err
    assert stat.S_ISFIFO(os.stat(name).st_mode)
    os.unlink(name)
    os.symlink("/dev/null", name)
    assert convert("in/log", "-o", "out", "--force") == 2
    assert os.readlink(name) == "/dev/null"
    assert linked.read_bytes() == b"mine"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_link_is_followed_and_stays(jobs: str) -> None:
    put("in/log", GOOD + CUT)
    put("in/more")
    put("elsewhere/made", b"before")
    put("elsewhere/rejected", b"before")
    os.mkdir("out")
    os.symlink("../elsewhere/made", "out/log")
    os.symlink("../elsewhere/rejected", "out/log.rejects.jsonl")
    os.symlink("../elsewhere/new", "out/more")
    assert convert("in", "-o", "out") == 2
    assert convert("in", "-o", "out", "--force", "--jobs", jobs) == 1
    assert [os.path.islink(f"out/{name}") for name in ("log", "log.rejects.jsonl", "more")] == [True] * 3
    made = packing.whole(GOOD, SSE, "gateway-sse")
    assert Path("elsewhere/made").read_bytes() == Path("elsewhere/new").read_bytes() == made
    assert len(packing.records_of(Path("elsewhere/rejected").read_bytes())) == 1
    assert convert("in", "-o", "out", "--resume") == 1
    assert sorted(os.listdir("elsewhere")) == ["made", "new", "rejected"]


# ---- what was there before ----------------------------------------------------------------------------------


@pytest.mark.parametrize("again", ["--force", "--resume"])
def test_an_output_of_before_is_told_of_where_its_input_fails(again: str, capsys: pytest.CaptureFixture[str]) -> None:
    put("in/log")
    put("in/gone")
    assert convert("in", "-o", "out") == 0
    put("in/log", b"\x1f\x8b" + GOOD)
    os.unlink("in/gone")
    os.symlink("nowhere", "in/gone")
    assert convert("in", "-o", "out", again) == 3
    said = capsys.readouterr().err
    for name in ("log", "gone"):
        assert f"; out/{name} is there from before" in said


def test_a_folder_of_lines_and_parquet() -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    put("in/lines", json.dumps({"stream": GOOD.decode()}).encode() + b"\n")
    parquet.write_table(pa.table({"stream": [GOOD.decode()]}), "in/rows")
    assert convert("in", "-o", "out", "--stream-field", "stream") == 0
    done = parquet.read_table("out/rows").to_pylist()
    assert done == [json.loads(Path("out/lines").read_bytes())]
    assert done[0]["stream"].startswith("event: streamStart")
