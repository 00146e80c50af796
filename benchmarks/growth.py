"""What becomes of the cost of an event as streams get longer, parts larger, and streams more."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import orjson

from .kinds import WIDE, kinds
from .table import Plan, Row, Timed, measure, times
from .work import (
    WORDS,
    bare,
    frame,
    gateway_sse,
    lines,
    made,
    unievent,
    unievent_stop,
)

LINE = "A line of text, as long as lines are, and not all of it ASCII: é, “so”, 日本.".ljust(127, "-") + "\n"
TOKENS, LINES = WORDS * 2, [LINE] * 16
"""What one chunk of about 4 KiB says."""


@dataclass(frozen=True)
class Long:
    """A stream said in few words: text parts, each so many times the same chunk of fragments. Never held whole."""

    pieces: list[str]
    times: int = 1
    parts: int = 1
    cut_off: bool = False
    """Nothing after the fragments of the first part."""

    @property
    def events(self) -> int:
        """Of the UniEvent stream."""
        return self.parts * (self.times * len(self.pieces) + 1) + 1

    def unievents(self, cached: int | None = 0) -> Iterator[bytes]:
        """Chunks of UniEvent lines."""
        after = [] if self.cut_off else self._done()
        chunk = b"".join(lines(unievent({"type": "text.delta", "text": piece}) for piece in self.pieces))
        for _ in range(self.parts):
            for _ in range(self.times):
                yield chunk
            yield from after
        if not self.cut_off:
            yield b"".join(lines([unievent_stop(cached=cached)]))

    def _done(self) -> list[bytes]:
        """Chunks of a part's last event, most of them the same 64 KiB."""
        said = orjson.dumps("".join(self.pieces))[1:-1]
        (done,) = lines([unievent({"type": "text.done", "text": "…"})])
        head, _, tail = done.partition("…".encode())
        once = max(1, 65536 // len(said))
        most, rest = divmod(self.times, once)
        out = [head + said * rest, *[said * once] * most]
        out[-1] += tail
        return out

    def frames(self) -> Iterator[bytes]:
        """Chunks of gateway frames."""
        unknown = dict.fromkeys(("name", "tier", "publisher", "provider"), "unknown")
        usage = {"provider": "unknown", "inputTokens": 10, "outputTokens": 5, "finishReason": "toolCall"}
        start, stop = gateway_sse([frame("streamStart", model=unknown), frame("stop", usage=usage)])
        opened, closed = gateway_sse([frame("contentStart"), frame("contentEnd")])
        chunk = b"".join(gateway_sse(frame("content", value=piece) for piece in self.pieces))
        yield start
        for _ in range(self.parts):
            yield opened
            for _ in range(self.times):
                yield chunk
            if not self.cut_off:
                yield closed
        if not self.cut_off:
            yield stop


Way = tuple[str, str, str]
FORWARD: Way = ("unievent-jsonl", "gateway-sse", "carry")
BACK: Way = ("gateway-sse", "unievent-jsonl", "drop")
NAMES = {FORWARD: "to gateway-sse, carry", BACK: "to unievent-jsonl, no carry"}


def chunks(long: Long, way: Way) -> Iterable[bytes]:
    """The stream as the source of a way."""
    return long.unievents() if way is FORWARD else long.frames()


def steps(chunks: Iterable[Any], way: Way, cut_off: bool = False) -> Iterator[list[Any]]:
    """What each step of a translation gives."""
    src, dst, loss = way
    translator = made(src, dst, loss, limits=WIDE)
    for chunk in chunks:
        yield translator.feed(chunk)
    if not cut_off:
        yield translator.close()


def checked(long: Long, way: Way) -> Timed:
    """The translation of a long stream, whose output is right, and then let go."""
    want = long.frames() if way is FORWARD else long.unievents(cached=None)
    said = (bare(b"".join(out)) for out in steps(chunks(long, way), way, long.cut_off))
    assert _digest(said) == _digest(want), f"{NAMES[way]}: wrong output"
    return let_go(long, way)


def let_go(long: Long, way: Way) -> Timed:
    """The translation of a long stream, unchecked."""

    def run() -> None:
        for _ in steps(chunks(long, way), way, long.cut_off):
            pass

    return run


def _digest(pieces: Iterable[bytes]) -> bytes:
    found = hashlib.blake2b()
    for piece in pieces:
        found.update(piece)
    return found.digest()


def growth(plan: Plan) -> Iterator[Row]:
    """All of them."""
    slow = plan.slow()
    yield Row("all", note="of UniEvent lines and gateway SSE, in chunks of about 4 KiB; a text of tokens or of lines")
    for way in (FORWARD, BACK):
        for length in plan.lengths:
            yield _length(length, way, slow)
    for megabytes in plan.parts:
        yield _part(megabytes, FORWARD, slow)
        yield _part(megabytes, FORWARD, slow, cut_off=True)
        yield _part(megabytes, BACK, slow)
    yield _short(plan.streams, slow)
    yield _open(plan.streams, slow)
    yield from kinds(plan)


def _length(events: int, way: Way, plan: Plan) -> Row:
    """The same number of events in one stream, and in streams of 1,000."""
    one, thousand = (Long(TOKENS, max(1, round(count / len(TOKENS)))) for count in (events, 1000))
    count = max(1, events // 1000)
    more = max(1, 1000 // events)
    work, base = times(more, checked(one, way)), times(count, checked(thousand, way))
    # the counts are near, not equal
    scale = count * thousand.events / (more * one.events)
    return measure(f"{events:,} events, {NAMES[way]}", "streams of 1,000", work, base, plan, scale=scale)


def _part(megabytes: int, way: Way, plan: Plan, cut_off: bool = False) -> Row:
    """Lines in one part, and in many parts; cut off, in many streams."""
    # a stream costs more to begin than a part
    small = 64 if cut_off else 8
    count = megabytes * 1024 * 1024 // (small * sum(map(len, LINES)))
    work = checked(Long(LINES, small * count, cut_off=cut_off), way)
    few = Long(LINES, small, 1, cut_off)
    checked(few, way)
    base = times(count, let_go(few, way)) if cut_off else let_go(replace(few, parts=count), way)
    case = f"one part of {megabytes} MB, {NAMES[way]}{', without its .done' if cut_off else ''}"
    base_name = "streams of 128 KiB" if cut_off else "parts of 16 KiB"
    return measure(case, base_name, work, base, plan, 1.2 if megabytes == 64 else None)


def _short(count: int, plan: Plan) -> Row:
    """Many streams of 8 events, and one as long as all."""
    one = checked(Long(WORDS[:6]), FORWARD)
    base = checked(Long(WORDS[:6], 1, count), FORWARD)
    found = measure(f"{count:,} streams of 8 events, {NAMES[FORWARD]}", "one stream", times(count, one), base, plan)
    return found.noted(f"{(found.seconds or 0) / count * 1e6:.0f} µs a stream")


def _open(count: int, plan: Plan) -> Row:
    """As many streams open at once, each fed an event at a time, and the same one after another."""
    long = Long(TOKENS, 2)
    events = b"".join(long.unievents()).splitlines(keepends=True)
    said = b"".join(b"".join(out) for out in steps(events, FORWARD))
    assert bare(said) == b"".join(long.frames())

    def one() -> None:
        for _ in steps(events, FORWARD):
            pass

    def all_at_once() -> None:
        for _ in zip(*(steps(events, FORWARD) for _ in range(count)), strict=True):
            pass

    case = f"{count:,} streams open at once, {NAMES[FORWARD]}, one event"
    return measure(case, "one after another", all_at_once, times(count, one), plan)


def streamed(megabytes: int, way: Way) -> Long:
    """A stream of so many MB of source, in parts of 16 KiB."""
    part = Long(LINES, 8)
    size = sum(map(len, chunks(part, way)))
    return replace(part, parts=max(1, megabytes * 1024 * 1024 // size))
