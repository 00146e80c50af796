"""How a stream ends: its source closed first, and nothing told as a success that is none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.adapters.relays import DST, FAILED, MESS, ONE, SRC, UNITS, Feed, Log, Receiver, direct, now, run
from tests.peers.serving import PATIENCE
from tests.sources import Boom
from translate import (
    DecodeError,
    GrammarError,
    StreamStopped,
    TruncatedStream,
    UpstreamFailure,
    convert,
)
from translate.adapters import Timeouts, pump
from translate.adapters.pump import Pump
from translate.adapters.upstream import Upstream

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


ENDS: list[tuple[list[Any], str, type[Exception]]] = [
    ([*UNITS[:3], Boom()], "cut", Boom),
    ([*UNITS[:3]], "cut", TruncatedStream),
    ([], "cut", TruncatedStream),
    ([Boom()], "cut", Boom),
    ([*UNITS[:3], FAILED], "failed", UpstreamFailure),
    ([b"".join(UNITS[:3]) + FAILED], "failed", UpstreamFailure),
    ([*UNITS[:3], MESS, *UNITS[3:]], "broken", DecodeError),
    ([b"".join(UNITS[:3]) + MESS], "broken", DecodeError),
    ([MESS], "broken", DecodeError),
    ([*UNITS[:3], UNITS[5]], "broken", GrammarError),
]


@pytest.mark.parametrize("timeouts", [None, Timeouts(total=PATIENCE)])
@pytest.mark.parametrize(("script", "outcome", "kind"), ENDS)
async def test_whatever_fails_the_source_is_closed_and_the_output_says_it(
    script: list[Any], outcome: str, kind: type[Exception], timeouts: Timeouts | None
) -> None:
    source, sink, log = Feed(*script), Receiver(), Log()
    before: list[bytes] = []
    source.on_close = lambda: before.append(sink.data)
    stats = await run(source, sink, observer=log, timeouts=timeouts)
    assert (stats.outcome, type(stats.failure)) == (outcome, kind)
    said = [item for item in script if not isinstance(item, Exception)]
    whole = Receiver()
    await collect(convert(Feed(*script), SRC, DST, errors="encode", clock=now), whole)
    assert sink.data == whole.data
    assert source.closed == 1
    assert b'"error"' in sink.data
    # the failure unit came after, unless it is the source's own, which ends it
    assert (b'"error"' in before[0]) is (outcome == "failed")
    assert stats.units == log.units
    assert log.told[0] == "start"
    assert log.told[-1] == "end"
    assert log.told.count("end") == 1
    assert stats.bytes_in == sum(map(len, said)) or outcome == "broken"


async def collect(out: AsyncIterator[Any], sink: Receiver) -> None:
    async for data in out:
        await sink(data)


@pytest.mark.parametrize(("script", "outcome", "kind"), ENDS)
async def test_errors_may_be_raised_after_all_output(script: list[Any], outcome: str, kind: type[Exception]) -> None:
    source, sink, log = Feed(*script), Receiver(), Log()
    with pytest.raises(kind):
        await run(source, sink, errors="raise", observer=log, timeouts=Timeouts(total=PATIENCE))
    expected = Receiver()
    out = convert(Feed(*script), SRC, DST, clock=now)
    with pytest.raises(kind):
        await collect(out, expected)
    assert sink.data == expected.data
    assert (source.closed, [each.outcome for each in log.ended]) == (1, [outcome])
    assert type(log.ended[0].failure) is kind


async def test_an_opening_that_fails_is_said() -> None:
    async def opening() -> AsyncIterator[bytes]:
        raise Boom

    sink = Receiver()
    stats = await run(opening, sink)
    assert (stats.outcome, type(stats.failure)) == ("cut", Boom)
    assert b"Boom" in sink.data
    with pytest.raises(Boom):
        await run(opening, errors="raise")


async def test_what_is_no_source_is_said() -> None:
    async def opening() -> Any:
        return 1

    for source in (opening, 1):
        stats = await run(source)
        assert (stats.outcome, type(stats.failure)) == ("cut", TypeError)


async def test_an_iterator_that_cannot_be_made_is_said() -> None:
    class Broken(Feed):
        def __aiter__(self) -> Feed:
            raise Boom

    source, sink = Broken(), Receiver()
    stats = await run(source, sink)
    assert (stats.outcome, source.closed) == ("cut", 1)
    assert b"Boom" in sink.data


async def test_an_error_of_the_source_after_its_end_is_no_ones_concern() -> None:
    for errors in ("encode", "raise"):
        source, sink = Feed(ONE, ConnectionResetError()), Receiver()
        stats = await run(source, sink, errors=errors)
        assert (stats.outcome, stats.failure, sink.data, source.closed) == ("finished", None, direct(ONE), 1)


@pytest.mark.parametrize("script", [[ONE + UNITS[1]], [ONE, UNITS[1]], [ONE, MESS, anyio.sleep_forever]])
async def test_units_after_the_terminal_one_are_raised_when_all_was_said(script: list[Any]) -> None:
    source, sink, log = Feed(*script), Receiver(), Log()
    with pytest.raises((GrammarError, DecodeError)):
        await run(source, sink, observer=log)
    assert sink.data == direct(ONE)
    assert (source.closed, log.ended[0].outcome) == (1, "broken")


async def test_a_source_that_does_not_close_well_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def closing() -> None:
        raise Boom("secret")

    for script in ([ONE], [*UNITS[:3], MESS]):
        sink = Receiver()
        source = Feed(*script, closing=closing)
        await run(source, sink)
        assert sink.data == direct(b"".join(script))
        assert source.closed == 1
    assert "failed to close: Boom" in caplog.text
    assert "secret" not in caplog.text


async def test_an_iterator_that_fails_to_close_does_not_keep_what_it_iterates_over_open() -> None:
    closed = []

    class Iterator(Feed):
        async def aclose(self) -> None:
            raise Boom

    class Iterable:
        def __aiter__(self) -> Feed:
            return Iterator(*UNITS)

        async def aclose(self) -> None:
            closed.append(True)

    await run(Iterable())
    assert closed == [True]
    upstream = Upstream(Iterable())
    aiter(upstream)
    with pytest.raises(Boom):
        await upstream.aclose()
    assert closed == [True, True]


async def test_a_group_of_errors_stays_one_and_no_other_becomes_one() -> None:
    group = ExceptionGroup("several", [Boom(), Boom()])
    with pytest.raises(ExceptionGroup) as caught:
        await run(Feed(group), errors="raise", ping=PATIENCE)
    assert caught.value is group


# ---- the pump -------------------------------------------------------------------------------------------------


async def test_a_stream_that_is_stopped_ends_in_the_failure_unit() -> None:
    begun, sink = anyio.Event(), Receiver()

    async def hang() -> Any:
        begun.set()
        await anyio.sleep_forever()

    source = Feed(*UNITS[:3], hang)
    stream = Pump(SRC, DST, sink, clock=now)

    async def stop() -> None:
        await begun.wait()
        stream.stop(StreamStopped("going down"))

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            group.start_soon(stop)
            await stream.pull(source)
    assert (stream.stats.outcome, source.closed) == ("stopped", 1)
    assert b'"status":503' in sink.data


async def test_a_stream_that_is_stopped_before_it_began_is_closed_too() -> None:
    source, sink = Feed(*UNITS), Receiver()
    stream = Pump(SRC, DST, sink, clock=now)
    stream.stop(StreamStopped("going down"))
    stats = await stream.pull(source)
    assert (stats.outcome, source.closed, source.asked) == ("stopped", 1, 0)
    assert b'"status":503' in sink.data


@pytest.mark.parametrize("script", [[FAILED, anyio.sleep_forever], [FAILED], [MESS, ONE], [Boom()], []])
async def test_a_stream_that_fails_at_first_is_refused_once_with_its_source_closed(script: list[Any]) -> None:
    source, sink, refused = Feed(*script), Receiver(), list[Exception]()

    async def refuse(error: Exception) -> None:
        # a failure of its own ends the source
        assert source.closed == (type(error) is not UpstreamFailure)
        await anyio.lowlevel.checkpoint()
        refused.append(error)

    with anyio.fail_after(PATIENCE):
        stats = await Pump(SRC, DST, sink, refuse=refuse).pull(source)
    assert refused == [stats.failure]
    assert (sink.calls, stats.bytes_out, source.closed) == (0, 0, 1)


async def test_a_stream_that_is_none_is_passed_on() -> None:
    sink = Receiver()
    stream = Pump(SRC, DST, sink)

    async def passes(upstream: Upstream) -> None:
        stream.course.happens("passes")

    stats = await stream.pull(Feed(b"not", b"a stream"), head=passes)
    assert (stats.outcome, sink.pieces, stats.bytes_out) == ("passed", [b"not", b"a stream"], 11)


async def test_a_head_that_is_refused_fails_the_stream() -> None:
    async def head(upstream: Upstream) -> None:
        raise UpstreamFailure(404, "none", None, {})

    source, sink = Feed(*UNITS), Receiver()
    stats = await Pump(SRC, DST, sink).pull(source, head=head)
    assert (stats.outcome, source.closed, source.asked) == ("failed", 1, 0)
    assert b'"status":404' in sink.data


async def test_a_source_that_holds_on_after_its_end_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pump, "LINGER", 0.02)
    for tail in ([anyio.sleep_forever], [0.001, b": still here\n\n"] * 10_000):
        source, sink = Feed(ONE, *tail), Receiver()
        stats = await run(source, sink)
        assert (stats.outcome, sink.data, source.closed) == ("finished", direct(ONE), 1)
