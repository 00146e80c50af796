"""What the sidecar does where descriptors run out: 503 to some, silence dropped, and never a flood of its own log."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.adapters.sidecars import (
    Asked,
    Wire,
    answers,
    ask,
    process,
    request,
    sidecar,
    streams,
    until,
    upstream,
)
from tests.peers.serving import HOST, PATIENCE
from translate import convert
from translate.algebra.events import Append, Close, Finish, Open

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

FORMATS = {"src": "unievent-sse", "dst": "gateway-sse"}
SAID = b"".join(convert([Open("text"), Append("é"), Close(), Finish()], "events", "unievent-sse"))
HALF = SAID[: SAID.index(b"\n\n", len(SAID) // 2) + 2]
WHOLE = b"".join(convert(SAID, "unievent-sse", "gateway-sse"))
SLOW = bool(os.environ.get("TRANSLATE_SLOW"))
PAIR = ("--from", "unievent-sse", "--to", "gateway-sse", "--port", "0")


def many(port: int, count: int, data: bytes) -> list[bytes]:
    """The first lines of the answers to a request that is sent on so many connections at once."""
    wires = [socket.create_connection((HOST, port), PATIENCE) for _ in range(count)]
    found: dict[socket.socket, bytes] = {}
    for each in wires:
        each.sendall(data)
    with selectors.DefaultSelector() as waiting:
        for each in wires:
            waiting.register(each, selectors.EVENT_READ)
        until = time.monotonic() + 2 * PATIENCE
        while len(found) < count and time.monotonic() < until:
            for key, _ in waiting.select(0.1):
                wire = key.fileobj
                assert isinstance(wire, socket.socket)
                try:
                    found[wire] = wire.recv(1000).partition(b"\r\n")[0]
                except ConnectionError as error:
                    found[wire] = type(error).__name__.encode()
                waiting.unregister(wire)
    for each in wires:
        each.close()
    return list(found.values())


@contextmanager
def slow_upstream(go: threading.Event) -> Iterator[str]:
    """An upstream that says half of a stream, and the rest when it is let; its address."""
    held: list[asyncio.StreamWriter] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + HALF)
            held.append(writer)

    async def serve() -> None:
        async with await asyncio.start_server(answer, HOST, 0, backlog=2048) as server:
            told.append(f"http://{HOST}:{server.sockets[0].getsockname()[1]}")
            while not go.is_set():
                await asyncio.sleep(0.05)
            for writer in held:
                writer.close()

    told: list[str] = []
    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        until(lambda: told)
        yield told[0]
    finally:
        go.set()
        thread.join(PATIENCE)


def test_many_streams_at_once_are_answered_or_told_to_come_again() -> None:
    go = threading.Event()
    with slow_upstream(go) as url, process("--upstream", url, *PAIR, FILES="1024") as made:
        port = made.port
        got = many(port, 1000, request("/x"))
        assert ask(port, request("/healthz")).status == 200
        go.set()
        made.signal()
        assert made.code() == 0
    found = {line: got.count(line) for line in got}
    assert found.keys() == {b"HTTP/1.1 200 OK", b"HTTP/1.1 503 Service Unavailable"}, found
    assert (len(got), found[b"HTTP/1.1 200 OK"]) == (1000, 360)
    assert "Traceback" not in made.log
    assert "1024 files may be open: 600 connections, 360 requests at once" in made.log


def test_silent_connections_leave_room_for_others() -> None:
    with upstream(answers()) as up, sidecar(up.url, FILES="256") as made:
        port, silent = made.port, [socket.create_connection((HOST, made.port), PATIENCE)]
        try:
            for _ in range(500):
                silent.append(socket.create_connection((HOST, port), PATIENCE))
            for target in ("/healthz", "/x"):
                assert ask(port, request(target)).status == 200
            # the longest silent went first
            assert silent[0].recv(1) == b""
            silent[-1].sendall(request("/x"))
            assert silent[-1].recv(12) == b"HTTP/1.1 200"
        finally:
            for each in silent:
                each.close()
    assert made.log.count(" WARNING ") == 1, made.log


@pytest.mark.skipif(not SLOW, reason="takes a minute, and 11,000 descriptors: TRANSLATE_SLOW=1")
def test_ten_thousand_silent_connections_leave_the_probes_answering() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 11_000:
        pytest.skip(f"{hard} descriptors are too few")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    silent: list[socket.socket] = []
    with upstream(answers()) as up, sidecar(up.url, FILES="1024") as made:
        try:
            for _ in range(20):
                for _ in range(500):
                    silent.append(socket.socket())
                    # those for which there is no room in the queue wait there, or are dropped
                    silent[-1].setblocking(False)
                    silent[-1].connect_ex((HOST, made.port))
                for target in ("/healthz", "/readyz", "/x"):
                    assert ask(made.port, request(target)).status == 200
        finally:
            for each in silent:
                each.close()
    assert made.log.count(" WARNING ") <= 4, made.log


def test_a_stream_that_runs_is_not_silent() -> None:
    go = threading.Event()

    def says(_: Asked) -> Iterator[bytes]:
        def live() -> Iterator[bytes]:
            yield HALF
            assert go.wait(PATIENCE)
            yield SAID[len(HALF) :]

        return streams(live())

    with upstream(says) as up, sidecar(up.url, FILES="256", **FORMATS) as made:
        with Wire(made.port, request("/x")) as running, Wire(made.port, request("/healthz")) as idle:
            running.head()
            assert idle.answer().status == 200
            silent = [socket.create_connection((HOST, made.port), PATIENCE) for _ in range(300)]
            assert ask(made.port, request("/healthz")).status == 200
            go.set()
            body, whole = running.body([(b"transfer-encoding", b"chunked")])
            assert (whole, body) == (True, WHOLE)
            assert idle.rest() == b""
            for each in silent:
                each.close()


def test_nothing_is_imported_once_it_listens() -> None:
    def says(asked: Asked) -> object:
        return streams([SAID]) if asked.target == b"/s" else answers()(asked)

    args = ("--upstream", "", *PAIR)
    with upstream(says) as up:  # type: ignore[arg-type]
        with process(args[0], up.url, *args[2:], PYTHONPROFILEIMPORTTIME="1") as made:
            port = made.port
            begun = len(made.lines)
            assert ask(port, request("/s", b"Accept: text/event-stream", method="POST", body=b"{}")).status == 200
            assert ask(port, request("/x")).status == 200
            assert ask(port, request("/../x")).status == 400
            for target in ("/metrics", "/healthz"):
                assert ask(port, request(target)).status == 200
            up.close()
            assert ask(port, request("/x")).status == 502
            made.signal()
            assert made.code() == 0
    late = made.lines[begun:]
    assert any("502" in line for line in late)
    assert [line for line in late if line.startswith("import time:")] == []


@pytest.mark.parametrize(
    ("files", "asked", "connections", "requests"),
    [
        *((1024, 1000, 600, 360), (20_000, 1000, 2064, 1000), (1 << 30, 1000, 2064, 1000)),
        *((256, 10, 84, 10), (70, 10, 5, 3)),
    ],
)
def test_the_room_that_descriptors_give(files: int, asked: int, connections: int, requests: int) -> None:
    from translate.adapters.sidecar.descriptors import RESERVE, Room

    room = Room.within(files, asked)
    assert (room.connections, room.requests) == (connections, requests)
    assert room.connections + room.requests + RESERVE <= max(files, RESERVE + 8)


def test_the_soft_limit_is_raised_to_the_hard_one() -> None:
    from translate.adapters.sidecar.descriptors import raised

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(128, hard), hard))
        assert raised() == hard
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_line_is_logged_once_a_minute_of_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    from translate.adapters.sidecar import logs

    now, told = [0.0], logs.Seldom(60)
    monkeypatch.setattr(logs, "monotonic", lambda: now[0])

    def said(what: str, level: int = logging.WARNING) -> str | None:
        record = logging.LogRecord("x", level, "", 0, what + " %d", (7,), None)
        return record.getMessage() if told.filter(record) else None

    assert said("a") == "a 7"
    assert [said("a"), said("a"), said("b")] == [None, None, "b 7"]
    assert said("a", logging.INFO) == "a 7"
    now[0] = 60.0
    assert said("a") == "a 7 (and 2 more like it since)"
    assert said("a") is None
    now[0] = 200.0
    assert said("a") == "a 7 (and 1 more like it since)"


def test_no_descriptor_for_the_upstream_is_no_fault_of_the_upstream() -> None:
    import errno

    import httpx2

    from translate.adapters.sidecar.forward import unavailable

    def raised(number: int) -> Exception:
        error = httpx2.ConnectError("All connection attempts failed")
        error.__cause__ = OSError("several")
        error.__cause__.__cause__ = ExceptionGroup("two", [OSError(number, "x")])
        return error

    for number in (errno.EMFILE, errno.ENFILE):
        found = unavailable(raised(number))
        assert found is not None
        assert (found.code, found.fields) == (503, ((b"retry-after", b"1"),))
    assert unavailable(raised(errno.ECONNREFUSED)) is None
