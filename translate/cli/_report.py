"""The report of a conversion as JSON lines: one a finding, and a summary as the last."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from translate import Report, TranslateError, jsontext

from ._files import Input, Output
from ._status import OutputError, explain, status_of

_KINDS = ("predicted", "losses", "guesses", "repairs")
_PLACE = ("format", "unit", "offset", "state", "excerpt", "expected", "pending")


@contextmanager
def reporting(path: str | None, source: Input, target: Output) -> Iterator[Report | None]:
    """A report that is written to ``path`` when the block ends, however it ends; none without a path."""
    if path is None:
        yield None
        return
    report = Report()
    with Output(path, source, target, errors=True) as log:
        log.clear()
        try:
            yield report
        except BaseException as error:
            with suppress(OutputError, BrokenPipeError):  # the error that is there already is the one to tell
                log.write(_lines(report, source, target, error))
            raise
        log.write(_lines(report, source, target, None))


def _lines(report: Report, source: Input, target: Output, error: BaseException | None) -> bytes:
    lines: list[dict[str, Any]] = [
        {"kind": kind, **finding.members()} for kind in _KINDS for finding in getattr(report, kind)
    ]
    counts: dict[str, dict[str, int]] = {kind: {} for kind in _KINDS}
    for (kind, field), count in report.counts.items():
        counts[kind][field] = count
    lines.append(
        {
            "kind": "summary",
            "status": status_of(error).code,
            "error": None if error is None else _error(error),
            "bytes_read": source.size,
            "bytes_written": target.size,
            "counts": counts,
        }
    )
    return b"".join(jsontext.dumps_strict(line) + b"\n" for line in lines)


def _error(error: BaseException) -> dict[str, Any]:
    said: dict[str, Any] = {"type": type(error).__name__, "message": explain(error)}
    if isinstance(error, TranslateError):
        said["message"] = error.what
        said |= {name: getattr(error, name) for name in _PLACE}
    return said
