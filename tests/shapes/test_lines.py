"""JSON lines: read however they are cut, and written."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.feeding import Read, chunks_until_refused, limits, read, read_all_ways, singly
from translate import Limits
from translate.shapes import Frame, Octets
from translate.shapes.lines import Lines, LinesReader, StrictLines, framing

BOM = b"\xef\xbb\xbf"


def reader(limit: int | None = None) -> LinesReader:
    return Lines().reader(Limits() if limit is None else limits(limit), True)


def frames(data: bytes, **options: Any) -> Read:
    return read_all_ways(lambda: reader(**options), data)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_unit_a_line(end: bytes) -> None:
    data = b'{"a":1}' + end + b'{"b":2}' + end
    assert frames(data) == Read([Frame(b'{"a":1}', 0), Frame(b'{"b":2}', 7 + len(end))])


def test_blank_lines_and_white_space() -> None:
    data = b'\n \r\n\t{"a": 1} \r\n\n\n  {} \n\r\n'
    assert frames(data) == Read([Frame(b'{"a": 1}', 4), Frame(b"{}", 18)])


def test_a_bom_is_dropped_and_counted() -> None:
    assert frames(BOM + b"{}\n{}\n") == Read([Frame(b"{}", 0), Frame(b"{}", 6)])
    assert frames(BOM + b"\n{}\n") == Read([Frame(b"{}", 4)])


def test_a_later_bom_is_content() -> None:
    assert frames(b"\n" + BOM + b"{}\n") == Read([Frame(BOM + b"{}", 1)])


@pytest.mark.parametrize("last", [b'{"a":1}', b'{"a', b"{", b'{"a":1} ', b'{"a":1}\r'])
def test_a_last_line_without_its_end_is_not_whole(last: bytes) -> None:
    assert frames(b"{}\n" + last) == Read([Frame(b"{}", 0), Frame(last.strip(), 3, whole=False)])


@pytest.mark.parametrize("data", [b"", b"\n", b"  ", b"\r\n\r\n \t", BOM])
def test_nothing(data: bytes) -> None:
    assert frames(data) == Read([])


def test_a_cr_alone_ends_no_line() -> None:
    assert frames(b"{}\r{}\n") == Read([Frame(b"{}\r{}", 0)])


def test_lines_end_at_nothing_else() -> None:
    text = '"a\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029b"'.encode()
    assert frames(text + b"\n") == Read([Frame(text, 0)])


def test_bytes_that_are_not_utf8_are_left_to_who_reads_them() -> None:
    assert frames(b'"\xff"\n') == Read([Frame(b'"\xff"', 0)])


@pytest.mark.parametrize("line", [b'{"a":12}', b'  {"a":1}  ', BOM + b'{"a":1}', b" " * 10])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize("head", [b"", b"{}\n"])
def test_the_limit_of_a_unit(head: bytes, line: bytes, end: bytes) -> None:
    """A line counts as it came, so that it does not matter how it is cut."""
    assert frames(head + line + end, limit=len(line)).error is None
    found = frames(head + line + end, limit=len(line) - 1)
    assert found.error == ("LimitExceeded", "the input passes the limit 'unit'", len(head))
    assert len(found.frames) == bool(head)


def test_an_endless_line_is_refused_before_it_is_all_held() -> None:
    assert chunks_until_refused(reader(1000), b"x" * 10) == 100


def test_a_large_line_in_small_chunks_is_read_in_linear_time() -> None:
    data = b'{"a":"' + b"x" * 4_000_000 + b'"}\n{}\n'
    began = time.perf_counter()
    found = read(reader, [data[i : i + 64] for i in range(0, len(data), 64)])
    assert time.perf_counter() - began < 10
    assert found.frames == [Frame(data[:-4], 0), Frame(b"{}", len(data) - 3)]


@given(st.binary(max_size=50), st.integers(0, 50), st.integers(3, 50))
def test_any_bytes_cut_anywhere(data: bytes, at: int, limit: int) -> None:
    data = data.replace(b"\x00", b"\n").replace(b"\x01", b"\r")
    whole = read(lambda: reader(limit), [data])
    assert read(lambda: reader(limit), [data[:at], data[at:]]) == whole
    assert read(lambda: reader(limit), singly(data)) == whole


# ---- chunks -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "chunk", [b"{}\n", "{}\n", bytearray(b"{}\n"), memoryview(b"{}\n"), memoryview(b"{x}x\nx")[::2]]
)
def test_chunks_are_bytes_or_text(chunk: Any) -> None:
    assert read(reader, [chunk]).frames == [Frame(b"{}", 0)]


def test_text_is_taken_as_utf8_lone_surrogates_and_all() -> None:
    assert Octets()("ü\udc00") == b"\xc3\xbc\xed\xb0\x80"
    assert Octets()("\ud83dü") == b"\xed\xa0\xbd\xc3\xbc"


def test_a_unit_with_nothing_in_it_may_have_a_carry() -> None:
    assert framing(b"{}", None, b"{}") == b'{"carry":{}}\n'


@pytest.mark.parametrize("chunk", [None, 1, {"a": 1}, [b"{}"]])
def test_other_chunks_are_refused(chunk: Any) -> None:
    with pytest.raises(TypeError, match="a chunk of a byte format is bytes or text, not"):
        list(reader().feed(chunk))


# ---- writing ----------------------------------------------------------------------------------


def test_the_writer() -> None:
    writer, out = Lines().writer(), list[bytes]()
    writer.write({"a": "\u2028ü"}, "name", None, out)
    writer.write({"a": 1}, None, {"v": 1, "x": float("inf")}, out)
    writer.write({"a": float("nan")}, None, {}, out)
    writer.ping(out)
    writer.end(out)
    assert out == [
        '{"a":"\\u2028ü"}\n'.encode(),
        b'{"a":1,"carry":{"v":1,"x":{"$number":"Infinity"}}}\n',
        b'{"a":NaN}\n',
    ]


def test_a_carry_without_a_unit_rides_in_the_next_ones() -> None:
    writer, out = Lines().writer(), list[bytes]()
    first, second = {"v": 1, "x": {"a": 1}}, {"y": {"b": 2}}
    writer.write(None, None, first, out)
    writer.write(None, None, second, out)
    writer.write(None, None, None, out)
    assert out == []
    assert writer.pending == [first, second]
    writer.write({"a": 1}, None, {"z": {}}, out)
    assert writer.pending == []
    assert out == [b'{"a":1,"carry":{"v":1,"z":{},"before":[{"x":{"a":1}},{"y":{"b":2}}]}}\n']
    assert first == {"v": 1, "x": {"a": 1}}


def test_a_carry_ahead_of_a_unit_without_one() -> None:
    writer, out = Lines().writer(), list[bytes]()
    writer.write(None, None, {"x": {}}, out)
    writer.write({"a": 1}, None, None, out)
    assert out == [b'{"a":1,"carry":{"before":[{"x":{}}]}}\n']


def test_a_member_carry_that_is_in_the_way() -> None:
    writer, out = Lines().writer(), list[bytes]()
    writer.write({"carry": [1], "a": 1}, None, {"x": {}}, out)
    writer.write({"carry": [1], "a": 1}, None, None, out)
    assert out == [b'{"a":1,"carry":{"x":{},"member":[1]}}\n', b'{"carry":[1],"a":1}\n']


def test_the_framing_is_what_the_writer_writes() -> None:
    writer, out = Lines().writer(), list[bytes]()
    writer.write({"a": 1}, "name", None, out)
    writer.write({"a": 1}, "name", {"c": 2}, out)
    assert writer.framing is not None
    assert [writer.framing(b'{"a":1}', "name", carry) for carry in (None, b'{"c":2}')] == out
    assert reader().framing is writer.framing


def test_strict_lines_hold_what_json_has_not() -> None:
    writer, out = StrictLines().writer(), list[bytes]()
    writer.write({"a": float("nan"), "$b": 1}, None, None, out)
    assert out == [b'{"a":{"$number":"NaN"},"$$b":1}\n']
