"""The vendors' own libraries for Python, ``anthropic`` and ``openai``: what each makes of a stream, in one form.

Both are read at their strictest: units are held to the types of the library, and the helpers that add up a message are
given the tools that it calls.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any, ClassVar, TypeAlias

import pytest

from tests.peers.serving import PATIENCE, odd
from tests.peers.turns import Message

anthropic: Any = pytest.importorskip("anthropic", reason="anthropic is not installed: pip install -e '.[peers]'")
openai: Any = pytest.importorskip("openai", reason="openai is not installed: pip install -e '.[peers]'")
httpx2: Any = pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[peers]'")

NOWHERE = "http://127.0.0.1:9"
"""Where a transport in memory is said to be."""
Http: TypeAlias = Any
"""A client of httpx2."""


class Claude:
    """The library ``anthropic``."""

    codec = "anthropic"
    sdk = anthropic
    clients = (anthropic.Anthropic, anthropic.AsyncAnthropic)
    base = ""
    ask: ClassVar[dict[str, Any]] = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}

    @staticmethod
    def create(client: Any) -> Any:
        """The raw units."""
        return client.messages.create(**Claude.ask, stream=True)

    @staticmethod
    def helper(client: Any) -> Any:
        """The helper that adds up the message."""
        return client.messages.stream(**Claude.ask)

    @staticmethod
    def message(found: Any) -> Message:
        """What the helper made."""
        blocks = {kind: [each for each in found.content if each.type == kind] for kind in ("thinking", "text")}
        calls = [(each.id, each.name, each.input) for each in found.content if each.type == "tool_use"]
        return Message(
            "".join(each.thinking for each in blocks["thinking"]),
            "".join(each.signature for each in blocks["thinking"]),
            "".join(each.text for each in blocks["text"]),
            calls,
            found.stop_reason,
            _counts(found.usage.to_dict()),
        )

    @staticmethod
    def whole(message: dict[str, Any]) -> Message:
        """The message of the route without streaming."""
        return Claude.message(anthropic.types.Message.construct(**message))

    @staticmethod
    def joined(units: Iterable[Any]) -> Message:
        """What the raw units add up to, by the plainest reading there is."""
        said = {"thinking": "", "signature": "", "text": ""}
        calls: dict[int, list[str]] = {}
        reason, counts = "", {}
        last = None
        for unit in units:
            last = unit.type
            if unit.type == "message_start":
                counts = unit.message.usage.to_dict()
            elif unit.type == "content_block_start" and unit.content_block.type == "tool_use":
                calls[unit.index] = [unit.content_block.id, unit.content_block.name, ""]
            elif unit.type == "content_block_delta" and unit.delta.type == "input_json_delta":
                calls[unit.index][2] += unit.delta.partial_json
            elif unit.type == "content_block_delta":
                (kind,) = said.keys() & {unit.delta.type.removesuffix("_delta")}
                said[kind] += getattr(unit.delta, kind)
            elif unit.type == "message_delta":
                reason = unit.delta.stop_reason
                counts |= {name: count for name, count in unit.usage.to_dict().items() if count is not None}
        assert last == "message_stop"
        return Message(**said, calls=_called(calls), reason=reason, counts=_counts(counts))


class Gpt:
    """The library ``openai``."""

    codec = "openai-chat"
    sdk = openai
    clients = (openai.OpenAI, openai.AsyncOpenAI)
    base = "/v1"
    ask: ClassVar[dict[str, Any]] = {"model": "m", "messages": [{"role": "user", "content": "?"}]}

    @staticmethod
    def create(client: Any) -> Any:
        """The raw units."""
        return client.chat.completions.create(**Gpt.ask, stream=True)

    @staticmethod
    def helper(client: Any) -> Any:
        """The helper that adds up the message, and parses the arguments of tools that are strict."""
        return client.chat.completions.stream(**Gpt.ask, tools=TOOLS)

    @staticmethod
    def message(found: Any) -> Message:
        """What the helper made, which has parsed the arguments."""
        for call in found.choices[0].message.tool_calls or ():
            assert call.function.parsed_arguments == json.loads(call.function.arguments)
        return Gpt._message(found)

    @staticmethod
    def whole(message: dict[str, Any]) -> Message:
        """The message of the route without streaming."""
        return Gpt._message(openai.types.chat.ChatCompletion.construct(**message))

    @staticmethod
    def _message(found: Any) -> Message:
        (choice,) = found.choices
        said = choice.message
        return Message(
            getattr(said, "reasoning_content", "") or getattr(said, "reasoning", ""),
            _signature(getattr(said, "reasoning_details", [])),
            said.content or "",
            [(each.id, each.function.name, _value(each.function.arguments)) for each in said.tool_calls or ()],
            choice.finish_reason,
            (found.usage.prompt_tokens, found.usage.completion_tokens) if found.usage else (0, 0),
        )

    @staticmethod
    def joined(units: Iterable[Any]) -> Message:
        """What the raw units add up to, by the plainest reading there is."""
        said = dict.fromkeys(("reasoning_content", "reasoning", "content"), "")
        details: list[Any] = []
        calls: dict[int, list[str]] = {}
        reason, counts = "", (0, 0)
        for unit in units:
            for choice in unit.choices:
                reason = choice.finish_reason or reason
                details += getattr(choice.delta, "reasoning_details", [])
                for member in said:
                    said[member] += getattr(choice.delta, member, None) or ""
                for piece in choice.delta.tool_calls or ():
                    call = calls.setdefault(piece.index, [piece.id, piece.function.name, ""])
                    call[2] += piece.function.arguments
            if unit.usage:
                counts = (unit.usage.prompt_tokens, unit.usage.completion_tokens)
        thinking = said["reasoning_content"] or said["reasoning"]
        return Message(thinking, _signature(details), said["content"], _called(calls), reason, counts)


def _tool(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "strict": True, "parameters": parameters}}


TOOLS = [_tool(name) for name in ("find_concert", "get_weather", "f")]
VENDORS: dict[str, Any] = {"anthropic": Claude, "openai": Gpt}


def _counts(usage: dict[str, Any]) -> tuple[int, int]:
    """All tokens of the prompt, which the count itself leaves those of the cache out of, and of the answer."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(usage.get(name) or 0 for name in names), usage["output_tokens"]


def _called(calls: dict[int, list[str]]) -> list[tuple[str, str, Any]]:
    return [(id, name, _value(text or "{}")) for id, name, text in calls.values()]


def _value(text: str) -> Any:
    """The arguments; those of a call that was cut as the text that came."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _signature(details: list[Any]) -> str:
    return "".join(each.get("signature") or "" for each in details)


# ---- their clients ---------------------------------------------------------------------------------------


def answering(body: bytes, *, pieces: bool = True) -> Any:
    """A transport in memory that answers every request with the stream, cut oddly or whole."""

    class Body(httpx2.SyncByteStream, httpx2.AsyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            yield from odd(body) if pieces else [body]

        async def __aiter__(self) -> AsyncIterator[bytes]:
            for piece in self:
                yield piece

    head = {"content-type": "text/event-stream"}
    return httpx2.MockTransport(lambda request: httpx2.Response(200, headers=head, stream=Body()))


def read(vendor: Any, transport: Any, *, helper: bool, url: str = NOWHERE, strict: bool = True) -> Message:
    """What the library makes of the answer to one question."""
    with httpx2.Client(transport=transport, trust_env=False, timeout=PATIENCE) as http:
        client = _client(vendor, 0, http, url, strict)
        if not helper:
            with vendor.create(client) as units:
                return vendor.joined(units)  # type: ignore[no-any-return]
        with vendor.helper(client) as stream:
            for _ in stream:
                pass
            return vendor.message(_final(stream))  # type: ignore[no-any-return]


async def aread(vendor: Any, transport: Any, *, helper: bool, url: str = NOWHERE) -> Message:
    """The same of the asynchronous client."""
    async with httpx2.AsyncClient(transport=transport, trust_env=False, timeout=PATIENCE) as http:
        client = _client(vendor, 1, http, url, True)
        if not helper:
            async with await vendor.create(client) as units:
                return vendor.joined([unit async for unit in units])  # type: ignore[no-any-return]
        async with vendor.helper(client) as stream:
            async for _ in stream:
                pass
            return vendor.message(await _final(stream))  # type: ignore[no-any-return]


def _client(vendor: Any, colour: int, http: Http, url: str, strict: bool) -> Any:
    options = {"max_retries": 0, "_strict_response_validation": strict}
    return vendor.clients[colour](api_key="none", base_url=f"{url}{vendor.base}", http_client=http, **options)


def _final(stream: Any) -> Any:
    return (getattr(stream, "get_final_message", None) or stream.get_final_completion)()
