"""What all requests together may hold: bodies that arrive, and units that are not whole yet."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.sidecars import Asked, Wire, answers, ask, request, sidecar, streams, until, upstream
from tests.peers.serving import PATIENCE
from translate import Append, Close, Finish, Open, UpstreamFailure, assemble, convert
from translate.adapters.budget import LITTLE, Budget, OverBudget

pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

FORMATS = {"src": "unievent-sse", "dst": "gateway-sse"}
MIB = 1 << 20


def test_shares_are_of_one_budget() -> None:
    budget = Budget(100)
    first, second = budget.share(), budget.share()
    first.hold(60)
    second.hold(40)
    with pytest.raises(OverBudget) as raised:
        second.hold(41)
    assert (raised.value.code, raised.value.fields) == (503, ((b"retry-after", b"1"),))
    # what was refused is not held
    assert budget.held == 100
    first.hold(10)
    second.hold(90)
    second.free()
    second.free()
    assert budget.held == 10


def test_bodies_that_arrive_share_a_budget() -> None:
    with upstream(answers()) as up, sidecar(up.url, "--max-memory", str(4 * MIB)) as made:
        head = request("/x", b"Content-Length: %d" % (3 * MIB), method="POST")
        with Wire(made.port, head + b"x" * (2 * MIB)) as first:
            until(lambda: ask(made.port, request("/healthz")).status == 200)

            def over() -> bool:
                got = ask(made.port, request("/y", method="POST", body=b"x" * (5 * MIB // 2)))
                assert got.status in (200, 503)
                assert got.status == 200 or got["retry-after"] == b"1"
                return got.status == 503

            until(over)
            first.send(b"x" * MIB)
            assert first.answer().status == 200
        assert ask(made.port, request("/y", method="POST", body=b"x" * (5 * MIB // 2))).status == 200


def test_units_that_are_not_whole_share_it_too() -> None:
    said, go = threading.Event(), threading.Event()

    def says(asked: Asked) -> Iterator[bytes]:
        def live() -> Iterator[bytes]:
            for _ in range(48):
                yield b"data: " + b"x" * 65536
            said.set()
            go.wait(PATIENCE)

        return streams(live()) if asked.target == b"/endless" else iter(answers()(asked))

    with upstream(says) as up, sidecar(up.url, "--max-memory", str(4 * MIB), **FORMATS) as made:
        with Wire(made.port, request("/endless")) as first:
            assert said.wait(PATIENCE)
            # what is on its way comes
            time.sleep(0.5)
            assert ask(made.port, request("/y", method="POST", body=b"x" * (3 * MIB // 2))).status == 503
            second = ask(made.port, request("/endless", b"X-Request-Id: second"))
            assert (second.status, second["retry-after"]) == (503, b"1")
            go.set()
            assert first.answer().status == 502
        assert ask(made.port, request("/y", method="POST", body=b"x" * (3 * MIB // 2))).status == 200


def test_a_stream_that_has_begun_says_so_in_a_failure() -> None:
    from tests.adapters.test_sidecar_process import HALF, TURN

    def says(asked: Asked) -> Iterator[bytes]:
        cut = TURN.rindex(b"\n\n", 0, HALF) + 2
        return streams([TURN[:cut], *[b"data: " + b"x" * 65536] * 80])

    with upstream(says) as up, sidecar(up.url, "--max-memory", str(4 * MIB), **FORMATS) as made:
        got = ask(made.port, request("/x"))
    with pytest.raises(UpstreamFailure) as raised:
        assemble(got.body, "gateway-sse", "gateway")
    assert (got.status, raised.value.code) == (200, 503)


def test_parts_that_are_open_share_it_too() -> None:
    fragments = [Append(text) for text in ('{"a": "', *["x" * 65536] * 40, '"}')]
    call = [*convert((Open("tool_call", "1", "f"), *fragments, Close(), Finish()), "events", "unievent-sse")]

    with upstream(lambda _: streams(call)) as up:
        for most, fails in ((4 * MIB, True), (16 * MIB, False)):
            with sidecar(up.url, "--max-memory", str(most), **FORMATS) as made:
                # what it held is free again then
                for _ in range(2):
                    got = ask(made.port, request("/x"))
                    assert got.whole
                    assert (b'"code":503' in got.body) is fails


def test_a_stream_that_holds_too_much_is_no_broken_one() -> None:
    from translate.adapters.observe import outcome_of

    assert outcome_of(OverBudget()) == "stopped"


def test_output_that_is_not_taken_is_counted_while_it_waits() -> None:
    budget = Budget(10 * LITTLE)
    share = budget.share()
    share.read(3 * LITTLE, units=0, part=lambda: 2 * LITTLE)
    with share.lent(5 * LITTLE):
        assert budget.held == 10 * LITTLE
        with pytest.raises(OverBudget):
            budget.share().hold(1)
    share.read(LITTLE, units=0, part=lambda: 3 * LITTLE)
    assert budget.held == 7 * LITTLE
    share.read(10, units=1, part=lambda: 5)
    assert budget.held == 15


def test_little_is_looked_at_when_it_has_become_more() -> None:
    budget = Budget(10 * LITTLE)
    share = budget.share()
    for at in range(LITTLE - 1):
        share.read(1, units=at, part=lambda: 1 << 30)
        assert budget.held == 0
    share.read(1, units=LITTLE, part=lambda: 7)
    assert budget.held == LITTLE + 7
    # what is held is looked at each time, so that it is free at once
    share.read(1, units=LITTLE + 1, part=lambda: 0)
    assert budget.held == 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell")
def test_stalled_uploads_fit_a_small_container() -> None:
    with upstream(answers()) as up, sidecar(up.url) as made:
        wires = []
        head = request("/x", b"Content-Length: %d" % (30 * MIB), method="POST")
        try:
            for _ in range(12):
                wires.append(Wire(made.port, head))
                try:
                    for _ in range(29):
                        wires[-1].send(b"x" * MIB)
                except ConnectionError:
                    pass
            assert ask(made.port, request("/healthz")).status == 200
            status = Path(f"/proc/{made.pid}/status").read_text()
        finally:
            for each in wires:
                each.close()
    peak = int(status.partition("VmHWM:")[2].split()[0]) // 1024
    assert 100 < peak < 320, f"{peak} MiB"
