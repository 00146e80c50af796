"""Server-sent events, written."""

from __future__ import annotations

import pytest

from tests.feeding import Read, read_all_ways
from translate import Limits
from translate.shapes import Frame
from translate.shapes.sse import Sse

DONE = b"[DONE]"


def test_the_writer() -> None:
    writer, out = Sse(DONE).writer(), list[bytes]()
    writer.write({"a": "\x85\u2028ü"}, None, None, out)
    writer.write({"a": 1}, "name", {"v": 1}, out)
    writer.write(None, "name", {"x": float("nan")}, out)
    writer.write(None, None, None, out)
    writer.ping(out)
    writer.end(out)
    assert out == [
        'data: {"a":"\\u0085\\u2028ü"}\n\n'.encode(),
        b': carry {"v":1}\nevent: name\ndata: {"a":1}\n\n',
        b': carry {"x":{"$number":"NaN"}}\n\n',
        b": keep-alive\n\n",
        b"data: [DONE]\n\n",
    ]


ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


@pytest.mark.parametrize("name", ["", " a", *(f"a{end}b" for end in ENDS), "a\ud800", "\u2028" + "a" * 100])
def test_a_name_that_would_not_come_back_is_left_out(name: str) -> None:
    out: list[bytes] = []
    Sse().writer().write({}, name, None, out)
    assert out == [b"data: {}\n\n"]


@pytest.mark.parametrize("name", ["a", "a b ", "é\x1b\x1f", ":", "a" * 100])
def test_a_name_comes_back(name: str) -> None:
    out: list[bytes] = []
    Sse().writer().write({}, name, None, out)
    assert read_all_ways(lambda: Sse().reader(Limits(), True), out[0]).frames == [Frame(b"{}", 0, name)]


def test_the_writer_without_an_end_marker() -> None:
    out: list[bytes] = []
    Sse().writer().end(out)
    assert out == []


def test_what_is_written_is_read() -> None:
    writer, out = Sse(DONE).writer(), list[bytes]()
    writer.write({"a": 1}, "name", {"v": 1}, out)
    writer.write({"b": 2}, None, None, out)
    writer.ping(out)
    writer.end(out)
    assert read_all_ways(lambda: Sse(DONE).reader(Limits(), True), b"".join(out)) == Read(
        [
            Frame(b'{"a":1}', 0, "name", (b'{"v":1}',)),
            Frame(b'{"b":2}', len(out[0])),
            Frame(None, len(out[0] + out[1]), None, (), 1),
        ],
        None,
        True,
    )


@pytest.mark.parametrize("name", [None, "name"])
def test_the_framing_is_what_the_writer_writes(name: str | None) -> None:
    writer, out = Sse().writer(), list[bytes]()
    writer.write({"a": 1}, name, None, out)
    writer.write({"a": 1}, name, {"c": 2}, out)
    assert writer.framing is not None
    assert [writer.framing(b'{"a":1}', name, carry) for carry in (None, b'{"c":2}')] == out
    assert Sse().reader(Limits(), True).framing is writer.framing
