"""One input, or a part of one, into one output. Runs in the job's own process, or in one beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Protocol

from .ends import EndToEnd
from .grouping import MEMORY, Grouping
from .layout import Counts, Layout, Settings, Unaccounted
from .places import TEMPORARY, InputFault, Output, Place, State, lines, reading, state
from .records import convert_streams, convert_units_of
from .rejects import SUFFIX, Rejects
from .stream import Reject

_PIECE = 1 << 16
"""Bytes that are read together of streams end to end: what follows a stream's end in them is read again."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done. ``start`` and ``end``: bytes of an input that is taken in parts; ``part``: the mark of that
    part's outputs. ``limit``: streams at most. ``state``: of the input when the job began.
    """

    place: Place
    output: str
    layout: Layout
    settings: Settings
    start: int = 0
    end: int | None = None
    part: str = ""
    limit: int | None = None
    memory: int = MEMORY
    state: State | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: under temporary names, until the job gives them their own."""

    counts: Counts
    rejects: int
    size: int


def run(task: Task) -> Done:
    """Do it. Raises :class:`InputFault` where the input cannot be read, or changes; ``OSError`` where the output cannot
    be written; :class:`Unaccounted`. Then nothing is left.
    """
    counts = Counts()
    unchanged(task)
    output = Output(task.output, part=task.part)
    rejects = Rejects(task.output + SUFFIX, task.place.path, part=task.part)
    try:
        convert_into(task, counts, output, rejects.add)
        output.close()
        rejects.close()
        unchanged(task)
        _add_up(task, counts, output, rejects)
    except BaseException:
        output.discard()
        rejects.discard()
        raise
    return Done(counts, rejects.count, output.size)


def unchanged(task: Task) -> None:
    """Raises :class:`InputFault` where the input is not what it was."""
    if task.state is not None and state(task.place) != task.state:
        raise InputFault("it changed while the job ran")


def _add_up(task: Task, counts: Counts, output: Output, rejects: Rejects) -> None:
    fault = counts.fault()
    if fault is not None:
        raise Unaccounted(f"{task.place.path}: {fault}")
    if rejects.count != counts.rejected:
        raise Unaccounted(f"{task.place.path}: of {counts.rejected} rejected streams {rejects.count} were kept")
    if task.layout.container == "lines" and not task.layout.units and output.lines != counts.converted:
        raise Unaccounted(f"{task.place.path}: of {counts.converted} converted streams {output.lines} were written")


class Sink(Protocol):
    """What takes the bytes of an output."""

    def write(self, data: bytes) -> None:
        """Take more of them."""
        ...


def convert_into(task: Task, counts: Counts, output: Sink, reject: Callable[[Reject], None]) -> None:
    """Convert the input of a task into an output."""
    layout, settings = task.layout, task.settings
    if layout.container == "parquet":
        from .parquet import convert_file

        convert_file(task, counts, output, reject)
        return
    with reading(task.place) as file:
        if layout.container == "streams":
            streams = EndToEnd(settings, counts, output.write, reject, task.limit)
            while not streams.full and (data := file.read(_PIECE)):
                streams.feed(data)
            streams.close()
            return
        found = lines(file, task.start, task.end)
        if layout.units:
            with Grouping(task.memory) as grouping:
                _all(output, convert_units_of(found, layout, settings, counts, reject, grouping, task.limit))
        else:
            _all(output, convert_streams(islice(found, task.limit), layout, settings, counts, reject))


def _all(output: Sink, pieces: Iterator[bytes]) -> None:
    for piece in pieces:
        output.write(piece)


def parts(task: Task, number: int, size: int) -> list[Task]:
    """A task in parts that can be done side by side; their outputs, one after another, are that of the whole."""
    step = max(-(-size // number), 1)
    borders = [*range(0, size, step), size] if size else [0, 0]
    # logs that are rotated have names that end in a number
    return [
        replace(task, start=start, end=end, part=f".~{index}")
        for index, (start, end) in enumerate(pairwise(borders))
    ]


def leftovers(outputs: Iterable[str]) -> None:
    """Remove what a job that was ended has left of outputs."""
    names: dict[str, set[str]] = {}
    for output in outputs:
        folder, name = os.path.split(output)
        names.setdefault(folder or ".", set()).update((name, name + SUFFIX))
    for folder, ours in names.items():
        with suppress(OSError):
            for name in os.listdir(folder):
                inner = name.removesuffix(TEMPORARY)
                whole, mark, number = inner.rpartition(".~")
                if inner != name and (inner in ours or (mark and number.isdecimal() and whole in ours)):
                    os.unlink(os.path.join(folder, name))
