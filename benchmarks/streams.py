"""One stream in the words of both formats, generated or recorded, and the four translations of it that are timed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from translate import Finish, TranslateError, Translator, convert, decode

from .table import Timed
from .work import (
    Run,
    Unit,
    bare,
    conversion,
    cut,
    frames,
    gateway_sse,
    home,
    limit_forward,
    limit_reverse,
    lines,
    made,
    unievent_sse,
    unievents,
)

Write = Callable[[Iterable[Unit]], list[Any]]
SHAPES: dict[str, tuple[str, Write]] = {
    "unievent-jsonl": ("gateway-sse", lines),
    "unievent-sse": ("gateway-sse", unievent_sse),
    "unievent": ("gateway", list),
}
"""Formats of UniEvents → what they are translated to, and how they are written."""


class Figure(NamedTuple):
    """One of the four translations of a stream: what goes in, what comes out, and what its JSON costs alone."""

    name: str
    src: str
    dst: str
    loss: str
    source: list[Any]
    want: list[Any]
    base_name: str
    base: Timed

    def work(self, size: int | None) -> Callable[[], list[Any]]:
        """The translation of the source in chunks of ``size`` bytes, or one unit a chunk."""
        chunks = self.source if size is None else cut(b"".join(self.source), size)
        return conversion(chunks, self.src, self.dst, self.loss)

    def translator(self) -> Translator:
        """One that has got nothing yet."""
        return made(self.src, self.dst, self.loss)

    def right(self, out: Sequence[Any]) -> bool:
        """Whether this came out."""
        return joined(out) == joined(self.want)


def joined(out: Sequence[Any]) -> object:
    """The bytes in one, or the objects."""
    return b"".join(out) if out and isinstance(out[0], bytes) else list(out)


@dataclass(frozen=True)
class Streams:
    """One stream.

    ``events`` and ``frames``: its units in both formats. ``home``: what the frames alone come home as. ``native`` and
    ``carrying``: the frames on SSE, without carries and with them. ``raw``: a recording's own bytes.
    """

    events: list[Unit]
    frames: list[Unit]
    home: list[Unit]
    native: list[bytes]
    carrying: list[bytes]
    raw: bytes | None = None

    @cached_property
    def forward(self) -> Timed:
        """L_fwd of it."""
        return limit_forward(self.events, self.frames)

    @cached_property
    def reverse(self) -> Timed:
        """L_rev of it."""
        return limit_reverse(self.frames, self.events)

    def four(self, shape: str) -> Iterator[Figure]:
        """To the gateway and back, each without carries and with them; ``shape``: the format of the UniEvents."""
        dst, write = SHAPES[shape]
        native: list[Any] = self.native
        carrying: list[Any] = self.carrying
        if dst == "gateway":
            native, carrying = self.frames, list(convert(self.events, shape, dst))
        left = write(self.events)
        source = left if self.raw is None else [self.raw] if dst == "gateway-sse" else self.events
        yield Figure("drop", shape, dst, "drop", source, native, "L_fwd", self.forward)
        yield Figure("carry", shape, dst, "carry", source, carrying, "L_fwd", self.forward)
        yield Figure("back", dst, shape, "drop", native, write(self.home), "L_rev", self.reverse)
        yield Figure("back with carry", dst, shape, "carry", carrying, left, "L_rev", self.reverse)


def generated(runs: list[Run]) -> Streams:
    """Runs, whose frames the library did not make."""
    events, native = unievents(runs), gateway_sse(frames(runs))
    carrying = b"".join(convert(events, "unievent", "gateway-sse"))
    assert bare(carrying) == b"".join(native), "carries stand beside the native content"
    return Streams(events, frames(runs), home(runs), native, blocks(carrying))


def recorded(raw: bytes) -> Streams:
    """A recording of UniEvent SSE that ends well; what it becomes is the library's, and found right.

    Raises :class:`translate.TranslateError` or ``ValueError`` for any other.
    """
    events = units(raw, orjson.loads)
    if type(list(decode(raw, "unievent-sse"))[-1]) is not Finish:
        raise ValueError("it reports a failure")
    native = b"".join(convert(raw, "unievent-sse", "gateway-sse", loss="drop"))
    carrying = b"".join(convert(raw, "unievent-sse", "gateway-sse"))
    plain = b"".join(conversion([native], "gateway-sse", "unievent-sse", "drop")())
    assert units(b"".join(convert(carrying, "gateway-sse", "unievent-sse"))) == units(raw), "not what went out"
    assert _content(units(plain)) == _content(units(raw)), "not the content that went out"
    frames, back = units(native, orjson.loads), units(plain, orjson.loads)
    return Streams(events, frames, back, blocks(native), blocks(carrying), raw)


def recordings(folder: Path) -> tuple[list[Streams], int]:
    """The recordings of a directory that are fit, and how many there are."""
    found = []
    paths = sorted(folder.glob("*.sse"))
    for path in paths:
        try:
            found.append(recorded(path.read_bytes()))
        except (TranslateError, ValueError):
            continue
    return found, len(paths)


def blocks(sse: bytes) -> list[bytes]:
    """The blocks of an event stream."""
    return [block + b"\n\n" for block in sse.split(b"\n\n")[:-1]]


def units(sse: bytes, loads: Callable[[bytes], Any] = json.loads) -> list[Unit]:
    """The units of a careful writer's event stream."""
    data = [line.removeprefix(b"data: ") for line in sse.split(b"\n") if line.startswith(b"data: {")]
    return [loads(text) for text in data]


def _content(events: list[Unit]) -> tuple[str, str, list[Any]]:
    """The texts, the thoughts and the calls."""
    items = [item for event in events for item in event["content_items"]]
    text = "".join(item["text"] for item in items if item["type"] == "text.done")
    thinking = "".join(item["thinking"] for item in items if item["type"] == "thinking.done")
    calls = [(item["name"], item["arguments"]) for item in items if item["type"] == "tool_call.done"]
    return text, thinking, calls
