"""A client that does not read, of real servers and of none: it holds the source, and nothing piles up."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import AsyncIterator
from time import perf_counter
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.adapters.clients import Client
from tests.adapters.relays import simulated
from tests.adapters.servers import servers, serving
from tests.adapters.upstreams import UNITS, stalled
from tests.peers.serving import PATIENCE
from tests.sources import FRAMES, frame
from translate.adapters import StreamResponse, Timeouts, TranslateMiddleware, relay
from translate.adapters.asgi import App, Receive, Scope, Send

psutil: Any = pytest.importorskip("psutil", reason="psutil is not installed: pip install -e '.[adapters]'")
pytestmark = pytest.mark.anyio
TEXT = 20_000
MOST = 16 * 2**20
"""Bytes that may be between a source and a client that reads nothing: the kernel keeps up to 4 MiB for a sender."""
SILENCE = 1.5
SLOW = float(os.environ.get("TRANSLATE_SLOW", "0")) * 300
"""Seconds of the long run."""
FLAT = 2 * 2**20
MINUTES = 5
CHUNKS, PER_CHUNK = 3000, 250
CHUNK = UNITS[2] * PER_CHUNK


class Endless:
    """An application whose one stream never ends; its units are numbered."""

    def __init__(self, kind: str = "response", dst: str = "unievent-sse", **options: Any) -> None:
        self.given = 0
        self.ended = anyio.Event()
        self._kind = kind
        self._dst = dst
        self._options = options

    async def units(self) -> AsyncIterator[Any]:
        try:
            for start in FRAMES[:2]:
                yield start
            while True:
                await anyio.lowlevel.checkpoint()
                self.given += 1
                yield frame("content", value=f"<{self.given}>{'x' * TEXT}")
        finally:
            self.ended.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app()(scope, receive, send)

    def app(self) -> App:
        if self._kind == "response":
            return StreamResponse(self.units(), "gateway", self._dst, **self._options)
        inner = StreamResponse(self.units(), "gateway", "gateway-sse", ping=None)
        return TranslateMiddleware(inner, "gateway-sse", self._dst, **self._options)


def memory() -> int:
    """Bytes that the process has."""
    size: int = psutil.Process().memory_info().rss
    return size


def numbers(client: Client) -> list[int]:
    """Those of the units that a client has read, but for one that it may have read in part."""
    return [int(found) for found in re.findall(rb"<(\d+)>", client.body)]


@servers()
@pytest.mark.parametrize("kind", ["response", "middleware"])
async def test_a_client_that_reads_nothing_holds_the_source(
    server: str, anyio_backend: str, kind: str, summary: list[str]
) -> None:
    app = Endless(kind)
    async with serving(server, app) as port:
        with Client(port) as client:
            with anyio.fail_after(PATIENCE):
                await stalled(lambda: app.given, 0.2)
            given, size = app.given, memory()
            await anyio.sleep(SILENCE)
            grown = memory() - size
            summary.append(
                f"client reads nothing: {server} on {anyio_backend}, {kind}: {given * TEXT / 2**20:.1f} MiB taken, "
                f"then {app.given - given} units and {grown / 1024:.0f} KiB of memory in {SILENCE} s"
            )
            assert 0 < given == app.given
            assert given * TEXT < MOST
            assert grown < FLAT
            # a slow reader gets all there is, in order, and makes the source go on
            with anyio.fail_after(PATIENCE):
                while len(client.got) < 2 * given * TEXT:
                    await client.read()
                    await anyio.sleep(0.001)
            got = numbers(client)
            assert got == list(range(1, len(got) + 1))
            assert given < len(got) <= app.given
        with anyio.fail_after(PATIENCE):
            await app.ended.wait()


@servers()
async def test_a_client_that_reads_nothing_for_too_long_loses_its_stream(server: str) -> None:
    app = Endless(timeouts=Timeouts(write=0.3))
    async with serving(server, app) as port:
        with Client(port):
            await stalled(lambda: app.given, 0.1)
            with anyio.fail_after(3):
                await app.ended.wait()


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.parametrize("why", ["time-out", "gone"])
async def test_a_sink_that_cannot_be_cancelled_does_not_hold_the_source(why: str, anyio_backend: str) -> None:
    app, held, free = Endless(), anyio.Event(), anyio.Event()
    timed_out = why == "time-out"
    taken: list[bytes] = []

    async def sink(data: bytes) -> None:
        held.set()
        with anyio.CancelScope(shield=True):
            await free.wait()
        taken.append(data)

    async def run() -> None:
        timeouts, gone = (Timeouts(write=0.05), None) if timed_out else (None, held.wait)
        stats = await relay(app.units(), sink, "gateway", "unievent-sse", timeouts=timeouts, gone=gone)
        assert stats.outcome == ("timed out" if timed_out else "disconnected")
        assert stats.bytes_out == len(b"".join(taken))
        assert (b"timed out" in taken[-1]) is timed_out

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        try:
            with anyio.fail_after(PATIENCE):
                await app.ended.wait()
            assert not taken
        finally:
            free.set()


@simulated
async def test_five_minutes_of_a_slow_sink_cost_no_memory() -> None:
    """In a time that is simulated; what is between the source and the sink is one chunk."""
    given = taken = 0
    sizes: dict[int, int] = {}
    began = anyio.current_time()

    async def source() -> AsyncIterator[bytes]:
        nonlocal given
        yield b"".join(UNITS[:2])
        for _ in range(CHUNKS):
            given += 1
            yield CHUNK

    async def sink(data: bytes) -> None:
        nonlocal taken
        taken += data.count(b"data: ")
        assert given * PER_CHUNK <= taken
        await anyio.sleep(MINUTES * 60 / CHUNKS)
        if given in (CHUNKS // 10, CHUNKS) and given not in sizes:
            gc.collect()
            sizes[given] = memory()

    stats = await relay(source(), sink, "gateway-sse", "gateway-sse", timeouts=Timeouts(idle=60, write=60), ping=15)
    assert (stats.outcome, stats.units) == ("cut", CHUNKS * PER_CHUNK + 2)
    assert anyio.current_time() - began >= MINUTES * 60
    assert abs(sizes[CHUNKS] - sizes[CHUNKS // 10]) < 2**20


@servers()
@pytest.mark.skipif(not SLOW, reason="takes five minutes for each server: TRANSLATE_SLOW=1")
async def test_a_slow_client_costs_no_memory(server: str, anyio_backend: str, summary: list[str]) -> None:
    # UniEvent would repeat the text at the part's end, and so holds it
    app = Endless(dst="gateway-sse")
    async with serving(server, app) as port:
        with Client(port) as client:
            await stalled(lambda: app.given, 0.2)
            size, until, seen, rest = memory(), perf_counter() + SLOW, 0, b""
            while perf_counter() < until:
                rest += await client.read()
                client.got.clear()
                for found in re.finditer(rb"<(\d+)>", rest):
                    seen += 1
                    assert int(found[1]) == seen
                rest = rest[rest.rfind(b"<") :] if rest.rfind(b"<") > rest.rfind(b">") else b""
                await anyio.sleep(0.02)
            grown = memory() - size
            summary.append(
                f"slow client: {server} on {anyio_backend}: {seen} of {app.given} units in {SLOW:.0f} s, "
                f"{grown / 1024:.0f} KiB of memory"
            )
            assert grown < 4 * FLAT
