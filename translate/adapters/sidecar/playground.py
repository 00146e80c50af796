"""The playground in the sidecar: the same answers as from its own server, by ASGI."""

from __future__ import annotations

import anyio

from ...inspect.playground import PATH, Reply, answer, refusal
from ..asgi import Answer, Receive, Scope, Send

_THIS_MACHINE = ("127.0.0.1", "::1", "::ffff:127.0.0.1")


def is_playground(scope: Scope) -> bool:
    """Whether a request is for the playground rather than for the upstream."""
    return scope["path"] in (PATH, f"{PATH}/view")


async def playground(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request."""
    method: str = scope["method"]
    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    # the sidecar may listen to all, and a field is easily forged
    here = (scope.get("client") or ("",))[0] in _THIS_MACHINE
    reply = refusal(method, scope["path"], fields) if here else Reply(403, b"only on this machine\n")
    if reply is None:
        body = await _body(receive) if method == "POST" else b""
        if body is None:
            return
        reply = await anyio.to_thread.run_sync(answer, method, body)
    await _send(reply, method, send)


async def _body(receive: Receive) -> bytes | None:
    """The body, which the server holds to its length; ``None`` where the client left."""
    pieces: list[bytes] = []
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        pieces.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(pieces)


async def _send(reply: Reply, method: str, send: Send) -> None:
    fields = [(name.encode(), value.encode("latin-1")) for name, value in reply.fields()]
    await Answer(send, reply.status, fields).end(b"" if method == "HEAD" else reply.body)
