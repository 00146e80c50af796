"""The sidecar as a process, what is in front of it (a client of raw bytes) and what is behind (an upstream of them)."""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tests.peers.serving import HOST, PATIENCE

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "codecs")))}
COMMAND = (sys.executable, "-m", "translate", "serve")
_LISTENING = re.compile(r"(?:INFO translate\.sidecar: |\")listening on https?://(\S+):(\d+)\"?}?$")

_HUNG_UP = "ERROR uvicorn.error: ASGI callable returned without completing response."
"""What the server says where the sidecar has it hang up, amid an answer that cannot say more."""

Field: TypeAlias = tuple[bytes, bytes]


def until(condition: Callable[[], object], what: str = "it") -> None:
    """Wait till something holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what} did not come about"
        time.sleep(0.01)


# ---- the process -----------------------------------------------------------------------------------------


class Process:
    """A sidecar that runs: where it listens, and what it has logged."""

    def __init__(self, args: Iterable[str], **variables: str) -> None:
        """``variables`` are of its environment; ``FILES`` is the number of descriptors that it may have, at most."""

        def prepared() -> None:
            # a shell that starts the tests in the background has them ignore interrupts
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            if "FILES" in variables:
                files = int(variables["FILES"])
                resource.setrlimit(resource.RLIMIT_NOFILE, (files // 2, files))

        self._process = subprocess.Popen[str](
            [*COMMAND, *args],
            env={**ENVIRONMENT, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="backslashreplace",
            preexec_fn=prepared,
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n"))

    @property
    def log(self) -> str:
        """All that it has written so far, on either stream."""
        return "\n".join(self.lines)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens, once it does."""
        found: list[re.Match[str]] = []

        def listening() -> bool:
            found[:] = [match for line in list(self.lines) if (match := _LISTENING.search(line))]
            assert found or self.runs, self.log
            return bool(found)

        until(listening, "listening")
        return found[0][1], int(found[0][2])

    @property
    def port(self) -> int:
        return self.address[1]

    def signal(self, number: int = signal.SIGTERM) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def code(self, seconds: float = PATIENCE) -> int:
        """Its exit code, once it has ended, within so many seconds."""
        code = self._process.wait(seconds)
        self._reader.join(PATIENCE)
        return code

    def kill(self) -> None:
        """End it whatever it does."""
        self._process.kill()
        self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()


@contextmanager
def process(*args: str, **variables: str) -> Iterator[Process]:
    """The command with these arguments, while the block runs."""
    made = Process(args, **variables)
    try:
        yield made
    finally:
        made.kill()


@contextmanager
def sidecar(
    upstream: str, *args: str, src: str = "gateway-sse", dst: str = "unievent-sse", **variables: str
) -> Iterator[Process]:
    """A sidecar that serves while the block runs, ends well after it, and has logged no error and no traceback."""
    formats = ("--from", src, "--to", dst, "--port", "0")
    with process("--upstream", upstream, *formats, *args, **variables) as made:
        assert made.port
        yield made
        if made.runs:
            made.signal()
        assert made.code() == 0, made.log
        assert not any(each in made.log for each in ("Traceback", "socket.send()")), made.log
        errors = [line for line in made.lines if " ERROR " in line]
        assert not [line for line in errors if not line.endswith(_HUNG_UP)], made.log


# ---- in front --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Got:
    """An answer as it came."""

    status: int
    fields: list[Field]
    body: bytes
    whole: bool = True
    """Whether the body ended as its head had said."""

    def __getitem__(self, name: str) -> bytes | None:
        found = [value for key, value in self.fields if key.lower() == name.encode()]
        assert len(found) <= 1, found
        return found[0] if found else None


class Wire:
    """One connection, of raw bytes."""

    def __init__(self, port: int, data: bytes = b"") -> None:
        self._socket = socket.create_connection((HOST, port), PATIENCE)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")
        self.send(data)

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._socket.sendall(data)

    def line(self) -> bytes:
        """The next line."""
        return self._file.readline()

    def head(self) -> tuple[int, list[Field]]:
        """Status and fields of the next answer; those of 100 are passed over."""
        while True:
            first = self._file.readline()
            assert first.startswith(b"HTTP/1.1 "), first
            status, fields = int(first.split()[1]), []
            while (line := self._file.readline()) != b"\r\n":
                name, colon, value = line.partition(b":")
                assert colon, line
                fields.append((name, value.strip()))
            if status != 100:
                return status, fields

    def chunk(self) -> bytes | None:
        """The next chunk of a body, ``b""`` for the last; ``None`` where the connection ends instead."""
        with suppress(ConnectionError):
            size = self._file.readline()
            if size.endswith(b"\n"):
                data = self._file.read(int(size, 16) + 2)
                return data[:-2] if len(data) == int(size, 16) + 2 else None
        return None

    def body(self, fields: list[Field], *, empty: bool = False) -> tuple[bytes, bool]:
        """The body that belongs to a head, and whether it is whole."""
        given = {name.lower(): value for name, value in fields}
        if empty:
            return b"", True
        if b"transfer-encoding" in given:
            assert given[b"transfer-encoding"] == b"chunked"
            chunks: list[bytes] = []
            while chunk := self.chunk():
                chunks.append(chunk)
            return b"".join(chunks), chunk is not None
        if b"content-length" in given:
            size = int(given[b"content-length"])
            body = self._file.read(size)
            return body, len(body) == size
        return self._file.read(), True

    def answer(self, method: str = "GET") -> Got:
        """The next answer."""
        status, fields = self.head()
        body, whole = self.body(fields, empty=method == "HEAD" or status in (204, 304))
        return Got(status, fields, body, whole)

    def rest(self) -> bytes:
        """What comes until the other side hangs up."""
        with suppress(ConnectionError):
            return self._file.read()
        return b""

    def close(self) -> None:
        """Hang up."""
        self._file.close()
        self._socket.close()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def request(
    target: str | bytes = "/x", *lines: bytes, method: str = "GET", body: bytes = b"", host: bytes = b"127.0.0.1"
) -> bytes:
    """A request: its field lines as given, its length counted where it has a body."""
    raw = target.encode() if isinstance(target, str) else target
    fields = [b"Host: " + host, *lines, *([b"Content-Length: %d" % len(body)] if body else [])]
    return b"\r\n".join([b"%b %b HTTP/1.1" % (method.encode(), raw), *fields, b"", body])


def ask(port: int, data: bytes, method: str = "GET") -> Got:
    """The answer to a request on a connection of its own."""
    with Wire(port, data) as wire:
        return wire.answer(method)


# ---- behind ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    line: bytes
    fields: list[Field]
    body: bytes
    connection: int

    def all(self, name: str) -> list[bytes]:
        """The values of a field."""
        return [value for key, value in self.fields if key.lower() == name.encode()]

    @property
    def target(self) -> bytes:
        """Path and query."""
        return self.line.split(b" ")[1]


Says: TypeAlias = Callable[[Asked], Iterable[bytes]]
"""What is answered, as bytes in pieces; the connection is kept when they end, unless the last is ``HANG_UP``."""

HANG_UP = b"\x00hang up"


def answers(
    body: bytes = b"fine", *lines: bytes, status: bytes = b"200 OK", kind: bytes = b"text/plain"
) -> Callable[[Asked], list[bytes]]:
    """A script of one answer."""
    head = [b"HTTP/1.1 " + status, b"Content-Type: " + kind, b"Content-Length: %d" % len(body), *lines, b"", b""]
    return lambda _: [b"\r\n".join(head) + body]


def streams(pieces: Iterable[bytes], kind: bytes = b"text/event-stream") -> Iterator[bytes]:
    """A stream in chunks."""
    yield b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nTransfer-Encoding: chunked\r\n\r\n" % kind
    for piece in pieces:
        yield b"%x\r\n%b\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n"


@dataclass
class Recorder:
    """An upstream that keeps what it is sent, byte by byte."""

    says: Says
    asked: list[Asked] = field(default_factory=list)
    raw: dict[int, bytearray] = field(default_factory=dict)
    """All that came, by connection."""
    left: threading.Event = field(default_factory=threading.Event)
    """Whether someone hung up on an answer."""

    def __post_init__(self) -> None:
        self._listener = socket.create_server((HOST, 0))
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def port(self) -> int:
        """Where it is."""
        return int(self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        """Where it is, as one says it to a sidecar."""
        return f"http://{HOST}:{self.port}"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                connection.settimeout(PATIENCE)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._open.append(connection)
                thread = threading.Thread(target=self._serve, args=(connection, len(self.raw)))
                self.raw[len(self.raw)] = bytearray()
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        data = bytearray()

        def more() -> None:
            piece = connection.recv(65536)
            if not piece:
                raise EOFError
            data.extend(piece)
            self.raw[number].extend(piece)

        with suppress(OSError, EOFError), connection:
            while True:
                while b"\r\n\r\n" not in data:
                    more()
                head, _, rest = bytes(data).partition(b"\r\n\r\n")
                line, *lines = head.split(b"\r\n")
                fields = [(name, value.strip()) for name, _, value in (each.partition(b":") for each in lines)]
                size = sum(int(value) for name, value in fields if name.lower() == b"content-length")
                data[:] = rest
                while len(data) < size:
                    more()
                asked = Asked(line, fields, bytes(data[:size]), number)
                del data[:size]
                self.asked.append(asked)
                try:
                    for piece in self.says(asked):
                        if piece == HANG_UP:
                            return
                        connection.sendall(piece)
                except ConnectionError:
                    self.left.set()
                    return

    def close(self) -> None:
        """End all of it."""
        for each in (self._listener, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()


@contextmanager
def upstream(says: Says) -> Iterator[Recorder]:
    """An upstream, while the block runs."""
    made = Recorder(says)
    try:
        yield made
    finally:
        made.close()
