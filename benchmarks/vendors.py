"""The formats of providers: what their JSON costs alone, what other libraries take, and long streams.

The turn is written in each format by hand (:mod:`benchmarks.turns`), and what comes of it is checked by its content.
"""

from __future__ import annotations

import os
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import cycle
from pathlib import Path
from typing import Any

import orjson

from translate import TranslateError, assemble, convert

from .kinds import TARGET, WIDE
from .rivals import RIVALS, Like, Rival, text_of
from .runs import runs
from .table import Plan, Row, Timed, cost, measure
from .turns import CHAT, CLAUDE, GEMINI, INTERACTIONS, RESPONSES, call, chat_sse, chunk, data_sse, gemini, piece, turns
from .work import Run, Unit, bare, conversion, cut, made, turn

SEEDS = ("gateway-sse", "unievent-sse")
CUTS: dict[str, tuple[int | None, float]] = {"4 KiB": (4096, 2.5), "one unit": (None, 3.0)}
"""How the source is cut: size of chunks, and at most how many times its JSON alone."""
PAIRS = [
    *((src, dst) for src in (CHAT, CLAUDE) for dst in (CHAT, CLAUDE, *SEEDS) if src != dst),
    *((src, dst) for src in SEEDS for dst in (CHAT, CLAUDE)),
    *((src, dst) for src in (RESPONSES, GEMINI, INTERACTIONS) for dst in (CHAT, "gateway-sse")),
    *((src, dst) for src in (CHAT, "gateway-sse") for dst in (RESPONSES, GEMINI, INTERACTIONS)),
]


def vendors(plan: Plan) -> Iterator[Row]:
    """All of them."""
    # asks no server
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    sources = turns(turn(plan.events))
    yield from _alone(sources, plan)
    yield from _one_part(plan)
    for rival in RIVALS:
        yield from _against(rival, sources, plan)
    yield from _growth(plan)


# ---- against what the JSON costs alone -------------------------------------------------------------------


def _alone(sources: dict[str, list[bytes]], plan: Plan) -> Iterator[Row]:
    for src, dst in PAIRS:
        source = sources[src]
        carrying = blocks(b"".join(convert(source, src, dst)))
        base = limit(source, blocks(bare(b"".join(carrying))))
        back = limit(blocks(bare(b"".join(carrying))), source)
        for label, (size, most) in CUTS.items():
            # Gemini has an aim of its own
            aim = None if GEMINI in (src, dst) else most
            for loss in ("drop", "carry"):
                work = _checked(source, src, dst, loss, size)
                yield measure(f"{src} to {dst}, {loss}, {label}", "L", work, base, plan, aim)
            if src not in SEEDS:
                work = _checked(carrying, dst, src, "carry", size)
                yield measure(f"{dst} to {src}, home, {label}", "L", work, back, plan, aim)


def _one_part(plan: Plan) -> Iterator[Row]:
    """Chunks of Gemini that say one part of text, each by itself: under counts that stay, and that grow."""
    run = [Run("text", next(each for each in turn(plan.events) if each.kind == "text").pieces)]
    for grows in (False, True):
        source = data_sse(gemini(run, grows=grows))
        for dst in ("gateway-sse", CHAT):
            base = limit(source, blocks(b"".join(convert(source, GEMINI, dst, loss="drop"))))
            for loss in ("drop", "carry"):
                work = _checked(source, GEMINI, dst, loss, None)
                case = f"{GEMINI} to {dst}, {loss}, one text part{', counts grow' if grows else ''}, runs off"
                yield measure(case, "L", _singly(work), base, plan, 6.0)


def _singly(work: Timed) -> Timed:
    def run() -> object:
        with runs(False):
            return work()

    return run


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

ALIKE = "from chunks of SSE to blocks of SSE, each its JSON read and written"


def _against(rival: Rival, sources: dict[str, list[bytes]], plan: Plan) -> Iterator[Row]:
    case = f"{rival.src} to {rival.dst}"
    try:
        name = f"{rival.dist} {version(rival.dist)}"
    except PackageNotFoundError:
        note = f"{rival.dist} is not installed"
        yield Row(f"{case}, one unit", f"{rival.dist}, {rival.what}", target=rival.target, note=note)
        return
    theirs = rival.made()
    source = sources[rival.src]
    whole = "".join(run.whole for run in turn(plan.events) if run.kind == "text")
    said = text_of(b"".join(theirs(source)))
    for label, (size, _) in CUTS.items():
        chunks = source if size is None else cut(b"".join(source), size)
        for loss in ("drop", "carry"):
            ours = _checked(source, rival.src, rival.dst, loss, size)
            row = Row(f"{case}, {loss}, {label}", name, target=rival.target)
            if said != whole:
                # no like work: its output lacks text, or has more
                yield row.noted(f"{rival.what}: of {len(whole):,} characters of text it says {len(said):,}")
                continue
            found = measure(row.case, name, ours, partial(theirs, chunks), plan, rival.target)
            yield found.noted(f"{rival.what}: {ALIKE}")
    if plan.corpus is not None:
        yield from _recorded(rival, name, theirs, plan.corpus.parent / rival.src.removesuffix("-sse"))


def _recorded(rival: Rival, name: str, theirs: Like, folder: Path) -> Iterator[Row]:
    """The recording of a directory that ours is slowest at, beside theirs; what either refuses is left out."""
    found, refused = [], 0
    for path in sorted(folder.glob("*.sse")):
        source = blocks(path.read_bytes().replace(b"\r\n", b"\n"))
        ours, other = conversion(source, rival.src, rival.dst, "drop"), partial(theirs, source)
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
        slower = sum(ratio > 1 for ratio, _ in found)
        middle = statistics.median(ratio for ratio, _ in found)
        note = f"{stem}; median {middle:.3f} of {len(found)}, {slower} of them slower; {refused} refused"
        yield Row(f"{rival.src} to {rival.dst}, the worst recording", name, worst, target=1.0, note=note)


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
