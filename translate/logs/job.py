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
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from glob import has_magic
from multiprocessing.connection import wait
from typing import Any

from ..registry import resolve
from . import inputs, places
from .grouping import MEMORY
from .guard import BadPlan, Claims, OutputExists, alone, names, refuse_existing
from .layout import Counts, Layout, Settings, Unaccounted
from .manifest import Entry, Manifest
from .places import Output, identity
from .recognise import recognise
from .rejects import SUFFIX
from .task import Done, Task, leftovers, parts, run, unchanged

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


class ProcessEnded(Exception):
    """One of the job's processes ended without a word."""


@dataclass(slots=True)
class Plan:
    """The tasks of a job, and the inputs that cannot be read, each with why."""

    tasks: list[Task] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    found: dict[str, str] = field(default_factory=dict)
    """What inputs were recognised as."""
    names: dict[str, str] = field(default_factory=dict)
    """Of the inputs that cannot be read, below what was asked for."""


def plan(job: Job) -> Plan:
    """What a job would do. Raises ``OSError`` or ``InputFault`` where inputs cannot be found, :class:`BadPlan`."""
    folder = is_folder(job)
    _check_apart(job)
    made = tasks_of(job)
    output = places.plain(job.output)
    claims = Claims([*(task.place.path for task in made.tasks), *made.failed], manifest_path(job))
    for index, task in enumerate(made.tasks):
        place = task.place
        path = f"{output.rstrip('/')}/{_renamed(place.name, task)}" if folder else output
        claims.claim(place.path, names(path))
        made.tasks[index] = replace(task, output=path)
    for source, name in made.names.items():
        made.failed[source] += _stale(f"{output.rstrip('/')}/{name}" if folder else output)
    return made


def _stale(output: str) -> str:
    """What is said of an output whose input cannot be read."""
    return f"; {output} is there from before" if places.exists(output) else ""


def tasks_of(job: Job) -> Plan:
    """The tasks of a job, their outputs yet to be named."""
    made = Plan()
    for place in inputs.find(job.inputs):
        try:
            made.tasks.append(_task(job, place, made))
        except places.InputFault as fault:
            made.failed[place.path] = str(fault)
            made.names[place.path] = place.name
    return made


def _check_apart(job: Job) -> None:
    """An output within an input would be one of the inputs the next time."""
    for asked in job.inputs:
        if not inputs.is_one(asked) and not has_magic(asked):
            inside = f"{identity(job.output)}/".startswith(f"{identity(asked)}/")
            if inside:
                raise BadPlan(f"the output {job.output} is within the input {asked}")


def _task(job: Job, place: places.Place, made: Plan) -> Task:
    settings, layout = job.settings, job.layout or Layout()
    state = places.state(place)
    if layout.container == "records":
        layout = replace(layout, container="parquet" if places.is_parquet(place) else "lines")
    if settings.src == "auto":
        found = recognise(place, job.layout and layout)
        made.found[place.path] = str(found)
        settings, layout = replace(settings, src=found.format), found.layout
    if layout.container == "streams" and resolve(settings.dst)[1].objects:
        raise BadPlan(f"{settings.dst} is one of objects, which records alone hold")
    if settings.clock is None:
        settings = replace(settings, clock=state.modified)
    return Task(place, "", layout, settings, limit=job.limit, memory=job.memory, state=state)


def is_folder(job: Job) -> bool:
    """Whether outputs are in a folder: the same before and after it was made."""
    output = places.plain(job.output)
    several = len(job.inputs) > 1 or not inputs.is_one(job.inputs[0])
    return several or output.endswith("/") or os.path.isdir(output)


def _renamed(name: str, task: Task) -> str:
    """The name of an output: that of its input, with the ending of the new format where it had that of the old one."""
    inner = places.bare(name)
    formats = (task.settings.src, task.settings.dst)
    old, new = (format.removeprefix(f"{resolve(format)[0].name}-") for format in formats)
    if task.layout.container == "streams" and inner.endswith(f".{old}"):
        return inner.removesuffix(old) + new + name[len(inner) :]
    return name


def convert_logs(job: Job, told: Callable[[Entry], None] = lambda entry: None, made: Plan | None = None) -> Summary:
    """Do a job; ``told`` of each input that is done, those first that were done before. ``made``: its plan, if known.

    Raises what :func:`plan` raises, and :class:`OutputExists`, :class:`OtherJob`, :class:`Busy`; ``OSError`` where an
    output cannot be written, :class:`ProcessEnded`, :class:`Unaccounted`. An input that cannot be read is in the
    summary, and the others are done. However it ends, no output is there in part, and none under a temporary name.
    """
    made = made or plan(job)
    with alone(manifest_path(job)):
        return _convert(job, told, made)


def _convert(job: Job, told: Callable[[Entry], None], made: Plan) -> Summary:
    tasks = made.tasks
    manifest, done = left_of(job, made)
    todo = [task for task in tasks if task.place.path not in done]
    summary = Summary(failed=made.failed, found=made.found, skipped=len(done))
    leftovers(task.output for task in tasks)
    manifest.begin([done[task.place.path] for task in tasks if task.place.path in done])
    for entry in done.values():
        told(entry)
    try:
        with _runner(job) as start:
            for task, ended in _run(todo, job, start):
                try:
                    if isinstance(ended, Exception):
                        raise ended
                    entry = _finish(task, ended)
                except places.InputFault as fault:
                    summary.failed[task.place.path] = str(fault) + _stale(task.output)
                    continue
                done[task.place.path] = entry
                manifest.add(entry)
                told(entry)
    except BaseException:
        leftovers(task.output for task in tasks)
        raise
    summary.entries = [done[task.place.path] for task in tasks if task.place.path in done]
    for entry in summary.entries:
        summary.counts.add(entry.counts)
    wrong = summary.counts.fault()
    if wrong is not None:
        raise Unaccounted(wrong)
    return summary


def left_of(job: Job, made: Plan) -> tuple[Manifest, dict[str, Entry]]:
    """The manifest, and the inputs that are done already. Raises :class:`OutputExists`, :class:`OtherJob`."""
    path = manifest_path(job)
    manifest = Manifest(path, job)
    before = manifest.load() if job.resume else {}
    if not manifest.found and not job.force:
        refuse_existing([path, *(name for task in made.tasks for name in names(task.output))])
    asked = {identity(task.place.path) for task in made.tasks}
    manifest.others = [entry for known, entry in before.items() if known not in asked]
    theirs = {identity(entry.output): entry for entry in manifest.others}
    done: dict[str, Entry] = {}
    for task in made.tasks:
        other = theirs.get(identity(task.output))
        if other is not None:
            raise OutputExists(f"{task.output} is the output of {other.input} already")
        entry = before.get(identity(task.place.path))
        if entry is not None and identity(entry.output) == identity(task.output) and entry.still_holds(task.place):
            done[task.place.path] = entry
    return manifest, done


def manifest_path(job: Job) -> str:
    """Where the manifest of a job is."""
    output = places.plain(job.output)
    return f"{output.rstrip('/')}/_manifest.jsonl" if is_folder(job) else f"{output}.manifest.jsonl"


def _finish(task: Task, ended: list[tuple[Task, Done]]) -> Entry:
    """Give the outputs of a task, or of all its parts, their own names."""
    state = task.state or places.state(task.place)
    # that of an object in a store would be a second download
    digest = "" if task.place.remote and state.version else places.digest(task.place)
    unchanged(task)
    counts = Counts()
    for _, done in ended:
        counts.add(done.counts)
    rejected = sum(done.rejects for _, done in ended)
    if not rejected and places.exists(task.output + SUFFIX):
        # of a job before
        places.remove(task.output + SUFFIX)
    if len(ended) == 1 and not ended[0][0].part:
        _rename(task.output)
        if rejected:
            _rename(task.output + SUFFIX)
    else:
        _join(task.output, [part.part for part, _ in ended])
        if rejected:
            _join(task.output + SUFFIX, [part.part for part, done in ended if done.rejects])
    size = sum(done.size for _, done in ended)
    stored = places.size(task.output) or 0
    return Entry(task.place.path, state.size, state.version, digest, task.output, size, stored, counts)


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
    split = {task.place.path: _split(task, job) for task in tasks}
    if start is None:
        for task in tasks:
            try:
                yield task, [(part, run(part)) for part in split[task.place.path]]
            except places.InputFault as fault:
                leftovers([task.output])
                yield task, fault
        return
    futures = {start(part): (task, index) for task in tasks for index, part in enumerate(split[task.place.path])}
    ended: dict[str, dict[int, Any]] = {task.place.path: {} for task in tasks}
    for future in as_completed(futures):
        task, index = futures.pop(future)
        found = ended[task.place.path]
        try:
            found[index] = future.result()
        except places.InputFault as fault:
            found[index] = fault
        except BrokenProcessPool:
            raise ProcessEnded("a process of the job was ended, for lack of memory perhaps") from None
        if len(found) == len(split[task.place.path]):
            faults = [each for each in found.values() if isinstance(each, Exception)]
            if faults:
                leftovers([task.output])
                yield task, faults[0]
            else:
                yield task, [(part, found[i]) for i, part in enumerate(split[task.place.path])]


def _split(task: Task, job: Job) -> list[Task]:
    """The parts of a task, or itself."""
    layout = task.layout
    whole = layout.container != "lines" or layout.units or job.limit is not None or task.place.remote
    if whole or "://" in task.output or task.state is None or task.state.size < 2 * PART:
        return [task]
    # what is compressed is so part by part, whoever does them: then all do it alike
    if job.jobs == 1 and places.bare(task.output) == task.output:
        return [task]
    try:
        return [task] if places.compressed(task.place) else parts(task, -(-task.state.size // PART), task.state.size)
    except places.InputFault:
        # it is met again, where the task is run
        return [task]
