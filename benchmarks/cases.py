"""Translations of the generated turn, and of a corpus, against what their JSON costs alone."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import anyio
import orjson

from translate import Finish, Limits, TranslateError, assemble, check, convert, decode
from translate.shapes.sse import Sse

from .table import Plan, Row, Timed, measure, times
from .work import (
    Unit,
    bare,
    conversion,
    cut,
    frames,
    gateway_sse,
    home,
    limit_forward,
    limit_read,
    limit_reverse,
    lines,
    turn,
    unievent_sse,
    unievents,
)

CUTS = {"one unit": None, "4 KiB": 4096, "64 KiB": 65536, "64 bytes": 64}
FORWARD = {("one unit", "drop"): 2.0, ("4 KiB", "drop"): 1.5, ("4 KiB", "carry"): 2.0}
"""Targets of UniEvent lines to gateway SSE."""
BACK = {("one unit", "drop"): 3.0, ("4 KiB", "drop"): 2.0, ("4 KiB", "carry"): 2.0}
"""Targets of the way back."""


class Streams:
    """The turn in all shapes, and its limits."""

    def __init__(self, plan: Plan) -> None:
        runs = turn(plan.events)
        self.events, self.frames, self.home = unievents(runs), frames(runs), home(runs)
        self.native = gateway_sse(self.frames)
        carrying = b"".join(convert(self.events, "unievent", "gateway-sse"))
        assert bare(carrying) == b"".join(self.native), "carries stand beside the native content"
        self.carrying = [block + b"\n\n" for block in carrying.split(b"\n\n")[:-1]]
        self.forward = limit_forward(self.events, self.frames)
        self.reverse = limit_reverse(self.frames, self.events)


def cases(plan: Plan) -> Iterator[Row]:
    """All of them."""
    streams = Streams(plan)
    yield from _bytes(streams, plan)
    yield from _objects(streams, plan)
    yield from _readings(streams, plan)
    yield from _colours(streams, plan)
    if plan.corpus is not None:
        yield from _corpus(plan)


def _bytes(streams: Streams, plan: Plan) -> Iterator[Row]:
    native, carrying = streams.native, streams.carrying
    shapes = {"unievent-jsonl": lines, "unievent-sse": unievent_sse}
    for shape, written in shapes.items():
        for label, size in CUTS.items():
            for loss, want in (("drop", native), ("carry", carrying)):
                chunks = _chunks(written(streams.events), size)
                work = _checked(chunks, shape, "gateway-sse", loss, b"".join(want))
                target = FORWARD.get((label, loss)) if shape == "unievent-jsonl" else None
                case = f"{shape} to gateway-sse, {loss}, {label}"
                yield measure(case, "L_fwd", work, streams.forward, plan, target)
        for label, size in CUTS.items():
            for loss, source, units in (("drop", native, streams.home), ("carry", carrying, streams.events)):
                work = _checked(_chunks(source, size), "gateway-sse", shape, loss, b"".join(written(units)))
                target = BACK.get((label, loss)) if shape == "unievent-jsonl" else None
                case = f"gateway-sse to {shape}, {'no ' if loss == 'drop' else ''}carry in it, {label}"
                yield measure(case, "L_rev", work, streams.reverse, plan, target)


def _chunks(units: list[bytes], size: int | None) -> list[bytes]:
    return units if size is None else cut(b"".join(units), size)


def _checked(chunks: Sequence[Any], src: str, dst: str, loss: str, want: bytes) -> Timed:
    """A conversion that gives what it should."""
    work = conversion(chunks, src, dst, loss)
    assert b"".join(work()) == want, f"{src} to {dst}, {loss}: wrong output"
    return work


def _objects(streams: Streams, plan: Plan) -> Iterator[Row]:
    carrying = list(convert(streams.events, "unievent", "gateway"))
    assert [{key: unit[key] for key in unit if key != "carry"} for unit in carrying] == streams.frames
    for loss, want in (("drop", streams.frames), ("carry", carrying)):
        work = conversion(streams.events, "unievent", "gateway", loss)
        assert work() == want
        yield measure(f"unievent to gateway, dicts, {loss}", "L_fwd", work, streams.forward, plan)
    for loss, source, want in (("drop", streams.frames, streams.home), ("carry", carrying, streams.events)):
        work = conversion(source, "gateway", "unievent", loss)
        assert work() == want
        carry = "no carry in them" if loss == "drop" else "carry in them"
        yield measure(f"gateway to unievent, dicts, {carry}", "L_rev", work, streams.reverse, plan)


def _readings(streams: Streams, plan: Plan) -> Iterator[Row]:
    sources = {"unievent-sse": unievent_sse(streams.events), "gateway-sse": streams.carrying}
    items = [item for event in streams.events for item in event["content_items"] if item["type"].endswith(".done")]
    for format, blocks in sources.items():
        chunks = cut(b"".join(blocks), 4096)
        read = limit_read(streams.events if format == "unievent-sse" else streams.frames)

        def checked(chunks: list[bytes] = chunks, format: str = format) -> object:
            return check(chunks, format)

        def assembled(chunks: list[bytes] = chunks, format: str = format) -> Any:
            return assemble(chunks, format, "unievent")

        assert checked() == []
        assert assembled()["content_items"] == items
        yield measure(f"check, {format}, 4 KiB", "L_read", checked, read, plan)
        yield measure(f"assemble, {format}, 4 KiB", "L_read", assembled, read, plan)
    chunks = cut(b"".join(streams.native), 4096)
    assert [orjson.loads(data) for data in parse(chunks)] == streams.frames
    found = measure("SSE parsing alone, 4 KiB", "L_read", lambda: parse(chunks), limit_read(streams.frames), plan)
    yield found.noted(f"{sum(map(len, chunks)) / (found.seconds or 1) / 1e6:.0f} MB/s")


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


def _corpus(plan: Plan) -> Iterator[Row]:
    """All finished streams of a directory, one after another, in chunks of 4 KiB."""
    assert plan.corpus is not None
    paths = sorted(plan.corpus.glob("*.sse"))
    found = [raw for path in paths if _finished(raw := path.read_bytes())]
    native = [b"".join(convert(raw, "unievent-sse", "gateway-sse", loss="drop")) for raw in found]
    carrying = [b"".join(convert(raw, "unievent-sse", "gateway-sse")) for raw in found]
    back = [b"".join(convert(sse, "gateway-sse", "unievent-sse", loss="drop")) for sse in native]
    for raw, sse, plain in zip(found, carrying, back, strict=True):
        assert units(b"".join(convert(sse, "gateway-sse", "unievent-sse"))) == units(raw), "not what went out"
        assert _content(units(plain)) == _content(units(raw)), "not the content that went out"
    pairs = [(units(raw, orjson.loads), units(sse, orjson.loads)) for raw, sse in zip(found, native, strict=True)]
    forward = [limit_forward(events, frames) for events, frames in pairs]
    reverse = [limit_reverse(frames, events) for events, frames in pairs]
    left = f"{len(found)} of {len(paths)} streams; the others report an error, break the format or hold no plain JSON"
    yield Row("corpus", note=left)
    for case, src, dst, loss, streams, base in (
        ("drop", "unievent-sse", "gateway-sse", "drop", found, forward),
        ("carry", "unievent-sse", "gateway-sse", "carry", found, forward),
        ("no carry in it", "gateway-sse", "unievent-sse", "drop", native, reverse),
        ("carry in it", "gateway-sse", "unievent-sse", "carry", carrying, reverse),
    ):
        works = [conversion(cut(stream, 4096), src, dst, loss) for stream in streams]
        name = "L_fwd" if base is forward else "L_rev"
        yield measure(f"corpus, {src} to {dst}, {case}, 4 KiB", name, _all(works), _all(base), plan.slow())


def _all(runs: Sequence[Timed]) -> Timed:
    def run() -> None:
        for each in runs:
            each()

    return run


def units(sse: bytes, loads: Callable[[bytes], Any] = json.loads) -> list[Unit]:
    """The units of a careful writer's event stream."""
    data = [line.removeprefix(b"data: ") for line in sse.split(b"\n") if line.startswith(b"data: {")]
    return [loads(text) for text in data]


def _finished(raw: bytes) -> bool:
    """Whether a stream ends well, and orjson can read it."""
    try:
        units(raw, orjson.loads)
        return type(list(decode(raw, "unievent-sse"))[-1]) is Finish
    except (TranslateError, orjson.JSONDecodeError):
        return False


def _content(events: list[Unit]) -> tuple[str, str, list[Any]]:
    """The texts, the thoughts and the calls."""
    items = [item for event in events for item in event["content_items"]]
    text = "".join(item["text"] for item in items if item["type"] == "text.done")
    thinking = "".join(item["thinking"] for item in items if item["type"] == "thinking.done")
    calls = [(item["name"], item["arguments"]) for item in items if item["type"] == "tool_call.done"]
    return text, thinking, calls
