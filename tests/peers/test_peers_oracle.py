"""The clients of ``mmsp`` read recordings as we do, or differ by a known cause."""

from __future__ import annotations

import os
import random

import pytest

from tests.peers.oracle import CLIENTS, EQUAL, NEWER, main, table
from tests.peers.oracle_causes import UNKNOWN
from tests.recorded import ABSENT, CORPUS

LONG = bool(os.environ.get("TRANSLATE_LONG"))
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=ABSENT)


@pytest.mark.parametrize("kind", CLIENTS)
def test_their_message_is_ours(kind: str) -> None:
    """Of some recordings, by seed; ``TRANSLATE_LONG``: of all of them."""
    paths = sorted((CORPUS / CLIENTS[kind][0]).glob("*.sse"))
    paths = paths if LONG else random.Random(14).sample(paths, 8)
    found = table(kind, paths)
    assert found.get(UNKNOWN, []) == []
    least = 0.4 if kind in NEWER else 0.6
    assert len(found[EQUAL]) >= least * len(paths) or not LONG, found


@pytest.mark.skipif(not LONG, reason="reads all recordings: TRANSLATE_LONG=1")
def test_the_tool_prints_the_causes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(str(CORPUS)) == 0
    assert capsys.readouterr().out.count(" equal\n") == len(CLIENTS)
