"""How things are timed, and the rows that come of it."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

Timed: TypeAlias = Callable[[], object]
Numbers: TypeAlias = Sequence[float]


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
    pieces: int = 2_000
    """Fragments, members, units or numbers that ten times as many are held against."""
    fragments: int = 20_000
    """Of calls in one stream of Chat, held against a tenth."""
    padding: int = 20_000
    """Chunks of padding in one, held against a tenth."""
    processes: int = 21
    """Pairs of fresh interpreters."""
    corpus: Path | None = None
    """A directory of UniEvent SSE streams."""

    def full(self) -> Plan:
        """With the longest streams and the largest part too."""
        long = replace(self, fragments=116_667, padding=1_000_000)
        return replace(long, lengths=(*self.lengths, 1_000_000), parts=(*self.parts, 256))

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
    stretch: float | None = None
    """What would be better than the target."""
    off: Row | None = None
    """The same with runs off, of a case that is measured both ways."""

    @property
    def met(self) -> bool | None:
        """Whether the target is; ``None`` without one, or while it is open."""
        return None if self.target is None or self.ratio is None else self.ratio <= self.target

    @property
    def verdict(self) -> str:
        """The target, what would be better, and which of them is met."""
        if self.target is None:
            return ""
        aims = " ".join(map(_number, filter(None, (self.target, self.stretch))))
        if self.ratio is None:
            return f"{aims} open"
        if self.stretch is not None and self.ratio <= self.stretch:
            return f"{aims} stretch"
        return f"{aims} {'met' if self.met else 'missed'}"

    def noted(self, note: str) -> Row:
        """With a note."""
        return replace(self, note=note)

    def json(self) -> dict[str, Any]:
        """As one object."""
        found = {**asdict(self), "met": self.met}
        return found if self.off is None else {**found, "off": self.off.json()}


def row(case: str, base: str, ratios: Numbers, target: float | None = None) -> Row:
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
    under, spent = interleaved([lambda: cost(base, plan.repeat), lambda: cost(work, plan.repeat)], plan)
    return replace(against(under, spent, case, base_name, plan, scale), target=target)


def interleaved(takes: Sequence[Callable[[], float]], plan: Plan) -> list[list[float]]:
    """The seconds that each of ``takes`` gave, round by round; they take turns.

    What was set up before is frozen: the garbage collector does not look at it.
    """
    found: list[list[float]] = [[] for _ in takes]
    with frozen():
        for _ in range(plan.rounds):
            for seconds, take in zip(found, takes, strict=True):
                seconds.append(take())
    return found


def against(under: Numbers, spent: Numbers, case: str, base_name: str, plan: Plan, scale: float = 1.0) -> Row:
    """The row of what a case and its base took, round by round. ``scale``: how much more the base does."""
    ratios = [work / base * scale for work, base in zip(spent, under, strict=True)]
    return replace(row(case, base_name, ratios), seconds=statistics.median(spent) / plan.repeat)


@contextmanager
def frozen() -> Iterator[None]:
    """What is there already is no work of the garbage collector's while the block runs."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


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


HEAD = f"{'case':62} {'against':22} {'ratio':>7} {'spread':>15}  target"


def line(row: Row) -> str:
    """A row of the printed table, its note below."""
    if not row.base:
        return f"{row.case}: {row.note}"
    text = f"{row.case:62} {row.base:22} {_cells(row)}"
    if row.off is not None:
        text = f"{text:125} | {_cells(row.off)}"
    return f"{text.rstrip()}\n    {row.note}" if row.note else text.rstrip()


def _cells(row: Row) -> str:
    ratio = "-" if row.ratio is None else _number(row.ratio)
    spread = "" if row.low is None or row.high is None else f"{_number(row.low)}-{_number(row.high)}"
    return f"{ratio:>7} {spread:>15}  {row.verdict}"


def _number(ratio: float) -> str:
    return f"{ratio:.3f}" if ratio < 1 else f"{ratio:.2f}"
