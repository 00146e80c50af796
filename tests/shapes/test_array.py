"""A JSON array of units, read as it arrives, however it is cut."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.feeding import Read, chunks_until_refused, limits, read, read_all_ways, singly
from translate import Limits
from translate.shapes import Frame
from translate.shapes.array import Array, ArrayReader

BOM = b"\xef\xbb\xbf"


def reader(limit: int | None = None, *, bare: bool = False) -> ArrayReader:
    return Array(bare=bare).reader(Limits() if limit is None else limits(limit), True)


def frames(data: bytes, **options: Any) -> Read:
    return read_all_ways(lambda: reader(**options), data)


def values(data: bytes) -> list[Any]:
    found = frames(data)
    assert found.error is None
    assert found.ended
    for frame in found.frames:
        assert isinstance(frame.data, bytes)
        assert frame.offset is not None
        assert data[frame.offset :].startswith(frame.data)
    return [json.loads(frame.data or b"") for frame in found.frames if not isinstance(frame.data, dict)]


UNITS: list[Any] = [
    {"a": 1},
    {"b": [1, {"c": "]}"}], "d": {}},
    {'q"[': 'x\\"{', "\\": "\\\\", "u": "\u2028ü", "n": None},
    {},
]


@pytest.mark.parametrize("indent", [None, 0, 2])
@pytest.mark.parametrize("separators", [None, (",", ":"), (" ,\n", ":\t")])
def test_units(indent: int | None, separators: tuple[str, str] | None) -> None:
    for escaped in (True, False):
        data = json.dumps(UNITS, indent=indent, separators=separators, ensure_ascii=escaped).encode()
        assert values(data) == UNITS


def test_offsets_are_those_of_the_elements() -> None:
    assert frames(b' [ {"a":1} ,\r\n\t{}]\n') == Read([Frame(b'{"a":1}', 3), Frame(b"{}", 15)], None, True)


@pytest.mark.parametrize("data", [b"[]", b" [ ] ", b"[\n]\n\n", BOM + b"[]"])
def test_an_empty_array(data: bytes) -> None:
    assert frames(data) == Read([], None, True)


def test_a_bom_is_dropped_and_counted() -> None:
    assert frames(BOM + b"[{}]") == Read([Frame(b"{}", 4)], None, True)
    assert frames(BOM + BOM + b"[]").error == ("DecodeError", "not a JSON array of units", 3)
    assert frames(BOM[:2]).error == ("DecodeError", "not a JSON array of units", 0)


def test_elements_that_are_no_objects_are_left_to_who_reads_them() -> None:
    assert values(b'[1, "a,b", null, [2, 3], "]", true]') == [1, "a,b", None, [2, 3], "]", True]


def test_an_element_is_complete_at_its_closing_bracket() -> None:
    made, out = reader(), list[Frame]()
    out += made.feed(b'[{"a":[1]}')
    assert out == [Frame(b'{"a":[1]}', 1)]
    out += made.feed(b" ")
    out += made.feed(b",{")
    out += made.feed(b"}")
    assert out[1:] == [Frame(b"{}", 12)]


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"[,]", 1),
        (b"[{},]", 4),
        (b"[{},,{}]", 4),
        (b"[{} , ]", 6),
        (b"[,{}]", 1),
        (b"[{} x]", 4),
        (b"[{}{}]", 3),
        (b"[{} 1,{}]", 4),
        (b"[{}]]", 4),
        (b"[{}] x", 5),
        (b"[{}] {}", 5),
        (b"[{}]\n[]", 5),
        (b'[{}] "', 5),
        (b"[}", 1),
        (b"[{}}", 3),
        (b"x[{}]", 0),
        (b' x"[{}]', 1),
        (b"{}", 0),
        (b",", 0),
        (b"]", 0),
        (b"x", 0),
        (b"[{} x", 4),
    ],
)
def test_what_is_no_array_of_units(data: bytes, offset: int) -> None:
    found = frames(data)
    assert found.error == ("DecodeError", "not a JSON array of units", offset)
    assert [frame.data for frame in found.frames] == [b"{}"] * len(found.frames)


@pytest.mark.parametrize(
    ("data", "units", "offset"),
    [
        (b"[", 0, 1),
        (b"[ ", 0, 2),
        (b"[{}", 1, 3),
        (b"[{},", 1, 4),
        (b'[{}, {"a', 1, 5),
        (b'[{}, {"a": "]', 1, 5),
        (b"[{}, 1", 1, 5),
        (b'[{}, {"a":"\\', 1, 5),
    ],
)
def test_a_missing_end_is_a_cut(data: bytes, units: int, offset: int) -> None:
    found = frames(data)
    assert found.error == ("TruncatedStream", "the input ended within a JSON array", offset)
    assert not found.ended
    assert [frame.data for frame in found.frames] == [b"{}"] * units


def test_a_missing_end_where_it_may_be_missing() -> None:
    for data, rest, offset in ((b"[{},", None, 4), (b'[{}, {"a', b'{"a', 5), (b"[", None, 1)):
        found = read_all_ways(lambda: ArrayReader(Limits(), tolerant=True), data)
        assert (found.error, found.ended, found.frames[-1]) == (None, False, Frame(rest, offset, whole=False))


def test_brackets_that_do_not_match_are_left_to_who_reads_them() -> None:
    assert frames(b'[{"a":1],{}]').frames == [Frame(b'{"a":1]', 1), Frame(b"{}", 9)]


def test_nothing() -> None:
    assert frames(b"") == Read([])
    assert frames(b" \r\n") == Read([])


@pytest.mark.parametrize("data", [b'[{"a":12}]', b'[{},{"a":12}]', b'[ {"a":1}]', b'["123456"]'])
def test_the_limit_of_a_unit(data: bytes) -> None:
    """White space counts, so that it does not matter how the input is cut."""
    assert frames(data, limit=8).error is None
    found = frames(data, limit=7)
    assert found.error == ("LimitExceeded", "the input passes the limit 'unit'", data.rindex(data[-9:-1]))
    assert len(found.frames) == data.count(b"{},")


@pytest.mark.parametrize("head", [b"[", b'["', b"[{}", b"[{},[", b'[{"'])
@pytest.mark.parametrize("more", [b" ", b"x"])
def test_an_endless_element_is_refused_before_it_is_all_held(head: bytes, more: bytes) -> None:
    made = reader(1000)
    list(made.feed(head))
    assert chunks_until_refused(made, more * 10) <= 100


def test_a_large_element_in_small_chunks_is_read_in_linear_time() -> None:
    data = b'[{"a":"' + b'\\"[x' * 1_000_000 + b'"},{}]'
    began = time.perf_counter()
    found = read(reader, [data[i : i + 64] for i in range(0, len(data), 64)])
    assert time.perf_counter() - began < 20
    assert found.frames == [Frame(data[1:-4], 1), Frame(b"{}", len(data) - 3)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.sampled_from('a"\\[]{},:\n é'), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.sampled_from('a"\\]}'), max_size=3), inner),
    max_leaves=8,
)


@given(st.lists(JSON, max_size=5), st.sampled_from([None, 1]), st.booleans(), st.lists(st.integers(1, 9), min_size=1))
def test_any_array_cut_anywhere(units: list[Any], indent: int | None, escaped: bool, sizes: list[int]) -> None:
    data = json.dumps(units, indent=indent, ensure_ascii=escaped).encode()
    chunks, at, turn = list[bytes](), 0, 0
    while at < len(data):
        chunks.append(data[at : at + sizes[turn % len(sizes)]])
        at, turn = at + len(chunks[-1]), turn + 1
    found = read(reader, chunks)
    assert found == read(reader, [data])
    assert found.ended
    assert [json.loads(frame.data or b"") for frame in found.frames if isinstance(frame.data, bytes)] == units


@given(st.text(st.sampled_from('[]{},"\\ a1\n'), max_size=20), st.integers(0, 20), st.integers(1, 20))
def test_any_text_cut_anywhere(text: str, at: int, limit: int) -> None:
    data = text.encode()
    whole = read(lambda: reader(limit), [data])
    assert read(lambda: reader(limit), [data[:at], data[at:]]) == whole
    assert read(lambda: reader(limit), singly(data)) == whole
    if whole.error is None and whole.ended:
        # what is taken as an array is one, element by element
        joined = b",".join(frame.data for frame in whole.frames if isinstance(frame.data, bytes))
        assert b"[" + joined.translate(None, b" \n") + b"]" == data.translate(None, b" \n")


# ---- one object in place of the array ---------------------------------------------------------------


@pytest.mark.parametrize("around", [b"%s", b" \n%s \r\n", BOM + b"%s"])
def test_a_body_that_is_one_object(around: bytes) -> None:
    data = around % b'{"a":[1,{"b":"]}"}]}'
    assert frames(data).error == ("DecodeError", "not a JSON array of units", data.index(b"{"))
    found = frames(data, bare=True)
    assert found == Read([Frame(b'{"a":[1,{"b":"]}"}]}', data.index(b"{"))], None, True)
    assert frames(b'[{"a":1}]', bare=True) == frames(b'[{"a":1}]')


@pytest.mark.parametrize("data", [b"{}{}", b"{},{}", b"{}]", b"{} x"])
def test_nothing_follows_a_body_that_is_one_object(data: bytes) -> None:
    found = frames(data, bare=True)
    assert (found.frames, found.error and found.error[0]) == ([Frame(b"{}", 0)], "DecodeError")


def test_a_body_that_is_one_object_may_be_cut_short() -> None:
    assert frames(b'{"a":"}', bare=True).error == ("TruncatedStream", "the input ended within a JSON array", 0)


# ---- writing ----------------------------------------------------------------------------------


def test_the_writer() -> None:
    writer, out = Array().writer(), list[bytes]()
    writer.write({"a": "\u2028ü"}, "name", None, out)
    writer.write(None, None, {"v": 1}, out)
    writer.write({}, None, {"x": float("inf")}, out)
    writer.ping(out)
    assert writer.pending == []
    writer.end(out)
    assert out == [
        '[{"a":"\\u2028ü"}'.encode(),
        b',{"carry":{"v":1,"x":{"$number":"Infinity"},"before":[{}]}}',
        b"]",
    ]
    assert [frame.data for frame in frames(b"".join(out)).frames] == [out[0][1:], out[1][1:]]


@pytest.mark.parametrize("failed", [True, False])
def test_an_end_is_written_after_a_failure_too(failed: bool) -> None:
    for units in ([], [{"a": 1}]):
        writer, out = Array().writer(), list[bytes]()
        for unit in units:
            writer.write(unit, None, None, out)
        assert not frames(b"".join(out)).ended
        writer.end(out, failed=failed)
        assert values(b"".join(out)) == units
