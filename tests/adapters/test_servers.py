"""Real ASGI servers: the whole of a stream arrives, promptly, with the head that it should have, and ends well."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from time import perf_counter
from typing import Any

import anyio
import anyio.to_thread
import orjson
import pytest

from tests.adapters.clients import Client
from tests.adapters.servers import CLOSING, servers, serving
from tests.adapters.upstreams import UNITS, Upstream
from tests.peers.serving import HOST, PATIENCE
from tests.sources import ERROR, Boom
from translate import Translator
from translate.adapters import StreamResponse, TranslateMiddleware
from translate.adapters.asgi import App, Receive, Scope, Send

pytestmark = pytest.mark.anyio
NOW = 1_700_000_000_000
TRANSLATOR = Translator("gateway-sse", "unievent-sse", clock=lambda: NOW)
SAID = [b"".join(TRANSLATOR.feed(unit)) for unit in UNITS]
"""What each unit makes sayable: nothing, where it is said with the next."""
WHOLE = b"".join([*SAID, *TRANSLATOR.close()])
BEGUN = b"".join(SAID[:3])
CURL = shutil.which("curl")


def answering(source: Callable[[], AsyncIterator[Any]], **options: Any) -> App:
    """An application that answers with a translated stream."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        answer = StreamResponse(source(), "gateway-sse", "unievent-sse", clock=lambda: NOW, **options)
        await answer(scope, receive, send)

    return app


def behind(source: Callable[[], AsyncIterator[Any]], **options: Any) -> App:
    """The same, of an application that knows nothing of it."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        fields = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": fields})
        async for unit in source():
            await send({"type": "http.response.body", "body": unit, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return TranslateMiddleware(app, "gateway-sse", "unievent-sse", clock=lambda: NOW, **options)


async def short() -> AsyncIterator[bytes]:
    for unit in UNITS:
        yield unit


APPS = pytest.mark.parametrize("made", [answering, behind], ids=["response", "middleware"])


@servers()
@APPS
async def test_a_whole_stream_arrives_and_its_connection_can_be_used_again(
    server: str, made: Callable[..., App]
) -> None:
    async with serving(server, made(short)) as port:
        with Client(port) as client:
            for again in (False, True):
                if again:
                    client.ask()
                await client.whole()
                assert client.status == 200
                assert client.body == WHOLE
                assert client.fields["content-type"] == "text/event-stream; charset=utf-8"
                assert client.fields["cache-control"] == "no-cache, no-transform"
                assert client.fields["x-accel-buffering"] == "no"


@servers()
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
async def test_clients_of_http_read_it(server: str, library: str) -> None:
    http = pytest.importorskip(library, reason=f"{library} is not installed: pip install -e '.[adapters]'")
    async with serving(server, answering(short)) as port:
        async with http.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
            async with client.stream("GET", f"http://{HOST}:{port}") as response:
                assert b"".join([piece async for piece in response.aiter_bytes()]) == WHOLE


@servers()
@pytest.mark.skipif(CURL is None, reason="curl is not installed")
async def test_curl_reads_it(server: str) -> None:
    async with serving(server, answering(short)) as port:
        command = [str(CURL), "--silent", "--no-buffer", "--max-time", str(PATIENCE), f"http://{HOST}:{port}"]
        got = await anyio.to_thread.run_sync(lambda: subprocess.run(command, capture_output=True, check=True))
        assert got.stdout == WHOLE


@servers()
@APPS
async def test_each_unit_is_seen_before_the_next_is_asked_for(server: str, made: Callable[..., App]) -> None:
    seen = [anyio.Event() for _ in UNITS]

    async def source() -> AsyncIterator[bytes]:
        for unit, event in zip(UNITS, seen, strict=True):
            yield unit
            with anyio.fail_after(PATIENCE):
                await event.wait()

    async with serving(server, made(source)) as port:
        with Client(port) as client:
            for n, event in enumerate(seen, 1):
                while len(client.body) < len(b"".join(SAID[:n])):
                    await client.read()
                assert client.body == b"".join(SAID[:n])
                event.set()
            await client.whole()


@servers()
@APPS
async def test_a_silence_is_filled_with_comments(server: str, made: Callable[..., App]) -> None:
    filled = anyio.Event()

    async def source() -> AsyncIterator[bytes]:
        for n, unit in enumerate(UNITS):
            if n == 3:
                with anyio.fail_after(PATIENCE):
                    await filled.wait()
            yield unit

    async with serving(server, made(source, ping=0.05)) as port:
        with Client(port) as client:
            comment = b": keep-alive\n\n"
            await client.until(comment)
            assert client.body == BEGUN + comment
            filled.set()
            await client.whole()
            assert client.body.replace(comment, b"") == WHOLE


def failing(*items: Any) -> Callable[[], AsyncIterator[bytes]]:
    async def source() -> AsyncIterator[bytes]:
        for item in items:
            if isinstance(item, Exception):
                raise item
            yield item

    return source


FAILURE = b"data: " + orjson.dumps(ERROR) + b"\n\n"


@servers()
@pytest.mark.parametrize(
    ("items", "status"), [([Boom("secret")], 502), ([FAILURE], 503), ([], 502)], ids=["raised", "reported", "empty"]
)
async def test_a_failure_before_the_first_unit_is_a_status(server: str, items: list[Any], status: int) -> None:
    async with serving(server, answering(failing(*items))) as port:
        with Client(port) as client:
            await client.whole()
            assert client.status == status
            assert client.fields["content-type"] == "application/json"
            assert orjson.loads(client.body)["error"]["status"] == status
            assert b"secret" not in client.got


@servers()
@pytest.mark.parametrize(
    ("items", "status"), [([Boom("secret")], 502), ([FAILURE], 503), ([], 502)], ids=["raised", "reported", "cut"]
)
async def test_a_later_failure_is_the_last_unit_of_a_body_that_ends(server: str, items: list[Any], status: int) -> None:
    async with serving(server, answering(failing(*UNITS[:3], *items))) as port:
        with Client(port) as client:
            await client.whole()
            assert client.status == 200
            assert client.body.startswith(BEGUN)
            lines = [line for line in client.body[len(BEGUN) :].splitlines() if line.startswith(b"data: {")]
            assert [list(orjson.loads(line[6:])) for line in lines] == [["error"]]
            assert orjson.loads(lines[0][6:])["error"]["status"] == status
            assert client.body.endswith(b"data: [DONE]\n\n")
            assert b"secret" not in client.got


@servers()
async def test_an_application_that_raises_behind_the_middleware(server: str) -> None:
    async with serving(server, behind(failing(*UNITS[:3], Boom("secret")))) as port:
        with Client(port) as client:
            await client.whole()
            assert client.body.startswith(BEGUN)
            assert b'"error"' in client.body[len(BEGUN) :]
            assert b"secret" not in client.got


WAITS = "granian waits for streams under way, for ever, and nothing tells their application that it stops"


@servers(granian=pytest.mark.xfail(strict=True, reason=WAITS))
async def test_a_server_that_stops_cancels_the_source(server: str) -> None:
    upstream, stopped = Upstream("idle"), 0.0

    async def leave(client: Client) -> None:
        with client:
            await anyio.sleep(CLOSING + 1.5)

    async with anyio.create_task_group() as group:
        async with serving(server, answering(upstream.chunks)) as port:
            client = Client(port)
            await client.until(b'"a"')
            group.start_soon(leave, client)
            stopped = perf_counter()
        await upstream.ended.wait()
        group.cancel_scope.cancel()
    assert upstream.left is not None
    assert upstream.left - stopped < CLOSING + 1
