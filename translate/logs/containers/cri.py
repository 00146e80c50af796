"""Logs of the Kubernetes CRI: ``2026-01-01T00:00:00.000000000Z stdout F …``; ``P`` is a line in part."""

from __future__ import annotations

import re

from ...errors import DecodeError
from .printed import Piece, kind, whole_lines

_LINE = re.compile(rb"(\d{4}-\d\d-\d\dT\S+) (stdout|stderr) ([FP](?::\S*)?)(?: (.*))?", re.DOTALL)


class _Cri:
    blanks = False

    def __call__(self, line: bytes) -> Piece:
        found = _LINE.fullmatch(line)
        if found is None:
            raise DecodeError("no line of the CRI", expected="a time, a channel, F or P, and what was printed")
        channel = found[2].decode()
        data = (found[4] or b"") + b"\n" * found[3].startswith(b"F")
        return Piece(channel, data, {"time": found[1].decode("utf-8", "replace"), "stream": channel})


def _begins(head: bytes) -> bool:
    found = whole_lines(head)
    return bool(found) and all(map(_LINE.fullmatch, found))


CRI = kind("a log of the Kubernetes CRI", _begins, lambda strict: _Cri())
