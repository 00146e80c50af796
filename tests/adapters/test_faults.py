"""Every row of the table of faults, on the sidecar."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the sidecar needs uvicorn")
pytest.importorskip("httpx2", reason="the sidecar needs httpx2")

from tests.adapters.fault import LEVELS, Fault, printed
from tests.adapters.faults import FAULTS, WHOLE, fine
from tests.adapters.faulty import REPORTED, SECRET, Answer, Client, Upstream, Wire, chunk, upstream
from tests.peers.serving import HOST, PATIENCE
from translate import Limits, decode
from translate.adapters import Stats, Timeouts, TranslateMiddleware
from translate.adapters.asgi import Message, Receive, Scope, Send
from translate.adapters.observe import Observer
from translate.adapters.sidecar import Settings, Sidecar
from translate.adapters.sidecar.descriptors import Room
from translate.adapters.sidecar.server import Server, configured
from translate.algebra.events import Append, Failure, Finish

ROWS = [row for rows in FAULTS.values() for row in rows]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "faults.md"
OURS = ("translate.adapters", "translate.sidecar")

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Kept(Observer):
    """Keeps the figures of streams that ended."""

    def __init__(self) -> None:
        self.stats: list[Stats] = []

    def on_end(self, stats: Stats) -> None:
        self.stats.append(stats)


class Service:
    """A sidecar that is served."""

    def __init__(self, url: str, src: str, dst: str) -> None:
        self.kept = Kept()
        settings = Settings(
            url,
            src,
            dst,
            max_body=1000,
            body_timeout=0.3,
            connect_timeout=0.3,
            keep_upstream=0,
            timeouts=Timeouts(first=0.6, idle=0.3, write=0.3),
            options={"limits": Limits(unit=8192, part=200_000)},
        )
        listener = self.listener = socket.create_server((HOST, 0))
        # little room, so that a client that does not read is noticed
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
        self.port = listener.getsockname()[1]
        sidecar = Sidecar(settings, self.kept)
        self.server = Server(configured(sidecar, listener), sidecar, Room(1000, 100, 100), grace=1)

    @property
    def connections(self) -> int:
        """How many there are from clients."""
        return len(self.server.server_state.connections)


@asynccontextmanager
async def served(url: str, src: str, dst: str) -> AsyncIterator[Service]:
    service = Service(url, src, dst)
    server, config = service.server, service.server.config
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup([service.listener])
    try:
        yield service
    finally:
        # as its shutdown does, but for the pauses
        await server.stop_accepting()
        await until("all requests are over", lambda: not server.server_state.tasks)
        await server.lifespan.shutdown()


async def until(what: str, condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not in time: {what}"
        await asyncio.sleep(0.005)


@pytest.mark.parametrize("direction", ["gateway-sse→unievent-sse", "unievent-sse→gateway-sse"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
async def test_a_fault_has_the_row_of_the_table(row: Fault, direction: str, caplog: pytest.LogCaptureFixture) -> None:
    src, dst = direction.split("→")
    caplog.set_level(logging.DEBUG)
    async with upstream(Wire(src), row.steps) as far, served(far.url, src, dst) as service:
        caplog.clear()
        client, answer = Client(service.port), None
        try:
            await client.send(row.request)
            if row.client == "stalls":
                await until("the request is over", lambda: _lines(caplog, "translate.sidecar"))
            if row.client == "leaves":
                await _seen_by(far, row)
            else:
                answer = await client.answer()
        finally:
            client.close()
        if row.outcome is not None or row.refused:
            await until("the request is logged", lambda: _lines(caplog, "translate.sidecar"))
        if answer is not None:
            check_answer(row, answer, dst)
        check_stats(row, service.kept.stats)
        _check_log(row, caplog)
        await _check_upstream(row, far)
        await until("the client's connection is closed", lambda: not service.connections)


async def _seen_by(far: Upstream, row: Fault) -> None:
    """The sidecar is amid what the client is to leave."""
    if row.asked:
        async with asyncio.timeout(PATIENCE):
            await far.asked.wait()
    await asyncio.sleep(0.1)


def check_answer(row: Fault, answer: Answer, dst: str) -> None:
    assert answer.status == row.status
    assert answer.ended == (row.ends not in ("cut", "nothing"))
    kind = answer.fields.get("content-type", "")
    if row.ends in ("whole", "failure unit"):
        assert kind == "text/event-stream; charset=utf-8"
        events = list(decode(answer.body, dst))
        text = "".join(event.data for event in events if type(event) is Append and isinstance(event.data, str))
        assert text.startswith(SECRET) != row.bare
        last = events[-1]
        if row.ends == "whole":
            assert type(last) is Finish
            assert text == SECRET + "é!"
        else:
            assert type(last) is Failure
            assert (last.code, last.message[: len(row.message)]) == (row.code, row.message)
    elif row.ends == "status":
        assert kind == "application/json"
        failure = json.loads(answer.body)
        code, message = (
            (failure["code"], failure["message"])
            if dst == "gateway-sse"
            else (failure["error"]["status"], failure["error"]["message"])
        )
        assert (code, message[: len(row.message)]) == (row.status, row.message)
    else:
        assert answer.body.startswith(row.message.encode())


def check_stats(row: Fault, stats: list[Stats]) -> None:
    if row.outcome is None:
        assert stats == []
        return
    (one,) = stats
    assert one.outcome == row.outcome
    failure = row.failure.partition(",")[0]
    assert (type(one.failure).__name__ if one.failure is not None else "") == failure


def _check_log(row: Fault, caplog: pytest.LogCaptureFixture) -> None:
    lines = _lines(caplog, "translate.adapters")
    assert len(lines) == (row.outcome is not None)
    if row.outcome is not None:
        assert lines[0].levelno == LEVELS.get(row.outcome, logging.WARNING)
        assert f": {row.outcome}{f' ({row.failure}' if row.failure else ';'}" in lines[0].getMessage()
    lines = _lines(caplog, "translate.sidecar")
    assert len(lines) == (row.outcome is not None or row.refused)
    if lines:
        outcome = row.outcome or ("disconnected" if row.ends == "gone" else "refused")
        assert f" POST: {row.status or 0}, {outcome}" in lines[0].getMessage()
    others = [each for each in caplog.records if each.name not in OURS and each.levelno >= logging.WARNING]
    for record, (logger, level, message) in zip(others, row.logged, strict=True):
        assert (record.name, record.levelname, record.getMessage()[: len(message)]) == (logger, level, message)
    for record in caplog.records:
        assert record.exc_info is None
        assert SECRET not in record.getMessage()
        assert REPORTED not in record.getMessage()


async def _check_upstream(row: Fault, far: Upstream) -> None:
    assert far.connections == (row.asked and row.upstream != "not connected")
    await until("the upstream's connection is closed", lambda: not far.open, seconds=2)


def _lines(caplog: pytest.LogCaptureFixture, logger: str) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.name == logger]


async def test_each_request_has_a_connection_of_its_own() -> None:
    row = fine("ends well", *WHOLE, b"0\r\n\r\n")
    async with upstream(Wire("gateway-sse"), row.steps) as far:
        async with served(far.url, "gateway-sse", "unievent-sse") as service:
            for _ in range(2):
                client = Client(service.port)
                try:
                    await client.send(row.request)
                    answer = await client.answer()
                finally:
                    client.close()
                assert (answer.status, answer.ended) == (200, True)
                await asyncio.sleep(0.05)
            assert [stats.outcome for stats in service.kept.stats] == ["finished"] * 2
            assert far.connections == 2


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="the system cannot drop clients that stall")
async def test_a_client_that_never_reads_again_is_dropped() -> None:
    row = fine("says much", *WHOLE[:1], *(chunk("parts"),) * 3)
    async with upstream(Wire("gateway-sse"), row.steps) as far:
        async with served(far.url, "gateway-sse", "unievent-sse") as service:
            client = Client(service.port)
            try:
                await client.send(row.request)
                await until("the stream times out", lambda: service.kept.stats)
                assert service.connections == 1
                await until("the client is dropped", lambda: not service.connections, seconds=5)
            finally:
                client.close()


async def test_a_refused_body_that_does_not_end_is_not_read_for_ever() -> None:
    async with served("http://127.0.0.1:9", "gateway-sse", "unievent-sse") as service:
        client = Client(service.port)
        piece = b"3e8\r\n" + b"x" * 1000 + b"\r\n"
        try:
            await client.send(b"POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n" + piece * 2)
            answer = await client.answer()
            assert (answer.status, answer.ended) == (413, True)
            with pytest.raises(ConnectionError):
                await _sent_for_ever(client, piece)
        finally:
            client.close()


async def test_what_a_server_says_after_the_answer_is_not_that_the_client_left() -> None:
    kept, over = Kept(), asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        fields = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": fields})
        await send({"type": "http.response.body", "body": Wire("gateway-sse").begin, "more_body": False})
        assert (await receive())["type"] == "http.disconnect"

    async def receive() -> Message:
        await over.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body" and not message["more_body"]:
            over.set()

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    async with asyncio.timeout(PATIENCE):
        await TranslateMiddleware(app, "gateway-sse", "unievent-sse", observer=kept)(scope, receive, send)
    assert [stats.outcome for stats in kept.stats] == ["cut"]


async def _sent_for_ever(client: Client, piece: bytes) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            await asyncio.get_running_loop().sock_sendall(client.sock, piece)
            await asyncio.sleep(0.01)


def test_the_page_is_the_table() -> None:
    assert PAGE.read_text() == printed(FAULTS)
