"""Shapes: how wire units are laid out. A reader makes frames of input, a writer lays units out; neither knows a codec.

Readers are incremental and linear: bytes may be cut anywhere. A reader keeps at most one unfinished unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from .. import jsontext
from ..algebra.events import JsonObject
from ..errors import LimitExceeded
from ..limits import Limits

Chunk: TypeAlias = Any
"""What a source yields: bytes-like or text for byte shapes, an object for object shapes."""


class Frame(NamedTuple):
    """One wire unit as its shape holds it.

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


EVENT_STREAM = ("text/event-stream",)
JSON_LINES = ("application/x-ndjson", "application/jsonl", "application/ndjson", "application/jsonlines", "text/jsonl")
"""No type is registered for JSON lines; these are in use."""

Framing: TypeAlias = Callable[[bytes, str | None, bytes | None], bytes]
"""``(unit, event name, carry)`` → the bytes of one unit; ``unit`` and ``carry`` are JSON texts."""


LONG: Final = 1 << 20
"""Characters or bytes that are long: what holds as many is copied no more often than it must be."""
_MARK: Final = "\0long"
_SLICE: Final = 1 << 16


def laid(framing: Framing, unit: JsonObject, name: str | None, carry: bytes | None, text: bytes) -> bytes:
    """The bytes of a unit, whose JSON text is ``text``; beside long texts in it they stand in memory once."""
    if len(text) <= LONG:
        return framing(text, name, carry)
    del text
    pieces: list[str] = []
    whole = framing(jsontext.dumps(_without_long(unit, pieces)), name, carry)
    around = whole.split(jsontext.dumps(_MARK))
    if len(around) != len(pieces) + 1:
        # it has such a mark of its own
        return framing(jsontext.dumps(unit), name, carry)
    out = BytesIO()
    for before, piece in zip(around, pieces, strict=False):
        out.write(before + b'"')
        for at in range(0, len(piece), _SLICE):
            out.write(jsontext.dumps(piece[at : at + _SLICE])[1:-1])
        out.write(b'"')
    out.write(around[-1])
    # not a copy
    return out.getvalue()


def _without_long(value: Any, pieces: list[str]) -> Any:
    """A value with marks for its long texts, which are put into ``pieces`` in order."""
    if isinstance(value, str):
        # halves of a pair must not come apart
        if len(value) <= _SLICE or jsontext.has_surrogates(value):
            return value
        pieces.append(value)
        return _MARK
    if type(value) is dict:
        return {key: _without_long(each, pieces) for key, each in value.items()}
    return [_without_long(each, pieces) for each in value] if type(value) is list else value


class Cursor:
    """What a byte reader has at hand: ``data`` from ``at`` on, where a unit begins. ``base``: bytes before it all.

    Whoever reads units of their own from there moves ``at`` behind them.
    """

    __slots__ = ("at", "base", "data")

    def __init__(self) -> None:
        self.data = b""
        self.at = 0
        self.base = 0

    @property
    def offset(self) -> int:
        """Bytes of the stream before the next unit."""
        return self.base + self.at

    def turn(self, data: bytes) -> None:
        """All is read; ``data`` comes next."""
        self.base += self.at
        self.data, self.at = data, 0


class Reader(Protocol):
    """Makes frames of input."""

    @property
    def cursor(self) -> Cursor:
        """Where the next unit begins, between two frames."""
        ...

    @property
    def framing(self) -> Framing | None:
        """How the bytes of a unit are laid out in the usual case; ``None`` where units are objects."""
        ...

    @property
    def ended(self) -> bool:
        """Whether the format's end marker was read."""
        ...

    def one(self, chunk: Chunk) -> Frame | None:
        """The short way for a chunk that is one usual unit, where nothing waits: it is taken.

        ``None``, before anything was changed, for all else: :meth:`feed` is for that.
        """
        ...

    def passes(self, size: int) -> bool:
        """Take a chunk of so many bytes that is one whole unit and was read elsewhere, where nothing waits.

        False, before anything was changed, where something does.
        """
        ...

    def feed(self, chunk: Chunk) -> Iterator[Frame]:
        """Take one chunk. The frames it completes are made one by one; all are to be taken before the next chunk."""
        ...

    def close(self) -> Iterator[Frame]:
        """What the end of input leaves unfinished, ``whole=False``."""
        ...


class Writer(Protocol):
    """Lays units out."""

    joined: bool
    """Whether units are bytes that may be joined."""

    @property
    def pending(self) -> list[JsonObject]:
        """Carries that wait for a unit to ride on."""
        ...

    @property
    def framing(self) -> Framing | None:
        """How the bytes of a unit are laid out; ``None`` where units are objects."""
        ...

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        """One unit with its carry, or a carry alone."""

    def ping(self, out: list[Any]) -> None:
        """A keep-alive, where the shape has one."""

    def end(self, out: list[Any], *, failed: bool = False) -> None:
        """After the terminal unit; ``failed``: it says a failure."""


class Shape(Protocol):
    """A layout: makes readers and writers."""

    @property
    def objects(self) -> bool:
        """Whether an element of the output is a Python object rather than bytes."""
        ...

    @property
    def media_types(self) -> Sequence[str]:
        """What HTTP calls such bytes: the first is written, all are read."""
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


class Octets:
    """Chunks of a byte shape as bytes, text as UTF-8. Half of a surrogate pair at the end of one waits for the next."""

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held = ""
        """The half that waits."""

    def __call__(self, chunk: Chunk) -> bytes:
        """Raises ``TypeError`` for what is neither bytes nor text."""
        if type(chunk) is bytes and not self.held:
            return chunk
        if isinstance(chunk, str):
            text = self.held + chunk
            self.held = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
            return _utf8(text.removesuffix(self.held))
        if isinstance(chunk, (bytes, bytearray, memoryview)):
            return self.rest() + bytes(chunk)
        raise TypeError(f"a chunk of a byte format is bytes or text, not {type(chunk).__name__}")

    def rest(self) -> bytes:
        """The half that waits, given up: nothing more is to be its other half."""
        held, self.held = self.held, ""
        return _utf8(held)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        # a half without its other is for whoever reads it to refuse
        return jsontext.whole(text).encode("utf-8", "surrogatepass")
