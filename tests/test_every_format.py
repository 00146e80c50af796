"""What is there for formats is there for all of them, as a source and as a target: viewers, differences, logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.turns import turns
from benchmarks.work import turn
from translate import assemble, check, convert, decode
from translate.cli import main
from translate.compare import compare
from translate.inspect import view
from translate.inspect.terminal import draw

TURNS = {format: b"".join(blocks) for format, blocks in turns(turn(30)).items()}
"""The same turn in the words of each format."""
TEXT = "".join(run.whole for run in turn(30) if run.kind == "text")
PAIRS = [(src, dst) for src in TURNS for dst in TURNS if src != dst]
pytestmark = pytest.mark.parametrize(("src", "dst"), PAIRS, ids=lambda format: format.removesuffix("-sse"))


def translated(src: str, dst: str, **options: Any) -> bytes:
    return b"".join(convert([TURNS[src]], src, dst, clock=lambda: 0, **options))


def test_inspect_shows_both_sides(src: str, dst: str) -> None:
    found = view(TURNS[src], src, dst, clock=lambda: 0)
    drawn = draw(found, 160, all=True)
    assert src in drawn
    assert dst in drawn
    assert "get_weather" in drawn
    assert found.get("error") is None


def test_a_translation_differs_in_nothing_that_is_content(src: str, dst: str) -> None:
    differences = compare(decode([TURNS[src]], src), decode([translated(src, dst)], dst))
    assert [each for each in differences if each.level == "message"] == []


def test_it_is_valid_and_assembled_alike(src: str, dst: str) -> None:
    out = translated(src, dst, loss="drop")
    assert check([out], dst) == []
    items = assemble([out], dst, "unievent")["content_items"]
    assert "".join(item.get("text", "") for item in items) == TEXT
    # and in its own form
    assert assemble([out], dst, dst.removesuffix("-sse"))


def test_logs_are_known_by_what_they_hold(src: str, dst: str, tmp_path: Path) -> None:
    """A folder of streams whose format nobody names."""
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for name in ("a", "b"):
        (source / f"{name}.sse").write_bytes(TURNS[src])
    assert main(["convert", str(source), "-o", str(out), "--from", "auto", "--to", dst]) == 0
    written = "".join(path.read_text(encoding="utf-8") for path in sorted(out.rglob("*")) if path.is_file())
    assert written.count("get_weather") >= 2
