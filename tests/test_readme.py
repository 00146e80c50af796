"""The README says what is so: its Python runs, its commands are those that CI runs, its files exist, it is short."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from translate import formats
from translate.registry import resolve

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [line[2:] for block in re.findall(r"```console\n(.*?)```", README, re.S) for line in block.splitlines()]


def test_the_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "readme"}
    blocks = list(re.finditer(r"```python\n(.*?)```", README, re.S))
    assert blocks
    for block in blocks:
        # blank lines ahead, so that an error names the line of the README
        ahead = "\n" * (README.count("\n", 0, block.start()) + 1)
        exec(compile(ahead + block[1], "README.md", "exec"), namespace)


def test_the_commands_are_those_of_ci() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert len(COMMANDS) == 2
    for command in COMMANDS:
        assert command in ci


def test_the_command_line_converts() -> None:
    words = shlex.split(COMMANDS[0].rpartition("&& ")[2])
    assert words[0].endswith("translate-streams")
    path = os.pathsep.join([str(ROOT), str(ROOT / "codecs")])
    done = subprocess.run(
        [sys.executable, "-m", "translate", *words[1:]],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"event: streamStart\n" in done.stdout
    assert done.stdout.endswith(b"}\n\n")
    assert done.stdout.rpartition(b"event: ")[2].startswith(b"stop\n")


def test_the_formats_are_those_that_exist() -> None:
    table = README.partition("## Formats")[2].partition("## ")[0]
    ours = {name for name in formats() if type(resolve(name)[0]).__module__.startswith("translate_codecs.")}
    named = re.findall(r"^\| (`[^|]+`) \|", table, re.M)
    assert {name for cell in named for name in re.findall(r"`([a-z-]+)`", cell)} == ours


def test_it_is_short_and_its_first_screen_has_the_picture_and_the_call() -> None:
    assert README.count("\n") <= 120
    first = README[: README.index("## Why")]
    assert first.count("\n") <= 45
    assert "docs/pictures/live.svg" in first
    assert "from translate import convert" in first


def test_what_came_in_stands_beside_what_went_out() -> None:
    """The drawing is what the command above it prints."""
    (command, drawn) = re.findall(r"`translate-streams (inspect [^`]+)`\n\n```text\n(.*?)\n```", README, re.S)[0]
    path = os.pathsep.join([str(ROOT), str(ROOT / "codecs")])
    done = subprocess.run(
        [sys.executable, "-m", "translate", *shlex.split(command), "--width", "88", "--color", "never"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.decode().partition("\n\n")[0] == drawn, done.stderr.decode()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_the_files_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    named = re.findall(r"`((?:tests|docs|examples|codecs|translate)/[\w./-]+)`", text)
    assert links
    missing = [name for name in (*links, *named) if not (ROOT / name).exists()]
    assert missing == []


def test_the_guarantees_are_those_that_are_printed() -> None:
    command = [sys.executable, "-m", "tests.guarantees"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    page = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    assert done.stdout.decode().strip() in page, "`python -m tests.guarantees` prints it anew"
