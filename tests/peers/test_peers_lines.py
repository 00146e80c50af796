"""The bytes of ``gemini-sse``, line by line: the provider's readers refuse, or lose, whatever else is there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.peers.turns import CUTS, FAILS, TURN
from translate import TranslateError, Translator


def lines(out: bytes) -> Iterator[bytes]:
    """The lines of units, each followed by a blank one; all else is an error."""
    *found, last = out.split(b"\n")
    assert last == b""
    assert len(found) % 2 == 0
    for line, blank in zip(found[::2], found[1::2], strict=True):
        assert blank == b""
        assert line.startswith(b"data: {")
        assert line.endswith(b"}")
        assert b"\r" not in line
        yield line.removeprefix(b"data: ")


def translated(source: bytes, src: str, loss: Any, size: int) -> bytes:
    """The stream in pieces, with keep-alives between them, to its end or its failure."""
    translator = Translator(src, "gemini-sse", loss=loss, errors="encode", clock=lambda: 0)
    out: list[bytes] = []
    try:
        for at in range(0, len(source), size):
            out += translator.feed(source[at : at + size])
            out += translator.ping()
        out += translator.close()
    except TranslateError:
        # a failure was said, and is no success
        pass
    return b"".join(out)


@pytest.mark.parametrize("loss", ["carry", "drop"])
@pytest.mark.parametrize("size", [1, 64, 1 << 20])
@pytest.mark.parametrize(
    ("streams", "src"),
    [("turn", src) for src in TURN] + [("fails", src) for src in FAILS] + [("cuts", src) for src in CUTS],
)
def test_each_line_is_one_unit_or_blank(streams: str, src: str, size: int, loss: Any) -> None:
    source = {"turn": TURN, "fails": FAILS, "cuts": CUTS}[streams][src]
    units = [json.loads(line) for line in lines(translated(source, src, loss, size))]
    assert units
    for unit in units:
        assert "carry" not in list(unit)[:-1]
        assert loss == "carry" or "carry" not in unit
        assert "error" not in list(unit)[1:]
    failed = ["error" in unit for unit in units]
    assert failed == [False] * (len(units) - 1) + [streams != "turn"]
