"""Objects, and bytes whose shape the first of them tell."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.feeding import Read, chunks_until_refused, limits, read, read_all_ways, singly
from translate import Append, DecodeError, GrammarError, Limits, Report, TruncatedStream, convert
from translate.shapes import Frame
from translate.shapes.array import Array
from translate.shapes.objects import Objects, ObjectsReader

BOM = b"\xef\xbb\xbf"


def reader(limit: int | None = None, *, done: bytes | None = b"[DONE]") -> ObjectsReader:
    return Objects(done).reader(Limits() if limit is None else limits(limit), True)


def frames(data: bytes, **options: Any) -> Read:
    return read_all_ways(lambda: reader(**options), data)


HEADS = [b"", b" ", b"\n\n", b" \r\n\t ", BOM, BOM + b"\n"]


@pytest.mark.parametrize("head", HEADS)
def test_a_brace_opens_json_lines(head: bytes) -> None:
    found = frames(head + b'{"a":1}\n{"b":2}\n')
    assert [frame.data for frame in found.frames] == [b'{"a":1}', b'{"b":2}']
    assert found.frames[1].offset == len(head) + 8
    assert not found.ended


@pytest.mark.parametrize("head", HEADS)
def test_a_bracket_opens_an_array(head: bytes) -> None:
    found = frames(head + b'[{"a":1},{"b":2}]')
    assert [(frame.data, frame.offset) for frame in found.frames] == [
        (b'{"a":1}', len(head) + 1),
        (b'{"b":2}', len(head) + 9),
    ]
    assert found.ended


@pytest.mark.parametrize("head", [b"", b"\n\n", b"\r\n", BOM, BOM + b"\n", b": x\n\n", b"event: y\n\n", b"id: 1\n"])
def test_anything_else_opens_sse(head: bytes) -> None:
    found = frames(head + b"data: {}\n\ndata: [DONE]\n\n")
    assert [frame.data for frame in found.frames if frame.data] == [b"{}"]
    assert found.ended


def test_the_end_marker_is_the_codecs() -> None:
    assert frames(b"data: [DONE]\n\n", done=None) == Read([Frame(b"[DONE]", 0)])


@pytest.mark.parametrize("data", [b"", b"  \n", BOM, BOM[:1], BOM[:2], BOM + b" "])
def test_nothing(data: bytes) -> None:
    assert frames(data) == Read([])


def test_what_only_begins_like_a_bom_is_sse() -> None:
    for data in (b"\xef data: a\n\n", b"\xef\xbbx\n\n", b"\xef \n\n"):
        error = frames(data).error
        assert error is not None
        assert error[0] == "DecodeError"


@pytest.mark.parametrize("chunk", ['{"a":"ü"}\n', bytearray(b'{"a":"\xc3\xbc"}\n'), memoryview(b'{"a":"\xc3\xbc"}\n')])
def test_chunks_are_bytes_or_text(chunk: Any) -> None:
    assert read(reader, [chunk]).frames == [Frame(b'{"a":"\xc3\xbc"}', 0)]


def test_objects() -> None:
    unit = {"a": 1}
    found = read(reader, [unit, {}])
    assert found == Read([Frame(unit), Frame({})])
    assert found.frames[0].data is unit


@pytest.mark.parametrize("chunks", [[b"{}\n", {}], [b" ", {}], [b"\xef", {}], [b"[", {}], ["data", {}]])
def test_an_object_among_bytes(chunks: list[Any]) -> None:
    found = read(reader, chunks)
    assert found.error == ("DecodeError", "an object among bytes", None)


@pytest.mark.parametrize("chunk", [b"{}\n", "", b" ", bytearray(b"x")])
def test_bytes_among_objects(chunk: Any) -> None:
    assert read(reader, [{}, chunk]) == Read([Frame({})], ("DecodeError", "bytes among objects", None))


def test_an_empty_chunk_tells_nothing() -> None:
    assert read(reader, [b"", "", {}]).error is None


@pytest.mark.parametrize("chunk", [None, 1, 1.5, [{}], ("a",), Append("a")])
def test_other_chunks_are_refused(chunk: Any) -> None:
    what = f"a unit is an object, not {type(chunk).__name__}"
    assert read(reader, [{}, chunk]) == Read([Frame({})], ("DecodeError", what, None))


@pytest.mark.parametrize("chunk", [b" ", b" " * 7])
def test_endless_white_space_is_refused(chunk: bytes) -> None:
    assert chunks_until_refused(reader(100), chunk) == 100 // len(chunk)


def test_white_space_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    recognise = ObjectsReader._recognise

    def counting(self: ObjectsReader, data: bytes) -> Any:
        seen.append(len(data))
        return recognise(self, data)

    monkeypatch.setattr(ObjectsReader, "_recognise", counting)
    found = read(reader, [*singly(b" " * 10_000 + b"{}\n"), b"{}\n"])
    assert [frame.offset for frame in found.frames] == [0, 10_003]
    assert sum(seen) < 11_000


def test_a_chunk_may_be_larger_than_a_unit() -> None:
    assert len(frames(b"{}\n" * 10, limit=2).frames) == 10


HEAD = st.text(st.sampled_from("{[ \n:d\ufeff\x00"), max_size=12).map(str.encode)


@given(HEAD, st.integers(0, 14), st.integers(3, 14))
def test_any_bytes_cut_anywhere(data: bytes, at: int, limit: int) -> None:
    whole = read(lambda: reader(limit), [data])
    assert read(lambda: reader(limit), [data[:at], data[at:]]) == whole
    assert read(lambda: reader(limit), singly(data)) == whole


# ---- in conversions ---------------------------------------------------------------------------


def delta(text: str) -> dict[str, Any]:
    item = {"type": "text.delta", "text": text}
    return {"role": "assistant", "event_type": "delta", "content_items": [item], "created_at": 1}


DONE = {"role": "assistant", "event_type": "delta", "content_items": [{"type": "text.done", "text": "ab"}]}
USAGE = {"cached_tokens": 1, "prompt_tokens": 2, "thoughts_tokens": None, "response_tokens": 3}
ENDING = {"content_items": [], "usage_metadata": USAGE, "finish_reason": "stop"}
STOP = {"role": "assistant", "event_type": "stop", **ENDING}
UNITS = [delta("a"), delta("b"), DONE, STOP]
LINES = "".join(json.dumps(unit) + "\n" for unit in UNITS)
SSE = "".join(f"data: {json.dumps(unit)}\n\n" for unit in UNITS)


@pytest.mark.parametrize("data", [LINES, LINES[:-1], json.dumps(UNITS), json.dumps(UNITS, indent=1), SSE, SSE[:-1]])
def test_every_shape_is_the_same_stream(data: str) -> None:
    expected = list(convert(UNITS, "unievent", "events"))
    assert list(convert([data], "unievent", "events")) == expected
    assert list(convert(singly(data.encode()), "unievent", "events")) == expected
    assert list(convert(data, "unievent", "events")) == expected


def test_the_gateways_frames_are_recognised_too() -> None:
    frames = list(convert(UNITS, "unievent", "gateway"))
    for dst in ("gateway-jsonl", "gateway-sse"):
        data = b"".join(convert(frames, "gateway", dst))
        assert list(convert(data, "gateway", "unievent")) == UNITS
    assert list(convert([json.dumps(frames)], "gateway", "unievent")) == UNITS


def test_text_with_a_lone_surrogate_is_no_utf8() -> None:
    with pytest.raises(DecodeError, match="not UTF-8"):
        list(convert([LINES[:-1].replace('"a"', '"\ud83d"') + "\n"], "unievent", "events"))
    # as an escape it is a code unit like any other
    events = list(convert([LINES.replace('"a"', '"\\ud83d"').replace('"ab"', '"\\ud83db"')], "unievent", "events"))
    assert events[1] == Append("\ud83d")


def test_a_missing_end_of_an_array_is_reported() -> None:
    data = json.dumps(UNITS)
    for cut in (data[:-1], data[:-1] + ", "):
        report = Report()
        assert len(list(convert([cut], "unievent", "events", report=report))) == 5
        assert [(f.field, f.reason) for f in report.repairs] == [("end of input", "what holds the units lacks its end")]
    with pytest.raises(TruncatedStream):
        list(convert([data[:-2]], "unievent", "events"))


def test_a_missing_end_of_an_array_where_it_is_demanded() -> None:
    shape = Objects(array=Array())
    for data in (b"[{}", b"[{},", b'[{},{"a'):
        assert read_all_ways(lambda: shape.reader(Limits(), True), data).error == (
            "TruncatedStream",
            "the input ended within a JSON array",
            len(data) if not data.endswith(b"a") else 4,
        )


def test_a_unit_after_the_end_of_an_array() -> None:
    with pytest.raises(DecodeError, match="not a JSON array of units"):
        list(convert([json.dumps(UNITS) + "{}"], "unievent", "events"))
    with pytest.raises(GrammarError, match="after the terminal"):
        list(convert([json.dumps([*UNITS, delta("c")])], "unievent", "events"))


def test_an_array_that_ends_early() -> None:
    with pytest.raises(TruncatedStream):
        list(convert([json.dumps(UNITS[:2])], "unievent", "events"))


def test_written_objects() -> None:
    writer, out = Objects().writer(), list[Any]()
    unit = {"a": 1}
    writer.write(unit, "name", None, out)
    writer.write(unit, None, {"x": float("nan")}, out)
    writer.write(None, None, {"y": {}}, out)
    writer.write(unit, None, None, out)
    writer.ping(out)
    writer.end(out)
    assert out[0] is unit
    assert out[1:] == [{"a": 1, "carry": {"x": {"$number": "NaN"}}}, {"a": 1, "carry": {"before": [{"y": {}}]}}]
    assert unit == {"a": 1}
    assert writer.framing is None
    assert not writer.joined
