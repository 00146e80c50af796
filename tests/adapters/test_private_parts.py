"""What the sidecar uses of uvicorn, h11 and httpx2 that they do not promise. What a version lacks fails here, by name;
the extra ``serve`` has upper bounds, which are raised when this passes.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.sidecars import Asked, answers, upstream
from tests.peers.serving import PATIENCE

uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
httpx2 = pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

NEXT = b"\r\n2\r\nbc\r\n0\r\n\r\n"
PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize(
    "name",
    ["connection_made", "data_received", "connection_lost", "on_response_complete", "send_400_response", "shutdown"],
)
def test_connections_of_uvicorn_are_told_of_what_happens(name: str) -> None:
    from uvicorn.protocols.http.h11_impl import H11Protocol

    assert callable(getattr(H11Protocol, name))


def test_connections_of_uvicorn_are_made_so_and_have_these() -> None:
    from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

    taken = inspect.signature(H11Protocol).parameters
    assert {"config", "server_state", "app_state"} <= taken.keys()
    source = inspect.getsource(H11Protocol.__init__)
    assert all(f"self.{name}" in source for name in ("conn", "transport", "connections", "loop", "cycle"))
    cycle = inspect.getsource(RequestResponseCycle)
    assert all(f"self.{name}" in cycle for name in ("disconnected", "message_event"))


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
    from translate.adapters.sidecar.pool import h11_of, said_too_much

    for extra, too_much in ((b"", False), (b"HTTP/1.1 200 OK\r\n\r\n", True)):
        with upstream(lambda asked, extra=extra: [answers(b"fine")(asked)[0] + extra]) as up:  # type: ignore[misc]
            async with httpx2.AsyncHTTPTransport() as transport:
                response = await transport.handle_async_request(httpx2.Request("GET", up.url))
                h11 = h11_of(response.stream)
                assert [piece async for piece in response.stream] == [b"fine"]
                assert said_too_much(h11) is too_much
                await response.aclose()
    assert said_too_much(h11_of(object()))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("sent", "pieces"),
    [
        ([b"1\r\na\r\n2;x=y\r\nbc\r\n0C\r\n" + b"d" * 12 + b"\r\n0\r\n\r\n"], [b"abc" + b"d" * 12]),
        ([b"1\r\na\r\n1\r\nb\r\n", b"1\r\nc\r\n0\r\n\r\n"], [b"ab", b"c"]),
        # of the next chunk less than a byte: no one knows when it comes
        *(([b"1\r\na" + NEXT[:cut], NEXT[cut:]], [b"a", b"bc"]) for cut in range(6)),
        ([b"1\r\na\r\n2\r\nb", b"c\r\n0\r\n\r\n"], [b"ab", b"c"]),
    ],
)
async def test_chunks_that_came_together_are_one_piece(sent: list[bytes], pieces: list[bytes]) -> None:
    from translate.adapters.sidecar.pool import Pool

    def says(asked: Asked) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + sent[0]
        for each in sent[1:]:
            assert came.wait(PATIENCE)
            yield each

    came = threading.Event()
    with upstream(says) as up:
        async with Pool(1, 1) as pool:
            response = await pool.handle_async_request(httpx2.Request("GET", up.url))
            found: list[bytes] = []
            async for piece in response.aiter_raw():
                found.append(piece)
                # no piece waits for what has not come
                came.set()
            await response.aclose()
    assert found == pieces


@pytest.mark.anyio
async def test_what_came_before_an_upstream_that_breaks_http_is_read() -> None:
    from translate.adapters.sidecar.pool import Pool

    broken = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n" + b"0" * 30 + b"1\r\nb\r\n"
    with upstream(lambda _: [broken]) as up:
        async with Pool(1, 1) as pool:
            response = await pool.handle_async_request(httpx2.Request("GET", up.url))
            pieces = response.aiter_raw()
            assert await anext(pieces) == b"a"
            with pytest.raises(httpx2.RemoteProtocolError):
                await anext(pieces)
            await response.aclose()


def test_the_versions_that_are_allowed_are_bounded() -> None:
    extra: Any = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]["serve"]
    bounds = {each.split(">=")[0]: each.partition("<")[2] for each in extra}
    for name in ("uvicorn", "h11", "httpx2"):
        most = tuple(int(part) for part in bounds[name].split("."))
        assert tuple(int(part) for part in version(name).split(".")[: len(most)]) < most
