"""Carries that others changed, made up or mixed up: what a unit says natively stands, and what can be told is told.

Strict mode raises CarryError wherever the carry can tell; lenient mode gives the meaning of the native content and
reports. In both directions and in every shape.
"""

import copy
from typing import Any

import pytest

from tests.tampering import BASE, CASES, Case, converted, kind_of, place
from tests.wire import (
    PARIS_MODEL,
    SHAPES,
    Object,
    Pair,
    attempt,
    blocks,
    chained,
    content,
    delta,
    dumps,
    item,
    shaped,
    start,
    stop,
    text_group,
    thinking,
    together,
    translated,
    usage,
)
from translate import CarryError, GrammarError, LimitExceeded, Limits, Report, assemble, check

SHAPE = ["", "-jsonl", "-sse"]
BOTH = ["gateway", "unievent"]


def meaning(message: Any) -> Any:
    """A message without what is incidental: when it was made, how usage is split, who issued a state."""
    message = copy.deepcopy(message)
    if isinstance(message, dict):
        message.pop("created_at", None)
        counts = message["usage_metadata"]
        message["usage_metadata"] = [
            (counts[a] or 0) + (counts[b] or 0)
            for a, b in (("cached_tokens", "prompt_tokens"), ("thoughts_tokens", "response_tokens"))
        ]
        return message
    for part in message:
        if "data" in part:
            part["data"] = {key.rpartition(".")[2]: value for key, value in part["data"].items()}
    return message


def without(stream: list[Pair]) -> list[Pair]:
    return [(None, unit) for _, unit in stream if unit is not None]


def repaired(report: Report) -> list[str]:
    return [finding.field for finding in report.repairs]


def check_stands(stream: list[Pair], format: str, **options: Any) -> Report:
    """In lenient mode a stream comes home with the meaning of its native content."""
    codec = format.partition("-")[0]
    home = BASE[codec][0]
    report = Report()
    out = translated(together(stream, format), format, home, strict=False, report=report, **options)
    assert check(out, home) == []
    bare = together(without(stream), format)
    assert meaning(assemble(out, home, home, strict=False)) == meaning(assemble(bare, format, home, strict=False))
    return report


@pytest.mark.parametrize("codec", BOTH)
def test_the_base_streams_come_home(codec: str) -> None:
    home, units = BASE[codec]
    for format in SHAPES[codec]:
        assert translated(together(converted(codec), format), format, home) == units


@pytest.mark.parametrize("shape", SHAPE)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.codec}: {case.name}")
def test_tampered(case: Case, shape: str) -> None:
    format, home = case.codec + shape, BASE[case.codec][0]
    stream = converted(case.codec)
    case.change(stream)
    _, error = attempt(together(stream, format), format, home)
    if case.told:
        assert isinstance(error, CarryError), error
    elif error is not None:
        raise error
    report = check_stands(stream, format)
    assert ("carry" in repaired(report)) == case.told


@pytest.mark.parametrize("shape", SHAPE)
@pytest.mark.parametrize("codec", BOTH)
def test_stripped_carries_are_missed_by_no_one(codec: str, shape: str) -> None:
    whole = converted(codec)
    streams = [without(whole)]
    for i, (carry, unit) in enumerate(whole):
        if carry is not None:
            streams.append([*whole[:i], *([(None, unit)] if unit else []), *whole[i + 1 :]])
    assert len(streams) > 5
    home = BASE[codec][0]
    expected = meaning(assemble(BASE[codec][1], home, home))
    for stream in streams:
        assert repaired(check_stands(stream, codec + shape)) == []
        out = translated(together(stream, codec + shape), codec + shape, home)
        assert meaning(assemble(out, home, home)) == expected


@pytest.mark.parametrize("codec", BOTH)
def test_a_carry_twice_in_one_block(codec: str) -> None:
    """On SSE as two comments; in JSON shapes as a comment and a member, or in one unit's past."""
    format, home = codec + "-sse", BASE[codec][0]
    whole = together(converted(codec), format)
    lines = [line for line in whole.split(b"\n") if line.startswith(b": carry ")]
    for line in lines:
        doubled = whole.replace(line, line + b"\n" + line)
        _, error = attempt(doubled, format, home)
        assert isinstance(error, CarryError)
        assert "two carries" in error.what
        report = Report()
        out = translated(doubled, format, home, strict=False, report=report)
        assert "carry" in repaired(report)
        assert meaning(assemble(out, home, home)) == meaning(assemble(BASE[codec][1], home, home))


@pytest.mark.parametrize("shape", SHAPE)
@pytest.mark.parametrize("codec", BOTH)
def test_a_carry_once_more_ahead_of_its_unit(codec: str, shape: str) -> None:
    whole = converted(codec)
    for i, (carry, unit) in enumerate(whole):
        if carry is None or unit is None:
            continue
        stream = [*whole[:i], (carry, None), *whole[i:]]
        _, error = attempt(together(stream, codec + shape), codec + shape, BASE[codec][0])
        assert isinstance(error, CarryError), (i, carry)
        assert "carry" in repaired(check_stands(stream, codec + shape))


@pytest.mark.parametrize("shape", SHAPE)
@pytest.mark.parametrize("codec", BOTH)
def test_a_carry_of_a_later_version(codec: str, shape: str) -> None:
    stream: list[Pair] = [
        ({**carry, "v": 2} if carry and "v" in carry else carry, unit) for carry, unit in converted(codec)
    ]
    _, error = attempt(together(stream, codec + shape), codec + shape, BASE[codec][0])
    assert isinstance(error, CarryError)
    assert "version 2" in error.what
    report = check_stands(stream, codec + shape)
    # those that follow are of that version too; in JSON shapes the first rides with the second
    carries = sum(carry is not None for carry, _ in stream)
    assert report.counts["repairs", "carry"] == carries - (codec == "unievent" and shape != "-sse")


@pytest.mark.parametrize("shape", ["-jsonl", "-sse"])
@pytest.mark.parametrize("codec", BOTH)
def test_a_carry_over_its_limit(codec: str, shape: str) -> None:
    stream = converted(codec)
    index = place(stream, "stop")
    stream[index] = {**(stream[index][0] or {}), "other": {"x": "y" * 3000}}, stream[index][1]
    limits = Limits(carry=2000)
    translated(together(stream, codec + shape), codec + shape, BASE[codec][0])
    _, error = attempt(together(stream, codec + shape), codec + shape, BASE[codec][0], limits=limits)
    assert isinstance(error, CarryError)
    assert repaired(check_stands(stream, codec + shape, limits=limits)) == ["carry"]


@pytest.mark.parametrize("depth", [300, 5000])
@pytest.mark.parametrize("codec", BOTH)
def test_a_carry_nested_too_deeply(codec: str, depth: int) -> None:
    format, home = codec + "-sse", BASE[codec][0]
    deep = b'{"other":' * depth + b"1" + b"}" * depth
    stream = together(converted(codec), format)
    stream = b": carry " + deep + b"\n\n" + stream
    _, error = attempt(stream, format, home)
    assert isinstance(error, CarryError)
    report = Report()
    assert translated(stream, format, home, strict=False, report=report) == BASE[codec][1]
    assert repaired(report) == ["carry"]


def test_a_carry_nested_too_deeply_in_an_object() -> None:
    deep: Object = {}
    for _ in range(5000):
        deep = {"other": deep}
    units = [{**start(), "carry": deep}, usage()]
    _, error = attempt(units, "gateway", "unievent")
    assert isinstance(error, CarryError)
    report = Report()
    assert len(translated(units, "gateway", "unievent", strict=False, report=report)) == 1
    assert repaired(report) == ["carry"]


def test_a_foreign_unit_that_is_none_is_told_when_it_comes_home() -> None:
    evil = {"event": "foreign", "codec": "gateway", "unit": {"success": True, "code": 200, "value": {"type": "stop"}}}
    stream = [
        ({"events": ["close", evil]}, u) if kind_of(u) == "contentEnd" else (None, u) for u in BASE["unievent"][1]
    ]
    middle = translated(together(stream, "gateway-sse"), "gateway-sse", "unievent-sse")
    _, error = attempt(middle, "unievent-sse", "gateway")
    assert isinstance(error, CarryError)


def test_text_said_by_a_carry_before_a_handover() -> None:
    """A native reader sees no text here, so there is none."""
    evil = {"events": ["start", {"event": "open", "kind": "text"}, {"event": "append", "text": "evil"}]}
    handover = {"success": True, "code": 200, "value": {"type": "streamError", "model": PARIS_MODEL}}
    stream: list[Pair] = [(evil, start(PARIS_MODEL)), (None, handover), (None, usage())]
    _, error = attempt(together(stream, "gateway-sse"), "gateway-sse", "unievent")
    assert isinstance(error, CarryError)
    check_stands(stream, "gateway-sse")


# ---- native faults stay native -----------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPE)
def test_a_changed_fragment_without_its_done(shape: str) -> None:
    stream = converted("unievent")
    index = place(stream, "text.delta")
    unit = stream[index][1]
    assert unit is not None
    unit["content_items"][0]["text"] = "HE"
    _, error = attempt(together(stream, "unievent" + shape), "unievent" + shape, "gateway")
    assert isinstance(error, GrammarError)
    assert repaired(check_stands(stream, "unievent" + shape)) == ["text"]


@pytest.mark.parametrize("gone", ["thinkingStart", "contentStart", "contentEnd", "thinkingEnd"])
def test_a_removed_bracket(gone: str) -> None:
    stream = converted("gateway")
    del stream[place(stream, gone)]
    _, error = attempt(together(stream, "gateway-sse"), "gateway-sse", "unievent")
    assert isinstance(error, GrammarError)


# ---- what only looks like a carry --------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", [b" carry hello", b" carry [1]", b" carry 1", b' carry {"v":', b" carry", b" carryon {}", b"", b"x"]
)
def test_a_comment_is_a_comment(text: bytes) -> None:
    units = [start(), *content("a"), usage()]
    stream = b":" + text + b"\n\n" + blocks(units)
    for strict in (True, False):
        report = Report()
        assert translated(stream, "gateway-sse", "gateway", strict=strict, report=report) == units
        assert report.repairs == []
        out = translated(stream, "gateway-sse", "gateway-sse", strict=strict)
        assert out == b": keep-alive\n\n" + blocks(units)


@pytest.mark.parametrize("value", ["x", "", 1, 0, 1.5, None, True, False, [], [{"v": 2}]], ids=repr)
@pytest.mark.parametrize("codec", BOTH)
def test_a_member_that_is_no_object_is_an_unknown_member(codec: str, value: Any) -> None:
    home: dict[str, list[Object]] = {
        "gateway": [start(PARIS_MODEL), *thinking("a", data={"x": 1}), *content("b"), usage(provider="anthropic")],
        "unievent": [
            delta(item("thinking.delta", "a")),
            delta(item("thinking.done", "a")),
            *text_group("b", "c"),
            stop(),
        ],
    }
    units = [{**unit, "carry": value} for unit in home[codec]]
    other = BOTH[codec == "gateway"]
    for src in SHAPES[codec]:
        stream = shaped(units, src)
        assert check(stream, src) == []
        for middle in (*SHAPES[codec], *SHAPES[other], "events", "events-jsonl"):
            assert chained(stream, src, middle, src) == stream
            for third in SHAPES[other]:
                assert chained(stream, src, middle, third, middle, src) == stream


@pytest.mark.parametrize("value", ["x", None, []], ids=repr)
def test_such_a_member_beside_a_carry(value: Any) -> None:
    carry = dumps({"v": 1, "unievent": {"at": 1}})
    stream = b": carry " + carry + b"\n" + blocks([{**start(), "carry": value}, usage()])
    assert chained(stream, "gateway-sse", "gateway-jsonl", "gateway", "gateway-sse") == stream


def test_a_line_that_nests_too_deeply_is_over_the_limit() -> None:
    units = b'{"success":true,"code":200,"value":{"type":"contentStart"},"x":' + b"[" * 300 + b"]" * 300 + b"}\n"
    _, error = attempt(units, "gateway-jsonl", "unievent")
    assert isinstance(error, LimitExceeded)
    assert error.limit == "nesting"
