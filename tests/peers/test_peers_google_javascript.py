"""Google's own library for JavaScript reads what is written of Gemini and its Interactions."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import pytest

from tests.peers.javascript import HERE, node, parser, run
from tests.peers.serving import ODD
from tests.peers.turns import FAILS, SAID, TURN
from translate import assemble, convert

Read: TypeAlias = Callable[[Iterable[tuple[str, bytes]]], list[Any]]
"""What it makes of streams, each of a codec."""
CODECS = ("gemini", "gemini-interactions")
CASES = [(codec, src, loss) for codec in CODECS for src in TURN for loss in ("carry", "drop")]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory, summary: list[str]) -> Read:
    source = HERE / "google"
    command = parser(tmp_path_factory.mktemp("google"), source)
    versions = json.loads((source / "package.json").read_text())["dependencies"]
    summary.append(f"peer: @google/genai {versions['@google/genai']} on Node {run(node()[0], '--version').decode()}")

    def reading(streams: Iterable[tuple[str, bytes]]) -> list[Any]:
        lines = [codec.encode() + b" " + b64encode(stream) + b"\n" for codec, stream in streams]
        found = run(*command, *map(str, ODD), input=b"".join(lines)).splitlines()
        assert len(found) == len(lines)
        return [json.loads(line) for line in found]

    return reading


def translated(stream: bytes, src: str, codec: str, loss: Any) -> bytes:
    return b"".join(convert(stream, src, f"{codec}-sse", errors="encode", loss=loss, clock=lambda: 0))


def test_it_hands_on_every_unit(read: Read) -> None:
    """It skips none, and what it hands on is the message that was meant."""
    streams = [(codec, translated(TURN[src], src, codec, loss)) for codec, src, loss in CASES]
    for (codec, stream), found in zip(streams, read(streams), strict=True):
        assert found["error"] is None
        units: list[dict[str, Any]] = found["units"]
        assert len(units) == stream.count(b"data: {")
        for unit in units:
            unit.pop("carry", None)
        message = assemble(units, codec, "unievent")
        items = message["content_items"]
        assert "".join(item["text"] for item in items if item["type"] == "text.done") == SAID.text
        assert "".join(item["thinking"] for item in items if item["type"] == "thinking.done") == SAID.thinking
        calls = [(each["tool_call_id"], each["name"]) for each in items if each["type"] == "tool_call.done"]
        assert calls == [(id, name) for id, name, _ in SAID.calls]


def test_it_throws_what_failed(read: Read) -> None:
    streams = [("gemini", translated(FAILS[src], src, "gemini", loss)) for src in FAILS for loss in ("carry", "drop")]
    for found in read(streams):
        assert "busy" in str(found["error"])
