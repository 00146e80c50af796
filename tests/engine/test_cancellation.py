"""Cancellation while the source is waited for: the source is closed before the cancellation goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from tests.sources import FRAMES, AsyncSource, Boom, acollect
from translate import TruncatedStream, convert

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def is_cut(stream: Any) -> None:
    """The output does not look like that of a whole stream, until it is closed."""
    for _ in range(2):
        out, error = await acollect(stream)
        assert out == []
        assert isinstance(error, TruncatedStream)
    await stream.aclose()
    assert await acollect(stream) == ([], None)


@pytest.mark.parametrize("taken", [0, 2])
async def test_cancellation_closes_the_source_before_it_goes_on(taken: int) -> None:
    log: list[str] = []

    async def source() -> AsyncIterator[Any]:
        try:
            for item in FRAMES[:taken]:
                yield item
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.001)
            log.append("finally")

    stream = convert(source(), "gateway", "gateway")
    with anyio.CancelScope() as scope:
        for _ in range(taken):
            await anext(stream)
        scope.cancel()
        try:
            await anext(stream)
        except anyio.get_cancelled_exc_class():
            log.append("cancelled")
            raise
    assert scope.cancelled_caught
    assert log == ["finally", "cancelled"]
    await is_cut(stream)


async def test_cancellation_closes_a_source_that_is_no_generator() -> None:
    source = AsyncSource(FRAMES[0], anyio.sleep_forever)
    stream = convert(source, "gateway", "gateway", errors="encode")
    assert await anext(stream) == FRAMES[0]
    with anyio.move_on_after(0.01) as scope:
        await anext(stream)
    assert scope.cancelled_caught
    # aclose has a checkpoint: it was reached under a shield
    assert set(source.log) == {"aclose"}
    await is_cut(stream)


async def test_a_loop_that_cancels_its_steps_is_told() -> None:
    """A keep-alive loop of this kind must not take the end that it made for the end of the answer."""
    source = AsyncSource(*FRAMES[:3], anyio.sleep_forever)
    stream = convert(source, "gateway", "gateway")
    found: list[Any] = []
    error: Exception | None = None
    while error is None:
        try:
            with anyio.move_on_after(0.01):
                found.append(await anext(stream))
        except Exception as raised:
            error = raised
    assert found == FRAMES[:3]
    assert isinstance(error, TruncatedStream)
    assert error.what.startswith("a step of the output was broken off")


async def test_closing_that_fails_does_not_hide_a_cancellation() -> None:
    class Stubborn(AsyncSource):
        async def aclose(self) -> None:
            raise Boom

    stream = convert(Stubborn(FRAMES[0], anyio.sleep_forever), "gateway", "gateway")
    assert await anext(stream) == FRAMES[0]
    with anyio.move_on_after(0.01) as scope:
        await anext(stream)
    assert scope.cancelled_caught


async def test_cancellation_elsewhere_closes_at_the_end_of_the_block() -> None:
    source = AsyncSource(*FRAMES)
    with anyio.CancelScope() as scope:
        async with convert(source, "gateway", "gateway") as stream:
            await anext(stream)
            scope.cancel()
            await anyio.sleep_forever()
    assert set(source.log) == {"aclose"}
