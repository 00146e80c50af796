"""JSON at its limits: nesting, recursion, and what the quick looks before reading and writing must not overlook."""

from __future__ import annotations

import json
import math
import sys
import time
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sources import collect
from translate import DecodeError, LimitExceeded, Limits, TruncatedStream, check, convert, jsontext

# ---- nesting ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_the_limit_of_nesting(opening: bytes, closing: bytes) -> None:
    for levels, limit in ((256, None), (3, 3), (1000, 1000), (1, 1)):
        raw = opening * levels + b"1" + closing * levels
        options: dict[str, Any] = {} if limit is None else {"nesting": limit}
        found, depth = jsontext.loads(raw, **options), 0
        while found != 1:
            found, depth = next(iter(found.values() if isinstance(found, dict) else found)), depth + 1
        assert depth == levels
        with pytest.raises(LimitExceeded, match="'nesting'") as caught:
            jsontext.loads(opening + raw + closing, **options)
        assert caught.value.maximum == (limit or 256)


def test_nesting_is_refused_before_it_is_read() -> None:
    with pytest.raises(LimitExceeded, match="'nesting'"):
        jsontext.loads(b"[" * 1_000_000)


def test_nesting_beyond_what_python_reads() -> None:
    with pytest.raises(LimitExceeded, match="this process recurses"):
        jsontext.loads(b"[" * 500_000 + b"]" * 500_000, nesting=10**6)


def test_brackets_side_by_side_or_in_text_do_not_nest() -> None:
    assert len(jsontext.loads(b"[" + b"[],{}," * 1000 + b"0]")) == 2001
    assert jsontext.loads(orjson.dumps(["[" * 1000, '"' + "{" * 1000, "\\" + "[" * 1000])) is not None
    jsontext.check_nesting(rb'["\"[[[","\\","[[["]', 1)


@pytest.mark.parametrize(
    "text", [b'"' + b"a" * 10**5, b'"' + b'\\"' * 10**5, b'"' + b"\\" * 99_999, b'"' + b'a\\"[' * 10**5]
)
def test_text_without_its_end_takes_linear_time(text: bytes) -> None:
    began = time.perf_counter()
    with pytest.raises(DecodeError):
        jsontext.loads(b"[" * 200 + b"]" * 100 + b"[" * 100 + text)
    assert time.perf_counter() - began < 5


def test_the_limit_of_recursion_has_its_own_name() -> None:
    """A raised limit of nesting is not blamed for what the interpreter cannot read."""
    deep = b"[" * 5000 + b"]" * 5000
    with pytest.raises(LimitExceeded, match="nested more deeply than this process recurses") as caught:
        jsontext.loads(deep, nesting=10_000)
    assert (caught.value.limit, caught.value.maximum) == ("recursion", sys.getrecursionlimit())


@pytest.mark.parametrize("depth", [300, 900, 3000])
@pytest.mark.parametrize("source", ["unievent", "unievent-jsonl", "unievent-sse"])
def test_a_raised_limit_of_nesting_never_ends_in_a_bare_error(depth: int, source: str) -> None:
    """Patches, carries, models and strict text recurse, too."""
    text = '{"event_type":"x","deep":' + "[" * depth + "]" * depth + "}"
    unit: Any = {"event_type": "x"}
    for _ in range(depth):
        unit = {"event_type": "x", "deep": unit}
    data = unit if source == "unievent" else f"data: {text}\n\n" if source == "unievent-sse" else text + "\n"
    options: Any = {"limits": Limits(nesting=10_000)}
    for target in ("gateway-sse", "unievent-jsonl", "events-jsonl"):
        _, error = collect(convert([data], source, target, **options))
        assert isinstance(error, LimitExceeded | TruncatedStream)
        assert getattr(error, "limit", "recursion") == "recursion"
    assert {finding.field for finding in check([data], source, **options)} <= {"LimitExceeded", "TruncatedStream"}


# ---- quick looks ------------------------------------------------------------------------------


NUMBERS = [b"1" * 18, b"-" + b"1" * 19, b"1" * 25, b"18446744073709551615", b"0." + b"3" * 25, b'"' + b"1" * 30 + b'"']


@given(st.lists(st.one_of(st.sampled_from(NUMBERS), st.sampled_from([b"12", b'"x"', b"[]", b"[0.5]"])), max_size=200))
def test_integers_that_were_changed_are_found_in_text_of_any_length(pieces: list[bytes]) -> None:
    """Long text is sampled: no integer of so many digits may slip through, wherever it begins."""
    for raw in (b"[" + b",".join(pieces) + b"]", b'{"a":[%s]}' % b",".join([b"[%s,0.25]" % each for each in pieces])):
        changed = any(each[-20:].isdigit() and len(each) == 25 for each in pieces)
        value = orjson.loads(raw)
        assert jsontext.doubtful(raw, value) == changed
        assert jsontext.same(jsontext.loads(raw), json.loads(raw))
        assert jsontext.same(jsontext.loads(raw, read=value), json.loads(raw))


@pytest.mark.parametrize("at", range(1100, 1110))
def test_a_long_number_in_long_text_is_exact(at: int) -> None:
    raw = b'{"a":"' + b"x" * at + b'","b":9223372036854775809,"c":12345678901234567890}'
    assert jsontext.loads(raw) == {"a": "x" * at, "b": 9223372036854775809, "c": 12345678901234567890}


@pytest.mark.parametrize(
    "value",
    [
        {"a": None, "b": math.nan},
        {"a": "null", "b": math.nan},
        {"a": None, "b": {"c": math.inf}, "d": "null"},
        {"null": 1, "b": [math.nan]},
        {"a": None, "b": None, "c": [{"d": (1, -math.inf)}]},
        [None, math.nan],
    ],
)
def test_no_null_hides_a_number(value: Any) -> None:
    assert jsontext._dumps(value) is None
    assert jsontext.same(jsontext.loads(jsontext.dumps(value)), json.loads(json.dumps(value)))


def test_text_too_short_to_close_what_it_opens_is_no_json() -> None:
    with pytest.raises(DecodeError, match="not JSON"):
        jsontext.loads(b"[" * 300)
    with pytest.raises(LimitExceeded, match="'nesting'"):
        jsontext.loads(b"[" * 600)
    with pytest.raises(LimitExceeded, match="'nesting'"):
        jsontext.loads(b"[" * 257 + b"]" * 257)
