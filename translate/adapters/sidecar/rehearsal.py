"""All that a request needs is imported before the first comes: where descriptors are scarce, an import can fail."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import suppress

import anyio
import httpx2

from ...algebra.events import Append, Close, Finish, Open
from ...api import convert
from ...errors import TranslateError
from ..asgi import Answer, Message, StreamResponse

_STREAM = (Open("text"), Append("\U0001f600"), Close(), Finish())


async def rehearse(transport: httpx2.AsyncBaseTransport, src: str, dst: str) -> None:
    """Run a stream of ``src`` to nobody, refuse one, and connect in vain. Nothing leaves this process."""

    async def source() -> AsyncIterator[bytes]:
        for data in convert(_STREAM, "events", src):
            yield data

    scope = {"type": "http", "method": "POST", "headers": []}
    await StreamResponse(source(), src, dst).respond(scope, _stays, _ignored)
    await Answer(_ignored, 0, []).refuse(TranslateError("a rehearsal"), dst)
    with socket.socket() as nobody, suppress(httpx2.HTTPError):
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        await transport.handle_async_request(httpx2.Request("GET", f"http://127.0.0.1:{port}"))


async def _stays() -> Message:
    await anyio.sleep_forever()
    raise AssertionError


async def _ignored(message: Message) -> None:
    """Take an answer."""
