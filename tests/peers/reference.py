"""The peers that ``mmsp`` is: its client, and its server in front of a scripted upstream."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.peers.serving import HOST, PATIENCE

mmsp: Any = pytest.importorskip("mmsp", reason="mmsp is not installed: pip install -e '.[test]'")


def _recorder() -> Any:
    """The script that records the examples, as a module: it starts the server of mmsp."""
    path = Path(__file__).resolve().parents[2] / "examples" / "record.py"
    spec = importlib.util.spec_from_file_location("record", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules.setdefault("record", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


record: Any = _recorder()


@contextmanager
def its_loop_ends() -> Iterator[None]:
    """The event loop that the server of mmsp keeps for its process ends with the block; the next one makes another."""
    try:
        yield
    finally:
        loop = importlib.import_module("mmsp.integration.server")._event_loop
        asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        until = time.monotonic() + PATIENCE
        while loop.is_running() and time.monotonic() < until:
            time.sleep(0.01)
        loop.close()


@asynccontextmanager
async def client(port: int, model: str = "m") -> AsyncIterator[Any]:
    """The client of mmsp, while the block runs. It can be made in a running loop only."""
    made = mmsp.AutoLLMClient(model=model, client_type="mmsp", base_url=f"http://{HOST}:{port}/v1")
    try:
        yield made
    finally:
        await made._client._client.aclose()


def user(text: str) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content_items": [{"type": "text.done", "text": text}]}


async def answer(client: Any, text: str = "Hi") -> list[dict[str, Any]]:
    """All events of one turn."""
    with anyio.fail_after(PATIENCE):
        return [event async for event in client.streaming_response_stateful(message=user(text), config={})]
