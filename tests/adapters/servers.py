"""ASGI servers that run in the process of the test, on loopback. Nothing of one is left when its block ends."""

from __future__ import annotations

import importlib
import importlib.util
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, TypeAlias

import anyio
import pytest
import trio.lowlevel

from tests.adapters.clients import Client
from tests.peers.serving import HOST, PATIENCE
from translate.adapters.asgi import App, Receive, Scope, Send

Serving: TypeAlias = Callable[[App, socket.socket], AbstractAsyncContextManager[None]]

SERVERS = [
    ("uvicorn-h11", "asyncio"),
    ("uvicorn-httptools", "asyncio"),
    ("hypercorn", "asyncio"),
    ("hypercorn", "trio"),
    ("granian", "asyncio"),
]
"""Each server, on each backend that it runs on."""
PROBE = "/is-it-there"
CLOSING = 1
"""Seconds that a server leaves to requests that are still answered when it is told to end."""


def servers(**marks: pytest.MarkDecorator) -> pytest.MarkDecorator:
    """Parametrizes a test with all of them; ``marks`` of those that are told apart, by name or by name and backend."""
    found = []
    for name, backend in SERVERS:
        id = f"{name}-{backend}"
        given = [mark for key, mark in marks.items() if key in (name, id.replace("-", "_"))]
        found.append(pytest.param(name, backend, id=id, marks=[missing(name), *given]))
    return pytest.mark.parametrize(("server", "anyio_backend"), found)


def missing(server: str) -> pytest.MarkDecorator:
    """Skips what needs a server that is not installed."""
    package, _, parser = server.partition("-")
    absent = [each for each in (package, parser) if each and importlib.util.find_spec(each) is None]
    return pytest.mark.skipif(bool(absent), reason=f"{' '.join(absent)} is not installed: pip install -e '.[adapters]'")


@asynccontextmanager
async def serving(name: str, app: App, *, buffer: int | None = None) -> AsyncIterator[int]:
    """A server, accepting; its port. ``buffer``: bytes that the kernel may keep for it, where it can be told."""
    listener = socket.socket()
    # so that a server can open one of its own on this port
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if buffer is not None:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
    listener.bind((HOST, 0))
    port: int = listener.getsockname()[1]
    package, _, parser = name.partition("-")
    runs: dict[str, Serving] = {"uvicorn": partial(uvicorn, parser), "hypercorn": hypercorn, "granian": granian}
    with listener:
        async with runs[package](lifespanned(app), listener):
            await accepting(port)
            yield port


def lifespanned(app: App) -> App:
    """An application that starts and stops when it is told to, and answers :func:`accepting`."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for _ in ("startup", "shutdown"):
                await send({"type": (await receive())["type"] + ".complete"})
        elif scope["path"] == PROBE:
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await app(scope, receive, send)

    return wrapped


async def accepting(port: int) -> None:
    """Wait until a server answers."""
    with anyio.fail_after(PATIENCE):
        while True:
            try:
                # not a bare connection: some servers keep one that asks nothing for some seconds
                with Client(port, PROBE, fields="Connection: close\r\n") as client:
                    while await client.read():
                        pass
                return
            except ConnectionRefusedError:
                await anyio.sleep(0.005)


@asynccontextmanager
async def running(serve: Callable[[], Awaitable[None]], stop: Callable[[], None]) -> AsyncIterator[None]:
    """What serves, until the block ends."""
    async with anyio.create_task_group() as group:
        ended = anyio.Event()

        async def served() -> None:
            await serve()
            ended.set()

        group.start_soon(served)
        try:
            yield
        finally:
            stop()
            with anyio.move_on_after(PATIENCE, shield=True):
                await ended.wait()
            group.cancel_scope.cancel()
            assert ended.is_set()


@asynccontextmanager
async def uvicorn(parser: str, app: App, listener: socket.socket) -> AsyncIterator[None]:
    from uvicorn import Config, Server

    http: Any = parser
    server = Server(Config(app, http=http, lifespan="on", log_config=None, timeout_graceful_shutdown=CLOSING))

    def stop() -> None:
        server.should_exit = True

    async with running(lambda: server.serve(sockets=[listener]), stop):
        yield


@asynccontextmanager
async def hypercorn(app: App, listener: socket.socket) -> AsyncIterator[None]:
    from hypercorn.config import Config

    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.errorlog = None
    config.graceful_timeout = CLOSING
    # it takes a connection whose client has left for one that waits for its next request
    config.keep_alive_timeout = CLOSING
    backend = "trio" if trio.lowlevel.in_trio_run() else "asyncio"
    serve: Any = importlib.import_module(f"hypercorn.{backend}").serve
    ended = anyio.Event()
    async with running(lambda: serve(app, config, shutdown_trigger=ended.wait), ended.set):
        yield


@asynccontextmanager
async def granian(app: App, listener: socket.socket) -> AsyncIterator[None]:
    from granian.constants import Interfaces
    from granian.server.embed import Server

    port = listener.getsockname()[1]
    server = Server(app, address=HOST, port=port, interface=Interfaces.ASGI, log_enabled=False)
    async with running(server.serve, server.stop):
        yield
