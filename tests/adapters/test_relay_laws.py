"""Laws of the relay: whatever sources, receivers and clocks do, and whenever, in simulated time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anyio
import anyio.lowlevel
from hypothesis import given, settings
from hypothesis import strategies as st

import tests.strategies  # noqa: F401  (the profiles)
from tests.adapters.relays import KEEP_ALIVE, MESS, SRC, Feed, Log, Receiver, now, simulated
from tests.sources import FRAMES, Boom, frame
from translate import StreamTimeout, TranslateError, Translator, convert
from translate.adapters import Stats, Timeouts, relay
from translate.adapters.output import GRACE
from translate.adapters.pump import LINGER

STREAM = b"".join(convert([*FRAMES[:2], *(frame("content", value=c) for c in "abcdefgh"), *FRAMES[4:]], "gateway", SRC))
TARGETS = ("unievent-sse", "gateway-sse", "unievent-jsonl")
SUCCESS = {"unievent-sse": b'"finish_reason":"stop"', "gateway-sse": b"event: stop", "unievent-jsonl": b'"stop"'}
WAITS = (0, 0, 0, 0.3, 2, 9, 40)
LIMITS = (None, None, None, 1.37, 7.11, 30.3)
LONG = 400.0


@dataclass
class Course:
    """All that happens."""

    dst: str
    script: list[Any]
    taking: list[Any]
    closing: float
    gone: float | None
    cancelled: float | None
    ping: float | None
    timeouts: Timeouts
    encode: bool


@st.composite
def courses(draw: st.DrawFn) -> Course:
    cuts = sorted(draw(st.sets(st.integers(1, len(STREAM) - 1), max_size=12)))
    chunks: list[Any] = [STREAM[i:j] for i, j in zip([0, *cuts], [*cuts, len(STREAM)], strict=True)]
    chunks = chunks[: draw(st.integers(0, len(chunks)) | st.just(len(chunks)))]
    chunks += draw(st.sampled_from([[], [], [], [Boom()], [MESS], [LONG], [anyio.sleep_forever]]))
    script = [step for chunk in chunks for step in (draw(st.sampled_from(WAITS)), chunk)]
    ways = (*WAITS, *WAITS, ConnectionResetError(), Boom("sink"), anyio.sleep_forever)
    limit = st.sampled_from(LIMITS)
    moment = st.none() | st.none() | st.floats(0, 60)
    return Course(
        dst=draw(st.sampled_from(TARGETS)),
        script=script,
        taking=draw(st.lists(st.sampled_from(ways), max_size=12)),
        closing=draw(st.sampled_from([0, 0, 0.7, 3])),
        gone=draw(moment),
        cancelled=draw(moment),
        ping=draw(st.sampled_from([None, 0.9, 15])),
        timeouts=Timeouts(draw(limit), draw(limit), draw(limit), draw(limit)),
        encode=draw(st.booleans() | st.just(True)),
    )


def replayed(course: Course, chunks: list[bytes], failure: BaseException | None) -> bytes:
    """The whole output for these chunks, and what is said of ``failure``."""
    translator = Translator(SRC, course.dst, errors="encode" if course.encode else "raise", clock=now)
    out = b""
    try:
        for chunk in chunks:
            out += b"".join(translator.feed(chunk))
        if isinstance(failure, Exception):
            out += b"".join(translator.fail(failure))
        else:
            out += b"".join(translator.close())
    except (TranslateError, Boom):
        # raised, after the output that comes before it
        pass
    return out


@settings(max_examples=max(100, settings().max_examples))
@given(courses())
def test_whatever_happens_the_relay_keeps_its_laws(course: Course) -> None:
    simulated(holds)(course=course)


async def holds(course: Course) -> None:
    async def closing() -> None:
        await anyio.sleep(course.closing)

    async def gone() -> None:
        await anyio.sleep(LONG if course.gone is None else course.gone)

    sink, log, given = Receiver(*course.taking), Log(), list[bytes]()

    class Watched(Feed):
        async def __anext__(self) -> Any:
            assert not sink.busy, "pulled while the receiver has something to take"
            chunk = await super().__anext__()
            given.append(chunk)
            return chunk

    source = Watched(*course.script, closing=closing)
    at_close: list[bytes] = []
    source.on_close = lambda: at_close.append(sink.data)
    raised: BaseException | None = None
    start = anyio.current_time()
    with anyio.move_on_after(LONG if course.cancelled is None else course.cancelled) as scope:
        try:
            await relay(
                source,
                sink,
                SRC,
                course.dst,
                ping=course.ping,
                timeouts=course.timeouts,
                gone=gone,
                observer=log,
                errors="encode" if course.encode else "raise",
                clock=now,
            )
        except Exception as error:
            raised = error
    (stats,) = log.ended
    assert source.closed == 1
    assert log.told[0] == "start"
    assert log.told.count("end") == log.told.count("start") == 1
    assert log.units == stats.units
    figures(course, stats, sink, given, anyio.current_time() - start)
    output(course, stats, sink, given, at_close[0])
    ends(course, stats, raised, scope.cancelled_caught)


def figures(course: Course, stats: Stats, sink: Receiver, given: list[bytes], spent: float) -> None:
    assert stats.bytes_out == len(sink.data)
    assert stats.bytes_in <= sum(map(len, given))
    assert stats.pings == sink.pieces.count(KEEP_ALIVE)
    assert not stats.pings or (course.ping is not None and "jsonl" not in course.dst)
    if course.timeouts.total is not None:
        assert spent <= course.timeouts.total + course.closing + GRACE + 0.001
    if course.gone is not None:
        assert spent <= course.gone + course.closing + 0.001
    assert stats.first is None or stats.first <= stats.duration


def output(course: Course, stats: Stats, sink: Receiver, given: list[bytes], at_close: bytes) -> None:
    """It is what a conversion gives, or the beginning of that."""
    pieces = [piece for piece in sink.pieces if piece != KEEP_ALIVE]
    plain = b"".join(pieces)
    end = b"\n" if "jsonl" in course.dst else b"\n\n"
    assert all(piece.endswith(end) for piece in pieces)
    whole = replayed(course, given, None if stats.outcome in ("disconnected", "cancelled") else stats.failure)
    assert whole.startswith(plain)
    if stats.outcome == "finished":
        assert plain == whole == replayed(course, [STREAM], None)
    if SUCCESS[course.dst] in plain:
        assert b"".join(given).startswith(STREAM)
        assert stats.outcome in ("finished", "broken")
    if course.encode and stats.outcome in ("failed", "cut", "broken"):
        assert plain == whole
    if course.encode and plain == whole and stats.outcome in ("cut", "broken", "timed out") and given != [STREAM]:
        # the failure unit came after the source was closed
        assert len(at_close.replace(KEEP_ALIVE, b"")) < len(plain) or SUCCESS[course.dst] in plain


def ends(course: Course, stats: Stats, raised: BaseException | None, cancelled: bool) -> None:
    """What is raised is what there was, and says why."""
    assert raised is None or type(raised) in (Boom, StreamTimeout) or isinstance(raised, TranslateError)
    if cancelled:
        # what came before it, if anything, is the outcome
        assert raised is None
        assert stats.outcome not in ("passed", "stopped", None)
        return
    assert stats.outcome != "cancelled"
    match stats.outcome:
        case "finished":
            assert (raised, stats.failure) == (None, None)
        case "disconnected":
            # by what the sink raised, or by time
            assert raised is None or raised is stats.failure
            assert course.gone is not None or isinstance(stats.failure, (Boom, ConnectionResetError))
        case "timed out":
            assert isinstance(stats.failure, StreamTimeout)
            assert stats.failure.seconds == getattr(course.timeouts, stats.failure.phase)
            assert raised in (None, stats.failure)
            assert course.encode or raised is stats.failure
        case "cut":
            assert course.encode == (raised is None)
            assert raised in (None, stats.failure)
        case "broken":
            assert isinstance(stats.failure, TranslateError)
            assert raised in (None, stats.failure)
        case _:
            raise AssertionError(stats.outcome)
    assert stats.duration <= LONG + LINGER
