"""Chunks of every byte shape: text cut within a character, and units that come in very small pieces."""

from __future__ import annotations

import tracemalloc

import pytest

from tests.feeding import read
from translate import Limits, jsontext
from translate.shapes import Shape
from translate.shapes.array import Array
from translate.shapes.lines import Lines
from translate.shapes.objects import Objects
from translate.shapes.sse import Sse


@pytest.mark.parametrize("make", [Lines(), Sse(), Array(), Objects()])
def test_text_cut_between_the_halves_of_a_pair_is_joined(make: Shape) -> None:
    unit = '{"a":"😀é"}'
    text = {Lines: f"{unit}\n", Array: f"[{unit}]", Objects: f"{unit}\n"}.get(type(make), f"data: {unit}\n\n")
    # as a program holds it whose text is made of code units
    units = jsontext.units(text)
    halves = [units[i : i + 2].decode("utf-16-le", "surrogatepass") for i in range(0, len(units), 2)]
    for chunks in (halves, [half for one in halves for half in (one, "")], ["".join(halves)]):
        found = read(lambda: make.reader(Limits(), True), chunks)
        assert [frame.data for frame in found.frames] == [unit.encode()]
        assert found.error is None


@pytest.mark.parametrize("make", [Lines(), Sse(), Array(), Objects()])
def test_half_a_pair_that_nothing_joins_is_not_lost(make: Shape) -> None:
    head = {Lines: '"', Array: '["'}.get(type(make), 'data: "')
    more: list[list[bytes | str]] = [[b'"'], ["x"], [b"", '"'], []]
    for rest in more:
        data = head.encode() + b"\xed\xa0\xbd" + b"".join(r.encode() if isinstance(r, str) else r for r in rest)
        chunks = [head + "\ud83d", *rest]
        assert read(lambda: make.reader(Limits(), True), chunks) == read(lambda: make.reader(Limits(), True), [data])


@pytest.mark.parametrize("make", [Lines(), Sse(), Array(), Objects()])
def test_a_unit_in_small_chunks_takes_no_more_than_it_has(make: Shape) -> None:
    """Pieces are folded together: 50 bytes for each of two would be 25 times the unit."""
    reader, size = make.reader(Limits(), True), 100_000
    head = {Lines: b'"', Array: b'["', Objects: b" "}.get(type(make), b"data: ")
    piece = b"  " if isinstance(make, Objects) else b"xy"
    tracemalloc.start()
    try:
        list(reader.feed(head))
        for i in range(size // 2):
            list(reader.feed(piece[:1] + piece[1:]))
            assert i % 10_000 or tracemalloc.get_traced_memory()[0] < 50_000 + 3 * i * 2
    finally:
        tracemalloc.stop()
