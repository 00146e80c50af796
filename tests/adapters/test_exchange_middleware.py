"""The middleware by which an application of one format is asked by clients of others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.messages.documents import Q, anthropic, chat, completion, message, text
from tests.messages.streamed import STREAMS
from translate import UnsupportedFormat, assemble
from translate.adapters import ExchangeMiddleware

httpx: Any = pytest.importorskip("httpx")
pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class App:
    """An application that answers in the words of Chat."""

    def __init__(self, status: int = 200, breaks: bool = False) -> None:
        self.asked: list[Any] = []
        self._status, self._breaks = status, breaks

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = (await receive())["body"]
        document = json.loads(body) if body else {}
        self.asked.append((scope["path"], dict(scope["headers"]), document))
        stream = bool(document.get("stream")) and self._status == 200
        kind = b"text/event-stream" if stream else b"application/json"
        await send({"type": "http.response.start", "status": self._status, "headers": [(b"content-type", kind)]})
        said = completion({"content": "said"}) if self._status == 200 else {"error": {"message": "no"}}
        if not stream:
            await send({"type": "http.response.body", "body": json.dumps(said).encode()})
            return
        for piece in STREAMS["openai-chat"](said):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            if self._breaks and b"sa" in piece:
                raise RuntimeError("broken")
        await send({"type": "http.response.body", "body": b""})


def client(app: App, **options: Any) -> Any:
    served = ExchangeMiddleware(app, ["anthropic", "gemini"], "openai-chat", **options)
    transport = httpx.ASGITransport(app=served, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://here")


async def test_clients_of_other_formats_are_served_beside_its_own() -> None:
    app = App()
    async with client(app, model_map={"m": "n"}) as http:
        got = await http.post("/v1/messages?beta=true", json=anthropic(Q), headers={"x-api-key": "k"})
        assert (got.status_code, got.json()["content"], got.json()["model"]) == (200, [text("said")], "m")
        path, headers, document = app.asked[0]
        assert (path, headers[b"authorization"], document["model"]) == ("/v1/chat/completions", b"Bearer k", "n")
        assert headers[b"content-length"] == b"%d" % len(json.dumps(document, separators=(",", ":")))
        contents = {"contents": [{"role": "user", "parts": [{"text": "q"}]}]}
        got = await http.post("/v1beta/models/m:generateContent", json=contents)
        assert got.json()["candidates"][0]["content"]["parts"] == [{"text": "said"}]
        got = await http.post("/v1/chat/completions", json=chat(Q))
        assert got.json() == completion({"content": "said"})


async def test_a_stream_is_the_clients() -> None:
    async with client(App()) as http:
        got = await http.post("/v1/messages", json=anthropic(Q, stream=True))
    assert got.headers["content-type"].startswith("text/event-stream")
    assert assemble(bytes(got.content), "anthropic-sse", "anthropic")["content"] == message(text("said"))["content"]


async def test_errors_are_in_the_clients_words() -> None:
    async with client(App(429)) as http:
        got = await http.post("/v1/messages", json=anthropic(Q, stream=True))
        assert (got.status_code, got.json()["error"]["type"]) == (429, "rate_limit_error")
    app = App()
    async with client(app, max_body=1000) as http:
        lost = {"type": "document", "source": {"type": "file", "file_id": "f"}}
        got = await http.post("/v1/messages", json=anthropic({"role": "user", "content": [lost]}))
        assert (got.status_code, got.json()["error"]["type"]) == (400, "invalid_request_error")
        got = await http.post("/v1/messages", json=anthropic({"role": "user", "content": "x" * 1000}))
        assert (got.status_code, got.json()["error"]["type"]) == (413, "request_too_large")
    assert app.asked == []


async def test_an_application_that_breaks_off_never_looks_like_an_end() -> None:
    async with client(App(breaks=True)) as http:
        got = await http.post("/v1/messages", json=anthropic(Q, stream=True))
    assert b"event: error" in got.content
    assert b"message_stop" not in got.content


def test_formats_without_requests_are_refused_at_once() -> None:
    with pytest.raises(UnsupportedFormat):
        ExchangeMiddleware(App(), ["events"], "openai-chat")
