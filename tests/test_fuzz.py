"""A short look at every fuzz target: its seeds and some inputs like them, the same ones each time."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.__main__ import Watch, at_random, main
from tests.fuzz.choices import Choices, chunks, cut, split
from tests.fuzz.laws import Broken
from tests.fuzz.seeds import mutated, noise, seeds
from tests.fuzz.spelling import RUNS, stream
from tests.fuzz.targets import DICTIONARY, FORMATS, TARGETS
from translate.engine import run_reader, runs

INPUTS = 150


@pytest.mark.parametrize("target", TARGETS)
def test_target(target: str) -> None:
    rng = random.Random(f"slice of {target}")
    pool = seeds(target, spelled=20)
    more = (noise(rng) if i % 2 else mutated(rng.choice(pool), rng, DICTIONARY) for i in range(INPUTS - len(pool)))
    for data in [*pool, *more]:
        TARGETS[target](data)


def test_a_bug_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Else all of the above is about nothing: a reader that forgets the last text of a run."""
    read = run_reader.RunReader.read

    def forgetful(self: run_reader.RunReader, *args: Any) -> runs.Run | None:
        run = read(self, *args)
        if run is not None:
            run.texts[-1] = ""
        return run

    monkeypatch.setattr(run_reader.RunReader, "read", forgetful)
    watch = Watch(TARGETS["convert-unievent-sse"], tmp_path)
    rng = random.Random(1)
    for data in [*seeds("convert-unievent-sse"), *(noise(rng) for _ in range(100))]:
        watch(data)
    assert watch.found
    assert {path.suffix for path in tmp_path.iterdir()} == {"", ".txt"}
    with pytest.raises(Broken):
        TARGETS["convert-unievent-sse"](next(path for path in tmp_path.iterdir() if not path.suffix).read_bytes())


def test_the_search_at_random(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    at_random("shape-lines", 0, tmp_path)
    assert capsys.readouterr().out.startswith("shape-lines: ")


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["fuzz", "--help"])
    with pytest.raises(SystemExit):
        main()
    assert "decode-gateway-sse" in capsys.readouterr().out


@pytest.mark.parametrize("format", FORMATS)
def test_every_byte_is_a_choice(format: str) -> None:
    """Streams are mostly valid, and all ways to cut one leave its bytes."""
    rng = random.Random(format)
    whole = 0
    for _ in range(60):
        pieces = stream(Choices(rng.randbytes(80)), *FORMATS[format])
        assert b"".join(chunks(Choices(rng.randbytes(4)), pieces)) == b"".join(pieces)
        whole += len(pieces) > 2
    assert whole > 30
    assert RUNS[FORMATS[format][0]]


def test_cutting() -> None:
    assert cut(b"abcdef", [1, 2]) == [b"a", b"bc", b"d", b"ef"]
    assert split(b"a\n\nb\n\nc") == [b"a\n\n", b"b\n\n", b"c"]
    assert split(b"a\nb\n") == [b"a\n", b"b\n"]
