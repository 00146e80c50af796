"""``docs/inspect.md`` says what is so: its Python runs, its drawing is drawn, its marks are those that there are."""

from __future__ import annotations

import re

import pytest

from tests.inspect.streams import CASES, EXAMPLES
from translate.inspect.terminal import LETTERS, MEANING, draw

DOCUMENT = (EXAMPLES.parent / "docs" / "inspect.md").read_text(encoding="utf-8")


def test_its_python_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES.parent)
    code = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len(code) == 2
    exec("\n".join(code), {})


def test_its_drawing_is_what_is_drawn() -> None:
    block, _ = re.findall(r"```console\n(.*?)```", DOCUMENT, re.DOTALL)
    drawn = block.split("\n", 2)[2]
    (case,) = (case for case in CASES if case.name == "error")
    assert draw(case.view(), 100).startswith(drawn + "\n")


def test_its_marks_are_those_that_there_are() -> None:
    rows = re.findall(r"^\| ([a-z ]+) \| ([A-Z]) \|", DOCUMENT, re.MULTILINE)
    assert dict(rows) == LETTERS
    assert set(LETTERS) == set(MEANING)
