"""Prints one table of ratios, each case paired with its limit and measured beside it; ``--json FILE`` keeps it.

Every conversion is checked for right output before it is timed. Times are thread CPU time, medians of several rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from translate import Translator, convert

from .work import cut, limit_forward, limit_reverse, stream

Timed = Callable[[], object]


@dataclass
class Row:
    """One case: the median of its ratios to its limit, and their spread."""

    case: str
    limit: str
    ratio: float
    low: float
    high: float


def measure(case: str, limit: str, work: Timed, base: Timed, rounds: int, repeat: int) -> Row:
    """Time ``work`` and ``base`` in turn."""
    ratios = []
    for _ in range(rounds):
        at = time.thread_time()
        for _ in range(repeat):
            base()
        between = time.thread_time()
        for _ in range(repeat):
            work()
        ratios.append((time.thread_time() - between) / (between - at))
    return Row(case, limit, statistics.median(ratios), min(ratios), max(ratios))


def conversion(chunks: list[bytes], src: str, dst: str, loss: str) -> Callable[[], bytes]:
    """The translation of a whole stream, sans I/O."""

    def run() -> bytes:
        translator = Translator(src, dst, loss=loss, clock=lambda: 1796030591499)  # type: ignore[arg-type]
        out: list[bytes] = []
        for chunk in chunks:
            out += translator.feed(chunk)
        return b"".join(out + translator.close())

    return run


def rows(rounds: int, repeat: int) -> list[Row]:
    """All cases."""
    events = stream()
    lines = [orjson.dumps(event) + b"\n" for event in events]
    data = b"".join(lines)
    native = b"".join(convert([data], "unievent-jsonl", "gateway-sse", loss="drop"))
    carrying = b"".join(convert([data], "unievent-jsonl", "gateway-sse"))
    frames = [block + b"\n\n" for block in native.split(b"\n\n") if block]
    home = list(convert([carrying], "gateway-sse", "unievent"))
    assert home == events, "the way home must give the source back"
    forward, reverse = limit_forward(lines), limit_reverse(frames, events)
    sse = b"".join(convert([data], "unievent-jsonl", "unievent-sse"))
    out: list[Row] = []
    shapes = {"one unit": None, "4 KiB": 4096, "64 KiB": 65536, "64 bytes": 64}
    for label, size in shapes.items():
        for src, whole, units in (("unievent-jsonl", data, lines), ("unievent-sse", sse, cut(sse, 180))):
            if size is None and src == "unievent-sse":
                continue
            chunks = units if size is None else cut(whole, size)
            for loss, want in (("drop", native), ("carry", carrying)):
                work = conversion(chunks, src, "gateway-sse", loss)
                assert work() == want, "the output must not depend on the chunks"
                case = f"{src} to gateway-sse, {loss}, {label}"
                out.append(measure(case, "L_fwd", work, forward, rounds, repeat))
        chunks = frames if size is None else cut(native, size)
        work = conversion(chunks, "gateway-sse", "unievent-jsonl", "drop")
        assert work().count(b"\n") == len(events) - 36, "each call comes back as one fragment and its end"
        out.append(measure(f"gateway-sse to unievent-jsonl, no carry, {label}", "L_rev", work, reverse, rounds, repeat))
        if size is not None:
            work = conversion(cut(carrying, size), "gateway-sse", "unievent-jsonl", "carry")
            assert work() == data, "the way home must give the source back"
            case = f"gateway-sse to unievent-jsonl, carry, {label}"
            out.append(measure(case, "L_rev", work, reverse, rounds, repeat))
    return out


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--repeat", type=int, default=4)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = rows(options.rounds, options.repeat)
    print(f"{'case':62} {'against':8} {'ratio':>6} {'spread':>13}")
    for row in found:
        print(f"{row.case:62} {row.limit:8} {row.ratio:6.2f} {row.low:6.2f}-{row.high:.2f}")
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) for row in found], indent=1) + "\n")


if __name__ == "__main__":
    main()
