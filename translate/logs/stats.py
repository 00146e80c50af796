"""What logs hold: formats, models, parts, finish reasons, failures; and, for a target, what it would lose."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from .. import jsontext
from .bodies import text_of
from .containers import CONTAINERS
from .grouping import Grouping
from .layout import Counts, Layout, get
from .places import InputFault, reading
from .plan import Job, tasks_of
from .records import convert_streams, convert_units_of
from .stream import Reject
from .task import convert_into
from .wide import Made
from .work import ProgramFault, Sink, Task, faults_of_the_program


@dataclass(slots=True)
class Stats:
    """Counts of what was found."""

    counts: Counts = field(default_factory=Counts)
    formats: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    parts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    losses: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    faults: int = 0
    """Inputs at which the program failed."""

    def counters(self) -> Iterator[tuple[str, Counter[str]]]:
        """What is counted, each under its name."""
        streams = {"converted": self.counts.converted, "rejected": self.counts.rejected}
        yield "streams", Counter(streams)
        yield "units", Counter({"in": self.counts.units_in})
        yield "format", self.formats
        yield "model", self.models
        yield "part", self.parts
        yield "finish reason", self.reasons
        yield "failure", self.failures
        yield "rejected for", self.errors
        yield "would lose", self.losses

    def as_json(self) -> dict[str, Any]:
        """As members of an object."""
        return {name: dict(counter) for name, counter in self.counters()} | {"failed": self.failed}

    def event(self, said: dict[str, Any]) -> None:
        """Count an event of the algebra, in its JSON form."""
        match said.get("event"):
            case "start":
                self.models[str((said.get("model") or {}).get("name") or "unknown")] += 1
            case "open":
                self.parts[str(said.get("kind"))] += 1
            case "finish":
                self.reasons[str(said.get("reason", "unknown"))] += 1
            case "failure":
                self.failures[str(said.get("kind"))] += 1


def stats_of(job: Job) -> Stats:
    """Read the inputs of a job, and count. Where its target is not ``events-jsonl``, what it has no words for, too."""
    found = Stats()
    made = tasks_of(job)
    found.failed, found.faults = dict(made.failed), made.faults
    for task in made.tasks:
        seen = replace(task, settings=replace(task.settings, dst="events-jsonl"))
        counts, lossy = Counts(), Counts()
        try:
            with faults_of_the_program():
                _read(seen, counts, _Tally(found, task.layout), lambda reject: _rejected(found, reject.error))
                if job.settings.dst != seen.settings.dst:
                    bare = replace(task, settings=replace(task.settings, loss="drop"))
                    _read(bare, lossy, _Nothing(), lambda reject: None)
        except (InputFault, ProgramFault) as fault:
            found.failed[task.place.path] = str(fault)
            found.faults += isinstance(fault, ProgramFault)
            continue
        found.counts.add(counts)
        found.losses.update(lossy.losses)
        found.formats[task.settings.src] += counts.streams_in
    return found


def _read(task: Task, counts: Counts, output: Sink, reject: Callable[[Reject], None]) -> None:
    """Convert what a task reads, as lines where it is records."""
    kind = CONTAINERS[task.layout.container]
    if kind.made is not None:
        with reading(task.place) as file:
            for stream in kind.made(file, task, counts, reject):
                output.write(_bytes(stream))
        return
    if task.layout.container != "parquet":
        convert_into(task, counts, output, reject)
        return
    from .parquet import first_rows

    rows = first_rows(task.place, sys.maxsize if task.limit is None else task.limit)
    lines = ((index, jsontext.dumps(row)) for index, row in enumerate(rows))
    if not task.layout.units:
        for line in convert_streams(lines, task.layout, task.settings, counts, reject):
            output.write(line)
        return
    with Grouping(task.memory) as grouping:
        for line in convert_units_of(lines, task.layout, task.settings, counts, reject, grouping):
            output.write(line)


def _bytes(stream: Any) -> bytes:
    """A stream that was made, as events, whatever packs it."""
    if isinstance(stream, Made):
        return b"".join(stream.spool.pieces())
    return text_of(stream).encode("utf-8", "surrogateescape")


def _rejected(found: Stats, error: Exception) -> None:
    found.errors[type(error).__name__] += 1


class _Nothing:
    """An output that is not wanted."""

    def write(self, data: bytes) -> None:
        pass


class _Tally:
    """An output of events that are counted."""

    def __init__(self, found: Stats, layout: Layout) -> None:
        self._found = found
        self._layout = layout
        self._rest = b""

    def write(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in filter(None, lines):
            said = jsontext.loads(line)
            if self._layout.container not in ("lines", "parquet"):
                self._found.event(said)
                continue
            for event in text_of(get(said, self._layout.field)).splitlines():
                self._found.event(jsontext.loads_str(event))
