"""The provider's own Python library reads what is written of Gemini and its Interactions, with carries and without."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from translate import Append, Close, Finish, Open, Reason, TokenCounts, assemble, convert, encode
from translate.algebra.events import Event, Failure, Handover, Model, Ping, State

genai: Any = pytest.importorskip("google.genai", reason="google-genai is not installed: pip install -e '.[peers]'")
TURN = (Path(__file__).parents[2] / "examples" / "claude-turn.unievent.sse").read_bytes()
AWKWARD: list[Event] = [
    *(Ping(), Open("thinking"), Append("T", State("google", {"signature": "AAAA"})), Close()),
    *(Open("thinking"), Append("U", State("anthropic", {"signature": "no base64!"})), Close()),
    *(Open("text"), Append("é\u2028 "), Append(""), Handover(Model("m")), Ping()),
    *(Open("refusal"), Append("no"), Close()),
    *(Open("tool_call", None, "f"), Append('{"a": [1.5, null]}'), Close()),
    *(Open("inline_data", mime_type="image/png"), Append(b"\x00"), Append(b"\x01"), Close()),
    Finish(TokenCounts(9, 4, 1, 2), Reason("pause")),
]
BROKEN: list[Event] = [Open("text"), Append("Hi"), Failure(429, "slow")]


def client(body: bytes) -> Any:
    """A client of the library that is answered with these bytes."""
    httpx: Any = pytest.importorskip("httpx")

    def answer(request: Any) -> Any:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body)

    transport = httpx.MockTransport(answer)
    options = genai.types.HttpOptions(
        httpx_client=httpx.Client(transport=transport), httpx_async_client=httpx.AsyncClient(transport=transport)
    )
    return genai.Client(api_key="x", http_options=options)


def chunks(body: bytes) -> list[Any]:
    """What the library makes of chunks."""
    read = client(body).models.generate_content_stream(model="m", contents="q")
    return [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in read]


def chunks_async(body: bytes) -> list[Any]:
    """The same, asynchronously."""

    async def read() -> list[Any]:
        stream = await client(body).aio.models.generate_content_stream(model="m", contents="q")
        return [each.model_dump(mode="json", by_alias=True, exclude_none=True) async for each in stream]

    return asyncio.run(read())


def events(body: bytes) -> list[Any]:
    """What the library makes of events of Interactions."""
    read = client(body).interactions.create(model="m", input="q", stream=True)
    return [each.model_dump(mode="json", by_alias=True, exclude_unset=True) for each in read]


@pytest.mark.parametrize("loss", ["carry", "drop"])
@pytest.mark.parametrize(
    ("codec", "read"),
    [("gemini", chunks), ("gemini", chunks_async), ("gemini-interactions", events)],
    ids=["chunks", "chunks, async", "interactions"],
)
@pytest.mark.parametrize("stream", ["turn", "awkward"])
def test_the_library_reads_what_is_meant(codec: str, read: Callable[[bytes], Any], loss: Any, stream: str) -> None:
    format = f"{codec}-sse"
    if stream == "turn":
        body = b"".join(convert(TURN, "unievent-sse", format, loss=loss))
    else:
        body = b"".join(encode(AWKWARD, format, loss=loss))
    seen = [{key: value for key, value in unit.items() if key != "carry"} for unit in read(body)]
    plain = b"".join(encode(AWKWARD, format, loss="drop")) if stream == "awkward" else b""
    plain = plain or b"".join(convert(TURN, "unievent-sse", format, loss="drop"))
    assert len(seen) == plain.count(b"data: {")
    # read back, what the library saw is the same message
    again = json.loads(json.dumps(seen))
    for unit in again:
        unit.pop("sdkHttpResponse", None)
    assert assemble(again, codec, codec) == assemble(plain, format, codec)


@pytest.mark.parametrize("loss", ["carry", "drop"])
def test_the_library_raises_what_failed(loss: Any) -> None:
    with pytest.raises(genai.errors.APIError, match="slow") as caught:
        chunks(b"".join(encode(BROKEN, "gemini-sse", loss=loss)))
    assert caught.value.code == 429
