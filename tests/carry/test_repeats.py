"""What every unit of a stream repeats is expected, and so carried once."""

from __future__ import annotations

from typing import Any

import pytest

from translate.carry import patches
from translate.carry.repeats import Repeats

FORM = "text"


def canonical(text: str) -> dict[str, Any]:
    return {"d": {"t": text}}


def learn(repeats: Repeats, *units: tuple[str, dict[str, Any]]) -> list[Any]:
    """What is left to be carried of each unit: values of what moves, else a patch."""
    out: list[Any] = []
    for text, unit in units:
        expected = repeats.expected(FORM, canonical(text), [text])
        values = repeats.values(FORM, expected, unit)
        moved = expected if values is None else repeats.moved(FORM, expected, values)
        assert moved is not None
        patch = patches.diff(moved, unit)
        assert patches.apply(moved, patch, 256) == unit
        out.append(patch or values)
        repeats.take(FORM, canonical(text), unit, [text])
    return out


def test_what_repeats_is_carried_with_the_first() -> None:
    units: list[Any] = [(t, {"d": {"t": t, "role": "r"}, "fp": "x", "usage": None}) for t in ("a", "b", "c")]
    assert learn(Repeats(256), *units) == [[[["d", "role"], "r"], [["fp"], "x"], [["usage"], None]], None, None]


def test_a_text_that_the_unit_says_elsewhere_is_a_hole() -> None:
    units: list[Any] = [(t, {"d": {"t": t, "again": [{"x": t}]}}) for t in ("a", "b", "c")]
    assert learn(Repeats(256), *units) == [[[["d", "again"], [{"x": "a"}]]], None, None]


def test_of_what_moves_only_the_values_are_carried() -> None:
    units: list[Any] = [(t, {"d": {"t": t}, "pad": f"<{t}>", "n": {"out": i}}) for i, t in enumerate("abcd")]
    assert learn(Repeats(256), *units) == [
        [[["pad"], "<a>"], [["n"], {"out": 0}]],
        [[["pad"], "<b>"], [["n", "out"], 1]],
        [2, "<c>"],
        [3, "<d>"],
    ]


def test_values_are_told_in_one_order_whatever_that_of_members_is() -> None:
    """The other end may have had the same objects with their members in another order."""
    units: list[Any] = [(t, {"d": {"t": t}, "pad": f"<{t}>", "n": {"out": i}}) for i, t in enumerate("abcd")]
    turned = [(text, dict(reversed(unit.items()))) for text, unit in units]
    assert learn(Repeats(256), *turned)[2:] == learn(Repeats(256), *units)[2:]


def test_a_unit_that_differs_otherwise_has_a_patch() -> None:
    units: list[Any] = [("a", {"d": {"t": "a"}, "k": 1}), ("b", {"d": {"t": "b"}}), ("c", {"d": {"t": "c"}, "k": 1})]
    assert learn(Repeats(256), *units) == [[[["k"], 1]], [[["k"]]], [[["k"], 1]]]


def test_units_as_they_are_written_leave_no_trace() -> None:
    repeats = Repeats(256)
    assert learn(repeats, *((t, canonical(t)) for t in "abc")) == [None] * 3
    assert repeats.expected(FORM, canonical("x"), ["x"]) == canonical("x")


def test_forms_are_told_apart() -> None:
    repeats = Repeats(256)
    learn(repeats, ("a", {"d": {"t": "a"}, "k": 1}))
    assert repeats.expected("other", canonical("x"), ["x"]) == canonical("x")
    assert repeats.expected(FORM, canonical("x"), ["x"]) == {"d": {"t": "x"}, "k": 1}


def test_values_that_do_not_fit_are_refused() -> None:
    repeats = Repeats(256)
    learn(repeats, *((t, {"d": {"t": t}, "pad": f"<{t}>"}) for t in "ab"))
    wrong: list[object] = [None, [], ["x", "y"], {}, "x"]
    for values in wrong:
        assert repeats.moved(FORM, canonical("c"), values) is None
    assert repeats.moved(FORM, canonical("c"), ["x"]) == {"d": {"t": "c"}, "pad": "x"}


def test_other_sides_do_not_make_it_grow_without_bound() -> None:
    repeats = Repeats(256)
    for i in range(1_000):
        repeats.take(i, {}, {"k": i}, [])
        repeats.take(FORM, {}, {str(i): 1}, [])
    held = [i for i in range(1_000) if repeats.expected(i, {}, []) != {}]
    assert len(held) == 63
    moved = repeats.values(FORM, {}, {str(i): 2 for i in range(1_000)})
    assert moved is not None
    assert len(moved) == 16


def test_what_is_large_is_not_kept() -> None:
    repeats = Repeats(256)
    large = "x" * (1 << 16)
    for change in ({"k": large}, {large: 1}, {"d": {"t": "a", "k": [large]}}):
        assert not repeats.take(FORM, canonical("a"), {**canonical("a"), **change}, ["a"])
        assert repeats.expected(FORM, canonical("b"), ["b"]) == canonical("b")
    assert not repeats.take(("text",) * len(large), canonical("a"), {**canonical("a"), "k": 1}, ["a"])
    assert repeats.expected(("text",) * len(large), canonical("b"), ["b"]) == canonical("b")
    # small again, it is
    learn(repeats, *((t, {**canonical(t), "k": 1}) for t in "ab"))
    assert repeats.expected(FORM, canonical("c"), ["c"]) == {**canonical("c"), "k": 1}


@pytest.mark.parametrize(("limit", "expected"), [(300, True), (270, False), (5, False)])
def test_what_is_expected_nests_no_deeper_than_the_limit_says(limit: int, expected: bool) -> None:
    deep: Any = 1
    for _ in range(280):
        deep = {"a": deep}
    repeats = Repeats(limit)
    repeats.take("f", {"k": "a"}, {"k": "a", "x": deep}, ["a"])
    assert repeats.expected("f", {"k": "b"}, ["b"]) == ({"k": "b", "x": deep} if expected else {"k": "b"})
