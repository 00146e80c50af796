"""The hot path by itself: which runs its reader and writer take, and what goes through a lane.

That both ways come to the same is in test_hot. Here it is that the short one is taken where it may be, no further.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from translate.engine.forms import SYNTHETIC, Form, Mark, Run, form_of
from translate.engine.hot import LANE, WINDOW, HotReader, HotWriter, Lane

from tests.engine.test_forms import (
    AT,
    CASES,
    GATEWAY,
    NUMBERS,
    TEXTS,
    UNIEVENT,
    content,
    delta,
    each_case,
    each_framing,
    frames,
)
from translate import Limits
from translate.shapes import Cursor, lines
from translate_codecs.gateway import words as gateway_units

# ---- reading -------------------------------------------------------------------------------------------


def reading(data: bytes, hot: Any, framing: Any, *, trusted: bool = True, limits: Limits | None = None) -> Any:
    cursor = Cursor()
    cursor.turn(data)
    reader = HotReader(framing, limits or Limits())
    return reader, cursor, reader.read(hot, cursor, trusted=trusted)


@each_framing
@each_case
def test_a_run_is_read_where_it_stands(framing: Any, hot: Any, carry: Mark, written: Any) -> None:
    data = written(framing)
    _, cursor, run = reading(data + b"x", hot, framing)
    assert run is not None
    assert (run.texts, cursor.at) == (TEXTS, len(data))
    _, cursor, run = reading(data, hot, framing, trusted=False)
    assert (run is None, cursor.at) == ((True, 0) if carry else (False, len(data)))
    size = form_of(hot, framing, carry).carry + 18
    for limit in (size - 1, size):
        _, cursor, run = reading(data, hot, framing, limits=Limits(carry=limit))
        assert (run is not None) == (carry is None or limit == size)
    other = UNIEVENT if hot is GATEWAY else GATEWAY
    assert reading(data, other, framing)[2] is None


@each_framing
def test_one_reader_goes_from_form_to_form(framing: Any) -> None:
    plain, spaced = ([frames(framing, "content", [content(t)], spaced=s) for t in "ab"] for s in (False, True))
    stamp = frames(framing, "content", [content("a")], [{"unievent": {"at": 1}}])
    other = frames(framing, "content", [content("a")], [{"x": {"n": 1}}])
    order = [plain[0], plain[1], spaced[0], plain[0], stamp, stamp, other, stamp, spaced[1], spaced[0]]
    reader, cursor, _ = reading(b"", GATEWAY, framing)
    cursor.turn(b"".join(order))
    runs = []
    while (run := reader.read(GATEWAY, cursor, trusted=True)) is not None:
        runs.append((len(run.texts), run.residue))
    assert runs == [(2, None), (1, None), (1, None), (2, AT), (1, ("x", "n")), (1, AT), (2, None)]
    assert cursor.at == len(cursor.data)


@each_framing
def test_a_unit_of_another_run_is_not_of_this_one(framing: Any) -> None:
    reader, cursor, run = reading(data := frames(framing, "content", [content("a")]), GATEWAY, framing)
    assert run is not None
    cursor.turn(data)
    assert reader.read(gateway_units.HOT["thinking"], cursor, trusted=True) is None
    assert reader.read(GATEWAY, cursor, trusted=True) is not None


@each_framing
def test_carries_that_are_no_plain_residue_are_not_read_here(framing: Any) -> None:
    for carry in (
        {"gateway": {"n": 1}},
        {"events": {"n": 1}},
        {"x": {"synthetic": 1}},
        {"x": {"n": 1}, "y": {}},
        {"x": {"n": -1}},
    ):
        data = frames(framing, "content", [content("a")], [carry])
        assert reading(data, GATEWAY, framing)[2] is None, carry
    data = frames(framing, None, [delta("a", 1)], [{"gateway": {"n": 1}}])
    assert reading(data, UNIEVENT, framing)[2] is None


def test_a_unit_that_may_pass_its_limit_is_not_read_here() -> None:
    unit = frames(lines.framing, "content", [content("a" * 100)])
    for limit, taken in ((len(unit), True), (len(unit) - 1, False)):
        assert (reading(unit, GATEWAY, lines.framing, limits=Limits(unit=limit))[2] is not None) is taken
    many = unit * (2 * WINDOW // len(unit))
    _, cursor, run = reading(many, GATEWAY, lines.framing)
    assert len(run.texts) == WINDOW // len(unit)
    assert cursor.at == run.size == len(run.texts) * len(unit)


# ---- writing -------------------------------------------------------------------------------------------


def run_of(residue: Mark = None, *, synthetic: bool = False) -> Run:
    numbers = [b"%d" % n for n in NUMBERS] if residue else []
    return Run(TEXTS, [t.encode() for t in TEXTS], numbers, residue, synthetic)


GENERAL = "the general way"


@each_framing
@pytest.mark.parametrize(
    ("hot", "run", "with_carries", "without"),
    [
        (GATEWAY, run_of(), None, None),
        (GATEWAY, run_of(AT), AT, None),
        (GATEWAY, run_of(AT, synthetic=True), None, None),
        (GATEWAY, run_of(("gateway", "n")), GENERAL, GENERAL),
        (UNIEVENT, run_of(), SYNTHETIC, None),
        (UNIEVENT, run_of(AT), None, None),
        (UNIEVENT, run_of(AT, synthetic=True), SYNTHETIC, None),
        (UNIEVENT, run_of(("unievent", "n")), GENERAL, GENERAL),
        (UNIEVENT, run_of(("x", "n")), GENERAL, None),
        (UNIEVENT, run_of(("x", "n"), synthetic=True), SYNTHETIC, None),
    ],
)
def test_the_form_that_a_run_is_written_in(framing: Any, hot: Any, run: Run, with_carries: Any, without: Any) -> None:
    for carries, first in itertools.product((True, False), repeat=2):
        writer = HotWriter(framing, carries, itertools.count(50).__next__)
        form, carry = writer.form(hot, run, first=first), with_carries if carries else without
        if carry == GENERAL or (carry is not None and first):
            assert form is None
            continue
        assert form is form_of(hot, framing, carry)
        assert form is not None
        own = hot is UNIEVENT and run.residue == AT
        numbers = NUMBERS if own or carry == AT else [50, 51, 52]
        units = [delta(t, n) if hot is UNIEVENT else content(t) for t, n in zip(TEXTS, numbers, strict=True)]
        beside = {None: None, AT: [{"unievent": {"at": n}} for n in numbers], SYNTHETIC: [{"synthetic": True}] * 3}[
            carry
        ]
        assert writer.write(form, run) == frames(framing, hot.name, units, beside)
        assert writer.clock() == (53 if numbers == [50, 51, 52] and hot is UNIEVENT else 50), (
            "asked for what is written alone"
        )


# ---- lanes ---------------------------------------------------------------------------------------------


def clock() -> Any:
    return itertools.count(50).__next__


@each_framing
@pytest.mark.parametrize("source", CASES)
@pytest.mark.parametrize("target", [*CASES, None])
def test_a_lane_takes_what_a_run_would(framing: Any, source: str, target: str | None) -> None:
    hot, carry, written = CASES[source]
    src = form_of(hot, framing, carry)
    dst: Form | None = None
    if target is not None:
        dst = form_of(CASES[target][0], framing, CASES[target][1])
        if dst.residue is not None and dst.residue != src.residue and CASES[target][1] == AT:
            pytest.skip("no writer asks for this")
    data = written(framing)
    whole = src.read(data, 0, len(data))
    assert whole is not None
    units = [src.write([b], [n]) for b, n in itertools.zip_longest(whole.bodies, whole.numbers, fillvalue=b"")]
    if not src.mid:
        units = [src.write([b], []) for b in whole.bodies]
    lane = Lane(src, dst, clock(), LANE)
    assert lane.silent == (dst is None)
    assert lane.settle() is None
    out = [lane.take(unit) for unit in units]
    if dst is None:
        assert out == [[], [], []]
    else:
        expected = HotWriter(framing, True, clock()).write(dst, whole)
        assert all(len(piece or []) == 1 for piece in out)
        assert b"".join(piece[0] for piece in out if piece) == expected
    run = lane.settle()
    assert run is not None
    assert (run.texts, run.bodies, run.size) == (whole.texts, whole.bodies, whole.size)
    assert run.events() == whole.events()


def test_a_lane_ends_at_what_is_no_unit_of_its_form() -> None:
    form = form_of(GATEWAY, lines.framing)
    unit = form.write([b"a"], [])
    chunks: list[Any] = [
        unit[:-1],
        unit + b"\n",
        unit * 2,
        unit.decode(),
        b"",
        None,
        {},
        form.write([b"\xff"], []),
        form.write([rb"\ud83d"], []),
    ]
    for chunk in chunks:
        lane = Lane(form, form, clock(), LANE)
        assert lane.take(unit) == [unit]
        assert lane.take(chunk) is None
        assert (run := lane.settle()) is not None
        assert (run.texts, run.size) == (["a"], len(unit))
    lane = Lane(form, form, clock(), LANE)
    assert lane.take(form.write([rb"\u0041\n"], [])) == [form.write([rb"A\n"], [])]
    assert lane.take(form.write(["é".encode()], [])) == [form.write(["é".encode()], [])]


def test_a_lane_has_room_for_so_much() -> None:
    form = form_of(GATEWAY, lines.framing)
    unit = form.write([b"a" * 10], [])
    lane = Lane(form, form, clock(), 2 * len(unit))
    assert [lane.take(unit) for _ in range(3)] == [[unit], [unit], None]
    lane = Lane(form, form, clock(), 2 * len(unit) - 1)
    assert [lane.take(unit) for _ in range(2)] == [[unit], None]
    long = form.write([b"a" * 1000], [])
    lane = Lane(form, form, clock(), 10 * LANE)
    taken = sum(lane.take(long) is not None for _ in range(100))
    assert taken == LANE // len(long)
