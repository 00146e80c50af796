"""What ``inspect`` draws of each stream, pinned. ``python -m tests.inspect.pins`` writes it anew."""

from __future__ import annotations

from pathlib import Path

from tests.inspect.streams import CASES, Case
from translate.inspect.terminal import draw

PINNED = Path(__file__).parent / "pinned"
WIDTHS = (60, 120)


def pin(case: Case, columns: int) -> Path:
    return PINNED / f"{case.name}.{columns}.txt"


if __name__ == "__main__":
    for case in CASES:
        for columns in WIDTHS:
            pin(case, columns).write_text(draw(case.view(), columns), encoding="utf-8")
