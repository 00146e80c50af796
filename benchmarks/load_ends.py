"""Both ends of a proxy under load: an upstream that streams at a steady pace, and a client that reads all of it.

They are bare sockets on one event loop, so that they take little of the machine, and one clock times a unit at both.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import random
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from urllib.parse import urlsplit

import orjson

from translate import Translator, convert

from .work import WORDS, Run, unievent_sse, unievents

HOST = "127.0.0.1"
PATIENCE = 20.0
"""Seconds that anything may take longer than it should."""
OPENING = 32
"""Streams that are opened at once."""
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
_LAST = b"0\r\n\r\n"


# ---- what is streamed ----------------------------------------------------------------------------------------


def said(number: int, units: int, seed: int = 1) -> list[bytes]:
    """A stream of so many UniEvents on SSE, the last with ``[DONE]``, unlike all others: its parts, how many there are
    and of which kinds, and in each of its words its number.
    """
    rng = random.Random(f"{seed} {number}")
    marks = (f"{number}.{count}" for count in itertools.count())
    runs: list[Run] = []
    left = units - 1
    while left:
        kind = rng.choice(("text", "text", "thinking", "signed", "tool_call"))
        # nothing comes of most fragments of a call: they shall not be many
        count = min(rng.randint(2, 8) if kind == "tool_call" else rng.randint(10, 150), left - 1)
        # a part has a fragment and an end
        count += left - count == 2
        runs.append(_run(kind, [f"{rng.choice(WORDS)} {next(marks)}" for _ in range(count)], next(marks)))
        left -= count + 1
    *blocks, stop, done = unievent_sse(unievents(runs))
    return [*blocks, stop + done]


def _run(kind: str, words: list[str], mark: str) -> Run:
    """A part of as many fragments as there are words."""
    if kind == "tool_call":
        whole, count = orjson.dumps({"words": words}).decode(), len(words)
        cuts = [len(whole) * at // count for at in range(count + 1)]
        return Run("tool_call", [whole[a:b] for a, b in itertools.pairwise(cuts)], id=f"call_{mark}")
    if kind == "signed" and len(words) > 1:
        return Run("thinking", words[1:], signature=words[0])
    return Run("text" if kind == "text" else "thinking", words)


@dataclass(frozen=True)
class Story:
    """One stream: its units as they are sent, and what a proxy is to make of them."""

    sent: list[bytes]
    out: list[bytes]
    """What comes of each unit."""


def stories(streams: int, units: int, src: str, dst: str, seed: int = 1) -> list[Story]:
    """Streams of ``src``, all different, of so many UniEvents each, and what the library makes of each by itself."""
    found = []
    for number in range(streams):
        sent = said(number, units, seed)
        if src != "unievent-sse":
            # nothing comes of some
            sent = [unit for unit in _fed(sent, "unievent-sse", src) if unit]
        out = _fed(sent, src, dst)
        assert b"".join(out) == b"".join(convert(b"".join(sent), src, dst)), "one unit at a time, and all at once"
        found.append(Story(sent, out))
    assert len({b"".join(story.out) for story in found}) == streams, "all different"
    return found


def _fed(sent: list[bytes], src: str, dst: str) -> list[bytes]:
    translator = Translator(src, dst)
    out = [b"".join(translator.feed(unit)) for unit in sent]
    assert not translator.close(), "the last unit ends the stream"
    return out


# ---- the ends ------------------------------------------------------------------------------------------------


class _Streaming(asyncio.Protocol):
    """A connection of the upstream: one request after another, each for a stream by its number."""

    def __init__(self, ends: Ends) -> None:
        self._ends = ends
        self._head = b""
        self._transport: asyncio.Transport | None = None
        self._next: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._head += data
        head, end, rest = self._head.partition(b"\r\n\r\n")
        if end:
            self._head = rest
            self._answer(int(head.split(b" ", 2)[1].rpartition(b"/")[2]))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._next is not None:
            self._next.cancel()

    def _answer(self, number: int) -> None:
        assert self._transport is not None
        write, loop = self._transport.write, asyncio.get_running_loop()
        ends = self._ends
        rng, gap = random.Random(f"{ends.seed} {number}"), ends.gap
        units = [b"%x\r\n%b\r\n" % (len(unit), unit) for unit in ends.stories[number].sent]
        stamps = ends.written[number]
        at, left = 0.0, iter(units)

        def begin(start: float) -> None:
            nonlocal at
            at = start + rng.random() * gap
            self._next = loop.call_at(at, unit)

        def unit() -> None:
            nonlocal at
            data = next(left, None)
            if data is None:
                write(_LAST)
                return
            stamps.append(perf_counter())
            write(data)
            # from when it was due, not from now: a pace that is kept whatever the other side does
            at += gap * (0.5 + rng.random())
            self._next = loop.call_at(at, unit)

        write(_HEAD)
        ends.opened(begin)


class _Reading(asyncio.Protocol):
    """A connection of the client: one request, and all that comes back, with the times it came at."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.came: list[tuple[float, bytes]] = []
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"GET /streams/%d HTTP/1.1\r\nhost: %b\r\n\r\n" % (self._number, HOST.encode()))

    def data_received(self, data: bytes) -> None:
        self.came.append((perf_counter(), data))
        if data.endswith(_LAST):
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()


@dataclass(frozen=True)
class Passage:
    """What one run through a proxy showed. Times in seconds."""

    units: int
    """Of all streams."""
    cpu: float
    """Of the proxy, from the first request to the end of the last stream."""
    opening: float
    """Of that, until all streams were open."""
    delays: list[float]
    """Of each unit that something comes of: from when the upstream wrote it until the client had that whole."""


class Ends:
    """An upstream that listens, and the client.

    Streams begin when all are open. A unit is sent when it is due, whatever became of those before: half the pace to
    one and a half after the last.
    """

    def __init__(self, stories: list[Story], seed: int = 1) -> None:
        self.stories = stories
        self.seed = seed
        self.gap = 0.0
        """Seconds from unit to unit of a stream."""
        self.written: list[list[float]] = []
        self._waiting: list[Callable[[float], None]] = []
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Ends:
        self._server = await asyncio.get_running_loop().create_server(lambda: _Streaming(self), HOST, 0, backlog=2048)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()

    @property
    def url(self) -> str:
        """Where the upstream is."""
        assert self._server is not None
        return f"http://{HOST}:{self._server.sockets[0].getsockname()[1]}"

    def opened(self, begin: Callable[[float], None]) -> None:
        """A stream is open; ``begin`` is called when it is to start."""
        self._waiting.append(begin)

    async def run(
        self, url: str, cpu: Callable[[], float], *, rate: float, translated: bool, first: int | None = None
    ) -> Passage:
        """Ask the proxy at ``url`` for all streams at once, or the ``first`` ones, and check all that comes.

        ``cpu``     what the proxy took so far
        ``rate``    units a second, of all streams together
        """
        loop = asyncio.get_running_loop()
        told = self.stories[:first]
        self.gap = len(told) / rate
        self.written = [[] for _ in told]
        self._waiting = []
        readings: list[_Reading] = []
        gc.collect()
        gc.disable()
        try:
            before = cpu()
            await self._open(url, readings, len(told))
            opened = cpu()
            start = loop.time() + 0.1
            for begin in self._waiting:
                begin(start)
            units = max(len(story.sent) for story in told)
            await _all(readings, units * self.gap * 1.5 + PATIENCE)
            spent = cpu() - before
        finally:
            gc.enable()
            for reading in readings:
                reading.close()
        found: list[float] = []
        for number, (story, reading) in enumerate(zip(told, readings, strict=True)):
            found += delays(number, story, translated, self.written[number], reading.came)
        return Passage(sum(len(story.sent) for story in told), spent, opened - before, found)

    async def _open(self, url: str, readings: list[_Reading], count: int) -> None:
        """Open so many streams, some at a time: a client that is refused has come too fast, or found a fault."""
        loop, port = asyncio.get_running_loop(), urlsplit(url).port or 80
        until = loop.time() + PATIENCE + count * 0.02
        while len(self._waiting) < count:
            if len(readings) < min(count, len(self._waiting) + OPENING):
                _, reading = await loop.create_connection(partial(_Reading, len(readings)), HOST, port)
                readings.append(reading)
                continue
            await asyncio.sleep(0.005)
            if loop.time() > until:
                came = next((reading.came[0][1] for reading in readings if reading.came), b"nothing")
                raise AssertionError(f"{len(self._waiting)} of {count} streams open; a client got {came[:200]!r}")


async def _all(readings: list[_Reading], seconds: float) -> None:
    _, pending = await asyncio.wait([reading.done for reading in readings], timeout=seconds)
    if pending:
        raise AssertionError(f"{len(pending)} of {len(readings)} streams did not end in {seconds:.0f} s")


def delays(
    number: int, story: Story, translated: bool, written: list[float], came: list[tuple[float, bytes]]
) -> list[float]:
    """The delays of one stream, once all of it was found to be there, in order, and nothing else.

    Of a stream that passes only those of units that something comes of when it is translated: the same ones.
    """
    body, chunks = _dechunked(b"".join(data for _, data in came))
    want = story.out if translated else story.sent
    if body != b"".join(want):
        units = itertools.accumulate(want)
        right = sum(body.startswith(so_far) for so_far in units)
        raise AssertionError(f"stream {number}: not what is due after {right} units, of {len(want)}")
    raw_ends = list(itertools.accumulate(len(data) for _, data in came))
    ends = itertools.accumulate(len(out) for out in want)
    found = []
    for at, out, end in zip(written, story.out, ends, strict=True):
        if out:
            _, raw_end = chunks[bisect_left(chunks, (end, 0))]
            found.append(came[bisect_left(raw_ends, raw_end)][0] - at)
    return found


def _dechunked(raw: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """The body of an answer, and where each of its chunks ends, in the body and in what came."""
    head, _, _ = raw.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), head[:100]
    at, size = len(head) + 4, -1
    pieces, ends = [], []
    total = 0
    while size:
        line = raw.index(b"\r\n", at)
        size = int(raw[at:line], 16)
        pieces.append(raw[line + 2 : line + 2 + size])
        at = line + 2 + size + 2
        total += size
        ends.append((total, at))
    assert at == len(raw), "nothing after the end"
    return b"".join(pieces), ends
