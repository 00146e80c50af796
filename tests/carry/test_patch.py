"""Patches: what ``diff`` says, ``apply`` does; what is malformed is refused."""

from __future__ import annotations

import copy
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translate import jsontext
from translate.carry.patches import PatchError, apply, diff

VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, 0.0, -0.0, float("nan"), "", "a", "\ud83d", 2**64]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=10,
)


@given(VALUES, VALUES)
def test_a_patch_makes_one_of_the_other(a: Any, b: Any) -> None:
    before = copy.deepcopy(a)
    patch = diff(a, b)
    assert jsontext.same(apply(a, patch, 256), b)
    assert jsontext.same(a, before)
    assert bool(patch) != jsontext.same(a, b)
    # it travels as JSON
    assert jsontext.same(apply(a, jsontext.from_strict(jsontext.loads(jsontext.dumps_strict(patch))), 256), b)


@given(VALUES)
def test_nothing_is_said_of_equals(value: Any) -> None:
    assert diff(value, copy.deepcopy(value)) == []
    assert apply(value, [], 256) is value


@pytest.mark.parametrize(
    ("a", "b", "patch"),
    [
        ({"a": 1}, {"a": 2}, [[["a"], 2]]),
        ({"a": 1}, {}, [[["a"]]]),
        ({}, {"a": None}, [[["a"], None]]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "d": 3}}, [[["a", "c"]], [["a", "d"], 3]]),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, [[["a", 1, "b"], 3]]),
        ({"a": [1]}, {"a": [1, 2]}, [[["a"], [1, 2]]]),
        ({"a": 1}, {"a": 1.0}, [[["a"], 1.0]]),
        ({"a": 1}, {"a": True}, [[["a"], True]]),
        ({"a": {}}, {"a": []}, [[["a"], []]]),
        ({"a": 1}, [1], [[[], [1]]]),
        (1, 2, [[[], 2]]),
    ],
)
def test_it_is_short(a: Any, b: Any, patch: Any) -> None:
    assert jsontext.same(diff(a, b), patch)
    assert jsontext.same(apply(a, patch, 256), b)


def test_a_member_that_is_set_comes_last() -> None:
    assert list(apply({"a": 1, "b": 2}, [[["c"], 3], [["a"], 4]], 256)) == ["a", "b", "c"]


def test_operations_are_done_in_order() -> None:
    assert apply({}, [[["a"], {}], [["a", "b"], [0]], [["a", "b", 0], 1]], 256) == {"a": {"b": [1]}}


@pytest.mark.parametrize(
    ("patch", "what"),
    [
        *(("x", "a patch is a list"), (None, "a patch is a list"), ({}, "a patch is a list")),
        *(([1], "an operation is"), ([[]], "an operation is"), ([[["a"], 1, 2]], "an operation is")),
        *(([["a", 1]], "an operation is"), ([[{}]], "an operation is")),
        ([[[]]], "the whole unit cannot be removed"),
        *(([[["x"]]], "no member 'x' to remove"), ([[["a", "x"]]], "no member 'x' to remove")),
        *(([[["x", "y"], 1]], "no member 'x'"), ([[["x", "y"]]], "no member 'x'")),
        *(([[[0], 1]], "nothing at"), ([[["l", "a"], 1]], "nothing at"), ([[["n", "a"], 1]], "nothing at")),
        *(([[["l", 2], 1]], "nothing at"), ([[["l", -1], 1]], "nothing at"), ([[["l", 0]]], "nothing at")),
        *(([[["l", True], 1]], "nothing at"), ([[["l", 1.0], 1]], "nothing at"), ([[[None], 1]], "nothing at")),
        *(([[[["a"]], 1]], "nothing at"), ([[["n", "a", "b"], 1]], "nothing at")),
    ],
)
def test_a_malformed_patch_is_refused(patch: Any, what: str) -> None:
    unit = {"a": {"b": 1}, "l": [1, 2], "n": 1}
    before = copy.deepcopy(unit)
    with pytest.raises(PatchError, match=what):
        apply(unit, patch, 256)
    assert unit == before


@given(st.recursive(st.sampled_from([None, 0, 1, "a", "b"]), lambda x: st.lists(x, max_size=3), max_leaves=8))
def test_any_patch_is_applied_or_refused(patch: Any) -> None:
    with suppress(PatchError):
        apply({"a": {"b": [1]}, "b": [0]}, patch, 256)


def test_a_patch_that_builds_on_itself_is_bounded() -> None:
    for depth, fits in ((256, True), (257, False), (5000, False)):
        patch = [[["a"] * n, {}] for n in range(1, depth)]
        if fits:
            jsontext.check_value(apply({}, patch, 256), 256)
        else:
            with pytest.raises(PatchError, match="deeper than 256"):
                apply({}, patch, 256)


@pytest.mark.parametrize(("levels", "fits"), [(3, True), (4, False)])
def test_what_a_patch_sets_counts_with_its_path(levels: int, fits: bool) -> None:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    if fits:
        assert apply({}, [[["a"], value]], 4) == {"a": value}
    else:
        with pytest.raises(PatchError, match="deeper than 4"):
            apply({}, [[["a"], value]], 4)


def test_the_patch_stays_as_it_is() -> None:
    patch = [[["a"], {"b": {}}], [["a", "b", "c"], 1]]
    before = copy.deepcopy(patch)
    assert apply({}, patch, 256) == {"a": {"b": {"c": 1}}}
    assert patch == before


def test_time_is_linear_in_the_operations() -> None:
    def seconds(n: int) -> float:
        members = {"m": {}, "l": [0] * n}
        changed = {"m": {str(i): i for i in range(n)}, "l": [*range(1, n + 1)]}
        began = time.process_time()
        assert apply(members, diff(members, changed), 256) == changed
        return time.process_time() - began

    assert min(seconds(20_000) for _ in range(3)) < 40 * min(seconds(2_000) for _ in range(3))
