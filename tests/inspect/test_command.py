"""The command ``inspect``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.inspect.pins import pin
from tests.inspect.streams import CASES, EXAMPLES, NOW
from translate.cli import main

TURN = EXAMPLES / "claude-turn.unievent.sse"
CUT = EXAMPLES / "cut.unievent.sse"
BY_NAME = {case.name: case for case in CASES}
ROOT = EXAMPLES.parent
WAIT = 30
Main: TypeAlias = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Main:
    def call(*args: object) -> tuple[int, str, str]:
        status = main(["inspect", *map(str, args)])
        said = capfd.readouterr()
        return status, said.out, said.err

    return call


def test_it_draws_what_is_pinned(call: Main) -> None:
    status, out, error = call(TURN, "--width", 120, "--clock", NOW)
    assert (status, out) == (0, pin(BY_NAME["turn"], 120).read_text(encoding="utf-8"))
    assert error == f"{TURN}: unievent-sse\n", "what was recognised is said beside"


def test_a_stream_that_is_broken_is_drawn_and_is_status_1(call: Main) -> None:
    status, out, error = call(CUT, "--from", "unievent-sse", "--to", "gateway-sse", "--width", 60, "--clock", NOW)
    assert (status, out, error) == (1, pin(BY_NAME["error"], 60).read_text(encoding="utf-8"), "")


def test_json_is_the_view(call: Main) -> None:
    status, out, _ = call(TURN, "--json", "--clock", NOW)
    assert status == 0
    found = json.loads(out)
    assert found["about"].pop("file") == "claude-turn.unievent.sse"
    expected = BY_NAME["turn"].view()
    del expected["about"]["file"]
    assert found == expected


@pytest.mark.parametrize(("name", "dst"), [("vector", "gateway-jsonl"), ("home", "unievent-sse")])
def test_the_target_is_the_other_format_by_default(call: Main, tmp_path: Path, name: str, dst: str) -> None:
    path = tmp_path / "stream"
    path.write_bytes(BY_NAME[name].stream)
    _, out, _ = call(path, "--json")
    assert json.loads(out)["target"]["format"] == dst


def test_events_are_looked_at_as_unievents(call: Main, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    path.write_bytes(b'{"event":"finish"}\n')
    assert '"unievent-jsonl"' in call(path, "--json", "--from", "events-jsonl")[1]


def test_options_are_those_of_a_conversion(call: Main, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    for name, option in (("vector-dropped", ["--loss", "drop"]), ("mended", ["--lenient"])):
        case = BY_NAME[name]
        path.write_bytes(case.stream)
        status, out, _ = call(path, "--to", case.dst, "--width", 120, "--clock", NOW, *option)
        assert (status, out) == (0, pin(case, 120).read_text(encoding="utf-8"))


def test_every_unit_has_a_line_if_asked(call: Main) -> None:
    few, many = (len(call(TURN, "--width", 100, *more)[1].splitlines()) for more in ([], ["--all"]))
    assert few < 40
    assert many > 84


def test_colours_are_for_terminals_or_where_they_are_asked_for(call: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" not in call(TURN)[1]
    assert "\x1b[" in call(TURN, "--color", "always")[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "\x1b[" in call(TURN)[1]
    assert "\x1b[" not in call(TURN, "--color", "never")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in call(TURN)[1]
    assert "\x1b[" in call(TURN, "--color", "always")[1]
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b[" not in call(TURN)[1]


def test_an_unknown_format_is_status_4(call: Main) -> None:
    assert call(TURN, "--to", "gatewayy")[0] == 4
    assert call(TURN, "--from", "gatewayy")[0] == 4


def test_an_input_like_no_format_says_what_it_is(call: Main, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    path.write_bytes(b"hello\n\n")
    status, out, error = call(path)
    assert (status, out) == (3, "")
    assert f"{path}: it is text, neither JSON nor SSE" in error


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_it_stands_in_a_pipe(encoding: str) -> None:
    paths = os.pathsep.join((str(ROOT), str(ROOT / "codecs")))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": encoding, "COLUMNS": "90"}
    command = [sys.executable, "-m", "translate", "inspect", "--clock", str(NOW)]
    done = subprocess.run(
        command, input=TURN.read_bytes(), env=environment, capture_output=True, timeout=WAIT, check=False
    )
    assert done.returncode == 0
    drawn = done.stdout.decode(encoding)
    assert ("─▶" in drawn) == (encoding == "utf-8")
    assert max(map(len, drawn.splitlines())) == 90
