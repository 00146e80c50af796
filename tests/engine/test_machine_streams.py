"""What a source and the reader of its output may do, in any order, held to the contract of both skins."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.test_machine import GARBAGE, OBJECTS, ODD_OBJECTS, PAIRS, clock, told, units
from tests.sources import AsyncSource, Boom, Source
from translate import Translator, TruncatedStream, convert


@dataclass
class Plan:
    """What a source does and what is done with its output."""

    pair: tuple[str, str]
    errors: Any
    items: list[Any] = field(repr=False)
    take: int
    """Items of output to take before ``then``."""
    then: str
    cancel_at: int
    """The await, counted over all, at which the consumer is cancelled; 0 for never."""
    fails_to_close: bool

    def expected(self) -> tuple[list[Any], Exception | None]:
        """All output, and what is raised after it; by the core."""
        machine = Translator(*self.pair, errors=self.errors, clock=clock)
        out: list[Any] = []
        try:
            for item in self.items:
                out += machine.fail(item) if isinstance(item, Exception) else machine.feed(item)
                if machine.finished:
                    break
            out += machine.close()
        except Exception as error:
            return out, error
        return out, None


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    pair = draw(st.sampled_from(PAIRS))
    items = list(units(pair[0]))
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(items)))
        items.insert(at, draw(st.sampled_from([Boom("x"), *(ODD_OBJECTS[:2] if pair[0] in OBJECTS else GARBAGE[:3])])))
    items = items[: draw(st.sampled_from([len(items), len(items), 0, 1, 5]))]
    errors = draw(st.sampled_from(["raise", "encode"]))
    then = draw(st.sampled_from(["drain", "close", "leave", "again"]))
    take = draw(st.integers(0, len(items) + 2))
    return Plan(pair, errors, items, take, then, draw(st.integers(-20, 60)), draw(st.integers(0, 5)) == 0)


class Counting(AsyncSource):
    """A source that counts its awaits, and has its consumer cancelled at one of them."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(*plan.items)
        self.plan = plan
        self.awaits = 0
        self.scope = anyio.CancelScope()
        self.ends: list[str] = []

    async def _await(self) -> None:
        self.awaits += 1
        if self.awaits == self.plan.cancel_at:
            self.scope.cancel()
        await anyio.lowlevel.checkpoint()

    async def __anext__(self) -> Any:
        assert not self.ends, "nothing is asked of a source that is closed"
        await self._await()
        return self._next(StopAsyncIteration)

    async def aclose(self) -> None:
        self.ends.append("begun")
        for _ in range(3):
            await self._await()
        self.ends.append("done")
        if self.plan.fails_to_close:
            raise Boom("close")


def begins(out: list[Any], whole: list[Any]) -> bool:
    """Whether the output is a beginning of another; how bytes were joined does not count."""
    if out and type(out[0]) is bytes:
        return b"".join(whole).startswith(b"".join(out))
    return repr(whole[: len(out)]) == repr(out)


async def consume(plan: Plan, source: Counting) -> None:
    """Carry the plan out, and hold the output to the contract."""
    out: list[Any] = []
    caught: list[Exception] = []
    closed = False
    whole, error = plan.expected()
    stream = convert(source, *plan.pair, errors=plan.errors, clock=clock)
    with source.scope:
        try:
            async for unit in stream:
                out.append(unit)
                if plan.then != "drain" and len(out) > plan.take:
                    break
            else:
                assert source.ends == ["begun", "done"], "the source is closed before the output ends"
            closed = plan.then in ("close", "leave")
            if plan.then == "close":
                await stream.aclose()
            elif plan.then == "leave":
                async with stream:
                    pass
        except Exception as raised:
            caught.append(raised)
    cancelled = source.scope.cancelled_caught
    assert begins(out, whole)
    drained = plan.then in ("drain", "again") and not source.scope.cancel_called
    if plan.then == "again" and not caught and not source.scope.cancel_called:
        try:
            async for unit in stream:
                out.append(unit)
        except Exception as raised:
            caught.append(raised)
        assert begins(out, whole)
    if drained and not plan.fails_to_close:
        assert told(caught[0] if caught else None) == told(error)
        assert begins(whole, out)
    elif drained and error is None and caught:
        # all output comes before the error that closing raised
        assert begins(whole, out)
    # a step was broken off, and the output was not closed after that
    cut = cancelled and not closed
    over = cancelled or caught or drained or plan.then in ("close", "leave")
    if over:
        assert source.ends == ["begun", "done"], "closed once, and to the end"
    asked = source.asked
    for _ in range(2 if over else 0):
        # nothing comes after an error or an end, and a cut after a cancellation
        with pytest.raises(TruncatedStream) if cut else contextlib.nullcontext():
            assert [unit async for unit in stream] == []
    with contextlib.suppress(Boom):
        await stream.aclose()
    assert source.asked == asked
    assert source.ends == ["begun", "done"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_asynchronous_output(backend: str) -> None:
    @given(plan=plans())
    @settings(max_examples=150, deadline=None)
    def held(plan: Plan) -> None:
        async def main() -> None:
            with anyio.fail_after(20):
                await consume(plan, Counting(plan))

        anyio.run(main, backend=backend)

    held()


class Faulty(Source):
    """A source whose end may fail."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(*plan.items)
        self.plan = plan

    def close(self) -> None:
        super().close()
        if self.plan.fails_to_close:
            raise Boom("close")


@given(plan=plans())
@settings(max_examples=150, deadline=None)
def test_synchronous_output(plan: Plan) -> None:
    source = Faulty(plan)
    whole, error = plan.expected()
    stream = convert(source, *plan.pair, errors=plan.errors, clock=clock)
    out: list[Any] = []
    caught: list[Exception] = []

    def some() -> Iterator[Any]:
        for unit in stream:
            out.append(unit)
            yield unit

    try:
        for _ in some():
            if plan.then != "drain" and len(out) > plan.take:
                break
        if plan.then in ("close", "leave"):
            stream.close()
    except Exception as raised:
        caught.append(raised)
    assert begins(out, whole)
    if plan.then == "drain" and not plan.fails_to_close:
        assert told(caught[0] if caught else None) == told(error)
        assert begins(whole, out)
    if plan.then != "again" or caught:
        assert source.log == ["close"]
        assert list(stream) == []
    asked = source.asked
    if not (plan.then == "again" and source.log == [] and plan.fails_to_close):
        stream.close()
        assert source.log == ["close"]
    assert source.asked == asked
