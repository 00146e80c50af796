"""What all tests share: lines that are printed below the results, passed or not, and what no test leaves behind."""

import threading
import time
from collections.abc import Iterator

import pytest

from translate import registry

_LINES = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def summary(pytestconfig: pytest.Config) -> list[str]:
    """Lines for the end of the run: append to it."""
    return pytestconfig.stash.setdefault(_LINES, [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if lines := config.stash.get(_LINES, []):
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.line(line)


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
