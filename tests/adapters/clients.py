"""A client that is nothing but a socket: it reads when it is told to, and leaves at once."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from types import TracebackType

import anyio

from tests.peers.serving import HOST, PATIENCE

PIECE = 1 << 16


class Client:
    """One request at a time to a port.

    ``fields``  more of its head
    ``buffer``  bytes that the kernel may keep for one that does not read
    """

    def __init__(self, port: int, path: str = "/", *, fields: str = "", buffer: int | None = None) -> None:
        self._socket = socket.socket()
        if buffer is not None:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        # the kernel answers, before the server does
        self._socket.connect((HOST, port))
        self._socket.setblocking(False)
        self._request = f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n{fields}\r\n".encode()
        self.got = bytearray()
        """All that was read of an answer."""
        self.ask()

    def ask(self) -> None:
        """Send the request, again where its answer was read."""
        self._socket.send(self._request)
        self.got = bytearray()

    def close(self) -> None:
        """Leave."""
        self._socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def send(self, data: bytes) -> None:
        """Send more."""
        while data:
            with anyio.fail_after(PATIENCE):
                await anyio.wait_writable(self._socket)
            data = data[self._socket.send(data) :]

    async def read(self, size: int = PIECE) -> bytes:
        """What is there next; ``b""`` at the end."""
        with anyio.fail_after(PATIENCE):
            await anyio.wait_readable(self._socket)
        data = self._socket.recv(size)
        self.got += data
        return data

    async def until(self, text: bytes) -> None:
        """Read until ``text`` was read."""
        while text not in self.got:
            assert await self.read(), f"the server hung up, without {text!r}: {self.got!r}"

    async def whole(self) -> None:
        """Read until the end of the answer."""
        while not self.ended:
            assert await self.read(), f"the server hung up: {self.got!r}"

    @property
    def ended(self) -> bool:
        """Whether all of the answer was read."""
        head, _, body = self.got.partition(b"\r\n\r\n")
        if b"\r\ntransfer-encoding: chunked" in head.lower():
            return body.endswith(b"\r\n0\r\n\r\n") or body == b"0\r\n\r\n"
        return len(body) == int(self.fields.get("content-length", "-1"))

    @property
    def status(self) -> int:
        """That of the answer."""
        return int(self.got.split(b" ", 2)[1])

    @property
    def fields(self) -> Mapping[str, str]:
        """Those of the answer's head, names in lower case."""
        lines = self.got.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}

    @property
    def body(self) -> bytes:
        """What came of the body, unchunked."""
        head, _, rest = self.got.partition(b"\r\n\r\n")
        if b"\r\ntransfer-encoding: chunked" not in head.lower():
            return bytes(rest)
        pieces = []
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            pieces.append(rest[: int(size, 16)])
            rest = rest[int(size, 16) + 2 :]
        return b"".join(pieces)
