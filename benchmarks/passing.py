"""Proxies that pass a stream on as it is: what the sidecar is held against. ``python -m benchmarks.passing KIND URL``

Same server, same client library, same settings of both as the sidecar has; nothing else of this project is imported.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

import anyio
import httpx2
import uvicorn

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Fields = list[tuple[bytes, bytes]]

_OF_ONE_CONNECTION = frozenset(
    b"connection host keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade".split()
)


class Plain:
    """A proxy as a good engineer writes one.

    1. The request is read whole, and sent on without the fields that concern one connection.
    2. So is the head of the answer, at once; then each piece of the body as it comes, in the encoding it came in. The
       next is asked for when the server has taken the last.
    3. Beside that a second task waits for the client to leave, and cancels the first: that of Starlette's
       ``StreamingResponse`` does the same. The answer of the upstream is closed, whatever happens.

    It has no time-outs, keep-alives, figures or log, checks nothing, and does not drain.
    """

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.transport = httpx2.AsyncHTTPTransport(
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100), trust_env=False
        )

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "http":
            await self.pass_on(scope, receive, send)

    async def open(self, scope: Message, body: bytes) -> httpx2.Response:
        """Ask the upstream."""
        url = self.upstream + scope["raw_path"].decode("ascii")
        request = httpx2.Request(scope["method"], url, headers=_kept(scope["headers"]), content=body or None)
        return await self.transport.handle_async_request(request)

    async def pass_on(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)

        async with anyio.create_task_group() as group:

            async def until_left() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                group.cancel_scope.cancel()

            group.start_soon(until_left)
            response = await self.open(scope, body)
            try:
                fields = _kept(response.headers.raw)
                await send({"type": "http.response.start", "status": response.status_code, "headers": fields})
                async for data in response.aiter_raw():
                    await send({"type": "http.response.body", "body": data, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            finally:
                with anyio.CancelScope(shield=True):
                    await response.aclose()
            group.cancel_scope.cancel()


class Leanest(Plain):
    """The same, of the least that works: no second task, nothing is closed if the client leaves, no body of a request,
    and what is between the upstream's pieces and the application is left out where the library lets one.
    """

    async def pass_on(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        response = await self.open(scope, b"")
        fields = _kept(response.headers.raw)
        await send({"type": "http.response.start", "status": response.status_code, "headers": fields})
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        async for data in response.stream:
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        await response.stream.aclose()


KINDS = {"plain": Plain, "leanest": Leanest}


def _kept(fields: Iterable[tuple[bytes, bytes]]) -> Fields:
    return [(name, value) for name, value in fields if name.lower() not in _OF_ONE_CONNECTION]


def serve(kind: str, upstream: str) -> None:
    """Serve until a signal comes; a line says where."""
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        config = uvicorn.Config(
            KINDS[kind](upstream),
            http="h11",
            ws="none",
            lifespan="off",
            access_log=False,
            server_header=False,
            log_config=None,
            log_level="warning",
            proxy_headers=False,
        )
        print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    serve(*sys.argv[1:])
