"""Translations of the generated turn, its input cut in every way, against what their JSON costs alone."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import anyio
import orjson

from translate import Limits, convert
from translate.shapes.sse import Sse

from .streams import Figure, Streams, generated
from .table import Plan, Row, measure, times
from .work import cut, limit_read, lines, turn

CUTS = {"one unit": None, "4 KiB": 4096, "64 KiB": 65536, "64 bytes": 64}
TARGETS = {
    ("drop", "one unit"): 2.0,
    ("drop", "4 KiB"): 1.5,
    ("carry", "4 KiB"): 2.0,
    ("back", "one unit"): 3.0,
    ("back", "4 KiB"): 2.0,
    ("back with carry", "4 KiB"): 2.0,
}
"""Of UniEvent lines."""


def cases(plan: Plan) -> Iterator[Row]:
    """All of them."""
    streams = generated(turn(plan.events))
    for shape in ("unievent-jsonl", "unievent-sse"):
        for figure in streams.four(shape):
            yield from _cuts(figure, plan)
    chunks = cut(b"".join(streams.native), 4096)
    assert [orjson.loads(data) for data in parse(chunks)] == streams.frames
    found = measure("SSE parsing alone, 4 KiB", "L_read", lambda: parse(chunks), limit_read(streams.frames), plan)
    yield found.noted(f"{sum(map(len, chunks)) / (found.seconds or 1) / 1e6:.0f} MB/s")
    yield from _colours(streams, plan)


def _cuts(figure: Figure, plan: Plan) -> Iterator[Row]:
    for label, size in CUTS.items():
        work = figure.work(size)
        assert figure.right(work()), f"{figure.src} to {figure.dst}, {figure.name}: wrong output"
        case = f"{figure.src} to {figure.dst}, {figure.name}, {label}"
        target = TARGETS.get((figure.name, label)) if "unievent-jsonl" in (figure.src, figure.dst) else None
        yield measure(case, figure.base_name, work, figure.base, plan, target)


def parse(chunks: Sequence[bytes]) -> list[Any]:
    """SSE parsing alone: the data of each event."""
    reader = Sse().reader(Limits(), True)
    data = [frame.data for chunk in chunks for frame in reader.feed(chunk)]
    return [*data, *(frame.data for frame in reader.close())]


def _colours(streams: Streams, plan: Plan) -> Iterator[Row]:
    """The same chunks from an asynchronous source and from a generator, many times in one loop."""
    units = lines(streams.events)
    chunks = [b"".join(units[i : i + 20]) for i in range(0, len(units), 20)]
    want = b"".join(streams.carrying)
    count = 10 * plan.repeat

    def source() -> Iterator[bytes]:
        yield from chunks

    async def asource() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    def sync() -> bytes:
        return b"".join(list(convert(source(), "unievent-jsonl", "gateway-sse")))

    async def coloured() -> bytes:
        return b"".join([data async for data in convert(asource(), "unievent-jsonl", "gateway-sse")])

    async def many() -> None:
        for _ in range(count):
            await coloured()

    assert sync() == want
    for backend in ("asyncio", "trio"):
        case, base = f"async convert() under {backend}, chunks of 20 events", "sync convert()"
        if importlib.util.find_spec(backend) is None:
            yield Row(case, base, target=1.1, note=f"{backend} is not installed")
            continue
        assert anyio.run(coloured, backend=backend) == want
        work = lambda backend=backend: anyio.run(many, backend=backend)  # noqa: E731
        yield measure(case, base, work, times(count, sync), Plan(plan.rounds, 1), 1.1)
