"""The translated stream as a response of Starlette, and so of FastAPI. Needs Starlette."""

from __future__ import annotations

from typing import Any

import anyio
from starlette.background import BackgroundTask
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from . import asgi
from .upstream import CLOSING, Source


class StreamResponse(asgi.StreamResponse, Response):
    """As :class:`translate.adapters.StreamResponse`, for routes that must return a ``Response``, as FastAPI's must.

    ``background`` runs when the stream is over, however it ended, for 5 seconds at most where the answer was cancelled;
    cookies can be set until it begins.
    """

    def __init__(
        self, source: Source, src: str, dst: str, *, background: BackgroundTask | None = None, **options: Any
    ) -> None:
        """Options are those of :class:`translate.adapters.StreamResponse`."""
        asgi.StreamResponse.__init__(self, source, src, dst, **options)
        self.status_code = 200
        self.background = background
        self.body = b""
        self.raw_headers = list(self.added)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        self.added = [(name.lower(), value) for name, value in self.raw_headers]
        seconds: float | None = None
        try:
            await super().__call__(scope, receive, send)
        except anyio.get_cancelled_exc_class():
            seconds = CLOSING
            raise
        finally:
            self.status_code = self.status or self.status_code
            if self.background is not None:
                with anyio.move_on_after(seconds, shield=seconds is not None):
                    await self.background()
