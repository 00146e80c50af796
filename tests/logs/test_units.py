"""Units that are fed together become what they become one by one, and each comes of the unit that let it be said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.logs import packing
from tests.logs.packing import NOW
from tests.strategies import sources
from translate.errors import TranslateError
from translate.logs import Settings, units
from translate.logs.layout import Counts
from translate.logs.units import convert_units
from translate.registry import formats

SOURCES = tuple(name for name in formats() if name.endswith(("-sse", "-jsonl")))


def one_by_one(found: list[str], settings: Settings, counts: Counts) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(units, "_alike", lambda chunks: [1] * len(chunks))
        return convert_units(found, settings, counts)


def told(convert: Any, found: list[str], settings: Settings) -> Any:
    counts = Counts()
    try:
        return convert(found, settings, counts), counts.as_json()
    except TranslateError as error:
        return type(error).__name__, error.what


@pytest.mark.parametrize("src", SOURCES)
@pytest.mark.parametrize("dst", ["gateway-sse", "unievent-jsonl", "anthropic-sse", "openai-chat-sse", "gateway"])
def test_every_pair_of_formats(src: str, dst: str) -> None:
    settings = Settings(src, dst, clock=NOW, verify=src.startswith(("unievent", "gateway")))
    for stream in packing.examples(src, 6):
        found = packing.units(stream, src)
        assert told(convert_units, found, settings) == told(one_by_one, found, settings)


@given(source=sources(("unievent-sse", "unievent-jsonl", "gateway-sse", "gateway-jsonl")), data=st.data())
def test_any_stream(source: Any, data: st.DataObject) -> None:
    dst = data.draw(st.sampled_from(("unievent-sse", "gateway-sse", "gateway-jsonl", "anthropic-sse", "events-jsonl")))
    settings = Settings(source.format, dst, clock=NOW)
    found = packing.units(source.joined, source.format)
    assert told(convert_units, found, settings) == told(one_by_one, found, settings)


@pytest.mark.parametrize("at", [5, 20, 30])
def test_a_run_that_breaks(at: int) -> None:
    settings = Settings("unievent-sse", "gateway-sse", clock=NOW)
    found = packing.units(packing.examples("unievent-sse", 5)[6], "unievent-sse")
    half = found[at].replace('"text":"', '"text":"\\ud800', 1)
    for bad in (found[at].replace('"text.delta"', '"text.dolta"'), half, found[at] * 2):
        broken = [*found[:at], bad, *found[at + 1 :]]
        assert told(convert_units, broken, settings) == told(one_by_one, broken, settings)


def test_most_units_are_fed_together() -> None:
    found = packing.units(packing.examples("unievent-sse", 5)[6], "unievent-sse")
    runs = units._alike([unit.encode() for unit in found])
    assert max(runs) > len(found) // 2
