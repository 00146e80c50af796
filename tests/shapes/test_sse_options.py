"""Server-sent events as formats differ in them: where the carry stands, the end marker, bare bodies, error lines."""

from __future__ import annotations

from typing import Any

import pytest

from tests.feeding import Read, read_all_ways
from translate import Limits
from translate.shapes import Frame
from translate.shapes.blocks import BARE_BODY, ERROR_LINE, ERROR_MEMBER
from translate.shapes.objects import Objects
from translate.shapes.sse import Sse

DONE = b"[DONE]"


def frames(shape: Sse, data: bytes, *, strict: bool = True) -> Read:
    return read_all_ways(lambda: shape.reader(Limits(), strict), data)


def texts(shape: Sse, data: bytes) -> list[Any]:
    found = frames(shape, data)
    assert found.error is None
    return [frame.data for frame in found.frames]


def written(shape: Sse, *puts: tuple[Any, str | None, Any]) -> bytes:
    writer, out = shape.writer(), list[bytes]()
    for unit, name, carry in puts:
        writer.write(unit, name, carry, out)
    return b"".join(out)


# ---- where the carry stands -------------------------------------------------------------------------


def test_a_carry_as_the_last_member() -> None:
    shape = Sse(carry="member", names=False, comments=False)
    out = written(
        shape,
        ({"a": 1}, "name", {"v": 1}),
        (None, None, {"x": float("nan")}),
        ({"b": 2, "carry": 5}, None, None),
        ({"c": 3, "carry": 5}, None, {"y": 1}),
        ({}, None, {"z": 1}),
    )
    assert out.split(b"\n\n") == [
        b'data: {"a":1,"carry":{"v":1}}',
        b'data: {"b":2,"carry":{"before":[{"x":{"$number":"NaN"}}],"member":5}}',
        b'data: {"c":3,"carry":{"y":1,"member":5}}',
        b'data: {"carry":{"z":1}}',
        b"",
    ]
    assert [frame.carries for frame in frames(shape, out).frames] == [()] * 4


def test_carries_that_wait_for_a_unit_are_known() -> None:
    writer, out = Sse(carry="member").writer(), list[bytes]()
    writer.write(None, None, {"x": 1}, out)
    assert (out, writer.pending) == ([], [{"x": 1}])


@pytest.mark.parametrize("shape", [Sse(), Sse(carry="member"), Sse(names=False), Sse(carry="member", names=False)])
@pytest.mark.parametrize("name", [None, "name", ERROR_LINE, BARE_BODY])
def test_the_framing_is_what_the_writer_writes(shape: Sse, name: str | None) -> None:
    framing = shape.writer().framing
    assert framing is not None
    assert framing is shape.reader(Limits(), True).framing
    for carry, text in ((None, None), ({"c": 2}, b'{"c":2}')):
        assert framing(b'{"a":1}', name, text) == written(shape, ({"a": 1}, name, carry))


def test_without_names_and_comments() -> None:
    writer, out = Sse(carry="member", names=False, comments=False).writer(), list[bytes]()
    writer.write({}, "name", None, out)
    writer.ping(out)
    assert out == [b"data: {}\n\n"]
    # as input all is read
    found = frames(Sse(carry="member", names=False, comments=False), b": x\n: carry {}\nevent: e\ndata: {}\n\n")
    assert found.frames == [Frame(b"{}", 0, "e", (b"{}",), 1)]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"carry": "both"}, "carry is 'comment' or 'member', not 'both'"),
        ({"writes_done": True}, "writes_done is"),
        ({"comments": False}, "comments are written where the carry is one"),
        ({"done": b"[DONE] "}, "done is data without white space"),
        ({"done": b""}, "done is data"),
    ],
)
def test_options_that_there_are_not(options: Any, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        Sse(**options)


# ---- the end marker ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("writes", "after_success", "after_failure"),
    [("always", True, True), ("success", True, False), ("never", False, False)],
)
def test_when_an_end_marker_is_written(writes: Any, after_success: bool, after_failure: bool) -> None:
    for failed, expected in ((False, after_success), (True, after_failure)):
        out: list[bytes] = []
        Sse(DONE, writes_done=writes).writer().end(out, failed=failed)
        assert out == [b"data: [DONE]\n\n"] * expected
    # it is read in any case
    assert frames(Sse(DONE, writes_done=writes), b"event: done\ndata: [DONE] \n\n") == Read([], None, True)


def test_what_only_begins_like_an_end_marker_is_a_unit() -> None:
    assert frames(Sse(DONE), b"data: [DONE]x\n\n").frames == [Frame(b"[DONE]x", 0)]


# ---- bare bodies ------------------------------------------------------------------------------------

BODIES = [
    b'{"error":{"code":503}}',
    b'{\n  "error": {\n    "code": 503\n  }\n}',
    b' {"error": 1}',
    b'[{\n"error": 1}]',
    b"[\n{}]",
]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n"])
def test_a_bare_body_is_a_unit_or_refused_as_what_it_is(body: bytes, end: bytes) -> None:
    for head in (b"", b": x\n\ndata: {}\n\n"):
        data = head + body + end
        before = frames(Sse(), head).frames
        found = frames(Sse(bare=True), data)
        assert found == Read([*before, Frame(body, len(head), BARE_BODY, whole=end == b"\n\n")])
        for strict in (True, False):
            refused = frames(Sse(), data, strict=strict)
            what = "a JSON body that stands bare in an event stream"
            assert refused == Read(before, ("DecodeError", what, len(head)))


def test_line_ends_of_a_bare_body_are_those_of_events() -> None:
    body = BODIES[1]
    assert frames(Sse(bare=True), body.replace(b"\n", b"\r\n") + b"\r\n\r\n").frames == [Frame(body, 0, BARE_BODY)]
    assert frames(Sse(bare=True), body.replace(b"\n", b"\r") + b"\r\r").frames == [Frame(body, 0, BARE_BODY)]


def test_a_bare_body_in_the_block_of_an_event() -> None:
    data = b'data: {"a":1}\n{"error":1}\n\n'
    assert frames(Sse(bare=True), data).frames == [Frame(b'{"a":1}', 0), Frame(b'{"error":1}', 0, BARE_BODY)]
    refused = frames(Sse(), data)
    assert [frame.data for frame in refused.frames] == [b'{"a":1}']
    assert refused.error is not None


@pytest.mark.parametrize("bare", [True, False])
def test_what_an_event_follows_in_its_block_is_a_field_that_says_nothing(bare: bool) -> None:
    assert frames(Sse(bare=bare), b'{"a":1}\n{\ndata: {}\n\n').frames == [Frame(b"{}", 0)]


@pytest.mark.parametrize("line", [b"[DONE]", b"[1]", b"x{", b'"error": {', b"null"])
def test_other_lines_are_fields_that_say_nothing(line: bytes) -> None:
    for bare in (True, False):
        assert texts(Sse(bare=bare), b"data: 1\n\n" + line + b"\n\ndata: 2\n\n") == [b"1", b"2"]


def test_nothing_stands_bare_after_the_end() -> None:
    for shape in (Sse(DONE), Sse(DONE, bare=True)):
        found = frames(shape, b'data: [DONE]\n\n{"error":1}')
        assert found.error == ("GrammarError", "a unit after the end marker", 14)


# ---- error lines ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "unit", "name"),
    [
        (b'{"detail":1,"error":{"message":"m"}}', b'{"detail":1,"error":{"message":"m"}}', ERROR_LINE),
        (b'{"code":500,"message":"m"}', b'{"error":{"code":500,"message":"m"}}', ERROR_MEMBER),
        (b'"m"', b'{"error":"m"}', ERROR_MEMBER),
        (b"null", b"null", ERROR_LINE),
        (b"{", b"{", ERROR_LINE),
    ],
)
def test_an_error_line_is_a_unit(line: bytes, unit: bytes, name: str) -> None:
    shape = Sse(DONE, errors=True)
    data = b"data: {}\n\nerror: " + line + b"\n\n"
    assert frames(shape, data).frames == [Frame(b"{}", 0), Frame(unit, 10, name)]
    assert frames(shape, data[:-2]).frames[1:] == [Frame(unit, 10, name, whole=False)]
    # elsewhere it is a field that says nothing
    assert frames(Sse(DONE), data).frames == [Frame(b"{}", 0)]
    # and as input of any shape
    objects = Objects(sse=shape)
    assert read_all_ways(lambda: objects.reader(Limits(), True), data).frames[1:] == [Frame(unit, 10, name)]


@pytest.mark.parametrize(
    ("line", "unit", "name"),
    [
        ('{"detail":1,"error":{}}', {"detail": 1, "error": {}}, ERROR_LINE),
        ('{"error":{"a":1}}', {"error": {"a": 1}}, ERROR_LINE),
        ('{"a":1}', {"error": {"a": 1}}, ERROR_MEMBER),
        ('"m"', {"error": "m"}, ERROR_MEMBER),
        ('{"error":1,"b":2}', {"error": 1, "b": 2}, ERROR_MEMBER),
    ],
)
def test_an_error_line_comes_home_as_one(line: str, unit: Any, name: str) -> None:
    shape = Sse(DONE, errors=True)
    out = written(shape, (unit, name, {"v": 1}))
    assert out == b': carry {"v":1}\nerror: ' + line.encode() + b"\n\n"
    # where there are no such lines, the name is none
    assert written(Sse(), (unit, name, None)).startswith(b"data: {")


def test_an_error_line_has_the_carry_of_its_block() -> None:
    shape = Sse(errors=True)
    found = frames(shape, b": carry {}\n: x\nerror: 1\n\n")
    assert found.frames == [Frame(b'{"error":1}', 0, ERROR_MEMBER, (b"{}",), 1)]


def test_no_event_is_named_like_an_error_line() -> None:
    for name in (ERROR_LINE, ERROR_MEMBER, BARE_BODY):
        data = b"event: " + name.encode() + b"\ndata: {}\n\n"
        assert all(frame.name not in (ERROR_LINE, ERROR_MEMBER, BARE_BODY) for frame in frames(Sse(), data).frames)
