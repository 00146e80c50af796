"""How a command ends: the exit statuses, and what is said of an error."""

from __future__ import annotations

from enum import Enum

from translate import TranslateError, UnknownFormat


class Status(Enum):
    """Exit statuses. A fault is an error of the program itself."""

    FINE = 0
    FAILED = 1
    USAGE = 2
    FILES = 3
    NO_FORMAT = 4
    FAULT = 70
    INTERRUPTED = 130
    TERMINATED = 143

    @property
    def code(self) -> int:
        """The number that the process exits with."""
        return self.value


STATUSES = """\
exit status:
  0    fine; also where whoever reads the output has left (a closed pipe)
  1    the stream is broken, truncated, or reports a failure (all output before
       that is written), `check` found something, or a case of `conformance`
       failed
  2    wrong usage
  3    the input cannot be read or is of no known format, or the output cannot be
       written
  4    no such format
  70   a fault of the program itself, whatever the stream holds
  130  interrupted
  143  told to end (SIGTERM), where a job of logs was running
"""


class Terminated(KeyboardInterrupt):
    """The process was told to end, and cleans up as for an interruption."""


class Problem(Exception):
    """A command cannot go on, for a reason outside the stream. The text is the message to the user."""

    status: Status


class UsageError(Problem):
    """The arguments make no sense together."""

    status = Status.USAGE


class InputError(Problem):
    """The input cannot be read."""

    status = Status.FILES


class OutputError(Problem):
    """The output, or the report, cannot be written."""

    status = Status.FILES


def status_of(error: BaseException | None) -> Status:
    """The status of a command that ended in ``error``, or in none."""
    match error:
        case None | BrokenPipeError():
            return Status.FINE
        case Problem():
            return error.status
        case UnknownFormat():
            return Status.NO_FORMAT
        case TranslateError():
            return Status.FAILED
        case Terminated():
            return Status.TERMINATED
        case KeyboardInterrupt():
            return Status.INTERRUPTED
        case _:
            return Status.FAULT


def explain(error: BaseException) -> str | None:
    """One line for the user; ``None`` where there is nothing to say."""
    match error:
        case BrokenPipeError() | KeyboardInterrupt():
            return None
        case Problem() | UnknownFormat():
            text = str(error)
        case TranslateError():
            text = f"{type(error).__name__}: {error}"
        case _:
            text = f"internal error, {type(error).__name__}: {error}; `python -X dev -m translate` shows where"
    return one_line(text)


def one_line(text: str) -> str:
    """``text`` with all that is not printable escaped: messages quote input, which must not steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
