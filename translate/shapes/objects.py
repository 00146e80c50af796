"""Objects: one Python dict a unit. As input also bytes and text, whose shape the first bytes tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import jsontext
from ..algebra.events import JsonObject
from ..errors import DecodeError, excerpt
from ..limits import Limits
from . import EVENT_STREAM, JSON_LINES, Chunk, Cursor, Frame, Framing, Reader, octets, too_large
from .array import ArrayReader
from .lines import LinesReader, RidingWriter
from .sse import SseReader

_BOM = b"\xef\xbb\xbf"
_SPACE = b" \t\r\n"


class ObjectsReader:
    """Reads dicts, or whatever bytes turn out to be: ``{`` opens JSON lines, ``[`` an array, anything else is SSE."""

    def __init__(self, limits: Limits, sse: Callable[[], SseReader]) -> None:
        self._limits = limits
        self._sse = sse
        self._bytes: Reader | None = None
        self._none = Cursor()
        self._head: list[bytes] = []
        self._head_size = 0
        self._blank = False
        self._objects = False

    @property
    def cursor(self) -> Cursor:
        return self._bytes.cursor if self._bytes is not None else self._none

    @property
    def framing(self) -> Framing | None:
        return self._bytes.framing if self._bytes is not None else None

    @property
    def ended(self) -> bool:
        return self._bytes is not None and self._bytes.ended

    def feed(self, chunk: Chunk) -> Iterator[Frame]:
        if isinstance(chunk, dict):
            if self._bytes is not None or self._head_size:
                raise DecodeError("an object among bytes", expected="bytes")
            self._objects = True
            return iter((Frame(chunk),))
        if not isinstance(chunk, (str, bytes, bytearray, memoryview)):
            raise DecodeError(f"a unit is an object, not {type(chunk).__name__}", excerpt=excerpt(chunk))
        if self._objects:
            raise DecodeError("bytes among objects", expected="an object", excerpt=excerpt(chunk))
        data = octets(chunk)
        if self._bytes is None:
            self._head.append(data)
            self._head_size += len(data)
            # what follows white space is looked at by itself, so that much of it costs little
            if not self._blank or data.strip(_SPACE):
                data = b"".join(self._head)
                self._bytes = self._recognise(data)
            if self._bytes is None:
                if self._head_size > self._limits.unit:
                    raise too_large(self._limits.unit, 0)
                return iter(())
            self._head = []
        return self._bytes.feed(data)

    def close(self) -> Iterator[Frame]:
        return self._bytes.close() if self._bytes is not None else iter(())

    def _recognise(self, data: bytes) -> Reader | None:
        if _BOM.startswith(data[:3]) and len(data) < 3:
            return None
        first = data.removeprefix(_BOM).lstrip(_SPACE)[:1]
        if not first:
            self._blank = True
            return None
        if first == b"{":
            return LinesReader(self._limits)
        return ArrayReader(self._limits) if first == b"[" else self._sse()


class ObjectsWriter(RidingWriter):
    """Writes dicts."""

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        unit, carry = self.riding(unit, carry)
        if unit is not None:
            out.append({**unit, "carry": jsontext.to_strict(carry)} if carry else unit)


class Objects:
    """The shape of Python objects. ``done``: the SSE end marker of the codec, for input that turns out to be SSE."""

    objects = True
    media_types: Sequence[str] = (*EVENT_STREAM, *JSON_LINES)

    def __init__(self, done: bytes | None = None) -> None:
        self._done = done

    def reader(self, limits: Limits, strict: bool) -> ObjectsReader:
        return ObjectsReader(limits, lambda: SseReader(limits, strict, self._done))

    def writer(self) -> ObjectsWriter:
        return ObjectsWriter()
