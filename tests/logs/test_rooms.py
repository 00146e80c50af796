"""The modules of logs and of the command line import one another in no circle, not even for types or in functions."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOM = Path(__file__).resolve().parents[2] / "translate"


def neighbours(path: Path) -> set[str]:
    """The modules of the same room that a file imports, anywhere."""
    own = {each.stem for each in path.parent.glob("*.py")}
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module} if node.module else {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == f"translate.{path.parent.name}":
            found |= {alias.name for alias in node.names}
    return found & own


@pytest.mark.parametrize("room", ["logs", "cli"])
def test_no_circles(room: str) -> None:
    modules = {path.stem: neighbours(path) for path in (ROOM / room).glob("*.py") if path.stem != "__init__"}
    assert sum(map(len, modules.values())) > len(modules)
    TopologicalSorter(modules).prepare()
