"""Whether arguments are whole is found piece by piece."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translate.algebra.calls import Arguments

VALUES = st.recursive(
    st.text(max_size=5) | st.booleans() | st.integers(-99, 99),
    lambda held: st.lists(held, max_size=3) | st.dictionaries(st.text(max_size=3), held, max_size=3),
    max_leaves=6,
)


def whole(*pieces: str) -> bool:
    arguments = Arguments(256)
    for piece in pieces[:-1]:
        arguments.add(piece)
    ahead = arguments.whole(pieces[-1])
    arguments.add(pieces[-1])
    assert arguments.whole() == ahead
    return ahead


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (("",), False),
        ((" \n",), False),
        (("{}",), True),
        (('{"a":', "1}"), True),
        (('{"a":', "1"), False),
        (("{}", " "), True),
        (("{}", "{}"), False),
        (("{}", "x", "{}"), False),
        (('{"a\\', '"}":1}'), True),
        (('{"a\\', '"}"'), False),
        (('{"a\\\\', '":1}'), True),
        (("{]",), False),
        (("}",), False),
        (("null",), True),
        (("nu",), False),
        (('"x"',), True),
        (("1" * 100,), False),
    ],
)
def test_whole(pieces: tuple[str, ...], expected: bool) -> None:
    assert whole(*pieces) is expected


@given(VALUES.filter(lambda value: isinstance(value, (dict, list, str))), st.data())
def test_a_value_is_whole_with_its_last_character(value: object, data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    at = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    pieces = [text[a:b] for a, b in zip([0, *at], [*at, len(text)], strict=True)]
    assert whole(*pieces)
    assert not whole(text[:-1])


def test_time_is_linear() -> None:
    arguments = Arguments(256)
    arguments.add("{")
    for _ in range(20_000):
        arguments.add('"a":1,')
        assert not arguments.whole()
