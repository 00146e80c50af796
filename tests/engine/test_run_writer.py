"""The writer of runs by itself: what is written for one, and where another way has to look."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from tests.engine.test_run_reader import (
    AT,
    GATEWAY,
    NUMBERS,
    STAMPED,
    SYNTHETIC,
    TEXTS,
    UNIEVENT,
    WIRE,
    at_hand,
    content,
    delta,
    each_case,
    each_framing,
    frames,
    hot_of,
    reader,
    spelled,
    units_of,
)
from translate.engine.run_writer import RunWriter
from translate.engine.runs import NONE, Mark, Marks, Run
from translate.engine.templates import around
from translate.shapes import lines
from translate_codecs.gateway import words as gateway_units


def run_of(marks: Marks = NONE) -> Run:
    numbers = [b"%d" % n for n in NUMBERS] if marks.number else []
    tokens = [json.dumps(t, ensure_ascii=False).encode() for t in TEXTS]
    return Run(TEXTS, tokens, marks, numbers)


OTHERWISE = "another way"


@each_framing
@pytest.mark.parametrize(
    ("hot", "run", "with_carries", "without"),
    [
        (GATEWAY, run_of(), None, None),
        (GATEWAY, run_of(AT), AT, None),
        (GATEWAY, run_of(STAMPED), None, None),
        (GATEWAY, run_of(Marks(Mark("gateway", "n"))), OTHERWISE, OTHERWISE),
        (UNIEVENT, run_of(), SYNTHETIC, None),
        (UNIEVENT, run_of(AT), None, None),
        (UNIEVENT, run_of(STAMPED), SYNTHETIC, None),
        (UNIEVENT, run_of(Marks(Mark("unievent", "n"))), OTHERWISE, OTHERWISE),
        (UNIEVENT, run_of(Marks(Mark("x", "n"))), OTHERWISE, None),
        (UNIEVENT, run_of(Marks(Mark("x", "n"), True)), SYNTHETIC, None),
    ],
)
def test_what_a_run_is_written_as(framing: Any, hot: Any, run: Run, with_carries: Any, without: Any) -> None:
    for carries, first in itertools.product((True, False), repeat=2):
        clock = itertools.count(50).__next__
        out = RunWriter(framing, carries, clock).write(hot, run, WIRE, first=first)
        carry = with_carries if carries else without
        if carry == OTHERWISE or (carry is not None and first):
            assert out is None
            assert clock() == 50
            continue
        own = hot is UNIEVENT and run.marks in (AT, STAMPED)
        numbers = NUMBERS if own or carry == AT else [50, 51, 52]
        units = [delta(t, n) if hot is UNIEVENT else content(t) for t, n in zip(TEXTS, numbers, strict=True)]
        marks = {None: None, AT: [{"unievent": {"at": n}} for n in numbers], SYNTHETIC: [{"synthetic": True}] * 3}
        assert out == frames(framing, hot.name, units, marks[carry])
        assert clock() == (53 if numbers == [50, 51, 52] and hot is UNIEVENT else 50), "asked for what is written alone"


@each_framing
@each_case
def test_what_was_read_is_written_as_it_stood(framing: Any, case: str) -> None:
    made, _ = reader(case, framing)
    data = b"".join(units_of(case, framing))
    run = made.read(hot_of(case), at_hand(data))
    assert run is not None
    assert RunWriter(framing, True, int).write(hot_of(case), run, WIRE, first=False) == data


def test_bytes_whose_holes_cannot_be_told() -> None:
    hole = gateway_units.HOT["content"].unit
    found = around(spelled(hole).replace(b"\x00", b"\\u0000"), lines.framing, None, None)
    assert found is not None
    assert found.holes == ()
    twice = spelled({**hole, "x": hole["value"]["value"]})
    assert around(twice, lines.framing, None, None) is None
