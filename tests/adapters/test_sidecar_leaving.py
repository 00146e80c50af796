"""A client that leaves a sidecar: the connection to the upstream is closed at once, in whatever state."""

from __future__ import annotations

import re
import select
import socket
import statistics
import threading
from collections.abc import Iterator
from contextlib import suppress
from time import perf_counter

import pytest

from tests.adapters.sidecars import Process, request, sidecar, streams, until
from tests.adapters.upstreams import LARGE, UNITS
from tests.peers.serving import HOST, PATIENCE

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

ROUNDS = 13
PROMPT = 0.05
"""Seconds after which the upstream is left, in the median."""
STALLED = 0.05
"""Seconds in which nothing is taken under backpressure."""
SAYS = {"before the head": 0, "head only": 1, "idle in mid-part": 1 + len(UNITS[:3]), "under backpressure": 1 << 30}
"""How many pieces of an answer are said in a state."""


class Upstream:
    """Answers until a state is reached, then looks when it is left."""

    def __init__(self) -> None:
        self.state = ""
        self.left: list[float] = []
        self.reached = threading.Event()
        self._listener = socket.create_server((HOST, 0))
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{HOST}:{self._listener.getsockname()[1]}"

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                with connection:
                    data = b""
                    while not data.endswith(b"\r\n\r\n"):
                        data += connection.recv(65536)
                    self._answer(connection)
                    self.left.append(perf_counter())

    def _answer(self, connection: socket.socket) -> None:
        """Say what there is to say, until the other side has hung up."""
        pieces, rest, left = streams(_units()), memoryview(b""), SAYS[self.state]
        end = perf_counter() + PATIENCE
        connection.setblocking(False)
        while perf_counter() < end:
            if not rest and left:
                rest, left = memoryview(next(pieces)), left - 1
            if not rest:
                self.reached.set()
            readable, writable, _ = select.select([connection], [connection] if rest else [], [], STALLED)
            if readable:
                with suppress(ConnectionError):
                    assert connection.recv(1) == b""
                return
            if writable:
                with suppress(ConnectionError):
                    rest = rest[connection.send(rest) :]
            else:
                self.reached.set()

    def close(self) -> None:
        """End it."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


def _units() -> Iterator[bytes]:
    yield from UNITS[:3]
    while True:
        yield LARGE


@pytest.fixture(scope="module")
def up() -> Iterator[Upstream]:
    made = Upstream()
    yield made
    made.close()


@pytest.fixture(scope="module")
def running(up: Upstream) -> Iterator[Process]:
    with sidecar(up.url) as made:
        yield made


@pytest.mark.parametrize("state", SAYS)
def test_a_client_that_leaves_hangs_up_on_the_upstream(
    state: str, up: Upstream, running: Process, summary: list[str]
) -> None:
    seconds = []

    def logged() -> int:
        return len(re.findall(r"GET: \d+, disconnected", running.log))

    before = logged()
    up.state = state
    for count in range(1, ROUNDS + 1):
        up.left.clear()
        up.reached.clear()
        with socket.create_connection((HOST, running.port), PATIENCE) as client:
            client.sendall(request("/x"))
            assert up.reached.wait(PATIENCE)
            if state == "idle in mid-part":
                assert client.recv(1)
            began = perf_counter()
        until(lambda: up.left, "leaving the upstream")
        seconds.append(up.left[0] - began)
        until(lambda: logged() == before + count, "a line for each")  # noqa: B023
    median, most = statistics.median(seconds) * 1000, max(seconds) * 1000
    summary.append(f"client left, upstream left: sidecar, {state}: median {median:.2f} ms, max {most:.2f} ms")
    assert 0 < median < PROMPT * 1000
