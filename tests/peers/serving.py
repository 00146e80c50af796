"""A small HTTP server on loopback that answers by a script. Nothing of it is left when its block ends."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, TypeAlias

HOST = "127.0.0.1"
PATIENCE = 20.0
"""Seconds that anything may take."""
ODD = (1, 2, 3, 5, 7, 11, 1, 997)
"""Sizes of pieces that end inside characters, line ends and comments."""


def odd(data: bytes) -> Iterator[bytes]:
    """The bytes, cut oddly; far into a long stream into larger pieces."""
    at = 0
    sizes = itertools.cycle(ODD)
    while at < len(data):
        size = next(sizes) if at < 50_000 else 4_999
        yield data[at : at + size]
        at += size


@dataclass(frozen=True)
class Reply:
    """An answer: the pieces of its body, and how it ends."""

    pieces: Iterable[bytes]
    kind: str = "text/event-stream; charset=utf-8"
    end: Literal["chunked", "hang up", "close"] = "chunked"
    """With the last chunk, without it, or (and then not in chunks) with the connection."""


Script: TypeAlias = Callable[[str, bytes], Reply]
"""What is answered to a path and a body."""


class Served(ThreadingHTTPServer):
    """The server: what it was asked, and whether a client went away."""

    daemon_threads = False

    def __init__(self, script: Script) -> None:
        super().__init__((HOST, 0), _Handler)
        self.script = script
        self.asked: list[bytes] = []
        self.left = threading.Event()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{HOST}:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        assert isinstance(self.server, Served)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append(body)
        reply = self.server.script(self.path, body)
        chunked = reply.end != "close"
        self.send_response(200)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Connection", "close")
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for piece in reply.pieces:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            if reply.end == "chunked":
                self.wfile.write(b"0\r\n\r\n")
        except ConnectionError:
            self.server.left.set()

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving(script: Script) -> Iterator[Served]:
    """The server, while the block runs."""
    server = Served(script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        # waits for those who answer; every wait of theirs is bounded
        server.server_close()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def saying(*replies: Reply) -> Script:
    """A script that gives these, in turn."""
    turns = iter(replies)
    return lambda path, body: next(turns)
