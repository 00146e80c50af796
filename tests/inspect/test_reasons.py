"""Reasons are sentences that say what is so, and a report prints them by what matters."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.inspect.streams import CASES, clock, delta, fragment, lines, stop
from translate import Append, Close, Event, Finish, Open, Report, Start, TokenCounts, Usage, convert
from translate.carry.losses import REASONS, Finding

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
    known = [re.sub(r"\\\{\w+\\\}", ".+", re.escape(reason)) for reason in REASONS.values()]
    found = case.view()["losses"]
    assert all(re.fullmatch(f"({'|'.join(known)})(; ({'|'.join(known)}))?", loss["reason"]) for loss in found)
    assert not any("native form of this" in loss["reason"] or " residue" in loss["reason"] for loss in found)


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
