"""The table of a stream's course: every cell is there, can be told by name, and is what a stream does."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, get_args

import anyio
import pytest

from tests.adapters.relays import DST, KEEP_ALIVE, SRC, UNITS, Feed, Receiver, now
from tests.sources import ERROR
from translate import StreamStopped, StreamTimeout, convert
from translate.adapters import Timeouts
from translate.adapters.course import CELLS, RECEIVER, RECEIVERS, SOURCE, TABLE, WRITES
from translate.adapters.observe import Outcome
from translate.adapters.pump import HOLD, Pump

WORDS = {
    "ping": {"ping", "-"},
    "stop": {"end"},
    "cancel": {"free", "-"},
    "leave": {"leave", "-"},
    "fail": {"say", "give", "refuse", "raise", "!", "-"},
    "give": {"put", "drop", "!"},
    "reject": {"refuse", "put", "drop", "!"},
    "end": {"whole", "passed", "failed", "left"},
    "write": {"yes", "-"},
    "total": {"yes", "late", "-"},
    "first": {"yes", "-"},
    "between": {"yes", "-"},
    "idle": {"yes", "-"},
}
"""What can be done, by what happens."""
WAITS = ("write", "total", "first", "between", "idle")
STOP = StreamStopped("no more")
FAILED = b"".join(convert([ERROR], "gateway", SRC, errors="encode"))
"""A stream that is nothing but its failure."""

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# ---- the table by itself -------------------------------------------------------------------------------------


def lines() -> list[list[str]]:
    return [[*line.split()] for line in TABLE.splitlines()[2:] if line.startswith("    ")]


async def test_the_table_has_no_word_that_nothing_does() -> None:
    for what, *words in lines():
        assert set(words[-len(RECEIVERS) :]) <= WORDS[what], (what, words)
        assert set(words[: -len(RECEIVERS)]) <= {*SOURCE, "all"}, (what, words)
    assert {what for what, *_ in lines()} == WORDS.keys()
    assert TABLE.splitlines()[1].split() == [*RECEIVERS]


async def test_no_cell_says_what_another_said_unless_it_is_an_exception_from_all() -> None:
    for what in WORDS:
        named = [words[: -len(RECEIVERS)] for each, *words in lines() if each == what]
        assert "all" not in itertools.chain(*named[1:]), what
        states = [state for words in named for state in words if state != "all"]
        assert len(states) == len(set(states)), what


def reached(states: Any, starts: Iterable[str]) -> set[str]:
    found, ahead = set[str](), list(starts)
    while ahead:
        state = ahead.pop()
        if state not in found:
            found.add(state)
            ahead += states[state].values()
    return found


async def test_every_state_can_be_reached_and_left() -> None:
    assert reached(SOURCE, ["none"]) == {*SOURCE}
    assert reached(RECEIVER, ["fresh"]) == {*RECEIVER}
    # without another answer
    assert reached(RECEIVER, ["ready"]) == {*RECEIVER} - {"fresh", "refusing", "refused"}
    for state, moves in SOURCE.items():
        assert {"passed", "done", "failed"} & reached(SOURCE, moves.values()), state
    for state in WRITES:
        assert {"takes", "tears", "leaves"} == RECEIVER[state].keys()


@pytest.mark.parametrize(("source", "receiver"), list(itertools.product(SOURCE, RECEIVER)))
async def test_what_has_no_place_is_a_fault(source: str, receiver: str) -> None:
    for verb in set(itertools.chain(*SOURCE.values())):
        course = placed(source, receiver)[0].course
        if verb in SOURCE[source]:
            course.happens(verb)
            assert (course.source, course.receiver) == (SOURCE[source][verb], receiver)
        else:
            with pytest.raises(KeyError):
                course.happens(verb)
    for verb in set(itertools.chain(*RECEIVER.values())):
        course = placed(source, receiver)[0].course
        if verb in RECEIVER[receiver]:
            course.receives(verb)
            assert (course.source, course.receiver) == (source, RECEIVER[receiver][verb])
        else:
            with pytest.raises(KeyError):
                course.receives(verb)


# ---- each cell, done -----------------------------------------------------------------------------------------


class Group:
    """A task group that only notes what it is to run."""

    def __init__(self) -> None:
        self.started: list[str] = []

    def start_soon(self, step: Callable[..., Awaitable[None]], *args: object) -> None:
        self.started.append(step.__name__)


def placed(source: str, receiver: str, *, refusable: bool = True) -> tuple[Pump, Receiver, list[Exception]]:
    """A stream in these states, what its receiver got, and what that was refused with."""
    sink, refused = Receiver(), list[Exception]()

    async def refuse(error: Exception) -> None:
        refused.append(error)

    limits = Timeouts(first=1, idle=2, total=3, write=4, between=5)
    pump = Pump(SRC, DST, sink, refuse=refuse if refusable else None, ping=6, timeouts=limits, clock=now)
    pump.course.source, pump.course.receiver = source, receiver
    return pump, sink, refused


def cells(*events: str) -> pytest.MarkDecorator:
    """All cells of these events, and ``-`` where the table has none."""
    found = itertools.product(events, SOURCE, RECEIVER)
    return pytest.mark.parametrize(
        ("event", "source", "receiver", "does"), [(*cell, CELLS.get(cell, "-")) for cell in found]
    )


async def within(step: Awaitable[None], does: str) -> None:
    """Do it. What waits until nothing is being written, waits for ever here."""
    with anyio.move_on_after(0.001 if does == "!" else 5) as scope:
        await step
    assert scope.cancelled_caught is (does == "!")


@cells("ping")
async def test_a_keep_alive(event: str, source: str, receiver: str, does: str) -> None:
    pump, sink, _ = placed(source, receiver)
    await pump._ping()
    assert sink.pieces == ([KEEP_ALIVE] if does == "ping" else [])
    assert (pump._waits.since("ping") is not None) == (does == "ping")


@cells("stop", "cancel")
async def test_an_end_from_outside(event: str, source: str, receiver: str, does: str) -> None:
    pump, _, _ = placed(source, receiver)
    group: Any = Group()
    pump._group = group
    if event == "stop":
        pump.stop(STOP)
        assert (pump._stopped is STOP) == (does == "end")
    else:
        pump.cancel()
        assert group.started == (["_release"] if does == "free" else [])


@cells("leave")
async def test_a_receiver_that_leaves(event: str, source: str, receiver: str, does: str) -> None:
    pump, _, _ = placed(source, receiver)
    pump.leave()
    assert pump.course.receiver == ("left" if does == "leave" else receiver)


@cells("fail")
async def test_a_failure(event: str, source: str, receiver: str, does: str) -> None:
    if does == "-" and receiver in WRITES:
        # there is no stream, and nothing that is written
        return
    pump, sink, refused = placed(source, receiver)
    pump._output.held = [b"held"]
    if does == "raise":
        with pytest.raises(StreamStopped):
            await pump.fail(STOP)
    else:
        await within(pump.fail(STOP), does)
    assert refused == ([STOP] if does == "refuse" or (does == "say" and receiver == "fresh") else [])
    if does == "say" and receiver == "ready":
        assert sink.data.startswith(b"held")
        assert b"no more" in sink.data
    else:
        assert sink.data == (b"held" if does == "give" else b"")


@cells("give")
async def test_output(event: str, source: str, receiver: str, does: str) -> None:
    if does == "-":
        return
    pump, sink, _ = placed(source, receiver)
    pump._output.held = [b"output"]
    await within(pump._give(), does)
    assert sink.pieces == ([b"output"] if does == "put" else [])
    assert pump._output.held == ([b"output"] if does == "!" else [])


@cells("reject")
async def test_a_failure_before_all_units(event: str, source: str, receiver: str, does: str) -> None:
    if does == "-":
        return
    pump, sink, refused = placed(source, receiver)
    pump._output.held = pump._translator.feed(FAILED)
    await within(pump._give(), does)
    assert refused == ([pump._translator.failure] if does == "refuse" else [])
    assert (b"down" in sink.data) == (does == "put")


@cells("end")
async def test_an_outcome(event: str, source: str, receiver: str, does: str) -> None:
    if does == "-":
        return
    pump, _, _ = placed(source, receiver)
    pump._stopped = None if does == "passed" else STOP
    outcomes: dict[str, Outcome] = {
        "whole": "finished", "passed": "passed", "failed": "stopped", "left": "disconnected",
    }  # fmt: skip
    assert pump._outcome(None)[0] == outcomes[does]
    assert pump._outcome(None)[0] in get_args(Outcome)
    assert pump.course.whole == (does == "whole")


@cells(*WAITS)
async def test_a_wait(event: str, source: str, receiver: str, does: str) -> None:
    pump, _, _ = placed(source, receiver)
    pump._output.since = 17.0
    pump.stats.bytes_in = 1
    if event == "between":
        pump.stats.units = 1
    since = pump._waits.since(event)
    assert (since is not None) == (does != "-")
    if event == "write" and does == "yes":
        assert since == 17
    if does == "late":
        assert since == 17 + 1 - 3


# ---- both together -------------------------------------------------------------------------------------------


async def test_a_stream_goes_through_the_states_that_the_table_names() -> None:
    seen: list[tuple[str, str]] = []

    async def sink(data: bytes) -> None:
        seen.append((pump.course.source, pump.course.receiver))

    pump = Pump(SRC, DST, sink, clock=now)
    await pump.pull(Feed(*UNITS))
    assert {receiver for _, receiver in seen} == {"taking"}
    assert [source for source, _ in seen][-1] == "said"
    assert {source for source, _ in seen[:-1]} == {"reading"}
    assert (pump.course.source, pump.course.receiver) == ("done", "ready")


async def test_a_server_that_shields_a_send_does_not_hold_the_source() -> None:
    source, entered = Feed(*UNITS, anyio.sleep_forever), anyio.Event()

    async def sink(data: bytes) -> None:
        entered.set()
        with anyio.CancelScope(shield=True):
            await anyio.sleep(HOLD * 3)
        assert source.closed

    pump = Pump(SRC, DST, sink, clock=now)
    async with anyio.create_task_group() as group:

        async def ended() -> None:
            await entered.wait()
            pump.stop(StreamTimeout("total", 1))

        group.start_soon(ended)
        await pump.pull(source)
    assert pump.stats.outcome == "timed out"
