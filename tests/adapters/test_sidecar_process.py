"""The sidecar as a process: how it ends, its arguments, and what it never logs."""

from __future__ import annotations

import logging
import math
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.adapters.sidecars import (
    ENVIRONMENT,
    HANG_UP,
    ROOT,
    Asked,
    Recorder,
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
from translate import UpstreamFailure, assemble, convert

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

TURN = (ROOT / "examples" / "claude-turn.unievent.sse").read_bytes()
SAID = b"".join(convert(TURN, "unievent-sse", "gateway-sse"))
HALF = TURN.index(b"data: ", 3000)
FORMATS = {"src": "unievent-sse", "dst": "gateway-sse"}
AGAIN = 1.2
"""Seconds after which a signal is a second one."""


# ---- how it ends -----------------------------------------------------------------------------------------


class Held:
    """An upstream that says half of a stream, and the rest when it is told to."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def __call__(self, asked: Asked) -> Iterator[bytes]:
        if asked.target == b"/plain":
            yield from answers()(asked)
        elif asked.target == b"/silent":
            self.go.wait(PATIENCE)
            yield HANG_UP
        elif asked.target == b"/file":
            yield b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha"
            self.go.wait(PATIENCE)
            yield b"lf"
        else:
            yield from streams(self._halves())

    def _halves(self) -> Iterator[bytes]:
        yield TURN[:HALF]
        self.go.wait(PATIENCE)
        yield TURN[HALF:]


@pytest.fixture
def held() -> Iterator[Held]:
    made = Held()
    yield made
    made.go.set()


@pytest.fixture
def up(held: Held) -> Iterator[Recorder]:
    with upstream(held) as made:
        yield made
        held.go.set()


def begun(port: int, target: str = "/x") -> tuple[Wire, list[tuple[bytes, bytes]], bytes]:
    """A request whose answer has begun: its connection, head and first chunk."""
    wire = Wire(port, request(target))
    _, fields = wire.head()
    return wire, fields, (wire.chunk() or b"") if target == "/x" else b""


def failed_with(body: bytes) -> int | None:
    """The code that a stream of the gateway ends in."""
    with pytest.raises(UpstreamFailure) as raised:
        assemble(body, "gateway-sse", "gateway")
    return raised.value.code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_what_runs_end_and_takes_nothing_new(number: int, held: Held, up: Recorder) -> None:
    with sidecar(up.url, "--grace", "15", **FORMATS) as made:
        idle = Wire(made.port, request("/plain"))
        assert idle.answer().status == 200
        wire, fields, first = begun(made.port)
        made.signal(number)
        until(lambda: "draining, for 15 s at most" in made.log)
        assert (ask(made.port, request("/readyz")).status, ask(made.port, request("/healthz")).status) == (503, 200)
        for target in ("/plain", "/x"):
            refused = ask(made.port, request(target))
            assert (refused.status, refused["connection"], refused["retry-after"]) == (503, b"close", b"1")
        assert made.runs
        held.go.set()
        body, whole = wire.body(fields)
        assert (first + body, whole) == (SAID, True)
        # a connection that says nothing does not hold it
        assert made.code(5) == 0
        assert idle.rest() == b""
        for each in (wire, idle):
            each.close()
    assert [asked.target for asked in up.asked] == [b"/plain", b"/x"]


def test_nothing_runs_and_it_ends_at_once(up: Recorder) -> None:
    with sidecar(up.url, **FORMATS) as made, Wire(made.port), Wire(made.port, b"GET / HT"):
        assert ask(made.port, request("/plain")).status == 200
        made.signal()
        assert made.code(3) == 0


def test_what_outlasts_the_grace_ends_in_a_failure(held: Held, up: Recorder) -> None:
    with sidecar(up.url, "--grace", "0.3", **FORMATS) as made:
        stream, fields, first = begun(made.port)
        file, file_fields, _ = begun(made.port, "/file")
        silent = Wire(made.port, request("/silent"))
        arriving = Wire(made.port, request("/x", b"Content-Length: 5", method="POST") + b"hell")
        until(lambda: len(up.asked) == 3)
        made.signal()
        body, whole = stream.body(fields)
        assert (whole, failed_with(first + body)) == (True, 503)
        assert file.body(file_fields) == (b"ha", False)
        for wire in (silent, arriving):
            got = wire.answer()
            assert (got.status, got.whole) == (503, True)
        assert made.code(5) == 0
        for each in (stream, file, silent, arriving):
            each.close()
        assert made.log.count("stopped") >= 2
    assert len(up.asked) == 3


def test_a_second_signal_ends_the_streams_and_one_that_comes_double_does_not(held: Held, up: Recorder) -> None:
    with sidecar(up.url, "--grace", "60", **FORMATS) as made:
        wire, fields, first = begun(made.port)
        made.signal()
        made.signal()
        time.sleep(AGAIN)
        assert made.runs
        assert ask(made.port, request("/readyz")).status == 503
        made.signal()
        body, whole = wire.body(fields)
        assert (whole, failed_with(first + body)) == (True, 503)
        assert made.code(5) == 0
        wire.close()


def test_a_client_that_takes_nothing_does_not_hold_the_exit() -> None:
    units = [unit + b"\n\n" for unit in TURN.split(b"\n\n")]
    at = next(n for n, unit in enumerate(units) if b"text.delta" in unit)
    fed = [0]

    def says(_: Asked) -> Iterator[bytes]:
        def live() -> Iterator[bytes]:
            yield from units[:at]
            while True:
                fed[0] += 1
                yield units[at] * 100

        return streams(live())

    formats = ("--from", "unievent-sse", "--to", "gateway-sse", "--port", "0")
    with upstream(says) as up, process("--upstream", up.url, *formats, "--grace", "0.3") as made:
        with Wire(made.port, request("/x")):
            until(lambda: fed[0] > 100)

            def stuck() -> bool:
                before = fed[0]
                time.sleep(0.3)
                return fed[0] == before

            until(stuck)
            made.signal()
            assert made.code(5) == 0
    assert "Traceback" not in made.log


# ---- its arguments ---------------------------------------------------------------------------------------


def test_it_listens_on_this_machine_only_unless_told_otherwise(up: Recorder) -> None:
    with sidecar(up.url) as made:
        assert made.address[0] == HOST
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", made.port), PATIENCE)
    with sidecar(up.url, "--host", "127.0.0.2") as made:
        assert made.address[0] == "127.0.0.2"
        with pytest.raises(ConnectionRefusedError):
            ask(made.port, request("/plain"))


def run(*args: str, **variables: str) -> tuple[int, str]:
    """Exit code and output of a command that ends by itself."""
    with process(*args, **variables) as made:
        return made.code(), made.log


PAIR = ("--from", "gateway-sse", "--to", "unievent-sse")


def test_a_port_that_is_taken_is_status_3() -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = str(taken.getsockname()[1])
        code, log = run("--upstream", "http://127.0.0.1:9", *PAIR, "--port", port)
    assert (code, log.count("\n")) == (3, 0)
    assert f"cannot listen on 127.0.0.1 port {port}" in log


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", "65536"), ("203.0.113.1", "0"), ("host.invalid", "0")])
def test_an_address_that_cannot_be_had_is_status_3(host: str, port: str) -> None:
    code, log = run("--upstream", "http://127.0.0.1:9", *PAIR, "--port", port, "--host", host)
    assert (code, log.count("\n")) == (3, 0)


@pytest.mark.parametrize(
    "url",
    [
        *("", "x", "127.0.0.1:9", "ftp://x", "//x", "http://", "http:///x", "http://x?y", "http://x/?", "http://x#y"),
        *("http://x/#", "http://user@x", "http://user:secret@x", "http://@x", "http://x:port", "http://x:65536"),
        *("http://x:0", "http://x:-1", "http://x y", "http://x/a b", "http://x/../y", "http://x/%2e%2e", "http://x\\y"),
        *("http://é", "http://[::1", "http://x/\n", "file:///etc/passwd", "unix:/x", "http://x/./"),
    ],
)
def test_a_url_that_is_no_upstream_is_status_2(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    from translate.cli import main

    assert main(["serve", "--upstream", url, *PAIR, "--port", "0"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "secret" not in said


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="the system cannot be told")
@pytest.mark.parametrize("seconds", [3e6, math.inf])
def test_a_time_that_is_too_long_for_the_system_is_its_longest(seconds: float) -> None:
    from translate.adapters.sidecar.connection import hang_up_on_stalled

    with socket.create_server((HOST, 0)) as listener:
        hang_up_on_stalled(listener, seconds)
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 2**31 - 1


def test_formats_that_are_none_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    from translate.cli import main

    assert main(["serve", "--upstream", "http://x", "--from", "nonsense", "--to", "gateway-sse"]) == 4
    assert main(["serve", "--upstream", "http://x", "--from", "gateway-sse", "--to", "unievent"]) == 2
    assert capsys.readouterr().err.count("\n") == 2


@pytest.mark.parametrize("package", ["uvicorn", "httpx2"])
def test_without_what_it_needs_it_says_what_to_install(package: str, tmp_path: Path) -> None:
    code = f"import sys; sys.modules[{package!r}] = None; from translate.cli import main; sys.exit(main())"
    args = ["serve", "--upstream", "http://127.0.0.1:9", *PAIR]
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert package in done.stderr
    assert "pip install -e '.[serve]'" in done.stderr


def test_its_options_reach_the_conversion(up: Recorder) -> None:
    up.says = answers(SAID, kind=b"text/event-stream")
    with sidecar(up.url, "--loss", "drop", src="gateway-sse", dst="unievent-sse") as made:
        body = ask(made.port, request("/x")).body
    assert b": carry" not in body
    assert assemble(body, "unievent-sse", "unievent")["content_items"]


# ---- what it never logs ----------------------------------------------------------------------------------

MARKER = "s3cret"
_M = MARKER.encode()
BROKEN: dict[str, list[bytes]] = {
    "passes": answers(_M, b"X-Own: " + _M)(None),  # type: ignore[arg-type]
    "refuses": answers(_M, status=b"500 " + _M)(None),  # type: ignore[arg-type]
    "no head": [_M + b"\r\n\r\n", HANG_UP],
    "no field": [b"HTTP/1.1 200 OK\r\n" + _M + b"\r\n\r\n", HANG_UP],
    "no chunk": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n" + _M + b"\r\n", HANG_UP],
    "no chunk in a stream": [b"".join(streams([TURN[:HALF]]))[:-5] + _M + b"\r\n", HANG_UP],
    "no stream": answers(b"data: " + _M + b"\n\n", kind=b"text/event-stream")(None),  # type: ignore[arg-type]
    "no unit": answers(TURN[:HALF] + b"\n\ndata: {" + _M + b"}\n\n", kind=b"text/event-stream")(None),  # type: ignore[arg-type]
    "no gzip": answers(_M, b"Content-Encoding: gzip", kind=b"text/event-stream")(None),  # type: ignore[arg-type]
    "elsewhere": answers(_M, b"Location: http://" + _M, status=b"302 Found")(None),  # type: ignore[arg-type]
    "no location": answers(_M, b"Location: http://[" + _M, status=b"302 Found")(None),  # type: ignore[arg-type]
    "no text": answers(_M, kind=_M)(None),  # type: ignore[arg-type]
}
"""What an upstream says, all of it with content that is nobody's business."""


def secretly(method: str = "POST") -> bytes:
    """A request all of which is nobody's business."""
    lines = (b"Authorization: Bearer " + _M, b"Cookie: id=" + _M, b"X-Own: " + _M, _M + b": x", b"Referer: /" + _M)
    return request(f"/{MARKER}?{MARKER}={MARKER}", *lines, method=method, body=_M)


def attacks(port: int) -> None:
    """Requests that are refused, with content in what they are refused for."""
    for target in (f"/../{MARKER}", f"http://{MARKER}/", f"/{MARKER}#", f"/{MARKER}" * 2000, f"/ {MARKER}"):
        assert ask(port, request(target)).status in (400, 414)
    for line in (b"Content-Length: " + _M, b"Transfer-Encoding: " + _M, b"X: \0" + _M, b"X\0: " + _M):
        assert ask(port, request("/x", line)).status == 400
    assert ask(port, request("/x", method=MARKER)).status == 405
    assert ask(port, request("/x", b"X-Request-Id: a " + _M)).status < 503
    assert ask(port, request("/x", b"Transfer-Encoding: chunked", method="POST") + _M + b"\r\n").status == 400


def test_what_it_forwards_is_in_no_log() -> None:
    with upstream(answers()) as up, sidecar(up.url, "--keep-client", "1", **FORMATS) as made:
        attacks(made.port)
        for name, said in BROKEN.items():
            up.says = lambda _, said=said: said  # type: ignore[misc]
            with Wire(made.port, secretly()) as wire:
                assert wire.head()[0] in (200, 500, 502), name
                wire.rest() if name.startswith("no chunk") else None
        until(lambda: made.log.count(" POST: ") >= len(BROKEN))
    assert MARKER not in made.log


class _Sink(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name} {self.format(record)}")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
@pytest.mark.parametrize("name", BROKEN)
async def test_nor_is_it_where_everything_is_logged(name: str) -> None:
    """In a process of its own; the HTTP client it uses does log header fields, at a level that it is not let have."""
    import httpx2

    from translate.adapters.sidecar import Settings, Sidecar, server

    sink, root, level = _Sink(), logging.getLogger(), logging.getLogger().level
    sink.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    root.addHandler(sink)
    root.setLevel(logging.DEBUG)
    filtered = ("translate.sidecar", "translate.adapters", "uvicorn.error", "asyncio")
    filters = {each: list(logging.getLogger(each).filters) for each in filtered}
    server.quiet()
    try:
        with upstream(lambda _: BROKEN[name]) as up:
            app: Any = Sidecar(Settings(up.url, "unievent-sse", "gateway-sse"))
            transport = httpx2.ASGITransport(app)
            headers = {"authorization": MARKER, "x-own": MARKER, "cookie": MARKER}
            asked = httpx2.Request("POST", f"http://sidecar/{MARKER}?{MARKER}", headers=headers, content=_M)
            with anyio.fail_after(PATIENCE):
                with suppress(AssertionError):  # what hangs up is no answer
                    await transport.handle_async_request(asked)
            assert up.asked
    finally:
        root.removeHandler(sink)
        root.setLevel(level)
        for each in ("httpcore2", "httpx2"):
            logging.getLogger(each).setLevel(logging.NOTSET)
        for each, before in filters.items():
            logging.getLogger(each).filters[:] = before
    assert any("translate.sidecar INFO" in line for line in sink.lines)
    assert not [line for line in sink.lines if MARKER in line]
