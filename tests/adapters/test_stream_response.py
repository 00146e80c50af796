"""The response: what it sends, of which sources, and what becomes of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from tests.adapters.calling import Call
from tests.peers.scripts import EXAMPLES, FRAMES, NOW, gateway
from tests.sources import AsyncSource, Boom
from tests.wire import blocks, failed
from translate import StreamTimeout, UnknownFormat, convert
from translate.adapters import Observer, Stats, StreamResponse, Timeouts

pytestmark = pytest.mark.anyio
TURN = (EXAMPLES / "claude-turn.unievent.sse").read_bytes()
OUT = b"".join(convert(TURN, "unievent-sse", "gateway-sse"))


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Last(Observer):
    """Keeps the figures of the last stream."""

    stats: Stats

    def on_end(self, stats: Stats) -> None:
        self.stats = stats


def response(source: Any, src: str = "unievent-sse", dst: str = "gateway-sse", **options: Any) -> StreamResponse:
    return StreamResponse(source, src, dst, clock=lambda: NOW, **options)


async def asked(source: Any, *, full: int = 1 << 30, **options: Any) -> tuple[Call, Stats]:
    last = Last()
    call = await Call(full=full).run(response(source, observer=last, **options))
    return call, last.stats


def unit(body: bytes) -> Any:
    """The last unit of an event stream."""
    return json.loads(body.rpartition(b"\ndata: ")[2])


# ---- sources ---------------------------------------------------------------------------------------------


async def test_a_stream_arrives_with_a_head_of_its_own() -> None:
    source = AsyncSource(TURN[:1000], TURN[1000:])
    call, stats = await asked(source)
    assert (call.status, call.body, call.complete) == (200, OUT, True)
    assert call.head["headers"] == [
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"cache-control", b"no-cache, no-transform"),
        (b"x-accel-buffering", b"no"),
    ]
    assert source.log == ["aclose"]
    assert (stats.outcome, stats.bytes_out) == ("finished", len(OUT))


async def test_a_source_of_objects() -> None:
    call, _ = await asked(AsyncSource(*convert(TURN, "unievent-sse", "unievent")), src="unievent")
    assert call.body == b"".join(convert(TURN, "unievent", "gateway-sse"))


async def test_json_lines_are_called_so() -> None:
    call, _ = await asked(AsyncSource(TURN), dst="gateway-jsonl")
    assert call.fields(b"content-type") == [b"application/x-ndjson"]
    assert len(call.body.splitlines()) == len([*convert(TURN, "unievent-sse", "gateway")])


async def test_what_opens_a_source_is_asked_within_the_stream() -> None:
    source = AsyncSource(TURN)

    async def opens() -> Any:
        return source

    answer = response(opens)
    assert source.asked == 0
    assert (await Call().run(answer)).body == OUT
    assert source.log == ["aclose"]


async def test_what_opens_a_source_can_answer_many_requests() -> None:
    async def opens() -> Any:
        return AsyncSource(TURN)

    answer = response(opens)
    assert [(await Call().run(answer)).body for _ in range(2)] == [OUT, OUT]


# ---- responses of clients ----------------------------------------------------------------------------------


class Reply:
    """A transport of either client that answers one thing, and whether that was closed."""

    def __init__(self, name: str, status: int, headers: dict[str, str], body: bytes) -> None:
        self.library = library = pytest.importorskip(name, reason=f"{name} is not installed")
        self.closed = False
        reply = self

        class Body(library.AsyncByteStream):  # type: ignore[misc, name-defined]
            async def __aiter__(self) -> AsyncIterator[bytes]:
                for at in range(0, len(body), 100):
                    yield body[at : at + 100]

            async def aclose(self) -> None:
                reply.closed = True

        self.transport = library.MockTransport(lambda _: library.Response(status, headers=headers, stream=Body()))

    async def opened(self) -> Any:
        client = self.library.AsyncClient(transport=self.transport)
        return await client.send(client.build_request("POST", "http://upstream/"), stream=True)


CLIENTS = ["httpx", "httpx2"]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
async def test_a_response_of_a_client_is_a_source(client: str, encoding: str) -> None:
    body = gzip.compress(TURN) if encoding == "gzip" else TURN
    headers = {"content-type": "text/event-stream", "content-encoding": encoding, "content-length": str(len(body))}
    reply = Reply(client, 200, {**headers, "set-cookie": "theirs=1"}, body)
    call = await Call().run(response(await reply.opened()))
    assert (call.status, call.body, reply.closed) == (200, OUT, True)
    assert [name for name, _ in call.head["headers"]] == [b"content-type", b"cache-control", b"x-accel-buffering"]


THEIRS = {
    **{"set-cookie": "theirs=1", "connection": "close, x-hop", "x-hop": "1", "server": "theirs", "date": "then"},
    **{"access-control-allow-origin": "*", "x-accel-redirect": "/secret", "strict-transport-security": "max-age=9"},
}
"""Fields of the connection, and of the origin, which are not passed on."""


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("status", "kind", "more"),
    [
        (200, "application/json", {}),
        (429, "text/event-stream", {"retry-after": "7"}),
        (400, "application/json", {"x-request-id": "r", "cache-control": "no-store"}),
        (401, "application/json", {"www-authenticate": "Bearer"}),
        (302, "text/html", {"location": "/elsewhere"}),
        (503, "", {}),
    ],
)
async def test_what_is_no_stream_passes_as_it_is(client: str, status: int, kind: str, more: dict[str, str]) -> None:
    retry = {"retry-after-ms": "70", "x-should-retry": "true", "x-ratelimit-remaining-requests": "0", "request-id": "r"}
    more = {**more, **retry}
    body = gzip.compress(b'{"error": "\xe9"}')
    head = {**({"content-type": kind} if kind else {}), "content-encoding": "gzip", "content-length": str(len(body))}
    reply = Reply(client, status, {**head, **more, **THEIRS}, body)
    last = Last()
    answer = response(reply.opened, headers={"X-Ours": "1", "Content-Type": "text/event-stream"}, observer=last)
    call = await Call().run(answer)
    assert (call.status, call.body, reply.closed) == (status, body, True)
    expected = {**({"content-type": "text/event-stream"} if not kind else {}), **head, **more, "x-ours": "1"}
    assert dict(call.head["headers"]) == {name.encode(): value.encode() for name, value in expected.items()}
    assert last.stats.outcome == "passed"


# ---- failures --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "status", "outcome"),
    [
        ([Boom("secret")], 502, "cut"),
        ([], 502, "cut"),
        ([b"data: secret\n\n"], 502, "broken"),
        ([anyio.sleep_forever], 504, "timed out"),
        ([blocks([failed(429, "Slow down")])], 429, "failed"),
        ([blocks([failed(7, "Odd")])], 502, "failed"),
    ],
)
async def test_a_failure_before_the_first_unit_is_a_status(items: list[Any], status: int, outcome: str) -> None:
    source = AsyncSource(*items)
    options: Any = {"src": "gateway-sse", "dst": "unievent-sse", "timeouts": Timeouts(first=0.05)}
    call, stats = await asked(source, headers=[("Set-Cookie", "a=1"), ("set-cookie", "b=2")], **options)
    assert (call.status, call.complete, stats.outcome) == (status, True, outcome)
    assert call.fields(b"content-type") == [b"application/json"]
    assert call.fields(b"content-length") == [str(len(call.body)).encode()]
    assert call.fields(b"set-cookie") == [b"a=1", b"b=2"]
    assert json.loads(call.body)["error"]["status"] == (7 if b"Odd" in call.body else status)
    assert b"secret" not in call.body
    assert source.log == ["aclose"]


async def test_a_failure_while_opening_is_a_status() -> None:
    async def opens() -> Any:
        raise ConnectionRefusedError("10.0.0.7")

    call, stats = await asked(opens)
    assert (call.status, stats.outcome) == (502, "cut")
    assert json.loads(call.body)["success"] is False
    assert b"10.0.0.7" not in call.body


@pytest.mark.parametrize("end", [[Boom()], [], [b"data: {\n\n"], [anyio.sleep_forever]])
async def test_a_later_failure_is_the_last_unit(end: list[Any]) -> None:
    source = AsyncSource(TURN[:1000], *end)
    call, stats = await asked(source, timeouts=Timeouts(idle=0.05))
    assert (call.status, call.complete) == (200, True)
    assert unit(call.body)["success"] is False
    assert b"streamStart" in call.body
    assert stats.outcome in ("cut", "broken", "timed out")
    assert source.log == ["aclose"]


async def test_a_failure_after_a_keep_alive_is_a_unit() -> None:
    call, _ = await asked(AsyncSource(b": hello\n\n", Boom()))
    assert (call.status, call.complete) == (200, True)
    assert call.body.startswith(b": keep-alive\n\n")
    assert unit(call.body)["success"] is False


async def test_a_stream_that_is_complete_is_so_whatever_comes_after() -> None:
    call, _ = await asked(AsyncSource(TURN, Boom()))
    assert (call.body, call.complete) == (OUT, True)


# ---- clients that leave ----------------------------------------------------------------------------------


@pytest.mark.parametrize("items", [[], [TURN[:1000]]])
async def test_a_client_that_leaves_cancels_the_source(items: list[bytes]) -> None:
    call, waits, cancelled = Call(), anyio.Event(), []

    async def wait() -> None:
        waits.set()
        try:
            await anyio.sleep_forever()
        except BaseException as error:
            cancelled.append(type(error) is anyio.get_cancelled_exc_class())
            raise

    source, last = AsyncSource(*items, wait), Last()
    async with anyio.create_task_group() as group:
        group.start_soon(call.run, response(source, observer=last))
        with anyio.fail_after(20):
            await waits.wait()
        call.leave()
    assert (cancelled, source.log, last.stats.outcome) == ([True], ["aclose"], "disconnected")
    assert bool(call.sent) is bool(items)


async def test_a_client_that_leaves_cancels_the_opening() -> None:
    call, last = Call(), Last()

    async def opens() -> Any:
        call.leave()
        await anyio.sleep_forever()

    await call.run(response(opens, observer=last))
    assert (call.sent, last.stats.outcome) == ([], "disconnected")


@pytest.mark.parametrize("full", [0, 1, 2])
async def test_a_server_that_takes_no_more_ends_the_stream(full: int) -> None:
    source = AsyncSource(TURN[:1000], TURN[1000:1500], TURN[1500:])
    call, stats = await asked(source, full=full)
    assert (len(call.sent), source.log, stats.outcome) == (full, ["aclose"], "disconnected")


@pytest.mark.parametrize("items", [[TURN], [Boom()]])
async def test_a_client_that_leaves_before_the_last_piece_is_no_error(items: list[Any]) -> None:
    whole, _ = await asked(AsyncSource(*items))
    call, stats = await asked(AsyncSource(*items), full=len(whole.sent) - 1)
    assert not call.complete
    assert stats.outcome in ("finished", "cut")


@pytest.mark.parametrize("items", [[TURN[:1000], TURN[1000:]], [TURN]])
async def test_an_error_of_the_server_goes_back_to_it(items: list[bytes]) -> None:
    async def send(message: Any) -> None:
        raise Boom("the server's own")

    source = AsyncSource(*items)
    with pytest.raises(Boom, match="own"):
        await response(source)(Call().scope, Call().receive, send)
    assert source.log == ["aclose"]


async def test_nothing_follows_what_the_server_took_half() -> None:
    call, last = Call(), Last()

    async def send(message: Any) -> None:
        await call.send(message)
        if message["type"] == "http.response.body":
            await anyio.sleep_forever()

    answer = response(AsyncSource(TURN), observer=last, timeouts=Timeouts(write=0.05))
    with pytest.raises(StreamTimeout):
        await answer(call.scope, call.receive, send)
    assert (len(call.sent), last.stats.outcome) == (2, "timed out")


# ---- the head --------------------------------------------------------------------------------------------


async def test_fields_that_are_given_stand_instead_of_ours() -> None:
    call, _ = await asked(AsyncSource(TURN), headers=[("Cache-Control", "no-store"), ("X-A", "1"), ("x-a", "2")])
    assert call.fields(b"cache-control") == [b"no-store"]
    assert call.fields(b"x-a") == [b"1", b"2"]


async def test_head_asks_nothing_of_the_source() -> None:
    source = AsyncSource(TURN)
    call = await Call("HEAD").run(response(source, headers={"x-a": "1"}))
    assert (call.status, call.body, call.complete) == (200, b"", True)
    assert call.head == (await Call().run(response(AsyncSource(TURN), headers={"x-a": "1"}))).head
    assert (source.asked, source.log) == (0, ["aclose"])

    async def opens() -> Any:
        raise AssertionError

    assert (await Call("HEAD").run(response(opens))).status == 200


@pytest.mark.parametrize("client", CLIENTS)
async def test_the_head_of_what_is_no_stream_is_its_own(client: str) -> None:
    reply = Reply(client, 404, {"content-type": "text/plain", "content-length": "4"}, b"none")
    call = await Call("HEAD").run(response(await reply.opened()))
    assert (call.status, call.body, call.fields(b"content-length"), reply.closed) == (404, b"", [b"4"], True)


async def test_a_silence_is_filled() -> None:
    async def pause() -> bytes:
        await anyio.sleep(0.3)
        return TURN[1000:]

    call, stats = await asked(AsyncSource(TURN[:1000], pause), ping=0.05)
    assert stats.pings >= 2
    assert call.body.replace(b": keep-alive\n\n", b"") == OUT


BAD: list[tuple[Callable[[], Any], type[Exception]]] = [
    (lambda: response(AsyncSource(), "nothing"), UnknownFormat),
    (lambda: response(AsyncSource(), dst="gateway"), ValueError),
    (lambda: response(AsyncSource(), loss="some"), ValueError),
    (lambda: response(AsyncSource(), lost="some"), TypeError),
]


@pytest.mark.parametrize(("make", "error"), BAD)
def test_wrong_arguments_are_known_at_once(make: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


async def test_a_generator_that_nobody_read_is_closed() -> None:
    async def source() -> AsyncGenerator[bytes, None]:
        yield TURN

    stream = source()
    await Call("HEAD").run(response(stream))
    assert [chunk async for chunk in stream] == []
    async with aclosing(source()) as open_:
        assert (await Call().run(response(open_))).body == OUT


async def test_an_error_alone_keeps_its_own_code() -> None:
    call, _ = await asked(AsyncSource(gateway("error alone")), src="gateway-sse", dst="gateway-sse")
    assert (call.status, json.loads(call.body)) == (429, FRAMES["error alone"][0])
