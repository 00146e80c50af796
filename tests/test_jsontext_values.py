"""JSON and Python values: what is let in, and text that is no UTF-8."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from tests.test_jsontext import VALUES
from translate import DecodeError, LimitExceeded, jsontext


@given(VALUES)
def test_json_values_are_let_in(value: Any) -> None:
    jsontext.check_value(value)
    jsontext.check_value({"a": [value, b"x"]})


@pytest.mark.parametrize("value", [{1: 2}, {"a": {None: 1}}, [{b"a": 1}], object(), [{1}], (1,), {"a": bytearray()}])
def test_what_is_no_json_value_is_not_let_in(value: Any) -> None:
    with pytest.raises(DecodeError, match=r"has no JSON form|is no text"):
        jsontext.check_value(value)


def test_the_nesting_of_python_values() -> None:
    value: Any = 1
    for _ in range(256):
        value = {"a": value} if isinstance(value, list) else [value]
    jsontext.check_value(value)
    itself: list[Any] = []
    itself.append(itself)
    for deep in ([value], itself):
        with pytest.raises(LimitExceeded, match="'nesting'"):
            jsontext.check_value(deep)
    jsontext.check_value([[1]], 2)
    with pytest.raises(LimitExceeded):
        jsontext.check_value([[1]], 1)


def test_bytes_are_base64_text() -> None:
    assert jsontext.dumps({"a": b"\xff", "b": b""}) == b'{"a":"/w==","b":""}'


def test_text_with_half_a_pair_is_read() -> None:
    assert jsontext.loads_str('{"a":"\ud83d"}') == {"a": "\ud83d"}
    assert jsontext.loads_str('["\ud83d\ude00"]') == ["😀"]
    assert jsontext.loads_str('["é",12345678901234567890]') == ["é", 12345678901234567890]
    for text in ('"\ud83d', '"é'):
        with pytest.raises(DecodeError, match="not JSON"):
            jsontext.loads_str(text)
        with pytest.raises(LimitExceeded):
            jsontext.loads_str("[[" + text + '"]]', 1)
