"""One browser for all that is looked at."""

from collections.abc import Iterator

import pytest

from tests.inspect.browser import Page, chromium


@pytest.fixture(scope="session")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture
def page(tab: Page) -> Iterator[Page]:
    """The browser as it was; what a test showed had nothing to complain of, and stayed on the machine."""
    tab.size(1280, 800)
    tab.prefers("light")
    tab.move(1279, 799)
    tab.errors.clear()
    tab.requests.clear()
    yield tab
    assert tab.errors == []
    assert [url for url in tab.requests if not url.startswith(("file:", "http://127.0.0.1:", "data:,"))] == []
