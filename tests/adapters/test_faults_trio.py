"""Some rows of the table of faults on another server, another client and another event loop."""

from __future__ import annotations

import socket
from functools import partial

import anyio
import pytest

pytest.importorskip("hypercorn", reason="a server on trio is needed")
pytest.importorskip("trio", reason="trio is not installed")
pytest.importorskip("uvicorn", reason="the table is that of the sidecar")
pytest.importorskip("httpx", reason="a client on trio is needed")

import httpx
from anyio.from_thread import start_blocking_portal
from hypercorn.config import Config
from hypercorn.trio import serve

from tests.adapters.fault import Fault
from tests.adapters.faulty import Answer, Upstream, Wire, upstream
from tests.adapters.test_faults import ROWS, Kept, check_answer, check_stats
from tests.peers.serving import HOST, PATIENCE
from translate.adapters import StreamResponse, Timeouts
from translate.adapters.asgi import Receive, Scope, Send

CHOSEN = (
    "refuses the connection",
    "closes before the head",
    "resets in mid-stream",
    "stalls before the head",
    "stalls in mid-stream",
    "ends the body in half a character",
    "says what is not JSON, in the chunk of good units",
    "reports a failure, first",
    "says it, and hangs up without the last chunk",
    "cuts what is compressed",
    "answers an error status with a body",
    "hangs up in the body of such an answer",
)


@pytest.mark.parametrize("anyio_backend", ["trio"])
@pytest.mark.parametrize("row", [row for row in ROWS if row.what in CHOSEN], ids=lambda row: row.what)
@pytest.mark.anyio
async def test_a_fault_has_the_row_of_the_table(row: Fault, anyio_backend: str) -> None:
    with start_blocking_portal("asyncio") as portal:
        with portal.wrap_async_context_manager(upstream(Wire("gateway-sse"), row.steps)) as far:
            with anyio.fail_after(PATIENCE):
                kept, answer = Kept(), Answer()
                await _answered(far, kept, answer)
                check_answer(row, answer, "unievent-sse")
                check_stats(row, kept.stats)
                while far.open:
                    await anyio.sleep(0.005)


async def _answered(far: Upstream, kept: Kept, answer: Answer) -> None:
    listener = socket.create_server((HOST, 0))
    port = listener.getsockname()[1]
    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    over = anyio.Event()
    async with httpx.AsyncClient(trust_env=False) as client, anyio.create_task_group() as group:

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            # a failure at the start says that there is no lifespan
            assert scope["type"] == "http"
            ask = partial(client.send, client.build_request("POST", far.url), stream=True)
            timeouts = Timeouts(first=0.6, idle=0.3)
            response = StreamResponse(ask, "gateway-sse", "unievent-sse", timeouts=timeouts, observer=kept)
            await response(scope, receive, send)

        group.start_soon(partial(serve, app, config, shutdown_trigger=over.wait))  # type: ignore[arg-type]
        try:
            async with client.stream("POST", f"http://{HOST}:{port}/") as response:
                answer.status = response.status_code
                answer.fields = dict(response.headers)
                async for data in response.aiter_raw():
                    answer.body += data
            answer.ended = True
        except httpx.RemoteProtocolError:
            pass
        over.set()
