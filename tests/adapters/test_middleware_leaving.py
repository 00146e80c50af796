"""An application behind the middleware whose client leaves: it is told, or it is ended."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.adapters.calling import Call, Message
from tests.adapters.test_middleware import OUT, TURN, Log, body, saying, start, through, wrapped
from tests.peers.serving import PATIENCE

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("asks", [0, 1])
@pytest.mark.parametrize("held", [False, True])
async def test_a_client_that_leaves_ends_an_application_that_does_not_look(asks: int, held: bool) -> None:
    call, log, waits, closed = Call(), Log(), anyio.Event(), anyio.Event()

    async def wait() -> None:
        waits.set()
        await anyio.sleep_forever()

    async def send(message: Message) -> None:
        await call.send(message)
        if held and call.told.is_set():
            await wait()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            for _ in range(asks):
                await receive()
            await saying(start(), body(TURN[:1000]), wait)(scope, receive, send)
        finally:
            closed.set()

    async with anyio.create_task_group() as group:
        with anyio.fail_after(PATIENCE):
            group.start_soon(wrapped(app, observer=log, ping=None), call.scope, call.receive, send)
            await waits.wait()
            call.leave()
            await closed.wait()
    assert (log.outcomes, call.complete) == (["disconnected"], False)


@pytest.mark.parametrize("leaves", [False, True])
async def test_an_application_reads_its_request_while_it_streams(leaves: bool) -> None:
    """It gets each message once and in turn, and at most one is read before it asks."""
    call, log, read, got = Call(), Log(), 0, list[Message]()
    messages: list[Message] = [{"type": "http.request", "body": b"%d" % n, "more_body": n < 4} for n in range(5)]

    async def receive() -> Message:
        nonlocal read
        await anyio.lowlevel.checkpoint()
        if read < len(messages):
            read += 1
            return messages[read - 1]
        if not leaves:
            await anyio.sleep_forever()
        return {"type": "http.disconnect"}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(start())
        await send(body(TURN[:1000]))
        for n in range(5):
            if n % 2:
                await anyio.wait_all_tasks_blocked()
            assert read <= n + 1
            got.append(await receive())
        if leaves:
            assert [(await receive())["type"] for _ in range(2)] == ["http.disconnect"] * 2
        else:
            with anyio.CancelScope() as cancelled:
                cancelled.cancel()
                await receive()
            await send(body(TURN[1000:]))

    with anyio.fail_after(PATIENCE):
        await wrapped(app, observer=log)(call.scope, receive, call.send)
    assert got == messages
    assert log.outcomes == ["disconnected" if leaves else "finished"]


async def test_what_has_come_is_there_for_an_application_that_only_looks() -> None:
    """As Starlette does to see whether a client has left."""

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for at_start in (True, False):
            with anyio.CancelScope() as cancelled:
                cancelled.cancel()
                seen.append((await receive())["type"])
            if at_start:
                await send(start())

    seen: list[str] = []
    await wrapped(app)(Call().scope, receive, Call().send)
    assert seen == ["http.disconnect"] * 2


async def test_a_client_that_leaves_after_all_was_said_cancels_nothing() -> None:
    call, log, ended = Call(), Log(), list[str]()

    async def tail() -> None:
        call.leave()
        await anyio.sleep(0.05)
        ended.append("tail")

    await through(saying(start(), body(TURN), tail, end=False), call, observer=log)
    assert (ended, log.outcomes, call.body) == (["tail"], ["finished"], OUT)
