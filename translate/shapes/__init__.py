"""Shapes: how wire units are laid out. A reader makes frames of input, a writer lays units out; neither knows a codec.

Readers are incremental and linear: bytes may be cut anywhere. A reader keeps at most one unfinished unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ..errors import LimitExceeded
from ..events import JsonObject
from ..limits import Limits

Chunk: TypeAlias = Any
"""What a source yields: bytes-like or text for byte shapes, an object for object shapes."""


@dataclass(slots=True)
class Frame:
    """One wire unit as its shape holds it.

    ``data``: the unit's JSON text, or the object itself; ``None`` where the frame holds only a carry or comments.
    ``name``: the SSE event name. ``carries``: texts of carries beside the unit. ``pings``: comments that are none.
    ``offset``: bytes before it. ``whole``: false where the input ended before the frame was closed by rule.
    """

    data: bytes | JsonObject | None
    offset: int | None = None
    name: str | None = None
    carries: tuple[bytes, ...] = ()
    pings: int = 0
    whole: bool = True


class Reader(Protocol):
    """Makes frames of input."""

    ended: bool
    """Whether the format's end marker was read."""

    def feed(self, chunk: Chunk, out: list[Frame]) -> None:
        """Append the frames that ``chunk`` completes. On an error, ``out`` has those before it."""

    def close(self, out: list[Frame]) -> None:
        """Append what the end of input leaves unfinished, ``whole=False``."""


class Writer(Protocol):
    """Lays units out."""

    joined: bool
    """Whether units are bytes that may be joined."""

    pending: list[JsonObject]
    """Carries that wait for a unit to ride on."""

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        """One unit with its carry, or a carry alone."""

    def ping(self, out: list[Any]) -> None:
        """A keep-alive, where the shape has one."""

    def end(self, out: list[Any]) -> None:
        """After the terminal unit."""


class Shape(Protocol):
    """A layout: makes readers and writers."""

    objects: bool
    """Whether an element of the output is a Python object rather than bytes."""

    def reader(self, limits: Limits, strict: bool) -> Reader:
        """A reader for one stream."""

    def writer(self) -> Writer:
        """A writer for one stream."""


def too_large(limit: int, offset: int) -> LimitExceeded:
    """The error for a unit that passes its limit; ``offset``: where it begins."""
    error = LimitExceeded("unit", limit)
    error.offset = offset
    return error


def octets(chunk: Chunk) -> bytes:
    """A chunk of a byte shape as bytes; text is taken as UTF-8. Raises ``TypeError`` for anything else."""
    if type(chunk) is bytes:
        return chunk
    if isinstance(chunk, str):
        return chunk.encode("utf-8", "surrogatepass")
    if isinstance(chunk, (bytes, bytearray, memoryview)):
        return bytes(chunk)
    raise TypeError(f"a chunk of a byte format is bytes or text, not {type(chunk).__name__}")
