"""What the sidecar uses of uvicorn, h11 and httpx2 that they do not promise. What a version lacks fails here, by name;
the extra ``serve`` has upper bounds, which are raised when this passes.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.sidecars import answers, upstream

uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
httpx2 = pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(
    "name", ["connection_made", "data_received", "connection_lost", "on_response_complete", "shutdown"]
)
def test_connections_of_uvicorn_are_told_of_what_happens(name: str) -> None:
    from uvicorn.protocols.http.h11_impl import H11Protocol

    assert callable(getattr(H11Protocol, name))


def test_connections_of_uvicorn_are_made_so_and_have_these() -> None:
    from uvicorn.protocols.http.h11_impl import H11Protocol

    taken = inspect.signature(H11Protocol).parameters
    assert {"config", "server_state", "app_state"} <= taken.keys()
    source = inspect.getsource(H11Protocol.__init__)
    assert all(f"self.{name}" in source for name in ("conn", "transport", "connections", "loop"))


def test_a_server_of_uvicorn_starts_without_sockets_and_is_told_of_signals() -> None:
    assert list(inspect.signature(uvicorn.Server.startup).parameters) == ["self", "sockets"]
    assert list(inspect.signature(uvicorn.Server.shutdown).parameters) == ["self", "sockets"]
    # in a process of its own: other packages put themselves between
    code = "import inspect, uvicorn; print(*inspect.signature(uvicorn.Server.handle_exit).parameters)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True)
    assert done.stdout.split() == [b"self", b"sig", b"frame"]
    state = uvicorn.Server(uvicorn.Config("x")).server_state
    assert (state.connections, state.tasks) == (set(), set())


@pytest.mark.anyio
async def test_what_is_left_of_a_connection_to_the_upstream_can_be_seen() -> None:
    from translate.adapters.sidecar.pool import said_too_much

    for extra, too_much in ((b"", False), (b"HTTP/1.1 200 OK\r\n\r\n", True)):
        with upstream(lambda asked, extra=extra: [answers(b"fine")(asked)[0] + extra]) as up:  # type: ignore[misc]
            async with httpx2.AsyncHTTPTransport() as transport:
                response = await transport.handle_async_request(httpx2.Request("GET", up.url))
                assert [piece async for piece in response.stream] == [b"fine"]
                assert said_too_much(response.stream) is too_much
                await response.aclose()
    assert said_too_much(object())


def test_the_versions_that_are_allowed_are_bounded() -> None:
    extra: Any = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]["serve"]
    bounds = {each.split(">=")[0]: each.partition("<")[2] for each in extra}
    for name in ("uvicorn", "h11", "httpx2"):
        most = tuple(int(part) for part in bounds[name].split("."))
        assert tuple(int(part) for part in version(name).split(".")[: len(most)]) < most
