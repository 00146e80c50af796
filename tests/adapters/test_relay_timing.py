"""What the relay does when time passes: simulated on trio, where minutes take no time; a little of it on asyncio."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from tests.adapters import relays
from tests.adapters.relays import (
    DST,
    ONE,
    SRC,
    UNITS,
    Feed,
    Log,
    Receiver,
    direct,
    plain,
    simulated,
    times_out,
)
from tests.sources import Boom
from translate import StreamTimeout
from translate.adapters import Timeouts, pump, relay
from translate.adapters.output import GRACE
from translate.adapters.pump import LINGER
from translate.adapters.upstream import CLOSING

MINUTES = 300.0
run = functools.partial(relays.run, patience=100 * MINUTES)


# ---- time-outs ------------------------------------------------------------------------------------------------


@simulated
async def test_a_source_that_says_nothing_is_ended_by_first() -> None:
    source, sink = Feed(MINUTES, *UNITS), Receiver()
    stats = await run(source, sink, timeouts=Timeouts(first=5, idle=7, total=60))
    times_out(stats, "first")
    assert (stats.duration, stats.first, source.closed) == (5, None, 1)
    assert b'"status":504' in sink.data


@simulated
async def test_a_source_that_is_never_opened_is_ended_by_first() -> None:
    async def opening() -> AsyncIterator[bytes]:
        await anyio.sleep_forever()
        raise AssertionError

    stats = await run(opening, timeouts=Timeouts(first=5))
    times_out(stats, "first")


@simulated
async def test_comments_are_no_first_unit_but_no_silence_either() -> None:
    stats = await run(Feed(*[1, b":\n\n"] * 30), timeouts=Timeouts(first=10.5, idle=3))
    times_out(stats, "first")
    assert stats.duration == 10.5
    stats = await run(Feed(ONE[:200], *[1, b"\n"] * 9, 4), timeouts=Timeouts(first=10.5, idle=3))
    assert stats.duration < 10


@simulated
async def test_a_first_unit_that_the_receiver_takes_slowly_did_come() -> None:
    sink = Receiver(MINUTES)
    stats = await run(Feed(*UNITS), sink, timeouts=Timeouts(first=5, idle=5))
    assert (stats.outcome, sink.data) == ("finished", direct(ONE))
    assert stats.first == MINUTES


@simulated
async def test_a_source_that_falls_silent_is_ended_by_idle() -> None:
    source, sink, log = Feed(*UNITS[:2], 3, UNITS[2], 6, *UNITS[3:]), Receiver(), Log()
    stats = await run(source, sink, timeouts=Timeouts(first=2, idle=5), observer=log)
    times_out(stats, "idle")
    assert (stats.duration, source.closed, stats.units, log.units) == (8, 1, 3, 3)
    assert sink.data.startswith(direct(UNITS[:3])[:300])
    assert sink.data.endswith(b"data: [DONE]\n\n")
    assert b'"finish_reason":"stop"' not in sink.data


@simulated
async def test_a_stream_that_takes_too_long_is_ended_by_total() -> None:
    source, sink = Feed(*[3, UNITS[0]], *[3, UNITS[1]], *[3, UNITS[2]] * 100), Receiver()
    stats = await run(source, sink, timeouts=Timeouts(first=4, idle=4, total=20))
    times_out(stats, "total")
    assert (stats.duration, source.closed) == (20, 1)
    assert b'"status":504' in sink.data


@simulated
async def test_errors_may_be_raised_for_time_outs_too() -> None:
    source, sink, log = Feed(*UNITS[:3], MINUTES), Receiver(), Log()
    with pytest.raises(StreamTimeout):
        await run(source, sink, timeouts=Timeouts(idle=5), errors="raise", observer=log)
    times_out(log.ended[0], "idle")
    assert sink.data == direct(ONE)[: len(sink.data)]
    assert source.closed == 1


@simulated
@pytest.mark.parametrize("phase", ["write", "total"])
async def test_nothing_follows_a_piece_that_the_receiver_was_amid(phase: str) -> None:
    source, sink, log = Feed(*UNITS), Receiver(0, anyio.sleep_forever), Log()
    with pytest.raises(StreamTimeout):
        await run(source, sink, timeouts=Timeouts(**{phase: 5}), observer=log, ping=2)
    times_out(log.ended[0], phase)
    assert (sink.calls, source.closed, log.ended[0].duration) == (2, 1, 5)


@simulated
async def test_a_terminal_unit_that_is_not_taken_is_no_success() -> None:
    source, sink, log = Feed(ONE), Receiver(anyio.sleep_forever), Log()
    with pytest.raises(StreamTimeout):
        await run(source, sink, timeouts=Timeouts(write=5), observer=log)
    times_out(log.ended[0], "write")


@simulated
async def test_a_failure_unit_that_is_not_taken_is_raised() -> None:
    source, sink, log = Feed(*UNITS[:3], MINUTES), Receiver(0, 0, anyio.sleep_forever), Log()
    with pytest.raises(StreamTimeout):
        await run(source, sink, timeouts=Timeouts(idle=5), observer=log)
    times_out(log.ended[0], "idle")
    assert log.ended[0].duration == 5 + GRACE


@simulated
@pytest.mark.parametrize("phase", ["first", "idle", "total"])
async def test_a_time_out_after_the_end_takes_nothing_back(phase: str) -> None:
    timeouts = Timeouts(**{phase: LINGER / 2})
    for errors in ("encode", "raise"):
        source, sink = Feed(ONE, MINUTES), Receiver()
        stats = await run(source, sink, timeouts=timeouts, errors=errors)
        assert (stats.outcome, stats.failure, sink.data, source.closed) == ("finished", None, direct(ONE), 1)


@simulated
async def test_a_source_that_answers_cancellation_with_its_own_end_has_timed_out_all_the_same() -> None:
    async def ends() -> Any:
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            raise StopAsyncIteration from None

    async def fails() -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            raise Boom

    async def goes_on() -> Any:
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            return UNITS[3]

    for answer in (ends, fails, goes_on):
        source, sink = Feed(*UNITS[:3], answer, *UNITS[4:]), Receiver()
        stats = await run(source, sink, timeouts=Timeouts(idle=5))
        times_out(stats, "idle")
        assert (source.closed, sink.data.count(b'"status":504')) == (1, 1)


@simulated
async def test_a_failed_source_that_is_slow_to_close_has_not_timed_out() -> None:
    async def closing() -> None:
        await anyio.sleep(4)

    source, sink = Feed(*UNITS[:3], Boom(), closing=closing), Receiver()
    stats = await run(source, sink, timeouts=Timeouts(idle=2, first=2))
    assert isinstance(stats.failure, Boom)
    assert b"Boom" in sink.data
    assert stats.duration == 4


@simulated
async def test_a_failure_that_was_met_is_said_even_where_time_runs_out_meanwhile() -> None:
    async def closing() -> None:
        await anyio.sleep(4)

    source, sink = Feed(*UNITS[:3], b"data: {\n\n", closing=closing), Receiver()
    stats = await run(source, sink, timeouts=Timeouts(total=2))
    assert stats.outcome == "broken"
    assert b"DecodeError" in sink.data
    assert sink.data == direct([*UNITS[:3], b"data: {\n\n"])


# ---- closing, and lingering -----------------------------------------------------------------------------------


@simulated
async def test_a_source_that_never_closes_is_given_up() -> None:
    source, sink = Feed(*UNITS[:3], Boom(), closing=anyio.sleep_forever), Receiver()
    stats = await run(source, sink)
    assert (stats.duration, stats.outcome, source.closed) == (CLOSING, "cut", 1)
    assert b"Boom" in sink.data


@simulated
async def test_cancellation_waits_for_the_closing_but_not_for_ever() -> None:
    for seconds, spent in ((3, 3), (MINUTES, CLOSING)):

        async def closing(seconds: float = seconds) -> None:
            await anyio.sleep(seconds)

        source, log = Feed(MINUTES, closing=closing), Log()
        start = anyio.current_time()
        with anyio.move_on_after(1) as scope:
            await relay(source, Receiver(), SRC, DST, observer=log)
        assert scope.cancelled_caught
        assert anyio.current_time() - start == pytest.approx(1 + spent)
        assert (source.closed, log.ended[0].outcome) == (1, "cancelled")


@simulated
async def test_an_iterator_that_never_closes_does_not_keep_what_it_iterates_over_open() -> None:
    outer = Feed()

    class Iterable(Feed):
        def __aiter__(self) -> Feed:
            return Feed(closing=anyio.sleep_forever)

        async def aclose(self) -> None:
            await outer.aclose()

    await run(Iterable())
    assert outer.closed == 1


@simulated
async def test_a_source_that_holds_on_after_its_end_ends_in_time() -> None:
    for tail in ([MINUTES], [0.1, b": still here\n\n"] * 3000, [LINGER / 2]):
        source, sink = Feed(ONE, *tail), Receiver()
        stats = await run(source, sink, ping=0.3)
        assert (stats.outcome, sink.data, source.closed) == ("finished", direct(ONE), 1)
        assert stats.duration == min(LINGER, sum(each for each in tail if isinstance(each, float)))
        assert stats.pings == 0


@simulated
async def test_cancellation_after_the_end_takes_nothing_back() -> None:
    log = Log()
    with anyio.move_on_after(LINGER / 2) as scope:
        await relay(Feed(ONE, MINUTES), Receiver(), SRC, DST, observer=log)
    assert scope.cancelled_caught
    assert log.ended[0].outcome == "finished"


# ---- backpressure ---------------------------------------------------------------------------------------------


@simulated
async def test_minutes_of_backpressure_hold_the_source_and_nothing_else() -> None:
    many = [UNITS[0], UNITS[1], *[UNITS[2]] * 100_000]
    source, sink, log = Feed(*many), Receiver(0, 0, anyio.sleep_forever), Log()
    with anyio.move_on_after(MINUTES) as scope:
        await relay(source, sink, SRC, DST, ping=15, observer=log)
    assert scope.cancelled_caught
    # the first unit has no output of its own
    assert source.asked <= sink.calls + 1
    assert (source.closed, sink.calls, log.ended[0].pings) == (1, 3, 0)


# ---- the same, a little of it, in real time ---------------------------------------------------------------------

asyncio_only = pytest.mark.parametrize("anyio_backend", ["asyncio"])


@asyncio_only
@pytest.mark.anyio
async def test_keep_alives_and_time_outs_on_asyncio() -> None:
    source, sink = Feed(0.05, *UNITS[:3], 0.2, *UNITS[3:]), Receiver()
    stats = await relays.run(source, sink, ping=0.02, timeouts=Timeouts(first=10, idle=10, total=10, write=10))
    assert (stats.outcome, plain(sink.data)) == ("finished", direct(ONE))
    assert stats.pings >= 3
    for timeouts in (Timeouts(first=0.02), Timeouts(idle=0.02), Timeouts(total=0.02)):
        source, sink = Feed(anyio.sleep_forever), Receiver()
        stats = await relays.run(source, sink, timeouts=timeouts)
        assert (stats.outcome, source.closed) == ("timed out", 1)
        assert b'"status":504' in sink.data
    with pytest.raises(StreamTimeout):
        await relays.run(Feed(*UNITS), Receiver(anyio.sleep_forever), timeouts=Timeouts(write=0.02))


@asyncio_only
@pytest.mark.anyio
async def test_writes_never_overlap_on_asyncio() -> None:
    script = [step for unit in [*UNITS[:2], *[UNITS[2]] * 300] for step in (0.001, unit)]
    source, sink = Feed(*script, *UNITS[4:]), Receiver(*[0.0005] * 10_000)
    stats = await relays.run(source, sink, ping=0.001)
    # the receiver would have said so
    assert stats.outcome == "finished"
    assert plain(sink.data) == direct([unit for unit in script if isinstance(unit, bytes)] + UNITS[4:])


@asyncio_only
@pytest.mark.anyio
async def test_a_failure_unit_that_is_not_taken_is_raised_on_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pump, "GRACE", 0.02)
    source, log = Feed(*UNITS[:3], anyio.sleep_forever), Log()
    with pytest.raises(StreamTimeout):
        await relays.run(source, Receiver(0, 0, anyio.sleep_forever), timeouts=Timeouts(idle=0.05), observer=log)
    times_out(log.ended[0], "idle")


@simulated
async def test_a_source_that_never_waits_lets_others_run() -> None:
    turns, given = 0, 0

    async def source() -> AsyncIterator[bytes]:
        nonlocal given
        for piece in [*UNITS[:-1], *[b": \n\n"] * 1000, UNITS[-1]]:
            given += 1
            yield piece

    async def counts() -> None:
        nonlocal turns
        while given < 900:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(counts)
        await relay(source(), Receiver(), SRC, DST)
    assert turns > 900 / 16 / 2
