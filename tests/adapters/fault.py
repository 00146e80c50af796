"""One fault, what is expected of it, and the words for that in ``docs/faults.md``."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tests.adapters.faulty import Step
from translate.adapters.observe import Outcome

Ends: TypeAlias = Literal["whole", "failure unit", "status", "passed", "cut", "text", "nothing", "gone"]
"""What the client gets: the whole stream; one that ends in a failure unit; a failure as JSON, with a status; what the
upstream said, as it is; a part of an answer; words of the server; nothing; nothing more, for it left.
"""
LEVELS = {"finished": logging.DEBUG, "passed": logging.DEBUG, "disconnected": logging.INFO}
"""The level of the line of a stream; of all others it is a warning."""


@dataclass(frozen=True)
class Fault:
    """A fault, and what is expected of it."""

    what: str
    steps: Sequence[Step] | Literal["refuse", "no answer"]
    """What the upstream does."""
    ends: Ends
    status: int | None = 200
    """``None``: none was sent."""
    message: str = ""
    """The beginning of what a failure says, or of what is passed on."""
    code: int = 502
    """Of a failure unit."""
    outcome: Outcome | None = None
    """``None``: there was no stream."""
    failure: str = ""
    """What it is due to, as the log has it: its type, first."""
    upstream: Literal["closed", "not connected"] = "closed"
    client: Literal["reads", "stalls", "leaves"] = "reads"
    request: bytes = b"POST /v1/chat HTTP/1.1\r\nhost: h\r\ncontent-length: 2\r\n\r\n{}"
    logged: tuple[tuple[str, str, str], ...] = ()
    """Logger, level and beginning of lines beside those that every request has."""
    bare: bool = False
    """Whether no unit comes before the failure unit."""
    refused: bool = False
    """Whether the sidecar did not forward the request."""

    @property
    def asked(self) -> bool:
        """Whether the upstream was asked."""
        return self.outcome is not None


HEAD = """\
# Faults

What happens when an upstream or a client misbehaves: measured on the sidecar, in both directions between
`gateway-sse` and `unievent-sse`. `tests/adapters/faults.py` holds the table as data, `tests/adapters/test_faults.py`
runs each row, and `python -m tests.adapters.faults` prints this page. Times are short there, so that the tests are.

**Seen.** A failure before the first unit has an HTTP status and a body of JSON: the failure unit of the client's
format. A failure after it is that unit at the end of the stream; all that came before it is there. Where the answer is
no stream, and where the client does not read, the connection is closed amid the body: HTTP/1.1 tells the client so, by
the chunk or the length that is missing; a client of HTTP/1.0, to which the end of a connection is that of a body
without a length, is not told. **Logged.** Each stream has one line of the logger `translate.adapters`, shown here
without its formats and figures; the command leaves it to the line of its request. Each request that has a head has one
line of `translate.sidecar`, at `INFO`: its id, method, status, outcome and seconds. Other lines are shown. None of them
holds content, and none has a traceback.
**Counted.** `Stats.outcome` and the type of `Stats.failure`.
**Upstream.** Its connection is closed, for a stream before its outcome is told; this is with `--keep-upstream 0`, else
one whose answer ended clean is kept for the next request.

An application that answers with `StreamResponse` has the same, with two differences. The waits for its clients are
those of its server. Where an answer has to be cut, it raises, and servers log that as an error of the application.
"""


def printed(faults: Mapping[str, Sequence[Fault]]) -> str:
    """The page."""
    lines = [HEAD]
    for title, rows in faults.items():
        subject = "The client" if title == "The client" else "The upstream"
        lines += [f"## {title}", "", f"| {subject} … | Seen | Logged | Counted | Upstream |", "| --- " * 5 + "|"]
        cells = ((row.what, _seen(row), _logged(row), _counted(row), _upstream(row)) for row in rows)
        lines += [f"| {' | '.join(each)} |" for each in cells]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _seen(row: Fault) -> str:
    said = f"“{row.message}{'…' if row.message.endswith(('JSON', 'encoding')) else ''}”"
    match row.ends:
        case "whole":
            return "200, and the whole stream."
        case "failure unit":
            before = "200, and" if row.bare else "200, what came before, and"
            return f"{before} the failure unit {row.code}, {said}."
        case "status":
            return f"{row.status}, {said}."
        case "passed":
            return f"{row.status}, and the body as it is."
        case "cut":
            return f"{row.status}, what came before, and the connection is closed amid the body."
        case "text":
            return f"{row.status}, and the connection is closed."
        case "nothing":
            return "No answer, and the connection is closed."
        case "gone":
            return "It has left."


def _logged(row: Fault) -> str:
    lines = []
    if row.outcome is not None:
        level = logging.getLevelName(LEVELS.get(row.outcome, logging.WARNING))
        lines.append(f"`{level}` {row.outcome}{f' ({row.failure})' if row.failure else ''}")
    lines += [f"`{level}` of `{logger}`: {message.rstrip('.')}" for logger, level, message in row.logged]
    if not lines:
        return "The line of the request." if row.refused else "Nothing."
    return "; ".join(lines) + "."


def _counted(row: Fault) -> str:
    if row.outcome is None:
        return "No: there is no stream."
    failure = row.failure.partition(",")[0]
    return f"`{row.outcome}`, `{failure}`." if failure else f"`{row.outcome}`."


def _upstream(row: Fault) -> str:
    if row.outcome is None or row.upstream == "not connected":
        return "Not connected."
    return "Closed."
