"""Connections that are kept: which are used again, for how long, and that an answer is for one request alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.adapters.sidecars import (
    Asked,
    Process,
    Recorder,
    Wire,
    answers,
    ask,
    request,
    sidecar,
    streams,
    upstream,
)
from translate import convert
from translate.algebra.events import Append, Close, Finish, Open

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

TURN = b"".join(convert([Open("text"), Append("x"), Close(), Finish()], "events", "gateway-sse"))


@pytest.fixture(scope="module")
def recorder() -> Iterator[Recorder]:
    with upstream(answers()) as made:
        yield made


@pytest.fixture(scope="module")
def running(recorder: Recorder) -> Iterator[Process]:
    with sidecar(f"{recorder.url}/base/") as made:
        yield made


@pytest.fixture
def up(recorder: Recorder) -> Recorder:
    recorder.asked.clear()
    recorder.says = answers()
    return recorder


@pytest.fixture
def port(running: Process, up: Recorder) -> int:
    return running.port


ANOTHERS = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret"


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(ANOTHERS), ANOTHERS)),
        ("GET", b"HTTP/1.1 204 No Content\r\n\r\n" + ANOTHERS),
        ("GET", b"HTTP/1.1 304 Not Modified\r\n\r\n" + ANOTHERS),
        ("GET", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + ANOTHERS),
        ("GET", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" + ANOTHERS),
    ],
)
def test_what_an_upstream_says_too_much_answers_nobody(method: str, said: bytes, up: Recorder, port: int) -> None:
    up.says = lambda asked: [said] if asked.target == b"/base/first" else answers(b"mine")(asked)
    assert b"secret" not in ask(port, request("/first", method=method), method).body
    assert [ask(port, request("/second")).body for _ in range(3)] == [b"mine"] * 3
    # the connection of the first was not used again, that of the others was
    first, *others = [asked.connection for asked in up.asked]
    assert first not in others
    assert len(set(others)) == 1


def test_a_connection_that_ended_clean_is_used_again(up: Recorder, port: int) -> None:
    kinds = (answers(b"x" * 100_000), answers(b""), lambda _: streams([TURN]), lambda _: streams([b"a"], b"text/x"))
    for n, says in enumerate((*kinds, *kinds)):
        up.says = says
        assert ask(port, request(f"/{n}", method="POST", body=b"x" * n)).status == 200
    assert len({asked.connection for asked in up.asked}) == 1


def test_a_connection_that_is_idle_is_not_kept_for_long(up: Recorder, port: int) -> None:
    for _ in range(2):
        assert ask(port, request("/x")).status == 200
        time.sleep(1.2)
    assert len({asked.connection for asked in up.asked}) == 2


def test_connections_need_not_be_kept() -> None:
    with upstream(answers()) as up, sidecar(up.url, "--keep-upstream", "0") as made:
        assert [ask(made.port, request("/x")).status for _ in range(2)] == [200, 200]
        assert len({asked.connection for asked in up.asked}) == 2


def test_for_how_long_a_client_is_kept_is_an_option() -> None:
    with upstream(answers()) as up, sidecar(up.url, "--keep-client", "1") as made:
        with Wire(made.port, request("/x")) as wire:
            assert wire.answer().status == 200
            began = time.monotonic()
            assert wire.rest() == b""
            assert 0.5 < time.monotonic() - began < 5
    with upstream(answers()) as up, sidecar(up.url, "--body", "0.5") as made:
        with Wire(made.port, request("/x")) as wire:
            assert wire.answer().status == 200
            time.sleep(1)
            # the time for a head begins with it
            wire.send(request("/y"))
            assert wire.answer().status == 200


def test_requests_that_are_cancelled_leave_nothing_to_others(up: Recorder, port: int) -> None:
    def says(asked: Asked) -> Iterator[bytes]:
        pause = threading.Event()
        marker = asked.target.removeprefix(b"/base/")
        for piece in streams([marker + b"\n"] * 20, b"text/plain"):
            pause.wait(0.002)
            yield piece

    def one(n: int) -> None:
        with Wire(port, request(f"/marker-{n}", method="POST", body=b"x" * n)) as wire:
            if n % 3 == 0:
                return
            if n % 3 == 1:
                wire.head()
                wire.chunk()
                return
            got = wire.answer()
            assert (got.status, got.whole, got.body) == (200, True, b"marker-%d\n" % n * 20)

    up.says = says
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(150)))
    connections = [asked.connection for asked in up.asked]
    assert len(connections) >= 100
    assert len(set(connections)) < len(connections)
