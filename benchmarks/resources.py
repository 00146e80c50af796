"""What the library takes beside time on long streams: memory, the delay of a live event, the time to import it."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson

from .growth import BACK, FORWARD, LINES, NAMES, Long, Way, checked, chunks, steps, streamed
from .streams import generated
from .table import Plan, Row, row
from .work import framing, lines, turn, unievents

PACKAGES = ("benchmarks", "translate", "translate_codecs")
ROOTS = dict.fromkeys(str(Path(import_module(name).__file__ or "").parents[1]) for name in PACKAGES)


def fresh(*arguments: str) -> float:
    """The number that a fresh interpreter prints."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(ROOTS)}
    done = subprocess.run([sys.executable, *arguments], env=env, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


# ---- memory ----------------------------------------------------------------------------------------------


def memory(plan: Plan) -> Iterator[Row]:
    """Resident memory above what the imports took, in MB, each in a process of its own."""
    base = "MB above the imports"
    if not Path("/proc/self/status").exists():
        yield Row("memory", base, note="this system does not say what a process has resident")
        return
    for way in (FORWARD, BACK):
        checked(streamed(1, way), way)
        for megabytes in plan.streamed:
            case = f"{megabytes} MB streamed, {NAMES[way]}"
            found = resident("stream", megabytes, way)
            yield row(case, base, [found], 32 if megabytes == 1024 else None)
        for megabytes in plan.parts:
            found = resident("part", megabytes, way)
            yield row(f"one part of {megabytes} MB, {NAMES[way]}", base, [found])
    found = resident("open", plan.streams, FORWARD)
    each = f"{found * 1024 / plan.streams:.0f} KB a stream, 20 events into it"
    yield row(f"{plan.streams:,} streams open at once, {NAMES[FORWARD]}", base, [found]).noted(each)


def resident(what: str, count: int, way: Way) -> float:
    """MB at the peak, above the imports."""
    return fresh("-m", "benchmarks.resources", what, str(count), "forward" if way is FORWARD else "back")


def _status(field: str) -> int:
    found = Path("/proc/self/status").read_text().partition(f"{field}:")[2]
    return int(found.split()[0])


def _resident(what: str, count: int, way: Way) -> float:
    """In this process."""
    before = _status("VmRSS")
    if what == "open":
        events = lines(unievents(turn(100)))[:20]
        before = _status("VmRSS")
        running = [steps(events, way, cut_off=True) for _ in range(count)]
        for _ in range(len(events)):
            for one in running:
                next(one)
    else:
        long = streamed(count, way) if what == "stream" else Long(LINES, count * 512)
        for _ in steps(chunks(long, way), way):
            pass
    return (_status("VmHWM") - before) / 1024


# ---- latency -------------------------------------------------------------------------------------------------


def latency(plan: Plan) -> Iterator[Row]:
    """The time on the clock that feed() of one event takes, against that of reading it and writing what it becomes."""
    streams = generated(turn(plan.events))
    pairs = list(zip(streams.events, streams.frames, strict=False))
    for figure in streams.four("unievent-jsonl"):
        forward = figure.dst == "gateway-sse"
        texts = [orjson.dumps(event if forward else frame) for event, frame in pairs]
        others = [frame if forward else event for event, frame in pairs]
        heads = [framing(unit) if forward else b"" for unit in others]
        medians, tails = [], []
        base: list[int] = []
        work: list[int] = []
        for _ in range(plan.rounds):
            base.clear()
            work.clear()
            for _ in range(plan.repeat):
                base += _each(zip(texts, heads, others, strict=True), _json)
                work += _each(((unit,) for unit in figure.source), figure.translator().feed)
            medians.append(statistics.median(work) / statistics.median(base))
            tails.append(_p99(work) / _p99(base))
        last = f"{statistics.median(work) / 1000:.1f} µs and {_p99(work) / 1000:.1f} µs in the last round"
        yield row(f"a live event, median, to {figure.dst}, {figure.name}", "loads and dumps of it", medians)
        yield row(f"a live event, p99, to {figure.dst}, {figure.name}", "loads and dumps of it", tails).noted(last)


def _each(arguments: Iterator[tuple[Any, ...]], call: Callable[..., object]) -> list[int]:
    """Nanoseconds of each call."""
    out = []
    for each in arguments:
        at = time.perf_counter_ns()
        call(*each)
        out.append(time.perf_counter_ns() - at)
    return out


def _json(text: bytes, head: bytes, unit: object) -> bytes:
    orjson.loads(text)
    return head + orjson.dumps(unit) + b"\n\n"


def _p99(values: Sequence[int]) -> float:
    return sorted(values)[len(values) * 99 // 100]


# ---- imports ---------------------------------------------------------------------------------------------------


def imports(plan: Plan) -> Iterator[Row]:
    """CPU time of an import in a fresh interpreter, in alternation."""
    ours, theirs = _imported("translate"), _imported("pydantic, orjson, anyio")
    pairs = [(theirs(), ours()) for _ in range(1 + plan.processes)][1:]
    base, work = zip(*pairs, strict=True)
    found = row("import translate", "pydantic, orjson, anyio", [ours / theirs for theirs, ours in pairs], 1.3)
    yield found.noted(f"{statistics.median(work):.0f} ms and {statistics.median(base):.0f} ms")


def _imported(names: str) -> Callable[[], float]:
    code = f"import time; at = time.process_time(); import {names}; print((time.process_time() - at) * 1000)"
    return lambda: fresh("-c", code)


if __name__ == "__main__":
    print(_resident(sys.argv[1], int(sys.argv[2]), FORWARD if sys.argv[3] == "forward" else BACK))
