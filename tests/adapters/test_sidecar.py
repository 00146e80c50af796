"""The sidecar as a service: what it forwards and translates, what it says where that fails, and its own pages."""

from __future__ import annotations

import gzip
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.adapters.sidecars import (
    HANG_UP,
    Asked,
    Process,
    Recorder,
    Wire,
    answers,
    ask,
    request,
    sidecar,
    streams,
    until,
    upstream,
)
from tests.peers.serving import HOST, PATIENCE, odd
from translate import UpstreamFailure, assemble, convert

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

TURN = (Path(__file__).resolve().parents[2] / "examples" / "claude-turn.unievent.sse").read_bytes()
SAID = b"".join(convert(TURN, "unievent-sse", "gateway-sse"))
HALF = TURN.index(b"data: ", 3000)
FORMATS = {"src": "unievent-sse", "dst": "gateway-sse"}


@pytest.fixture(scope="module")
def recorder() -> Iterator[Recorder]:
    with upstream(answers()) as made:
        yield made


@pytest.fixture(scope="module")
def running(recorder: Recorder) -> Iterator[Process]:
    waits = ("--first", "1.5", "--idle", "1", "--ping", "0.4", "--connect", "5")
    with sidecar(recorder.url, *waits, **FORMATS) as made:
        yield made


@pytest.fixture
def up(recorder: Recorder) -> Recorder:
    recorder.asked.clear()
    recorder.left.clear()
    recorder.says = answers()
    return recorder


@pytest.fixture
def port(running: Process, up: Recorder) -> int:
    return running.port


def failure(body: bytes) -> UpstreamFailure:
    """What a stream of the gateway reports at its end."""
    with pytest.raises(UpstreamFailure) as raised:
        assemble(body, "gateway-sse", "gateway")
    return raised.value


# ---- requests --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_a_request_arrives_as_it_was_sent(method: str, up: Recorder, port: int) -> None:
    lines = (
        b"User-Agent: me",
        b"Accept: text/event-stream",
        b"X-Two: 1",
        b"Cookie: a=b; c=d",
        b"X-Two: 2",
        b"X-Kept: \xfc",
    )
    body = b'{"stream": true, "text": "\xe2\x82\xac\x00\r\n\r\n"}' * 1000
    assert ask(port, request("/v1/x%2F?q=a%20b&&c", *lines, method=method, body=body)).status == 200
    (asked,) = up.asked
    assert asked.line == f"{method} /v1/x%2F?q=a%20b&&c HTTP/1.1".encode()
    sent = [(name.lower(), value) for name, _, value in (line.partition(b": ") for line in lines)]
    assert [each for each in asked.fields if each in sent] == sent
    assert asked.body == body


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        *((b"abc-1.2:3/4+5=6@7_8", True), (b"x" * 128, True), (b"x" * 129, False), (b"", False), (b"a b", False)),
        *((b"a;b", False), (b'"a"', False), (b"\xe9", False), (b"a,b", False)),
    ],
)
def test_the_id_of_a_request_is_passed_on_or_made(given: bytes, kept: bool, up: Recorder, port: int) -> None:
    got = ask(port, request("/x", b"X-Request-ID: " + given))
    (seen,) = up.asked[0].all("x-request-id")
    assert got["x-translate-request-id"] == seen
    assert seen == given if kept else re.fullmatch(rb"[0-9a-f]{32}", seen)


def test_a_refusal_has_the_id_too(up: Recorder, port: int) -> None:
    got = ask(port, request("/../x", b"X-Request-Id: mine"))
    assert (got.status, got["x-translate-request-id"], got["content-type"]) == (400, b"mine", b"application/json")
    assert json.loads(got.body) == {"success": False, "code": 400, "message": json.loads(got.body)["message"]}
    assert re.fullmatch(rb"[0-9a-f]{32}", ask(port, request("/../x"))["x-translate-request-id"] or b"")


def test_trace_context_is_passed_on(up: Recorder, port: int) -> None:
    parent = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    ask(port, request("/x", b"Traceparent: " + parent, b"tracestate: a=1", b"tracestate: b=2", b"baggage: c=3"))
    (asked,) = up.asked
    assert (asked.all("traceparent"), asked.all("baggage")) == ([parent], [b"c=3"])
    assert asked.all("tracestate") == [b"a=1", b"b=2"]


# ---- streams ---------------------------------------------------------------------------------------------


def test_a_stream_is_translated(up: Recorder, port: int) -> None:
    up.says = lambda _: streams(odd(TURN))
    got = ask(port, request("/x", b"X-Request-Id: me"))
    assert got.body == SAID
    fields = {name.lower(): value for name, value in got.fields}
    fields.pop(b"date")
    assert fields == {
        b"content-type": b"text/event-stream; charset=utf-8",
        b"cache-control": b"no-cache, no-transform",
        b"x-accel-buffering": b"no",
        b"x-translate-request-id": b"me",
        b"transfer-encoding": b"chunked",
    }


def test_a_unit_is_out_before_the_next_comes(up: Recorder, port: int) -> None:
    go = threading.Event()

    def says(_: Asked) -> Iterator[bytes]:
        def live() -> Iterator[bytes]:
            yield TURN[:HALF]
            assert go.wait(PATIENCE)
            yield TURN[HALF:]

        return streams(live())

    up.says = says
    with Wire(port, request("/x")) as wire:
        _, fields = wire.head()
        first = wire.chunk()
        assert first
        assert SAID.startswith(first)
        assert not go.is_set()
        go.set()
        assert first + wire.body(fields)[0] == SAID


def test_a_stream_that_came_compressed_is_translated(up: Recorder, port: int) -> None:
    up.says = answers(gzip.compress(TURN), b"Content-Encoding: gzip", kind=b"text/event-stream")
    got = ask(port, request("/x", b"Accept-Encoding: gzip"))
    assert (got.body, got["content-encoding"]) == (SAID, None)


def test_fields_of_the_upstream_go_with_a_stream(up: Recorder, port: int) -> None:
    lines = (b"X-Own: 1", b"Set-Cookie: a=b", b"Cache-Control: public, max-age=9", b"ETag: x")
    up.says = answers(TURN, *lines, kind=b"Text/Event-Stream;charset=UTF-8")
    got = ask(port, request("/x"))
    assert (got["x-own"], got["set-cookie"], got["cache-control"]) == (b"1", b"a=b", b"no-cache, no-transform")
    assert got.body == SAID


@pytest.mark.parametrize(
    ("status", "kind", "lines"),
    [
        (b"200 OK", b"application/json", [b"ETag: x", b"Cache-Control: max-age=9"]),
        (b"200 OK", b"text/html; charset=utf-8", []),
        (b"201 Created", b"text/event-stream", []),
        (b"400 Bad Request", b"application/json", []),
        (b"401 Unauthorized", b"application/json", [b"WWW-Authenticate: Bearer"]),
        (b"429 Too Many Requests", b"application/json", [b"Retry-After: 7"]),
        (b"500 Oh", b"text/event-stream", []),
        (b"529 Overloaded", b"application/json", []),
        (b"404 Not Found", b"text/plain", [b"Content-Encoding: gzip"]),
    ],
)
def test_all_else_passes_as_it_is(status: bytes, kind: bytes, lines: list[bytes], up: Recorder, port: int) -> None:
    body = gzip.compress(b"{}") + bytes(range(256))
    up.says = answers(body, *lines, status=status, kind=kind)
    got = ask(port, request("/x"))
    assert (got.status, got.body, got["content-type"]) == (int(status[:3]), body, kind)
    assert got["content-length"] == b"%d" % len(body)
    for line in lines:
        name, _, value = line.decode().partition(": ")
        assert got[name.lower()] == value.encode()


@pytest.mark.parametrize("kind", [b"application/json", b"text/event-stream"])
def test_the_answer_to_head_is_a_head(kind: bytes, up: Recorder, port: int) -> None:
    up.says = lambda asked: [answers(TURN, kind=kind)(asked)[0].partition(TURN)[0]]
    with Wire(port, request("/x", method="HEAD") + request("/x", method="HEAD")) as wire:
        got, again = wire.answer("HEAD"), wire.answer("HEAD")
    assert got.status == again.status == 200
    assert (got["content-type"] or b"").startswith(kind)
    assert got["content-length"] == (b"%d" % len(TURN) if kind == b"application/json" else None)


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_an_answer_without_a_body_has_none(status: bytes, up: Recorder, port: int) -> None:
    up.says = lambda _: [b"HTTP/1.1 " + status + b"\r\nETag: x\r\n\r\n"]
    with Wire(port, request("/x") + request("/y")) as wire:
        got, after = wire.answer(), wire.answer()
    assert (got.status, got.body, got["etag"], after.status) == (int(status[:3]), b"", b"x", int(status[:3]))


# ---- what goes wrong -------------------------------------------------------------------------------------


def test_a_stream_that_is_cut_ends_in_the_failure_of_the_target(running: Process, up: Recorder, port: int) -> None:
    up.says = lambda _: [b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + TURN[:HALF], HANG_UP]
    got = ask(port, request("/x", b"X-Request-Id: was-cut"))
    assert (got.status, got.whole, failure(got.body).code) == (200, True, 502)
    until(lambda: "was-cut GET: 200, cut" in running.log)


def test_an_answer_that_passes_and_is_cut_is_cut(running: Process, up: Recorder, port: int) -> None:
    up.says = lambda asked: [answers(b"x" * 100)(asked)[0][:-1], HANG_UP]
    got = ask(port, request("/x", b"X-Request-Id: passed-cut"))
    assert (got.status, got.whole, got.body) == (200, False, b"x" * 99)
    until(lambda: "passed-cut GET: 200, cut" in running.log)


def test_a_stream_that_is_none_is_a_bad_gateway(running: Process, up: Recorder, port: int) -> None:
    up.says = answers(b"data: nonsense\n\n", kind=b"text/event-stream")
    got = ask(port, request("/x", b"X-Request-Id: no-stream"))
    assert (got.status, b"nonsense" in got.body) == (502, False)
    until(lambda: "no-stream GET: 502, broken" in running.log)


def test_an_upstream_that_is_not_there_is_a_bad_gateway() -> None:
    with socket.create_server((HOST, 0)) as taken:
        nobody = taken.getsockname()[1]
    with sidecar(f"http://{HOST}:{nobody}", **FORMATS) as made:
        got = ask(made.port, request("/x", b"X-Request-Id: nobody"))
        assert (got.status, str(nobody).encode() in got.body) == (502, False)
        until(lambda: "nobody GET: 502, cut" in made.log)


def test_an_upstream_that_does_not_answer_is_a_gateway_timeout(up: Recorder, port: int) -> None:
    done = threading.Event()

    def says(_: Asked) -> Iterator[bytes]:
        done.wait(PATIENCE)
        yield HANG_UP

    up.says = says
    assert ask(port, request("/x")).status == 504
    done.set()


def test_an_answer_that_is_late_is_not_taken_for_a_stream(up: Recorder, port: int) -> None:
    def says(asked: Asked) -> list[bytes]:
        time.sleep(0.9)
        return answers(b"{}", b"Retry-After: 9", status=b"429 Too Many Requests", kind=b"application/json")(asked)

    up.says = says
    got = ask(port, request("/x"))
    assert (got.status, got["content-type"], got.body) == (429, b"application/json", b"{}")
    # who asked for a stream was sent keep-alives meanwhile: the rest can only be said in it
    got = ask(port, request("/x", b"Accept: application/json;q=0.1, text/event-stream"))
    assert (got.status, failure(got.body).code) == (200, 429)
    assert got.body.startswith(b":")
    for line, body in ((b"X: y", b'{"model": "m", "stream" : true}'), (b"X: y", b'{"stream":true}')):
        assert ask(port, request("/x", line, method="POST", body=body)).status == 200
    for body in (b'{"stream": false}', b'{"a": {"stream": true}}', b'["\\"stream\\": true"]', b'{"stream": true'):
        assert ask(port, request("/x", method="POST", body=body)).status == 429
    assert ask(port, request("/v1/models/m:streamGenerateContent?alt=sse", method="POST", body=b"{}")).status == 200
    # to HEAD nothing can be said later
    assert ask(port, request("/x", b"Accept: text/event-stream", method="HEAD"), "HEAD").status == 429


def test_a_silent_stream_is_kept_alive_then_ends(up: Recorder, port: int) -> None:
    done = threading.Event()

    def says(_: Asked) -> Iterator[bytes]:
        def live() -> Iterator[bytes]:
            yield TURN[:HALF]
            done.wait(PATIENCE)

        return streams(live())

    up.says = says
    got = ask(port, request("/x"))
    done.set()
    assert (got.whole, failure(got.body).code) == (True, 504)
    assert b"\n\n:" in got.body


def test_a_client_that_leaves_cancels_the_upstream(running: Process, up: Recorder, port: int) -> None:
    def says(_: Asked) -> Iterator[bytes]:
        def live() -> Iterator[bytes]:
            yield TURN[:HALF]
            while True:
                yield b": still here\n\n"
                threading.Event().wait(0.02)

        return streams(live())

    up.says = says
    with Wire(port, request("/x", b"X-Request-Id: has-left")) as wire:
        wire.head()
        assert wire.chunk()
    assert up.left.wait(PATIENCE)
    until(lambda: "has-left GET: 200, disconnected" in running.log)


# ---- its own pages ---------------------------------------------------------------------------------------


def test_its_own_pages(up: Recorder, port: int) -> None:
    assert (ask(port, request("/healthz")).status, ask(port, request("/healthz")).body) == (200, b"ok\n")
    assert (ask(port, request("/readyz")).status, ask(port, request("/readyz")).body) == (200, b"ready\n")
    assert ask(port, request("/healthz?x", method="HEAD"), "HEAD").status == 200
    assert ask(port, request("/metrics")).status in (200, 501)
    assert up.asked == []
    # what is not asked for like that is the upstream's
    for target, method in (("/healthz", "POST"), ("/healthz/", "GET"), ("/readyz/x", "GET"), ("//healthz", "GET")):
        ask(port, request(target, method=method))
    assert [asked.target for asked in up.asked] == [b"/healthz", b"/healthz/", b"/readyz/x"]


async def call(app: Any, path: str, *fields: tuple[bytes, bytes], method: str = "GET") -> list[Any]:
    """What an application sends for a request."""
    sent: list[Any] = []
    messages = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Any:
        for message in messages:
            return message
        return await anyio.sleep_forever()

    async def send(message: Any) -> None:
        sent.append(message)

    query = path.partition("?")[2].encode()
    path = path.partition("?")[0]
    scope = {"type": "http", "method": method, "path": path, "query_string": query, "headers": list(fields)}
    with anyio.fail_after(PATIENCE):
        await app(scope, receive, send)
    return sent


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_metrics_are_what_the_exposition_says() -> None:
    from translate.adapters.sidecar import Settings, Sidecar

    settings = Settings("http://127.0.0.1:1", "unievent-sse", "gateway-sse")
    head, body = await call(Sidecar(settings, exposition=lambda: (b"a 1\n", "text/x")), "/metrics")
    assert (head["status"], body["body"]) == (200, b"a 1\n")
    assert (b"content-type", b"text/x") in head["headers"]
    head, _ = await call(Sidecar(settings), "/metrics")
    assert head["status"] == 501
