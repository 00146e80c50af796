"""One turn in the words of four formats, which libraries that know nothing of each other are to read alike."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.codecs import anthropic_streams as ant
from tests.codecs import chat_streams as chat
from tests.peers.scripts import SIGNATURE, gateway
from translate import convert


class Message(NamedTuple):
    """What a library makes of a stream: texts joined, the last signature, calls as id, name and arguments."""

    thinking: str
    signature: str
    text: str
    calls: list[tuple[str, str, Any]]
    reason: str
    counts: tuple[int, int]


CALLS = [("toolu_1", "find_concert", {"title": "Orléans", "id": 9007199254740993, "max": 24.5})]
CALLS += [("toolu_2", "get_weather", {})]
SAID = Message("Let me check théâtre", SIGNATURE, "I'll look it up. 🌍", CALLS, "", (2345, 187))
"""What the turn says in every format, but for the word of its reason."""
ARGUMENTS = '{"title":  "Orl\\u00e9ans", "id": 9007199254740993, "max": 24.50}'


def _of_anthropic() -> bytes:
    counts = {"input_tokens": 2000, "cache_creation_input_tokens": 45, "cache_read_input_tokens": 300}
    return ant.sse(
        [
            ant.start({**counts, "output_tokens": 1}, model="claude-sonnet-5"),
            ant.block(0, "thinking"),
            ant.PING,
            *(ant.thinks(0, piece) for piece in ("Let me", " check ", "théâtre")),
            ant.signed(0, SIGNATURE),
            ant.stop(0),
            ant.block(1, "text"),
            *(ant.text(1, piece) for piece in ("I'll look ", "it ", "up. 🌍")),
            ant.stop(1),
            ant.block(2, "tool_use", id="toolu_1", name="find_concert"),
            *(ant.args(2, ARGUMENTS[at : at + 9]) for at in range(0, len(ARGUMENTS), 9)),
            ant.stop(2),
            ant.block(3, "tool_use", id="toolu_2", name="get_weather"),
            ant.stop(3),
            ant.end("tool_use", 187),
            ant.STOP,
        ]
    )


def _of_chat() -> bytes:
    """Its calls interleave, and it thinks in the words of OpenRouter."""
    first, second = ARGUMENTS[:20], ARGUMENTS[20:]
    usage = {"prompt_tokens": 2345, "completion_tokens": 187, "total_tokens": 2532}
    return chat.sse(
        [
            chat.S,
            *(chat.say(reasoning=piece) for piece in ("Let me", " check ", "théâtre")),
            chat.say(reasoning_details=[chat.detail("text", "anthropic-claude-v1", signature=SIGNATURE)]),
            *(chat.say(content=piece) for piece in ("I'll look ", "it ", "up. 🌍")),
            chat.call(0, "toolu_1", "find_concert", ""),
            chat.more(0, first),
            chat.call(1, "toolu_2", "get_weather", ""),
            chat.more(0, second),
            chat.end("tool_calls"),
            {**chat.HEAD, "choices": [], "usage": usage},
        ]
    )


TURN = {
    "gateway-sse": gateway("turn"),
    "unievent-sse": b"".join(convert(gateway("turn"), "gateway-sse", "unievent-sse", loss="drop")),
    "anthropic-sse": _of_anthropic(),
    "openai-chat-sse": _of_chat(),
}
"""The same turn in the words of each format."""
FAILS = {
    "anthropic-sse": ant.sse([ant.S, ant.block(0, "text"), ant.text(0, "x"), ant.fails("overloaded_error", "busy")]),
    "openai-chat-sse": chat.sse(
        [chat.S, chat.say(content="x"), {"error": {"message": "busy", "code": 503}}], done=False
    ),
}
"""A text, and an error in it."""
CUTS = {"anthropic-sse": _of_anthropic()[:-300], "openai-chat-sse": _of_chat()[:-300]}
