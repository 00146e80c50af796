"""The matrix of formats: measured, and the same wherever it is shown."""

from __future__ import annotations

import json

import pytest

from translate import Trace, convert, formats
from translate.cli import main
from translate.inspect.matrix import WORDS, cell, names, says, streams, verdict
from translate.registry import codec

Shown = pytest.CaptureFixture[str]


def test_every_built_in_format_has_streams_that_hold_no_carry() -> None:
    ours = {codec(name).name for name in formats() if type(codec(name)).__module__.startswith("translate_codecs")}
    assert {*names()} == ours - {"events"}
    assert len(streams()) > 500
    for stream in streams()[:50]:
        trace = Trace()
        list(convert(stream.data, stream.format, "events", errors="encode", trace=trace))
        assert not any(unit.carries for unit in trace.sources)


def test_home_is_whole_and_has_no_carry() -> None:
    for name in ("anthropic", "gemini"):
        home = cell(name, name)
        assert (home.whole, home.carry, home.hidden) == (home.streams, 0, [])
        assert home.said == home.there


def test_a_pair_is_counted() -> None:
    found = cell("anthropic-sse", "gateway")
    assert (found.source, found.target) == ("anthropic", "gateway")
    assert 0 < found.whole < found.streams
    assert found.said["text"] == found.there["text"] > 0
    pieces = cell("unievent", "gateway")
    assert pieces.there["call in pieces"] > pieces.said["call in pieces"] == 0
    assert found.bytes_a_unit > 10
    assert {hidden.content for hidden in found.hidden} == {True, False}
    assert [hidden.content for hidden in found.hidden] == sorted((h.content for h in found.hidden), reverse=True)
    assert all(hidden.stream and hidden.count for hidden in found.hidden)


def test_what_a_format_says_is_what_its_codec_declares() -> None:
    """The measured words agree with the declared ones, where both have them."""
    for name, word, kind in (
        *(("gateway", "image or file", "inline_data"), ("gemini", "image or file", "inline_data")),
        *(("anthropic", "image or file", "inline_data"), ("unievent", "thinking", "thinking")),
    ):
        said, there = says(name)[word]
        assert there > 0
        assert (said > 0) is (kind in codec(name).says)
    assert {*says("gateway")} == {*WORDS}


@pytest.mark.parametrize(
    ("said", "there", "word"),
    [
        *((0, 0, ""), (0, 5, "carried"), (5, 5, "native"), (1, 2, "partly, 50 %")),
        *((999, 1000, "partly, 99 %"), (1, 1000, "partly, 1 %")),
    ],
)
def test_a_verdict_is_never_rounded_to_all_or_none(said: int, there: int, word: str) -> None:
    assert verdict(said, there) == word


def test_the_command_prints_a_cell(capfd: Shown) -> None:
    assert main(["formats", "anthropic", "gateway-sse"]) == 0
    told = capfd.readouterr().out
    found = cell("anthropic", "gateway")
    assert told.startswith(f"anthropic into gateway: {found.streams} streams")
    assert f"sees all content of {found.whole} streams" in told
    assert f"{found.hidden[0].count} × {found.hidden[0].field} (content): {found.hidden[0].reason}" in told
    assert "first in tests/vectors/anthropic.json" in told
    assert main(["formats", "anthropic", "gateway", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["whole"] == found.whole
    assert main(["formats", "gateway"]) == 0
    assert "call in pieces  carried: 0 of " in capfd.readouterr().out
    assert main(["formats", "anthropic", "nothing"]) == 4
