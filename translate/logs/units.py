"""The units of one stream, one by one: which output unit came of which input unit.

1. A unit that became one output unit, and those that follow it and are like it, become one each: they are fed together.
   Units are alike that differ in one text, and in digits elsewhere; such runs are what streams mostly are.
2. Where that does not hold, as the number of output units tells, all are fed one by one, from the start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from .. import jsontext
from ..registry import resolve
from .layout import Counts, Settings
from .stream import broken, chunks_of, count, end_of, report_for, translator, verify

_RUN = 512
"""Units that are fed together at most."""
_TEXT = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_DIGITS = bytes(ord("0") if byte in b"0123456789" else byte for byte in range(256))


class _Unlike(Exception):
    """Units that looked alike became different numbers of units."""


def convert_units(units: Sequence[Any], settings: Settings, counts: Counts) -> list[tuple[int, Any]]:
    """Convert the units of one stream, in order: the output units, each with the index of the unit that let it be said.

    A unit is text in a format of bytes, or an object; output units are text where ``dst`` is one of bytes, else
    objects. Raises :class:`TranslateError` where the stream is broken.
    """
    chunks = chunks_of(units, settings.src)
    runs = [1] * len(chunks) if any(isinstance(chunk, dict) for chunk in chunks) else _alike(chunks)
    try:
        return _convert(chunks, runs, settings, counts)
    except _Unlike:
        return _convert(chunks, [1] * len(chunks), settings, counts)


def _convert(chunks: list[Any], runs: list[int], settings: Settings, counts: Counts) -> list[tuple[int, Any]]:
    report = report_for(settings)
    running = translator(settings, report)
    split = _splitter(settings)
    out: list[tuple[int, Any]] = []
    raw: list[Any] = []
    at = 0
    while at < len(chunks):
        said = running.feed(chunks[at])
        made = split(said)
        out += [(at, each) for each in made]
        raw += said
        at += 1
        if len(made) != 1 or runs[at - 1] == 1:
            continue
        # those like it
        end = at - 1 + runs[at - 1]
        said = running.feed(b"".join(chunks[at:end]))
        made = split(said)
        if len(made) != end - at and running.error is None and running.failure is None:
            raise _Unlike
        out += list(zip(range(at, end), made, strict=False))
        raw += said
        at = end
    said = running.close()
    out += [(len(chunks) - 1, each) for each in split(said)]
    raw += said
    error = broken(running)
    if error is not None:
        raise error
    if settings.verify:
        verify(settings, lambda: chunks, lambda: raw)
    count(counts, settings, running, report)
    return out


def _alike(chunks: list[bytes]) -> list[int]:
    """For each unit how many, with it, are like it from there on."""
    plain = [chunk.translate(_DIGITS) for chunk in chunks]
    found = [1] * len(chunks)
    at = 0
    while at + 2 < len(chunks):
        begin = _common(plain[at], plain[at + 1])
        end = at + 1
        if begin:
            head, rest = plain[at][:begin], _rest(plain[at], begin)
            while end < len(chunks) and end - at < _RUN and plain[end].startswith(head):
                if _rest(plain[end], begin) != rest:
                    break
                end += 1
        found[at:end] = range(end - at, 0, -1)
        at = end
    return found


def _common(one: bytes, two: bytes) -> int:
    """Where the text begins in which two units differ first; 0 where that is no text."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == two[:middle]:
            low = middle
        else:
            high = middle - 1
    quote = one.rfind(b'"', 0, low)
    while quote > 0 and one[quote - 1 : quote] == b"\\":
        quote = one.rfind(b'"', 0, quote)
    return quote + 1 if one[:quote].rstrip().endswith(b":") else 0


def _rest(unit: bytes, begin: int) -> bytes:
    """What is behind the text that begins there."""
    found = _TEXT.match(unit, begin)
    return unit if found is None else unit[found.end() :]


def _splitter(settings: Settings) -> Callable[[list[Any]], list[Any]]:
    """What makes single units of what a translator says."""
    if resolve(settings.dst)[1].objects:
        return lambda said: [jsontext.loads(jsontext.dumps(each)) for each in said]
    end = end_of(settings.dst)
    return lambda said: [text for each in said for text in _split(each, end)]


def _split(data: bytes, end: bytes) -> list[str]:
    """Units that were said together."""
    return [(piece + (end if len(end) > 1 else b"")).decode() for piece in data.split(end) if piece]
