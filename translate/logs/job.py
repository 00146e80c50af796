"""A whole job: many inputs, several processes, and what makes it possible to go on where it was ended.

1. Whatever ends a job, an output is there whole or not at all, and so is what was rejected of it: both are written
   under temporary names, and get their own before the manifest says that their input is done.
2. What a job writes depends on its inputs and settings alone, not on the number of processes, nor on how often it was
   ended and resumed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from . import outputs, places
from .guard import OutputExists, alone, names, refuse_existing
from .layout import Counts, Unaccounted
from .manifest import Entry, Manifest
from .outputs import Output
from .places import Place, identity
from .plan import Job, Plan, manifest_path, plan, stale
from .processes import Ended, run_all
from .rejects import SUFFIX
from .task import leftovers, unchanged
from .work import Done, ProgramFault, Task

_BATCH = 1 << 20
"""Bytes of outputs that wait until they are put on disk together; a job that is killed does them again."""
_TASKS = 64
"""So many outputs at most."""
_SECONDS = 1.0
"""So long at most, but for the last of them."""


@dataclass(slots=True)
class Summary:
    """What a job did. ``failed``: inputs that were not done, each with why; ``found``: what inputs were recognised as;
    ``skipped``: done before; ``faults``: streams and inputs at which the program failed, rather than they.
    """

    counts: Counts = field(default_factory=Counts)
    entries: list[Entry] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    found: dict[str, str] = field(default_factory=dict)
    skipped: int = 0
    faults: int = 0


def convert_logs(
    job: Job,
    told: Callable[[Entry], None] = lambda entry: None,
    made: Plan | None = None,
    seen: Callable[[int], None] | None = None,
) -> Summary:
    """Do a job; ``told`` of each input that is done, those first that were done before. ``made``: its plan, if known.
    ``seen`` is told how many bytes of all inputs are done, now and then.

    Raises what :func:`plan` raises, and :class:`OutputExists`, :class:`OtherJob`, :class:`Busy`; ``OSError`` where an
    output cannot be written, :class:`ProcessEnded`, :class:`Unaccounted`. An input that cannot be read, or at which the
    program fails, is in the summary, and the others are done. However it ends, no output is there in part, and none
    under a temporary name; where nothing was done, there is no manifest either.
    """
    made = made or plan(job)
    with alone(manifest_path(job)):
        return _convert(job, told, made, seen)


def _convert(job: Job, told: Callable[[Entry], None], made: Plan, seen: Callable[[int], None] | None) -> Summary:
    tasks = made.tasks
    manifest, done = left_of(job, made)
    todo = [task for task in tasks if task.place.path not in done]
    summary = Summary(failed=made.failed, found=made.found, skipped=len(done), faults=made.faults)
    leftovers(task.output for task in tasks)
    manifest.begin([done[task.place.path] for task in tasks if task.place.path in done])
    for entry in done.values():
        told(entry)
    try:
        with closing(run_all(todo, job.jobs, seen, sum(entry.size for entry in done.values()))) as running:
            for batch in _batches(running):
                finished = _finish_all(batch, summary)
                manifest.add(finished)
                for entry in finished:
                    done[entry.input] = entry
                    told(entry)
    finally:
        leftovers(task.output for task in tasks)
        manifest.end()
    summary.entries = [done[task.place.path] for task in tasks if task.place.path in done]
    for entry in summary.entries:
        summary.counts.add(entry.counts)
    summary.faults += summary.counts.faults
    wrong = summary.counts.fault()
    if wrong is not None:
        raise Unaccounted(wrong)
    return summary


def left_of(job: Job, made: Plan) -> tuple[Manifest, dict[str, Entry]]:
    """The manifest, and the inputs that are done already. Raises :class:`OutputExists`, :class:`OtherJob`."""
    path = manifest_path(job)
    manifest = Manifest(path, job.settings, job.layout, job.limit)
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


def _batches(running: Iterable[tuple[Task, Ended]]) -> Iterator[list[tuple[Task, Ended]]]:
    """What ended, several at once where each is small: putting one on disk takes as long as many."""
    batch: list[tuple[Task, Ended]] = []
    size, begun = 0, time.monotonic()
    try:
        for task, ended in running:
            batch.append((task, ended))
            size += 0 if isinstance(ended, Exception) else sum(done.size for _, done in ended)
            if size >= _BATCH or len(batch) >= _TASKS or time.monotonic() - begun > _SECONDS:
                whole, batch = batch, []
                yield whole
                size, begun = 0, time.monotonic()
    except Exception:
        # these are done, whatever ends the job
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _finish_all(batch: list[tuple[Task, Ended]], summary: Summary) -> list[Entry]:
    """Give the outputs of tasks their own names; the summary has those that failed."""
    good = [(task, ended) for task, ended in batch if not isinstance(ended, Exception)]
    # what is in parts is put together first
    whole = [(task.output, done) for task, ended in good for part, done in ended if not part.part]
    outputs.sync([path for path, _ in whole] + [path + SUFFIX for path, done in whole if done.rejects])
    found = []
    for task, ended in batch:
        try:
            if isinstance(ended, Exception):
                raise ended
            found.append(_finish(task, ended))
        except (places.InputFault, ProgramFault) as fault:
            summary.failed[task.place.path] = str(fault) + stale(task.output)
            summary.faults += isinstance(fault, ProgramFault)
    return found


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
    if not rejected and outputs.exists(task.output + SUFFIX):
        # of a job before
        outputs.remove(task.output + SUFFIX)
    if len(ended) == 1 and not ended[0][0].part:
        written, rejects = ended[0][1].digest, ended[0][1].rejects_digest
        outputs.commit(task.output)
        if rejected:
            outputs.commit(task.output + SUFFIX)
    else:
        written = _join(task.output, [part.part for part, _ in ended])
        rejects = _join(task.output + SUFFIX, [part.part for part, done in ended if done.rejects]) if rejected else ""
    return Entry(
        input=task.place.path,
        size=state.size,
        version=state.version,
        digest=digest,
        output=task.output,
        written=sum(done.size for _, done in ended),
        proof=_proof(task.output, written),
        rejects=_proof(task.output + SUFFIX, rejects) if rejected else "",
        counts=counts,
    )


def _join(path: str, marks: list[str]) -> str:
    """Put the outputs of parts one after another; those that are compressed are members of one file. Its digest."""
    output = Output(path, plain=True)
    for mark in marks:
        output.append(mark)
    output.commit()
    return output.digest


def _proof(path: str, digest: str) -> str:
    """As :func:`.places.proof`, of what was just written."""
    place = Place(path, "")
    return (place.remote and places.state(place).version) or digest
