"""What a check finds beyond what readers refuse, and that it says so."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.sources import BAD, FRAMES, frame
from translate import Fault, Limits, Report, check, convert
from translate.engine import checker

SSE = b"".join(convert(FRAMES, "gateway", "gateway-sse"))
UNIEVENT = b"".join(convert(FRAMES, "gateway", "unievent-sse"))
NATIVE = b"".join(convert(FRAMES, "gateway", "unievent-sse", loss="drop"))


def told(found: list[Fault]) -> list[tuple[int | None, str, bool]]:
    return [(fault.unit, fault.field, fault.tolerated) for fault in found]


@pytest.mark.parametrize("data", [SSE, UNIEVENT, NATIVE])
def test_what_is_written_here_has_no_fault(data: bytes) -> None:
    format = "gateway-sse" if data is SSE else "unievent-sse"
    assert check([data], format) == check([data[i : i + 1] for i in range(len(data))], format) == []


def test_a_missing_blank_line_is_found_and_tolerated() -> None:
    for data in (SSE[:-1], SSE[:-2]):
        (fault,) = check([data], "gateway-sse")
        assert told([fault]) == [(5, "end of input", True)]
        assert fault.reason == "the last unit lacks its blank line or line end"
    lines = b"".join(convert(FRAMES, "gateway", "gateway-jsonl"))
    assert told(check([lines[:-1]], "gateway-jsonl")) == [(5, "end of input", True)]


def test_a_missing_end_marker_is_found_and_tolerated() -> None:
    (fault,) = check([NATIVE.removesuffix(b"data: [DONE]\n\n")], "unievent-sse")
    assert (told([fault]), fault.reason) == ([(None, "end of input", True)], "the end marker is missing")
    # a format that has none lacks none
    assert check([SSE], "gateway-sse") == []


@pytest.mark.parametrize("member", ["before", "member"])
def test_a_carry_without_a_unit_that_speaks_of_one(member: str) -> None:
    block = b': carry {"%s":[]}\n\n' % member.encode()
    found = check([block + SSE], "gateway-sse")
    assert told(found)[0][:2] == (0, f"carry.{member}")
    readable = list(_read(block + SSE))
    assert found[0].tolerated == (len(found) == 1) == bool(readable)
    # beside a unit it is where it belongs, and a comment that is no carry says nothing
    assert check([b": carry before\n\n" + SSE], "gateway-sse") == []


def _read(data: bytes) -> list[Any]:
    try:
        return list(convert([data], "gateway-sse", "gateway"))
    except Exception:
        return []


def test_what_the_model_alone_refuses_is_tolerated_where_readers_go_on() -> None:
    unit = {**frame("contentStart"), "code": 200}
    wrong = {**frame("streamStart", model={"name": "m", "tier": None}), "code": True}
    found = check([wrong, unit, *FRAMES[2:]], "gateway")
    assert found
    assert not any(fault.tolerated for fault in found if fault.unit == found[-1].unit)


def test_what_ends_a_check_is_not_tolerated() -> None:
    found = check([FRAMES[0], BAD], "gateway")
    assert told(found) == [(1, "GrammarError", False)]
    assert told(check(FRAMES[:2], "gateway")) == [(2, "TruncatedStream", False)]
    assert told(check([SSE], "gateway-sse", limits=Limits(unit=10))) == [(0, "LimitExceeded", False)]


@pytest.mark.parametrize("word", ["end_turn", "", "content_filter", "toolCall"])
def test_a_reason_that_is_none_of_the_four_words_is_found_and_tolerated(word: str) -> None:
    units = list(convert(FRAMES, "gateway", "unievent", loss="drop"))
    stop = {**units[-1], "finish_reason": word}
    (fault,) = check([*units[:-1], stop], "unievent")
    assert told([fault]) == [(len(units) - 1, "stop.finish_reason", True)]
    assert "'stop', 'length', 'tool_call' or 'unknown'" in fault.reason
    assert list(convert([*units[:-1], stop], "unievent", "gateway"))
    for known in ("stop", "length", "tool_call", "unknown"):
        assert check([*units[:-1], {**stop, "finish_reason": known}], "unievent") == []


@pytest.mark.parametrize(("code", "found"), [(399, True), (200, True), (-1, True), (400, False), (999, False)])
def test_an_error_whose_code_is_none_of_an_error_is_found_and_tolerated(code: int, found: bool) -> None:
    failed = [FRAMES[0], {"success": False, "code": code, "message": "m"}]
    assert told(check(failed, "gateway")) == ([(1, "failed.code", True)] if found else [])
    assert [unit["success"] for unit in convert(failed, "gateway", "gateway", errors="encode")] == [True, False]


def test_findings_are_limited_in_number(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = b': carry {"member":[]}\n\n' * 9 + SSE
    assert len(check([stream], "gateway-sse")) == 9
    monkeypatch.setattr(checker, "Report", partial(Report, limit=5))
    assert len(check([stream], "gateway-sse")) == 5
