"""The end of a stream that is whole: where its last unit ends, and what stands behind it."""

from __future__ import annotations

from collections.abc import Iterator

from ..registry import resolve
from ..shapes import EVENT_STREAM, JSON_LINES
from .layout import Settings

_BOM = b"\xef\xbb\xbf"
_SILENT = (b"", b"id", b"retry", b"event")
"""Fields of SSE that say nothing by themselves; the first is a comment."""


def last_end(tail: bytes, settings: Settings, *, first: bool, torn: bool) -> int | None:
    """Where the last unit of a stream, or its end marker, ends in the last bytes of it and of what is behind it; the
    length of ``tail`` where nothing behind it says anything. ``None``: the tail is too short to tell.

    ``first``: the tail is all of it; ``torn``: what is not ended is no unit of the stream.
    """
    shape = resolve(settings.src)[1]
    kind = None if shape.objects or not shape.media_types else shape.media_types[0]
    if kind == JSON_LINES[0]:
        # each line that is ended is a unit
        over = tail.rfind(b"\n") + 1
        return None if not over and not first else over if torn and tail[over:].strip() else len(tail)
    if kind != EVENT_STREAM[0]:
        return len(tail)
    strays = False
    blocks = list(_blocks(tail.removeprefix(_BOM) if first else tail, len(_BOM) * (first and tail.startswith(_BOM))))
    for index, (end, block, whole) in reversed(list(enumerate(blocks))):
        if not index and not first:
            return None
        names = {line.partition(b":")[0].strip() for line in block}
        if b"data" in names and (whole or not torn or _is_end_marker(block, settings)):
            return end if strays else len(tail)
        strays = strays or not (names.issubset(_SILENT) if whole else all(map(is_silent, block)))
    return len(tail) if first else None


def is_silent(line: bytes) -> bool:
    """Whether a line of an event stream is a comment, and no carry."""
    return line.startswith(b":") and not line.startswith(b": carry")


def _blocks(data: bytes, at: int) -> Iterator[tuple[int, list[bytes], bool]]:
    """The blocks of event streams: the end of each, its lines, and whether a blank line ended it."""
    block: list[bytes] = []
    for line in data.splitlines(keepends=True):
        at += len(line)
        if line.strip():
            block.append(line)
        elif block:
            yield at, block, True
            block = []
    if block:
        yield at, block, False


def _is_end_marker(block: list[bytes], settings: Settings) -> bool:
    reader = resolve(settings.src)[1].reader(settings.limits, False)
    units = [*reader.feed(b"".join(block)), *reader.close()]
    return reader.ended and not any(unit.data for unit in units)
