"""Docker's ``json-file``: ``{"log": "…\\n", "stream": "stdout", "time": "…"}``. A long line is in several records."""

from __future__ import annotations

from ...errors import DecodeError
from .printed import Piece, kind, record_of, records

_MEMBERS = {"log", "stream", "time"}


class _Docker:
    blanks = False

    def __call__(self, line: bytes) -> Piece:
        record = record_of(line, "log", "Docker")
        if not isinstance(record["log"], str):
            raise DecodeError("no record of Docker", expected="text in the member 'log'")
        return Piece(str(record.get("stream")), record["log"].encode("utf-8", "surrogatepass"), record)


def _begins(head: bytes) -> bool:
    found = list(records(head))
    return bool(found) and all(record is not None and record.keys() >= _MEMBERS for record in found)


DOCKER = kind("a log of Docker's", _begins, lambda strict: _Docker())
