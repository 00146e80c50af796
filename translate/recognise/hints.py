"""Errors at the beginning of an input that is of another format say of which."""

from __future__ import annotations

from typing import Any

from ..engine.translator import Machine
from ..errors import DecodeError, GrammarError, TranslateError, TruncatedStream
from ..registry import codec, resolve
from ..shapes import EVENT_STREAM
from .formats import best
from .others import is_json, is_sse, other

_HEAD = 1 << 16
"""Bytes of the beginning that are kept, but for the last chunk of it."""


def hint(error: TranslateError, head: Any) -> None:
    """Fill in ``error.looks_like`` where an input that begins so is of another format than ``error.format``.

    ``head``: bytes, or the first unit. Only an error of the first unit, or of an input without any, can have it.
    """
    of_input = isinstance(error, (DecodeError, GrammarError, TruncatedStream))
    if not of_input or error.format is None or error.unit not in (None, 0):
        return
    # the line that fails may be all that came of an SSE block
    found, likeness = best(head, objects=True) if isinstance(head, dict) else best(head + b"\n\n")
    if found is None or likeness < 2:
        known = other(head)
        if known is None:
            error.looks_like = _other_shape(error.format, head)
        elif known.codec != codec(error.format).name:
            error.looks_like = known.advice
    elif found != error.format and error.format != codec(found).name:
        error.looks_like = f"the format {found!r}"


def _other_shape(format: str, head: Any) -> str | None:
    """SSE where lines of JSON are read, or JSON where SSE is."""
    shape = resolve(format)[1]
    if isinstance(head, dict) or shape.objects:
        return None
    reads_sse = set(EVENT_STREAM) <= set(shape.media_types)
    if is_json(head):
        return "JSON, not SSE" if reads_sse else None
    return "SSE, not lines of JSON" if is_sse(head) and not reads_sse else None


class Hinting(Machine[Any]):
    """A machine whose errors have a :func:`hint`. It keeps the beginning of its input until output is made of it."""

    _head: list[Any] | None = None
    _size = 0
    _done = False

    def _read(self, data: Any, out: list[Any]) -> None:
        if not self._done:
            self._keep(data)
        super()._read(data, out)  # type: ignore[safe-super]
        if out:
            self._head, self._done = None, True

    def _keep(self, data: Any) -> None:
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogatepass")
        self._head = self._head or []
        if self._size < _HEAD and isinstance(data, (bytes, bytearray, memoryview, dict)):
            self._head.append(data)
            self._size += len(data)

    def _meet(self, error: Exception, out: list[Any]) -> Exception | None:
        head, self._head = self._head, None
        if head and isinstance(error, TranslateError):
            hint(error, head[0] if isinstance(head[0], dict) else b"".join(head))
        return super()._meet(error, out)
