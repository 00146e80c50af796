"""Input that breaks its format: the error, its place, what was delivered before it, and the failure it becomes."""

from typing import Any

import pytest

from tests import wire
from tests.bad_units import CASES, Bad
from tests.wire import (
    CLOCK,
    PARIS_MODEL,
    Object,
    attempt,
    blocks,
    call,
    content,
    delta,
    dumps,
    failed,
    frame,
    item,
    lines,
    read,
    start,
    stop,
    text_group,
    tool,
    translated,
    usage,
)
from translate import (
    DecodeError,
    GrammarError,
    LimitExceeded,
    Limits,
    Report,
    ToolArgumentsError,
    TranslateError,
    TruncatedStream,
    UpstreamFailure,
    check,
)
from translate_codecs.gateway import words as gateway
from translate_codecs.unievent import words as unievent

SHAPE = ["", "-jsonl", "-sse"]
OTHER = {"gateway": "unievent", "unievent": "gateway"}
FIRST = start(PARIS_MODEL)


def stream_of(units: list[Object | bytes], shape: str) -> Any:
    """One stream, in which a unit may be any text."""
    if not shape:
        return units
    texts = [unit if isinstance(unit, bytes) else dumps(unit) for unit in units]
    if shape == "-jsonl":
        return b"".join(text + b"\n" for text in texts)
    return b"".join(b"data: " + text + b"\n\n" for text in texts)


def outcome(units: list[Object | bytes], codec: str, shape: str, **options: Any) -> tuple[list[Object], TranslateError]:
    """What comes out of bytes that are fed at once, and the error."""
    out, error = attempt(stream_of(units, shape), codec + shape, OTHER[codec], **options)
    assert isinstance(error, TranslateError), (out, error)
    return out, error


def said(units: list[Object], codec: str, **options: Any) -> list[Object]:
    """What a beginning gives, all of it before the end is missed."""
    out: list[Object]
    out, error = attempt(units, codec, OTHER[codec], **options)
    assert isinstance(error, TruncatedStream)
    return out


def check_place(error: TranslateError, before: list[Object], codec: str, shape: str) -> None:
    assert error.format == codec + shape
    assert error.unit == len(before)
    assert error.offset == (len(stream_of(list(before), shape)) if shape else None)
    assert error.excerpt is not None
    assert 0 < len(error.excerpt) <= 200
    for part in (error.what, error.state, f"unit {error.unit}"):
        assert part is not None
        assert part in str(error)


@pytest.mark.parametrize("shape", SHAPE)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.codec}: {case.name}")
def test_bad_unit(case: Bad, shape: str) -> None:
    if not shape and isinstance(case.bad, bytes):
        pytest.skip("an object is no text")
    stream = [*case.before, case.bad, stop() if case.codec == "unievent" else usage()]
    out, error = outcome(stream, case.codec, shape)
    assert type(error) is case.error
    assert (error.state, error.expected) == (case.state, case.expected)
    check_place(error, case.before, case.codec, shape)
    assert out == said(case.before, case.codec)

    # the same, said in the target's own words, which a client can read to the end
    dst = OTHER[case.codec] + "-sse"
    ended, none = attempt(stream_of(stream, shape), case.codec + shape, dst, errors="encode")
    assert none is None
    *same, failure = read(ended, dst)
    assert same == [{k: v for k, v in unit.items() if k != "carry"} for unit in out]
    assert error.what in failure.get("error", failure)["message"]
    assert failure.get("error", {}).get("status", failure.get("code")) == 502
    assert check(ended, dst) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.codec}: {case.name}")
def test_check_finds_it(case: Bad) -> None:
    stream = stream_of([*case.before, case.bad], "-jsonl")
    findings = check(stream, case.codec + "-jsonl")
    assert findings
    assert all(finding.unit == len(case.before) for finding in findings)
    assert findings[-1].field == case.error.__name__


@pytest.mark.parametrize("shape", ["-jsonl", "-sse"])
def test_a_long_excerpt_is_cut(shape: str) -> None:
    for text in (b'{"event_type": "' + b"x" * 5000, '{"é": "'.encode() + "é🙂".encode() * 900, b"\xff" * 4000):
        _, error = outcome([delta(item("text.delta", "a")), text], "unievent", shape)
        assert error.excerpt is not None
        assert len(error.excerpt) == 200
        assert error.excerpt.endswith("…")


# ---- every transition that the tables do not have ----------------------------------------------------

GATEWAY_STATES: dict[str, list[Object]] = {
    gateway.OPENING: [],
    gateway.BETWEEN: [FIRST],
    gateway.THINKING: [FIRST, frame("thinkingStart")],
    gateway.CONTENT: [FIRST, frame("contentStart")],
    gateway.ENDED: [FIRST, usage()],
}
GATEWAY_KINDS: dict[str, Object] = {
    "streamStart": start(),
    "thinkingStart": frame("thinkingStart"),
    "thinking": frame("thinking", value="x"),
    "thinkingEnd": frame("thinkingEnd"),
    "contentStart": frame("contentStart"),
    "content": frame("content", value="x"),
    "contentEnd": frame("contentEnd"),
    "tool": tool("t", "f", "{}"),
    "streamError": frame("streamError", model=PARIS_MODEL),
    "stop": usage(),
    "error": failed(502, "x"),
}
UNIEVENT_STATES: dict[str, list[Object]] = {
    unievent.BETWEEN: [],
    unievent.GROUP: [delta(item("text.delta", "x"))],
    unievent.ENDED: [stop()],
}
UNIEVENT_KINDS: dict[str, Object] = {
    "delta": delta(item("text.delta", "")),
    "done": delta(item("text.done", "x")),
    "stop": stop(),
    "error": {"error": {"message": "x"}},
}


def test_the_tables_are_those_of_the_documents() -> None:
    """Who adds a state or a kind adds it here."""
    assert gateway.STATES.keys() == GATEWAY_STATES.keys()
    assert unievent.STATES.keys() == UNIEVENT_STATES.keys()
    assert {kind for row in gateway.STATES.values() for kind in row} == GATEWAY_KINDS.keys()
    assert {kind for row in unievent.STATES.values() for kind in row} == UNIEVENT_KINDS.keys()


@pytest.mark.parametrize("shape", SHAPE)
@pytest.mark.parametrize("kind", GATEWAY_KINDS)
@pytest.mark.parametrize("state", GATEWAY_STATES)
def test_gateway_transition(state: str, kind: str, shape: str) -> None:
    before, unit = GATEWAY_STATES[state], GATEWAY_KINDS[kind]
    allowed = gateway.STATES[state]
    out, error = attempt(stream_of([*before, unit], shape), "gateway" + shape, "unievent", errors="raise")
    if kind in allowed:
        assert not isinstance(error, GrammarError)
        if allowed[kind] != gateway.ENDED:
            assert isinstance(error, TruncatedStream)
            assert error.state == allowed[kind]
        return
    assert type(error) is GrammarError
    assert error.state == state
    assert error.expected == (", ".join(allowed) or "nothing")
    check_place(error, before, "gateway", shape)
    assert out == (said(before, "gateway") if state != gateway.ENDED else translated(before, "gateway", "unievent"))


@pytest.mark.parametrize("shape", SHAPE)
@pytest.mark.parametrize("kind", UNIEVENT_KINDS)
@pytest.mark.parametrize("state", UNIEVENT_STATES)
def test_unievent_transition(state: str, kind: str, shape: str) -> None:
    before, unit = UNIEVENT_STATES[state], UNIEVENT_KINDS[kind]
    allowed = unievent.STATES[state]
    words = {unievent.GROUP: "in a text group"}
    out, error = attempt(stream_of([*before, unit], shape), "unievent" + shape, "gateway", errors="raise")
    if kind in allowed:
        assert not isinstance(error, GrammarError)
        if allowed[kind] != unievent.ENDED:
            assert isinstance(error, TruncatedStream)
            assert error.state == words.get(allowed[kind], allowed[kind])
        return
    assert type(error) is GrammarError
    assert error.state == words.get(state, state)
    assert error.expected == (" or ".join(allowed) or "nothing")
    check_place(error, before, "unievent", shape)
    assert out == (said(before, "unievent") if state != unievent.ENDED else translated(before, "unievent", "gateway"))


@pytest.mark.parametrize("errors", ["raise", "encode"])
@pytest.mark.parametrize("codec", OTHER)
def test_units_after_the_end_raise_in_both(codec: str, errors: Any) -> None:
    whole = [*text_group("a"), stop()] if codec == "unievent" else [FIRST, *content("a"), usage()]
    expected = translated(whole, codec, OTHER[codec])
    for shape in SHAPE:
        for more in (whole[:1], whole[-1:], whole):
            out, error = outcome([*whole, *more], codec, shape, errors=errors)
            assert isinstance(error, GrammarError)
            assert (error.state, error.expected) == ("ended", "nothing")
            check_place(error, whole, codec, shape)
            assert out == expected


def test_a_unit_after_the_end_marker() -> None:
    whole = blocks([*text_group("a"), stop()], done=True)
    out, error = attempt(whole + b"data: {}\n\n", "unievent-sse", "gateway")
    assert isinstance(error, GrammarError)
    assert (error.unit, error.offset, error.expected, error.excerpt) == (3, len(whole), "nothing", "{}")
    assert out == translated(whole, "unievent-sse", "gateway")
    # the marker ends nothing by itself, and once more it is nothing
    assert attempt(whole + b"data: [DONE]\n\n: bye\n\n", "unievent-sse", "gateway") == (out, None)
    _, error = attempt(b"data: [DONE]\n\n", "unievent-sse", "gateway")
    assert isinstance(error, TruncatedStream)
    # to the gateway it is no marker
    _, error = attempt(b"data: [DONE]\n\n", "gateway-sse", "unievent")
    assert isinstance(error, DecodeError)


# ---- arguments ---------------------------------------------------------------------------------------


each_raw = pytest.mark.parametrize(
    ("raw", "position"),
    [('{"a": 1', 7), ("{'a': 1}", 1), ("[1]", None), ("3", None), ("null", None), ('{"a": 1} x', 9), ('  {"a" 1}', 7)],
)


@each_raw
def test_arguments_that_are_no_object(raw: str, position: int | None) -> None:
    """From a gateway frame the target needs an object; in a UniEvent stream the source itself should have raised."""
    native = [FIRST, tool("t", "f", raw), usage()]
    fragments = [delta(call("delta", raw[:2], "f", "t")), delta(call("delta", raw[2:]))]
    events = [*fragments, delta(call("done", {}, "f", "t")), stop("tool_call")]
    for units, codec in ((native, "gateway"), (events, "unievent")):
        out, error = outcome(list(units), codec, "-jsonl")
        assert isinstance(error, ToolArgumentsError)
        assert (error.name, error.id, error.raw, error.position) == ("f", "t", raw, position)
        assert error.expected == "a JSON object"
        assert error.excerpt == raw
        if codec == "gateway":
            assert [unit["content_items"][0]["arguments"] for unit in out] == [raw]
        else:
            assert out == said(fragments, "unievent")
            check_place(error, fragments, codec, "-jsonl")
    # a gateway that hands it on reads no arguments
    assert translated(native, "gateway", "gateway-jsonl") == lines(native)


@each_raw
@pytest.mark.parametrize("codec", [pytest.param("gateway"), "unievent"])
def test_arguments_that_are_no_object_end_in_the_failure_of_the_target(
    codec: str, raw: str, position: int | None
) -> None:
    fragments = [delta(call("delta", raw[:2], "f", "t")), delta(call("delta", raw[2:]))]
    done = [delta(call("done", {}, "f", "t")), stop("tool_call")]
    units = [FIRST, tool("t", "f", raw), usage()] if codec == "gateway" else [*fragments, *done]
    ended = translated(units, codec, OTHER[codec] + "-sse", errors="encode")
    assert check(ended, OTHER[codec] + "-sse") == []
    failure = read(ended, OTHER[codec] + "-sse")[-1]
    assert failure.get("error", {"type": ""})["type"] in ("", "ToolCallArgumentParseError")


@pytest.mark.parametrize("shape", ["", "-jsonl", "-sse"])
def test_an_error_with_a_value_of_null_is_the_error_that_it_reports(shape: str) -> None:
    units = [FIRST, failed(502, "x", value=None)]
    _, error = outcome(list(units), "gateway", shape)
    assert isinstance(error, UpstreamFailure)
    assert (error.code, error.message) == (502, "x")
    assert translated(units, "gateway", "gateway", errors="encode") == units


def test_usage_that_is_negative_null_or_missing_is_fine() -> None:
    for metadata, given, made in (
        ({"cached_tokens": -3, "prompt_tokens": 1, "thoughts_tokens": 0, "response_tokens": -9}, -2, -9),
        (dict.fromkeys(("cached_tokens", "prompt_tokens", "thoughts_tokens", "response_tokens")), 0, 0),
        ({}, 0, 0),
        ({"response_tokens": 2**70}, 0, 2**70),
    ):
        units = [{**stop(), "usage_metadata": metadata}]
        assert translated(units, "unievent", "gateway", loss="drop") == [start(), usage(given, made)]
        assert check(units, "unievent") == []
        assert wire.chained(units, "unievent", "gateway-jsonl", "unievent") == units
    units = [FIRST, usage(-1, -2)]
    assert translated(units, "gateway", "unievent", loss="drop")[-1] == stop(
        cached=None, prompt=-1, response=-2, at=CLOCK
    )


# ---- limits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["-jsonl", "-sse"])
@pytest.mark.parametrize("codec", OTHER)
def test_limits(codec: str, shape: str) -> None:
    before = [delta(item("text.delta", "abc"))] if codec == "unievent" else [FIRST, *content("abc")[:-1]]
    grow = delta(item("text.delta", "d" * 400)) if codec == "unievent" else frame("content", value="d" * 400)
    deep = {**grow, "x": [[[[[[[[1]]]]]]]]}
    for name, unit, limits, maximum in (
        ("part", grow, Limits(part=402), 402),
        ("unit", grow, Limits(unit=400), 400),
        ("nesting", deep, Limits(nesting=8), 8),
    ):
        out, error = outcome([*before, unit], codec, shape, limits=limits)
        assert isinstance(error, LimitExceeded)
        assert (error.limit, error.maximum, error.unit) == (name, maximum, len(before))
        assert error.expected == f"at most {maximum}"
        assert error.offset == len(stream_of(list(before), shape))
        assert out == said(before, codec)
        ended = translated(
            stream_of([*before, unit], shape), codec + shape, OTHER[codec], limits=limits, errors="encode"
        )
        assert check(ended, OTHER[codec]) == []
        # one more is enough
        wider = Limits(**{name: maximum + (1000 if name == "unit" else 2)})
        _, error = outcome([*before, unit], codec, shape, limits=wider)
        assert isinstance(error, TruncatedStream)


def test_the_limit_of_nesting_holds_for_arguments_and_digits_have_one() -> None:
    deep = '{"a":' + "[" * 300 + "]" * 300 + "}"
    _, error = attempt([FIRST, tool("t", "f", deep), usage()], "gateway", "unievent")
    assert isinstance(error, LimitExceeded)
    assert error.limit == "nesting"
    # a raised one is that which was set, up to what the process bears
    assert attempt([FIRST, tool("t", "f", deep), usage()], "gateway", "unievent", limits=Limits(nesting=301))[1] is None
    deeper = deep.replace("[" * 300, "[" * 90_000).replace("]" * 300, "]" * 90_000)
    _, error = attempt([FIRST, tool("t", "f", deeper), usage()], "gateway", "unievent", limits=Limits(nesting=10**6))
    assert isinstance(error, LimitExceeded)
    assert error.limit == "recursion"
    _, error = attempt(b'{"success":true,"code":' + b"1" * 5000 + b"}\n", "gateway-jsonl", "unievent")
    assert isinstance(error, LimitExceeded)
    assert (error.limit, error.offset) == ("digits", 0)


# ---- the event name ----------------------------------------------------------------------------------


def test_an_event_name_that_disagrees() -> None:
    whole = blocks([FIRST, *content("a"), usage()])
    for right, wrong, index in (
        (b"content\n", b"thinking\n", 2),
        (b"stop\n", b"error\n", 4),
        (b"stop\n", b"Stop\n", 4),
    ):
        stream = whole.replace(b"event: " + right, b"event: " + wrong)
        out, error = attempt(stream, "gateway-sse", "unievent")
        assert isinstance(error, DecodeError)
        assert (error.unit, error.offset, error.expected) == (index, stream.index(b"event: " + wrong), "one name")
        assert out == said([FIRST, *content("a")][:index], "gateway")
        report = Report()
        assert translated(stream, "gateway-sse", "gateway-sse", strict=False, report=report) == whole
        assert [(finding.unit, finding.field) for finding in report.repairs] == [(index, "event")]
