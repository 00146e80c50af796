"""The middleware: what it translates, what it leaves alone, and who is told of what goes wrong."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any

import anyio
import pytest

from tests.adapters.calling import App, Call, Fields, Message
from tests.peers.scripts import EXAMPLES, NOW
from tests.peers.serving import odd
from tests.sources import Boom
from translate import Limits, convert
from translate.adapters import Observer, Stats, Timeouts, TranslateMiddleware

pytestmark = pytest.mark.anyio
TURN = (EXAMPLES / "claude-turn.unievent.sse").read_bytes()
OUT = b"".join(convert(TURN, "unievent-sse", "gateway-sse"))
SSE = (b"content-type", b"text/event-stream; charset=utf-8")
NEGOTIATED = [(b"accept", b"text/event-stream;format=gateway-sse")]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Log(Observer):
    """Keeps the figures of all streams."""

    def __init__(self) -> None:
        self.begun = 0
        self.ended: list[Stats] = []

    def on_start(self, stats: Stats) -> None:
        self.begun += 1

    def on_end(self, stats: Stats) -> None:
        self.ended.append(stats)

    @property
    def outcomes(self) -> list[Any]:
        assert self.begun == len(self.ended)
        return [stats.outcome for stats in self.ended]


def start(status: int = 200, headers: Fields | None = None, **more: Any) -> Message:
    return {"type": "http.response.start", "status": status, "headers": [SSE] if headers is None else headers, **more}


def body(data: bytes, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": more}


def saying(*steps: Message | Exception | Callable[[], Awaitable[Any]], end: bool = True) -> App:
    """An application that sends messages, raises, and waits, in turn."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for step in steps:
            if isinstance(step, Exception):
                raise step
            if callable(step):
                await step()
            else:
                await send(step)
        if end and steps:
            await send(body(b"", more=False))

    return app


def wrapped(app: App, src: str = "unievent-sse", dst: Any = "gateway-sse", **options: Any) -> TranslateMiddleware:
    return TranslateMiddleware(app, src, dst, clock=lambda: NOW, **options)


async def through(app: App, call: Call | None = None, **options: Any) -> Call:
    return await (call or Call()).run(wrapped(app, **options))


# ---- streams ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [False, True])
async def test_a_stream_is_translated(cut: bool) -> None:
    log = Log()
    pieces = odd(TURN) if cut else [TURN]
    call = await through(saying(start(), *(body(piece) for piece in pieces)), observer=log)
    assert (call.status, call.body, call.complete, log.outcomes) == (200, OUT, True, ["finished"])


async def test_the_first_output_does_not_wait_for_more_input() -> None:
    call = Call()

    async def wait() -> None:
        await call.told.wait()

    await through(saying(start(), body(TURN[:1000]), wait, body(TURN[1000:])), call)
    assert call.body == OUT


async def test_what_the_head_says_of_the_bytes_goes_and_all_else_stays() -> None:
    headers = [
        (b"X-Request-Id", b"1"),
        (b"Content-Type", b"text/event-stream"),
        (b"content-length", b"%d" % len(TURN)),
        (b"etag", b'"1"'),
        (b"trailer", b"content-digest"),
        (b"cache-control", b"no-store"),
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
        (b"vary", b"origin"),
    ]
    trailers = {"type": "http.response.trailers", "headers": [(b"content-digest", b"of the bytes")]}
    debug: Message = {"type": "http.response.debug", "info": {}}
    app = saying(debug, start(headers=headers, trailers=True), body(TURN, more=False), trailers, end=False)
    call = await through(app)
    assert call.head["headers"] == [
        (b"x-accel-buffering", b"no"),
        (b"x-request-id", b"1"),
        (b"cache-control", b"no-store"),
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
        (b"vary", b"origin"),
        SSE,
    ]
    assert (call.body, call.sent[0], call.sent[-1]["type"]) == (OUT, debug, "http.response.body")


@pytest.mark.parametrize("encoding", ["gzip", "GZIP ", "x-gzip", "deflate", "raw deflate", "identity", "", "members"])
async def test_encodings_are_undone(encoding: str) -> None:
    deflate = zlib.compressobj(wbits=-15)
    data = {
        "deflate": zlib.compress(TURN),
        "raw deflate": deflate.compress(TURN) + deflate.flush(),
        "identity": TURN,
        "": TURN,
        "members": gzip.compress(TURN[:777]) + gzip.compress(TURN[777:]),
    }.get(encoding, gzip.compress(TURN))
    name = {"raw deflate": "deflate", "members": "gzip"}.get(encoding, encoding)
    headers = [SSE, (b"content-encoding", name.encode()), (b"content-length", b"%d" % len(data))]
    call = await through(saying(start(headers=headers), *(body(piece) for piece in odd(data))))
    assert call.body == OUT
    assert call.fields(b"content-encoding") == call.fields(b"content-length") == []


@pytest.mark.parametrize("rest", [b"", b"\xff" * 50])
async def test_an_encoding_that_breaks_off_is_a_failure(rest: bytes) -> None:
    compress, log = zlib.compressobj(wbits=31), Log()
    data = compress.compress(TURN[:1000]) + compress.flush(zlib.Z_SYNC_FLUSH)
    app = saying(start(headers=[SSE, (b"content-encoding", b"gzip")]), body(data), *([body(rest)] if rest else []))
    call = await through(app, observer=log)
    assert (call.status, call.complete, log.outcomes) == (200, True, ["broken" if rest else "cut"])
    assert json.loads(call.body.rpartition(b"\ndata: ")[2])["success"] is False


async def test_what_follows_a_complete_stream_in_its_encoding_is_no_error() -> None:
    data = gzip.compress(TURN) + b"garbage"
    call = await through(saying(start(headers=[SSE, (b"content-encoding", b"gzip")]), body(data)))
    assert (call.body, call.complete) == (OUT, True)


async def test_garbage_in_place_of_an_encoding_is_a_status() -> None:
    call = await through(saying(start(headers=[SSE, (b"content-encoding", b"gzip")]), body(TURN)))
    assert (call.status, call.complete, json.loads(call.body)["success"]) == (502, True, False)


async def test_a_bomb_is_not_read_to_its_end() -> None:
    bomb, log = gzip.compress(b"x" * (64 << 20)), Log()
    app = saying(start(headers=[SSE, (b"content-encoding", b"gzip")]), body(bomb, more=False), end=False)
    call = await through(app, limits=Limits(unit=1 << 20), observer=log)
    assert (call.status, log.outcomes) == (502, ["broken"])
    assert log.ended[0].bytes_in < 2 << 20


# ---- what passes untouched ---------------------------------------------------------------------------------

ODD_HEADERS: Fields = [(b"x-a", b"\xe9"), (b"content-length", b"3"), (b"etag", b'"1"')]
UNTOUCHED: dict[str, list[Message]] = {
    "json": [start(headers=[(b"content-type", b"application/json"), *ODD_HEADERS]), body(b"{} ", more=False)],
    "no type": [start(headers=[]), body(b"data: {}\n\n"), body(b"", more=False)],
    "no headers": [{"type": "http.response.start", "status": 204}, {"type": "http.response.body"}],
    "redirect": [start(307, [SSE, (b"location", b"/x")]), body(b"", more=False)],
    "partial": [start(206, [SSE, (b"content-range", b"bytes 0-2/9")]), body(TURN[:3], more=False)],
    "error": [start(500), body(b"data: {}\n\n", more=False)],
    "lines": [start(headers=[(b"content-type", b"application/x-ndjson")]), body(b"{}\n", more=False)],
    "brotli": [start(headers=[SSE, (b"content-encoding", b"br")]), body(b"\x0b", more=False)],
    "twice": [start(headers=[SSE, (b"content-encoding", b"gzip, gzip")]), body(b"\x1f", more=False)],
    "two lines": [start(headers=[SSE, *[(b"content-encoding", b"gzip")] * 2]), body(b"\x1f", more=False)],
    "trailers": [
        start(headers=[(b"content-type", b"text/plain")], trailers=True),
        body(b"a", more=False),
        {"type": "http.response.trailers", "headers": [(b"x-b", b"2")], "more_trailers": False},
    ],
}


@pytest.mark.parametrize("name", UNTOUCHED)
@pytest.mark.parametrize("negotiated", [False, True])
async def test_what_is_no_stream_passes_as_it_is(name: str, negotiated: bool) -> None:
    log = Log()
    dst = ["gateway-sse"] if negotiated else "gateway-sse"
    for headers in ([], NEGOTIATED):
        call = await through(saying(*UNTOUCHED[name], end=False), Call(headers=headers), dst=dst, observer=log)
        assert [id(each) for each in call.sent] == [id(each) for each in UNTOUCHED[name]]
    assert log.outcomes == []


@pytest.mark.parametrize("kind", ["websocket", "lifespan"])
async def test_other_connections_are_not_looked_at(kind: str) -> None:
    given: list[Any] = []

    async def app(*args: Any) -> None:
        given.extend(args)

    call = Call()
    call.scope["type"] = kind
    await through(app, call)
    assert given[0] is call.scope
    assert given[1:] == [call.receive, call.send]


async def test_an_event_stream_that_is_a_file_is_sent_as_bytes() -> None:
    """Else the server would send it, and nobody translate it."""
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["extensions"])
        await saying(start(), body(TURN))(scope, receive, send)

    call = Call()
    before = dict(call.scope["extensions"])
    assert (await through(app, call)).body == OUT
    assert "http.response.pathsend" not in seen[0]
    assert call.scope["extensions"] == before


async def test_the_head_of_a_stream_is_that_of_its_translation() -> None:
    headers = [(b"content-type", b"text/event-stream"), (b"content-length", b"9"), (b"etag", b"1")]
    log = Log()
    for app in (saying(start(headers=headers)), saying(start(headers=headers), body(TURN, more=False), end=False)):
        call = await through(app, Call("HEAD"), observer=log)
        assert call.head == (await through(saying(start(headers=headers), body(TURN)))).head
    assert log.outcomes == []


@pytest.mark.parametrize("paths", [["/v1/chat"], re.compile("/v1/.*").fullmatch, {"/v1/chat": 1}])
async def test_paths_choose(paths: Any) -> None:
    app = saying(start(), body(TURN))
    assert (await through(app, Call(path="/v1/chat"), paths=paths)).body == OUT
    assert (await through(app, Call(path="/v2/chat"), paths=paths)).body == TURN


# ---- negotiation -----------------------------------------------------------------------------------------


async def test_a_request_chooses_its_format() -> None:
    app, dst = saying(start(), body(TURN)), ["gateway-sse", "gateway-jsonl"]
    call = await through(app, Call(headers=NEGOTIATED), dst=dst)
    assert call.body == OUT
    assert call.fields(b"content-type") == [b"text/event-stream; charset=utf-8; format=gateway-sse"]
    assert call.fields(b"vary") == [b"accept"]
    two = [(b"accept", b"text/event-stream;q=0.1"), (b"accept", b"application/x-ndjson")]
    call = await through(app, Call(headers=two), dst=dst)
    assert call.body == b"".join(convert(TURN, "unievent-sse", "gateway-jsonl"))


@pytest.mark.parametrize("accept", [b"", b"*/*", b"text/event-stream", b"text/event-stream;format=unievent-sse"])
async def test_a_request_that_asks_for_none_has_the_stream_as_it_is(accept: bytes) -> None:
    headers = [SSE, (b"content-length", b"%d" % len(TURN)), (b"etag", b"1")]
    app = saying(start(headers=headers), body(TURN, more=False), end=False)
    call = await through(app, Call(headers=[(b"accept", accept)]), dst=["gateway-sse"])
    assert (call.body, call.head["headers"]) == (TURN, [*headers, (b"vary", b"accept")])
    assert headers[-1] == (b"etag", b"1")


# ---- what goes wrong ---------------------------------------------------------------------------------------


async def test_an_application_that_raises_before_its_head_is_left_alone() -> None:
    call, log = Call(), Log()
    with pytest.raises(Boom):
        await through(saying(Boom()), call, observer=log)
    assert (call.sent, log.outcomes) == ([], [])


@pytest.mark.parametrize(("items", "status"), [([], 502), ([body(b"")], 502), ([body(TURN[:1000])], 200)])
async def test_an_application_that_raises_later_has_failed_for_both_sides(items: list[Message], status: int) -> None:
    call, log = Call(), Log()
    with pytest.raises(Boom, match="secret"):
        await through(saying(start(headers=[SSE, (b"x-a", b"1")]), *items, Boom("secret")), call, observer=log)
    assert (call.status, call.complete, log.outcomes, call.fields(b"x-a")) == (status, True, ["cut"], [b"1"])
    assert b'"success":false' in call.body
    assert b"secret" not in call.body


@pytest.mark.parametrize("end", [[], [body(b"", more=False)]])
async def test_an_application_that_raises_after_all_was_said(end: list[Message]) -> None:
    call = Call()
    with pytest.raises(Boom):
        await through(saying(start(), body(TURN), *end, Boom()), call)
    assert call.body == OUT


async def test_an_application_that_does_not_end_its_body() -> None:
    log = Log()
    assert (await through(saying(start(), body(TURN), end=False), observer=log)).complete
    call = await through(saying(start(), body(TURN[:1000]), end=False), observer=log)
    assert (call.status, call.complete, log.outcomes) == (200, True, ["finished", "cut"])
    assert (await through(saying(start(), end=False))).status == 502


async def test_an_application_whose_stream_has_failed_is_cancelled() -> None:
    call = await through(saying(start(), body(b"data: {\n\n"), anyio.sleep_forever))
    assert (call.status, call.complete) == (502, True)
    call = await through(saying(start(), body(TURN[:1000]), anyio.sleep_forever), timeouts=Timeouts(idle=0.05))
    assert (call.status, call.complete) == (200, True)
    assert b'"code":504' in call.body


async def test_an_application_goes_on_after_its_last_piece() -> None:
    """As those of Starlette do, with tasks in the background."""
    ended: list[str] = []

    async def task() -> None:
        await anyio.sleep(0.2)
        ended.append("task")

    for data in (TURN, TURN[:1000]):
        app = saying(start(), body(data, more=False), task, end=False)
        await through(app, timeouts=Timeouts(first=0.1, idle=0.1, total=0.1, write=0.1))
    assert ended == ["task", "task"]


@pytest.mark.parametrize("error", [None, Boom()])
@pytest.mark.parametrize("data", [TURN, b""])
async def test_a_client_that_leaves_is_told_to_the_application(data: bytes, error: Exception | None) -> None:
    call, log = Call(), Log()
    call.scope["asgi"]["spec_version"] = "2.0"

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send(start())
        await send(body(data[:1000]))
        call.leave()
        assert (await receive())["type"] == "http.disconnect"
        if error is not None:
            call.gone = True
            raise error

    with pytest.raises(Boom) if error else nullcontext():
        await through(app, call, observer=log)
    assert log.outcomes == ["disconnected"]
    assert len(call.sent) == (2 if data else 0)
    # middleware around waits for the end of an answer, and for its head where it had none
    assert call.dropped == ([] if error else [False] if data else [None, False])


@pytest.mark.parametrize("full", [0, 1, 2])
async def test_a_server_that_takes_no_more_is_an_error_of_sending(full: int) -> None:
    call, log = Call(full=full), Log()
    with pytest.raises(OSError, match="left"):
        await through(saying(start(), body(TURN[:1000]), body(TURN[1000:1500]), body(TURN[1500:])), call, observer=log)
    assert (len(call.sent), log.outcomes) == (full, ["disconnected"])


async def test_a_keep_alive_finds_that_the_client_has_left() -> None:
    call, log = Call(full=2), Log()
    await through(saying(start(), body(TURN[:1000]), anyio.sleep_forever), call, observer=log, ping=0.05)
    assert (len(call.sent), log.outcomes) == (2, ["disconnected"])


@pytest.mark.parametrize("options", [{"dst": "gateway"}, {"dst": ["gateway-sse", "nothing"]}, {"loss": "some"}])
def test_wrong_arguments_are_known_at_once(options: Any) -> None:
    with pytest.raises((ValueError, LookupError)):
        wrapped(saying(), **options)
