"""What the properties once found, as the smallest streams that show it: each round trip was broken."""

from __future__ import annotations

from typing import Any

import pytest

from tests.strategies import FORMATS, Source, to
from tests.test_laws import assert_same, there_and_back
from translate import Annotate, Append, Close, Failure, Finish, Handover, Model, Open, State, TokenCounts, Usage
from translate import assemble as assembled
from translate.jsontext import Beyond

FOUND: dict[str, list[Any]] = {
    "an unknown total beside a known part": [Finish(TokenCounts(cached_tokens=0))],
    "a model named unknown": [Handover(Model("", "unknown")), Finish()],
    "an unknown code": [Failure(None, "")],
    "a null annotation": [Open("text"), Annotate(None, None), Close(), Finish()],
    "a number beyond a double in a vector": [Open("embedding"), Append([Beyond("1e400")]), Close(), Finish()],
    "a namespace with a dot": [Open("thinking"), Append("a", State("a.b", {"k": 1})), Close(), Finish()],
    "a state ahead of its end": [Open("thinking"), Append("", State("", {"k": 1})), Usage(), Close(), Finish()],
    "a call without a fragment": [Open("tool_call", "1", "f"), Close(), Finish()],
    "half a pair in arguments": [Open("tool_call", "1", "f"), Append('{"a":"\ud83d"}'), Close(), Finish()],
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("found", FOUND)
def test_there_and_back(found: str, format: str) -> None:
    there_and_back(format, Source("events", FOUND[found]))


def test_an_unknown_member_on_a_later_fragment() -> None:
    def delta(item: dict[str, Any]) -> dict[str, Any]:
        event = {"role": "assistant", "event_type": "delta", "content_items": [item]}
        return {**event, "usage_metadata": None, "finish_reason": None}

    units = [delta({"type": "text.delta", "text": "a"}), delta({"type": "text.delta", "text": "b", "x": 1})]
    stop = {"role": "assistant", "event_type": "stop", "content_items": [], "usage_metadata": {}, "finish_reason": ""}
    source = Source("unievent", [*units, delta({"type": "text.done", "text": "ab"}), stop])
    assert_same(to(source, "unievent"), source, "identity")


def test_a_blank_call_at_home() -> None:
    call = Source("events", [Open("tool_call", "1", "f"), Append("{}"), Close(), Finish()])
    source = to(call, "gateway", loss="drop")
    source.stream[1]["value"]["value"]["arguments"] = " "
    assert_same(to(source, "gateway"), source, "identity")
    assert_same(to(to(source, "unievent-sse"), "gateway"), source, "there and back")


def test_a_group_that_never_began_is_no_item() -> None:
    there = to(Source("events", [Open("text"), Handover(), Finish()]), "unievent")
    assert assembled(there.stream, "unievent", "unievent")["content_items"] == []


def test_a_pair_of_two_fragments_is_one_character_of_the_whole() -> None:
    part = [Open("text"), Append("\ud83d"), Append("\ude00"), Close()]
    there = to(Source("events", [*part, Finish()]), "unievent")
    assert [unit["content_items"][0]["text"] for unit in there.stream[:3]] == ["\ud83d", "\ude00", "\U0001f600"]
