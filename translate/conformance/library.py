"""Runs a case against this library, its input cut in every way that may matter."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import translate
from translate import Report, TranslateError

from .case import Case
from .verdict import Outcome, Problem, bare, judge

_LONGEST = 9
"""Bytes of a chunk of the random mix."""


def run_library(case: Case) -> Problem | None:
    """What goes wrong first with a case, if anything: in any cut, in its losses, or with ``loss="drop"``."""
    for run, chunks in cuts(case.pieces()):
        problem = judge(case, run, _convert(case, chunks))
        if problem is not None:
            return problem
    return _losses(case) or _without_carry(case)


def cuts(pieces: list[bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """The input whole, as the case has it, byte by byte, in each UTF-8 sequence and CRLF, and cut at random."""
    whole = b"".join(pieces)
    yield "whole", [whole]
    if len(pieces) > 1:
        yield "in the pieces of the case", pieces
    yield "byte by byte", [whole[at : at + 1] for at in range(len(whole))]
    for at in range(1, len(whole)):
        if 0x80 <= whole[at] < 0xC0 or whole[at - 1 : at + 1] == b"\r\n":
            yield f"cut at byte {at}", [whole[:at], whole[at:]]
    dice, at, mixed = random.Random(len(whole)), 0, []
    while at < len(whole):
        step = dice.randint(1, _LONGEST)
        mixed.append(whole[at : at + step])
        at += step
    yield "cut at random", mixed


def _convert(case: Case, chunks: list[bytes], **changed: Any) -> Outcome:
    options: dict[str, Any] = {
        "model": case.model or None,
        "clock": lambda: case.clock,
        "loss": case.loss,
        "errors": case.errors,
        "strict": case.strict,
        **changed,
    }
    out: list[bytes] = []
    stream = translate.convert(chunks, case.source, case.target, **options)
    error: Exception | None
    try:
        out += stream
        error = stream.failure
    except TranslateError as raised:
        error = raised
    place = {name: getattr(error, name, None) for name in ("unit", "offset")}
    codes = None if error is None else frozenset({type(error).__name__})
    return Outcome(b"".join(out), error is None, codes, **place)


def _losses(case: Case) -> Problem | None:
    if case.lost is None:
        return None
    report = Report()
    _convert(case, case.pieces(), report=report)
    found = sorted({finding.field for finding in report.losses})
    if found == sorted(case.lost):
        return None
    return Problem(case, "losses", ", ".join(sorted(case.lost)) or "none", ", ".join(found) or "none")


def _without_carry(case: Case) -> Problem | None:
    """``loss="drop"`` gives the same native content and no carry."""
    if case.loss != "carry" or case.error is not None:
        return None
    native = case.model_copy(update={"output": bare(case.output)})
    return judge(native, 'loss="drop"', _convert(case, case.pieces(), loss="drop"))
