"""Server-sent events: each rule of WHATWG HTML 9.2.6, fed whole, byte by byte, and cut at every offset."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.feeding import Read, chunks_until_refused, limits, read, read_all_ways, singly
from translate import Limits
from translate.shapes import Cursor, Frame
from translate.shapes import sse as sse_shape
from translate.shapes.lines import LineBuffer
from translate.shapes.sse import Sse, SseReader

BOM = b"\xef\xbb\xbf"
DONE = b"[DONE]"


def reader(limit: int | None = None, *, strict: bool = True, done: bytes | None = DONE, **options: Any) -> SseReader:
    return Sse(done, **options).reader(Limits() if limit is None else limits(limit), strict)


def frames(data: bytes, **options: Any) -> Read:
    return read_all_ways(lambda: reader(**options), data)


def texts(data: bytes, **options: Any) -> list[bytes | dict[str, Any] | None]:
    found = frames(data, **options)
    assert found.error is None
    return [frame.data for frame in found.frames]


def places(data: bytes, **options: Any) -> list[int | None]:
    return [frame.offset for frame in frames(data, **options).frames]


# ---- bytes and lines ------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_each_line_end(end: bytes) -> None:
    blocks = [b"data: a" + end + end, b": carry {}" + end + b"event: x" + end + b"data: b" + end + end]
    found = frames(b"".join(blocks)).frames
    assert found == [Frame(b"a", 0), Frame(b"b", len(blocks[0]), "x", (b"{}",))]


def test_mixed_line_ends() -> None:
    data = b"data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\ndata: e\r\r\n\ndata: f\r\n\r"
    assert texts(data) == [b"a\nb\nc", b"d", b"e", b"f"]
    assert places(data) == [data.index(b"data: " + x) for x in (b"a", b"d", b"e", b"f")]


def test_a_crlf_that_straddles_chunks_is_one_line_end() -> None:
    assert read(reader, [b"data: a\r", b"\ndata: b\r", b"", b"\n\r", b"\ndata: c\n\n"]).frames == [
        Frame(b"a\nb", 0),
        Frame(b"c", 20),
    ]


def test_a_cr_at_the_end_of_a_chunk_dispatches_at_once() -> None:
    out: list[Frame] = []
    out += reader().feed(b"data: a\r\r")
    assert [frame[0] for frame in out] == [b"a"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_bom_is_dropped_once_and_counted(end: bytes) -> None:
    data = BOM + b"data: a" + end + end + b"data: b" + end + end
    assert texts(data) == [b"a", b"b"]
    assert places(data) == [3, 3 + 7 + 2 * len(end)]


def test_a_second_bom_is_content() -> None:
    assert texts(BOM + BOM + b"data: a\n\ndata: b\n\n") == [b"b"]


@pytest.mark.parametrize("head", [BOM[:1], BOM[:2]])
def test_the_beginning_of_a_bom_alone(head: bytes) -> None:
    assert frames(head).error == ("DecodeError", "byte 0xef at position 0 of the unit is not UTF-8", 0)
    assert texts(head, strict=False) == []
    assert frames(head + b"data: a\n\n", strict=False).frames == []


def test_lines_end_at_nothing_else() -> None:
    text = "a\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029b".encode()
    assert texts(b"data: " + text + b"\n\n") == [text]


def test_a_nul_is_content() -> None:
    assert texts(b"id: \0\ndata: a\0b\n\n") == [b"a\0b"]


def test_nothing_at_all() -> None:
    assert frames(b"") == Read([])
    assert frames(BOM) == Read([])


# ---- fields -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"data:a", b"a"),
        (b"data: a", b"a"),
        (b"data:  a", b" a"),
        (b"data:\ta", b"\ta"),
        (b"data: a ", b"a "),
        (b"data::a", b":a"),
        (b"data: a: b", b"a: b"),
        (b"data", b""),
        (b"data:", b""),
        (b"data: ", b""),
    ],
)
def test_one_space_after_the_colon(line: bytes, text: bytes) -> None:
    assert texts(line + b"\n\n") == [text]


def test_data_lines_join_with_lf() -> None:
    assert texts(b"data: a\ndata\ndata: b\n\ndata\ndata\n\n") == [b"a\n\nb", b"\n"]


@pytest.mark.parametrize(
    "line", [b"id: 1", b"retry: 10", b"retry: x", b"Data: a", b"DATA: a", b" data: a", b"data : a", b"foo", b"foo: a"]
)
def test_other_fields_say_nothing(line: bytes) -> None:
    assert texts(line + b"\n\n") == []
    assert texts(line + b"\ndata: a\n\n") == [b"a"]
    assert texts(b"data: a\n" + line + b"\n\n") == [b"a"]


def test_blocks_without_data_are_no_events() -> None:
    assert frames(b"event: x\n\nid: 1\n\ndata: a\n\n").frames == [Frame(b"a", 17)]


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (b"event: x\ndata: a", "x"),
        (b"data: a\nevent: x", "x"),
        (b"event: x\nevent: y\ndata: a", "y"),
        (b"event: x\nevent\ndata: a", None),
        (b"event: \ndata: a", None),
        (b"event:x\ndata: a", "x"),
        (b"event:  x\ndata: a", " x"),
        (b"event: x-y z\ndata: a", "x-y z"),
        ("event: ü\ndata: a".encode(), "ü"),
        (b"Event: x\ndata: a", None),
    ],
)
def test_the_event_name_is_the_last_and_of_its_block_alone(lines: bytes, name: str | None) -> None:
    found = frames(lines + b"\n\ndata: b\n\n").frames
    assert [frame.name for frame in found] == [name, None]


def test_runs_of_blank_lines() -> None:
    data = b"\n\n\ndata: a\n\n\n\n\ndata: b\n\n\r\n\r\n\r\rdata: c\n\n\n"
    assert texts(data) == [b"a", b"b", b"c"]
    assert places(data) == [data.index(b"data: " + x) for x in (b"a", b"b", b"c")]


# ---- comments ---------------------------------------------------------------------------------


def test_comments() -> None:
    data = b": keep-alive\n\n:\n\n: carry {}\n\n: carry {}\ndata: a\n\ndata: b\n: x\n:carry 1\n: y\n\n"
    assert frames(data).frames == [
        Frame(None, 0, None, (), 1),
        Frame(None, 14, None, (), 1),
        Frame(None, 17, None, (b"{}",)),
        Frame(b"a", 29, None, (b"{}",)),
        Frame(b"b", 49, None, (b"1",), 2),
    ]


@pytest.mark.parametrize("comment", [b": carry", b":  carry {}", b": carry:{}", b": Carry {}", b":carrying {}"])
def test_what_only_begins_like_a_carry_is_a_comment(comment: bytes) -> None:
    assert frames(comment + b"\n\n").frames == [Frame(None, 0, None, (), 1)]


def test_several_carries_are_all_kept() -> None:
    data = b": carry 1\n: carry 2\ndata: a\n\n"
    assert frames(data).frames == [Frame(b"a", 0, None, (b"1", b"2"))]


# ---- the end ----------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n"])
def test_an_unterminated_block_is_not_whole(end: bytes) -> None:
    assert frames(b"data: a\n\nevent: x\ndata: b" + end).frames == [Frame(b"a", 0), Frame(b"b", 9, "x", whole=False)]


def test_an_unterminated_comment() -> None:
    assert frames(b"data: a\n\n: carry {").frames[1:] == [Frame(None, 9, None, (b"{",), whole=False)]


def test_done_ends_and_is_no_unit() -> None:
    for end in (b" [DONE]\n\n", b"[DONE]\r\r", b" [DONE]", b" [DONE] \t\n\n", b" [DONE]\ndata:\n\n"):
        assert frames(b"data: a\n\ndata:" + end) == Read([Frame(b"a", 0)], None, True)


def test_done_with_a_comment_and_comments_after_it() -> None:
    data = b": x\ndata: [DONE]\n\n: y\n\ndata: [DONE]\n\n"
    assert frames(data) == Read([Frame(None, 0, None, (), 1)], None, True)


@pytest.mark.parametrize("text", [b" [DONE]", b"[DONE] x", b"[DONE]\x0b", b"[done]", b'"[DONE]"', b"[DO"])
def test_what_is_not_quite_done_is_data(text: bytes) -> None:
    assert frames(b"data: " + text + b"\n\n") == Read([Frame(text, 0)])


def test_done_is_data_where_the_format_has_no_end_marker() -> None:
    assert frames(b"data: [DONE]\n\ndata: a\n\n", done=None) == Read([Frame(b"[DONE]", 0), Frame(b"a", 14)])


def test_a_unit_after_done() -> None:
    found = frames(b"data: a\n\ndata: [DONE]\n\n: x\n\ndata: b\n\ndata: c\n\n")
    assert found.error == ("GrammarError", "a unit after the end marker", 28)
    assert [frame.data for frame in found.frames] == [b"a"]


# ---- UTF-8 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [b"event: \xff", b": \xff", b"foo: \xff", b"\xff", b"id: \xff"])
def test_bytes_that_are_not_utf8(line: bytes) -> None:
    data = b"data: a\n\n" + line + b"\ndata: b\n\n"
    strict = frames(data)
    assert strict.error is not None
    assert strict.error[0::2] == ("DecodeError", 9)
    assert [frame.data for frame in strict.frames] == [b"a"]
    lenient = frames(data, strict=False)
    assert lenient.error is None
    assert [frame.data for frame in lenient.frames] == [b"a", b"b"]


def test_a_name_that_is_not_utf8_is_replaced_in_lenient_mode() -> None:
    assert frames(b"event: a\xff\ndata: b\n\n", strict=False).frames == [Frame(b"b", 0, "a\ufffd")]


def test_data_that_is_not_utf8_is_left_to_who_reads_it() -> None:
    assert texts(b"data: \xff\n\n") == [b"\xff"]


# ---- bounds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("head", [b"", b"data: a\n\n", BOM])
def test_the_limit_of_a_unit(head: bytes, end: bytes) -> None:
    lines = (b": carry {}", b"event: name", b"data: 0123456789")
    block = b"".join(line + end for line in (*lines, b""))
    size = sum(map(len, lines))
    assert frames(head + block, limit=size).error is None
    found = frames(head + block, limit=size - 1)
    assert found.error == ("LimitExceeded", "the input passes the limit 'unit'", len(head))
    assert len(found.frames) == (1 if head[:1] == b"d" else 0)


def test_an_endless_line_is_refused_before_it_is_all_held() -> None:
    assert chunks_until_refused(reader(1000), b"x" * 10) == 100


def test_an_endless_block_is_refused() -> None:
    assert chunks_until_refused(reader(1000), b"data: abc\n") == 111


def test_a_large_block_in_small_chunks_is_read_in_linear_time() -> None:
    data = b"data: " + b"x" * 4_000_000 + b"\n\ndata: a\n\n"
    began = time.perf_counter()
    found = read(reader, [data[i : i + 64] for i in range(0, len(data), 64)])
    assert time.perf_counter() - began < 10
    assert [len(frame.data or b"") for frame in found.frames] == [4_000_000, 1]


def test_a_block_of_many_lines_in_small_chunks() -> None:
    data = b"data: abc\r\n" * 100_000 + b"\r\n"
    found = read(reader, [data[i : i + 64] for i in range(0, len(data), 64)])
    assert found.frames == [Frame(b"\n".join([b"abc"] * 100_000), 0)]


def test_what_is_read_again_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The short beginning of a block is read again with each chunk: never more than so much of it."""
    seen: list[int] = []
    turn = Cursor.turn

    def counting(self: Cursor, data: bytes) -> None:
        seen.append(len(data))
        turn(self, data)

    monkeypatch.setattr(Cursor, "turn", counting)
    read(reader, singly(b"data: " + b"x" * 20_000 + b"\n\ndata: a\n\n"))
    assert max(seen) <= sse_shape._KEEP + 1


def test_a_line_is_joined_once() -> None:
    buffer = LineBuffer()
    for _ in range(1000):
        assert buffer.feed(b"ab") == []
    assert buffer.size == 2000
    assert buffer.feed(b"c\nd") == [b"ab" * 1000 + b"c\n"]
    assert buffer.size == 1
    assert (buffer.rest(), buffer.size) == (b"d", 0)


# ---- all of it --------------------------------------------------------------------------------


def plainly(data: bytes, done: bytes | None) -> list[Frame]:
    """The rules once more, by the letter, for input that is all there."""
    skipped = len(BOM) if data.startswith(BOM) else 0
    block: list[bytes] = []
    found: list[Frame] = []
    offset = at = skipped
    lines = data[skipped:].splitlines(keepends=True)
    for line in [*lines, None]:
        text = b"" if line is None else line.rstrip(b"\r\n")
        if text:
            block.append(text)
        else:
            whole = line is not None
            pairs = [(f, v.removeprefix(b" ") if f or c else v) for f, c, v in (b.partition(b":") for b in block)]
            comments = [v.removeprefix(b" ") for b in block if b.startswith(b":") for v in [b[1:]]]
            carries = tuple(c[6:] for c in comments if c.startswith(b"carry "))
            names: list[str | None] = [v.decode() for f, v in pairs if f == b"event"]
            parts = [v for f, v in pairs if f == b"data"]
            unit = b"\n".join(parts) if parts and b"\n".join(parts) != done else None
            pings = len(comments) - len(carries) if whole else 0
            if unit is not None or carries or pings:
                found.append(Frame(unit, offset, (names or [None])[-1] or None, carries, pings, whole))
            block = []
        at += len(line or b"")
        offset = offset if block else at
    return found


PIECES = [b"data: a", b"data:b", b"data", b"event: x", b"event:", b": c", b": carry {}", b"id: 1", b"foo", b" data: a"]
ENDS = [b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r", b"\n\n\n"]


@given(
    st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(ENDS)), max_size=12),
    st.sampled_from([b"", BOM, b"\n", BOM + b"\r\n"]),
    st.lists(st.integers(1, 12), min_size=1, max_size=8),
)
@example([(b"data: a", b"\n"), (b"data:b", b"\r\n")], b"", [1])
def test_the_rules_by_the_letter(lines: list[tuple[bytes, bytes]], head: bytes, sizes: list[int]) -> None:
    data = head + b"".join(line + end for line, end in lines)
    chunks, at, turn = list[bytes](), 0, 0
    while at < len(data):
        chunks.append(data[at : at + sizes[turn % len(sizes)]])
        at, turn = at + len(chunks[-1]), turn + 1
    expected = Read(plainly(data, None))
    assert read(lambda: reader(done=None), chunks) == expected
    assert read(lambda: reader(done=None), [data]) == expected


@given(st.binary(max_size=60), st.integers(0, 60), st.booleans(), st.integers(5, 60))
def test_any_bytes_cut_anywhere(data: bytes, at: int, strict: bool, limit: int) -> None:
    whole = read(lambda: reader(limit, strict=strict), [data])
    assert read(lambda: reader(limit, strict=strict), [data[:at], data[at:]]) == whole
    assert read(lambda: reader(limit, strict=strict), singly(data)) == whole
