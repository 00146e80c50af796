"""Readers of shapes at their limits: what is white space, where a unit is too large, and what a comment is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.feeding import read, read_all_ways, singly
from translate import LimitExceeded, Limits
from translate.shapes import Frame, Reader
from translate.shapes.array import ArrayReader
from translate.shapes.lines import LinesReader
from translate.shapes.lines import framing as line_framing
from translate.shapes.objects import Objects, ObjectsReader
from translate.shapes.sse import Sse, SseReader
from translate.shapes.sse import framing as sse_framing

BOM = b"\xef\xbb\xbf"


def lines(limit: int = 100) -> LinesReader:
    return LinesReader(Limits(unit=limit))


def array(limit: int = 100) -> ArrayReader:
    return ArrayReader(Limits(unit=limit))


def sse(limit: int = 100) -> SseReader:
    return Sse().reader(Limits(unit=limit), True)


def objects(limit: int = 100) -> ObjectsReader:
    return Objects().reader(Limits(unit=limit), True)


def texts(make: Callable[[], Reader], data: bytes) -> list[Any]:
    return [frame.data for frame in read_all_ways(make, data).frames]


def test_which_shapes_are_of_objects() -> None:
    assert (Objects().objects, Sse().objects, Sse().writer().joined) == (True, False, True)


@pytest.mark.parametrize(
    ("make", "data", "found"),
    [
        (lines, b"X1X\n \t2\t \r\n\r\n3", [b"X1X", b"2", b"3"]),
        (lines, b"1\n \t2\t ", [b"1", b"2"]),
        (lines, b"1\nX2X", [b"1", b"X2X"]),
        (lines, BOM + b"1", [b"1"]),
        (lines, BOM + b"1\n" + BOM + b"2\n", [b"1", BOM + b"2"]),
        (lines, b"1" + BOM, [b"1" + BOM]),
        (array, b" [ X1X ,\t2\r\n] ", [b"X1X", b"2"]),
        (sse, b"data: X\r\rdata: aX\r\n\r\ndata: bX\n\n", [b"X", b"aX", b"bX"]),
        (sse, b"data: 1\r\r\ndata: 2\r\r", [b"1", b"2"]),
        (objects, b"{}", [b"{}"]),
        (objects, b" \n{}\n", [b"{}"]),
        (objects, b"[]", []),
        (objects, b"X{}\n", []),
        (objects, BOM + b"{}", [b"{}"]),
        (objects, BOM + b" [1]", [b"1"]),
    ],
)
def test_what_is_around_a_unit(make: Callable[[], Reader], data: bytes, found: list[bytes]) -> None:
    assert texts(make, data) == found


@pytest.mark.parametrize("data", [b"X[1]", b"[1]X", b"[1] X"])
def test_what_may_not_be_around_an_array(data: bytes) -> None:
    found = read_all_ways(array, data)
    assert found.error is not None
    assert found.error[0] == "DecodeError"


@pytest.mark.parametrize(
    ("block", "carries", "pings"),
    [
        (b": carry {}", (b"{}",), 0),
        (b":carry {}", (b"{}",), 0),
        (b": carry", (), 1),
        (b":", (), 1),
        (b"id: carry {}", (), 0),
        (b"retry:carry {}", (), 0),
        (b"carry {}", (), 0),
    ],
)
def test_what_is_a_carry(block: bytes, carries: Any, pings: int) -> None:
    for end in (b"\n", b"\r"):
        assert read_all_ways(sse, block + end + b"data: 1" + end + end).frames == [Frame(b"1", 0, None, carries, pings)]


@pytest.mark.parametrize(
    ("make", "unit"),
    [
        (lines, b"%s\n"),
        (lines, b"%s\r\n"),
        (array, b"[%s]"),
        (sse, b"%s\n\n"),
        (sse, b"%s\r\r"),
        (sse, b"%s\r\n\r\n"),
        (sse, b"%s\n\ndata: 1\n\n"),
    ],
)
def test_a_unit_as_long_as_the_limit_and_one_longer(make: Any, unit: bytes) -> None:
    data = b"data: aaaaaaaaaaaaaaaaaaaaaaa" if make is sse else b"a" * 29
    found = read_all_ways(lambda: make(29), unit % data)
    assert found.error is None
    assert found.frames[0].data == data.removeprefix(b"data: ")
    found = read_all_ways(lambda: make(28), unit % data)
    assert found.error is not None
    assert (found.error[0], found.error[2]) == ("LimitExceeded", 1 if make is array else 0)


@pytest.mark.parametrize(("make", "over"), [(lines, 2), (sse, 1), (array, 1)])
def test_a_unit_that_is_too_long_is_refused_at_once(make: Any, over: int) -> None:
    for chunk in (b"a" * (20 + over), *[b"a" * 20 + b"a" * (over - 1)]):
        reader = make(20)
        data = b"[" + chunk if make is array else chunk
        if len(chunk) < 20 + over:
            assert list(reader.feed(data)) == []
            continue
        with pytest.raises(LimitExceeded):
            list(reader.feed(data))


def test_bytes_among_objects_have_the_framing_of_what_they_turn_out_to_be() -> None:
    for data, framing in ((b"{", line_framing), (b": x\n", sse_framing), (b"[", None), (b" ", None)):
        reader = objects()
        assert reader.framing is None
        assert list(reader.feed(data)) in ([], [Frame(None, 0, None, (), 1)])
        assert reader.framing is framing


def test_blanks_before_a_first_unit_are_limited_too() -> None:
    found = read(lambda: objects(20), singly(b" " * 21))
    assert found.error is not None
    assert (found.error[0], found.error[2]) == ("LimitExceeded", 0)
    assert read(lambda: objects(20), singly(b" " * 20)).error is None
