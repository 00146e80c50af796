"""Units that a stream repeats with other values in them go the short way, and mean and come home as by the long one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.codecs.chat_streams import DONE, S, U, chunk, detail, end, sse
from tests.codecs.gemini_streams import chunk as gemini_chunk
from tests.codecs.gemini_streams import text as gemini_text
from tests.run_streams import the_long_way
from translate import Usage, convert, decode
from translate_codecs.gemini.decoder import GeminiDecoder
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


# ---- Gemini: the counts move -----------------------------------------------------------------------------

COUNTS = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "cachedContentTokenCount")


@st.composite
def counted(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A stream whose chunks say one text part each, under counts that mostly grow, and add up."""
    names = draw(st.lists(st.sampled_from(COUNTS), unique=True, min_size=1))
    thought = draw(st.booleans())
    details = draw(st.sampled_from([{}, {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1}]}]))
    now = {name: draw(st.integers(0, 3)) for name in names}
    units = []
    for word in draw(st.lists(st.sampled_from(["a", "b", "é", "3", ""]), min_size=2, max_size=8)):
        now = {name: count + draw(st.sampled_from([0, 0, 1, 2, -1])) for name, count in now.items()}
        total = sum(count for name, count in now.items() if not name.startswith("cached"))
        usage = {**now, "totalTokenCount": total + draw(st.sampled_from([0, 0, 0, 1])), **details}
        if draw(st.integers(0, 5)) == 0:
            usage.pop(names[0])
        units.append(gemini_chunk(gemini_text(word, thought=thought), usage=usage))
    return [*units, gemini_chunk(gemini_text("."), reason="STOP")]


@settings(deadline=None)
@given(counted(), st.sampled_from(["openai-chat-sse", "anthropic-sse", "events-jsonl", "gateway-sse"]))
def test_counts_go_as_by_the_long_way(units: list[dict[str, Any]], other: str) -> None:
    source = [b"data: " + json.dumps(unit).encode() + b"\n\n" for unit in units]
    with the_long_way():
        reference = list(decode(source, "gemini-sse"))
    assert list(decode(source, "gemini-sse")) == reference
    there = list(convert(source, "gemini-sse", other, clock=lambda: 0))
    assert list(convert(there, other, "gemini")) == units


def test_chunks_of_one_text_go_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = [{"promptTokenCount": 3, "candidatesTokenCount": n, "totalTokenCount": 3 + n} for n in range(2, 12)]
    units = [gemini_chunk(gemini_text("word"), usage=usage) for usage in counts]
    read: list[Any] = []
    long = GeminiDecoder.read

    def seen(self: GeminiDecoder, unit: Any, name: str | None) -> Any:
        read.append(unit)
        return long(self, unit, name)

    monkeypatch.setattr(GeminiDecoder, "read", seen)
    monkeypatch.setattr(GeminiDecoder, "plain", GeminiDecoder.plain)
    source = [b"data: " + json.dumps(unit).encode() + b"\n\n" for unit in units]
    said = list(decode([*source, b'data: {"candidates": [{"finishReason": "STOP"}]}\n\n'], "gemini-sse"))
    # the first, the one that shows what repeats, and the end
    assert [read.index(unit) for unit in read] == list(range(len(read)))
    assert len(read) == 3
    assert sum(type(event) is Usage for event in said) == len(units)
