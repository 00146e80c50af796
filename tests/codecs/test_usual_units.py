"""Units that a stream repeats with other values in them go the short way, and mean and come home as by the long one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.codecs.chat_streams import DONE, S, U, chunk, detail, end, sse
from tests.run_streams import the_long_way
from translate import convert, decode
from translate_codecs.openai_chat.decoder import ChatDecoder


def padded(text: str, at: int) -> dict[str, Any]:
    return chunk({"content": text}, obfuscation="x" * (at % 5), created=at)


def twice(text: str, at: int) -> dict[str, Any]:
    """Thinking that stands in two members of one unit."""
    entry = detail("reasoning.summary", "x-v1", summary=text, index=0)
    return chunk({"content": "", "role": "assistant", "reasoning": text, "reasoning_details": [entry]})


def listed(text: str, at: int) -> dict[str, Any]:
    return chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}, p="y" * (at % 3))


def called(text: str, at: int) -> dict[str, Any]:
    entry = {"index": 0, "type": "function", "function": {"arguments": text}}
    head = {"index": 0, "id": "t1", "type": "function", "function": {"name": "f", "arguments": ""}}
    return chunk({"tool_calls": [{**entry} if at else head]}, obfuscation="x" * at)


PIECES = {
    padded: ["a", "bc", "d", "é", " 日本", "x", "xx", "e", "f"],
    twice: ["a", "bc", "d", "é", " 日本", "x", "e", "f"],
    listed: ["a", "bc", "d", "é", " 日本", "y", "e", "f"],
    called: ["", '{"', "a", '":', "1", "2", "3", "}"],
}


def stream(unit: Any) -> list[dict[str, Any]]:
    return [S, *(unit(text, at) for at, text in enumerate(PIECES[unit])), end("stop"), U]


def one_by_one(unit: Any) -> list[bytes]:
    """The stream on SSE, a unit a chunk."""
    return [*(sse([each], done=False) for each in stream(unit)), DONE]


@pytest.mark.parametrize("unit", PIECES)
@pytest.mark.parametrize("other", ["anthropic-sse", "gateway-sse", "unievent-sse", "events-jsonl"])
def test_it_comes_home(unit: Any, other: str) -> None:
    units = stream(unit)
    there = b"".join(convert([sse(units)], "openai-chat-sse", other, clock=lambda: 0))
    assert list(convert([there], other, "openai-chat")) == units


@pytest.mark.parametrize("unit", PIECES)
@pytest.mark.parametrize("loss", ["carry", "drop"])
def test_it_goes_as_by_the_long_way(unit: Any, loss: Any) -> None:
    source = one_by_one(unit)
    with the_long_way():
        reference = list(convert(source, "openai-chat-sse", "anthropic-sse", loss=loss, clock=lambda: 0))
        home = list(convert(reference, "anthropic-sse", "openai-chat-sse", loss=loss, clock=lambda: 0))
    short = list(convert(source, "openai-chat-sse", "anthropic-sse", loss=loss, clock=lambda: 0))
    assert b"".join(short) == b"".join(reference)
    assert b"".join(convert(short, "anthropic-sse", "openai-chat-sse", loss=loss, clock=lambda: 0)) == b"".join(home)


@pytest.mark.parametrize("unit", PIECES)
def test_all_but_the_first_ones_go_the_short_way(unit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Any] = []
    plain = ChatDecoder.plain

    def counted(self: ChatDecoder, unit: Any, name: str | None) -> Any:
        found = plain(self, unit, name)
        taken.append(found)
        return found

    monkeypatch.setattr(ChatDecoder, "plain", counted)
    assert len(list(decode(one_by_one(unit), "openai-chat-sse"))) > len(PIECES[unit])
    assert sum(found is not None for found in taken) >= len(PIECES[unit]) - 4
