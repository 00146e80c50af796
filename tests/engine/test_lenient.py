"""What lenient mode mends: the one obvious reading, each repair reported; the rest still raises."""

from typing import Any, NamedTuple

import pytest

from tests.wire import (
    AT,
    CLOCK,
    PARIS_MODEL,
    Object,
    attempt,
    blocks,
    call,
    content,
    delta,
    frame,
    item,
    lines,
    shaped,
    start,
    stop,
    text_group,
    thinking,
    tool,
    translated,
    usage,
)
from translate import DecodeError, GrammarError, Report, TranslateError, check

SIGNED = {"signature": "s"}
FIRST = start(PARIS_MODEL)
TEXT = delta(item("text.delta", "a"))
DONE = delta(item("text.done", "a"))
THOUGHT = delta(item("thinking.delta", "t"))
STARTED = delta(call("delta", '{"a": 1}', "f", "t"))
CALLED = delta(call("done", {"a": 1}, "f", "t"))


class Mended(NamedTuple):
    """A faulty stream, what it is taken for, the repairs: (unit, field), and what strict mode raises."""

    codec: str
    faulty: list[Object]
    mended: list[Object]
    repairs: list[tuple[int, str]]
    error: type[TranslateError] = GrammarError


MENDED = {
    # UniEvent; a .done that was made up is stamped by the clock
    "no .done before the next group": Mended(
        "unievent",
        [TEXT, THOUGHT, delta(item("thinking.done", "t")), stop()],
        [TEXT, delta(item("text.done", "a"), CLOCK), THOUGHT, delta(item("thinking.done", "t")), stop()],
        [(1, ".done")],
    ),
    "no .done before the next call": Mended(
        "unievent",
        [STARTED, delta(call("delta", "{}", "g", "u")), delta(call("done", {}, "g", "u")), stop()],
        [
            STARTED,
            delta(call("done", {"a": 1}, "f", "t"), CLOCK),
            delta(call("delta", "{}", "g", "u")),
            delta(call("done", {}, "g", "u")),
            stop(),
        ],
        [(1, ".done")],
    ),
    "no .done before the stop": Mended(
        "unievent", [TEXT, stop()], [TEXT, delta(item("text.done", "a"), CLOCK), stop()], [(1, ".done")]
    ),
    "a .done of other text": Mended(
        "unievent", [TEXT, delta(item("text.done", "b")), stop()], [TEXT, DONE, stop()], [(1, "text")]
    ),
    "a .done of other arguments": Mended(
        "unievent",
        [STARTED, delta(call("done", {"a": 2}, "f", "t")), stop()],
        [STARTED, CALLED, stop()],
        [(1, "arguments")],
    ),
    "a .done of another name": Mended(
        "unievent", [STARTED, delta(call("done", {"a": 1}, "g", "t")), stop()], [STARTED, CALLED, stop()], [(1, "name")]
    ),
    "a .done of another id": Mended(
        "unievent",
        [STARTED, delta(call("done", {"a": 1}, "f", "u")), stop()],
        [STARTED, CALLED, stop()],
        [(1, "tool_call_id")],
    ),
    "a .done with fidelity": Mended(
        "unievent",
        [TEXT, delta(item("text.done", "a", SIGNED)), stop()],
        [TEXT, delta(item("text.delta", "", SIGNED), CLOCK), delta(item("text.done", "a", SIGNED)), stop()],
        [(1, "fidelity")],
    ),
    "a .done with text where its fragments had none": Mended(
        "unievent",
        [delta(item("text.delta", "")), DONE, stop()],
        [delta(item("text.delta", "")), delta(item("text.delta", "a"), CLOCK), DONE, stop()],
        [(1, "text")],
    ),
    "a .done with arguments where its fragments had none": Mended(
        "unievent",
        [delta(call("delta", "", "f", "t")), CALLED, stop()],
        [delta(call("delta", "", "f", "t")), delta(call("delta", '{"a":1}'), CLOCK), CALLED, stop()],
        [(1, "arguments")],
    ),
    "a stop without items": Mended(
        "unievent",
        [TEXT, DONE, {key: value for key, value in stop().items() if key != "content_items"}],
        [TEXT, DONE, stop()],
        [(2, "content_items")],
        DecodeError,
    ),
    # the gateway
    "no contentEnd before the next run": Mended(
        "gateway",
        [FIRST, *content("a")[:-1], *thinking("t"), usage()],
        [FIRST, *content("a"), *thinking("t"), usage()],
        [(3, "thinkingStart")],
    ),
    "no thinkingEnd before the next run": Mended(
        "gateway",
        [FIRST, *thinking("t")[:-1], *content("a"), usage()],
        [FIRST, *thinking("t"), *content("a"), usage()],
        [(3, "contentStart")],
    ),
    "no contentEnd before a tool": Mended(
        "gateway",
        [FIRST, *content("a")[:-1], tool("t", "f", "{}"), usage()],
        [FIRST, *content("a"), tool("t", "f", "{}"), usage()],
        [(3, "tool")],
    ),
    "no contentEnd before the stop": Mended(
        "gateway", [FIRST, *content("a")[:-1], usage()], [FIRST, *content("a"), usage()], [(3, "stop")]
    ),
    "no contentStart": Mended(
        "gateway", [FIRST, *content("a", "b")[1:], usage()], [FIRST, *content("a", "b"), usage()], [(1, "content")]
    ),
    "no thinkingStart": Mended(
        "gateway",
        [FIRST, *thinking("t", data={"x.y": 1})[1:], usage()],
        [FIRST, *thinking("t", data={"x.y": 1}), usage()],
        [(1, "thinking")],
    ),
    "no brackets at all": Mended(
        "gateway",
        [FIRST, frame("thinking", value="t"), frame("content", value="a"), usage()],
        [FIRST, *thinking("t"), *content("a"), usage()],
        [(1, "thinking"), (2, "content"), (3, "stop")],
    ),
    "no streamStart": Mended(
        "gateway", [*content("a"), usage()], [start(), *content("a"), usage()], [(0, "contentStart")]
    ),
    "no streamStart and no bracket": Mended(
        "gateway",
        [frame("content", value="a"), usage()],
        [start(), *content("a"), usage()],
        [(0, "content"), (1, "stop")],
    ),
    "nothing but a stop": Mended("gateway", [usage()], [start(), usage()], [(0, "stop")]),
}


@pytest.mark.parametrize("shape", ["", "-jsonl", "-sse"])
@pytest.mark.parametrize("name", MENDED)
def test_mended(name: str, shape: str) -> None:
    codec, faulty, mended, repairs, strictly = MENDED[name]
    format = codec + shape
    _, error = attempt(shaped(faulty, format), format, format)
    assert type(error) is strictly
    report = Report()
    stream = shaped(faulty, format)
    # unit by unit, so that the repairs are seen where they are made
    out = translated([stream] if shape else stream, format, codec, strict=False, report=report, loss="drop")
    assert out == mended
    assert [(finding.unit, finding.field) for finding in report.repairs] == repairs
    assert check(out, codec) == []
    # nothing is mended twice, and nothing that is whole
    whole = Report()
    assert translated(mended, codec, codec, strict=False, report=whole) == mended
    assert whole.repairs == []


def test_fidelity_in_pieces_is_joined() -> None:
    """The target gets the whole signature, and no half of it."""
    units = [
        delta(item("thinking.delta", "t")),
        delta(item("thinking.delta", "", {"signature": "ab"}), AT + 1),
        delta(item("thinking.delta", "", {"signature": "cd", "id": 1}), AT + 2),
        delta(item("thinking.done", "t", {"signature": "abcd", "id": 1}), AT + 3),
        stop(),
    ]
    _, error = attempt(units, "unievent", "gateway")
    assert isinstance(error, GrammarError)
    report = Report()
    out = translated(units, "unievent", "gateway", strict=False, report=report, loss="drop")
    assert out == [start(), *thinking("t", data={"signature": "abcd", "id": 1}), usage()]
    assert [(finding.unit, finding.field) for finding in report.repairs] == [(2, "fidelity")]


def test_a_missing_last_line_end_is_accepted_in_both_modes() -> None:
    for format, units in (("gateway", [FIRST, *content("a"), usage()]), ("unievent", [TEXT, DONE, stop()])):
        for stream, src in ((lines(units)[:-1], "-jsonl"), (blocks(units)[:-1], "-sse"), (blocks(units)[:-2], "-sse")):
            for strict in (True, False):
                report = Report()
                assert translated(stream, format + src, format, strict=strict, report=report) == units
                assert [finding.field for finding in report.repairs] == ["end of input"]
                assert report.repairs[0].unit == len(units) - 1


@pytest.mark.parametrize(
    ("codec", "units", "at", "error"),
    [
        ("unievent", [DONE, stop()], 0, GrammarError),
        ("unievent", [TEXT, delta(item("thinking.done", "a")), stop()], 1, GrammarError),
        ("unievent", [delta(call("delta", "{", "", ""))], 0, GrammarError),
        ("unievent", [TEXT, DONE, stop(), stop()], 3, GrammarError),
        ("unievent", [{**TEXT, "role": "user"}], 0, DecodeError),
        ("unievent", [{**TEXT, "content_items": []}], 0, DecodeError),
        ("unievent", [TEXT, DONE, {**stop(), "usage_metadata": None}], 2, DecodeError),
        ("gateway", [FIRST, frame("contentEnd")], 1, GrammarError),
        ("gateway", [FIRST, frame("thinkingEnd", data={"a": 1})], 1, GrammarError),
        ("gateway", [FIRST, *content("a")[:-1], frame("thinkingEnd")], 3, GrammarError),
        ("gateway", [FIRST, usage(), usage()], 2, GrammarError),
        ("gateway", [frame("contentEnd")], 0, GrammarError),
        ("gateway", [FIRST, frame("content")], 1, DecodeError),
        ("gateway", [FIRST, {"success": True, "code": 200}], 1, DecodeError),
    ],
)
def test_the_rest_still_raises(codec: str, units: list[Object], at: int, error: type[TranslateError]) -> None:
    _, raised = attempt(units, codec, codec, strict=False)
    assert type(raised) is error
    assert isinstance(raised, TranslateError)
    assert raised.unit == at


@pytest.mark.parametrize("value", [None, {}], ids=repr)
def test_a_fidelity_of_nothing_is_none(value: Any) -> None:
    units = [delta({**item("text.delta", "a"), "fidelity": value}), delta(item("text.done", "a")), stop()]
    assert translated(units, "unievent", "gateway", loss="drop") == [start(), *content("a"), usage()]
    assert translated(translated(units, "unievent", "gateway-sse"), "gateway-sse", "unievent") == units
    assert text_group("a")[:1] != units[:1]
