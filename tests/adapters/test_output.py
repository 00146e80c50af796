"""The clock that a stream's output is timed with."""

from __future__ import annotations

import asyncio

import anyio
import pytest

from translate.adapters.output import loop_clock


@pytest.mark.anyio
async def test_the_clock_is_that_of_the_loop() -> None:
    clock = loop_clock()
    before = anyio.current_time()
    assert before <= clock() <= anyio.current_time()


def test_the_clock_is_trios_where_trio_is_a_guest_of_another_loop() -> None:
    trio = pytest.importorskip("trio", reason="trio is not installed")

    async def guest() -> bool:
        clock = loop_clock()
        before: float = trio.current_time()
        now = clock()
        return before <= now <= float(trio.current_time())

    async def host() -> bool:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[bool] = loop.create_future()
        trio.lowlevel.start_guest_run(
            guest,
            run_sync_soon_threadsafe=loop.call_soon_threadsafe,
            done_callback=lambda outcome: done.set_result(outcome.unwrap()),
        )
        return await asyncio.wait_for(done, 20)

    assert asyncio.run(host())
