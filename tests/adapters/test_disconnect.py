"""A client that leaves, of real servers: the source is cancelled at once, in whatever state, and nothing is left."""

from __future__ import annotations

import asyncio
import gc
import statistics
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any

import anyio
import pytest
import trio.lowlevel

from tests.adapters.clients import Client
from tests.adapters.servers import servers, serving
from tests.adapters.upstreams import STATES, Answer, State, Upstream, gateway, stalled
from tests.peers.serving import HOST, PATIENCE
from translate.adapters import StreamResponse, TranslateMiddleware
from translate.adapters.asgi import App, Receive, Scope, Send

psutil: Any = pytest.importorskip("psutil", reason="psutil is not installed: pip install -e '.[adapters]'")
pytestmark = pytest.mark.anyio
ROUNDS = 50
BUFFER = 1 << 16
"""Bytes that the kernel may keep for a server, where it can be told: less is sooner full."""
PROMPT = 0.05
"""Seconds after which the source is gone, in the median."""


class Sources:
    """An application that answers each request from a new source, in one state."""

    def __init__(self, state: State, kind: str) -> None:
        self.upstreams: list[Upstream] = []
        self.answers: list[weakref.ref[Any]] = []
        self._state: State = state
        self._kind = kind

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        upstream = Upstream(self._state)
        self.upstreams.append(upstream)
        app = self.app(upstream)
        self.answers.append(weakref.ref(app))
        await app(scope, receive, send)

    def app(self, upstream: Upstream) -> App:
        """What answers."""
        if self._kind == "middleware":
            inner = StreamResponse(upstream.chunks(), "gateway-sse", "gateway-sse", ping=None)
            return TranslateMiddleware(inner, "gateway-sse", "unievent-sse", ping=None)
        source = Answer(upstream) if self._kind == "response" else upstream.chunks()
        return StreamResponse(source, "gateway-sse", "unievent-sse", ping=None)


def tasks() -> int:
    """How many there are."""
    if trio.lowlevel.in_trio_run():
        return trio.lowlevel.current_statistics().tasks_living
    return len(asyncio.all_tasks())


def connections(port: int) -> int:
    """How many a server has open."""
    of = psutil.Process().net_connections(kind="tcp")
    return sum(1 for each in of if each.laddr.port == port and each.status in ("ESTABLISHED", "CLOSE_WAIT"))


@asynccontextmanager
async def nothing_is_left(port: int) -> AsyncIterator[None]:
    """No task and no connection that is made in the block is there soon after it."""
    await until(lambda: not connections(port))
    await anyio.sleep(0.02)
    before = tasks()
    yield
    await until(lambda: tasks() <= before and not connections(port))


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, but not for ever."""
    with anyio.fail_after(2):
        while not holds():
            await anyio.sleep(0.005)


async def reached(state: State, client: Client, upstream: Upstream) -> None:
    """Wait until a stream is in a state."""
    await upstream.opened.wait()
    if state == "under backpressure":
        await stalled(lambda: upstream.given)
    elif state == "before the first unit":
        await anyio.sleep(0.005)
    else:
        await client.until(b'"a"')
        await anyio.sleep(0.005)


async def left(port: int, sources: Sources, state: State) -> float:
    """Ask, leave, and wait until the source is gone; the seconds that took."""
    count = len(sources.upstreams)
    with Client(port, buffer=BUFFER) as client:
        with anyio.fail_after(PATIENCE):
            while len(sources.upstreams) == count:
                await anyio.sleep(0.001)
            upstream = sources.upstreams[-1]
            await reached(state, client, upstream)
            began = perf_counter()
            client.close()
            await upstream.ended.wait()
    assert upstream.left is not None
    return upstream.left - began


def judge(label: str, seconds: list[float], summary: list[str]) -> None:
    median, most = statistics.median(seconds) * 1000, max(seconds) * 1000
    summary.append(f"client left, source gone: {label}: median {median:.2f} ms, max {most:.2f} ms of {len(seconds)}")
    assert median < PROMPT * 1000


@servers()
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", ["iterator", "response"])
async def test_a_client_that_leaves_cancels_the_source(
    server: str, anyio_backend: str, state: State, kind: str, summary: list[str]
) -> None:
    await batch(f"{server} on {anyio_backend}", state, kind, ROUNDS, summary)


@servers()
@pytest.mark.parametrize("state", ["idle", "under backpressure"])
async def test_a_client_that_leaves_ends_an_application_behind_the_middleware(
    server: str, anyio_backend: str, state: State, summary: list[str]
) -> None:
    await batch(f"{server} on {anyio_backend}", state, "middleware", 20, summary)


async def batch(label: str, state: State, kind: str, rounds: int, summary: list[str]) -> None:
    sources = Sources(state, kind)
    async with serving(label.split(maxsplit=1)[0], sources, buffer=BUFFER) as port:
        async with nothing_is_left(port):
            seconds = [await left(port, sources, state) for _ in range(rounds)]
        assert len(sources.upstreams) == rounds
        assert all(upstream.left is not None for upstream in sources.upstreams)
        gc.collect()
        assert [each for each in sources.answers if each() is not None] == []
        assert [each for each in sources.upstreams if each.iterator is not None and each.iterator() is not None] == []
    judge(f"{label}, {state}, {kind}", seconds, summary)


@servers()
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
async def test_a_client_that_leaves_hangs_up_a_real_upstream(
    server: str, anyio_backend: str, library: str, summary: list[str]
) -> None:
    http = pytest.importorskip(library, reason=f"{library} is not installed: pip install -e '.[adapters]'")
    seconds: list[float] = []
    began, hung_up = 0.0, anyio.Event()

    def note() -> None:
        seconds.append(perf_counter() - began)
        hung_up.set()

    async with gateway(note) as source, http.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
        request = client.build_request("GET", f"http://{HOST}:{source}")

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            answer = StreamResponse(lambda: client.send(request, stream=True), "gateway-sse", "unievent-sse", ping=None)
            await answer(scope, receive, send)

        async with serving(server, app) as port, nothing_is_left(port):
            for _ in range(20):
                hung_up = anyio.Event()
                with Client(port) as asking:
                    await asking.until(b'"a"')
                    began = perf_counter()
                    asking.close()
                    with anyio.fail_after(PATIENCE):
                        await hung_up.wait()
        await until(lambda: not connections(source))
    judge(f"{server} on {anyio_backend}, idle, {library} and its upstream", seconds, summary)


@servers()
async def test_a_client_that_leaves_is_noticed_behind_a_body_that_no_one_has_read(server: str) -> None:
    sources = Sources("idle", "iterator")
    async with serving(server, sources) as port, nothing_is_left(port):
        body = b"x" * 1_000_000
        with Client(port, fields=f"Content-Length: {len(body)}\r\n") as client:
            await client.send(body)
            await client.until(b'"a"')
        with anyio.fail_after(PATIENCE):
            await sources.upstreams[0].ended.wait()


FORGETS = "it tells the request that came last alone that the client has left"


@servers(**{"uvicorn-httptools": pytest.mark.xfail(strict=True, reason=FORGETS)})
async def test_a_client_that_asked_for_more_and_leaves_is_noticed_by_a_keep_alive(server: str) -> None:
    upstreams: list[Upstream] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        upstreams.append(Upstream("idle"))
        await StreamResponse(upstreams[-1].chunks(), "gateway-sse", "unievent-sse", ping=0.1)(scope, receive, send)

    async with serving(server, app) as port:
        with Client(port) as client:
            await client.until(b'"a"')
            # no server reads on before it has answered: only what is written finds out that no one is there
            client.ask()
            await anyio.sleep(0.02)
        with anyio.fail_after(3):
            await upstreams[0].ended.wait()
        assert len(upstreams) == 1
