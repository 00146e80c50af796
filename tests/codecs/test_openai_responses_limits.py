"""What OpenAI Responses holds for the end, which repeats the message: within ``Limits.message``, whoever writes."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from tests.codecs.responses_streams import (
    CREATED,
    R,
    Unit,
    Units,
    added,
    begin,
    end,
    message,
    numbered,
    of,
    part,
    response,
    text,
)
from translate import Limits, convert, decode
from translate.algebra.events import Append, Close, Event, Foreign, Open, Start
from translate.errors import LimitExceeded

LIMITS = Limits(part=3000, message=3000)
ROOM = 300_000
"""Bytes that may be held under these limits."""
X: Unit = {"id": "x", "type": "x"}


def whole(i: int) -> Units:
    """A message, finished."""
    return [*begin(i), text("a", i), *end("a", i)]


def parts(i: int) -> Units:
    """A part more of a message that never ends."""
    at: dict[str, Any] = {"content_index": i}
    return [
        *([added(0, message(0))] if i == 0 else []),
        of(0, "content_part.added", part=part()) | at,
        text("a") | at,
        of(0, "output_text.done", text="a") | at,
        of(0, "content_part.done", part=part("a")) | at,
    ]


def grown(i: int) -> Units:
    """More of an item that is no part, by the words of one that is."""
    return [*([added(0, X)] if i == 0 else []), {"type": R + "code_interpreter_call_code.delta", "delta": "a" * 99}]


MEASURED: dict[str, Callable[[int], Units]] = {
    "items": whole,
    "open": lambda i: [added(i, {**X, "id": f"x{i}"})],
    "parts": parts,
    "places": lambda i: [*([added(0, X)] if i == 0 else []), of(0, "content_part.added", part=part("a" * 99))],
}
"""What a terminal unit would repeat, without an end."""
SILENT: dict[str, Callable[[int], Units]] = {
    "types": lambda i: [{"type": f"x{i}.added"}],
    "grown": grown,
}
"""What nothing repeats, and what is not to be held."""


def endless(make: Callable[[int], Units]) -> Iterator[Unit]:
    yield CREATED
    for i in count():
        yield from make(i)


def limit_of(out: Iterator[Any]) -> tuple[str, int]:
    """The limit that an endless stream passes, which it does before it holds much."""
    tracemalloc.start()
    try:
        for _ in out:
            assert tracemalloc.get_traced_memory()[1] < ROOM
    except LimitExceeded as error:
        return error.limit, error.maximum
    finally:
        tracemalloc.stop()
    raise AssertionError("it ended")


@pytest.mark.parametrize("dst", [None, "openai-responses", "unievent"])
@pytest.mark.parametrize("name", MEASURED)
def test_what_the_end_repeats_is_bounded(name: str, dst: str | None) -> None:
    stream: Any = endless(MEASURED[name])
    out = decode(stream, "openai-responses", limits=LIMITS)
    if dst is not None:
        out = convert(stream, "openai-responses", dst, limits=LIMITS)
    assert limit_of(out) == ("message", 3000)


@pytest.mark.parametrize("name", SILENT)
def test_what_nothing_repeats_is_not_held(name: str) -> None:
    units = endless(SILENT[name])
    events = decode(units, "openai-responses", limits=LIMITS)
    tracemalloc.start()
    try:
        for _ in range(1500):
            next(events)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < ROOM / 6


def test_a_unit_named_like_a_delta_is_unknown_and_says_nothing() -> None:
    odd = of(0, "output_text.x", delta="no")
    units = numbered([CREATED, odd, *whole(0), odd, response("completed")])
    events = list(decode(units, "openai-responses"))
    assert [event.unit for event in events if type(event) is Foreign and event.unit["type"] == odd["type"]] == [
        {**odd, "sequence_number": 1},
        {**odd, "sequence_number": len(units) - 2},
    ]
    assert [event.data for event in events if type(event) is Append] == ["a"]


def test_the_writer_is_bounded() -> None:
    def events() -> Iterator[Event]:
        yield Start()
        while True:
            yield from (Open("text"), Append("a" * 100), Close())

    out = convert(events(), "events", "openai-responses", limits=LIMITS, clock=lambda: 0)
    assert limit_of(out) == ("message", 3000)
