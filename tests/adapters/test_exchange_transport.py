"""The transport by which an application keeps its library, and asks a server of another format."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.messages.documents import Q, anthropic, chat, completion, message, text
from tests.messages.streamed import STREAMS

httpx: Any = pytest.importorskip("httpx")
httpx2: Any = pytest.importorskip("httpx2")
URL = "http://nowhere.example"


class Below:
    """A server in memory, and what it was asked."""

    def __init__(self, library: Any, format: str, answer: Any, status: int = 200) -> None:
        self.asked: list[Any] = []
        self._said = library, format, answer, status
        self.transport = library.MockTransport(self._answer)

    def _answer(self, request: Any) -> Any:
        library, format, answer, status = self._said
        self.asked.append(request)
        if status == 200 and json.loads(request.content).get("stream"):
            body = b"".join(STREAMS[format](answer))
            return library.Response(status, headers={"content-type": "text/event-stream"}, content=body)
        return library.Response(status, json=answer)


def transport(library: Any, below: Below, *formats: str, **options: Any) -> Any:
    from translate.adapters import httpx as first
    from translate.adapters import httpx2 as second

    made = first if library is httpx else second
    return made.ExchangeTransport(below.transport, *formats, upstream="http://up.example/v1", **options)


@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
def test_a_request_and_its_answer(library: Any) -> None:
    below = Below(library, "openai-chat", completion({"content": "said"}))
    options = {"key": "theirs", "model_map": {"m": "gpt"}}
    with library.Client(transport=transport(library, below, "anthropic", "openai-chat", **options)) as client:
        got = client.post(f"{URL}/v1/messages?beta=true", json=anthropic(Q), headers={"x-api-key": "ours"})
        assert (got.status_code, got.json()["content"], got.json()["model"]) == (200, [text("said")], "m")
        (asked,) = below.asked
        assert str(asked.url) == "http://up.example/v1/chat/completions"
        assert asked.headers["authorization"] == "Bearer theirs"
        assert "x-api-key" not in asked.headers
        assert json.loads(asked.content)["model"] == "gpt"
        with client.stream("POST", f"{URL}/v1/messages", json=anthropic(Q, stream=True)) as stream:
            body = b"".join(stream.iter_bytes())
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert body.count(b"event: message_stop") == 1


@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
@pytest.mark.anyio
async def test_the_same_asynchronously(library: Any) -> None:
    below = Below(library, "anthropic", message(text("said")))
    async with library.AsyncClient(transport=transport(library, below, "openai-chat", "anthropic")) as client:
        got = await client.post(f"{URL}/base/v1/chat/completions", json=chat(Q))
        assert got.json()["choices"][0]["message"]["content"] == "said"
        async with client.stream("POST", f"{URL}/chat/completions", json=chat(Q, stream=True)) as stream:
            body = b"".join([piece async for piece in stream.aiter_bytes()])
        assert body.endswith(b"data: [DONE]\n\n")


def test_errors_are_the_clients_own() -> None:
    below = Below(httpx, "openai-chat", {"error": {"message": "slow", "code": "rate_limit_exceeded"}}, 429)
    with httpx.Client(transport=transport(httpx, below, "anthropic", "openai-chat")) as client:
        got = client.post(f"{URL}/v1/messages", json=anthropic(Q))
        assert (got.status_code, got.json()["error"]["type"]) == (429, "rate_limit_error")
        lost = {"type": "document", "source": {"type": "file", "file_id": "f"}}
        got = client.post(f"{URL}/v1/messages", json=anthropic({"role": "user", "content": [lost]}))
        assert (got.status_code, got.json()["error"]["type"]) == (400, "invalid_request_error")
        assert client.get(f"{URL}/v1/models").status_code == 404
        assert len(below.asked) == 1


def test_the_librarys_own_clients_change_one_line() -> None:
    anthropic_sdk: Any = pytest.importorskip("anthropic")
    library = httpx2 if issubclass(anthropic_sdk.DefaultHttpxClient, httpx2.Client) else httpx
    below = Below(library, "openai-chat", completion({"content": "said"}))
    http = library.Client(transport=transport(library, below, "anthropic", "openai-chat"))
    client = anthropic_sdk.Anthropic(api_key="k", http_client=http)
    assert client.messages.create(model="m", max_tokens=9, messages=[Q]).content[0].text == "said"
