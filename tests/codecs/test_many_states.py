"""Many states of one part, and many that wait for its end: time grows as they do."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.codecs.chat_streams import detail, end, native, say, sse
from translate import Append, Event, Open, convert, decode


def signed(count: int, *, within: bool) -> bytes:
    """So many signatures: within the thinking, or while text is open."""
    marks = [say(reasoning_details=[detail("text", "anthropic-claude-v1", signature=f"s{n}")]) for n in range(count)]
    first: dict[str, Any] = {"reasoning": "r"} if within else {"content": "t"}
    return sse([say(role="assistant", content=""), say(**first), *marks, end("stop")])


def signatures(events: list[Event]) -> list[Any]:
    """Those that are said, in order."""
    states = [event.state for event in events if type(event) is Append and event.state is not None]
    return [state.values["signature"] for state in states if "signature" in state.values]


@pytest.mark.alone
@pytest.mark.parametrize("within", [True, False])
def test_time_is_linear_in_the_states(within: bool) -> None:
    def spent(count: int) -> float:
        stream, began = signed(count, within=within), time.process_time()
        for _ in convert([stream], "openai-chat-sse", "unievent-sse"):
            pass
        return time.process_time() - began

    # quadratic, it was 80 times as long
    assert spent(3000) < 30 * max(spent(300), spent(300))


@pytest.mark.parametrize("within", [True, False])
def test_each_state_is_said_once_and_comes_home(within: bool) -> None:
    stream = signed(5, within=within)
    events = list(decode([stream], "openai-chat-sse"))
    said = signatures(events)
    assert said == [f"s{n}" for n in range(5)]
    assert sum(type(event) is Open for event in events) == (1 if within else 6)
    there = b"".join(convert([stream], "openai-chat-sse", "unievent-sse", clock=lambda: 1))
    back = b"".join(convert([there], "unievent-sse", "openai-chat-sse", clock=lambda: 1))
    assert native(back) == native(stream)
    again = stream.replace(b'"s3"', b'"s1"')
    events = list(decode([again], "openai-chat-sse"))
    said = signatures(events)
    assert said == (["s0", "s1", "s2", "s4"] if within else ["s0", "s1", "s2", "s1", "s4"])
