"""How things are timed, and the rows that come of it."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

Timed: TypeAlias = Callable[[], object]


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    rounds: int = 9
    repeat: int = 4
    events: int = 500
    """Of the generated stream."""
    lengths: tuple[int, ...] = (100, 10_000, 100_000)
    """Events of a stream, to be held against 1,000."""
    parts: tuple[int, ...] = (1, 64)
    """MB of one part."""
    streamed: tuple[int, ...] = (16, 1024)
    """MB of one stream."""
    streams: int = 1000
    """Streams one after another, or open at once."""
    processes: int = 21
    """Pairs of fresh interpreters."""
    corpus: Path | None = None
    """A directory of UniEvent SSE streams."""

    def full(self) -> Plan:
        """With the longest streams and the largest part too."""
        return replace(self, lengths=(*self.lengths, 1_000_000), parts=(*self.parts, 256))

    def slow(self) -> Plan:
        """For work that takes seconds."""
        return replace(self, rounds=min(self.rounds, 3), repeat=1)


@dataclass(frozen=True)
class Row:
    """One case beside its base: the median of their ratios and its spread. No ratio: ``note`` says why.

    Without a base: a heading.
    """

    case: str
    base: str = ""
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    target: float | None = None
    note: str = ""
    seconds: float | None = None
    """What the case itself took once, the median."""

    @property
    def met(self) -> bool | None:
        """Whether the target is; ``None`` without one, or while it is open."""
        return None if self.target is None or self.ratio is None else self.ratio <= self.target

    def noted(self, note: str) -> Row:
        """With a note."""
        return replace(self, note=note)

    def json(self) -> dict[str, Any]:
        """As one object."""
        return {**asdict(self), "met": self.met}


def row(case: str, base: str, ratios: Sequence[float], target: float | None = None) -> Row:
    """A row of the ratios of all rounds."""
    low, high = (min(ratios), max(ratios)) if len(ratios) > 1 else (None, None)
    return Row(case, base, statistics.median(ratios), low, high, target)


def measure(
    case: str,
    base_name: str,
    work: Timed,
    base: Timed,
    plan: Plan,
    target: float | None = None,
    scale: float = 1.0,
) -> Row:
    """Time ``base`` and ``work`` in turn. ``scale``: how much more the base does."""
    gc.collect()
    ratios, spent = [], []
    for _ in range(plan.rounds):
        under = cost(base, plan.repeat)
        spent.append(cost(work, plan.repeat))
        ratios.append(spent[-1] / under * scale)
    found = row(case, base_name, ratios, target)
    return replace(found, seconds=statistics.median(spent) / plan.repeat)


def cost(run: Timed, repeat: int) -> float:
    """Seconds of thread CPU time that ``repeat`` runs take."""
    at = time.thread_time()
    for _ in range(repeat):
        run()
    return time.thread_time() - at


def times(count: int, run: Timed) -> Timed:
    """``run``, so many times."""

    def runs() -> None:
        for _ in range(count):
            run()

    return runs


HEAD = f"{'case':62} {'against':22} {'ratio':>7} {'spread':>15} {'target':>7}"


def line(row: Row) -> str:
    """A row of the printed table, its note below."""
    if not row.base:
        return f"{row.case}: {row.note}"
    ratio = "-" if row.ratio is None else _number(row.ratio)
    spread = "" if row.low is None or row.high is None else f"{_number(row.low)}-{_number(row.high)}"
    target = "" if row.target is None else _number(row.target)
    met = "open" if row.target is not None and row.met is None else {None: "", True: "met", False: "missed"}[row.met]
    text = f"{row.case:62} {row.base:22} {ratio:>7} {spread:>15} {target:>7} {met}".rstrip()
    return f"{text}\n    {row.note}" if row.note else text


def _number(ratio: float) -> str:
    return f"{ratio:.3f}" if ratio < 1 else f"{ratio:.2f}"
