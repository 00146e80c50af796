"""Chat Completions as people meet it: what each odd stream means, and that it comes home."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.codecs.chat_streams import (
    COUNTS,
    DONE,
    HEAD,
    S,
    U,
    call,
    chunk,
    detail,
    end,
    entry,
    more,
    native,
    said,
    say,
    sse,
    through,
)
from translate import decode

HI = ["start", "open text", "+Hi"]
STOP = "finish stop None None"
CALLED = "finish tool_call None None"
A, B = "open tool_call a f", "open tool_call b g"
FIELD = "[:reasoning_field=reasoning]"
CONTENT = "[:reasoning_field=reasoning_content]"

ROWS: dict[str, tuple[list[Any], list[str]]] = {
    "text, reason, counts": ([S, say(content="Hi"), end("stop"), U], [*HI, "close", "usage 3 2", "finish stop 3 2"]),
    "no reason, but the end marker": ([S, say(content="Hi")], [*HI, "close", "finish unknown None None"]),
    "Azure's first unit": (
        [{"choices": [], "id": "", "model": "", "prompt_filter_results": []}, say(content="Hi"), end("stop")],
        ["foreign", *HI, "close", STOP],
    ),
    "thinking, then text": (
        [S, say(reasoning="r"), say(content="t"), end("stop")],
        ["start", "open thinking", f"+r {FIELD}", "close", "open text", "+t", "close", STOP],
    ),
    "both in one chunk": (
        [S, say(content="t", reasoning_content="r"), end("stop")],
        ["start", "open thinking", f"+r {CONTENT}", "close", "open text", "+t", "close", STOP],
    ),
    "empty text opens nothing": (
        [S, say(content="", reasoning="r"), say(content="t", reasoning=""), end("stop")],
        ["start", "open thinking", f"+r {FIELD}", "close", "open text", "+t", "close", STOP],
    ),
    "an empty piece of the open text": (
        [S, say(content="Hi"), say(content=""), end("stop")],
        [*HI, "+", "close", STOP],
    ),
    "details repeat reasoning": (
        [S, say(reasoning="r", reasoning_details=[detail("text", "unknown", text="r")]), end("stop")],
        ["start", "open thinking", f"+r {FIELD}", "close", STOP],
    ),
    "details alone are the text": (
        [S, say(reasoning=None, reasoning_details=[detail("summary", "xai-responses-v1", summary="r")]), end("stop")],
        ["start", "open thinking", "+r", "close", STOP],
    ),
    "a signature before the text": (
        [
            S,
            say(reasoning="r", reasoning_details=[detail("text", "anthropic-claude-v1", text="r")]),
            say(reasoning_details=[detail("text", "anthropic-claude-v1", signature="S")]),
            say(content="t"),
            end("stop"),
        ],
        ["start", "open thinking", "+r", "+ [anthropic:signature=S]", "close", "open text", "+t", "close", STOP],
    ),
    "redacted, twice": (
        [
            S,
            *(say(reasoning_details=[detail("encrypted", "anthropic-claude-v1", data=d)]) for d in "DE"),
            end("stop"),
        ],
        [
            "start",
            "open thinking",
            "+_REDACTED_THINKING [anthropic:signature=D]",
            "close",
            "open thinking",
            "+_REDACTED_THINKING [anthropic:signature=E]",
            "close",
            "foreign",
            STOP,
        ],
    ),
    "encrypted content after the text": (
        [S, say(content="Hi"), say(reasoning_details=[detail("encrypted", "openai-x", data="D", id="i")]), end("stop")],
        [
            *HI,
            "foreign",
            "close",
            "open thinking",
            "+ [openai:encrypted_content=D,reasoning_id=i]",
            "close",
            STOP,
        ],
    ),
    "Mistral: content as a list": (
        [
            S,
            say(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "r"}]}]),
            say(content=[{"type": "text", "text": "t"}, {"type": "reference", "reference_ids": [1]}]),
            say(content="u"),
            end("stop"),
        ],
        [
            *("start", "open thinking", "+r", "close", "open text", "+t", "note mistral", "+u", "close", STOP),
        ],
    ),
    "Mistral: all in one chunk": (
        [S, chunk({"tool_calls": [entry(0, "a", "f", "{}")]}, "tool_calls", usage=COUNTS)],
        ["start", A, "+{}", "close", "usage 3 2", "finish tool_call 3 2"],
    ),
    "one call in pieces": (
        [S, call(0, "a", "f", ""), more(0, '{"x":'), more(0, "1}"), end("tool_calls")],
        ["start", A, '+{"x":', "+1}", "close", CALLED],
    ),
    "two calls interleaved": (
        [
            *(S, call(0, "a", "f", ""), call(1, "b", "g", ""), more(0, '{"x":'), more(1, '{"y":'), more(0, "1}")),
            *(more(1, "2}"), end("tool_calls")),
        ],
        [
            *("start", A, "foreign", '+{"x":', "foreign", "+1}", "close", B, '+{"y":', "+2}", "close", CALLED),
        ],
    ),
    "three calls, last to first": (
        [
            *(S, call(0, "a", "f", ""), call(1, "b", "g", ""), call(2, "c", "h", ""), more(2, "{}"), more(1, "{}")),
            *(more(0, "{}"), end("tool_calls")),
        ],
        [
            *("start", A, *["foreign"] * 4, "+{}", "close", B, "+{}", "close"),
            *("open tool_call c h", "+{}", "close", CALLED),
        ],
    ),
    "one index, two ids": (
        [S, call(0, "a", "f", "{}"), call(0, "b", "g", "{}"), end("tool_calls")],
        ["start", A, "+{}", "close", B, "+{}", "close", CALLED],
    ),
    "id and name repeated": (
        [S, call(0, "a", "f", '{"x":'), call(0, "a", "f", "1}"), end("tool_calls")],
        ["start", A, '+{"x":', "+1}", "close", CALLED],
    ),
    "an empty id and no name": (
        [S, call(0, "a", "f", '{"x":'), call(0, "", None, "1}"), end("tool_calls")],
        ["start", A, '+{"x":', "+1}", "close", CALLED],
    ),
    "no index": (
        [S, call(None, "a", "f", '{"x":'), more(None, "1}"), call(None, "b", "g", "{}"), end("tool_calls")],
        ["start", A, '+{"x":', "+1}", "close", B, "+{}", "close", CALLED],
    ),
    "blank arguments, then another call": (
        [S, call(0, "a", "f", ""), call(1, "b", "g", "{}"), end("tool_calls")],
        ["start", A, "foreign", "close", B, "+{}", "close", CALLED],
    ),
    "text amid a call": (
        [S, call(0, "a", "f", '{"x":'), say(content="hm"), more(0, "1}"), end("tool_calls")],
        ["start", A, '+{"x":', "foreign", "+1}", "close", "open text", "+hm", "close", CALLED],
    ),
    "two values for one call": (
        [S, call(0, "a", "f", "{}"), more(0, '{"x":1}'), end("tool_calls")],
        ["start", A, "+{}", '+{"x":1}', "close", CALLED],
    ),
    "a blank piece of a call that is over": (
        [S, call(0, "a", "f", "{}"), call(1, "b", "g", "{}"), more(0, " "), end("tool_calls")],
        ["start", A, "+{}", "close", B, "+{}", "foreign", "close", CALLED],
    ),
    "null in later pieces": (
        [S, call(0, "a", "f", "{}"), call(0, None, None, None), end("tool_calls")],
        ["start", A, "+{}", "foreign", "close", CALLED],
    ),
    "text after a whole call": (
        [S, call(0, "a", "f", "{}"), say(content="ok"), end("stop")],
        ["start", A, "+{}", "close", "open text", "+ok", "close", STOP],
    ),
    "two reasons": (
        [S, say(content="Hi"), end("stop"), chunk({"content": ""}, "stop", usage=COUNTS)],
        [*HI, "close", "usage 3 2", "finish stop 3 2"],
    ),
    "a reason, then an error": (
        [S, say(content="Hi"), end("length"), {**HEAD, "error": {"message": "no"}}],
        [*HI, "cut", "failure 502 no"],
    ),
    "a limit of rate": (
        [{"error": {"message": "slow", "type": "rate_limit_error"}}],
        ["failure 429 slow"],
    ),
    "an error as text": ([{"error": "boom"}], ["failure 502 boom"]),
    "vLLM's error": ([{"object": "error", "message": "boom"}], ["failure 502 boom"]),
    "an error with text": (
        [S, chunk({"content": "x"}, None, error={"message": "no", "code": "404"})],
        ["start", "open text", "+x", "failure 404 no"],
    ),
    "an error under a name": (
        [b'event: error\ndata: {"error":{"message":"no","code":503}}\n\n'],
        ["failure 503 no"],
    ),
    "an error on a line of its own": (
        [S, b'error: {"detail":"d","error":{"message":"m"}}\n\n'],
        ["start", "failure 502 m"],
    ),
    "counts in every chunk": (
        [S, chunk({"content": "Hi"}, usage={**COUNTS, "completion_tokens": 1}), chunk({}, "stop", usage=COUNTS)],
        [*HI, "close", "usage 3 2", "finish stop 3 2"],
    ),
    "counts without reasoning": (
        [
            S,
            end("stop"),
            {
                **U,
                "usage": {
                    "prompt_tokens": 10,
                    "completion_tokens": 2,
                    "total_tokens": 112,
                    "completion_tokens_details": {"reasoning_tokens": 100},
                },
            },
        ],
        ["start", "foreign", "usage 10 102", "finish stop 10 102"],
    ),
    "no counts": (
        [S, say(content="Hi"), end("stop", usage={}), {**U, "usage": {"prompt_tokens": None}}],
        [*HI, "close", "foreign", STOP],
    ),
    "padding": (
        [S, *(chunk({"content": t}, obfuscation=t * 3) for t in ("Hi", "a", "b")), end("stop", obfuscation="xyz")],
        [*HI, "+a", "+b", "close", STOP],
    ),
    "comments": ([b": OPENROUTER PROCESSING\n\n", S, say(content="Hi"), end("stop")], [*HI, "close", STOP]),
    "a separator in text": (
        [S, say(content="a\u2028b"), end("stop")],
        ["start", "open text", "+a\u2028b", "close", STOP],
    ),
    "nothing said": (
        [
            S,
            chunk(None),
            {**HEAD, "choices": []},
            say(x=1),
            say(content="Hi"),
            {**HEAD, "choices": [{"index": 0}]},
            end("stop"),
        ],
        ["start", "foreign", "foreign", "foreign", "open text", "+Hi", "foreign", "close", STOP],
    ),
    "a filter's error is none": (
        [
            S,
            {
                **HEAD,
                "choices": [
                    {"index": 0, "delta": {"content": "Hi"}, "content_filter_result": {"error": {"code": "x"}}}
                ],
            },
            end("stop"),
        ],
        [*HI, "close", STOP],
    ),
    "two pieces of a call in one chunk": (
        [
            S,
            say(tool_calls=[entry(0, "a", "f", '{"a'), {"index": 0, "function": {"arguments": '":1}'}}]),
            end("tool_calls"),
        ],
        ["start", A, '+{"a', '+":1}', "close", CALLED],
    ),
    "stop after tool_calls": (
        [S, call(0, "a", "f", "{}"), end("tool_calls"), chunk({"content": "\n"}, "stop")],
        ["start", A, "+{}", "close", "open text", "+\n", "close", CALLED],
    ),
    "members that are null in each": (
        [S, *(say(role=None, content=t, tool_calls=None, name="n") for t in ("Hi", "a")), end("stop")],
        [*HI, "+a", "close", STOP],
    ),
    "a reason in another word": (
        [S, say(content="Hi"), end("eos")],
        [*HI, "close", "finish unknown eos None None"],
    ),
    "the older form of a call": (
        [
            S,
            say(function_call={"name": "f", "arguments": ""}),
            say(function_call={"arguments": "{}"}),
            end("function_call"),
        ],
        ["start", "open tool_call f", "+{}", "close", "finish tool_call function_call None None"],
    ),
    "a tool of free text": (
        [
            S,
            *(
                say(tool_calls=[{"index": 0, **x}])
                for x in (
                    {"id": "a", "type": "custom", "custom": {"name": "f", "input": 'x"'}},
                    {"custom": {"input": "y"}},
                )
            ),
            end("tool_calls"),
        ],
        ["start", A, '+{"input":"x\\"', "+y", '+"}', "close", CALLED],
    ),
    "Perplexity": (
        [
            {
                **HEAD,
                "citations": ["u"],
                "choices": [
                    {
                        "index": 0,
                        "delta": {"role": "assistant", "content": t},
                        "message": {"role": "assistant", "content": so_far},
                    }
                ],
            }
            for t, so_far in (("The", "The"), (" cat", "The cat"), (" sat", "The cat sat"))
        ]
        + [end("stop", citations=["u"])],
        ["start", "open text", "+The", "note perplexity", "+ cat", "+ sat", "close", STOP],
    ),
    "a tool that the server ran": (
        [
            S,
            say(executed_tools=[{"index": 0, "type": "search", "arguments": "{}"}]),
            say(executed_tools=[{"index": 0, "type": "search", "arguments": "{}", "output": "o"}]),
            end("stop"),
        ],
        [
            *("start", "open server_tool_call made_executed_0 search", "+{}", "close"),
            *("open server_tool_result made_executed_0 search", "+o", "close", "foreign", STOP),
        ],
    ),
    "annotations": (
        [S, say(content="Hi"), say(content="", annotations=[{"type": "url_citation"}]), end("stop")],
        [*HI, "note openai", "close", STOP],
    ),
    "sound": (
        [S, say(audio={"id": "s", "data": "AAE="}), say(audio={"transcript": "hm"}), end("stop")],
        ["start", "open inline_data", "+b'\\x00\\x01'", "note openai", "close", STOP],
    ),
    "a chunk under a name": (
        [S, b"event: chunk\ndata: " + json.dumps(say(content="Hi")).encode() + b"\n\n", end("stop")],
        [*HI, "close", STOP],
    ),
    "arguments that are no JSON": (
        [S, call(0, "a", "f", "find "), more(0, "{it"), say(content="Hi"), end("tool_calls")],
        ["start", A, "+find ", "+{it", "foreign", "close", "open text", "+Hi", "close", CALLED],
    ),
    "tags in text": ([S, say(content="<think>"), end("stop")], ["start", "open text", "+<think>", "close", STOP]),
}


def data_of(units: list[Any]) -> bytes:
    failed = any(isinstance(u, dict) and (u.get("error") or u.get("object") == "error") for u in units)
    failed = failed or any(isinstance(u, bytes) and b"error" in u for u in units)
    return sse(units, done=not failed)


@pytest.mark.parametrize("row", ROWS)
def test_what_it_says(row: str) -> None:
    units, events = ROWS[row]
    ends = ["UpstreamFailure"] if events[-1].startswith("failure") else []
    for strict in (True, False):
        assert said(data_of(units), strict=strict) in (events, [*events, *ends])


@pytest.mark.parametrize("cut", [1, 7])
@pytest.mark.parametrize("row", ["an empty piece of the open text", "an error on a line of its own", "comments"])
def test_however_it_was_cut(row: str, cut: int) -> None:
    data = data_of(ROWS[row][0])
    pieces = [data[i : i + cut] for i in range(0, len(data), cut)]
    assert list(decode(pieces, "openai-chat-sse")) == list(decode([data], "openai-chat-sse"))


VIA = (
    (),
    ("events-jsonl",),
    ("gateway-sse",),
    ("unievent-sse",),
    ("openai-chat-jsonl",),
    ("gateway-jsonl", "unievent-sse", "gateway-jsonl"),
)
NO_OBJECT = {"two values for one call", "arguments that are no JSON"}


@pytest.mark.parametrize("via", VIA, ids=" ".join)
@pytest.mark.parametrize("row", ROWS)
def test_it_comes_home(row: str, via: tuple[str, ...]) -> None:
    if (row in NO_OBJECT and "unievent-sse" in via) or (row.startswith("no reason") and "openai-chat-jsonl" in via):
        pytest.skip("the format on the way cannot take it")
    data = data_of(ROWS[row][0])
    home = through(data, *via, "openai-chat-sse")
    assert b": carry" not in home
    assert native(home) == native(data)
    assert home.endswith(DONE) == data.endswith(DONE)
    if "openai-chat-jsonl" not in via:
        assert home.count(b"error: {") == data.count(b"error: {")
