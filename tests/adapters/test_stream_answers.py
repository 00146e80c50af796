"""What a response passes on of an upstream's answer, what middleware around it sees, and how what runs is drained."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from tests.adapters.calling import Call
from tests.adapters.test_stream_response import CLIENTS, OUT, THEIRS, TURN, Reply, asked, unit
from tests.sources import AsyncSource, Boom
from translate import UpstreamFailure
from translate.adapters import Running, StreamResponse

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("client", CLIENTS)
async def test_fields_of_the_upstream_go_with_a_stream_but_for_those_of_its_content(client: str) -> None:
    own = {"content-type": "text/event-stream", "etag": "x", "content-length": str(len(TURN)), "cache-control": "p"}
    kept = {"request-id": "r", "x-ratelimit-remaining-requests": "9"}
    call, _ = await asked(Reply(client, 200, {**own, **kept, **THEIRS}, TURN).opened)
    assert call.body == OUT
    fields = {name.decode(): value.decode() for name, value in call.head["headers"]}
    ours = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache, no-transform"}
    assert fields == {**kept, **ours, "x-accel-buffering": "no"}


SAID: list[tuple[str, bytes, str, str | None]] = [
    ("application/json", b'{"error": {"message": "slow down", "type": "limited"}}', "slow down", "limited"),
    ("application/json", b'[{"error": {"code": 429, "message": "slow", "status": "EXHAUSTED"}}]', "slow", "EXHAUSTED"),
    ("application/json", b'{"success": false, "message": "slow down"}', "slow down", None),
    ("application/json", b'{"error": "slow down"}', "slow down", None),
    ("text/plain; charset=utf-8", b"slow down\n", "slow down", None),
    ("text/html", b"<p>slow", "the upstream gave no stream", None),
    ("application/json", b'{"error": {"message": "' + b"x" * 20_000, "the upstream gave no stream", None),
    ("", b"", "the upstream gave no stream", None),
]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(("kind", "body", "message", "name"), SAID)
async def test_after_a_keep_alive_the_failure_says_what_the_upstream_says(
    client: str, kind: str, body: bytes, message: str, name: str | None
) -> None:
    reply = Reply(client, 429, {"content-type": kind, "retry-after": "7"}, body)

    async def late() -> Any:
        await anyio.sleep(0.2)
        return await reply.opened()

    call, stats = await asked(late, ping=0.05)
    assert (call.status, stats.outcome, reply.closed) == (200, "failed", True)
    assert isinstance(stats.failure, UpstreamFailure)
    assert (stats.failure.code, stats.failure.message, stats.failure.kind) == (429, message, name)
    assert stats.failure.details == {"retry_after": "7"}
    assert (unit(call.body)["code"], unit(call.body)["message"]) == (429, message)


# ---- around it, and at the end -----------------------------------------------------------------------------


@pytest.mark.parametrize("begun", [False, True])
async def test_middleware_around_it_sees_no_error_where_a_client_leaves_early(begun: bool) -> None:
    pytest.importorskip("starlette", reason="starlette is not installed")
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.base import BaseHTTPMiddleware
    from starlette.routing import Route

    from translate.adapters.starlette import StreamResponse as Response

    made: list[Response] = []

    async def passes(request: Any, call_next: Any) -> Any:
        return await call_next(request)

    async def route(request: Any) -> Response:
        said = [TURN[:1000]] if begun else []
        made.append(Response(AsyncSource(*said, anyio.sleep_forever), "unievent-sse", "gateway-sse"))
        return made[-1]

    app = Starlette(routes=[Route("/", route)], middleware=[Middleware(BaseHTTPMiddleware, dispatch=passes)])
    call = Call()
    sent: list[Any] = []

    async def send(message: Any) -> None:
        # as servers do with what is for one that has left
        sent.append(message)

    async with anyio.create_task_group() as group:
        group.start_soon(app, call.scope, call.receive, send)
        while not made:
            await anyio.sleep(0.01)
        await anyio.sleep(0.05)
        call.leave()
    assert made[0].pump is not None
    assert made[0].pump.stats.outcome == "disconnected"
    assert [message.get("more_body") for message in sent] == [None, *([True] * begun), False]


async def test_an_end_follows_what_was_not_taken_where_the_client_has_left() -> None:
    call, sent, full = Call(), [], anyio.Event()

    async def send(message: Any) -> None:
        sent.append(message.get("more_body"))
        if message.get("body") and not full.is_set():
            full.set()
            await anyio.sleep_forever()

    answer = StreamResponse(AsyncSource(TURN, anyio.sleep_forever), "unievent-sse", "gateway-sse")
    async with anyio.create_task_group() as group:
        group.start_soon(answer, call.scope, call.receive, send)
        await full.wait()
        call.leave()
    assert sent == [None, True, False]


async def test_the_status_code_is_what_was_sent() -> None:
    pytest.importorskip("starlette", reason="starlette is not installed")
    from translate.adapters.starlette import StreamResponse as Response

    for items, status in (([TURN], 200), ([Boom("x")], 502)):
        made = Response(AsyncSource(*items), "unievent-sse", "gateway-sse")
        call = await Call().run(made)
        assert (made.status_code, call.status) == (status, status)


async def test_what_runs_can_be_drained() -> None:
    running = Running()

    async def ends() -> bytes:
        await anyio.sleep(0.2)
        return TURN[1000:]

    async def later(items: list[Any], found: list[Call]) -> None:
        found.append((await asked(AsyncSource(*items), running=running))[0])

    quick: list[Call] = []
    slow: list[Call] = []
    async with anyio.create_task_group() as group:
        group.start_soon(later, [TURN[:1000], ends], quick)
        group.start_soon(later, [TURN[:1000], anyio.sleep_forever], slow)
        while len(running) < 2:
            await anyio.sleep(0.01)
        await running.drain(0.6)
        assert len(running) == 0
    assert quick[0].body == OUT
    assert (unit(slow[0].body)["code"], slow[0].status) == (503, 200)
    refused, stats = await asked(AsyncSource(TURN), running=running)
    assert (refused.status, stats.outcome) == (503, "stopped")
