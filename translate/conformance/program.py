"""Runs a case against a program: standard input to standard output, the exit status 0 for a whole stream, else 1."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from threading import Timer

from .case import Case
from .verdict import Outcome, Problem, judge

_SECONDS = 60
_DRIBBLE = 5
_PLACE = re.compile(r"\{(from|to|loss|errors|strict|model|clock)\}")
_WORD = re.compile(r"\w+")


def run_program(case: Case, command: Sequence[str]) -> Problem | None:
    """What goes wrong first with a case, if anything: with its input in one write, then in many small ones.

    Raises ``OSError`` where the program cannot be started. An ``i_`` case has nothing that could go wrong.
    """
    data = b"".join(case.pieces())
    small = [data[at : at + _DRIBBLE] for at in range(0, len(data), _DRIBBLE)]
    for run, writes in (("in one write", [data]), ("in small writes", small)):
        outcome = _converse(fill(command, case), writes)
        if outcome is None:
            problem: Problem | None = Problem(case, run, "exit status 0 or 1", "another, or none in time")
        else:
            problem = judge(case, run, outcome)
        if problem is not None and case.verdict != "i":
            return problem
    return None


def fill(command: Sequence[str], case: Case) -> list[str]:
    """The command line, its placeholders replaced."""
    values = {
        "from": case.source,
        "to": case.target,
        "loss": case.loss,
        "errors": case.errors,
        "strict": "strict" if case.strict else "lenient",
        "model": ",".join(f"{name}={value}" for name, value in case.model.items()),
        "clock": str(case.clock),
    }
    return [_PLACE.sub(lambda place: values[place[1]], argument) for argument in command]


def _converse(command: list[str], writes: list[bytes]) -> Outcome | None:
    with TemporaryFile() as out, TemporaryFile() as err:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=err, bufsize=0)
        timer = Timer(_SECONDS, process.kill)
        timer.start()
        try:
            assert process.stdin is not None
            # a program that has met an error need not read the rest
            with suppress(BrokenPipeError), process.stdin as stdin:
                for data in writes:
                    stdin.write(data)
            status = process.wait()
        finally:
            timer.cancel()
        out.seek(0)
        err.seek(0)
        if status not in (0, 1):
            return None
        return Outcome(out.read(), status == 0, _codes(err.read().decode("utf-8", "replace")))


def _codes(errors: str) -> frozenset[str] | None:
    """What the error may be called: the ``code`` of a last line that is JSON, or any word."""
    last = errors.strip().rpartition("\n")[2]
    with suppress(ValueError, KeyError, TypeError):
        return frozenset({str(json.loads(last)["code"])})
    return frozenset(_WORD.findall(errors)) or None
