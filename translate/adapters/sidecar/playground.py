"""The playground in the sidecar: the same answers as from its own server, by ASGI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from ...inspect.playground import PATH, Reply, answer, refusal
from ..asgi import Answer, Scope, Send

_THIS_MACHINE = ("127.0.0.1", "::1", "::ffff:127.0.0.1")
_PROXIED = ("forwarded", "via", "x-real-ip")


def is_playground(scope: Scope) -> bool:
    """Whether a request is for the playground rather than for the upstream."""
    return scope["path"] in (PATH, f"{PATH}/view")


async def playground(scope: Scope, body: Callable[[], Awaitable[bytes]], send: Send) -> int:
    """Answer one request, and return the status. ``body`` reads it; what it raises is raised."""
    method: str = scope["method"]
    fields = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    # the sidecar may listen to all, and a field is easily forged
    here = (scope.get("client") or ("",))[0] in _THIS_MACHINE and not any(_is_of_proxy(name) for name, _ in fields)
    reply = refusal(method, scope["path"], fields) if here else Reply(403, b"only on this machine\n")
    if reply is None:
        data = await body() if method == "POST" else b""
        reply = await anyio.to_thread.run_sync(answer, method, data)
    head = [(name.encode(), value.encode("latin-1")) for name, value in reply.fields()]
    await Answer(send, reply.status, head).end(b"" if method == "HEAD" else reply.body)
    return reply.status


def _is_of_proxy(name: str) -> bool:
    """Whether a field says that someone else asks through this machine."""
    name = name.replace("_", "-")
    return name in _PROXIED or name.startswith("x-forwarded-")
