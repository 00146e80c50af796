"""One input that is to be converted, or a part of one, and what became of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from .grouping import MEMORY
from .layout import Counts, Layout, Settings
from .places import RECORD, InputFault, MissingExtra, Place, State


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
    record: int = RECORD
    state: State | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What was done: under temporary names, until the job gives them their own. ``size``: bytes of the output, before
    compression; the digests are of the files.
    """

    counts: Counts
    rejects: int
    size: int
    digest: str
    rejects_digest: str


class Sink(Protocol):
    """What takes the bytes of an output."""

    def write(self, data: bytes) -> None:
        """Take more of them."""
        ...


Seen: TypeAlias = "Callable[[int], None] | None"
"""What is told the place in an input, now and then."""


class ProgramFault(Exception):
    """The program failed at an input, whatever that holds. The text says how."""


@contextmanager
def faults_of_the_program(*others: type[Exception]) -> Iterator[None]:
    """Exceptions that nothing foresees become :class:`ProgramFault`; ``others`` are foreseen, too. Under ``-X dev``
    they stay as they are.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, (InputFault, MissingExtra, OSError, *others)) or sys.flags.dev_mode:
            raise
        raise ProgramFault(f"internal error, {type(error).__name__}: {error}") from error
