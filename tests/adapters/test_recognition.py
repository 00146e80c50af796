"""Which answers are streams, who may say so, and what is said of those that only seem to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.adapters.calling import Call
from tests.adapters.sidecars import answers, ask, request, sidecar, until, upstream
from tests.adapters.test_stream_response import OUT, TURN, Reply, asked
from translate.adapters import TranslateMiddleware, media
from translate.adapters.media import of_types

OCTETS = {"content-type": "application/octet-stream"}
STREAM = {"content-type": "text/event-stream"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    media.warned.clear()
    yield
    media.warned.clear()


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if "passes as it is" in each.getMessage()]


@pytest.mark.anyio
@pytest.mark.parametrize(("status", "head"), [(200, OCTETS), (201, STREAM), (200, {})])
async def test_what_seems_to_be_a_stream_and_passes_is_warned_of_once(
    status: int, head: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        call, stats = await asked(Reply("httpx2", status, head, TURN).opened)
        assert (call.status, call.body, stats.outcome) == (status, TURN, "passed")
    (line,) = told(caplog)
    assert f"status {status} and media type {head.get('content-type', 'none that is known')} passes" in line


@pytest.mark.anyio
@pytest.mark.parametrize(("status", "head"), [(204, {}), (400, OCTETS), (302, STREAM), (500, STREAM)])
async def test_what_is_no_success_is_not_warned_of(
    status: int, head: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    await asked(Reply("httpx2", status, head, b"").opened)
    assert told(caplog) == []


@pytest.mark.anyio
async def test_a_type_that_says_something_else_is_not_repeated(caplog: pytest.LogCaptureFixture) -> None:
    await asked(Reply("httpx2", 200, {"content-type": "secret/x y"}, b"").opened)
    assert "secret" not in caplog.text


@pytest.mark.anyio
async def test_who_knows_better_can_say_what_is_a_stream(caplog: pytest.LogCaptureFixture) -> None:
    streams = of_types(["Application/Octet-Stream", "text/event-stream"])
    for status, head in ((200, OCTETS), (201, STREAM)):
        call, stats = await asked(Reply("httpx2", status, head, TURN).opened, streams=streams)
        assert (call.status, call.body, stats.outcome) == (200, OUT, "finished")
    call, _ = await asked(Reply("httpx2", 404, STREAM, TURN).opened, streams=streams)
    assert (call.status, call.body) == (404, TURN)
    assert told(caplog) == []


@pytest.mark.anyio
async def test_the_middleware_says_and_can_be_told_the_same(caplog: pytest.LogCaptureFixture) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        fields = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 201, "headers": fields})
        await send({"type": "http.response.body", "body": TURN})

    for _ in range(2):
        call = await Call().run(TranslateMiddleware(app, "unievent-sse", "gateway-sse"))
        assert (call.status, call.body) == (201, TURN)
    assert len(told(caplog)) == 1
    streams = of_types(["text/event-stream"])
    call = await Call().run(TranslateMiddleware(app, "unievent-sse", "gateway-sse", streams=streams, clock=lambda: 0))
    assert (call.status, call.body[:40]) == (200, OUT[:40])


@pytest.mark.anyio
async def test_a_transport_can_be_told(caplog: pytest.LogCaptureFixture) -> None:
    import httpx2

    from translate.adapters.httpx2 import TranslateTransport

    def answer(_: Any) -> Any:
        return httpx2.Response(201, headers=STREAM, content=TURN)

    for streams, body in ((None, TURN), (of_types(["text/event-stream"]), OUT)):
        transport = TranslateTransport(httpx2.MockTransport(answer), "unievent-sse", "gateway-sse", streams=streams)
        async with httpx2.AsyncClient(transport=transport) as client:
            assert (await client.get("http://x")).content[:40] == body[:40]
    assert len(told(caplog)) == 1


def test_the_sidecar_does_and_can_be_told() -> None:
    says = answers(TURN, status=b"201 Created", kind=b"application/octet-stream")
    formats = {"src": "unievent-sse", "dst": "gateway-sse"}
    asks = request("/x", method="POST", body=b'{"stream": true}')
    with upstream(says) as up:
        with sidecar(up.url, **formats) as made:
            assert [ask(made.port, asks).body for _ in range(2)] == [TURN, TURN]
            until(lambda: "media type application/octet-stream passes" in made.log)
            assert made.log.count("passes as it is") == 1
        with sidecar(up.url, "--stream-type", "application/octet-stream", **formats) as made:
            assert ask(made.port, asks).body == OUT
