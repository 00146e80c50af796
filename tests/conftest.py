"""What all tests share: lines that are printed below the results, passed or not, and what no test leaves behind.

Tests may run in any order, and beside others (``-n 2`` of pytest-xdist): no fixed ports, no files outside ``tmp_path``.
What is measured is CPU time, or has room for another process on the same core, or is marked ``alone``.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from translate import registry

_LINES = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def summary(pytestconfig: pytest.Config) -> list[str]:
    """Lines for the end of the run: append to it."""
    return pytestconfig.stash.setdefault(_LINES, [])


def pytest_configure() -> None:
    """What this run was told is not for the runs that tests start."""
    os.environ.pop("PYTEST_ADDOPTS", None)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process of pytest-xdist hands its lines over."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["lines"] = session.config.stash.get(_LINES, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Its lines are taken; a process that fell has none."""
    lines = node.config.stash.setdefault(_LINES, [])
    lines += getattr(node, "workeroutput", {}).get("lines", [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if lines := config.stash.get(_LINES, []):
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.line(line)


@pytest.fixture(scope="session")
def _locks(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path | None:
    """Where the processes of pytest-xdist have their locks, if there are several."""
    return tmp_path_factory.getbasetemp().parent if hasattr(pytestconfig, "workerinput") else None


@pytest.fixture(autouse=True)
def _in_turn(request: pytest.FixtureRequest, _locks: Path | None) -> Iterator[None]:
    """A test that is marked ``alone`` waits for those beside it, and the next ones wait for it."""
    with ExitStack() as held:
        if _locks is not None:
            from fcntl import LOCK_EX, LOCK_SH, flock

            running = held.enter_context((_locks / "running").open("w"))
            with (_locks / "next").open("w") as door:
                # who waits for the others holds the door: nobody else can go in before
                flock(door, LOCK_EX)
                flock(running, LOCK_EX if request.node.get_closest_marker("alone") else LOCK_SH)
        yield


@pytest.fixture(autouse=True)
def _codecs_are_gone() -> Iterator[None]:
    """A codec that a test registers is not there for the next: tests pass in any order."""
    before = {*registry._registered}
    yield
    for name in {*registry._registered} - before - {*registry._entry_points()}:
        del registry._registered[name]
        registry._resolved.clear()


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """No thread that a test started outlives it, but for those of trio's pool, which end by themselves."""
    before = set(threading.enumerate())

    def others() -> list[threading.Thread]:
        return [each for each in set(threading.enumerate()) - before if not each.name.startswith("Trio thread")]

    yield
    until = time.monotonic() + 5
    while (left := others()) and time.monotonic() < until:
        time.sleep(0.01)
    assert not left
