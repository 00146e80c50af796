"""A short slice of the benchmark under load: what it checks is checked here, what it times is not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("httpx2", reason="httpx2 is not installed")
pytest.importorskip("resource", reason="limits of open files are not known here")

from benchmarks.load import NAMES, SIDECAR, Load, measured, missing, proxy
from benchmarks.load_ends import Ends, Story, delays, stories

LOAD = Load(50, 50, rate=2000)
WAYS = [("unievent-sse", "gateway-sse"), ("gateway-sse", "unievent-sse")]


@pytest.fixture(autouse=True)
def _enough() -> None:
    if why := missing(LOAD.streams):
        pytest.skip(why)


@pytest.mark.parametrize(("src", "dst"), WAYS)
def test_many_streams_at_once_arrive_whole_each_in_its_order(src: str, dst: str) -> None:
    (sidecar,) = asyncio.run(measured(replace(LOAD, src=src, dst=dst), [SIDECAR], 1))
    (passage,) = sidecar.runs
    assert 0 < passage.opening < passage.cpu
    assert LOAD.streams * LOAD.units * 0.8 < len(passage.delays) <= LOAD.streams * LOAD.units
    assert min(passage.delays) > 0


def test_what_it_is_held_against_passes_all_on() -> None:
    found = asyncio.run(measured(replace(LOAD, streams=5), [*NAMES], 1))
    assert [(each.kind, len(each.runs), each.peak > 1) for each in found] == [(kind, 1, True) for kind in NAMES]


def test_a_proxy_that_does_not_translate_is_noticed() -> None:
    async def run() -> None:
        async with Ends(stories(3, 20, *WAYS[0])) as ends:
            with proxy("plain", ends.url, LOAD) as plain:
                await ends.run(plain.url, plain.cpu, rate=2000, translated=True)

    with pytest.raises(AssertionError, match="stream 0: not what is due after 0 units, of 20"):
        asyncio.run(run())


def _came(pieces: Iterable[bytes]) -> list[tuple[float, bytes]]:
    """An answer, a piece each second from 1 on."""
    chunks = (b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces if piece)
    return [*enumerate([b"HTTP/1.1 200 OK\r\n\r\n", *chunks, b"0\r\n\r\n"])]


def _passed(story: Story, pieces: Iterable[bytes], *, translated: bool = True) -> list[float]:
    return delays(7, story, translated, [0.5] * len(story.sent), _came(pieces))


def test_a_unit_is_late_by_what_passed_until_it_was_there_whole() -> None:
    (story,) = stories(1, 20, *WAYS[0])
    said = sum(map(bool, story.out))
    assert _passed(story, story.out) == [0.5 + at for at in range(said)]
    assert _passed(story, [b"".join(story.out)]) == [0.5] * said
    passed = _passed(story, story.sent, translated=False)
    assert passed == [0.5 + at for at, out in enumerate(story.out) if out]


def test_what_is_lost_or_mixed_up_or_out_of_order_is_noticed() -> None:
    story, other = stories(2, 20, *WAYS[0])
    out = [unit for unit in story.out if unit]
    for wrong in (out[:-1], out[1:], [*out, out[-1]], [*out[:5], out[6], out[5], *out[7:]], other.out, other.sent):
        with pytest.raises(AssertionError, match="stream 7: not what is due"):
            _passed(story, wrong)


def test_all_streams_differ() -> None:
    told = stories(LOAD.streams, LOAD.units, *WAYS[0])
    assert {len(story.sent) for story in told} == {LOAD.units}
    shapes = {tuple(len(out) for out in story.out) for story in told}
    assert len(shapes) == LOAD.streams
