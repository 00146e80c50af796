"""JavaScript reads our gateway streams: an SSE parser from npm, and a browser. They see the native frames, and no more.

Names and data are compared as text, to the last character; what stands in comments, carries too, is invisible.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from tests.peers.javascript import browser, parsed, parser, run, seen
from tests.peers.javascript import node as node_and_npm
from tests.peers.scripts import native, translated

STREAMS = translated()
EXPECTED = {name: native(stream) for name, stream in STREAMS.items()}
NAMES = sorted({name for frames in EXPECTED.values() for name, _ in frames})

Reader: TypeAlias = Callable[[str, bool], list[Any]]
"""What a peer sees of the stream of a name, whole or cut oddly."""


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, summary: list[str]) -> Reader:
    command = parser(tmp_path_factory.mktemp("node"))
    summary.append(f"peer: Node {run(node_and_npm()[0], '--version').decode().strip()}")
    return lambda name, cut: parsed(command, STREAMS[name], cut=cut)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, summary: list[str]) -> Reader:
    program = browser()
    summary.append(f"peer: {run(program, '--version').decode().strip()}")
    keys = {name: name.replace(" ", "-") for name in STREAMS}
    found = seen(program, {keys[name]: STREAMS[name] for name in keys}, NAMES, tmp_path_factory.mktemp("browser"))
    return lambda name, cut: found[f"/{keys[name]}{'/odd' if cut else ''}"]


@pytest.mark.parametrize("cut", [False, True], ids=["whole", "odd"])
@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("peer", ["node", "page"])
def test_it_sees_the_native_frames(peer: str, name: str, cut: bool, request: pytest.FixtureRequest) -> None:
    read: Reader = request.getfixturevalue(peer)
    assert read(name, cut) == EXPECTED[name]


def test_the_streams_have_what_matters() -> None:
    everything = {"streamStart", "streamError", "error", "stop", "tool", "sources"}
    everything |= {f"{run}{end}" for run in ("content", "thinking") for end in ("Start", "", "End")}
    assert set(NAMES) == everything
    assert sum(b": carry " in stream for stream in STREAMS.values()) >= 4
    assert any(len(data) > 200_000 for _, data in EXPECTED["hostile"])
    # the last frame was cut off, and is no frame
    assert EXPECTED["cut short"] == EXPECTED["turn"][:-1]
