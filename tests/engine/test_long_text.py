"""A long text that is said again at its end: it is compared, not held twice."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from tests.run_streams import cut, same_all_ways
from translate import GrammarError, Translator, convert, decode
from translate.algebra.parts import KEPT, Compared, Digest
from translate.shapes.long import PIECE, WIDE, LongText, shorn

STOP = {
    "role": "assistant",
    "event_type": "stop",
    "content_items": [],
    "usage_metadata": {"cached_tokens": None, "prompt_tokens": 1, "thoughts_tokens": None, "response_tokens": 1},
    "finish_reason": "stop",
    "created_at": 3,
}


def unit(phase: str, text: str, kind: str = "text") -> dict[str, Any]:
    return {
        "role": "assistant",
        "event_type": "delta",
        "content_items": [{"type": f"{kind}.{phase}", kind: text}],
        "usage_metadata": None,
        "finish_reason": None,
        "created_at": 1,
    }


def stream(fragments: list[str], whole: str, *, ascii: bool = False, **more: Any) -> bytes:
    units = [*(unit("delta", each) for each in fragments), {**unit("done", whole), **more}, STOP]
    return b"".join(b"data: " + json.dumps(each, ensure_ascii=ascii).encode() + b"\n\n" for each in units)


FILLINGS = {
    "plain": "a long text, ",
    "brackets": '{"a": [1]}, ',
    "escapes": 'a "b" \\ \n \u2028 ',
    "characters of many bytes": "é — 語 😀 ",
    "one character of two halves": "😀",
}


@pytest.mark.parametrize("ascii", [False, True])
@pytest.mark.parametrize("name", FILLINGS)
def test_a_long_text_is_compared_where_it_stands(name: str, ascii: bool) -> None:
    filling = FILLINGS[name]
    fragment = filling * (KEPT // len(filling) // 3)
    fragments = [fragment] * 5
    whole = "".join(fragments)
    data = stream(fragments, whole, ascii=ascii)
    assert shorn(data.split(b"\n\n")[5][6:]) is not None
    out = list(convert([data], "unievent-sse", "gateway", loss="drop"))
    assert "".join(each["value"].get("value", "") for each in out) == whole
    assert [each["value"]["type"] for each in out[-2:]] == ["contentEnd", "stop"]
    other = stream(fragments, whole[:-1] + "x", ascii=ascii)
    for wrong in (other, stream(fragments, whole + "x", ascii=ascii), stream(fragments[1:], whole, ascii=ascii)):
        with pytest.raises(GrammarError, match=r"the text\.done differs from its fragments in 'text'"):
            list(convert([wrong], "unievent-sse", "gateway"))


def test_halves_of_a_pair_may_come_in_two_fragments() -> None:
    half = "x" * KEPT
    units = [half, "\ud83d", "\ude00", half]
    data = stream(units, f"{half}😀{half}", ascii=True)
    singly = list(convert(cut(data, [4096]), "unievent-sse", "unievent"))
    assert list(convert([data], "unievent-sse", "unievent")) == singly
    data = stream([half, "\ud83d", half], f"{half}\ud83d{half}", ascii=True)
    assert len(list(convert([data], "unievent-sse", "gateway"))) == 7


@pytest.mark.parametrize("more", [{}, {"x": 1}, {"created_at": 1.5}])
@pytest.mark.parametrize("said", ["", "\ue000 a long string \ue000"])
def test_all_ways_say_the_same(more: dict[str, Any], said: str) -> None:
    fragment = "word { " * (KEPT // 7)
    for end in ("", "x"):
        data = stream([said, fragment, fragment], said + fragment + fragment + end, **more)
        for dst in ("gateway-sse", "unievent-sse", "events-jsonl"):
            same_all_ways([data], "unievent-sse", dst)
            same_all_ways(cut(data, [1 << 19]), "unievent-sse", dst)


@pytest.mark.parametrize("shape", ["sse", "jsonl"])
def test_a_text_costs_little_more_than_twice_its_size(shape: str) -> None:
    size, piece = 24 << 20, b"words " * 4000

    def chunks() -> Iterator[bytes]:
        before, behind = (b"data: ", b"\n\n") if shape == "sse" else (b"", b"\n")
        fragment = json.dumps(unit("delta", piece.decode())).encode()
        count = size // len(piece)
        for _ in range(count):
            yield before + fragment + behind
        head, tail = json.dumps(unit("done", "|")).encode().split(b"|")
        yield before + head
        for _ in range(count):
            yield piece
        yield tail + behind
        yield before + json.dumps(STOP).encode() + behind

    machine = Translator(f"unievent-{shape}", "gateway-sse")
    tracemalloc.start()
    try:
        for chunk in chunks():
            machine.feed(chunk)
        machine.close()
        assert tracemalloc.get_traced_memory()[1] < 2.5 * size
    finally:
        tracemalloc.stop()


def test_what_is_no_one_long_string_is_read_as_it_stands() -> None:
    text = b"x" * PIECE
    for data in (b"{}", b'{"a":"' + text, b'{"a":"%s","b":"%s"}' % (text, text), b'{"a":"%s"' % text + b" " * WIDE):
        assert shorn(data) is None
    # as a name it is no value, and its mark may be in the rest
    found = shorn(b'{"%s":1}' % text)
    assert found is not None
    assert found.put(json.loads(found.rest)) is None
    found = shorn(b'{"a":"%s","b":"\\ue000 a long string \\ue000"}' % text)
    assert found is not None
    assert found.put(json.loads(found.rest)) is None


def test_pieces_are_cut_at_no_escape_and_no_character() -> None:
    for text in ("\\" * 70000, "\u0007" * 30000, "😀" * 40000, "a" + "é" * 70000, '"' * 70000):
        for ascii in (False, True):
            data = json.dumps(text, ensure_ascii=ascii).encode()
            assert "".join(LongText(data, 1, len(data) - 1).pieces()) == text


def test_a_digest_is_of_code_units() -> None:
    assert Digest(["a", "\ud83d", "\ude00"]) == Digest(["a😀"])
    assert Digest(["ab"]) != Digest(["ba"])
    known = Compared()
    for _ in range(3):
        known.add("x" * KEPT)
    known.add("y")
    assert known.comes_to("x" * 3 * KEPT + "y")
    assert not known.comes_to("x" * 3 * KEPT + "z")
    assert not known.comes_to(b"x")
    assert known.join() == ""


def test_what_is_decoded_is_the_same() -> None:
    fragment = "a" * KEPT
    events = list(decode([stream([fragment] * 3, fragment * 3)], "unievent-sse"))
    assert [type(event).__name__ for event in events] == ["Open", "Append", "Append", "Append", "Close", "Finish"]
