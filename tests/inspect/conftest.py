"""One browser for all that is looked at, and one server of the playground."""

import threading
from collections.abc import Iterator

import pytest

from tests.inspect.browser import Page, chromium
from tests.peers.serving import PATIENCE
from translate.inspect.playground import Server


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
    assert [url for url in tab.requests if not url.startswith(("file:", "http://127.0.0.1:", "data:"))] == []


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join(PATIENCE)
        assert not thread.is_alive()
