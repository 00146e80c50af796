"""One input, or a part of one, into one output. Runs in the job's own process, or in one beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import BinaryIO

from .containers import CONTAINERS
from .layout import Counts, Unaccounted
from .outputs import TEMPORARY, Output, real
from .places import InputFault, reading, state
from .rejects import SUFFIX, Rejects
from .stream import Reject
from .work import Done, Seen, Sink, Task, faults_of_the_program


def run(task: Task, seen: Seen = None) -> Done:
    """Do it; ``seen`` is told the place in the input, now and then. Raises :class:`InputFault` where the input cannot
    be read, or changes; ``OSError`` where the output cannot be written; :class:`ProgramFault`. Then nothing is left.
    """
    with faults_of_the_program():
        return _run(task, seen)


def _run(task: Task, seen: Seen) -> Done:
    counts = Counts()
    unchanged(task)
    output = Output(task.output, part=task.part)
    rejects = Rejects(task.output + SUFFIX, task.place.path, part=task.part)
    try:
        convert_into(task, counts, output, rejects.add, seen)
        output.close()
        rejects.close()
        unchanged(task)
        _add_up(task, counts, output, rejects)
    except BaseException:
        output.discard()
        rejects.discard()
        raise
    return Done(counts, rejects.count, output.size, output.digest, rejects.digest)


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


def convert_into(task: Task, counts: Counts, output: Sink, reject: Callable[[Reject], None], seen: Seen = None) -> None:
    """Convert the input of a task into an output."""
    with reading(task.place) as file:
        convert_open(file, task, counts, output, reject, seen)


def convert_open(
    file: BinaryIO, task: Task, counts: Counts, output: Sink, reject: Callable[[Reject], None], seen: Seen = None
) -> None:
    """The same for bytes that are read already, whose place is no matter."""
    CONTAINERS[task.layout.container].convert(file, task, counts, output, reject, seen)


def parts(task: Task, number: int, size: int) -> list[Task]:
    """A task in parts that can be done side by side; their outputs, one after another, are that of the whole."""
    step = max(-(-size // number), 1)
    borders = [*range(0, size, step), size] if size else [0, 0]
    # logs that are rotated have names that end in a number
    return [
        replace(task, start=start, end=end, part=f".~{index}") for index, (start, end) in enumerate(pairwise(borders))
    ]


def leftovers(outputs: Iterable[str]) -> None:
    """Remove what a job that was ended has left of outputs."""
    names: dict[str, set[str]] = {}
    for output in outputs:
        for folder, name in map(os.path.split, (real(output), real(output + SUFFIX))):
            names.setdefault(folder or ".", set()).add(name)
    for folder, ours in names.items():
        with suppress(OSError):
            for name in os.listdir(folder):
                inner = name.removesuffix(TEMPORARY)
                whole, mark, number = inner.rpartition(".~")
                if inner != name and (inner in ours or (mark and number.isdecimal() and whole in ours)):
                    os.unlink(os.path.join(folder, name))
