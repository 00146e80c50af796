"""The transports: clients of one format talk to servers of the other, on loopback and without."""

from __future__ import annotations

import gzip
import importlib
import itertools
import json
import threading
import zlib
from collections.abc import Iterator
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.peers.scripts import FRAMES, NOW, cut, gateway
from tests.peers.serving import PATIENCE, Reply, odd, saying, serving
from tests.sources import Boom, acollect, collect
from tests.wire import frame
from translate import GrammarError, TruncatedStream, convert

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left")]
FORMATS = ("gateway-sse", "unievent-sse")
TURN = gateway("turn")
OUT = b"".join(convert(TURN, *FORMATS, clock=lambda: NOW))
OPEN = TURN[: TURN.rindex(b"event: ")]
"""All of it but the last unit."""

DROPPED = pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
"""Generators within httpx and below it, on trio: they do so of any response that is closed early, ours or not."""


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["httpx", "httpx2"])
def library(request: pytest.FixtureRequest) -> Any:
    return pytest.importorskip(request.param, reason=f"{request.param} is not installed")


def transport(library: Any, below: Any, **options: Any) -> Any:
    made = importlib.import_module(f"translate.adapters.{library.__name__}").TranslateTransport
    return made(below, *FORMATS, clock=lambda: NOW, **options)


def client(library: Any, below: Any = None, **options: Any) -> Any:
    made = transport(library, below or library.HTTPTransport(), **options)
    return library.Client(transport=made, trust_env=False, timeout=PATIENCE)


def async_client(library: Any, below: Any = None, **options: Any) -> Any:
    made = transport(library, below or library.AsyncHTTPTransport(), **options)
    return library.AsyncClient(transport=made, trust_env=False, timeout=PATIENCE)


def mock(library: Any, body: bytes, status: int = 200, *, end: BaseException | None = None, **headers: str) -> Any:
    """A transport, sync and async, that answers one thing, and then raises ``end``."""
    fields = {name.replace("_", "-"): value for name, value in {"content_type": "text/event-stream", **headers}.items()}

    class Body(library.SyncByteStream, library.AsyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            yield from odd(body)
            if end is not None:
                raise end

        async def __aiter__(self) -> Any:
            for piece in self:
                yield piece

    return library.MockTransport(lambda request: library.Response(status, headers=fields, stream=Body()))


# ---- a server on loopback ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["turn", "handover", "hostile"])
def test_a_client_reads_its_format(library: Any, name: str) -> None:
    with serving(saying(Reply(odd(gateway(name))))) as server, client(library) as http:
        with http.stream("POST", server.url, content=b"asked") as response:
            assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
            got = b"".join(response.iter_bytes())
    assert got == b"".join(convert(gateway(name), *FORMATS, clock=lambda: NOW))
    assert server.asked == [b"asked"]


async def test_an_answer_that_was_read_already_is_read_again(library: Any) -> None:
    """As those are that a mock of the library answers with: there is nothing left to take as it came."""
    body = gateway("turn")
    answer = library.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    async with async_client(library, library.MockTransport(lambda request: answer)) as http:
        got = (await http.get("http://nowhere.example")).content
    assert got == b"".join(convert(body, *FORMATS, clock=lambda: NOW))


@pytest.mark.parametrize("name", ["turn", "hostile"])
async def test_an_asynchronous_client_reads_its_format(library: Any, name: str) -> None:
    with serving(saying(Reply(odd(gateway(name))))) as server:
        async with async_client(library) as http:
            async with http.stream("POST", server.url) as response:
                got = b"".join([chunk async for chunk in response.aiter_bytes()])
    assert got == b"".join(convert(gateway(name), *FORMATS, clock=lambda: NOW))


async def test_what_is_said_arrives_before_the_rest_is_made(library: Any) -> None:
    go = threading.Event()
    half = TURN.index(b"event: contentStart")

    def live() -> Iterator[bytes]:
        yield TURN[:half]
        assert go.wait(PATIENCE)
        yield TURN[half:]

    with serving(saying(Reply(live()))) as server:
        with anyio.fail_after(PATIENCE):
            async with async_client(library) as http, http.stream("GET", server.url) as response:
                got = b""
                async for chunk in response.aiter_raw():
                    got += chunk
                    if b"thinking.done" in got:
                        go.set()
    assert got == OUT


@DROPPED
async def test_closing_early_hangs_up_on_the_server(library: Any) -> None:
    def endless() -> Iterator[bytes]:
        yield OPEN
        yield from itertools.repeat(b": keep-alive\n\n" * 4096)

    with serving(saying(Reply(endless()))) as server:
        with anyio.fail_after(PATIENCE):
            async with async_client(library) as http:
                async with http.stream("GET", server.url) as response:
                    chunks = response.aiter_raw()
                    assert b"delta" in await anext(chunks)
                    await chunks.aclose()
                assert await anyio.to_thread.run_sync(server.left.wait, PATIENCE)


def test_closing_early_hangs_up_on_the_server_without_a_loop(library: Any) -> None:
    def endless() -> Iterator[bytes]:
        yield OPEN
        yield from itertools.repeat(b": keep-alive\n\n" * 4096)

    with serving(saying(Reply(endless()))) as server, client(library) as http:
        with http.stream("GET", server.url) as response:
            assert b"delta" in next(response.iter_raw())
        assert server.left.wait(PATIENCE)


async def test_a_client_that_is_cancelled_hangs_up_on_the_server(library: Any) -> None:
    over = threading.Event()

    def endless() -> Iterator[bytes]:
        yield OPEN
        while not over.wait(0.01):
            yield b": keep-alive\n\n" * 4096

    with serving(saying(Reply(endless()))) as server:
        try:
            async with async_client(library) as http:
                with anyio.move_on_after(0.3):
                    async with http.stream("GET", server.url) as response:
                        await acollect(response.aiter_raw())
                assert await anyio.to_thread.run_sync(server.left.wait, PATIENCE)
        finally:
            over.set()


# ---- failures --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["chunked", "hang up", "close"])
async def test_a_stream_that_breaks_off_ends_in_the_failure_unit(library: Any, end: Any) -> None:
    with serving(lambda path, body: Reply(odd(cut("turn")), end=end)) as server:
        async with async_client(library) as http:
            response = await http.get(server.url)
        with client(library) as http:
            assert http.get(server.url).content == response.content
    *_, last, done = [line[6:] for line in response.content.split(b"\n") if line.startswith(b"data: ")]
    assert (json.loads(last)["error"]["status"], done) == (502, b"[DONE]")


@pytest.mark.parametrize("end", ["chunked", "hang up"])
async def test_a_stream_that_breaks_off_raises_where_that_is_asked_for(library: Any, end: Any) -> None:
    expected = library.RemoteProtocolError if end == "hang up" else TruncatedStream
    with serving(lambda path, body: Reply(odd(cut("turn")), end=end)) as server:
        async with async_client(library, errors="raise") as http, http.stream("GET", server.url) as response:
            chunks, error = await acollect(response.aiter_bytes())
        assert type(error) is expected
        assert OUT.startswith(b"".join(chunks))
        assert chunks
        with client(library, errors="raise") as http, http.stream("GET", server.url) as response:
            assert type(collect(response.iter_bytes())[1]) is expected


@DROPPED
async def test_a_time_out_of_the_client_is_its_own_to_raise(library: Any) -> None:
    late = library.ReadTimeout("nothing came")
    async with async_client(library, mock(library, OPEN, end=late)) as http:
        async with http.stream("GET", "http://x") as response:
            chunks, error = await acollect(response.aiter_bytes())
    assert error is late
    with client(library, mock(library, OPEN, end=late)) as http, http.stream("GET", "http://x") as response:
        assert collect(response.iter_bytes()) == (chunks, late)
    # what came before is there, and no failure unit
    said = b"".join(chunks)
    assert said
    assert OUT.startswith(said)


async def test_a_time_out_of_the_client_is_a_failure_where_that_is_asked_for(library: Any) -> None:
    late = library.ReadTimeout("nothing came")
    async with async_client(library, mock(library, OPEN, end=late), timeouts="encode") as http:
        response = await http.get("http://x")
    with client(library, mock(library, OPEN, end=late), timeouts="encode") as http:
        assert http.get("http://x").content == response.content
    assert b"ReadTimeout" in response.content


@DROPPED
async def test_a_broken_stream(library: Any) -> None:
    bad = TURN[: TURN.index(b"event: contentStart")] + b"data: " + json.dumps(frame("contentEnd")).encode() + b"\n\n"
    async with async_client(library, mock(library, bad)) as http:
        assert b'"error"' in (await http.get("http://x/")).content
    async with async_client(library, mock(library, bad), errors="raise") as http:
        with pytest.raises(GrammarError):
            await http.get("http://x/")
    with client(library, mock(library, bad), errors="raise") as http, pytest.raises(GrammarError):
        http.get("http://x/")


# ---- heads and encodings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["identity", "gzip", "deflate"])
async def test_encodings_are_undone(library: Any, encoding: str) -> None:
    body = {"gzip": gzip.compress(TURN), "deflate": zlib.compress(TURN)}.get(encoding, TURN)
    below = mock(library, body, content_encoding=encoding, content_length=str(len(body)), etag='"1"', x_request_id="7")
    async with async_client(library, below) as http:
        answers = [await http.get("http://x/")]
    with client(library, below) as http:
        answers.append(http.get("http://x/"))
    for response in answers:
        assert response.content == OUT
        assert dict(response.headers) == {"content-type": "text/event-stream; charset=utf-8", "x-request-id": "7"}


@pytest.mark.parametrize(
    ("method", "status", "kind"),
    [("GET", 200, "application/json"), ("GET", 500, "text/event-stream"), ("HEAD", 200, "text/event-stream")],
)
async def test_what_is_no_stream_is_untouched(library: Any, method: str, status: int, kind: str) -> None:
    body = b"" if method == "HEAD" else gzip.compress(b"data: no unit\n\n")
    below = mock(library, body, status, content_type=kind, content_encoding="gzip", content_length="99", etag='"1"')

    def same(ours: Any, theirs: Any) -> None:
        assert (ours.status_code, ours.headers, ours.content) == (theirs.status_code, theirs.headers, theirs.content)

    async with async_client(library, below) as http, library.AsyncClient(transport=below) as bare:
        same(await http.request(method, "http://x/"), await bare.request(method, "http://x/"))
    with client(library, below) as http, library.Client(transport=below) as bare:
        same(http.request(method, "http://x/"), bare.request(method, "http://x/"))


async def test_the_transport_below_is_closed_with_ours(library: Any) -> None:
    told = []

    class Below(library.AsyncBaseTransport, library.BaseTransport):  # type: ignore[misc]
        async def __aenter__(self) -> Any:
            told.append("async enter")

        def __enter__(self) -> Any:
            told.append("enter")

        async def aclose(self) -> None:
            told.append("async close")

        def close(self) -> None:
            told.append("close")

    async with async_client(library, Below()):
        assert told.pop() == "async enter"
    assert told.pop() == "async close"
    with client(library, Below()):
        assert told.pop() == "enter"
    assert told.pop() == "close"
    await async_client(library, Below()).aclose()
    client(library, Below()).close()
    assert told == ["async close", "close"]


async def test_the_transport_below_hears_why_ours_is_left(library: Any) -> None:
    class Below(library.MockTransport):  # type: ignore[misc]
        async def __aexit__(self, *why: Any) -> None:
            heard.append(why[0])

        def __exit__(self, *why: Any) -> None:
            heard.append(why[0])

    heard: list[Any] = []
    ours = transport(library, Below(print))
    async with ours as entered:
        assert entered is ours
    with ours as entered:
        assert entered is ours
    with pytest.raises(Boom):
        async with ours:
            raise Boom
    with pytest.raises(Boom), ours:
        raise Boom
    assert heard == [None, None, Boom, Boom]


def test_wrong_arguments_are_known_at_once(library: Any) -> None:
    made = importlib.import_module(f"translate.adapters.{library.__name__}").TranslateTransport
    below = mock(library, b"")
    for args, options in ((("gateway-sse", "unievent"), {}), (FORMATS, {"loss": "some"}), (FORMATS, {"errors": "no"})):
        with pytest.raises(ValueError, match=r"objects|one of"):
            made(below, *args, **options)
    with pytest.raises(LookupError):
        made(below, "nothing", "unievent-sse")


# ---- a client that does not know of us -----------------------------------------------------------------------


async def test_the_client_of_mmsp_talks_to_a_gateway(monkeypatch: pytest.MonkeyPatch, anyio_backend: str) -> None:
    if anyio_backend == "trio":
        pytest.skip("mmsp runs on asyncio")
    reference = pytest.importorskip("tests.peers.reference")
    httpx = pytest.importorskip("httpx")
    with serving(saying(Reply(odd(TURN)))) as server:
        async with reference.client(server.server_port) as peer:
            http = peer._client._client
            below = http._transport
            monkeypatch.setattr(http, "_transport", transport(httpx, below))
            monkeypatch.setattr(http, "_mounts", {})
            events = await reference.answer(peer)
            message = peer.get_history()[1]
    assert [event["event_type"] for event in events][-1] == "stop"
    assert [item["type"] for item in message["content_items"]][:2] == ["thinking.done", "text.done"]
    assert message["content_items"][1]["text"] == "".join(
        unit["value"]["value"] for unit in FRAMES["turn"] if unit["value"]["type"] == "content"
    )
