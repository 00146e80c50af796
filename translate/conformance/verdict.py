"""What came of a case, and how it differs from what was to come."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from .case import Case, dumps, loads

_LINE_END = re.compile("\r\n|\r|\n")
_SHORT = 2_000


@dataclass(frozen=True, slots=True)
class Problem:
    """A case that went wrong. ``run``: in which of its runs."""

    case: Case
    run: str
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run of a case gave: its output, and the error that ended it, as far as it is known.

    ``whole``: it ended well. ``codes``: what the error may be called; ``None`` where nothing is known of it.
    """

    output: bytes
    whole: bool
    codes: frozenset[str] | None = None
    unit: int | None = None
    offset: int | None = None


def judge(case: Case, run: str, outcome: Outcome) -> Problem | None:
    """The first thing that differs."""
    try:
        units = read_units(outcome.output, case.target)
    except ValueError as error:
        return Problem(case, run, f"output in {case.target}", f"{error}: {_text(outcome.output)}")
    if not same(units, case.output):
        return Problem(case, run, _lines(case.output), _lines(units))
    expected, codes = case.error, outcome.codes
    if outcome.whole != (expected is None):
        end = "a whole stream" if expected is None else f"an end in {expected.code}"
        return Problem(case, run, end, "a whole stream" if outcome.whole else f"an end in {_names(codes)}")
    if expected is None:
        return None
    if codes is not None and expected.code not in codes:
        return Problem(case, run, expected.code, _names(codes))
    for place in ("unit", "offset"):
        wanted, found = getattr(expected, place), getattr(outcome, place)
        if wanted is not None and found is not None and wanted != found:
            return Problem(case, run, f"{expected.code} at {place} {wanted}", f"it at {place} {found}")
    return None


def read_units(output: bytes, format: str) -> list[Any]:
    """The units of an output. Raises ``ValueError`` where it is not of the format."""
    text = output.decode()
    if format.endswith("-sse"):
        return _blocks(text)
    if text and not text.endswith("\n"):
        raise ValueError("the last line has no end")
    return [loads(line) for line in text.split("\n") if line.strip()]


def _blocks(text: str) -> list[Any]:
    if text and not text.endswith(("\n\n", "\r\r", "\r\n\r\n")):
        raise ValueError("the last block has no end")
    blocks: list[Any] = []
    lines: list[str] = []
    for line in _LINE_END.split(text):
        if line:
            lines.append(line)
        else:
            blocks.append(_block(lines))
            lines = []
    return [block for block in blocks if block]


def _block(lines: list[str]) -> dict[str, Any]:
    block: dict[str, Any] = {}
    data: list[str] = []
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "event":
            block["event"] = value
        elif not name and value.startswith("carry {"):
            block["carry"] = loads(value.removeprefix("carry "))
    if data:
        whole = "\n".join(data)
        return {**block, "data": whole if whole == "[DONE]" else loads(whole)}
    block.pop("event", None)
    return block or ({"ping": True} if any(line.startswith(":") for line in lines) else {})


def bare(units: list[Any]) -> list[Any]:
    """Units without their carries; a member that was in a carry's way is back."""
    return [unit for unit in map(_bare, units) if unit]


def _bare(unit: dict[str, Any]) -> dict[str, Any]:
    carry = unit.get("carry")
    if not isinstance(carry, dict):
        return unit
    own = {"carry": carry["member"]} if "member" in carry else {}
    return {**{name: value for name, value in unit.items() if name != "carry"}, **own}


def same(a: Any, b: Any) -> bool:
    """Equality as JSON values: 1 is neither 1.0 nor true, zero has a sign, and the order of members is free."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(value, b[name]) for name, value in a.items())
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Decimal):
        return bool(a == b) and a.is_signed() == b.is_signed()
    return bool(repr(a) == repr(b))


def _lines(units: list[Any]) -> str:
    return "".join(f"\n    {dumps(unit)[:_SHORT]}" for unit in units) or "no output"


def _names(codes: frozenset[str] | None) -> str:
    return "an error" if not codes else ", ".join(sorted(codes))[:_SHORT]


def _text(output: bytes) -> str:
    return output.decode("utf-8", "backslashreplace")[:_SHORT]
