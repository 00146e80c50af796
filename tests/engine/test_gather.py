"""Plain fragments in columns: which events are one run, and what a run is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from translate import Append, Close, State
from translate.engine.runs import NONE, Mark, Marks, Run, are_plain, gather

AT = Mark("unievent", "at")


def test_a_run_in_two() -> None:
    marks = Marks(AT, True, Mark("x", "pad"))
    run = Run(["a", "b", "c"], [b'"a"', b'"b"', b'"c"'], marks, [b"1", b"2", b"3"], [b'"p"', b'""', b'"q"'])
    first, second = run.split(1)
    assert (first.texts, first.tokens, first.numbers, first.words) == (["a"], [b'"a"'], [b"1"], [b'"p"'])
    assert (second.texts, second.tokens) == (["b", "c"], [b'"b"', b'"c"'])
    assert (second.numbers, second.words) == ([b"2", b"3"], [b'""', b'"q"'])
    assert (first.marks, second.marks) == (marks, marks)
    residues: list[Any] = [{"unievent": {"at": n, "synthetic": True}, "x": {"pad": w}} for n, w in ((2, ""), (3, "q"))]
    assert second.events() == [Append(text, None, residue) for text, residue in zip("bc", residues, strict=True)]


def stamped(text: str, at: Any, **more: Any) -> Append:
    return Append(text, None, {"unievent": {"at": at, **more}})


@pytest.mark.parametrize(
    ("events", "at", "texts", "numbers"),
    [
        ([Append("a"), Append("é")], 0, ["a", "é"], []),
        ([Append("a"), Append("b"), Append("c"), Close()], 1, ["b", "c"], []),
        ([Append("a"), Append("b"), Append("c", State("", {})), Append("d")], 0, ["a", "b"], []),
        ([Append("a"), Append("b"), Append(b"c"), Append("d")], 0, ["a", "b"], []),
        ([Append("a"), Append("b"), stamped("c", 1), Append("d")], 0, ["a", "b"], []),
        ([Append("a"), Append("b"), stamped("c", 1, patch=[]), Append("d")], 0, ["a", "b"], []),
        (
            [stamped("a", 0), stamped("b", 10**18 - 1), stamped("c", 10**18)],
            0,
            ["a", "b"],
            [b"0", b"999999999999999999"],
        ),
        ([stamped("a", 1), stamped("b", 2), Append("c")], 0, ["a", "b"], [b"1", b"2"]),
        ([stamped("a", 1), stamped("b", 2), stamped("c", 3, patch=[])], 0, ["a", "b"], [b"1", b"2"]),
        ([stamped("a", 1), stamped("b", 2), stamped("c", True)], 0, ["a", "b"], [b"1", b"2"]),
        ([stamped("a", 1), stamped("b", 2), stamped("c", 1.5)], 0, ["a", "b"], [b"1", b"2"]),
        ([stamped("a", 1), stamped("b", 2), stamped("c", -1)], 0, ["a", "b"], [b"1", b"2"]),
        ([stamped("a", 1), stamped("b", 2), Append("c", None, {"x": {"at": 1}})], 0, ["a", "b"], [b"1", b"2"]),
        (
            [stamped("a", 1), stamped("b", 2), Append("c", None, {"unievent": {"at": 1}, "x": {}})],
            0,
            ["a", "b"],
            [b"1", b"2"],
        ),
        ([Append("a")], 0, None, None),
        ([Append("a"), Close()], 0, None, None),
        ([Close(), Append("a"), Append("b")], 0, None, None),
        ([stamped("a", 1), Append("b")], 0, None, None),
        ([stamped("a", 1, patch=[]), stamped("b", 2)], 0, None, None),
        ([Append("a\ud83d"), Append("b")], 0, None, None),
        ([Append(t, None, {"x": {"synthetic": 1}}) for t in "ab"], 0, None, None),
        ([Append(t, None, {"events": {"at": 1}}) for t in "ab"], 0, None, None),
        ([Append(t, None, {"x y": {"at": 1}}) for t in "ab"], 0, None, None),
    ],
)
def test_plain_fragments_in_a_row(events: Any, at: int, texts: Any, numbers: Any) -> None:
    run = gather(events, at)
    if texts is None:
        assert run is None
        return
    assert run is not None
    assert (run.texts, run.tokens, run.numbers) == (
        texts,
        [json.dumps(t, ensure_ascii=False).encode() for t in texts],
        numbers,
    )
    assert (run.marks, run.words) == (Marks(AT) if numbers else NONE, [])
    assert run.events() == events[at : at + len(texts)]


@pytest.mark.parametrize(
    ("codec", "member", "plain"),
    [
        *(("unievent", "at", True), ("a-b_9", "a_b", True), ("X", "at", False), ("a", "A", False), ("a", "a1", False)),
        *(("", "at", False), ("a", "", False), ("v", "at", False), ("events", "at", False), ("a", "synthetic", False)),
        *(("a b", "at", False), ("a", "a b", False), ("before", "at", False), ("member", "at", False)),
        *(("a" * 60, "at", True), ("a" * 62, "abc", False)),
    ],
)
def test_a_residue_that_a_carry_may_name(codec: str, member: str, plain: bool) -> None:
    assert are_plain(Marks(Mark(codec, member))) is are_plain(Marks(word=Mark(codec, member))) is plain
