"""Sources that keep a log, and a short stream of the gateway's frames for them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeAlias

import anyio.lowlevel


def frame(kind: str, **more: Any) -> dict[str, Any]:
    return {"success": True, "code": 200, "value": {"type": kind, **more}}


MODEL = {"name": "m", "tier": "t", "publisher": "p", "provider": "q"}
USAGE = {"provider": "q", "inputTokens": 1, "outputTokens": 1, "finishReason": "stop"}
FRAMES = [
    frame("streamStart", model=MODEL),
    frame("contentStart"),
    frame("content", value="a"),
    frame("content", value="b"),
    frame("contentEnd"),
    frame("stop", usage=USAGE),
]
ERROR = {"success": False, "code": 503, "message": "down"}
BAD = frame("contentEnd")


class Boom(Exception):
    """An error of the source."""


class Source:
    """A source that keeps a log: what was asked for, what was closed, and when. An exception is raised in its turn."""

    def __init__(self, *items: Any) -> None:
        self.items = list(items)
        self.asked = 0
        self.log: list[str] = []

    def _next(self, end: type[Exception]) -> Any:
        self.asked += 1
        if not self.items:
            raise end
        item = self.items.pop(0)
        if isinstance(item, BaseException):
            raise item
        return item

    def __iter__(self) -> Source:
        return self

    def __next__(self) -> Any:
        return self._next(StopIteration)

    def close(self) -> None:
        self.log.append("close")


class AsyncSource(Source):
    """The same, asynchronous. An awaitable function is awaited in its turn."""

    def __aiter__(self) -> AsyncSource:
        return self

    async def __anext__(self) -> Any:
        await anyio.lowlevel.checkpoint()
        item: Any = self._next(StopAsyncIteration)
        return await self._wait(item) if callable(item) else item

    @staticmethod
    async def _wait(call: Any) -> Any:
        return await call()

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.log.append("aclose")

    __iter__ = None  # type: ignore[assignment]


Collected: TypeAlias = tuple[list[Any], BaseException | None]


def collect(stream: Iterator[Any]) -> Collected:
    out: list[Any] = []
    try:
        for item in stream:
            out.append(item)
    except Exception as error:
        return out, error
    return out, None


async def acollect(stream: AsyncIterator[Any]) -> Collected:
    out: list[Any] = []
    try:
        async for item in stream:
            out.append(item)
    except Exception as error:
        return out, error
    return out, None
