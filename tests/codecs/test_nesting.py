"""``Limits.nesting`` holds as it is set, lowered and raised: for what is parsed of a text, and for what is expected."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.codecs.chat_streams import call, chunk, end, more, sse
from tests.codecs.responses_streams import CREATED, added, done, response
from translate import (
    Close,
    LimitExceeded,
    Limits,
    Open,
    convert,
    decode,
)

DEEP = 300


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


def searched(depth: int) -> list[Any]:
    item = {"type": "web_search_call", "id": "ws", "status": "completed", "action": json.loads(nested(depth))}
    return [CREATED, added(0, {**item, "action": {}}), done(0, item), response("completed", [item])]


def home(units: list[Any], format: str, *via: str, limits: Limits) -> list[Any]:
    at, stream = format, units
    for dst in (*via, format):
        stream = list(convert(stream, at, dst, limits=limits, clock=lambda: 1))
        at = dst
    return stream


@pytest.mark.parametrize("via", ["unievent-sse", "events-jsonl", "openai-chat-sse", "openai-responses-sse"])
def test_an_item_of_the_server_may_nest_as_deeply_as_a_raised_limit_says(via: str) -> None:
    limits = Limits(nesting=DEEP + 50)
    assert home(searched(DEEP), "openai-responses", via, limits=limits) == searched(DEEP)
    with pytest.raises(LimitExceeded, match="'nesting'"):
        home(searched(DEEP), "openai-responses", via, limits=Limits())


def test_an_item_of_the_server_nests_no_deeper_than_a_lowered_limit() -> None:
    events = list(decode(searched(10), "openai-responses"))
    assert list(convert(events, "events", "openai-responses", limits=Limits(nesting=20)))
    with pytest.raises(LimitExceeded, match="'nesting'"):
        list(convert(events, "events", "openai-responses", limits=Limits(nesting=5)))


@pytest.mark.parametrize("cut", [1, 700, 1500])
def test_arguments_that_nest_as_deeply_as_a_raised_limit_says_are_whole(cut: int) -> None:
    text = nested(DEEP)
    units = [call(0, "a", "f", text[:cut]), more(0, text[cut:]), call(1, "b", "f", "{}")]
    stream = [sse([*units, end("tool_calls")])]
    for limits, count in ((Limits(nesting=DEEP + 50), 2), (Limits(nesting=DEEP - 50), 2)):
        events = list(decode(stream, "openai-chat-sse", limits=limits))
        assert sum(type(event) is Open for event in events) == count
        assert [event.cut for event in events if type(event) is Close] == [False] * count
    assert list(convert(stream, "openai-chat-sse", "unievent", limits=Limits(nesting=DEEP + 50)))
    with pytest.raises(LimitExceeded, match="'nesting'"):
        list(convert(stream, "openai-chat-sse", "unievent", limits=Limits(nesting=DEEP - 50)))


@pytest.mark.parametrize("format", ["openai-chat", "gemini"])
def test_what_units_repeat_is_carried_once_however_deep_it_is(format: str) -> None:
    deep = json.loads(nested(DEEP))
    if format == "gemini":
        units: list[Any] = [
            {"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}], "x": deep}
            for text in "abcdef"
        ]
        units[-1]["candidates"][0]["finishReason"] = "STOP"
    else:
        units = [{**chunk({"content": text}), "x": deep} for text in "abcdef"] + [end("stop")]
    limits = Limits(nesting=DEEP + 50)
    there = b"".join(convert(units, format, "unievent-sse", limits=limits, clock=lambda: 1))
    assert there.count(nested(DEEP).encode()) == 1
    assert list(convert([there], "unievent-sse", format, limits=limits, clock=lambda: 1)) == units
