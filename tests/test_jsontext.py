"""The policy of JSON, clause by clause."""

from __future__ import annotations

import copy
import json
import math
import subprocess
import sys
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from translate import DecodeError, LimitExceeded, jsontext
from translate.jsontext import Beyond

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([0, -1, 10**17, 10**18, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, -(2**63) - 1])
    | st.floats()
    | st.sampled_from([0.0, -0.0, 1e16, 1e22, 5e-324, 1.0, Beyond("1e400"), Beyond("-1E999")])
)
HARD = '"\\/$\n\x85\u2028\u2029\ud83d\ude00é'
TEXT = st.text(st.characters(exclude_categories=()), max_size=8) | st.text(HARD, max_size=5)
VALUES = st.recursive(
    SCALARS | TEXT | st.sampled_from(["$number", "null", "NaN"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(TEXT | st.sampled_from(["$number", "$$number", "$", "a"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def unreal(word: str) -> Any:
    raise AssertionError(f"{word} is not strict JSON")


def well_formed(value: Any) -> Any:
    """``value`` with names that are the same text by code unit told apart no longer: JSON has one of them."""
    if isinstance(value, dict):
        return {jsontext.whole(k): well_formed(v) for k, v in value.items()}
    return [well_formed(v) for v in value] if isinstance(value, list) else value


# ---- reading ----------------------------------------------------------------------------------


EDGES = [2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, -(2**63) - 1]


@pytest.mark.parametrize("number", [*EDGES, 10**18 - 1, 10**18, 10**19, 10**30, 10**4299, -(10**4299)])
def test_integers_are_exact(number: int) -> None:
    for text in (str(number), f"[{number}]", f'{{"a": {number}}}'):
        found = jsontext.loads(text.encode())
        found = found if isinstance(found, int) else next(iter(found.values() if isinstance(found, dict) else found))
        assert found == number
        assert type(found) is int
    assert jsontext.loads(jsontext.dumps([number])) == [number]


def test_integers_of_more_digits_are_refused() -> None:
    for sign in ("", "-"):
        with pytest.raises(LimitExceeded, match=r"an integer of 430[12] digits"):
            jsontext.loads(f"{sign}{'9' * 4301}".encode())
    with pytest.raises(LimitExceeded, match=r"an integer of more than 4,300 digits"):
        jsontext.dumps({"a": 10**4300})


def test_numbers_beyond_a_double_keep_their_spelling() -> None:
    for text in ("1e400", "-1E+400", "1.50e309", "123456789012345678901e999"):
        number = jsontext.loads(text.encode())
        assert isinstance(number, Beyond)
        assert number == math.copysign(math.inf, float(text))
        assert jsontext.dumps([number]) == f"[{text}]".encode()
    assert jsontext.same(jsontext.loads(b"1e400"), Beyond("1e400"))
    assert not jsontext.same(jsontext.loads(b"1e400"), Beyond("1e401"))
    assert not jsontext.same(Beyond("1e400"), math.inf)


def test_other_numbers_keep_their_spelling_where_that_is_asked_for() -> None:
    raw = b'{"a":[1.50,1e2,-0.00,1e-400,0.1234567890123456789,1.5,7,1e400],"b":"1.50"}'
    found = jsontext.loads(raw, spelled=True)
    assert jsontext.dumps(found) == jsontext.dumps(copy.deepcopy(found)) == raw
    assert jsontext.same(found, jsontext.loads(raw))
    assert found["a"][:2] == [1.5, 100.0]
    assert jsontext.dumps(jsontext.loads(raw))[:15] == b'{"a":[1.5,100.0'
    assert not jsontext.same(jsontext.loads(b"1.50", spelled=True), 1.25)
    assert not jsontext.same(jsontext.loads(b"-0.00", spelled=True), 0.0)


def test_numbers_below_a_double_are_zero() -> None:
    assert jsontext.loads(b"[1e-400, -1e-400]") == [0.0, 0.0]


def test_what_json_has_not_is_read_and_written() -> None:
    found = jsontext.loads(b'{"a":[NaN,Infinity,-Infinity]}')
    assert math.isnan(found["a"][0])
    assert found["a"][1:] == [math.inf, -math.inf]
    assert jsontext.dumps(found) == b'{"a":[NaN,Infinity,-Infinity]}'


def test_lone_surrogates_are_read_and_written_as_escapes() -> None:
    assert jsontext.loads(b'"\\ud83d"') == "\ud83d"
    assert jsontext.loads(b'"\\ud83d\\ude00"') == "😀"
    assert jsontext.dumps("a\ud83d\x85\u2028é") == '"a\\ud83d\\u0085\\u2028é"'.encode()
    assert jsontext.dumps({"\udc00": "\ud83d"}) == b'{"\\udc00":"\\ud83d"}'
    # halves that come together are one character
    assert jsontext.dumps("\ud83d" + "\ude00") == '"😀"'.encode()
    assert jsontext.dumps(["\ud83d\ude00", "\ud83d"]) == '["😀","\\ud83d"]'.encode()


def test_the_last_of_duplicate_keys_wins() -> None:
    assert jsontext.loads(b'{"a":1,"a":2}') == {"a": 2}
    assert jsontext.loads(b'{"a":12345678901234567890,"a":2}') == {"a": 2}


@pytest.mark.parametrize("space", [b" ", b"\n", b"\t\r\n "])
def test_white_space_around_a_value(space: bytes) -> None:
    assert jsontext.loads(space + b"1" + space) == 1
    assert jsontext.loads(space + b"[1e400 ]" + space) == [math.inf]


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b" ", b"{", b"[1,]", b"{'a':1}", b'{"a":1,}', b"01", b"+1", b".5", b"1.", b"1e", b"0x1", b"nan", b"inf"),
        *(b'"\n"', b'"\\x"', b'"\\u12"', b"1 2", b"[1e400", b"// x\n1", b"12345678901234567890x", b"tru", b"-"),
        b'\xef\xbb\xbf"a"',
        *(b"\xc2\xa01", b"\x0b1", b"-Inf", b"--1", b"1_0", b"{1:2}", b'{"a" 1}', b"[1 2]"),
    ],
)
def test_what_is_not_json(raw: bytes) -> None:
    with pytest.raises(DecodeError, match="not JSON"):
        jsontext.loads(raw)


@pytest.mark.parametrize(
    "raw", [b'"\xff"', b'"\xed\xa0\xbd"', b'"\xc0\x80"', b'{"a":"\xf4\x90\x80\x80"}', b"\xff", b'"a\xc3']
)
def test_what_is_not_utf8(raw: bytes) -> None:
    with pytest.raises(DecodeError, match=r"byte 0x.. at position \d of the unit is not UTF-8"):
        jsontext.loads(raw)


def test_an_error_shows_what_is_there() -> None:
    with pytest.raises(DecodeError) as caught:
        jsontext.loads(b'{"a": x}' + b" " * 1000)
    assert str(caught.value).startswith('not JSON: Expecting value at character 6: {"a": x}')
    assert len(caught.value.excerpt or "") == 200
    with pytest.raises(DecodeError) as caught:
        jsontext.loads(b" " * 100 + b"\xff")
    assert caught.value.excerpt == " " * 40 + "\ufffd"


# ---- writing ----------------------------------------------------------------------------------


def test_text_is_compact_and_unescaped_but_for_separators() -> None:
    value = {"a": [1, "é😀/\x7f\x0b\x0c\x1c", None, True], "b": {}}
    assert jsontext.dumps(value).decode() == '{"a":[1,"é😀/\x7f\\u000b\\f\\u001c",null,true],"b":{}}'
    assert jsontext.dumps("\x85\u2028\u2029") == b'"\\u0085\\u2028\\u2029"'
    assert jsontext.dumps({"\u2028": 1}) == b'{"\\u2028":1}'
    # the exact path, too
    assert jsontext.dumps({**value, "c": 2**64}).decode() == (
        '{"a":[1,"é😀/\x7f\\u000b\\f\\u001c",null,true],"b":{},"c":18446744073709551616}'
    )


def test_null_and_nan_are_told_apart() -> None:
    assert jsontext.dumps([None, "null"]) == b'[null,"null"]'
    assert jsontext.dumps([None, math.nan]) == b"[null,NaN]"
    assert jsontext.dumps({"a": (math.inf, None)}) == b'{"a":[Infinity,null]}'
    assert jsontext.dumps(-math.inf) == b"-Infinity"


def test_the_exact_path_writes_what_the_fast_one_does() -> None:
    value = {"": [[], {}, [[]], [1, [2]], {"a": {"b": []}}], "t": True, "f": False, "n": None, "x": -1.5, "e": ""}
    assert jsontext._exact(value) == jsontext.dumps(value).decode() == json.dumps(value, separators=(",", ":"))
    assert jsontext._exact((1, "a")) == '[1,"a"]'


def test_the_exact_path_does_not_recurse() -> None:
    value: Any = 2**64
    for _ in range(100_000):
        value = [value]
    assert jsontext.dumps(value) == b"[" * 100_000 + b"18446744073709551616" + b"]" * 100_000


class Name(str):
    __slots__ = ()


def test_what_has_no_json_form() -> None:
    for value in ({1, 2}, object(), [object()], {"a": 2**64, "b": bytearray()}):
        with pytest.raises(DecodeError, match="has no JSON form"):
            jsontext.dumps(value)
    with pytest.raises(DecodeError, match="a member name of type int has no JSON form"):
        jsontext.dumps({1: 2})
    assert jsontext.dumps({Name("a"): Name("\ud800")}) == b'{"a":"\\ud800"}'


def test_a_value_that_holds_itself_is_refused() -> None:
    items: list[Any] = [1]
    items.append({"a": items})
    with pytest.raises(DecodeError, match="holds itself"):
        jsontext.dumps(items)
    twice = [2**64]
    assert jsontext.dumps([twice, twice]) == b"[[18446744073709551616],[18446744073709551616]]"


@given(VALUES)
def test_what_is_written_is_read_as_it_was(value: Any) -> None:
    raw = jsontext.dumps(value)
    assert not {"\x85", "\u2028", "\u2029", "\n"} & set(raw.decode())
    assert jsontext.same(jsontext.loads(raw), well_formed(value))
    assert jsontext.dumps(jsontext.loads(raw)) == raw


@given(VALUES)
def test_reading_agrees_with_the_standard_library(value: Any) -> None:
    raw = json.dumps(value).encode()
    found, expected = jsontext.loads(raw), json.loads(raw)
    assert json.dumps(found) == json.dumps(expected)


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True))
def test_any_number(text: str) -> None:
    found = jsontext.loads(f"[{text}]".encode())[0]
    expected = json.loads(text)
    assert jsontext.same(found, expected) or (math.isinf(expected) and found.text == text)


@pytest.mark.parametrize(
    ("text", "doubtful"),
    [
        *(("18446744073709551615", False), ("18446744073709551616", True), ("-9223372036854775808", False)),
        *(("-9223372036854775809", True), ("123456789012345678901", True), ('"123456789012345678901"', False)),
        *(("0.123456789012345678901", False), ("-0.123456789012345678901", False), ("1e300", False)),
        *(("1234567890123456789012.5", True), ("[0.5,0.123456789012345678901]", False), ("[0.5,-1e22]", False)),
        *(("[0.5,-12345678901234567890123]", True), ('{"a":[1,{"b":12345678901234567890123}]}', True)),
    ],
)
def test_doubtful_numbers(text: str, doubtful: bool) -> None:
    """Those that ``orjson`` read as a float without a word; what is doubted is read once more."""
    raw = text.encode()
    assert jsontext.doubtful(raw, orjson.loads(raw)) is doubtful
    assert jsontext.same(jsontext.loads(raw), json.loads(text))


# ---- strict text ------------------------------------------------------------------------------


@given(VALUES)
def test_strict_text_is_strict_json_and_comes_back(value: Any) -> None:
    raw = jsontext.dumps_strict(value)
    json.loads(raw, parse_constant=unreal, parse_float=lambda text: math.isfinite(float(text)) or unreal(text))
    assert jsontext.same(jsontext.from_strict(jsontext.loads(raw)), well_formed(value))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, '{"$number":"NaN"}'),
        ([-math.inf], '[{"$number":"-Infinity"}]'),
        ({"a": Beyond("1e400")}, '{"a":{"$number":"1e400"}}'),
        ({"$number": "NaN"}, '{"$$number":"NaN"}'),
        ({"$": 1, "$$a": 2, "b$": 3}, '{"$$":1,"$$$a":2,"b$":3}'),
        ({"a": {"$b": []}}, '{"a":{"$$b":[]}}'),
    ],
)
def test_the_form_of_strict_text(value: Any, text: str) -> None:
    assert jsontext.dumps_strict(value) == text.encode()
    assert jsontext.same(jsontext.from_strict(jsontext.loads(text.encode())), value)


def test_what_needs_no_change_is_not_copied() -> None:
    value = {"a": [1, {"b": None}], "c": 1.5}
    assert jsontext.to_strict(value) is value


def test_names_that_were_not_escaped_are_left() -> None:
    assert jsontext.from_strict({"$a": 1}) == {"$a": 1}
    assert jsontext.from_strict({"$number": "NaN", "b": 1}) == {"$number": "NaN", "b": 1}
    assert jsontext.from_strict({"$number": 1}) == {"$number": 1}


@pytest.mark.parametrize(
    "word", ["", "5", "1.5", "nan", "inf", "+Infinity", "1_0", "٣", " NaN", "1e400 ", "0x1", "1e4_00"]
)
def test_a_number_that_json_has_or_that_is_none(word: str) -> None:
    with pytest.raises(DecodeError, match=r"a member '\$number' that is none"):
        jsontext.from_strict([{"a": {"$number": word}}])


# ---- equality ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [
        *((1, 1.0), (1, True), (0, False), (0.0, -0.0), (None, 0), (None, ""), ([], {}), ("1", 1), ([1], [1, 1])),
        *(({"a": 1}, {"b": 1}), ({"a": None}, {}), ([1], [1.0]), (math.nan, math.inf), ("a", "b")),
        ("\ud83d", "\ude00"),
    ],
)
def test_what_is_not_the_same(a: Any, b: Any) -> None:
    assert not jsontext.same(a, b)
    assert not jsontext.same(b, a)


def test_what_is_the_same() -> None:
    assert jsontext.same({"a": [math.nan, 1]}, {"a": [float("nan"), 1]})
    assert jsontext.same("\ud83d" + "\ude00", "😀")
    assert jsontext.same({"a": 1, "b": 2}, {"b": 2, "a": 1})


@given(VALUES, VALUES)
def test_equality_is_that_of_the_text(a: Any, b: Any) -> None:
    assert jsontext.same(a, a)
    assert jsontext.same(a, b) == jsontext.same(b, a)
    if jsontext.same(a, b):
        assert sorted(jsontext.dumps(a)) == sorted(jsontext.dumps(b))


def test_code_units() -> None:
    assert jsontext.units("a😀\ud83d") == b"a\x00\x3d\xd8\x00\xde\x3d\xd8"
    assert jsontext.whole("a\ud83d\ude00\ud83d") == "a😀\ud83d"
    assert jsontext.whole("abc") == "abc"


def test_a_limit_on_digits_set_by_others_is_a_limit() -> None:
    """The limit of the standard library is the process's own."""
    code = (
        "import sys; sys.set_int_max_str_digits(700)\n"
        "from translate import LimitExceeded, jsontext\n"
        "try: jsontext.loads(b'9' * 701)\n"
        "except LimitExceeded: print('limited')"
    )
    command, env = [sys.executable, "-c", code], {"PYTHONPATH": "."}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    assert done.stdout == "limited\n"
