"""The command that runs the conformance vectors."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ._files import STANDARD, Output
from ._status import Status, UsageError, one_line

if TYPE_CHECKING:
    from translate.conformance import Case, Problem


def conformance(args: Namespace) -> Status:
    """Run the vectors against a program, or against the library, and print what differs."""
    # pydantic takes its time to load, and no other command needs it
    from translate.conformance import VectorError, find_vectors, load_cases, run_library, run_program

    try:
        folder = find_vectors() if args.vectors is None else Path(args.vectors)
        cases = [case for file, case in load_cases(folder) if args.only in f"{file}/{case.id}"]
    except VectorError as error:
        raise UsageError(str(error)) from None
    if not cases:
        raise UsageError(f"no case has {args.only!r} in its file's name or its id")
    command = args.program
    problems = _at_once(partial(run_program, command=command), cases) if command else map(run_library, cases)
    failed = 0
    with Output(STANDARD) as target:
        try:
            for problem in problems:
                if problem is not None:
                    failed += 1
                    target.write(_told(problem).encode())
        except OSError as error:
            if not command or isinstance(error, BrokenPipeError):
                raise
            raise UsageError(f"cannot run {command[0]}: {error.strerror or error}") from None
        counts = Counter(case.verdict for case in cases)
        kinds = ", ".join(f"{counts[verdict]} {verdict}_" for verdict in "yni")
        target.write(f"{len(cases)} cases ({kinds}), {failed} failed\n".encode())
    return Status.FAILED if failed else Status.FINE


def _at_once(run: Callable[[Case], Problem | None], cases: Iterable[Case]) -> Iterator[Problem | None]:
    """Most of the time is spent in the processes."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            yield from pool.map(run, cases)
        finally:
            pool.shutdown(cancel_futures=True)


def _told(problem: Problem) -> str:
    case = problem.case
    text = (
        f"{case.id}: {case.about} ({case.rule})\n"
        f"  {problem.run}\n  expected: {problem.expected}\n  found: {problem.found}"
    )
    return "".join(f"{one_line(line)}\n" for line in text.split("\n"))
