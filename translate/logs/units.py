"""The units of one stream, one by one: which output unit came of which input unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import jsontext
from ..errors import DecodeError
from ..registry import resolve
from .layout import Counts, Settings
from .stream import broken, count, report_for, translator, verify


def convert_units(units: Sequence[Any], settings: Settings, counts: Counts) -> list[tuple[int, Any]]:
    """Convert the units of one stream, in order: the output units, each with the index of the unit that let it be said.

    A unit is text in a format of bytes, or an object; output units are text where ``dst`` is one of bytes, else
    objects. Raises :class:`TranslateError` where the stream is broken.
    """
    report = report_for(settings)
    running = translator(settings, report)
    out: list[tuple[int, Any]] = []
    pieces = chunks(units, settings.src)
    for index, chunk in enumerate(pieces):
        out += ((index, each) for each in running.feed(chunk))
    out += ((len(units) - 1, each) for each in running.close())
    error = broken(running)
    if error is not None:
        raise error
    if settings.verify:
        verify(settings, pieces, [each for _, each in out])
    count(counts, running, report)
    if not running.joined:
        return [(index, jsontext.loads(jsontext.dumps(each))) for index, each in out]
    end = _end(settings.dst)
    return [(index, text) for index, each in out for text in _split(each, end)]


def chunks(units: Sequence[Any], format: str) -> list[Any]:
    """Units as they are fed: text has the end of its unit."""
    end = _end(format)
    return [unit if isinstance(unit, dict) else _ended(unit, end) for unit in units]


def _end(format: str) -> str:
    """What ends a unit."""
    types = resolve(format)[1].media_types
    return "\n\n" if types and types[0] == "text/event-stream" else "\n"


def _ended(unit: Any, end: str) -> str:
    if not isinstance(unit, str):
        raise DecodeError("a unit is text or an object")
    return unit.rstrip("\r\n") + end


def _split(data: bytes, end: str) -> list[str]:
    """Units that were said together."""
    return [piece + (end if end == "\n\n" else "") for piece in data.decode().split(end) if piece]
