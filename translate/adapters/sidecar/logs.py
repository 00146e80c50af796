"""The log of the sidecar: a line for each request, with what came of it and why, and never what was in it."""

from __future__ import annotations

import errno
import json
import logging
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import httpx2

from ..budget import OverBudget
from ..observe import Request, named
from .descriptors import exhausted
from .rules import Refused

_log = logging.getLogger("translate.sidecar")

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


def one_line_a_request(record: logging.LogRecord) -> bool:
    """Whether a line of the adapters' is not that of a stream, which stands in its request's line."""
    return not str(record.msg).startswith("stream of ")


class JsonLines(logging.Formatter):
    """A line of JSON for each record: ``time`` (RFC 3339), ``level``, ``logger``, ``message``; for a request also the
    members of :class:`translate.adapters.observe.Request` that are known, as ``request``.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        request: Request | None = getattr(record, "request", None)
        if request is not None:
            line["request"] = request.figures()
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log_request(request: Request) -> None:
    """Write the line of a request."""
    why = f" ({request.cause})" if request.cause else ""
    told = "%s %s: %d, %s%s, %.3f s"
    line = (request.id, request.method, request.status, request.outcome, why, request.seconds)
    _log.info(told, *line, extra={"request": request})


def cause_of(error: BaseException | None) -> str | None:
    """Why a request failed, in words of this program alone, and those of TLS, which speak of certificates."""
    if error is None:
        return None
    if isinstance(error, (Refused, OverBudget)):
        return error.what
    if exhausted(error):
        return "no descriptors"
    for each in _chain(error):
        if isinstance(each, socket.gaierror):
            return "DNS: the upstream's name is not known"
        if isinstance(each, ssl.SSLCertVerificationError):
            return f"TLS: {each.verify_message}"
        if isinstance(each, ssl.SSLError):
            return f"TLS: {(each.reason or 'it failed').replace('_', ' ').lower()}"
        if isinstance(each, OSError) and each.errno in _WORDS:
            return _WORDS[each.errno]
    if isinstance(error, httpx2.RemoteProtocolError):
        return "the upstream broke off, or HTTP"
    return named(error)


_WORDS = {
    errno.ECONNREFUSED: "refused by the upstream",
    errno.ECONNRESET: "reset by the upstream",
    errno.EPIPE: "closed by the upstream",
    errno.EHOSTUNREACH: "no way to the upstream",
    errno.ENETUNREACH: "no way to the upstream",
    errno.ETIMEDOUT: "the upstream does not answer",
}


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and all that it is due to."""
    while error is not None:
        yield error
        for each in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
            yield from _chain(each)
        error = error.__cause__ or error.__context__
