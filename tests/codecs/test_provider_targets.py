"""What readers of other formats see of the odd streams of providers, natively: without carries."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.codecs import anthropic_streams as anthropic
from tests.codecs import test_anthropic_hazards, test_openai_chat_hazards
from tests.codecs.anthropic_streams import CLOCK, PING, STOP, S, args, block, end, fails, stop, text
from tests.codecs.chat_streams import COUNTS, HEAD, U, call, chunk, more, native, said, say, sse
from tests.codecs.chat_streams import S as FIRST
from tests.codecs.chat_streams import end as ends
from translate import Append, Close, Finish, Open, Reason, Report, Start, TokenCounts, convert, decode, encode
from translate.algebra.events import Event, State
from translate.errors import ToolArgumentsError, TranslateError, TruncatedStream

ANTHROPIC = {name: row.units for name, row in test_anthropic_hazards.ROWS.items()}
CHAT = {name: [test_openai_chat_hazards.data_of(units)] for name, (units, _) in test_openai_chat_hazards.ROWS.items()}
HI = ["open text", "+Hi", "close"]
A, B = "open tool_call a f", "open tool_call b g"
CUT = "failure 502 the call 'f' was cut off; expected a JSON object"


def seen(stream: list[Any], src: str, dst: str, **options: Any) -> list[str]:
    """What is read of the output without carries."""
    out = convert(stream, src, dst, loss="drop", errors="encode", clock=lambda: CLOCK, **options)
    return [word for word in said(list(out), dst) if word not in ("start", "foreign")]


OF_ANTHROPIC: dict[tuple[str, str], list[str]] = {
    ("a signature", "openai-chat"): [
        *("open thinking", "+hm [:reasoning_field=reasoning_content]", "+ [anthropic:signature=S]", "close"),
        *("usage 15 9", "finish stop 15 9"),
    ],
    ("a signature without text", "openai-chat"): [
        *("open thinking", "+ [anthropic:signature=S]", "close", "usage 15 9", "finish stop 15 9"),
    ],
    ("a signature without text", "unievent"): [
        *("open thinking", "+ [None:signature=S]", "close", "open text", "+", "close", "finish stop 15 9"),
    ],
    ("a signature without text", "gateway"): [
        *("open thinking", "+ [anthropic:signature=S]", "close", "open text", "close", "finish stop 15 9"),
    ],
    ("blank arguments", "unievent"): ["open tool_call toolu_0 f", "+", "close", "finish tool_call 15 9"],
    ("blank arguments", "gateway"): ["open tool_call toolu_0 f", "+{}", "close", "finish tool_call 15 9"],
    ("half a call", "openai-chat"): [
        *("open tool_call toolu_0 f", '+{"a": "b', "cut", "usage 15 9", "finish length 15 9"),
    ],
    ("half a call", "unievent"): ["open tool_call toolu_0 f", '+{"a": "b', CUT],
    ("half a call", "gateway"): ["finish length 15 9"],
    ("a call of which nothing came", "openai-chat"): [
        *("open tool_call toolu_0 f", "cut", "usage 15 9", "finish length 15 9"),
    ],
    ("a call of which nothing came", "unievent"): [CUT],
    ("no arguments at all", "openai-chat"): [
        *("open tool_call toolu_0 f", "+{}", "close", "usage 15 9", "finish tool_call 15 9"),
    ],
    **{
        (name, dst): [*("open text", word, "close"), *usage, "finish stop 15 9"]
        for name, word in (("server tools and citations", "+so"), ("a block without a kind", "+Hi"))
        for dst, usage in (("openai-chat", ["usage 15 9"]), ("unievent", []), ("gateway", []))
    },
    ("a refusal without a block", "openai-chat"): ["usage 15 9", "finish content_filter 15 9"],
    ("a result whose call is in the message before", "openai-chat"): ["usage 15 9", "finish stop 15 9"],
    **{("an error in a block", dst): ["open text", "+x", "failure 529 no"] for dst in ("openai-chat", "unievent")},
    ("an error in a block", "gateway"): ["open text", "+x", "failure 529 no"],
}
OF_CHAT: dict[tuple[str, str], list[str]] = {
    ("a signature before the text", "anthropic"): [
        *("open thinking", "+r", "+ [anthropic:signature=S]", "close", "open text", "+t", "close"),
        *("usage None 0", "finish stop None 0"),
    ],
    ("redacted, twice", "anthropic"): [
        *("open thinking", "+_REDACTED_THINKING [anthropic:signature=D]", "close"),
        *("open thinking", "+_REDACTED_THINKING [anthropic:signature=E]", "close"),
        *("usage None 0", "finish stop None 0"),
    ],
    ("encrypted content after the text", "anthropic"): [
        *(*HI, "open thinking", "+", "close", "usage None 0", "finish stop None 0"),
    ],
    ("one call in pieces", "gateway"): [A, '+{"x":1}', "close", "finish tool_call 0 0"],
    ("two calls interleaved", "gateway"): [
        *(A, '+{"x":1}', "close", B, '+{"y":2}', "close", "finish tool_call 0 0"),
    ],
    ("two values for one call", "anthropic"): [
        *(A, "+{}", '+{"x":1}', "close", "usage None 0", "finish tool_call None 0"),
    ],
    ("blank arguments, then another call", "gateway"): [
        *(A, "+{}", "close", B, "+{}", "close", "finish tool_call 0 0"),
    ],
    ("a limit of rate", "anthropic"): ["failure 429 slow"],
    ("a reason, then an error", "anthropic"): [*HI, "failure 500 no"],
    ("a tool that the server ran", "anthropic"): ["usage None 0", "finish stop None 0"],
}


@pytest.mark.parametrize(("name", "dst"), OF_ANTHROPIC, ids=map(" to ".join, OF_ANTHROPIC))
def test_of_anthropic(name: str, dst: str) -> None:
    assert seen(ANTHROPIC[name], "anthropic", dst) == OF_ANTHROPIC[name, dst]


@pytest.mark.parametrize(("name", "dst"), OF_CHAT, ids=map(" to ".join, OF_CHAT))
def test_of_chat(name: str, dst: str) -> None:
    assert seen(CHAT[name], "openai-chat-sse", dst) == OF_CHAT[name, dst]


# ---- errors in streams whose status was 200 ------------------------------------------------------------------

SUCCESS = (b"[DONE]", b"message_stop", b"message_delta", b'"stop"', b"end_turn", b'"finish_reason":"')
"""Words by which readers tell a success."""
ERRORS: dict[str, tuple[str, bytes]] = {
    "first": ("anthropic-sse", anthropic.sse([fails("overloaded_error")])),
    "in a block": ("anthropic-sse", anthropic.sse([S, block(0, "text"), text(0, "x"), fails("api_error")])),
    "in a call": ("anthropic-sse", anthropic.sse([S, block(0, "tool_use"), args(0, "{"), fails("api_error")])),
    "after a call": ("anthropic-sse", anthropic.sse([S, block(0, "tool_use"), stop(0), fails("x_error")])),
    "after the reason": ("anthropic-sse", anthropic.sse([S, end("tool_use"), fails("api_error")])),
    "first, of Chat": ("openai-chat-sse", sse([{"error": {"message": "no"}}])),
    "in text": ("openai-chat-sse", sse([FIRST, say(content="x"), {"error": "no"}])),
    "in a call, of Chat": ("openai-chat-sse", sse([FIRST, call(0, "a", "f", "{"), {**HEAD, "error": {"code": 503}}])),
    "after a reason": ("openai-chat-sse", sse([FIRST, say(content="x"), ends("length"), {"error": "no"}])),
    "beside a reason": ("openai-chat-sse", sse([FIRST, chunk({"content": "x"}, "error", error={"message": "no"})])),
    "on a line of its own": ("openai-chat-sse", sse([FIRST, b'error: {"message":"no"}\n\n'], done=False)),
}
TARGETS = ("anthropic-sse", "openai-chat-sse", "unievent-sse", "gateway-sse", "anthropic-jsonl", "openai-chat-jsonl")


@pytest.mark.parametrize("dst", TARGETS)
@pytest.mark.parametrize("name", ERRORS)
def test_an_error_ends_as_one(name: str, dst: str) -> None:
    src, data = ERRORS[name]
    out = b"".join(convert([data], src, dst, errors="encode", clock=lambda: CLOCK))
    assert said(out, dst)[-1].startswith("failure")
    plain = b"".join(convert([data], src, dst, loss="drop", errors="encode", clock=lambda: CLOCK))
    assert said(plain, dst)[-1].startswith("failure")
    if dst == "unievent-sse":
        # its own server writes the end marker after an error, too
        plain = plain.removesuffix(b"data: [DONE]\n\n")
    # what was said before the error stands where it came from
    words = (b"[DONE]", b"message_stop") if dst.startswith(src.removesuffix("-sse")) else SUCCESS
    assert not [word for word in words if word in plain], plain


@pytest.mark.parametrize("dst", TARGETS)
def test_a_cut_is_no_success_anywhere(dst: str) -> None:
    for src, data in (
        ("anthropic-sse", anthropic.sse([S, block(0, "text"), text(0, "x"), stop(0), end("end_turn")])),
        ("openai-chat-sse", sse([FIRST, say(content="x")], done=False)),
    ):
        with pytest.raises(TruncatedStream):
            list(convert([data], src, dst))
        out = b"".join(convert([data], src, dst, errors="encode"))
        assert said(out, dst)[-1].startswith("failure 502")
        assert b"[DONE]" not in out or dst.startswith("unievent")


# ---- calls that the end of the tokens cut off ----------------------------------------------------------------

CUT_CALLS: dict[str, tuple[str, list[Any]]] = {
    "half of it": ("anthropic", [S, block(0, "tool_use", id="a"), args(0, '{"x'), end("max_tokens"), STOP]),
    "half of it, and its end": (
        "anthropic",
        [S, block(0, "tool_use", id="a"), args(0, '{"x'), stop(0), PING, end("max_tokens"), STOP],
    ),
    "half of it, of Chat": ("openai-chat", [FIRST, call(0, "a", "f", '{"x'), ends("length"), U]),
    "in pieces, of Chat": ("openai-chat", [FIRST, call(0, "a", "f", ""), more(0, '{"x'), ends("length")]),
}


@pytest.mark.parametrize("name", CUT_CALLS)
def test_a_call_that_was_cut_is_said_as_it_is_where_that_can_be(name: str) -> None:
    src, units = CUT_CALLS[name]
    for dst in ("anthropic", "openai-chat"):
        read = [word for word in seen(units, src, dst) if not word.startswith("usage")]
        assert read[:3] == [A, '+{"x', "cut"]
        assert read[-1].startswith("finish length")
    assert not any("tool" in word for word in seen(units, src, "gateway"))
    with pytest.raises(ToolArgumentsError) as caught:
        list(convert(units, src, "unievent"))
    assert (caught.value.name, caught.value.id, caught.value.raw) == ("f", "a", '{"x')


# ---- chains --------------------------------------------------------------------------------------------------

CHAINS = (
    ("openai-chat-sse", "openai-chat", "openai-chat-jsonl"),
    ("anthropic-sse", "anthropic-jsonl", "openai-chat", "openai-chat-sse", "anthropic"),
    ("gateway-sse", "openai-chat-jsonl", "openai-chat-sse", "openai-chat-jsonl", "unievent-sse"),
)


@pytest.mark.parametrize("chain", CHAINS, ids=" ".join)
@pytest.mark.parametrize(
    "name", ["a refusal without a block", "two signatures", "no arguments at all", "redacted, twice"]
)
def test_what_rides_on_the_last_chunk_goes_on_through_chat(name: str, chain: tuple[str, ...]) -> None:
    assert anthropic.home(ANTHROPIC[name], *chain) == ANTHROPIC[name]


@pytest.mark.parametrize("name", [name for name, (src, _) in CUT_CALLS.items() if src == "openai-chat"])
def test_a_call_that_was_cut_goes_on_through_anthropic(name: str) -> None:
    now: list[Any] = CUT_CALLS[name][1]
    at = "openai-chat"
    for format in ("anthropic", "anthropic", "gateway", "anthropic", "anthropic", "openai-chat"):
        now, at = list(convert(now, at, format, clock=lambda: CLOCK)), format
    assert now == CUT_CALLS[name][1]


# ---- the words of single units -------------------------------------------------------------------------------


def test_counts_that_contradict_each_other() -> None:
    counts = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    units = [FIRST, ends("stop"), {**U, "usage": {**counts, "prompt_tokens_details": {"cached_tokens": 8}}}]
    out: list[Any] = list(convert(units, "openai-chat", "anthropic", clock=lambda: CLOCK))
    assert out[-2]["usage"] == {"input_tokens": 0, "cache_read_input_tokens": 8, "output_tokens": 2}
    assert list(convert(out, "anthropic", "openai-chat")) == units


def test_a_limit_of_rate_keeps_its_word() -> None:
    units = [{"error": {"message": "slow", "type": "rate_limit_error"}}]
    (out,) = convert(units, "openai-chat", "anthropic", errors="encode", loss="drop")
    assert out == {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}}


def test_separators_are_escaped_when_they_are_written() -> None:
    data = b"".join(convert([FIRST, say(content="a\u2028b"), ends("stop")], "openai-chat", "openai-chat-sse"))
    assert b"a\\u2028b" in data
    assert "\u2028".encode() not in data


def test_two_texts_in_a_row_are_one_to_readers_of_chat() -> None:
    events: list[Event] = [e for word in "ab" for e in (Open("text"), Append(word), Close())]
    events.append(Finish(TokenCounts(), Reason("stop")))
    out: list[Any] = list(encode(events, "openai-chat"))
    assert [unit["choices"][0]["delta"].get("content") for unit in out[1:3]] == ["a", "b"]
    back = decode(out, "openai-chat")
    assert [event for event in back if type(event) in (Open, Append, Close)] == events[:-1]


def test_an_image_between_texts_is_nothing_to_others_and_comes_home_whole() -> None:
    image: list[Event] = [Open("inline_data", mime_type="image/png"), Append(b"x"), Close()]
    texts: list[Event] = [Open("text"), Append("Hi"), Close()]
    events = [*texts, *image, *texts, Finish(TokenCounts(), Reason("stop"))]
    for dst in ("openai-chat", "anthropic"):
        assert "open inline_data" not in said(list(encode(events, dst, loss="drop")), dst)
        parts = (Open, Append, Close)
        assert [event for event in decode(list(encode(events, dst)), dst) if type(event) in parts] == events[:-1]


def test_states_of_others_are_reported() -> None:
    state = State("google", {"signature": "U0lH"})
    events: list[Event] = [
        Open("thinking"),
        Append("a"),
        Append("", state),
        Close(),
        Finish(TokenCounts(3, 2), Reason("stop")),
    ]
    report = Report()
    out = list(encode(events, "anthropic", report=report, loss="drop"))
    assert "U0lH" not in json.dumps(out)
    assert ["state" in finding.reason for finding in report.losses if finding.content] == [True]


@pytest.mark.parametrize("choices", [(0, 1), (1, 0), (0, 0, 1)], ids=str)
def test_a_second_choice_is_refused_with_the_unit_that_shows_it(choices: tuple[int, ...]) -> None:
    units = [{**FIRST, "choices": [{**FIRST["choices"][0], "index": i}]} for i in choices]
    with_counts = [u for unit in units for u in (unit, {**U, "usage": COUNTS})]
    for stream in (units, with_counts):
        events = decode(stream, "openai-chat")
        shown = stream.index(next(unit for unit in stream if unit["choices"] and unit["choices"][0]["index"]))
        with pytest.raises(TranslateError, match="one stream is one message") as caught:
            list(events)
        assert caught.value.unit == shown


# ---- members that only Chat has ------------------------------------------------------------------------------

RESIDUES: dict[str, list[Any]] = {
    "empty members in later pieces": [
        FIRST,
        call(0, "a", "f", '{"x":'),
        *(
            say(tool_calls=[{"index": 0, "id": None, "type": None, "function": {"name": "", "arguments": piece}}])
            for piece in ("1", "2", "}")
        ),
        ends("tool_calls"),
    ],
    "probabilities": [
        FIRST,
        *(
            {**chunk({"content": word}), "choices": [{**chunk({"content": word})["choices"][0], "logprobs": found}]}
            for word, found in (
                ("a", {"content": [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}]}),
                ("b", {"content": None, "refusal": None}),
                ("c", {"tokens": None, "token_logprobs": None, "top_logprobs": None, "text_offset": None}),
                ("d", {"reasoning_content": []}),
                ("e", None),
            )
        ),
        ends("stop"),
    ],
    "lists that repeat": [
        {**FIRST, "citations": ["https://long.example/1"], "search_results": [{"title": "a title"}]},
        *(
            {**say(content=word), "citations": ["https://long.example/1"], "search_results": [{"title": "a title"}]}
            for word in "abcdef"
        ),
        ends("stop", citations=["https://long.example/1"], search_results=[{"title": "a title"}]),
    ],
}


@pytest.mark.parametrize("dst", ["anthropic-sse", "unievent-sse", "gateway-sse", "events-jsonl"])
@pytest.mark.parametrize("name", RESIDUES)
def test_members_of_chat_come_home(name: str, dst: str) -> None:
    units = RESIDUES[name]
    there = b"".join(convert([sse(units)], "openai-chat-sse", dst, clock=lambda: CLOCK))
    back = b"".join(convert([there], dst, "openai-chat-sse", clock=lambda: 1))
    assert native(back) == units
    assert b": carry" not in back
    if name == "lists that repeat" and dst != "events-jsonl":
        assert there.count(b"a title") <= 2


@pytest.mark.parametrize("now", [0.5, -1, 2**70, 1_700_000_000_000.25])
@pytest.mark.parametrize("dst", ["anthropic-sse", "openai-chat-sse", "openai-responses-sse"])
def test_whatever_the_clock_tells_what_it_makes_up_is_known_for_that(dst: str, now: float) -> None:
    events: list[Event] = [Start(), Open("text"), Append("Hi"), Close(), Finish(TokenCounts(3, 2), Reason("stop"))]
    out = b"".join(encode(events, dst, clock=lambda: now))  # type: ignore[arg-type, return-value]
    first, *_ = decode([out], dst)
    assert isinstance(first, Start)
    assert (first.id, first.created) == (None, None)


def test_a_ping_within_what_chat_says_at_once_comes_home_through_chat() -> None:
    units = [S, block(0, "redacted_thinking", data="D"), PING, stop(0), end("end_turn"), STOP]
    for chain in (("openai-chat",), *CHAINS, ("openai-chat", "openai-chat", "unievent", "openai-chat-sse")):
        assert anthropic.home(units, *chain) == units, chain


SWITCHES: dict[str, list[Any]] = {
    "thinking in one member and the other": [
        FIRST,
        *(say(**{name: text}) for name, text in zip(("reasoning", "reasoning_content") * 3, "abcdef", strict=True)),
        ends("stop"),
    ],
    "an empty piece in the other member, after counts": [
        FIRST,
        chunk({"reasoning": "q"}, usage=COUNTS),
        say(reasoning_content=""),
        ends("stop"),
    ],
    "padding that is the text": [
        FIRST,
        *(chunk({"content": "a" * n}, obfuscation="a" * m) for n, m in ((1, 2), (2, 2), (3, 1), (1, 1), (1, 4))),
        ends("stop"),
    ],
}


@pytest.mark.parametrize("via", ["openai-chat-jsonl", "gateway-sse", "unievent-sse", "anthropic-sse", "events-jsonl"])
@pytest.mark.parametrize("name", SWITCHES)
def test_what_changes_its_member_comes_home(name: str, via: str) -> None:
    data = sse(SWITCHES[name])
    there = b"".join(convert([data], "openai-chat-sse", via, clock=lambda: CLOCK))
    back = b"".join(convert([there], via, "openai-chat-sse"))
    assert native(back) == SWITCHES[name]
    assert b": carry" not in back
