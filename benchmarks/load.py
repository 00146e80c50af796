"""One sidecar process under many streams at once, beside proxies of the same make that pass them on as they are."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from .load_ends import PATIENCE, Ends, Passage, stories
from .resources import ROOTS
from .table import Plan, Row, row

UNITS = 200
"""Of each stream."""
RATE = 2500.0
"""Units a second, of all streams together: what a proxy can take without falling behind."""
FLOOD = 25_000.0
"""The same, of which it falls behind."""
TARGETS = {"paced": 1.2, "mixed": 1.3, "saturated": 1.5}
"""CPU time against a plain pass-through, at most: of a few streams at a pace that both keep; of many short ones, with
the requests that open them; of a few that send more than either can take.
"""
SIDECAR = "sidecar"
NAMES = {"plain": "a plain pass-through", "leanest": "the leanest one"}


@dataclass
class Proxy:
    """A proxy process, and what was seen of it."""

    kind: str
    url: str
    pid: int
    runs: list[Passage] = field(default_factory=list)
    peak: float = 0.0
    """MB that were resident at most."""

    def cpu(self) -> float:
        """Seconds of CPU time it took so far, the kernel's share included."""
        # the clock that clock_getcpuclockid(3) gives: /proc knows hundredths of a second only
        return time.clock_gettime(~self.pid << 3 | 2)


def _peak(pid: int) -> float:
    return int(Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024


@contextmanager
def proxy(kind: str, upstream: str, load: Load) -> Iterator[Proxy]:
    """A proxy, while the block runs: the sidecar as its command starts it, or one of :mod:`benchmarks.passing`."""
    if kind == SIDECAR:
        command = ["translate", "serve", "--upstream", upstream, "--from", load.src, "--to", load.dst]
        command += ["--port", "0", "--ping", "600", "--max-concurrent", str(max(load.streams, 1000))]
    else:
        command = ["benchmarks.passing", kind, upstream]
    with started(command) as (process, url, _):
        yield Proxy(kind, url, process.pid)


@contextmanager
def started(command: Sequence[str]) -> Iterator[tuple[subprocess.Popen[bytes], str, Callable[[], str]]]:
    """A proxy that a module of Python is, while the block runs: its process, where it listens, what it has logged."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(ROOTS)}
    with tempfile.TemporaryFile("w+") as log:

        def said() -> str:
            return os.pread(log.fileno(), 1 << 30, 0).decode("utf-8", "replace")

        process = subprocess.Popen([sys.executable, "-m", *command], env=env, stderr=log)
        try:
            yield process, _address(process, log.fileno()), said
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(process: subprocess.Popen[bytes], log: int) -> str:
    """Where a proxy that was just started listens."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        said = os.pread(log, 10_000, 0).decode()
        if "listening on http" in said and "\n" in said.partition("listening on ")[2]:
            return said.partition("listening on ")[2].split()[0]
        time.sleep(0.02)
    raise RuntimeError(f"no proxy: {os.pread(log, 10_000, 0).decode()}")


@dataclass(frozen=True)
class Load:
    """So many streams at once of so many UniEvents each, ``rate`` units a second in all, from ``src`` to ``dst``.

    ``name``: one of :data:`TARGETS`, or none.
    """

    streams: int
    units: int = UNITS
    rate: float = RATE
    src: str = "unievent-sse"
    dst: str = "gateway-sse"
    seed: int = 1
    name: str = ""


async def measured(load: Load, kinds: Sequence[str], rounds: int) -> list[Proxy]:
    """All that each kind of proxy shows in so many rounds, in turn.

    Raises ``AssertionError`` where a stream is not what the library makes of it.
    """
    told = stories(load.streams, load.units, load.src, load.dst, load.seed)
    async with Ends(told, load.seed) as ends:
        with ExitStack() as stack:
            found = [stack.enter_context(proxy(kind, ends.url, load)) for kind in kinds]
            for each in found:
                await ends.run(each.url, each.cpu, rate=load.rate, translated=each.kind == SIDECAR, first=4)
            for at in range(rounds):
                # none is always the first
                for each in found[at % len(found) :] + found[: at % len(found)]:
                    passage = await ends.run(each.url, each.cpu, rate=load.rate, translated=each.kind == SIDECAR)
                    each.runs.append(passage)
                    each.peak = _peak(each.pid)
    return found


def load(plan: Plan) -> Iterator[Row]:
    """The three loads, then the first of them against the leanest proxy, and on the way back."""
    why = missing(plan.streams)
    if why:
        yield Row("load", note=why)
        return
    few, rounds = max(1, plan.streams // 20), min(plan.rounds, 5)
    yield from _rows(Load(few, name="paced"), [SIDECAR, *NAMES], rounds)
    yield from _rows(Load(plan.streams, UNITS // 4, name="mixed"), [SIDECAR, "plain"], min(rounds, 3))
    yield from _rows(Load(few, rate=FLOOD, name="saturated"), [SIDECAR, "plain"], rounds)
    yield from _rows(Load(few, src="gateway-sse", dst="unievent-sse"), [SIDECAR, "plain"], rounds)


def missing(streams: int) -> str:
    """Why so many streams cannot be measured; as many files may be open as it takes, if that is allowed."""
    absent = [name for name in ("uvicorn", "httpx2") if find_spec(name) is None]
    if absent:
        return f"{' and '.join(absent)}: not installed"
    if not Path("/proc/self/stat").exists():
        return "this system does not say what a process takes"
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # those that are started have the same limit
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    needed = 2 * streams + 100
    return f"{needed} files are needed, and {hard} may be open" if 0 <= hard < needed else ""


def _rows(load: Load, kinds: Sequence[str], rounds: int) -> Iterator[Row]:
    sidecar, *others = asyncio.run(measured(load, kinds, rounds))
    case, units = f"{load.streams:,} streams to {load.dst}", sidecar.runs[0].units
    case = f"{load.name}, {case}" if load.name else case
    busy = " and ".join(f"{each:.1f}" for each in os.getloadavg()[:2])
    arrived = f"all {units:,} units arrived in each of {rounds * len(kinds)} runs, nothing lost or mixed up"
    yield Row(f"{case} at once", note=f"{arrived}; {load.rate:,.0f} a second; load of the machine {busy}")
    for other in others:
        plain = other.kind == "plain"
        base, pairs = NAMES[other.kind], list(zip(sidecar.runs, other.runs, strict=True))
        costs = [(ours.cpu * 1e6 / units, theirs.cpu * 1e6 / units) for ours, theirs in pairs]
        yield _row(f"CPU a unit, {case}", base, costs, "µs", TARGETS.get(load.name) if plain else None)
        if not plain:
            continue
        for name, share in (("median", 50), ("p99", 99)):
            delays = [(_percentile(ours.delays, share), _percentile(theirs.delays, share)) for ours, theirs in pairs]
            yield _row(f"latency, {name}, {case}", base, [(ours * 1e3, theirs * 1e3) for ours, theirs in delays], "ms")
        yield _row(f"memory at the peak, {case}", base, [(sidecar.peak, other.peak)], "MB")


def _row(case: str, base: str, pairs: Sequence[tuple[float, float]], unit: str, target: float | None = None) -> Row:
    """A row of what was measured of both, round by round; its note has the medians, and what was added."""
    ours, theirs = (statistics.median(values) for values in zip(*pairs, strict=True))
    added = statistics.median(ours - theirs for ours, theirs in pairs)
    found = row(case, base, [ours / theirs for ours, theirs in pairs], target)
    return found.noted(f"{ours:.2f} {unit} and {theirs:.2f} {unit}, {added:+.2f} {unit}")


def _percentile(values: Sequence[float], share: int) -> float:
    return sorted(values)[len(values) * share // 100]
