"""Reasons are sentences that say what is so, and a report prints them by what matters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.inspect.streams import CASES, clock, delta, fragment, lines, stop
from translate import Append, Close, Event, Finish, Open, Report, Start, TokenCounts, Usage, codec, convert, formats
from translate.carry.losses import Finding
from translate.carry.reasons import GUESSES, LOSSES, REPAIRS, Why

ROOT = Path(__file__).resolve().parents[2]
BY_NAME = {case.name: case for case in CASES}


def reasons(stream: Any, src: str, dst: str, **options: Any) -> dict[str, str]:
    report = Report()
    list(convert(stream, src, dst, report=report, errors="encode", clock=clock, **options))
    return {found.field: found.reason for found in report.losses}


def test_a_call_that_never_ended_is_not_said_to_have_no_words() -> None:
    found = reasons(lines([fragment(0, '{"a', "c1", "look")]), "unievent-jsonl", "gateway")
    assert found["tool_call"] == "a tool call broke off before gateway could say it"
    assert found["append"] == "a piece of a part that broke off before gateway could say it"


def test_a_call_without_a_name_or_an_id_is_said_to_lack_it() -> None:
    events: list[Event] = [Open("tool_call", "c", None), Append("{}"), Close(), Finish()]
    assert "lacks one" in reasons(events, "events", "gateway")["tool_call"]
    events = [Open("tool_call", None, "look"), Append("{}"), Close(), Finish()]
    assert "lacks one" in reasons(events, "events", "toy")["tool_call"]
    said = reasons(events, "events", "gateway")["open.id"]
    assert said == "gateway must have an id, and nobody said one: it is made up"


def test_what_a_target_made_up_is_not_said_to_have_no_place() -> None:
    found = reasons([Start(), Finish()], "events", "openai-chat")
    assert found["start.id"] == "openai-chat must have an id, and nobody said one: it is made up"
    assert found["start.created"] == "openai-chat must have a time stamp, and nobody said one: it is made up"
    assert found["start.model"] == "openai-chat must have a name of who answers, and nobody said one: it is made up"


def test_what_a_pair_of_formats_cannot_say_is_worded_as_losses_are() -> None:
    report = Report()
    list(convert([], "unievent", "gateway", report=report, errors="encode", clock=clock))
    said = {found.field: found.reason for found in report.predicted}
    assert said["embedding"] == "gateway has no words for an embedding"
    assert said["created_at"] == "gateway has no place for what only unievent says: time stamps of single events"
    report = Report()
    list(convert([], "events", "unievent", report=report, errors="encode", clock=clock))
    said = {found.field: found.reason for found in report.predicted}
    assert said["annotate"] == "unievent has no words for annotations, such as citations"
    assert said["usage"] == "unievent has no place for counts before the end of the stream"


def test_what_has_no_words_is_named() -> None:
    members = {"mime_type": "image/png", "data": "AAAA"}
    stream = lines([delta(2, "inline_data.delta", **members), delta(3, "inline_data.done", **members), stop(4)])
    found = reasons(stream, "unievent-jsonl", "gateway")
    assert found["inline_data"] == "gateway has no words for data within the message, such as an image"
    assert found["unievent residue"] == "gateway has no place for what only unievent says: its time stamp"
    assert found["finish.usage"] == "gateway has no place for these counts: cached tokens, input tokens"
    start: list[Event] = [Start(), Usage(TokenCounts(1)), Finish(TokenCounts(None, 3, 1))]
    assert reasons(start, "events", "unievent")["start"] == "unievent does not say who answers"
    assert reasons(start, "events", "gateway")["finish.usage"] == (
        "gateway has no place for these counts: cached tokens; "
        "gateway must have these counts, and nobody knows them: input tokens"
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_reasons_are_those_of_the_list(case: Any) -> None:
    view = case.view()
    for name, table in (("losses", LOSSES), ("guesses", GUESSES), ("repairs", REPAIRS)):
        one = "|".join(map(pattern, table.values()))
        assert all(re.fullmatch(f"({one})(; ({one}))?", found["reason"]) for found in view[name])
    assert not any(" residue" in loss["reason"] for loss in view["losses"])


def pattern(why: Why) -> str:
    """What matches the reason, whatever words stand in it."""
    return re.sub(r"\\\{\w+(!r)?\\\}", ".+", re.escape(why.says))


def test_no_reason_is_written_elsewhere() -> None:
    """Where a guess or a repair is told, its sentence comes from the tables, and each of theirs is told somewhere."""
    used: set[str] = set()
    for path in sources():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = called(node)
            if name in ("guessed", "repaired"):
                used.add(f"{name} {ast.literal_eval(node.args[0])}")
            told = node.args[1:2] if name in ("guess", "repair", "Mended") else []
            for each in [*told, *(word.value for word in node.keywords if word.arg == "guess")]:
                assert not [*words_in(each)], (path, each.lineno)
        for named in told_by_name(tree):
            assert not [*words_in(named)], (path, ast.dump(named))
    assert {name for name in used if name.startswith("guessed")} == {f"guessed {key}" for key in GUESSES}
    assert {name for name in used if name.startswith("repaired")} == {f"repaired {key}" for key in REPAIRS}


def told_by_name(tree: ast.Module) -> Iterator[ast.AST]:
    """What a function tells under a name of its own, or gives back as a guess."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        inside = [*ast.walk(function)]
        mends = any(isinstance(node, ast.Call) and called(node) in ("repair", "Mended") for node in inside)
        names = ("guess", "what") if mends else ("guess",)
        for node in inside:
            named = isinstance(node, ast.Assign) and any(getattr(each, "id", "") in names for each in node.targets)
            given = isinstance(node, ast.Return) and node.value is not None and function.name.endswith("guess")
            if named or given:
                yield node.value  # type: ignore[attr-defined]


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def words_in(node: ast.AST) -> Iterator[ast.AST]:
    """Text of more than a word in an expression, but for what is given to the tables."""
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and " " in str(node.value)):
        yield node
    elif not (isinstance(node, ast.Call) and called(node) in ("guessed", "repaired")):
        for child in ast.iter_child_nodes(node):
            yield from words_in(child)


def sources() -> list[Path]:
    return [path for folder in ("translate", "codecs") for path in sorted((ROOT / folder).rglob("*.py"))]


def test_what_a_codec_says_in_part_is_said_alike() -> None:
    for name in formats():
        own = codec(name)
        for said in own.partly.values():
            assert re.fullmatch(rf"{own.name} has (a place|words) for .+ alone", said), said


def test_a_report_prints_content_first_and_counts() -> None:
    report = Report(limit=3)
    for unit in range(3):
        report.add("losses", Finding(unit, "x residue", "its time stamp", carried=True))
    report.add("losses", Finding(3, "y", "not kept"))
    assert str(report).splitlines() == [
        "Content: nothing is left out.",
        "Not content: 3 findings",
        "  3 × x residue: its time stamp (carried)",
        "1 more findings were counted and not kept",
    ]
    report = Report()
    report.add("losses", Finding(1, "at", "a stamp"))
    report.add("losses", Finding(2, "embedding", "no words", content=True))
    report.add("guesses", Finding(2, "who", "taken to be x"))
    assert str(report).splitlines() == [
        "Content: 1 finding",
        "  1 × embedding: no words (lost)",
        "Not content: 1 finding",
        "  1 × at: a stamp",
        "Guessed: 1 finding",
        "  1 × who: taken to be x",
    ]
