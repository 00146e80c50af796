"""The relay: what arrives, backpressure, and cancellation both ways."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.adapters.relays import DST, ONE, SRC, UNITS, Feed, Log, Receiver, direct, run
from tests.peers.serving import PATIENCE, odd
from tests.sources import FRAMES, Boom
from translate import (
    UnknownFormat,
    convert,
)
from translate.adapters import Timeouts, relay

pytestmark = pytest.mark.anyio
TURN = (Path(__file__).resolve().parents[2] / "examples" / "claude-turn.unievent.sse").read_bytes()


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# ---- what arrives ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("timeouts", [None, Timeouts(PATIENCE, PATIENCE, PATIENCE, PATIENCE)])
@pytest.mark.parametrize("cut", [odd, lambda data: [data.decode()], lambda data: [memoryview(data)]])
async def test_a_stream_arrives_however_it_is_cut(cut: Callable[[bytes], Any], timeouts: Timeouts | None) -> None:
    source, sink, log = Feed(*cut(TURN)), Receiver(), Log()
    stats = await run(source, sink, "unievent-sse", "gateway-sse", timeouts=timeouts, ping=PATIENCE, observer=log)
    assert sink.data == direct(TURN, "unievent-sse", "gateway-sse")
    assert (stats.outcome, stats.failure, source.closed) == ("finished", None, 1)
    assert (stats.bytes_in, stats.bytes_out, stats.pings) == (len(TURN), len(sink.data), 0)
    assert stats.units == log.units == len(list(convert(TURN, "unievent-sse", "unievent")))
    assert stats.first is not None
    assert 0 <= stats.first <= stats.duration
    assert stats.translating > 0


async def test_text_is_counted_in_bytes() -> None:
    text = TURN.decode()
    assert len(text) < len(TURN)
    stats = await run(Feed(*text), src="unievent-sse", dst="gateway-sse")
    assert stats.bytes_in == len(TURN)


async def test_objects_are_a_source_too() -> None:
    units = list(convert(TURN, "unievent-sse", "unievent"))
    sink = Receiver()
    stats = await run(Feed(*units), sink, "unievent", "gateway-sse")
    assert sink.data == direct(units, "unievent", "gateway-sse")
    assert (stats.units, stats.bytes_in, stats.outcome) == (len(units), 0, "finished")


async def test_a_unit_that_only_the_end_of_input_completes_is_counted() -> None:
    lines = b"".join(convert(FRAMES, "gateway", "gateway-jsonl")).rstrip(b"\n")
    sink, log = Receiver(), Log()
    stats = await run(Feed(lines), sink, "gateway-jsonl", observer=log)
    assert sink.data == direct(lines, "gateway-jsonl")
    assert stats.units == log.units == len(FRAMES)


@pytest.mark.parametrize("opens", [False, True])
async def test_a_generator_is_run_to_its_end(opens: bool) -> None:
    log = []

    async def chunks() -> AsyncIterator[bytes]:
        try:
            yield ONE
        finally:
            await anyio.lowlevel.checkpoint()
            log.append("closed")

    async def opening() -> AsyncIterator[bytes]:
        await anyio.lowlevel.checkpoint()
        return chunks()

    sink = Receiver()
    await run(opening if opens else chunks(), sink)
    assert (sink.data, log) == (direct(ONE), ["closed"])


async def test_what_is_wrong_with_the_arguments_is_raised_and_nothing_is_asked_for() -> None:
    source = Feed(ONE)
    with pytest.raises(UnknownFormat):
        await run(source, dst="no-such")
    with pytest.raises(ValueError, match="format of objects"):
        await run(source, dst="unievent")
    assert source.asked == 0


# ---- backpressure ---------------------------------------------------------------------------------------------


async def test_nothing_more_is_pulled_before_the_sink_returned() -> None:
    source, most = Feed(*UNITS), []

    async def slow() -> None:
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        most.append(source.asked - sink.calls)

    sink = Receiver(*[slow] * len(UNITS))
    await run(source, sink, timeouts=Timeouts(write=PATIENCE), ping=PATIENCE)
    # the first unit alone has no output of its own
    assert max(most) == 1
    assert sink.data == direct(ONE)


# ---- the receiver leaves --------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ConnectionResetError(), anyio.BrokenResourceError(), anyio.ClosedResourceError()])
@pytest.mark.parametrize("timeouts", [None, Timeouts(total=PATIENCE)])
async def test_a_sink_that_says_the_receiver_left_ends_the_stream(error: Exception, timeouts: Timeouts | None) -> None:
    source, sink, log = Feed(*UNITS), Receiver(0, error), Log()
    stats = await run(source, sink, timeouts=timeouts, observer=log)
    assert (stats.outcome, stats.failure) == ("disconnected", error)
    assert (source.closed, sink.calls, log.told.count("end")) == (1, 2, 1)
    assert stats.bytes_out == len(sink.data)


async def test_another_error_of_the_sink_is_raised_as_it_is() -> None:
    source, log = Feed(*UNITS), Log()
    boom = Boom()
    with pytest.raises(Boom) as caught:
        await run(source, Receiver(boom), observer=log, timeouts=Timeouts(total=PATIENCE))
    assert caught.value is boom
    assert (source.closed, log.told[-1]) == (1, "end")


@pytest.mark.parametrize("taken", [0, 3])
async def test_a_receiver_that_leaves_cancels_the_source(taken: int) -> None:
    waits, cancelled = anyio.Event(), []

    async def hang() -> Any:
        waits.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.append(True)

    source, sink = Feed(*UNITS[:taken], hang), Receiver()
    stats = await run(source, sink, gone=waits.wait)
    assert (stats.outcome, stats.failure, source.closed, cancelled) == ("disconnected", None, 1, [True])
    assert direct(ONE).startswith(sink.data)


async def test_a_receiver_that_leaves_cancels_the_opening() -> None:
    begun = anyio.Event()

    async def opening() -> AsyncIterator[bytes]:
        begun.set()
        await anyio.sleep_forever()
        raise AssertionError

    stats = await run(opening, gone=begun.wait)
    assert (stats.outcome, stats.units) == ("disconnected", 0)


async def test_a_receiver_that_left_while_a_piece_is_written_gets_no_more() -> None:
    begun = anyio.Event()

    async def hang() -> None:
        begun.set()
        await anyio.sleep_forever()

    source, sink = Feed(*UNITS), Receiver(hang)
    stats = await run(source, sink, gone=begun.wait)
    assert (stats.outcome, source.closed, sink.calls, stats.bytes_out) == ("disconnected", 1, 1, 0)


async def test_a_receiver_that_leaves_after_the_end_takes_nothing_back() -> None:
    done = anyio.Event()

    async def hang() -> Any:
        done.set()
        await anyio.sleep_forever()

    sink = Receiver()
    stats = await run(Feed(ONE, hang), sink, gone=done.wait)
    assert (stats.outcome, sink.data) == ("finished", direct(ONE))


async def test_what_waits_for_the_receiver_may_fail() -> None:
    boom, lost = Boom(), OSError()

    async def gone() -> None:
        raise boom

    async def gone_too() -> None:
        raise lost

    source = Feed(anyio.sleep_forever)
    with pytest.raises(Boom) as caught:
        await run(source, gone=gone)
    assert caught.value is boom
    assert source.closed == 1
    stats = await run(Feed(anyio.sleep_forever), gone=gone_too)
    assert (stats.outcome, stats.failure) == ("disconnected", lost)


async def test_a_source_that_answers_cancellation_with_its_own_error_says_nothing_to_who_left() -> None:
    begun = anyio.Event()

    async def stubborn() -> Any:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            raise Boom

    sink = Receiver()
    stats = await run(Feed(stubborn), sink, gone=begun.wait)
    assert (stats.outcome, sink.calls) == ("disconnected", 0)


# ---- cancellation ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["source", "sink", "before"])
async def test_cancellation_closes_the_source_and_goes_on(where: str) -> None:
    log, begun = Log(), anyio.Event()

    async def hang() -> Any:
        begun.set()
        await anyio.sleep_forever()

    source = Feed(*UNITS[:2], hang) if where == "source" else Feed(*UNITS)
    sink = Receiver(hang) if where == "sink" else Receiver()
    with anyio.fail_after(PATIENCE), anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:

            async def cancel() -> None:
                await begun.wait()
                scope.cancel()

            group.start_soon(cancel)
            if where == "before":
                scope.cancel()
            await relay(source, sink, SRC, DST, observer=log, ping=PATIENCE, timeouts=Timeouts(total=PATIENCE))
    assert scope.cancelled_caught
    assert source.closed == 1
    assert [each.outcome for each in log.ended] == ["cancelled"]


async def test_a_source_that_fails_to_close_does_not_stop_a_cancellation() -> None:
    async def closing() -> None:
        raise Boom

    source = Feed(anyio.sleep_forever, closing=closing)
    with anyio.move_on_after(0.01) as scope:
        await relay(source, Receiver(), SRC, DST)
    assert scope.cancelled_caught
    assert source.closed == 1


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
async def test_what_is_no_error_goes_on_as_it_is(kind: type[BaseException]) -> None:
    source, log = Feed(*UNITS[:2], kind()), Log()
    with pytest.raises(kind):
        await relay(source, Receiver(), SRC, DST, observer=log, ping=PATIENCE)
    assert (source.closed, log.told[-1]) == (1, "end")
