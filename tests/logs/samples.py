"""Streams for logs, good and bad, and what the library makes of each by itself."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from tests.sources import FRAMES, frame
from translate import TranslateError, convert
from translate.logs import Settings
from translate.logs.layout import Counts
from translate.logs.stream import whole

SETTINGS = Settings("gateway-sse", "unievent-sse", clock=7)


def frames(number: int) -> list[dict[str, Any]]:
    """The units of a stream of so many pieces of text."""
    texts = (frame("content", value=f'{index}é\u2028"\\{"x" * (number % 7)}') for index in range(number))
    return [*FRAMES[:2], *texts, *FRAMES[4:]]


def sse(units: list[dict[str, Any]]) -> str:
    """Units as the text of a stream."""
    return b"".join(convert(units, "gateway", "gateway-sse", loss="drop", errors="encode")).decode()


def text(number: int) -> str:
    """A stream of so many pieces of text."""
    return sse(frames(number))


def units(stream: str) -> list[str]:
    """The units of the text of a stream, each with its end."""
    return [f"{unit}\n\n" for unit in stream.split("\n\n") if unit]


BAD: dict[str, Any] = {
    "not text": "nothing of the kind",
    "broken": text(2).replace('"type":"content"', '"type":"contentEnd"', 1),
    "no JSON": text(2).replace("data: {", "data: {{", 1),
    "cut": "".join(units(text(3))[:4]),
    "cut in a unit": text(3)[:-30],
    "twice": text(2) + text(3),
    "empty": "",
    "null": None,
}


class Said(NamedTuple):
    """What the library makes of a stream: text, or the error."""

    text: Any
    error: str | None


def said(stream: Any, settings: Settings = SETTINGS) -> Said:
    """One stream, by the library itself."""
    if stream is None:
        return Said(None, "DecodeError")
    try:
        return Said(whole(stream, settings, Counts()), None)
    except TranslateError as error:
        return Said(None, type(error).__name__)


class UnitRow(NamedTuple):
    """A row of a unit."""

    id: Any
    order: Any
    unit: Any


def rows(streams: dict[Any, str], seed: int = 5) -> list[UnitRow]:
    """The units of streams by their ids, shuffled."""
    found = [UnitRow(id, order, unit) for id, stream in streams.items() for order, unit in enumerate(units(stream))]
    random.Random(seed).shuffle(found)
    return found


GOOD = {f"s{number}": text(number % 23) for number in range(60)}
"""Streams by their ids."""


def bad_rows() -> tuple[list[UnitRow], dict[Any, str]]:
    """Rows of streams that are bad in each way rows can be, and the beginning of the error of each."""
    found = {id: [UnitRow(id, order, unit) for order, unit in enumerate(units(text(4)))] for id in "abcdefgh"}
    del found["a"][3]
    found["b"][3] = found["b"][3]._replace(order=2)
    found["c"][3] = found["c"][3]._replace(order=None)
    found["d"][3] = found["d"][3]._replace(unit=None)
    found["e"] = found["e"][:-1]
    found["f"] += [UnitRow("f", order + len(found["f"]), unit) for order, unit in enumerate(units(text(2)))]
    found["g"][2] = found["g"][2]._replace(unit="data: {\n\n")
    found["h"] += [UnitRow("h", order, unit) for order, unit in enumerate(units(text(2)))]
    errors = {
        "a": "GrammarError: the order leaves out 3",
        "b": "GrammarError: two units of the stream are at 2",
        "c": "GrammarError: a unit of the stream has no place",
        "d": "DecodeError: the row holds no unit",
        "e": "TruncatedStream",
        "f": "GrammarError",
        "g": "DecodeError",
        "h": "GrammarError: two units of the stream are at 0",
    }
    mixed = [row for each in found.values() for row in each]
    mixed += [UnitRow(None, 0, units(text(1))[0]), UnitRow(None, 1, None)]
    random.Random(3).shuffle(mixed)
    return mixed, errors
