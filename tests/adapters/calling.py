"""A server that is a script: it calls an ASGI application, and holds what it sends against the specification."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel

from tests.peers.serving import PATIENCE

Message: TypeAlias = MutableMapping[str, Any]
App: TypeAlias = Callable[[Any, Any, Any], Awaitable[None]]
Fields: TypeAlias = list[tuple[bytes, bytes]]


class Call:
    """One request. Told to leave, the client is gone: ``receive`` says so, and ``send`` raises ``OSError``
    (before version 2.4 of the specification it does nothing).

    ``full``: the number of messages that are taken; then the client leaves.
    """

    def __init__(
        self, method: str = "GET", path: str = "/", headers: Iterable[tuple[bytes, bytes]] = (), full: int = 1 << 30
    ) -> None:
        self.scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": list(headers),
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
            "extensions": {"http.response.pathsend": {}, "http.response.trailers": {}, "http.response.debug": {}},
        }
        self.sent: list[Message] = []
        self.dropped: list[bool | None] = []
        """``more_body`` of what was sent, and not taken, after the client had left."""
        self.told = anyio.Event()
        """Set with the first piece of a body."""
        self.full = full
        self.gone = False
        """Whether everyone knows that the client has left: nothing is to be sent any more."""
        self._asked = False
        self._over = anyio.Event()
        self._left = False
        self._trailers = False

    async def run(self, app: App) -> Call:
        """Call the application, for as long as anything may take."""
        with anyio.fail_after(PATIENCE):
            await app(self.scope, self.receive, self.send)
        return self

    def leave(self) -> None:
        """The client hangs up."""
        self._left = True
        self._over.set()

    async def receive(self) -> Message:
        await anyio.lowlevel.checkpoint()
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._over.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        await anyio.lowlevel.checkpoint()
        assert not self.gone
        silent = self.scope["asgi"]["spec_version"] < "2.4"
        if not (self._left and silent):
            self._check(message)
        if len(self.sent) == self.full:
            self.leave()
        if self._left and silent:
            self.dropped.append(message.get("more_body"))
            return
        if self._left:
            raise OSError("the client has left")
        self.sent.append(message)
        if message["type"] == "http.response.body" and message.get("body"):
            self.told.set()
        if self.complete:
            self._over.set()

    def _check(self, message: Message) -> None:
        kind = message["type"]
        if kind == "http.response.start":
            assert self._kinds == [], "one head, and first"
            assert type(message["status"]) is int
            self._trailers = message.get("trailers", False)
            for name, value in message.get("headers", ()):
                assert type(name) is bytes
                assert type(value) is bytes
                assert name == name.lower()
            names = [name for name, _ in message.get("headers", ())]
            for name in (b"content-type", b"content-length", b"cache-control"):
                assert names.count(name) <= 1, name
        elif kind == "http.response.body":
            assert self._kinds[:1] == ["http.response.start"]
            assert not self.complete, "nothing follows the last piece"
            assert type(message.get("body", b"")) is bytes
        elif kind == "http.response.trailers":
            assert self._trailers, "trailers are announced"
        else:
            assert kind in ("http.response.debug", "http.response.pathsend")

    @property
    def _kinds(self) -> list[str]:
        return [each["type"] for each in self.sent if each["type"] != "http.response.debug"]

    @property
    def complete(self) -> bool:
        """Whether the last piece of the body was sent."""
        last = self.sent[-1]
        return last["type"] == "http.response.body" and not last.get("more_body", False)

    @property
    def head(self) -> Message:
        return next(each for each in self.sent if each["type"] == "http.response.start")

    @property
    def status(self) -> int:
        return int(self.head["status"])

    @property
    def body(self) -> bytes:
        return b"".join(each.get("body", b"") for each in self.sent if each["type"] == "http.response.body")

    def fields(self, name: bytes) -> list[bytes]:
        """All values of a field."""
        return [value for each, value in self.head["headers"] if each == name]
