"""The tasks of a job, done in its own process or in several beside it."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from multiprocessing.connection import wait
from typing import TypeAlias

from . import places
from .task import leftovers, parts, run
from .work import Done, ProgramFault, Seen, Task

PART = 16 * 1024 * 1024
"""Bytes from which JSON lines are taken in parts."""

Ended: TypeAlias = "list[tuple[Task, Done]] | Exception"
"""The parts of a task with what each did; or why its input cannot be read, or how the program failed at it."""
_Running: TypeAlias = "Generator[tuple[Task, Ended], None, None]"


class ProcessEnded(Exception):
    """One of the job's processes ended without a word."""


def run_all(tasks: list[Task], jobs: int, seen: Seen, before: int) -> _Running:
    """Each task with what it did, as they end. ``seen`` is told how many bytes of all are done, ``before`` of others.

    Raises ``OSError`` where an output cannot be written, and :class:`ProcessEnded`.
    """
    split = [(task, _split(task, jobs)) for task in tasks]
    with closing(_one_by_one(split, seen, before) if jobs == 1 else _side_by_side(split, jobs, seen, before)) as done:
        for task, ended in done:
            if isinstance(ended, Exception):
                leftovers([task.output])
            yield task, ended


def _one_by_one(split: list[tuple[Task, list[Task]]], seen: Seen, before: int) -> _Running:
    for task, pieces in split:
        here = None if seen is None else _from(before, seen)
        ended: Ended
        try:
            ended = [(part, run(part, here)) for part in pieces]
        except (places.InputFault, ProgramFault) as fault:
            ended = fault
        yield task, ended
        before += _size(task)
        if seen is not None:
            seen(before)


def _from(before: int, seen: Callable[[int], None]) -> Callable[[int], None]:
    return lambda place: seen(before + place)


def _side_by_side(split: list[tuple[Task, list[Task]]], jobs: int, seen: Seen, before: int) -> _Running:
    ended: list[dict[int, Done | Exception]] = [{} for _ in split]
    with _pool(jobs) as pool:
        places_of = ((at, index) for at, (_, pieces) in enumerate(split) for index in range(len(pieces)))
        futures = {pool.submit(run, split[at][1][index]): (at, index) for at, index in places_of}
        for future in as_completed(futures):
            at, index = futures.pop(future)
            (task, pieces), found = split[at], ended[at]
            try:
                found[index] = future.result()
            except (places.InputFault, ProgramFault) as fault:
                found[index] = fault
            except BrokenProcessPool:
                raise ProcessEnded("a process of the job was ended, for lack of memory perhaps") from None
            before += _size(pieces[index])
            if seen is not None:
                seen(before)
            if len(found) == len(pieces):
                faults = [each for each in found.values() if isinstance(each, Exception)]
                done = [(part, each) for i, part in enumerate(pieces) if isinstance(each := found[i], Done)]
                yield task, faults[0] if faults else done


def _size(part: Task) -> int:
    """Bytes of an input that a task, or a part of one, reads."""
    whole = part.state.size if part.state is not None else 0
    return (whole if part.end is None else part.end) - part.start


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    # whatever threads the caller has, a process that is started anew has none of their locks
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(jobs, context, initializer=_with_parent)
    try:
        yield pool
    except BaseException:
        # what they do is given up: it is not waited for
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
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


def _split(task: Task, jobs: int) -> list[Task]:
    """The parts of a task, or itself."""
    layout = task.layout
    whole = layout.container != "lines" or layout.units or task.limit is not None
    whole = whole or task.place.remote or bool(task.place.archive)
    if whole or "://" in task.output or task.state is None or task.state.size < 2 * PART:
        return [task]
    # what is compressed is so part by part, whoever does them: then all do it alike
    if jobs == 1 and places.bare(task.output) == task.output:
        return [task]
    try:
        return [task] if places.is_compressed(task.place) else parts(task, -(-task.state.size // PART), task.state.size)
    except places.InputFault:
        # it is met again, where the task is run
        return [task]
