"""The units of one stream, one by one: which output unit came of which input unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import jsontext
from .layout import Counts, Settings
from .stream import broken, chunks_of, count, end_of, report_for, translator, verify


def convert_units(units: Sequence[Any], settings: Settings, counts: Counts) -> list[tuple[int, Any]]:
    """Convert the units of one stream, in order: the output units, each with the index of the unit that let it be said.

    A unit is text in a format of bytes, or an object; output units are text where ``dst`` is one of bytes, else
    objects. Raises :class:`TranslateError` where the stream is broken.
    """
    report = report_for(settings)
    running = translator(settings, report)
    out: list[tuple[int, Any]] = []
    chunks = chunks_of(units, settings.src)
    for index, chunk in enumerate(chunks):
        out += ((index, each) for each in running.feed(chunk))
    out += ((len(units) - 1, each) for each in running.close())
    error = broken(running)
    if error is not None:
        raise error
    if settings.verify:
        verify(settings, lambda: chunks, [each for _, each in out])
    count(counts, settings, running, report)
    if not running.joined:
        return [(index, jsontext.loads(jsontext.dumps(each))) for index, each in out]
    end = end_of(settings.dst)
    return [(index, text) for index, each in out for text in _split(each, end)]


def _split(data: bytes, end: bytes) -> list[str]:
    """Units that were said together."""
    return [(piece + (end if len(end) > 1 else b"")).decode() for piece in data.split(end) if piece]
