"""The relay, end to end."""

from pathlib import Path

import pytest

from translate import convert
from translate.adapters import relay

TURN = (Path(__file__).resolve().parents[2] / "examples" / "claude-turn.unievent.sse").read_bytes()


@pytest.mark.anyio
async def test_a_stream_arrives() -> None:
    async def source():  # type: ignore[no-untyped-def]
        yield TURN

    out: list[bytes] = []

    async def sink(data: bytes) -> None:
        out.append(data)

    stats = await relay(source(), sink, "unievent-sse", "gateway-sse")
    assert stats.outcome == "finished"
    assert b"".join(out) == b"".join(convert(TURN, "unievent-sse", "gateway-sse"))
