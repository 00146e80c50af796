"""Content encodings, undone piece by piece; and what heads say of media types."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.peers.serving import odd
from translate import DecodeError, TruncatedStream
from translate.adapters.encodings import PIECE, Inflater, undoes
from translate.adapters.media import chosen, is_stream, media_type

TEXT = b"data: " + bytes(range(256)) * 40 + b"\n\n"


def raw(data: bytes) -> bytes:
    deflate = zlib.compressobj(wbits=-15)
    return deflate.compress(data) + deflate.flush()


ENCODED = {
    "gzip": ("gzip", gzip.compress(TEXT)),
    "x-gzip": ("x-gzip", gzip.compress(TEXT)),
    "gzip of members": ("gzip", b"".join(gzip.compress(each) for each in (TEXT[:7], b"", TEXT[7:999], TEXT[999:]))),
    "deflate": ("deflate", zlib.compress(TEXT)),
    "deflate, best": ("deflate", zlib.compress(TEXT, 9)),
    "deflate without a header": ("deflate", raw(TEXT)),
}


def inflated(name: str, chunks: Iterator[bytes] | list[bytes]) -> bytes:
    inflater = Inflater(name)
    out = b"".join(piece for chunk in chunks for piece in inflater.feed(chunk))
    inflater.close()
    return out


@pytest.mark.parametrize("case", ENCODED)
def test_an_encoding_is_undone_however_it_is_cut(case: str) -> None:
    name, data = ENCODED[case]
    assert undoes(name)
    assert inflated(name, [data]) == TEXT
    assert inflated(name, odd(data)) == TEXT
    assert inflated(name, [data[at : at + 1] for at in range(len(data))]) == TEXT
    assert inflated(name, [data[:1], b"", data[1:]]) == TEXT


@settings(deadline=None)
@given(st.binary(max_size=300), st.sampled_from([1, 200, 4000]), st.integers(PIECE - 300, PIECE + 300))
def test_nothing_stays_within_where_the_output_fills_a_piece(start: bytes, times: int, fill: int) -> None:
    data = b"x" * fill + start * times
    for name, made in (("gzip", gzip.compress(data)), ("deflate", zlib.compress(data)), ("deflate", raw(data))):
        assert inflated(name, [made]) == data


def test_what_was_flushed_is_given_out_at_once() -> None:
    for wbits, name in ((31, "gzip"), (15, "deflate"), (-15, "deflate")):
        deflate, inflater = zlib.compressobj(wbits=wbits), Inflater(name)
        for text in (b"one", b"x" * PIECE, b"y" * (PIECE + 100), b"two"):
            data = deflate.compress(text) + deflate.flush(zlib.Z_SYNC_FLUSH)
            assert b"".join(inflater.feed(data)) == text


@pytest.mark.parametrize("case", ENCODED)
def test_an_encoding_that_is_cut_short_is_no_end(case: str) -> None:
    name, data = ENCODED[case]
    for end in (1, 2, 11, len(data) // 2, len(data) - 1):
        with pytest.raises(TruncatedStream):
            inflated(name, [data[:end]])


@pytest.mark.parametrize("name", ["gzip", "deflate"])
def test_nothing_at_all_is_whole(name: str) -> None:
    assert inflated(name, []) == b""


@pytest.mark.parametrize("name", ["gzip", "x-gzip", "deflate"])
@pytest.mark.parametrize("data", [b"data: {}\n\n", b"\xff" * 100, ENCODED["gzip"][1] + b"garbage"])
def test_garbage_is_no_encoding(name: str, data: bytes) -> None:
    with pytest.raises(DecodeError):
        inflated(name, odd(data))


def test_what_follows_deflate_is_nothing() -> None:
    assert inflated("deflate", [zlib.compress(TEXT) + b"more", b"and more"]) == TEXT


def test_a_bomb_goes_off_in_pieces() -> None:
    # a thousand times as large
    bomb = gzip.compress(b"\n" * (64 << 20))
    inflater, size = Inflater("gzip"), 0
    tracemalloc.start()
    try:
        for piece in inflater.feed(bomb):
            assert len(piece) <= PIECE
            size += len(piece)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size == 64 << 20
    assert peak < 1 << 20


@pytest.mark.parametrize("name", ["br", "zstd", "compress", "gzip, gzip", "identity", ""])
def test_other_encodings_are_not_undone(name: str) -> None:
    assert not undoes(name)


# ---- media types -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "status", "kind", "stream"),
    [
        ("unievent-sse", 200, "text/event-stream", True),
        ("unievent-sse", 200, "Text/Event-Stream ; charset=UTF-8", True),
        ("unievent-sse", 200, "text/event-stream, text/event-stream", True),
        ("unievent-sse", 200, "text/html, text/event-stream", False),
        ("unievent", 200, "application/jsonl", True),
        ("unievent-jsonl", 200, "application/x-ndjson", True),
        ("unievent-jsonl", 200, "text/event-stream", False),
        ("unievent-sse", 200, "text/event-streams", False),
        ("unievent-sse", 200, "application/json", False),
        ("unievent-sse", 200, None, False),
        ("unievent-sse", 206, "text/event-stream", False),
        ("unievent-sse", 500, "text/event-stream", False),
    ],
)
def test_which_answers_are_streams(format: str, status: int, kind: str | None, stream: bool) -> None:
    assert is_stream(format, status, kind) is stream


def test_a_format_of_objects_has_no_media_type() -> None:
    with pytest.raises(ValueError, match="format of objects"):
        media_type("gateway")


OFFERS = ("gateway-sse", "gateway-jsonl")


@pytest.mark.parametrize(
    ("accept", "format"),
    [
        (None, None),
        ("", None),
        ("*/*", None),
        ("text/event-stream", None),
        ("text/*", None),
        ("image/png", None),
        ("text/event-stream;format=gateway-sse", "gateway-sse"),
        ('text/event-stream; Format="gateway-sse" ; q=0.1', "gateway-sse"),
        ("TEXT/EVENT-STREAM;format=gateway-sse, */*", "gateway-sse"),
        ("*/*, text/event-stream;format=gateway-sse", "gateway-sse"),
        ("*/*;format=gateway-sse", "gateway-sse"),
        ("text/event-stream;format=gateway-sse;q=0.4, text/event-stream;q=0.5", None),
        ("text/event-stream;format=gateway-sse;q=0", None),
        ("text/event-stream;format=gateway-sse;q=0.000", None),
        ("text/event-stream;format=unievent-sse", None),
        ("text/event-stream;format=unheard-of", None),
        ("image/png;format=gateway-sse", None),
        ("application/x-ndjson", "gateway-jsonl"),
        ("application/*", "gateway-jsonl"),
        ("application/x-ndjson, text/event-stream", "gateway-jsonl"),
        ("text/event-stream, application/x-ndjson", None),
        ("text/event-stream;q=0.9, application/x-ndjson", "gateway-jsonl"),
        ("application/jsonl;format=gateway-jsonl", "gateway-jsonl"),
        # the most specific range says the quality
        ("text/event-stream;q=0, */*", "gateway-jsonl"),
        ("text/event-stream;format=unievent-sse;q=0, text/event-stream", "gateway-sse"),
        ("text/event-stream;format=gateway-sse;q=0.2, text/*;q=0.9, */*;q=0.1", None),
        # what is no weight is none
        ("application/x-ndjson;q=nan, text/event-stream", None),
        ("application/x-ndjson;q=2", None),
        ("application/x-ndjson;q=-1", None),
        ("application/x-ndjson;q=inf", None),
        ("application/x-ndjson;q=", None),
        (",;=, ;q=1,/,*", None),
    ],
)
def test_which_format_is_asked_for(accept: str | None, format: str | None) -> None:
    assert chosen(accept, OFFERS, "unievent-sse") == format


@settings(deadline=None)
@given(st.text(alphabet='*/;=,q. 019textvn-srmapplicojd"', max_size=60))
def test_no_accept_is_too_odd(accept: str) -> None:
    assert chosen(accept, OFFERS, "unievent-sse") in (None, *OFFERS)
