"""Like work of other libraries, where they are installed: the extra ``benchmarks`` installs them.

A ratio is printed only where input and output are alike; what a peer leaves undone is said beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import orjson

from translate import decode, encode

from .cases import parse
from .streams import units
from .table import Plan, Row, measure
from .work import NOW, Unit, cut, frames, gateway_sse, turn, unievent_sse, unievents

Data = Callable[[], list[str]]


def peers(plan: Plan) -> Iterator[Row]:
    """All of them."""
    yield from _parsing(plan)
    yield _assembly(plan)


def _name(dist: str) -> str | None:
    """With its version, if it is installed."""
    try:
        return f"{dist} {version(dist)}"
    except PackageNotFoundError:
        return None


def _absent(case: str, dist: str, target: float | None = None) -> Row:
    return Row(case, dist, target=target, note=f"{dist} is not installed")


# ---- SSE parsing ---------------------------------------------------------------------------------------


def _httpx_sse(chunks: Sequence[bytes]) -> Data:
    httpx, httpx_sse = import_module("httpx"), import_module("httpx_sse")
    headers = {"content-type": "text/event-stream"}

    def run() -> list[str]:
        response = httpx.Response(200, headers=headers, content=iter(chunks))
        return [event.data for event in httpx_sse.EventSource(response).iter_sse()]

    return run


def _sdk(package: str) -> Callable[[Sequence[bytes]], Data]:
    def made(chunks: Sequence[bytes]) -> Data:
        decoder = import_module(f"{package}._streaming").SSEDecoder

        def run() -> list[str]:
            return [event.data for event in decoder().iter_bytes(iter(chunks))]

        return run

    return made


PARSERS: dict[str, Callable[[Sequence[bytes]], Data]] = {
    "httpx-sse": _httpx_sse,
    "openai": _sdk("openai"),
    "anthropic": _sdk("anthropic"),
}
PARSED = "ours gives data as bytes, name, offset and carries, within limits; theirs data as text, name, id and retry"


def _parsing(plan: Plan) -> Iterator[Row]:
    blocks = gateway_sse(frames(turn(plan.events)))
    want = [orjson.loads(data) for data in parse(blocks)]
    yield Row("SSE parsing", note=PARSED)
    for dist, made in PARSERS.items():
        for label, chunks in (("4 KiB", cut(b"".join(blocks), 4096)), ("one event", blocks)):
            case = f"SSE parsing, {label}"
            target = 0.5 if dist == "httpx-sse" and label == "4 KiB" else None
            name = _name(dist)
            if name is None:
                yield _absent(case, dist, target)
                continue
            theirs = made(chunks)
            assert [orjson.loads(data) for data in theirs()] == want, f"{dist} reads other data"
            ours = lambda chunks=chunks: parse(chunks)  # noqa: E731
            yield measure(case, name, ours, theirs, plan, target)


# ---- fragments to a UniEvent stream ------------------------------------------------------------------------


def _assembly(plan: Plan) -> Row:
    """Fragments in memory to the bytes of a UniEvent stream, its ``.done`` items made on the way."""
    case = "fragments to UniEvent SSE, with the .done items"
    name = _name("mmsp")
    if name is None:
        return _absent(case, "mmsp")
    source = unievents(turn(plan.events))
    events = list(decode(source, "unievent"))
    deltas = [event for event in source if not event["content_items"] or "delta" in event["content_items"][0]["type"]]
    public_stream, encode_wire = import_module("mmsp.base_client")._PublicStream, import_module("mmsp.wire").encode_wire

    def theirs() -> bytes:
        stream = public_stream("benchmark")
        out = []

        def say(event: Any) -> None:
            out.append(f"data: {json.dumps(encode_wire(event), ensure_ascii=False)}\n\n")

        for event in deltas:
            for each in stream.push(event):
                say(each)
        for each in stream.end():
            say(each)
        say(stream.stop())
        out.append("data: [DONE]\n\n")
        return "".join(out).encode()

    def ours() -> bytes:
        return b"".join(encode(events, "unievent-sse", clock=lambda: NOW))

    want = _undated(units(b"".join(unievent_sse(source))))
    assert _undated(units(theirs())) == want
    assert _undated(units(ours())) == want
    return measure(case, name, ours, theirs, plan).noted(
        "ours: from events, the grammar checked; theirs: _PublicStream and encode_wire, JSON by the standard library"
    )


def _undated(events: list[Unit]) -> list[Unit]:
    return [{key: event[key] for key in event if key != "created_at"} for event in events]
