"""The log of the sidecar, which nobody who asks much can fill."""

from __future__ import annotations

import logging
from time import monotonic

_KINDS = 1000
"""Kinds of lines that are kept in mind."""


class Seldom(logging.Filter):
    """Lets a warning of a kind, which is its logger and its words, through once in so many seconds.

    The next one that comes through says how many did not.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds
        self._told: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        if record.levelno < logging.WARNING:
            return True
        kind, now = (record.name, str(record.msg)), monotonic()
        last, kept_back = self._told.get(kind, (now - self._seconds, 0))
        if now - last < self._seconds:
            self._told[kind] = last, kept_back + 1
            return False
        if len(self._told) >= _KINDS:
            self._told.clear()
        self._told[kind] = now, 0
        if kept_back:
            record.msg = f"{record.msg} (and {kept_back} more like it since)"
        return True
