"""Like work of other libraries, where they are installed: the extra ``benchmarks`` installs them.

A ratio is printed only where input and output are alike; what a peer leaves undone is said beside it.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import orjson

from translate import decode, encode

from .cases import parse
from .streams import units
from .table import Plan, Row, cost, measure
from .work import NOW, Run, Unit, cut, frames, gateway_sse, turn, unievent_sse, unievents

Data = Callable[[], list[str]]


def peers(plan: Plan) -> Iterator[Row]:
    """All of them."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    yield from _parsing(plan)
    yield _assembly(plan)
    yield from _translating(plan)


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


# ---- one provider's stream to another's ----------------------------------------------------------------------


def _translating(plan: Plan) -> Iterator[Row]:
    """Anthropic's messages to OpenAI's chunks, an event at a time: what these do, and no codec here does yet."""
    runs = turn(plan.events)
    texts = [json.dumps(event, ensure_ascii=False) for event in anthropic(runs)]
    case = "Anthropic JSON to OpenAI chat JSON, an event at a time"
    undone = "open: no codec for these formats here"
    for dist, made, target, what in (
        ("llm-rosetta", _rosetta, 1 / 4, "its pipeline's stream processor; the signature is lost"),
        ("litellm", _litellm, 1 / 25, "its Anthropic iterator and model_dump_json; the signature is kept"),
    ):
        name = _name(dist)
        if name is None:
            yield _absent(case, dist, target)
            continue
        work = made(texts)
        deltas = [choice["delta"] for text in work() for choice in json.loads(text)["choices"]]
        for member, kind in (("reasoning_content", "thinking"), ("content", "text")):
            whole = "".join(run.whole for run in runs if run.kind == kind)
            assert "".join(delta.get(member) or "" for delta in deltas) == whole, f"{dist} says something else"
        seconds = statistics.median(cost(work, plan.repeat) / plan.repeat for _ in range(plan.rounds))
        each = f"{seconds / len(texts) * 1e6:.1f} µs an event"
        yield replace(Row(case, name, target=target, note=f"{undone}; theirs: {what}; {each}"), seconds=seconds)


def _rosetta(texts: list[str]) -> Data:
    pipeline = import_module("llm_rosetta.pipeline").ConversionPipeline("openai_chat", "anthropic")
    pipeline.convert_request({"model": "m", "messages": [{"role": "user", "content": "?"}], "stream": True})

    def run() -> list[str]:
        processor = pipeline.create_stream_processor()
        chunks = (chunk for text in texts for chunk in processor.process_chunk(json.loads(text)))
        return [json.dumps(chunk, ensure_ascii=False) for chunk in chunks]

    return run


def _litellm(texts: list[str]) -> Data:
    iterator = import_module("litellm.llms.anthropic.chat.handler").ModelResponseIterator

    def run() -> list[str]:
        lines = (f"data: {text}" for text in texts)
        chunks = iterator(streaming_response=lines, sync_stream=True)
        return [chunk.model_dump_json(exclude_none=True, exclude_unset=True) for chunk in chunks]

    return run


def anthropic(runs: list[Run]) -> list[Unit]:
    """The turn in the words of Anthropic's messages."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    usage = {"input_tokens": 10, "output_tokens": 5}
    out: list[Unit] = [{"type": "message_start", "message": {**message, "usage": usage}}]
    for index, run in enumerate(runs):
        start: Unit = {"type": run.kind, run.kind: ""}
        delta, member = f"{run.kind}_delta", run.kind
        if run.kind == "tool_call":
            start = {"type": "tool_use", "id": run.id, "name": "get_weather", "input": {}}
            delta, member = "input_json_delta", "partial_json"
        said = [{"type": delta, member: piece} for piece in run.pieces]
        if run.signature:
            said.append({"type": "signature_delta", "signature": run.signature})
        out.append({"type": "content_block_start", "index": index, "content_block": start})
        out += [{"type": "content_block_delta", "index": index, "delta": each} for each in said]
        out.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": "tool_use", "stop_sequence": None}
    return [*out, {"type": "message_delta", "delta": end, "usage": usage}, {"type": "message_stop"}]
