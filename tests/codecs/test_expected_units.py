"""A unit is expected as its stream has repeated itself only where it says what is meant."""

from __future__ import annotations

from typing import Any

import pytest

from tests.codecs.chat_streams import S, chunk, end, said, sse
from translate import Append, Close, Finish, Model, Open, Reason, Start, State, TokenCounts, convert, decode, encode
from translate.algebra.events import Event

STATE = State("anthropic", {"signature": "S"})
STOP = Finish(TokenCounts(), Reason("stop"))


def listed(*texts: str, **members: Any) -> dict[str, Any]:
    """A chunk whose text comes in several entries."""
    return chunk({"content": [{"type": "text", "text": text} for text in texts]}, None, **members)


def test_a_state_that_is_said_again_is_no_pattern_for_what_is_thought_next() -> None:
    thinking: list[Event] = [Open("thinking"), Append("a"), Append("", STATE), Append("b"), Close()]
    events = [Start(), *thinking, Open("text"), Append("x"), Close(), Open("thinking"), Append("c"), Close(), STOP]
    written = list(encode(events, "openai-chat"))
    assert "".join(unit["choices"][0]["delta"].get("reasoning_content", "") for unit in written) == "abc"
    # a carry leaves the text to its unit
    assert "".join(str(event.data) for event in decode(written, "openai-chat") if type(event) is Append) == "abxc"


@pytest.mark.parametrize("other", ["gateway", "anthropic", "unievent"])
def test_a_text_in_several_entries_comes_home(other: str) -> None:
    units = [S, *(listed(a, b) for a, b in ("ab", "cd", "ef", "gh")), end("stop")]
    out = list(convert(units, "openai-chat", other, clock=lambda: 0))
    assert list(convert(out, other, "openai-chat")) == units


def test_the_short_way_reads_no_text_from_where_none_stands() -> None:
    units = [S, *(listed("a", "b", again=again) for again in ("ab", "ab", "zz")), end("stop")]
    assert said(sse(units))[2:5] == ["+ab"] * 3


def test_data_that_is_spelled_otherwise_is_not_expected_again() -> None:
    audio = [{"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": data}} for data in ("AAAA", "__8=", "BBBB")]
    candidates: list[Any] = [{"content": {"parts": [part], "role": "model"}, "index": 0} for part in audio]
    candidates[-1]["finishReason"] = "STOP"
    events = decode([{"candidates": [each]} for each in candidates], "gemini")
    changed = [Append(b"xyz") if type(e) is Append and e.data == b"\x04\x10A" else e for e in events]
    written = [unit["candidates"][0]["content"]["parts"] for unit in encode(changed, "gemini")]
    assert [parts[0]["inlineData"]["data"] for parts in written[:3]] == ["AAAA", "__8=", "eHl6"]


def test_no_two_states_have_one_index_however_late_they_are_said() -> None:
    """A state within a part is said at its end: it counts when it is said, not when it is meant."""
    states = [State("google", {"signature": word}) for word in ("one", "two", "three")]
    parts = [[Append("a"), Append("", states[0]), Append("b")], [Append("", states[1])], [Append("c", states[2])]]
    events: list[Event] = [Start(Model("g"))]
    for part in parts:
        events += [Open("thinking"), *part, Close()]
    units = list(convert([*events, Finish(TokenCounts(1, 1), Reason("stop"))], "events", "openai-chat", loss="drop"))
    deltas = [choice["delta"] for unit in units for choice in unit["choices"]]
    entries = [entry for delta in deltas for entry in delta.get("reasoning_details", ())]
    assert [(entry["index"], entry["signature"]) for entry in entries] == [(0, "one"), (1, "two"), (2, "three")]
