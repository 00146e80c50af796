"""Objects: one Python dict a unit. As input also bytes and text, whose shape the first bytes tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import jsontext
from ..algebra.events import JsonObject
from ..errors import DecodeError, excerpt
from ..limits import Limits
from . import EVENT_STREAM, JSON_LINES, Chunk, Cursor, Frame, Framing, Octets, Reader, too_large
from .array import Array, ArrayReader
from .lines import LinesReader, RidingWriter
from .sse import Sse, SseReader

_BOM = b"\xef\xbb\xbf"
_SPACE = b" \t\r\n"


class ObjectsReader:
    """Reads dicts, or whatever bytes turn out to be: ``{`` opens JSON lines, ``[`` an array, anything else is SSE."""

    def __init__(
        self, limits: Limits, sse: Callable[[], SseReader], array: Callable[[], ArrayReader] | None = None
    ) -> None:
        self._limits = limits
        self._sse = sse
        self._array = array or (lambda: ArrayReader(limits, tolerant=True))
        self._bytes: Reader | None = None
        self._none = Cursor()
        self._octets = Octets()
        self._head = bytearray()
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

    def one(self, chunk: Chunk) -> Frame | None:
        return Frame(chunk) if self._objects and type(chunk) is dict else None

    def passes(self, size: int) -> bool:
        return False

    def feed(self, chunk: Chunk) -> Iterator[Frame]:
        if isinstance(chunk, dict):
            if self._bytes is not None or self._head or self._octets.held:
                raise DecodeError("an object among bytes", expected="bytes")
            self._objects = True
            return iter((Frame(chunk),))
        if not isinstance(chunk, (str, bytes, bytearray, memoryview)):
            raise DecodeError(f"a unit is an object, not {type(chunk).__name__}", excerpt=excerpt(chunk))
        if self._objects:
            raise DecodeError("bytes among objects", expected="an object", excerpt=excerpt(chunk))
        return self._feed(self._octets(chunk))

    def close(self) -> Iterator[Frame]:
        yield from self._feed(self._octets.rest())
        if self._bytes is not None:
            yield from self._bytes.close()

    def _feed(self, data: bytes) -> Iterator[Frame]:
        if self._bytes is None:
            self._head += data
            # what follows white space is looked at by itself, so that much of it costs little
            if not self._blank or data.strip(_SPACE):
                data = bytes(self._head)
                self._bytes = self._recognise(data)
            if self._bytes is None:
                if len(self._head.removeprefix(_BOM)) > self._limits.unit:
                    raise too_large(self._limits.unit, 0)
                return iter(())
            self._head.clear()
        return self._bytes.feed(data)

    def _recognise(self, data: bytes) -> Reader | None:
        if _BOM.startswith(data[:3]) and len(data) < 3:
            return None
        first = data.removeprefix(_BOM).lstrip(_SPACE)[:1]
        if not first:
            self._blank = True
            return None
        if first == b"{":
            return LinesReader(self._limits)
        return self._array() if first == b"[" else self._sse()


class ObjectsWriter(RidingWriter):
    """Writes dicts."""

    def write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None, out: list[Any]) -> None:
        unit, carry = self.riding(unit, carry)
        if unit is not None:
            out.append({**unit, "carry": jsontext.copied(jsontext.to_strict(carry))} if carry else unit)


class Objects:
    """The shape of Python objects.

    ``sse``, ``array``: the shapes of input that turns out to be one; without them an array may lack its ``]`` (it is
    reported), and ``done`` is the end marker of event streams.
    """

    objects = True
    media_types: Sequence[str] = (*EVENT_STREAM, *JSON_LINES)

    def __init__(self, done: bytes | None = None, *, sse: Sse | None = None, array: Array | None = None) -> None:
        self._sse = sse if sse is not None else Sse(done)
        self._array = array

    def reader(self, limits: Limits, strict: bool) -> ObjectsReader:
        array = self._array
        arrays = None if array is None else lambda: array.reader(limits, strict)
        return ObjectsReader(limits, lambda: self._sse.reader(limits, strict), arrays)

    def writer(self) -> ObjectsWriter:
        return ObjectsWriter()
