"""Which inputs are found: none is left out silently, and none is read twice."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.logs import packing
from tests.logs.faults import GOOD, SSE
from translate.cli import main
from translate.logs import Job, Settings, convert_logs
from translate.logs.inputs import find

SETTINGS = Settings(SSE, "gateway-sse", clock=packing.NOW)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("in/a", "in/below/b", "in/_c", "in/.d", "else/e"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(GOOD)


def names(*asked: str) -> list[str]:
    return [place.name for place in find(asked)]


def test_links_to_folders_are_followed_and_loops_are_not() -> None:
    os.symlink("../else", "in/linked")
    os.symlink(".", "in/loop")
    os.symlink("../..", "in/below/up")
    assert names("in") == ["a", "below/b", "below/up/else/e"], "linked/e is the same file"
    assert names("in/linked") == ["e"]


@pytest.mark.parametrize("asked", ["in", "in/*"])
def test_a_link_that_leads_nowhere_is_an_input_that_failed(asked: str) -> None:
    os.symlink("nowhere", "in/lost")
    summary = convert_logs(Job([asked], "out/", None, SETTINGS))
    assert list(summary.failed) == ["in/lost"]
    assert Path("out/a").exists()


def test_hidden_names_are_read_where_a_glob_asks_for_them() -> None:
    assert names("in/*") == ["a"]
    assert names("in/_*") == ["_c"]
    assert names("in/[_a]*") == ["_c", "a"]
    assert names("in/.d*") == [".d"]
    assert names("in/**") == ["a", "below/b"]


@pytest.mark.parametrize("asked", ["in/below/*", "in/**", "in/**/b", "*/*/*"])
def test_a_glob_over_a_folder_that_cannot_be_read(
    asked: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scan = os.scandir

    def refuse(path: Any) -> Any:
        if str(path).rstrip("/").endswith("below"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert main(["convert", asked, "-o", "out", "--from", SSE, "--to", "gateway-sse"]) == 3
    assert "Permission denied" in capsys.readouterr().err


HIDDEN = ("_temporary/0/part", "below/.ipynb_checkpoints/a", "x/_delta_log/0.json", "x/.git/y", "x/part._COPYING_")
SHOWN = ("_day=2026-01-01/part", "x/below_/a.b")


def test_hidden_folders_are_passed_over_at_every_level() -> None:
    for name in (*HIDDEN, *SHOWN):
        path = Path("in", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(GOOD)
    seen = ["_day=2026-01-01/part", "a", "below/b", "x/below_/a.b"]
    assert names("in") == names("in/**") == seen
    assert names("in/*/*") == ["_day=2026-01-01/part", "below/b"]
    assert names("in/_temporary") == ["0/part"]
    assert names("in/_temp*/*/*") == names("in/_t*/**") == ["_temporary/0/part"]
    assert names("in/**/.git/*") == ["x/.git/y"]
    assert names("in/*/.*/*") == ["below/.ipynb_checkpoints/a", "x/.git/y"]


def test_hidden_folders_of_a_store(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    url = f"memory://{tmp_path.name}"
    for name in (*HIDDEN, *SHOWN):
        with fsspec.open(f"{url}/in/{name}", "wb") as file:
            file.write(GOOD)
    assert names(f"{url}/in") == names(f"{url}/in/**") == sorted(SHOWN)
    assert names(f"{url}/in/_temp*/*/*") == ["_temporary/0/part"]


def test_an_object_that_stands_for_a_folder_is_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = pytest.importorskip("fsspec.implementations.memory", reason="fsspec is not installed").MemoryFileSystem
    with memory().open("/stored/below/log", "wb") as file:
        file.write(GOOD)
    find = memory.find

    def found(self: Any, path: str, **options: Any) -> Any:
        folders = {name: {"name": name, "size": 0, "type": "file"} for name in ("/stored/below/", "/stored/below")}
        return folders | find(self, path, **options)

    monkeypatch.setattr(memory, "find", found)
    assert names("memory://stored") == ["below/log"]


def test_a_file_is_known_by_what_it_is(tmp_path: Path) -> None:
    os.symlink("a", "in/0-latest")
    assert names("in", "./in/a", "in//a", f"file://{tmp_path}/in/a", "in/0-latest") == ["a", "below/b"]
    for number, spelled in enumerate(("in", "./in/", f"{tmp_path}/in", "in/../in")):
        again = Job([spelled], "out/", None, SETTINGS, resume=True)
        assert convert_logs(again).skipped == (2 if number else 0)


def test_what_a_job_left_is_no_input() -> None:
    for name in ("a.rejects.jsonl", "a.manifest.jsonl", "_manifest.jsonl", "alone.rejects.jsonl"):
        Path("in", name).write_bytes(GOOD)
    assert names("in") == ["a", "alone.rejects.jsonl", "below/b"]
    assert names("in/*.rejects.jsonl") == ["a.rejects.jsonl", "alone.rejects.jsonl"]


def test_a_path_by_its_other_url(tmp_path: Path) -> None:
    convert_logs(Job([f"local://{tmp_path}/in/a"], "one", None, SETTINGS))
    convert_logs(Job([f"local://{tmp_path}/in"], "out", None, SETTINGS))
    assert Path("one").read_bytes() == Path("out/a").read_bytes() == packing.whole(GOOD, SSE, "gateway-sse")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path)) as found:
        thread = threading.Thread(target=found.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{found.server_port}"
        found.shutdown()
        thread.join(20)


@pytest.mark.parametrize("query", ["", "?signed=1"])
def test_an_object_on_the_web(server: str, query: str) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    pytest.importorskip("aiohttp", reason="aiohttp is not installed")
    summary = convert_logs(Job([f"{server}/in/a{query}"], "one", None, SETTINGS))
    assert (summary.counts.converted, summary.failed) == (1, {})
    assert Path("one").read_bytes() == packing.whole(GOOD, SSE, "gateway-sse")
