"""What all tests share: lines that are printed below the results, passed or not."""

import pytest

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
