"""Chat Completions and Anthropic Messages: what their JSON costs alone, what their peers take, and long streams.

The turn is written in each format by hand, and what comes of it is checked by its content.
"""

from __future__ import annotations

import json
import os
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import orjson

from translate import TranslateError, assemble, convert

from .kinds import TARGET, WIDE
from .table import Plan, Row, Timed, cost, measure
from .work import Run, Unit, bare, conversion, cut, frames, gateway_sse, made, turn, unievent_sse, unievents

CHAT, CLAUDE = "openai-chat-sse", "anthropic-sse"
CUTS = {"4 KiB": (4096, 2.5), "one unit": (None, 3.0)}
"""How the source is cut: size of chunks, and at most how many times its JSON alone."""
HEAD = {"id": "c1", "object": "chat.completion.chunk", "created": 5, "model": "m"}


def vendors(plan: Plan) -> Iterator[Row]:
    """All of them."""
    # asks no server
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    sources = turns(turn(plan.events))
    yield from _alone(sources, plan)
    for peer in PEERS:
        yield from _against(peer, sources, plan)
    yield from _growth(plan)


# ---- the turn in each format -----------------------------------------------------------------------------


def turns(runs: list[Run]) -> dict[str, list[bytes]]:
    """Format → the turn, a unit a block."""
    return {
        CHAT: chat_sse(chat(runs)),
        CLAUDE: anthropic_sse(anthropic(runs)),
        "gateway-sse": gateway_sse(frames(runs)),
        "unievent-sse": unievent_sse(unievents(runs)),
    }


def anthropic(runs: list[Run]) -> list[Unit]:
    """Runs in the words of Anthropic's messages."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    usage = {"input_tokens": 10, "output_tokens": 5}
    ends = {"stop_reason": None, "stop_sequence": None}
    out: list[Unit] = [{"type": "message_start", "message": {**message, **ends, "usage": usage}}]
    for index, run in enumerate(runs):
        start: Unit = {"type": run.kind, run.kind: ""} | ({"signature": ""} if run.kind == "thinking" else {})
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


def chunk(delta: Unit, reason: str | None = None) -> Unit:
    """A chunk of a Chat stream."""
    return {**HEAD, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def call(index: int, id: str) -> Unit:
    """The chunk that begins a call."""
    function = {"name": "get_weather", "arguments": ""}
    return chunk({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})


def piece(index: int, text: str) -> Unit:
    """A later chunk of it."""
    return chunk({"tool_calls": [{"index": index, "function": {"arguments": text}}]})


def chat(runs: list[Run]) -> list[Unit]:
    """Runs in the words of Chat; its thinking has no signature."""
    out, calls = [chunk({"role": "assistant", "content": ""})], 0
    for run in runs:
        if run.kind == "tool_call":
            out += [call(calls, run.id), *(piece(calls, text) for text in run.pieces)]
            calls += 1
        else:
            member = "content" if run.kind == "text" else "reasoning_content"
            out += [chunk({member: text}) for text in run.pieces]
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return [*out, chunk({}, "tool_calls" if calls else "stop"), {**HEAD, "choices": [], "usage": usage}]


def chat_sse(units: Sequence[Unit]) -> list[bytes]:
    """Chunks on SSE."""
    return [*(b"data: " + orjson.dumps(unit) + b"\n\n" for unit in units), b"data: [DONE]\n\n"]


def anthropic_sse(units: Sequence[Unit]) -> list[bytes]:
    """Events on SSE."""
    return [b"event: %b\ndata: %b\n\n" % (unit["type"].encode(), orjson.dumps(unit)) for unit in units]


# ---- against what the JSON costs alone -------------------------------------------------------------------


def _alone(sources: dict[str, list[bytes]], plan: Plan) -> Iterator[Row]:
    for src, source in sources.items():
        for dst in sources:
            if src == dst or not {src, dst} & {CHAT, CLAUDE}:
                continue
            carrying = blocks(b"".join(convert(source, src, dst)))
            base = limit(source, blocks(bare(b"".join(carrying))))
            back = limit(blocks(bare(b"".join(carrying))), source)
            for label, (size, most) in CUTS.items():
                for loss in ("drop", "carry"):
                    work = _checked(source, src, dst, loss, size)
                    yield measure(f"{src} to {dst}, {loss}, {label}", "L", work, base, plan, most)
                if src in (CHAT, CLAUDE):
                    work = _checked(carrying, dst, src, "carry", size)
                    yield measure(f"{dst} to {src}, home, {label}", "L", work, back, plan, most)


def blocks(sse: bytes) -> list[bytes]:
    """The blocks of an event stream."""
    return [block + b"\n\n" for block in sse.split(b"\n\n")[:-1]]


def _data(block: bytes) -> tuple[bytes, bytes]:
    """What stands before a unit's JSON, and that."""
    head, mark, data = block.rpartition(b"data: ")
    return head + mark, data.strip()


def limit(read: Sequence[bytes], written: Sequence[bytes]) -> Timed:
    """Each unit read as JSON, and one of those that are written, with what is around it, in turn."""
    texts = [data for _, data in map(_data, read) if data[:1] == b"{"]
    framed = [(head, orjson.loads(data)) for head, data in map(_data, written) if data[:1] == b"{"]
    pairs = list(zip(texts, cycle(framed), strict=False))

    def run() -> list[bytes]:
        out = []
        for text, (head, unit) in pairs:
            orjson.loads(text)
            out.append(head + orjson.dumps(unit) + b"\n\n")
        return out

    return run


def _checked(source: list[bytes], src: str, dst: str, loss: str, size: int | None) -> Callable[[], list[Any]]:
    """The translation of a whole turn, whose output has its content."""
    work = conversion(source if size is None else cut(b"".join(source), size), src, dst, loss)
    assert content(b"".join(work()), dst) == content(b"".join(source), src) != [], f"{src} to {dst}: wrong output"
    return work


def content(stream: bytes, format: str) -> list[Any]:
    """Kinds, texts, names and arguments of what a stream says."""
    items = assemble([stream], format, "unievent", limits=WIDE)["content_items"]
    return [[item.get(name) for name in ("type", "text", "thinking", "name", "arguments")] for item in items]


# ---- against others --------------------------------------------------------------------------------------


Like: TypeAlias = Callable[[Sequence[bytes]], list[bytes]]
"""Like work: from chunks of SSE to blocks."""


class Peer(NamedTuple):
    """What does like work; ``made`` sets it up."""

    dist: str
    what: str
    src: str
    dst: str
    made: Callable[[], Like]
    target: float


def _rosetta(client: str, server: str) -> Callable[[], Like]:
    """As its gateway does it: its reader of lines, its pipeline, its formatter."""

    def make() -> Like:
        events = import_module("llm_rosetta._vendor.sse").EventSource
        formatted = import_module("llm_rosetta.gateway.transport.sse_format").SSE_FORMATTERS[client]
        pipeline = import_module("llm_rosetta.pipeline").ConversionPipeline(client, server)
        ask = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}], "stream": True}
        pipeline.convert_request(ask)

        def run(chunks: Sequence[bytes]) -> list[bytes]:
            processor = pipeline.create_stream_processor()
            out = []
            for event in events(_lines(chunks)):
                if event.data != "[DONE]":
                    out += [formatted(unit).encode() for unit in processor.process_chunk(json.loads(event.data))]
            return out

        return run

    return make


def _lines(chunks: Sequence[bytes]) -> Iterator[str]:
    """The lines of chunks that end with one."""
    for data in chunks:
        yield from data.decode().split("\n")[:-1]


def _litellm_iterator() -> Like:
    iterator = import_module("litellm.llms.anthropic.chat.handler").ModelResponseIterator

    def run(chunks: Sequence[bytes]) -> list[bytes]:
        units = iterator(streaming_response=(line for line in _lines(chunks) if line[:5] == "data:"), sync_stream=True)
        return [f"data: {unit.model_dump_json(exclude_none=True, exclude_unset=True)}\n\n".encode() for unit in units]

    return run


def _litellm_wrapper() -> Like:
    wrapper = import_module("litellm.llms.anthropic.messages.adapters.streaming_iterator").AnthropicStreamWrapper
    unit = import_module("litellm.types.utils").ModelResponseStream

    def run(chunks: Sequence[bytes]) -> list[bytes]:
        texts = (line[6:] for line in _lines(chunks) if line[:7] == "data: {")
        units = (unit(**json.loads(text)) for text in texts)
        return list(wrapper(completion_stream=units, model="m").anthropic_sse_wrapper())

    return run


PEERS = (
    Peer("llm-rosetta", "as in its gateway", CLAUDE, CHAT, _rosetta("openai_chat", "anthropic"), 1 / 3),
    Peer("llm-rosetta", "as in its gateway", CHAT, CLAUDE, _rosetta("anthropic", "openai_chat"), 1 / 3),
    Peer("litellm", "its iterator", CLAUDE, CHAT, _litellm_iterator, 1 / 10),
    Peer("litellm", "its wrapper", CHAT, CLAUDE, _litellm_wrapper, 1 / 25),
)
ALIKE = "from a unit a chunk of SSE to blocks of SSE, each its JSON read and written"


def _against(peer: Peer, sources: dict[str, list[bytes]], plan: Plan) -> Iterator[Row]:
    case = f"{peer.src} to {peer.dst}, one unit"
    try:
        name = f"{peer.dist} {version(peer.dist)}"
    except PackageNotFoundError:
        yield Row(case, f"{peer.dist}, {peer.what}", target=peer.target, note=f"{peer.dist} is not installed")
        return
    theirs = peer.made()
    source = sources[peer.src]
    said = b"".join(theirs(source))
    whole = json.dumps("".join(run.whole for run in turn(plan.events) if run.kind == "text"))
    assert _text(said) == json.loads(whole), f"{peer.dist} says something else"
    for loss in ("drop", "carry"):
        ours = _checked(source, peer.src, peer.dst, loss, None)
        row = measure(f"{case}, {loss}", name, ours, lambda: theirs(source), plan, peer.target)
        yield row.noted(f"{peer.what}: {ALIKE}")
    if plan.corpus is not None:
        yield from _recorded(peer, name, theirs, plan.corpus.parent / peer.src.removesuffix("-sse"))


def _text(sse: bytes) -> str:
    """The text that a stream of either format says, by the plainest reading there is."""
    units = [orjson.loads(data) for _, data in map(_data, blocks(sse)) if data[:1] == b"{"]
    found = [unit.get("delta", {}).get("text") for unit in units]
    found += [each["delta"].get("content") for unit in units for each in unit.get("choices", ())]
    return "".join(filter(None, found))


def _recorded(peer: Peer, name: str, theirs: Like, folder: Path) -> Iterator[Row]:
    """The recording of a directory that ours is slowest at, beside theirs; what either refuses is left out."""
    found, refused = [], 0
    for path in sorted(folder.glob("*.sse")):
        source = blocks(path.read_bytes().replace(b"\r\n", b"\n"))
        ours, other = conversion(source, peer.src, peer.dst, "drop"), partial(theirs, source)
        try:
            alike = len(other()) > 1 and len(ours()) > 1
        except Exception:
            alike = False
        if not alike:
            refused += 1
            continue
        ratios = [cost(ours, 3) / cost(other, 3) for _ in range(3)]
        found.append((statistics.median(ratios), path.stem))
    if found:
        worst, stem = max(found)
        note = f"{stem}; median {statistics.median(ratio for ratio, _ in found):.3f} of {len(found)}; {refused} refused"
        yield Row(f"{peer.src} to {peer.dst}, the worst recording", name, worst, target=1.0, note=note)


# ---- long streams ----------------------------------------------------------------------------------------


def _growth(plan: Plan) -> Iterator[Row]:
    """Ten times as much of what a Chat stream can have much of: the time is to grow by ten."""
    for what, many, source in (
        ("fragments of a call", plan.fragments, _long_call),
        ("fragments of 8 calls at random", plan.fragments, _interleaved),
        ("chunks of padding", plan.padding, _padding),
    ):
        few = many // 10
        for dst in (CLAUDE, "unievent-sse"):
            base, work = (_let_go(source(count), dst) for count in (few, many))
            case = f"{what}, {CHAT} to {dst}"
            yield measure(case, f"{few:,}, not {many:,}", work, base, plan.slow(), TARGET)


def _long_call(count: int) -> list[Unit]:
    texts = ['{"text":"', *"x" * (count - 2), '"}']
    return [call(0, "toolu_0"), *(piece(0, text) for text in texts), chunk({}, "tool_calls")]


def _interleaved(count: int, calls: int = 8) -> list[Unit]:
    """Calls that all begin, and whose fragments come in an order of chance."""
    rng = random.Random(1)
    left = [[*('{"text":"', *"x" * (count // calls - 2), '"}')] for _ in range(calls)]
    order = [index for index, texts in enumerate(left) for _ in texts]
    rng.shuffle(order)
    given = [iter(texts) for texts in left]
    begun = [call(index, f"toolu_{index}") for index in range(calls)]
    return [*begun, *(piece(index, next(given[index])) for index in order), chunk({}, "tool_calls")]


def _padding(count: int) -> list[Unit]:
    padded = {**chunk({}), "obfuscation": "x"}
    return [chunk({"content": "Hi"}), *[padded] * count, chunk({"content": "!"}), chunk({}, "stop")]


def _let_go(units: list[Unit], dst: str) -> Timed:
    """The translation of a stream, nothing of which is kept; what it says was found right."""
    chunks = cut(b"".join(chat_sse(units)), 4096)
    said = b"".join(data for step in _steps(chunks, dst) for data in step)
    try:
        assert content(said, dst) == content(b"".join(chunks), CHAT) != []
    except TranslateError as error:
        raise AssertionError(f"{CHAT} to {dst}: {error}") from error
    del said

    def run() -> None:
        for _ in _steps(chunks, dst):
            pass

    return run


def _steps(chunks: list[bytes], dst: str) -> Iterator[list[Any]]:
    translator = made(CHAT, dst, "carry", limits=WIDE)
    for data in chunks:
        yield translator.feed(data)
    yield translator.close()
