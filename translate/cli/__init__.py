"""The command line ``translate-streams``: convert, check and assemble streams, and list the formats."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from ._parser import PROGRAM, build_parser
from ._status import Status, explain, status_of

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status (``translate-streams --help`` lists them).

    ``argv``: the arguments after the program's name, those of the process by default. What goes wrong is one message
    on standard error, never a traceback; under ``python -X dev`` faults of the program itself are raised.
    """
    try:
        return _run(argv)
    except SystemExit as left:  # argparse leaves by itself after help, and after wrong usage
        return int(left.code or 0)
    except BaseException as error:
        status = status_of(error)
        if status is Status.FAULT and sys.flags.dev_mode:
            raise
        message = explain(error)
        if message is not None and sys.stderr is not None:
            with suppress(OSError):
                print(f"{PROGRAM}: {message}", file=sys.stderr)
        return status.code
    finally:
        _settle()


def _run(argv: Sequence[str] | None) -> int:
    parser = build_parser()
    args = parser.parse_args(argv)
    if args.run is None:
        parser.print_help(sys.stderr)
        return Status.USAGE.code
    status: Status = args.run(args)
    return status.code


def _settle() -> None:
    """Flush the standard streams now: left to the interpreter's exit, one that is closed makes a noise of its own."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None:
            continue
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
