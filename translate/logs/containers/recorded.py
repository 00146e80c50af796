"""Lines as simple recorders write them: a time stamp before each line, or ``data:`` lines with no blank lines between.

``2026-01-01T00:00:00.123Z data: {…}``; the stamp is RFC 3339 or ISO 8601, a clock, seconds or milliseconds of Unix
time, or that of syslog, in brackets or not.

1. A stamp is cut off with one space or tab behind it.
2. Where blank lines were left out, lenient mode puts one behind each unit that is whole; strict mode refuses the file.
"""

from __future__ import annotations

import re

from ..places import InputFault
from .printed import Gaps, Piece, kind, whole_lines

_STAMP = re.compile(
    rb"(\[?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?"
    rb"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?"
    rb"|\d\d?:\d\d:\d\d(?:[.,]\d+)?"
    rb"|\+?\d+\.\d+s?|\d{9,19})\]?:?)(?:[ \t](.*))?",
    re.DOTALL,
)
_FIELD = re.compile(rb"(?:data|event|id|retry):|:|\{|\[")


class _Recorded:
    blanks = True

    def __init__(self, strict: bool) -> None:
        self._strict = strict
        self._gaps = Gaps()

    def __call__(self, line: bytes) -> Piece:
        found = _STAMP.fullmatch(line)
        text = line if found is None else found[2] or b""
        missing = self._gaps.before(text)
        if missing and self._strict:
            raise InputFault("it has data: lines without a blank line between them: --lenient reads each as a unit")
        record = {"time": None if found is None else found[1].decode("utf-8", "replace")}
        return Piece("", b"\n" * missing + text + b"\n", record)


def _begins(head: bytes) -> bool:
    found = whole_lines(head)
    stamps = [_STAMP.fullmatch(line) for line in found]
    if found and all(stamps):
        return any(_FIELD.match(stamp[2] or b"") for stamp in stamps if stamp)
    # without stamps: units, and no blank line before the last of them
    gaps = Gaps()
    data = sum(line.startswith(b"data:") for line in found)
    whole = all(_FIELD.match(line) and not line.startswith((b"{", b"[")) for line in found)
    blanks = any(not line.strip() for line in head.rstrip().splitlines())
    return data > 1 and whole and not blanks and sum(map(gaps.before, found)) > 0


RECORDED = kind("lines of a recorder", _begins, _Recorded)
