"""The benchmark checks what it times; times are not judged here."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.__main__ import GROUPS, main, parser
from benchmarks.reach import LONG, both, delta_calls
from benchmarks.runs import MODULE, calls, runs, switch
from benchmarks.table import Plan, Row, line

EXAMPLES = Path(__file__).parents[1] / "examples"
SHORT = Plan(1, 1, events=100, lengths=(100,), parts=(1,), streamed=(1,), streams=3, pieces=5, processes=1)


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
        assert sum("unievent" in row.case and "gateway" in row.case for row in rows) == 2 * 16
        assert [row.case for row in rows if row.target == 1.5] == ["unievent-jsonl to gateway-sse, drop, 4 KiB"]
    if group == "growth":
        assert sum(row.target == 13 for row in rows) == 20
    if group == "reach":
        assert [line(row)[:22] for row in found if not row.base][1:] == ["corpus: 1 of 2 streams"]
        assert all(row.off is not None and (row.off.ratio is not None) == (switch() is not None) for row in rows)
        assert [row.case for row in rows if (row.target, row.stretch) == (1.5, 1.3)] == ["long text, 4 KiB: drop"]
        assert [row.case for row in rows if row.off and row.off.target == 4.5][:1] == ["long text, 4 KiB: drop"]


def test_both_columns(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a switch, each case is measured with runs on and with runs off."""
    module = ModuleType(MODULE)
    monkeypatch.setattr(module, "ON", True, raising=False)
    monkeypatch.setitem(sys.modules, MODULE, module)
    seen = []
    work = lambda: seen.append(module.ON)  # noqa: E731
    found = both("case", "base", work, lambda: None, Plan(2, 1), LONG, 3)
    assert seen == [True, False, True, False]
    assert module.ON
    assert (found.target, found.stretch) == (2, 1.8)
    assert found.off is not None
    assert (found.off.target, found.off.stretch) == (7, 5.5)
    assert found.off.ratio is not None
    assert len(line(replace(found, ratio=1.9)).split(" | ")) == 2
    assert found.json()["off"]["met"] is found.off.met


def test_the_runs_are_as_they_were_when_a_block_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType(MODULE)
    monkeypatch.setattr(module, "ON", True, raising=False)
    monkeypatch.setitem(sys.modules, MODULE, module)
    seen = []

    def broken() -> None:
        seen.append(module.ON)
        raise KeyError

    with pytest.raises(KeyError), runs(False):
        broken()
    assert seen == [False]
    assert module.ON


def test_without_a_switch_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, MODULE, None)  # an import fails
    assert switch() is None
    with runs(False):
        assert switch() is None


def test_calls_are_counted() -> None:
    def three(text: str) -> str:
        return "".join(str(each) for each in text[:1])

    # three(), and the generator's two steps; join, str and the slice are C
    assert calls(three, "ab") == 3
    before = sys.getprofile()
    with pytest.raises(ValueError, match="invalid literal"):
        calls(int, "x")
    assert sys.getprofile() is before


@pytest.mark.parametrize(
    ("on", "most"),
    [
        (True, {"drop": 15, "carry": 15, "back": 20, "back with carry": 19}),
        (False, {"drop": 14, "carry": 16, "back": 17, "back with carry": 21}),
    ],
)
def test_a_plain_delta_makes_few_calls(on: bool, most: dict[str, int]) -> None:
    with runs(on):
        found = delta_calls()
        # the benchmark says what is aimed at; this is what no change may pass
        assert [*found] == [*most]
        assert all(1 <= found[name] <= count for name, count in most.items()), found
        assert delta_calls() == found


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
    assert line(Row("case", "base", 1.5, target=2.0, stretch=1.0)).endswith(" 2.00 1.00 met")
    assert line(Row("case", "base", 1.0, target=2.0, stretch=1.0)).endswith(" 2.00 1.00 stretch")
