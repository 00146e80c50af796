"""What the engine is to reach: each case with runs on and runs off, and the aims for both.

L is what the JSON of a translation costs alone: each unit read by orjson, and a unit of the translation's own written
by it and framed. The four figures of a case are *drop* and *carry*, to the gateway, and *back* and *back with carry*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from translate import Fault, Translator, assemble, check

from .runs import calls, runs, switch
from .streams import Figure, Streams, generated, joined, recordings, units
from .table import Numbers, Plan, Row, Timed, against, cost, interleaved, row, times
from .work import Run, Unit, bare, cut, limit, limit_read, turn, unievent_sse

SSE = "unievent-sse"


@dataclass(frozen=True)
class Aims:
    """Of a case, figure by figure: at most so much, and better so much; with runs on and off apart, or the same."""

    on: tuple[Numbers, Numbers] = ((), ())
    off: tuple[Numbers, Numbers] = ((), ())

    def of(self, figure: int, on: bool) -> tuple[float | None, float | None]:
        """The two of one figure."""
        most, stretch = (column[figure : figure + 1] for column in (self.on if on else self.off))
        return (most[0] if most else None), (stretch[0] if stretch else None)


def either(most: Numbers, stretch: Numbers) -> Aims:
    """Aims that hold with runs on and off."""
    return Aims((most, stretch), (most, stretch))


WAYS = (True, False)
"""Runs on, runs off: the two columns."""
LONG = Aims(((1.5, 2, 2, 2), (1.3, 1.7, 1.7, 1.8)), ((4.5, 5.5, 5.5, 7), (3.5, 4.5, 4.5, 5.5)))
LONG_ONE = Aims(off=((5, 6, 6.5, 8), (4, 5, 5, 6.5)))
RECORDED = Aims(((4, 5, 4, 6.5), (3, 4, 3, 5)), ((5.5, 7, 5.5, 9), (4.5, 5.5, 4.5, 7)))
SHORT = either((10, 12), (7, 9))
DICTS = either((4.5, 7, 5.5, 9), (3.5, 5, 4.5, 6))
SINGLE = either([15], [10])
MADE, CLOSED = either([8], [5]), either([2], [1])
CALLS = either([16] * 4, [10] * 4)
CHECKED, ASSEMBLED = either([6], [4]), either([3], [2])
LEFT = {"first": "", "end of thinking": '"thinking.done"', "call": '"tool_call.done"', "stop": '"event_type":"stop"'}
RIGHT = {"first": "", "end of thinking": '"thinkingEnd"', "call": '"type":"tool"', "stop": '"type":"stop"'}
"""The units that are timed alone, and what marks them in UniEvents and in frames."""

Prepare = Callable[[], Timed]
"""Sets up, untimed, what is then timed."""


def reach(plan: Plan) -> Iterator[Row]:
    """All of it."""
    yield Row("columns", note=f"runs on | {'runs off' if switch() else 'open: this engine has no switch for runs'}")
    whole, long = generated(turn(plan.events)), generated(turn(4 * plan.events)[:2])
    short = generated([Run("text", ["The", " quick", " brown", " fox", " in", " Paris"])])
    yield from four("long text, 4 KiB", [long], SSE, 4096, plan, LONG)
    yield from four("long text, one unit a chunk", [long], SSE, None, plan, LONG_ONE)
    yield from four("the turn, 4 KiB", [whole], SSE, 4096, plan)
    yield from four("the turn, one unit a chunk", [whole], SSE, None, plan)
    yield from four("8 units, 4 KiB", [short] * 50, SSE, 4096, plan, SHORT)
    yield from four("dicts, the turn", [whole], "unievent", None, plan, DICTS)
    yield from _readings("the turn", [whole], plan)
    yield from _single(plan)
    yield from _ends(plan)
    yield from _calls()
    if plan.corpus is not None:
        yield from _recorded(plan)


def _recorded(plan: Plan) -> Iterator[Row]:
    """Those of a directory, one after another."""
    assert plan.corpus is not None
    found, of = recordings(plan.corpus)
    left = "the others report an error, break the format or hold no plain JSON"
    yield Row("corpus", note=f"{len(found)} of {of} streams; {left}")
    few = [streams for streams in found if len(streams.events) <= 8]
    slow = plan.slow()
    for case, streams, aims in (("recordings", found, RECORDED), (f"{len(few)} recordings of <= 8 units", few, SHORT)):
        if streams:
            yield from four(f"{case}, 4 KiB", streams, SSE, 4096, slow, aims)
    yield from four("dicts, recordings", found, "unievent", None, slow, DICTS)
    yield from _readings("recordings", found, slow)


def four(
    case: str, streams: Sequence[Streams], shape: str, size: int | None, plan: Plan, aims: Aims | None = None
) -> Iterator[Row]:
    """The four figures of some streams, one after another; ``size``: of their chunks, or one unit a chunk."""
    for at, figures in enumerate(zip(*(each.four(shape) for each in streams), strict=True)):
        works = [figure.work(size) for figure in figures]
        for figure, work, each in zip(figures, works, streams, strict=True):
            _checked(figure, work, each)
        base = in_turn([figure.base for figure in figures])
        yield both(f"{case}: {figures[0].name}", figures[0].base_name, in_turn(works), base, plan, aims, at)


def _checked(figure: Figure, work: Callable[[], list[Any]], streams: Streams) -> None:
    """What a recording becomes was found right when it was read."""
    with runs(True):
        on = work()
    with runs(False):
        off = work()
    what = f"{figure.src} to {figure.dst}, {figure.name}"
    assert joined(on) == joined(off), f"{what}: runs say something else"
    assert streams.raw is not None or figure.right(on), f"{what}: wrong output"


def in_turn(works: Sequence[Timed]) -> Timed:
    """One after another."""

    def run() -> None:
        for work in works:
            work()

    return run


def both(
    case: str, base_name: str, work: Timed, base: Timed, plan: Plan, aims: Aims | None = None, figure: int = 0
) -> Row:
    """A case with runs on and off, and its base."""
    under, *spent = interleaved([lambda: cost(base, plan.repeat), *_takes(lambda: work, plan.repeat)], plan)
    return aimed([against(under, each, case, base_name, plan) for each in spent], aims, figure)


def _takes(prepare: Prepare, repeat: int) -> list[Callable[[], float]]:
    """The seconds with runs on, and, if there is a switch, with runs off."""

    def take(on: bool) -> float:
        with runs(on):
            return cost(prepare(), repeat)

    return [partial(take, on) for on in WAYS[: 2 if switch() else 1]]


def aimed(columns: Sequence[Row], aims: Aims | None = None, figure: int = 0) -> Row:
    """One row of a column with runs on and, if it was measured, one with runs off."""
    on, *rest = columns
    column = rest[0] if rest else Row(on.case, on.base)
    (most, stretch), (most_off, stretch_off) = ((aims or Aims()).of(figure, way) for way in WAYS)
    off = replace(column, target=most_off, stretch=stretch_off)
    return replace(on, target=most, stretch=stretch, off=off)


# ---- check and assemble ----------------------------------------------------------------------------------


def _readings(case: str, streams: Sequence[Streams], plan: Plan) -> Iterator[Row]:
    for format in (SSE, "gateway-sse"):
        left = format == SSE
        base = in_turn([limit_read(each.events if left else each.frames) for each in streams])
        finds, adds = [], []
        for each in streams:
            source = each.raw or b"".join(unievent_sse(each.events))
            find, add = _reading(cut(source if left else b"".join(each.carrying), 4096), format)
            assert each.raw is not None or find() == []
            assert each.raw is not None or add()["content_items"] == _parts(each.events)
            finds.append(find)
            adds.append(add)
        yield both(f"check, {format}, {case}, 4 KiB", "L_read", in_turn(finds), base, plan, CHECKED)
        yield both(f"assemble, {format}, {case}, 4 KiB", "L_read", in_turn(adds), base, plan, ASSEMBLED)


def _reading(chunks: list[bytes], format: str) -> tuple[Callable[[], list[Fault]], Callable[[], Any]]:
    return lambda: check(chunks, format), lambda: assemble(chunks, format, "unievent")


def _parts(events: list[Unit]) -> list[Unit]:
    return [item for event in events for item in event["content_items"] if item["type"].endswith(".done")]


# ---- one unit, or none -----------------------------------------------------------------------------------


def _small() -> tuple[Figure, Figure, Figure, Figure]:
    """The four figures of a turn of some 50 units."""
    drop, carry, back, home = generated(turn(8)).four(SSE)
    return drop, carry, back, home


def fed(figure: Figure, units: int) -> Translator:
    """A translator that got the first ``units`` units, one a chunk."""
    found = figure.translator()
    for unit in figure.source[:units]:
        found.feed(unit)
    return found


def place(figure: Figure, mark: str, which: int = 0) -> int:
    """Where the source has the unit whose data holds this mark."""
    found = (at for at, unit in enumerate(figure.source) if mark.encode() in unit.partition(b"data: ")[2])
    return next(islice(found, which, None))


def _single(plan: Plan) -> Iterator[Row]:
    """One unit, its carry written or read, in a stream that came so far: many translators get it, once each."""
    count, once = 25 * plan.repeat, replace(plan, repeat=1)
    _, carry, _, home = _small()
    for figure, marks in ((carry, LEFT), (home, RIGHT)):
        for name, mark in marks.items():
            at = place(figure, mark)
            unit = figure.source[at]
            written = units(bare(b"".join(fed(figure, at).feed(unit))))
            base = times(count, limit(units(unit), written))

            def prepare(figure: Figure = figure, at: int = at, unit: bytes = unit) -> Timed:
                ready = [fed(figure, at) for _ in range(count)]
                return lambda: [each.feed(unit) for each in ready]

            under, *spent = interleaved([partial(cost, base, 1), *_takes(prepare, 1)], once)
            case = f"one unit alone, {figure.name}: {name}"
            yield aimed([against(under, each, case, "L of it", once) for each in spent], SINGLE)


def _ends(plan: Plan) -> Iterator[Row]:
    """A translator made, and one closed that had all of its stream."""
    count, once = 25 * plan.repeat, replace(plan, repeat=1)
    for figure in _small():
        made = times(count, figure.translator)

        def closing(figure: Figure = figure) -> Timed:
            ready = [fed(figure, len(figure.source)) for _ in range(count)]
            return lambda: [each.close() for each in ready]

        def making(made: Timed = made) -> Timed:
            return made

        prepared: list[tuple[str, Prepare, Aims]] = [("Translator()", making, MADE), ("close()", closing, CLOSED)]
        for name, prepare, aims in prepared:
            spent = interleaved(_takes(prepare, 1), once)
            case = f"{name}, {figure.name}"
            yield aimed([row(case, "µs", [each / count * 1e6 for each in column]) for column in spent], aims)


def delta_calls() -> dict[str, int]:
    """How many Python calls a plain delta takes, for each figure: a text fragment in a run, alone in its chunk."""
    found = {}
    for figure, mark in zip(_small(), ("text.delta", "text.delta", '"content"', '"content"'), strict=True):
        at = place(figure, mark, 2)
        fed(figure, at + 1)  # what is made once in a process is there now
        found[figure.name] = calls(fed(figure, at).feed, figure.source[at])
    return found


def _calls() -> Iterator[Row]:
    columns = []
    for on in WAYS[: 2 if switch() else 1]:
        with runs(on):
            columns.append(delta_calls())
    for at, name in enumerate(columns[0]):
        counts = [row(f"a plain delta, {name}", "Python calls", [column[name]]) for column in columns]
        yield aimed(counts, CALLS, at)
