"""Logs: records of a stream or a unit each, against what their JSON costs alone; and what the work on files costs."""

from __future__ import annotations

import io
import resource
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from translate import convert
from translate.logs import Job, Layout, Settings, Summary, convert_logs
from translate.logs.layout import Counts
from translate.logs.places import Place
from translate.logs.stream import whole
from translate.logs.task import convert_open
from translate.logs.work import Task

from .table import Plan, Row, against, interleaved, measure
from .work import NOW, Unit, turn, unievent_sse, unievents

SRC, DST = "unievent-sse", "gateway-sse"
STREAM = Layout("lines", "body", id="id")
UNIT = Layout("lines", "unit", units=True, id="id", order="n")


def logs(plan: Plan) -> Iterator[Row]:
    """All of them: short streams and long ones, as records, as units, verified, side by side, in many files."""
    for name, events, number in (("long streams", plan.events, 8), ("streams of 20 events", 20, 100)):
        streams = [unievents(turn(events, seed)) for seed in range(number)]
        yield from _records(name, streams, plan.slow())
    yield from _files(plan.slow())
    yield _processes(plan.slow())


def _records(name: str, streams: Sequence[Sequence[Unit]], plan: Plan) -> Iterator[Row]:
    texts = [b"".join(unievent_sse(events)).decode() for events in streams]
    frames = [list(convert(text, SRC, "gateway", clock=lambda: NOW)) for text in texts]
    records = b"".join(orjson.dumps({"id": n, "at": NOW, "body": text}) + b"\n" for n, text in enumerate(texts))
    units = b"".join(
        orjson.dumps({"id": n, "n": order, "at": NOW, "unit": unit + "\n\n"}) + b"\n"
        for n, text in enumerate(texts)
        for order, unit in enumerate(text.removesuffix("\n\n").split("\n\n"))
    )
    each, one = _job(records, STREAM), _job(units, UNIT)
    assert [record["body"] for record in map(orjson.loads, each().splitlines())] == [_text(text) for text in texts]
    assert "".join(record["unit"] for record in map(orjson.loads, one().splitlines())) == "".join(map(_text, texts))
    base = _limit(records, streams, frames)
    yield measure(f"{name}, a stream a record", "L_records", each, base, plan, 2.5)
    yield measure(f"{name}, a unit a record", "L_units", one, _limit(units, streams, frames), plan, 4)
    verified = _job(records, STREAM, verify=True)
    yield measure(f"{name}, a stream a record, --verify", "without", verified, each, plan, 2)
    alone = _conversions(texts)
    yield measure(f"{name}, a stream a record", "convert", each, alone, plan, 1.1)


def _text(text: str) -> str:
    return b"".join(convert(text, SRC, DST, clock=lambda: NOW)).decode()


def _conversions(texts: Sequence[str]) -> Callable[[], None]:
    settings = Settings(SRC, DST, clock=NOW)

    def run() -> None:
        for text in texts:
            whole(text, settings, Counts())

    return run


def _job(data: bytes, layout: Layout, verify: bool = False) -> Callable[[], bytes]:
    """A conversion of a file that is in memory."""
    task = Task(Place("", ""), "", layout, Settings(SRC, DST, clock=NOW, verify=verify))

    def run() -> bytes:
        out = io.BytesIO()
        convert_open(io.BytesIO(data), task, Counts(), _Sink(out), _fail)
        return out.getvalue()

    return run


class _Sink:
    def __init__(self, out: io.BytesIO) -> None:
        self._out = out

    def write(self, data: bytes) -> None:
        self._out.write(data)


def _fail(reject: Any) -> None:
    raise AssertionError(reject.error)


def _limit(data: bytes, events: Sequence[Sequence[Unit]], frames: Sequence[Sequence[Unit]]) -> Callable[[], None]:
    """Each record read and written as JSON, and each unit in it: as it is read, and as what it becomes."""
    lines = data.splitlines()
    texts = [orjson.dumps(unit) for each in events for unit in each]
    made = [unit for each in frames for unit in each]

    def run() -> None:
        for line in lines:
            orjson.dumps(orjson.loads(line))
        for text in texts:
            orjson.loads(text)
        for unit in made:
            orjson.dumps(unit)

    return run


def _files(plan: Plan) -> Iterator[Row]:
    """Many small files, with what makes a job safe, against one file of the same records."""
    text = b"".join(unievent_sse(unievents(turn(20)))).decode()
    line = orjson.dumps({"id": 1, "body": text}) + b"\n"
    number = max(plan.streams // 4, 1)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "many").mkdir()
        for index in range(number):
            (root / "many" / f"{index}.jsonl").write_bytes(line)
        (root / "one.jsonl").write_bytes(line * number)

        def done(name: str) -> Summary:
            settings = Settings(SRC, DST, clock=NOW)
            return convert_logs(Job([str(root / name)], str(root / f"out-{name}"), STREAM, settings, force=True))

        many, one = partial(done, "many"), partial(done, "one.jsonl")
        assert many().counts.converted == one().counts.converted == number
        yield measure(f"{number:,} files of a record", "one file of all", many, one, plan)


def _processes(plan: Plan) -> Row:
    """The CPU time of two processes, against one's, over several files."""
    text = b"".join(unievent_sse(unievents(turn(plan.events)))).decode()
    lines = b"".join(orjson.dumps({"id": n, "body": text}) + b"\n" for n in range(max(plan.streams // 20, 1)))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "in")
        root.mkdir()
        for index in range(4):
            (root / f"{index}.jsonl").write_bytes(lines)

        def spent(jobs: int) -> float:
            at = _cpu()
            settings = Settings(SRC, DST, clock=NOW)
            convert_logs(Job([str(root)], f"{folder}/out", STREAM, settings, jobs=jobs, force=True))
            return _cpu() - at

        one, two = interleaved([lambda: spent(1), lambda: spent(2)], plan)
        found = against(one, two, "CPU of --jobs 2", "--jobs 1", plan)
        return found.noted(f"the start of the processes included; {len(lines) * 4 / 1e6:.0f} MB")


def _cpu() -> float:
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in found)
