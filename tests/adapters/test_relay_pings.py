"""Keep-alives: after each silence, between whole pieces alone, and none after the end."""

from __future__ import annotations

import functools
from typing import Any

import anyio
import pytest

from tests.adapters import relays
from tests.adapters.relays import (
    DST,
    KEEP_ALIVE,
    ONE,
    SRC,
    UNITS,
    Feed,
    Log,
    Receiver,
    direct,
    now,
    plain,
    simulated,
    times_out,
)
from tests.sources import FRAMES, Boom
from translate import StreamTimeout
from translate.adapters import StreamResponse, Timeouts
from translate.adapters.output import GRACE
from translate.adapters.pump import Pump
from translate.adapters.upstream import Upstream

MINUTES = 300.0
run = functools.partial(relays.run, patience=100 * MINUTES)


@simulated
async def test_keep_alives_are_sent_after_each_silence() -> None:
    source, sink = Feed(MINUTES - 1, *UNITS[:3], 14.9, *UNITS[3:5], 31, UNITS[5]), Receiver()
    stats = await run(source, sink, ping=15)
    assert (stats.pings, stats.outcome) == (19 + 2, "finished")
    assert plain(sink.data) == direct(ONE)
    assert sink.data.count(KEEP_ALIVE) == stats.pings
    assert stats.bytes_out == len(sink.data)
    assert sink.data.endswith(b"data: [DONE]\n\n")


@simulated
async def test_the_first_keep_alive_comes_after_just_the_silence_and_from_no_iterator() -> None:
    times: list[float] = []

    class Clocked(Receiver):
        async def __call__(self, data: bytes) -> None:
            times.append(anyio.current_time())
            await super().__call__(data)

    source = Feed(10, UNITS[0] + UNITS[1] + UNITS[2], 40, *UNITS[3:])
    start = anyio.current_time()
    await run(source, Clocked(), ping=15)
    assert [round(each - start, 6) for each in times] == [10, 25, 40, 50, 50, 50]
    assert source.asked == 5


@simulated
async def test_no_keep_alive_is_sent_amid_a_piece_or_beside_another() -> None:
    source, sink = Feed(*UNITS[:3], 100, *UNITS[3:]), Receiver(MINUTES, 0, 40, 40)
    stats = await run(source, sink, ping=15)
    assert plain(sink.data) == direct(ONE)
    # one takes the 40 seconds till 55, the next, after 15 of silence, those till 110
    assert stats.pings == 2


@simulated
async def test_a_piece_waits_for_the_keep_alive_before_it() -> None:
    # both are due in the same moment, again and again
    for _ in range(20):
        source, sink = Feed(15, UNITS[0], 15, UNITS[1], 15, UNITS[2], 15, *UNITS[3:]), Receiver(*[0.5] * 20)
        stats = await run(source, sink, ping=15, timeouts=Timeouts(write=1))
        assert (stats.outcome, plain(sink.data)) == ("finished", direct(ONE))


@simulated
async def test_a_keep_alive_that_is_taken_slowly_is_no_silence_of_the_source() -> None:
    source, sink = Feed(*UNITS[:3], 6, *UNITS[3:]), Receiver(0, 0, 20)
    stats = await run(source, sink, ping=5, timeouts=Timeouts(idle=10))
    assert (stats.outcome, stats.pings, plain(sink.data)) == ("finished", 1, direct(ONE))


@simulated
async def test_a_keep_alive_that_is_never_taken_is_a_write_that_timed_out() -> None:
    source, sink, log = Feed(*UNITS[:3], MINUTES), Receiver(0, 0, anyio.sleep_forever), Log()
    with pytest.raises(StreamTimeout):
        await run(source, sink, ping=5, timeouts=Timeouts(write=10), observer=log)
    times_out(log.ended[0], "write")
    assert (sink.calls, source.closed, log.ended[0].pings) == (3, 1, 0)
    assert log.ended[0].duration == 15 + GRACE


@simulated
async def test_the_failure_unit_waits_for_a_keep_alive() -> None:
    source, sink = Feed(*UNITS[:3], MINUTES), Receiver(0, 0, GRACE / 2 + 1)
    stats = await run(source, sink, ping=5, timeouts=Timeouts(idle=6))
    times_out(stats, "idle")
    assert b'"status":504' in sink.data
    assert sink.data.count(KEEP_ALIVE) == stats.pings == 1


@simulated
async def test_a_terminal_unit_that_waits_for_a_keep_alive_was_not_said_yet() -> None:
    stuck = Receiver(anyio.sleep_forever)
    stats = await run(Feed(6, ONE), stuck, ping=5, gone=lambda: anyio.sleep(20))
    assert (stats.outcome, stats.bytes_out) == ("disconnected", 0)


@simulated
async def test_what_waited_for_a_keep_alive_is_said_before_the_failure_unit() -> None:
    source, sink = Feed(6, ONE[:-1], 20), Receiver(10.5)
    stats = await run(source, sink, ping=5, timeouts=Timeouts(total=15))
    times_out(stats, "total")
    assert b'"type":"text.done"' in sink.data
    assert b'"status":504' in sink.data


@simulated
async def test_a_receiver_that_leaves_during_a_keep_alive_ends_the_stream() -> None:
    for error in (ConnectionResetError(), Boom()):
        source, log = Feed(*UNITS[:3], MINUTES), Log()
        if isinstance(error, Boom):
            with pytest.raises(Boom):
                await run(source, Receiver(0, 0, error), ping=5, observer=log)
        else:
            await run(source, Receiver(0, 0, error), ping=5, observer=log)
        assert (log.ended[0].outcome, log.ended[0].failure) == ("disconnected", error)
        assert (source.closed, log.ended[0].duration) == (1, 5)


@simulated
async def test_a_receiver_that_is_lost_while_the_failure_unit_waits_has_left() -> None:
    async def lost() -> None:
        await anyio.sleep(1.5)
        raise ConnectionResetError

    stats = await run(Feed(*UNITS[:3], MINUTES), Receiver(0, 0, lost), ping=5, timeouts=Timeouts(idle=6))
    assert stats.outcome == "disconnected"


@simulated
async def test_targets_without_keep_alives_get_none() -> None:
    sink = Receiver()
    stats = await run(Feed(MINUTES, *UNITS), sink, dst="unievent-jsonl", ping=15)
    assert (stats.pings, sink.data) == (0, direct(ONE, dst="unievent-jsonl"))


@simulated
async def test_a_refusal_waits_for_a_keep_alive_and_is_none_after_it() -> None:
    async def refuse(error: Exception) -> None:
        raise AssertionError

    sink = Receiver(3)
    stats = await Pump(SRC, DST, sink, ping=5, refuse=refuse, clock=now).pull(Feed(6, Boom()))
    assert (stats.outcome, stats.pings) == ("cut", 1)
    assert sink.data.startswith(KEEP_ALIVE)
    assert b"Boom" in sink.data


@simulated
async def test_a_refusal_that_is_not_taken_is_a_write_that_timed_out() -> None:
    async def refuse(error: Exception) -> None:
        await anyio.sleep_forever()

    log = Log()
    stream = Pump(SRC, DST, Receiver(), timeouts=Timeouts(write=5, idle=2), refuse=refuse, observers=[log])
    with pytest.raises(StreamTimeout):
        await stream.pull(Feed(Boom()))
    times_out(log.ended[0], "write")


@simulated
async def test_what_is_passed_on_has_no_first_unit() -> None:
    sink = Receiver()
    stream = Pump(SRC, DST, sink, timeouts=Timeouts(first=5), ping=5)

    async def passes(upstream: Upstream) -> None:
        stream.course.happens("passes")

    stats = await stream.pull(Feed(b"a", 20, b"b"), head=passes)
    assert (stats.outcome, sink.data) == ("passed", b"ab")


class Head(dict[str, str]):
    """Its fields."""

    raw = ((b"content-type", b"application/json"),)


class NotFound(Feed):
    """A response that is no stream."""

    status_code = 404
    headers = Head({"content-type": "application/json"})

    def aiter_bytes(self) -> Feed:
        return self

    aiter_raw = aiter_bytes


@simulated
@pytest.mark.parametrize("seconds", [0, 20])
async def test_an_answer_that_is_no_stream_comes_too_late_after_a_keep_alive(seconds: float) -> None:
    source, sent = NotFound(b"{}"), list[Any]()

    async def opening() -> Any:
        await anyio.sleep(seconds)
        return source

    async def receive() -> Any:
        await anyio.sleep_forever()

    async def send(message: Any) -> None:
        sent.append(message)

    stats = await StreamResponse(opening, SRC, DST, ping=15).respond({"type": "http", "method": "GET"}, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    assert source.closed == 1
    if seconds:
        assert (stats.outcome, sent[0]["status"]) == ("failed", 200)
        assert body.startswith(KEEP_ALIVE)
        assert b'"status":404' in body
    else:
        assert (stats.outcome, sent[0]["status"], body) == ("passed", 404, b"{}")


@simulated
async def test_objects_have_silences_too() -> None:
    sink = Receiver()
    stats = await run(Feed(*FRAMES[:3], 40, *FRAMES[3:]), sink, "gateway", ping=15)
    assert (stats.pings, plain(sink.data)) == (2, direct(FRAMES, "gateway"))
