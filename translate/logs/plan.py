"""What a job would do: its inputs, what each is, and where its output goes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from glob import has_magic

from ..errors import UnknownFormat
from ..registry import resolve
from . import inputs, outputs, places
from .containers import CONTAINERS, of_records
from .grouping import MEMORY
from .guard import BadPlan, Claims, names, refuse_special
from .layout import RECORDS, Layout, Settings
from .places import RECORD, identity
from .recognise import recognise
from .work import ProgramFault, Task, faults_of_the_program

_HEAD = 1 << 12


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
    ``record``   bytes of a record's line; a longer one is rejected
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
    record: int = RECORD


@dataclass(slots=True)
class Plan:
    """The tasks of a job, and the inputs that cannot be read, each with why."""

    tasks: list[Task] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    found: dict[str, str] = field(default_factory=dict)
    """What inputs were recognised as."""
    names: dict[str, str] = field(default_factory=dict)
    """Of the inputs that cannot be read, below what was asked for."""
    faults: int = 0
    """Of these, those at which the program failed."""


def plan(job: Job) -> Plan:
    """What a job would do. Raises ``OSError`` or ``InputFault`` where inputs cannot be found, :class:`BadPlan`."""
    folder = is_folder(job)
    _check_apart(job)
    made = tasks_of(job)
    output = places.plain(job.output)
    refuse_special([manifest_path(job)])
    claims = Claims([*(task.place.path for task in made.tasks), *made.failed], manifest_path(job))
    for index, task in enumerate(made.tasks):
        place = task.place
        path = f"{output.rstrip('/')}/{_renamed(place.name, task)}" if folder else output
        claims.claim(place.path, names(path))
        refuse_special(names(path))
        made.tasks[index] = replace(task, output=path)
    for source, name in made.names.items():
        made.failed[source] += stale(f"{output.rstrip('/')}/{name}" if folder else output)
    return made


def stale(output: str) -> str:
    """What is said of an output whose input cannot be read."""
    return f"; {output} is there from before" if outputs.exists(output) else ""


def tasks_of(job: Job) -> Plan:
    """The tasks of a job, their outputs yet to be named."""
    made = Plan()
    for place in inputs.find(job.inputs):
        try:
            with faults_of_the_program(BadPlan, UnknownFormat):
                made.tasks.append(_task(job, place, made))
        except (places.InputFault, ProgramFault) as fault:
            made.failed[place.path] = str(fault)
            made.names[place.path] = place.name
            made.faults += isinstance(fault, ProgramFault)
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
        with places.reading(place) as file:
            found = of_records(file.read(_HEAD))
        layout = replace(layout, container="parquet" if place.path.endswith(".parquet") else found)
    if settings.src == "auto":
        known = recognise(place, job.layout and layout)
        made.found[place.path] = str(known)
        settings, layout = replace(settings, src=known.format), known.layout
    check(layout, settings, place.path)
    if settings.clock is None:
        settings = replace(settings, clock=state.modified)
    return Task(place, "", layout, settings, limit=job.limit, memory=job.memory, record=job.record, state=state)


def check(layout: Layout, settings: Settings, path: str) -> None:
    """Raises :class:`BadPlan` where a container cannot be converted as it is asked for."""
    kind = CONTAINERS[layout.container]
    if layout.container not in RECORDS and resolve(settings.dst)[1].objects:
        raise BadPlan(f"{settings.dst} is one of objects, which records alone hold")
    if layout.container == "streams" and settings.where is not None:
        raise BadPlan(f"--where chooses among records, and {path} holds {kind.title}")


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


def manifest_path(job: Job) -> str:
    """Where the manifest of a job is."""
    output = places.plain(job.output)
    return f"{output.rstrip('/')}/_manifest.jsonl" if is_folder(job) else f"{output}.manifest.jsonl"
