"""Hand-made gateway streams for all that the table of frames allows: to UniEvent and home, byte for byte."""

import json

import pytest

from tests.wire import (
    CLOCK,
    NO_MODEL,
    PARIS_MODEL,
    SHAPES,
    Object,
    blocks,
    broken,
    chained,
    content,
    delta,
    failed,
    frame,
    item,
    shaped,
    start,
    stop,
    stripped,
    text_group,
    thinking,
    tool,
    translated,
    usage,
)
from translate import check

OTHER_MODEL: Object = {"name": "gpt-5.2", "tier": "high", "publisher": "OpenAI", "provider": "Azure"}
PARIS = start(PARIS_MODEL)
STOP = usage(24, 3, provider="anthropic")
OPEN, SAID, CLOSE = content("Half")
THINK, THOUGHT, _ = thinking("Hm")
CALL = tool("toolu_1", "look", '{"a":1}')
UNKNOWN = frame("sources", urls=["https://a.example"], note=None)
STATE = {"anthropic.signature": "s"}


STREAMS: dict[str, list[Object]] = {
    # runs
    "nothing but a stop": [PARIS, STOP],
    "runs that open and close several times": [
        PARIS,
        *thinking("a", "b", data=STATE),
        *content("c"),
        *thinking("d"),
        *content("e", "f", "g"),
        *content("h"),
        STOP,
    ],
    "empty runs": [PARIS, *content(), *thinking(), *content(), *thinking(data=STATE), STOP],
    "empty fragments": [
        PARIS,
        *content(""),
        *content("", "a", "", ""),
        *thinking("", "b"),
        *thinking("", data=STATE),
        STOP,
    ],
    "tools between runs": [PARIS, CALL, *content("a"), CALL, CALL, *thinking("b"), tool("toolu_2", "look", "{}"), STOP],
    "text that hurts": [
        PARIS,
        *content("\u2028\x85\x0b\x1c\ufeff", '"\\\r\n: carry {}\n\n', "🙂\x00\ufffe", "\ud83d", "\ude00"),
        STOP,
    ],
    # arguments
    "arguments: blank": [PARIS, tool("t", "f", ""), tool("t", "f", " \n"), STOP],
    "arguments: raw": [
        PARIS,
        tool("t", "f", ' {"n": 12345678901234567890123, "x": 1.50, "n": 1e400, "u": "\\u00e9\\ud83d"} '),
        STOP,
    ],
    # failover
    "failover, a content run open": [PARIS, OPEN, SAID, broken(PARIS_MODEL), start(OTHER_MODEL), *content("New"), STOP],
    "failover, a thinking run open": [
        PARIS,
        THINK,
        THOUGHT,
        broken(PARIS_MODEL),
        start(OTHER_MODEL),
        *thinking("x"),
        STOP,
    ],
    "failover, the open run said nothing": [
        PARIS,
        OPEN,
        broken(PARIS_MODEL),
        start(OTHER_MODEL),
        *content("New"),
        STOP,
    ],
    "failover, open thinking said nothing": [PARIS, THINK, broken(PARIS_MODEL), start(OTHER_MODEL), STOP],
    "failover, the open run said an empty text": [PARIS, OPEN, frame("content", value=""), broken(PARIS_MODEL), STOP],
    "failover, the run closed": [
        PARIS,
        *content("Whole"),
        broken(PARIS_MODEL),
        start(OTHER_MODEL),
        *content("New"),
        STOP,
    ],
    "failover, after a tool": [PARIS, CALL, broken(PARIS_MODEL), start(OTHER_MODEL), *content("New"), STOP],
    "failover, at once": [PARIS, broken(PARIS_MODEL), start(OTHER_MODEL), *content("New"), STOP],
    "failover, no one follows": [PARIS, OPEN, SAID, broken(PARIS_MODEL), STOP],
    "failover, twice": [PARIS, OPEN, broken(), start(), THINK, THOUGHT, broken(OTHER_MODEL), start(PARIS_MODEL), STOP],
    "failover, then failure": [PARIS, OPEN, SAID, broken(PARIS_MODEL), failed(502, "both broke")],
    "a second streamStart without a streamError": [PARIS, *content("a"), start(OTHER_MODEL), *content("b"), STOP],
    # thinkingEnd
    "data null": [PARIS, *thinking("a", data=None), STOP],
    "data empty": [PARIS, *thinking("a", data={}), STOP],
    "data without a namespace": [PARIS, *thinking("a", data={"signature": "s"}), STOP],
    "data of a stranger": [PARIS, *thinking("a", data={"openai.encrypted_content": "e", "openai.id": "rs_1"}), STOP],
    "data of several": [PARIS, *thinking("a", data={"anthropic.signature": "s", "openai.id": "rs_1"}), STOP],
    "data half named": [PARIS, *thinking("a", data={"anthropic.signature": "s", "id": "rs_1"}), STOP],
    "data with more dots": [
        PARIS,
        *thinking("a", data={"anthropic.a.b.c": "s", "anthropic.": 1, "anthropic..d": 2}),
        STOP,
    ],
    "data with nothing before the dot": [PARIS, *thinking("a", data={".signature": "s"}), STOP],
    "data with an empty key": [PARIS, *thinking("a", data={"": "s"}), STOP],
    "data of any JSON": [PARIS, *thinking("a", data={"x.n": None, "x.o": {"k": [1, 1.5, True]}, "x.i": 2**70}), STOP],
    "data of silent runs": [PARIS, *thinking(data=STATE), *thinking(data={"": None}), STOP],
    "data spelled as the guess would": [start(OTHER_MODEL), *thinking("a", data={"openai.signature": "s"}), STOP],
    # usage
    "usage: unknown members": [
        PARIS,
        usage(1, 2, provider="anthropic", cachedTokens=1, cost={"usd": 0.5}, x=None),
    ],
    "usage: another provider": [PARIS, usage(1, 2, provider="bedrock")],
    "usage: a provider in upper case": [PARIS, usage(1, 2, provider="Anthropic")],
    "usage: an empty provider": [PARIS, usage(1, 2, provider="")],
    "usage: zero, negative, huge": [PARIS, usage(0, -7, provider="anthropic")],
    "usage: huge": [PARIS, usage(2**63, 2**80, provider="anthropic")],
    "stop: unknown members": [PARIS, {**STOP, "value": {**STOP["value"], "took": 1.25}}],
    **{
        f"finish reason {word!r}": [PARIS, usage(1, 2, word, "anthropic")]
        for word in (
            "length",
            "toolCall",
            "unknown",
            "tool_use",
            "END_TURN",
            "maxTokens",
            "refusal",
            "content_filter",
            "",
            "é",
        )
    },
    # models
    "a model without some members": [start({"name": "m"}), usage()],
    "a model without any": [start({}), usage()],
    "a model with null": [start({**NO_MODEL, "tier": None}), usage()],
    "a model with empty words": [start({"name": "", "tier": "", "publisher": "", "provider": ""}), usage()],
    "a model with the word unknown": [start({**PARIS_MODEL, "tier": "unknown"}), STOP],
    "a model with unknown members": [start({**PARIS_MODEL, "region": "eu", "caps": ["x"]}), STOP],
    # envelopes
    "codes other than 200": [
        {**unit, "code": 200 + i} for i, unit in enumerate([PARIS, *content("a"), CALL, *thinking(), STOP])
    ],
    "unknown members everywhere": [
        {**unit, "value": {**unit["value"], "ms": 1.5, "nested": {"a": {}}}, "trace": [i, None]}
        for i, unit in enumerate([PARIS, *thinking("a", data=STATE), *content("b"), CALL, broken(PARIS_MODEL), STOP])
    ],
    "a message on success": [{**PARIS, "message": None}, {**STOP, "message": "fine"}],
    "a member of the call": [PARIS, frame("tool", value={"id": "t", "name": "f", "arguments": "{}", "index": 0}), STOP],
    # unknown kinds
    "an unknown frame, between": [PARIS, UNKNOWN, *content("a"), UNKNOWN, STOP],
    "an unknown frame, in runs": [
        PARIS,
        OPEN,
        UNKNOWN,
        SAID,
        UNKNOWN,
        CLOSE,
        THINK,
        UNKNOWN,
        frame("thinkingEnd"),
        STOP,
    ],
    "an unknown frame, first": [UNKNOWN, PARIS, STOP],
    "an unknown frame, alone before an error": [UNKNOWN, failed(500, "x")],
    "an unknown frame with a code": [PARIS, {**UNKNOWN, "code": 299, "x": 1}, STOP],
    "an unknown frame in a failover": [PARIS, OPEN, UNKNOWN, broken(PARIS_MODEL), UNKNOWN, start(OTHER_MODEL), STOP],
    # errors
    "error alone": [failed(401, "no key")],
    "error alone, an odd code": [failed(200, "")],
    "error after the start": [PARIS, failed(502, "produced nothing")],
    "error in a run": [PARIS, OPEN, SAID, failed(503, "gone")],
    "error in a silent run": [PARIS, OPEN, failed(503, "gone")],
    "error in a silent thinking run": [PARIS, THINK, failed(503, "gone")],
    "error after a run": [
        PARIS,
        *content("a"),
        failed(399, "odd"),
    ],
    "error with unknown members": [PARIS, failed(502, "gone", detail={"a": 1}, traceId=None)],
    "error with a code beyond": [PARIS, failed(600, "beyond")],
}

# in "unievent" objects nothing changes text, so all paths are open to all streams
PATHS = [
    *(path for dst in SHAPES["unievent"] for path in (("gateway", dst), ("gateway-jsonl", dst), ("gateway-sse", dst))),
    ("gateway-sse", "gateway-jsonl", "unievent-sse", "gateway-jsonl"),
    ("gateway-sse", "events-jsonl", "unievent-jsonl", "events-jsonl"),
    ("gateway-sse", "unievent-sse", "gateway-jsonl", "unievent"),
    ("gateway-jsonl", "events", "unievent-sse", "events-jsonl"),
    ("gateway-sse", "events-jsonl"),
    ("gateway-sse",),
]


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
@pytest.mark.parametrize("name", STREAMS)
def test_home_byte_for_byte(name: str, path: tuple[str, ...]) -> None:
    stream = shaped(STREAMS[name], path[0])
    home = chained(stream, *path, path[0], errors="encode")
    assert home == stream
    if not isinstance(stream, bytes):
        # equal as JSON values, told apart by type, and in the order they had
        assert [json.dumps(unit) for unit in home] == [json.dumps(unit) for unit in stream]


ODD = {"error alone, an odd code", "error after a run"}
"""Streams whose failure has a code that is none of an error."""


@pytest.mark.parametrize("dst", SHAPES["unievent"])
@pytest.mark.parametrize("name", STREAMS)
def test_both_sides_conform(name: str, dst: str) -> None:
    for src in SHAPES["gateway"]:
        stream = shaped(STREAMS[name], src)
        out = translated(stream, src, dst, errors="encode")
        bare = stripped(out, dst)
        assert all(fault.tolerated and fault.field == "failed.code" for fault in check(stream, src)), name
        assert (check(stream, src) == []) == (name not in ODD)
        assert check(out, dst) == []
        assert check(bare, dst) == []
        assert bare == translated(stream, src, dst, errors="encode", loss="drop")
        # without carries it is a stream of its own, which any gateway client can read
        again = translated(bare, dst, src, errors="encode")
        assert check(stripped(again, src), src) == []


# ---- what a native reader sees -----------------------------------------------------------------------


def native(units: list[Object]) -> list[Object]:
    """The events of a stream, without carries."""
    out: list[Object] = translated(units, "gateway", "unievent", loss="drop", errors="encode")
    return out


END = stop(cached=None, prompt=24, response=3, at=CLOCK)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nothing but a stop", [END]),
        ("failover, a content run open", [*text_group("Half", at=CLOCK), *text_group("New", at=CLOCK), END]),
        ("failover, the open run said nothing", [*text_group("New", at=CLOCK), END]),
        ("failover, the run closed", [*text_group("Whole", at=CLOCK), *text_group("New", at=CLOCK), END]),
        ("error in a silent run", [{"error": {"type": "UpstreamError", "message": "gone", "status": 503}}]),
        ("error alone, an odd code", [{"error": {"type": "UpstreamError", "message": "", "status": 200}}]),
        ("an unknown frame, between", [*text_group("a", at=CLOCK), END]),
    ],
)
def test_native_words(name: str, expected: list[Object]) -> None:
    assert native(STREAMS[name]) == expected


def test_an_empty_run_is_an_empty_delta_and_its_done() -> None:
    assert native([PARIS, *content(), *thinking(), STOP]) == [
        *text_group("", at=CLOCK),
        delta(item("thinking.delta", ""), CLOCK),
        delta(item("thinking.done", ""), CLOCK),
        END,
    ]


def test_event_names_that_are_missing_are_accepted() -> None:
    stream = blocks(STREAMS["runs that open and close several times"])
    nameless = b"\n".join(line for line in stream.split(b"\n") if not line.startswith(b"event: "))
    out = translated(nameless, "gateway-sse", "unievent-sse")
    assert out == translated(stream, "gateway-sse", "unievent-sse")


def test_comments_stay_comments() -> None:
    first, rest = blocks([PARIS]), blocks([*content("a"), STOP])
    kept = first + b": keep-alive\n\n" + rest
    assert chained(first + b":\n: waiting\n\n" + rest, "gateway-sse", "unievent-sse").count(b": keep-alive\n\n") == 2
    assert chained(kept, "gateway-sse", "unievent-sse", "gateway-sse") == kept
