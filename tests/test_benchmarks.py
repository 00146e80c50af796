"""The benchmark checks what it times; times are not judged here."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.__main__ import GROUPS, main, parser
from benchmarks.table import Plan, Row, line

EXAMPLES = Path(__file__).parents[1] / "examples"
SHORT = Plan(1, 1, events=100, lengths=(100,), parts=(1,), streamed=(1,), streams=3, processes=1)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for name in ("claude-turn", "cut"):
        shutil.copy(EXAMPLES / f"{name}.unievent.sse", tmp_path / f"{name}.sse")
    return tmp_path


@pytest.mark.parametrize("group", GROUPS)
def test_a_short_run(group: str, corpus: Path) -> None:
    found = list(GROUPS[group](replace(SHORT, corpus=corpus)))
    rows = [row for row in found if row.base]
    if group == "load" and not rows:
        # it says what it needs
        (only,) = found
        assert "not installed" in only.note
        pytest.skip(only.note)
    assert max(Counter((row.case, row.base) for row in rows).values()) == 1
    for row in rows:
        assert row.note if row.ratio is None else row.ratio >= 0
        assert row.case in line(row)
    if group == "cases":
        assert sum("unievent" in row.case and "gateway" in row.case for row in rows) == 2 * 16 + 4 + 4
        assert [row.case for row in rows if row.target == 1.5] == ["unievent-jsonl to gateway-sse, drop, 4 KiB"]
        assert [line(row)[:22] for row in found if not row.base] == ["corpus: 1 of 2 streams"]


def test_the_table_and_its_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "table.json"
    main(["--rounds", "3", "--repeat", "1", "--only", "latency", "--json", str(table)])
    rows = json.loads(table.read_text(encoding="utf-8"))
    printed = capsys.readouterr().out
    assert len(rows) == 8
    for row in rows:
        assert row["group"] == "latency"
        assert row["low"] <= row["ratio"] <= row["high"]
        assert f"{row['case']} " in printed


def test_the_corpus_may_be_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSLATE_CORPUS", "there")
    assert parser().parse_args([]).corpus == Path("there/unievent-sse")
    assert parser().parse_args(["--corpus", "here"]).corpus == Path("here")


def test_a_target_is_named_beside_the_ratio() -> None:
    row = Row("case", "base", 1.5, 1.25, 1.75)
    assert line(row).split() == ["case", "base", "1.50", "1.25-1.75"]
    assert line(Row("case", "base", 1.5, 1.25, 1.75, 2.0)).endswith(" 2.00 met")
    assert line(Row("case", "base", 1.5, 1.25, 1.75, 1.0)).endswith(" 1.00 missed")
    assert line(Row("case", "base", target=1.0)).endswith(" 1.00 open")
