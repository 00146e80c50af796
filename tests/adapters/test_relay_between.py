"""The time between units, which nothing but units ends: not comments, not what the relay itself says."""

from __future__ import annotations

import functools

import anyio
import pytest

from tests.adapters import relays
from tests.adapters.relays import ONE, UNITS, Feed, Receiver, direct, plain, simulated, times_out
from translate.adapters import Timeouts

MINUTES = 300.0
COMMENTS = [0.7, b": still here\n\n"] * 1000
run = functools.partial(relays.run, patience=100 * MINUTES)


@simulated
async def test_comments_do_not_keep_a_hung_stream() -> None:
    source, sink = Feed(*UNITS[:3], *COMMENTS), Receiver()
    stats = await run(source, sink, timeouts=Timeouts(first=2, idle=5, between=20), ping=3)
    times_out(stats, "between")
    assert (stats.duration, stats.units, source.closed) == (20, 3, 1)
    assert b'"status":504' in sink.data


@simulated
async def test_every_unit_begins_it_anew() -> None:
    script = [step for unit in UNITS for step in (*COMMENTS[:38], unit)]
    source, sink = Feed(*script), Receiver()
    stats = await run(source, sink, timeouts=Timeouts(between=20))
    assert (stats.outcome, plain(sink.data)) == ("finished", direct(ONE))
    assert stats.duration == pytest.approx(13.3 * len(UNITS))


@simulated
async def test_part_of_a_unit_is_none() -> None:
    slowly = [step for byte in UNITS[3] for step in (1, bytes([byte]))]
    stats = await run(Feed(*UNITS[:3], *slowly), timeouts=Timeouts(between=20, idle=5))
    times_out(stats, "between")
    assert stats.duration == 20


@simulated
async def test_before_the_first_unit_it_is_for_first_to_say_where_that_is_bounded() -> None:
    for timeouts, phase, spent in (
        (Timeouts(first=50, between=20), "first", 50),
        (Timeouts(between=20), "between", 20),
    ):
        stats = await run(Feed(*COMMENTS), timeouts=timeouts)
        times_out(stats, phase)
        assert stats.duration == spent


@simulated
async def test_a_receiver_that_is_slow_uses_none_of_it() -> None:
    source, sink = Feed(*UNITS), Receiver(*[MINUTES] * 3)
    stats = await run(source, sink, timeouts=Timeouts(between=20))
    assert (stats.outcome, sink.data) == ("finished", direct(ONE))


@simulated
async def test_a_source_that_goes_on_after_its_end_has_not_timed_out() -> None:
    source, sink = Feed(ONE, *COMMENTS), Receiver()
    stats = await run(source, sink, timeouts=Timeouts(between=0.5))
    assert (stats.outcome, sink.data) == ("finished", direct(ONE))
    assert anyio.current_time() <= 1


def test_the_sidecar_gives_up_a_model_that_hangs_behind_comments() -> None:
    from translate.adapters.sidecar import Settings

    timeouts = Settings("http://127.0.0.1:9", "gateway-sse", "unievent-sse").timeouts
    assert timeouts == Timeouts(first=600, idle=300, write=60, between=600)
