"""What stands between streams, and behind the last, is not lost."""

from __future__ import annotations

import pytest

from tests.logs import packing
from translate.logs import Settings
from translate.logs.ends import EndToEnd
from translate.logs.layout import Counts
from translate.logs.stream import Reject

FORMATS = ("unievent-sse", "gateway-sse", "unievent-jsonl", "gateway-jsonl")
LARGE = 30_000


def convert(data: bytes, src: str, size: int = LARGE) -> tuple[bytes, list[bytes], Counts]:
    """What a file becomes: the output, the content of the rejects, and the counts."""
    counts, out, rejects = Counts(), list[bytes](), list[bytes]()

    def reject(found: Reject) -> None:
        rejects.append(b"".join(found.content.pieces()))

    streams = EndToEnd(Settings(src, target(src), clock=packing.NOW), counts, out.append, reject)
    for at in range(0, len(data), size):
        streams.feed(data[at : at + size])
    streams.close()
    assert counts.fault() is None
    assert counts.rejected == len(rejects)
    return b"".join(out), rejects, counts


def target(src: str) -> str:
    return "gateway-sse" if src.startswith("unievent") else "unievent-sse"


def good(src: str) -> bytes:
    return packing.examples(src, 3)[2]


@pytest.mark.parametrize("src", FORMATS)
@pytest.mark.parametrize("size", [7, LARGE])
def test_a_stream_cut_off_in_its_first_unit_is_rejected(src: str, size: int) -> None:
    stream = good(src)
    first = packing.units(packing.examples(src, 3)[3], src)[0].rstrip("\n").encode()
    for length in (9, 30, len(first) - 1):
        out, rejects, counts = convert(stream + first[:length], src, size)
        assert out == packing.whole(stream, src, target(src))
        assert rejects == [first[:length]]
        assert counts.streams_in == 2
        assert convert(first[:length], src, size)[1] == [first[:length]]


@pytest.mark.parametrize("src", FORMATS)
def test_what_says_nothing_is_behind_a_stream(src: str) -> None:
    stream = good(src)
    ends = [b"", b"\n\n", b" \n"] + [b": bye", b": bye\n\n", b"id: 7\nretry: 3\n\n", b"\r\n\r\n"] * src.endswith("sse")
    for end in ends:
        for data in (stream + end, stream + end + stream if end[-1:] in (b"", b"\n") else stream):
            out, rejects, counts = convert(data, src)
            assert (rejects, counts.converted) == ([], data.count(stream))
            # keep-alives go through, and some take a carry
            assert out.startswith(packing.whole(stream, src, target(src)))
    # the last line end, or both, may be missing
    for cut in (1, 2):
        assert convert(stream[:-cut] if cut == 1 or src.endswith("sse") else stream, src)[1] == []


@pytest.mark.parametrize("src", FORMATS)
@pytest.mark.parametrize("line", [b'{"a": 1}\n', b"[1, 2]\n", b"7\n", b"what?\n"])
def test_lines_between_streams_are_not_passed_over(src: str, line: bytes) -> None:
    stray = line + b"\n" * src.endswith("sse")
    stream = good(src)
    out, rejects, counts = convert(stream + stray + stream + stream, src)
    alone = src.endswith("sse")
    assert rejects == [stray if alone else stray + stream]
    assert counts.converted == 2 + alone
    assert out == packing.whole(stream, src, target(src)) * counts.converted


@pytest.mark.parametrize("pad", [1_000, 5_000, 100_000])
def test_a_terminal_unit_of_any_size(pad: int) -> None:
    stream = good("unievent-sse").replace(b": carry", b": " + b"x" * pad + b"\n: carry")
    stream = stream.replace(b'"event_type":"stop"', b'"event_type":"stop"' + b" " * pad)
    piece = b'data: {"role"'
    out, rejects, _ = convert(stream + b"what?\n\n" + stream + piece, "unievent-sse")
    assert rejects == [b"what?\n\n", piece]
    assert out == packing.whole(stream, "unievent-sse", "gateway-sse") * 2


@pytest.mark.parametrize("src", [format for format in FORMATS if format.endswith("sse")])
def test_a_bare_body_ends_a_broken_stream(src: str) -> None:
    """A server that fails in the middle answers in JSON: what follows is another stream."""
    stream = good(src)
    broken = stream[: stream.index(b"\n\n") + 2] + b'{\n "error": {"code": 503}\n}\n\n'
    out, rejects, counts = convert(stream + broken + stream, src)
    assert (rejects, counts.converted) == ([broken], 2)
    assert out == packing.whole(stream, src, target(src)) * 2
