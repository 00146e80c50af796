"""How many files a process may open, sockets among them, and how many connections and requests that leaves room for."""

from __future__ import annotations

import errno
import sys
from dataclasses import dataclass

RESERVE = 64
"""Descriptors for what is no connection that is kept: the process's own, those that are accepted or closed just now."""
_SILENT = 64
_PER_REQUEST = 2


@dataclass(frozen=True, slots=True)
class Room:
    """Of so many ``files``: ``connections`` of clients, and ``requests`` at once, each with one to the upstream."""

    files: int
    connections: int
    requests: int

    @classmethod
    def within(cls, files: int, requests: int) -> Room:
        """What ``files`` descriptors leave room for, where so many ``requests`` are wanted.

        There are more connections than requests, so that who is one too many can be told. They are no more than
        requests can have use for: each takes memory, too.
        """
        usable = max(files - RESERVE, 8)
        requests = min(requests, usable * 3 // 8)
        return cls(files, min(usable - requests, _PER_REQUEST * requests + _SILENT), requests)


def raised() -> int:
    """How many descriptors this process may have, once its soft limit is raised to the hard one."""
    if sys.platform == "win32":
        # it has no such limit that can be asked for; event loops there take no more
        return 512
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):
        # some systems have a lower limit than the one they name
        return soft
    return hard if hard != resource.RLIM_INFINITY else sys.maxsize


def exhausted(error: BaseException | None) -> bool:
    """Whether an error is due to descriptors that ran out, in this process or on the machine."""
    if error is None:
        return False
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return True
    if isinstance(error, BaseExceptionGroup) and any(exhausted(each) for each in error.exceptions):
        return True
    return exhausted(error.__cause__ or error.__context__)
