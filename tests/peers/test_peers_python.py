"""Python's readers of server-sent events: a live httpx stream feeds us, and SSE readers see the native frames alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import anyio
import anyio.to_thread
import pytest

from tests.peers.scripts import NOW, cut, gateway, native, translated
from tests.peers.serving import PATIENCE, Reply, odd, saying, serving
from tests.sources import acollect
from translate import TruncatedStream, convert

httpx: Any = pytest.importorskip("httpx", reason="httpx is not installed: pip install -e '.[test]'")
pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("nothing_left")]
STREAMS = translated()


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def client() -> Any:
    """A client that asks no proxy."""
    return httpx.AsyncClient(trust_env=False, timeout=PATIENCE)


async def read(reply: Reply, **options: Any) -> tuple[list[Any], BaseException | None, Any]:
    """A gateway's answer as UniEvents, the error that ended them, and that of the output."""
    with serving(saying(reply)) as server:
        async with client() as http, http.stream("GET", server.url) as response:
            out = convert(response.aiter_bytes(), "gateway-sse", "unievent", clock=lambda: NOW, **options)
            units, error = await acollect(out)
            return units, error, out.failure


def whole(name: str) -> list[Any]:
    return list(convert(gateway(name), "gateway-sse", "unievent", clock=lambda: NOW))


@pytest.mark.parametrize("end", ["chunked", "close"])
@pytest.mark.parametrize("name", ["turn", "handover", "hostile"])
async def test_a_live_stream(name: str, end: Any) -> None:
    assert await read(Reply(odd(gateway(name)), end=end)) == (whole(name), None, None)


@pytest.mark.parametrize("end", ["chunked", "hang up", "close"])
async def test_an_upstream_that_ends_early(end: Any) -> None:
    units, error, _ = await read(Reply(odd(cut("turn")), end=end))
    # half a frame is none
    assert units == whole("turn")[: len(units)]
    assert [unit["event_type"] for unit in units] == ["delta"] * (len(whole("turn")) - 3)
    assert type(error) is (httpx.RemoteProtocolError if end == "hang up" else TruncatedStream)


@pytest.mark.parametrize("end", ["chunked", "hang up", "close"])
async def test_an_upstream_that_ends_early_where_errors_are_encoded(end: Any) -> None:
    units, error, failure = await read(Reply(odd(cut("turn")), end=end), errors="encode")
    assert error is None
    assert units[-1]["error"]["status"] == 502
    assert type(failure) is (httpx.RemoteProtocolError if end == "hang up" else TruncatedStream)
    assert [unit for unit in units[:-1] if unit["event_type"] == "stop"] == []


async def test_closing_the_output_closes_the_stream() -> None:
    def endless() -> Iterator[bytes]:
        yield gateway("turn")[:-200]
        yield from itertools.repeat(b": keep-alive\n\n" * 4096)

    with serving(saying(Reply(endless()))) as server:
        with anyio.fail_after(PATIENCE):
            async with client() as http, http.stream("GET", server.url) as response:
                source = response.aiter_bytes()
                async with convert(source, "gateway-sse", "gateway-sse") as out:
                    assert b"streamStart" in await anext(out)
                # httpx hangs up when its own block ends
                assert await acollect(source) == ([], None)
        assert await anyio.to_thread.run_sync(server.left.wait, PATIENCE)


# ---- readers ---------------------------------------------------------------------------------------------


def httpx_sse(response: Any) -> list[list[str]]:
    reader = pytest.importorskip("httpx_sse", reason="httpx-sse is not installed").EventSource(response)
    return [[event.event, event.data] for event in reader.iter_sse()]


def sdk(name: str, response: Any) -> list[list[str]]:
    """What the reader of a vendor's package sees."""
    decoder = pytest.importorskip(f"{name}._streaming", reason=f"{name} is not installed").SSEDecoder()
    return [[event.event, event.data] for event in decoder.iter_bytes(response.iter_bytes())]


@pytest.mark.parametrize("reader", ["httpx-sse", "openai", "anthropic"])
@pytest.mark.parametrize("name", STREAMS)
def test_readers_see_the_native_frames(name: str, reader: str) -> None:
    with serving(saying(Reply(odd(STREAMS[name])))) as server:
        with httpx.Client(trust_env=False, timeout=PATIENCE) as http, http.stream("GET", server.url) as response:
            seen = httpx_sse(response) if reader == "httpx-sse" else sdk(reader, response)
    assert seen == native(STREAMS[name])
