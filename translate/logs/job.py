"""A whole job: many inputs, several processes, and what makes it possible to go on where it was ended.

1. Whatever ends a job, an output is there whole or not at all, and so is what was rejected of it: both are written
   under temporary names, and get their own before the manifest says that their input is done.
2. What a job writes depends on its inputs and settings alone, not on the number of processes, nor on how often it was
   ended and resumed.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import wait
from typing import Any

from ..registry import resolve
from . import places
from .grouping import MEMORY
from .layout import Counts, Layout, Settings
from .manifest import Entry, Manifest
from .places import Output
from .recognise import recognise
from .rejects import SUFFIX
from .task import Done, Task, leftovers, parts, run

PART = 16 * 1024 * 1024
"""Bytes from which JSON lines are taken in parts."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done.

    ``inputs``   paths, globs, folders (with all below them), URLs
    ``output``   a file, where there is one input that is none of a folder; else a folder
    ``layout``   how the inputs hold streams; ``None``: end to end, or as it is recognised
    ``jobs``     processes
    ``resume``   go on with a job that was ended: what its manifest says is done, and is as it was, is not done again
    ``force``    write over outputs that exist
    ``limit``    streams of each input at most, to try a job; then it is taken in one part
    ``memory``   bytes of units that are put together by id in memory; more are on disk
    """

    inputs: Sequence[str]
    output: str
    layout: Layout | None
    settings: Settings
    jobs: int = 1
    resume: bool = False
    force: bool = False
    limit: int | None = None
    memory: int = MEMORY


@dataclass(slots=True)
class Summary:
    """What a job did. ``failed``: inputs that could not be read, each with why; ``found``: what inputs were recognised
    as; ``skipped``: done before.
    """

    counts: Counts = field(default_factory=Counts)
    entries: list[Entry] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    found: dict[str, str] = field(default_factory=dict)
    skipped: int = 0


class OutputExists(Exception):
    """An output is there already, and the job was not told to write over it."""


class Unaccounted(Exception):
    """The counts of a job do not add up: a fault of the program."""


@dataclass(slots=True)
class Plan:
    """The tasks of a job, and the inputs that cannot be read, each with why."""

    tasks: list[Task] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    found: dict[str, str] = field(default_factory=dict)
    """What inputs were recognised as."""


def plan(job: Job) -> Plan:
    """What a job would do. Raises ``FileNotFoundError``, and ``ValueError`` for outputs that clash."""
    places_found = places.find(job.inputs)
    single = len(places_found) == 1 and not _is_folder(job)
    sources = {os.path.abspath(place.path) for place in places_found if not place.remote}
    made = Plan()
    taken: dict[str, str] = {}
    for place in places_found:
        try:
            task = _task(job, place, made)
        except places.InputFault as fault:
            made.failed[place.path] = str(fault)
            continue
        output = job.output if single else f"{job.output.rstrip('/')}/{_renamed(place.name, task)}"
        if output in taken or os.path.abspath(output) in sources:
            raise ValueError(f"the output of {place.path} would be written over {taken.get(output, output)}")
        taken[output] = place.path
        made.tasks.append(replace(task, output=output))
    return made


def _task(job: Job, place: places.Place, made: Plan) -> Task:
    settings, layout = job.settings, job.layout or Layout()
    if settings.src == "auto":
        found = recognise(place, job.layout)
        made.found[place.path] = str(found)
        settings, layout = replace(settings, src=found.format), found.layout
    if settings.clock is None:
        settings = replace(settings, clock=places.state(place).modified)
    return Task(place, "", layout, settings, limit=job.limit, memory=job.memory)


def _is_folder(job: Job) -> bool:
    several = len(job.inputs) > 1 or os.path.isdir(job.inputs[0])
    return several or job.output.endswith("/") or os.path.isdir(job.output)


def _renamed(name: str, task: Task) -> str:
    """The name of an output: that of its input, with the ending of the new format where it had that of the old one."""
    inner = places.bare(name)
    formats = (task.settings.src, task.settings.dst)
    old, new = (format.removeprefix(f"{resolve(format)[0].name}-") for format in formats)
    if task.layout.container == "streams" and inner.endswith(f".{old}"):
        return inner.removesuffix(old) + new + name[len(inner) :]
    return name


def convert_logs(job: Job, told: Callable[[Entry], None] = lambda entry: None) -> Summary:
    """Do a job; ``told`` of each input that is done, in the order in which they end.

    Raises ``FileNotFoundError``, ``ValueError`` (see :func:`plan`), :class:`OutputExists`; ``OSError`` where an output
    cannot be written; :class:`Unaccounted`. An input that cannot be read is in the summary, and the others are done.
    """
    made = plan(job)
    tasks = made.tasks
    manifest = Manifest(manifest_path(job), job)
    before = manifest.load() if job.resume else {}
    summary = Summary(failed=made.failed, found=made.found)
    todo: list[Task] = []
    done: dict[str, Entry] = {}
    for task in tasks:
        entry = before.get(task.place.path)
        if entry is not None and entry.output == task.output and entry.still_holds(task.place):
            done[task.place.path] = entry
            summary.skipped += 1
        elif not job.resume and not job.force and places.exists(task.output):
            raise OutputExists(f"{task.output} exists already")
        else:
            todo.append(task)
    for task in tasks:
        leftovers(task.output)
    manifest.begin([done[task.place.path] for task in tasks if task.place.path in done])
    with _runner(job) as start:
        for task, ended in _run(todo, job, start):
            if isinstance(ended, Exception):
                summary.failed[task.place.path] = str(ended)
                continue
            entry = _finish(task, ended)
            done[task.place.path] = entry
            manifest.add(entry)
            told(entry)
    summary.entries = [done[task.place.path] for task in tasks if task.place.path in done]
    for entry in summary.entries:
        summary.counts.add(entry.counts)
    fault = summary.counts.fault()
    if fault is not None:
        raise Unaccounted(fault)
    return summary


def manifest_path(job: Job) -> str:
    """Where the manifest of a job is."""
    return f"{job.output.rstrip('/')}/_manifest.jsonl" if _is_folder(job) else f"{job.output}.manifest.jsonl"


def _finish(task: Task, ended: list[tuple[Task, Done]]) -> Entry:
    """Give the outputs of a task, or of all its parts, their own names."""
    counts = Counts()
    for _, done in ended:
        counts.add(done.counts)
    state = places.state(task.place)
    if len(ended) == 1 and not ended[0][0].part:
        _rename(task.output)
        rejected = ended[0][1].rejects
        if rejected:
            _rename(task.output + SUFFIX)
    else:
        _join(task.output, [part.part for part, _ in ended])
        rejected = sum(done.rejects for _, done in ended)
        if rejected:
            _join(task.output + SUFFIX, [part.part for part, done in ended if done.rejects])
    if not rejected and places.exists(task.output + SUFFIX):
        # of a job before
        places.remove(task.output + SUFFIX)
    size = sum(done.size for _, done in ended)
    return Entry(
        task.place.path, state.size, state.version, places.digest(task.place), task.output, size, counts
    )


def _rename(path: str) -> None:
    places.rename(path + places.TEMPORARY, path)


def _join(path: str, marks: list[str]) -> None:
    """Put the outputs of parts one after another; those that are compressed are members of one file."""
    output = Output(path, plain=True)
    for mark in marks:
        output.append(mark)
    output.commit()


# ---- processes -------------------------------------------------------------------------------------------


_Start = Callable[[Task], "Future[Done]"]


@contextmanager
def _runner(job: Job) -> Iterator[_Start | None]:
    """What starts tasks beside this process; ``None`` where they run in it."""
    if job.jobs == 1:
        yield None
        return
    # whatever threads the caller has, a process that is started anew has none of their locks
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(job.jobs, context, initializer=_with_parent)
    try:
        yield lambda task: pool.submit(run, task)
    finally:
        pool.shutdown(cancel_futures=True)


def _with_parent() -> None:
    """A process beside another ends with it, even where that was killed."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run(
    tasks: list[Task], job: Job, start: _Start | None
) -> Iterator[tuple[Task, list[tuple[Task, Done]] | Exception]]:
    """Each task with what it did, as they end; or with why its input cannot be read."""
    if start is None:
        for task in tasks:
            try:
                yield task, [(task, run(task))]
            except places.InputFault as fault:
                yield task, fault
        return
    split = {task.place.path: _split(task, job) for task in tasks}
    futures = {start(part): (task, index) for task in tasks for index, part in enumerate(split[task.place.path])}
    ended: dict[str, dict[int, Any]] = {task.place.path: {} for task in tasks}
    for future in as_completed(futures):
        task, index = futures[future]
        found = ended[task.place.path]
        try:
            found[index] = future.result()
        except places.InputFault as fault:
            found[index] = fault
        if len(found) == len(split[task.place.path]):
            faults = [each for each in found.values() if isinstance(each, Exception)]
            if faults:
                leftovers(task.output)
                yield task, faults[0]
            else:
                yield task, [(part, found[i]) for i, part in enumerate(split[task.place.path])]


def _split(task: Task, job: Job) -> list[Task]:
    layout = task.layout
    whole = layout.container != "lines" or layout.units or job.limit is not None or task.place.remote
    if whole or "://" in task.output:
        return [task]
    try:
        size = os.path.getsize(task.place.path)
        if size < 2 * PART or places.compressed(task.place):
            return [task]
    except OSError:
        return [task]
    return parts(task, -(-size // PART), size)
