"""The Vercel AI SDK reads what we make of each other's streams, by its providers for four formats."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import pytest

from tests.peers.javascript import HERE, node, parser, run
from tests.peers.serving import ODD
from tests.peers.turns import FAILS, SAID, TURN
from translate import convert

Read: TypeAlias = Callable[[Iterable[tuple[str, bytes]]], list[Any]]
"""What it makes of streams, each of a codec."""
CODECS = ("anthropic", "openai-chat", "openai-responses", "gemini")
"""What its providers read."""
PAIRS = [(codec, src) for codec in CODECS for src in TURN if src != f"{codec}-sse"]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory, summary: list[str]) -> Read:
    source = HERE / "vercel"
    command = parser(tmp_path_factory.mktemp("vercel"), source)
    versions = json.loads((source / "package.json").read_text())["dependencies"]
    summary.append(f"peer: Vercel AI SDK {versions['ai']} on Node {run(node()[0], '--version').decode().strip()}")

    def reading(streams: Iterable[tuple[str, bytes]]) -> list[Any]:
        lines = [codec.encode() + b" " + b64encode(stream) + b"\n" for codec, stream in streams]
        found = run(*command, *map(str, ODD), input=b"".join(lines)).splitlines()
        assert len(found) == len(lines)
        return [json.loads(line) for line in found]

    return reading


def translated(stream: bytes, src: str, codec: str) -> bytes:
    return b"".join(convert(stream, src, f"{codec}-sse", errors="encode"))


def test_it_reads_the_turn(read: Read) -> None:
    found = read((codec, translated(TURN[src], src, codec)) for codec, src in PAIRS)
    for (codec, src), said in zip(PAIRS, found, strict=True):
        assert (said["thinking"], said["text"], said["errors"]) == (SAID.thinking, SAID.text, []), src
        # its numbers are doubles
        calls, meant = (json.loads(json.dumps(each), parse_int=float) for each in (said["calls"], SAID.calls))
        assert calls == meant
        assert (said["reason"], tuple(said["counts"])) == ("tool-calls", SAID.counts)
        # the other provider does not look for one
        assert said["signature"] == (SAID.signature if codec == "anthropic" else "")


def test_it_is_told_of_a_failure(read: Read) -> None:
    pairs = [(codec, src) for codec in CODECS for src in FAILS if src != f"{codec}-sse"]
    for said in read((codec, translated(FAILS[src], src, codec)) for codec, src in pairs):
        assert said["text"] == "x"
        assert "busy" in " ".join(said["errors"])
        assert said.get("reason") in (None, "error", "other", "unknown")
