"""Shapes: how wire units are laid out. A reader makes frames of input, a writer lays units out; neither knows a codec.

Readers are incremental and linear: bytes may be cut anywhere. A reader keeps at most one unfinished unit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

from ..errors import LimitExceeded
from ..events import JsonObject
from ..limits import Limits

Chunk: TypeAlias = Any
"""What a source yields: bytes-like or text for byte shapes, an object for object shapes."""


class Frame(NamedTuple):
    """One wire unit as its shape holds it. Readers may append plain tuples of the same members, which cost less.

    ``data``: the unit's JSON text, or the object itself; ``None`` where the frame holds only a carry or comments.
    ``offset``: bytes before it. ``name``: the SSE event name. ``carries``: texts of carries beside the unit. ``pings``:
    comments that are none. ``whole``: false where the input ended before the frame was closed by rule.
    """

    data: bytes | JsonObject | None
    offset: int | None = None
    name: str | None = None
    carries: tuple[bytes, ...] = ()
    pings: int = 0
    whole: bool = True


class Framed(NamedTuple):
    """The bytes that lay out one kind of unit, from its name, what is before its text, and what is after.

    Without a carry: ``before`` … ``after``. With one, where it comes ``ahead``: ``carry`` C ``carried_before`` …
    ``after``; else ``before`` … ``carry`` C ``carried_after``.
    """

    before: bytes
    after: bytes
    ahead: bool
    carry: bytes
    carried_before: bytes = b""
    carried_after: bytes = b""


Framing: TypeAlias = Callable[[str | None, bytes, bytes], Framed]
"""``(event name, before, after)`` of a unit's JSON text → how it is laid out."""


class Reader(Protocol):
    """Makes frames of input."""

    @property
    def ended(self) -> bool:
        """Whether the format's end marker was read."""
        ...

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

    @property
    def framing(self) -> Framing | None:
        """How units of one kind are laid out in bytes; ``None`` where units are objects."""
        ...

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        """One unit with its carry, or a carry alone."""

    def ping(self, out: list[Any]) -> None:
        """A keep-alive, where the shape has one."""

    def end(self, out: list[Any]) -> None:
        """After the terminal unit."""


class Shape(Protocol):
    """A layout: makes readers and writers."""

    @property
    def objects(self) -> bool:
        """Whether an element of the output is a Python object rather than bytes."""
        ...

    def reader(self, limits: Limits, strict: bool) -> Reader:
        """A reader for one stream."""
        ...

    def writer(self) -> Writer:
        """A writer for one stream."""
        ...


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
