"""The matrix of pairs: what is told of recordings that the test makes itself."""

from __future__ import annotations

from pathlib import Path

from benchmarks.turns import anthropic, chat, chat_sse, named_sse
from benchmarks.work import turn
from tests.matrix import FORMATS, content, pair, table
from translate import decode


def test_a_turn_is_seen_whole_and_costs_a_carry() -> None:
    stream = b"".join(named_sse(anthropic(turn(30))))
    want = content(decode([stream], "anthropic-sse"))
    assert [part[0] for part in want] == ["thinking", "text", "tool_call", "tool_call"]
    found = pair(stream, "anthropic-sse", "openai-chat-sse", want)
    assert found is not None
    assert found.seen
    assert found.carry > 0
    assert found.units > 30
    # what is not the same is not told to be
    told = pair(stream, "anthropic-sse", "openai-chat-sse", want[1:])
    assert told is not None
    assert not told.seen


def test_the_table(tmp_path: Path) -> None:
    for format, stream in (("anthropic", named_sse(anthropic(turn(30)))), ("openai-chat", chat_sse(chat(turn(30))))):
        (tmp_path / format).mkdir()
        (tmp_path / format / "a.sse").write_bytes(b"".join(stream))
    (tmp_path / "openai-chat" / "cut.sse").write_bytes(b'data: {"choices": []}\n\n')
    head, _, *rows = table(tmp_path)
    assert head.count("|") == len(FORMATS) + 2
    assert [row.split("|")[1].strip() for row in rows] == ["anthropic, 1", "openai-chat, 1"]
    assert all(row.count("100 %") == len(FORMATS) - 1 for row in rows)
