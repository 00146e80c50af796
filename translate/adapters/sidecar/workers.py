"""Several processes that serve the same sockets. Needs ``fork``, and so runs before there are threads or a loop."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
import time
from collections.abc import Callable
from types import FrameType

_log = logging.getLogger("translate.sidecar")
SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that tells prometheus-client to share its figures, and in which folder."""
_PAUSE = 1.0
"""Seconds after which a worker that broke down is followed by another, at the earliest."""


def work(count: int, run: Callable[[], None]) -> None:
    """Run so many processes until a signal comes; each is sent what this one is, and one that breaks down is replaced.

    Returns when all have ended. Their figures are shared in a folder that is made for them.
    """
    with tempfile.TemporaryDirectory(prefix="translate-streams-") as folder:
        os.environ.setdefault(SHARED, folder)
        _Parent(run).watch(count)


class _Parent:
    """The process that has the others."""

    def __init__(self, run: Callable[[], None]) -> None:
        self._run = run
        self._began: dict[int, float] = {}
        """Since when each runs, by its number."""
        self._stops = False

    def watch(self, count: int) -> None:
        """Have so many, until told to stop."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._pass_on)
        for _ in range(count):
            self._begin()
        while self._began:
            pid, status = os.wait()
            began = self._began.pop(pid, None)
            if began is None:
                continue
            _forget(pid)
            if not self._stops:
                code = os.waitstatus_to_exitcode(status)
                _log.error("a worker ended with %d; another takes its place", code)
                time.sleep(max(began + _PAUSE - time.monotonic(), 0))
                if not self._stops:
                    self._begin()

    def _begin(self) -> None:
        pid = os.fork()
        if pid:
            self._began[pid] = time.monotonic()
            if self._stops:
                # the signal came while it was made
                os.kill(pid, signal.SIGTERM)
            return
        code = 1
        try:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            self._run()
            code = 0
        except BaseException:
            _log.exception("a worker broke down")
        finally:
            logging.shutdown()
            os._exit(code)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        self._stops = True
        for pid in list(self._began):
            os.kill(pid, number)


def _forget(pid: int) -> None:
    """Its gauges count no more."""
    try:
        from prometheus_client.multiprocess import mark_process_dead
    except ImportError:
        return
    mark_process_dead(pid)  # type: ignore[no-untyped-call]
