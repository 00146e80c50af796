"""The journal of systemd as JSON, ``journalctl -o json``: ``{"MESSAGE": "…", "_SYSTEMD_UNIT": "…", …}``.

1. A message that is no text is a list of its bytes; one of several values is a list of such. A long one is ``null``,
   but with ``--all``.
2. The journal keeps no blank lines: they are put back behind each unit that is whole. A line that was too long for it
   is in several records.
3. A channel is an output of a process: ``_STREAM_ID``; where that is not told, its unit and number.
"""

from __future__ import annotations

from typing import Any

from ...errors import DecodeError
from .printed import Gaps, Piece, kind, record_of, records

_MARKS = {"MESSAGE", "__REALTIME_TIMESTAMP"}
_PROCESS = ("_SYSTEMD_UNIT", "SYSLOG_IDENTIFIER", "_PID")


class _Journald:
    blanks = False

    def __init__(self) -> None:
        self._gaps: dict[str, Gaps] = {}
        self._parts: dict[str, bytes] = {}

    def __call__(self, line: bytes) -> Piece | None:
        record = record_of(line, "MESSAGE", "the journal")
        data = _message(record["MESSAGE"])
        channel = str(record.get("_STREAM_ID") or "/".join(str(record.get(name)) for name in _PROCESS))
        data = self._parts.pop(channel, b"") + data
        if record.get("_LINE_BREAK") == "line-max":
            self._parts[channel] = data
            return None
        missing = self._gaps.setdefault(channel, Gaps()).before(data)
        return Piece(channel, b"\n" * missing + data + b"\n", record)


def _message(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if value is None:
        raise DecodeError("a message that is left out for its length", expected="text: journalctl --all -o json")
    if isinstance(value, list) and all(type(byte) is int and 0 <= byte < 256 for byte in value):
        return bytes(value)
    if isinstance(value, list) and not any(type(each) is int for each in value):
        return b"\n".join(map(_message, value))
    raise DecodeError("a message of the journal that is neither text nor bytes")


def _begins(head: bytes) -> bool:
    found = list(records(head))
    return bool(found) and all(record is not None and record.keys() >= _MARKS for record in found)


JOURNALD = kind("the journal of systemd", _begins, lambda strict: _Journald())
