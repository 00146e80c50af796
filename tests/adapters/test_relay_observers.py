"""Who watches streams: told of all, and of no effect."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from tests.adapters.relays import ONE, UNITS, Feed, Log, Receiver, direct, run
from tests.sources import Boom
from translate import (
    Append,
    Close,
    Finish,
    Open,
    encode,
)
from translate.adapters import Observer, Stats

pytestmark = pytest.mark.anyio
VECTOR = b"".join(encode([Open("embedding"), Append([0.5]), Close(), Finish()], "events-jsonl"))
"""What the target has no words for."""


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_an_observer_that_raises_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Observer):
        def on_start(self, stats: Stats) -> None:
            raise Boom

        def on_unit(self, stats: Stats, count: int, seconds: float) -> None:
            raise Boom

        def on_loss(self, stats: Stats, loss: Any) -> None:
            raise Boom

        def on_end(self, stats: Stats) -> None:
            raise Boom

    sink = Receiver()
    stats = await run(Feed(VECTOR), sink, "events-jsonl", "gateway-sse", observer=Broken())
    assert (stats.outcome, sink.data) == ("finished", direct(VECTOR, "events-jsonl", "gateway-sse"))
    assert {f"{hook} of an observer failed" for hook in ("on_start", "on_unit", "on_loss", "on_end")} <= {
        record.getMessage().partition(":")[0] for record in caplog.records
    }


@pytest.mark.parametrize("loss", ["carry", "drop", "raise"])
async def test_observers_are_told_of_lost_content_alone(loss: str) -> None:
    log = Log()
    stats = await run(Feed(VECTOR), None, "events-jsonl", "gateway-sse", observer=log, loss=loss)
    assert log.losses
    assert all(each.content for each in log.losses)
    assert {each.carried for each in log.losses} == {loss == "carry"}
    assert stats.report.losses == log.losses
    assert stats.outcome == ("broken" if loss == "raise" else "finished")
    # this stream has losses, too, but none of content
    log = Log()
    await run(Feed(*UNITS), observer=log, loss="drop")
    assert log.losses == []


async def test_the_log_never_quotes_the_stream(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "translate.adapters")
    await run(Feed(*UNITS[:3], b"data: {secret\n\n"))
    await run(Feed(Boom("secret")))
    await run(Feed(ONE))
    assert "secret" not in caplog.text
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING", "DEBUG"]
    assert "broken (DecodeError in unit 3 of gateway-sse); 4 units" in caplog.text
