"""Which test shows which hazard of a provider's page, by its number: each has one.

Those of Anthropic and Chat are rows with names; the others have their numbers in their own names.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
HAZARDS: dict[str, list[str]] = {
    "anthropic": [
        *("a later count replaces its own alone", "a later unit without counts of input"),
        *("zeros at the start are no counts", "null leaves a count as it was", "two message_deltas"),
        *("a signature", "a signature without text", "two signatures", "redacted, twice", "redacted"),
        *("a state on the first of three fragments", "thinking that is the text of redacted thinking"),
        *("the state of another issuer", "a state that holds more", "blank arguments", "whole input at the start"),
        *("a number beyond a double", "half a call", "an index that is not the count", "a delta of another block"),
        *("a block in a block", "a block without a kind", "a delta of unknown type"),
        *("a ping before the first fragment", "server tools and citations", "test_reasons_of_others"),
        *("a refusal without a block", "a reason without a word", "test_reasons_of_others", "an error in a block"),
        *("test_an_end_of_input_before_the_end_is_no_success", "an error first", "the same message_start again"),
        *("a refusal", "a part without a fragment", "a handover in a part, and a second model"),
        *("test_counts_of_others", "a call without an id", "blocks and a reason at the start"),
        *("test_an_end_marker_is_read_and_never_written", "a call of which nothing came"),
        *("test_a_count_that_the_end_of_the_message_has_is_all_that_is_known", "thinking without text"),
        *("a result whose call is in the message before", "a stop sequence"),
    ],
    "openai-chat": [
        *("text, reason, counts", "test_a_missing_end_marker_is_reported"),
        *("test_without_a_reason_the_end_of_input_is_no_end", "no reason, but the end marker", "Azure's first unit"),
        *("thinking, then text", "both in one chunk", "empty text opens nothing", "an empty piece of the open text"),
        *("details repeat reasoning", "a signature before the text", "redacted, twice"),
        *("encrypted content after the text", "Mistral: content as a list", "Mistral: all in one chunk"),
        *("one call in pieces", "two calls interleaved", "three calls, last to first", "one index, two ids"),
        *("id and name repeated", "an empty id and no name", "no index", "blank arguments, then another call"),
        *("text amid a call", "two values for one call", "test_a_piece_of_a_call_that_is_over_is_an_error"),
        *("a blank piece of a call that is over", "null in later pieces", "text after a whole call", "two reasons"),
        *("a reason, then an error", "a limit of rate", "an error as text", "an error with text"),
        *("an error under a name", "counts in every chunk", "counts without reasoning"),
        *("test_counts_that_contradict_each_other", "no counts", "test_what_is_refused", "padding", "comments"),
        *("test_white_space_behind_the_end_marker", "a separator in text", "nothing said"),
        *("test_no_reader_of_chat_joins_two_redacted_blocks", "test_a_call_that_stayed_blank_gets_an_object"),
        *("test_two_texts_in_a_row_are_one_to_readers_of_chat",),
        *("test_an_image_between_texts_is_nothing_to_others_and_comes_home_whole",),
        *("test_the_member_of_thinking_is_the_one_it_came_in", "test_reasons_for_others"),
        *("test_a_call_that_was_cut_is_never_said_as_whole", "an error on a line of its own"),
        *("a filter's error is none", "two pieces of a call in one chunk", "stop after tool_calls"),
        *("members that are null in each", "test_members_of_chat_come_home", "Perplexity", "tags in text"),
        "test_a_second_choice_is_refused_with_the_unit_that_shows_it",
    ],
}
"""Codec → the name of a row, or of a test, for each hazard, in order."""
NUMBERED = {"openai-responses": 49, "gemini": 46, "gemini-interactions": 28}
"""Codec → how many hazards its page has."""


def names(*patterns: str) -> set[str]:
    """All rows and tests of some files."""
    found: set[str] = set()
    for pattern in patterns:
        for path in HERE.glob(pattern):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
                elif isinstance(node, ast.FunctionDef):
                    found.add(node.name)
    return found


@pytest.mark.parametrize(("codec", "count"), [("anthropic", 45), ("openai-chat", 61)])
def test_each_hazard_has_its_row(codec: str, count: int) -> None:
    assert len(HAZARDS[codec]) == count
    there = names("test_anthropic_*.py", "test_openai_chat_*.py", "test_provider_*.py")
    assert [name for name in HAZARDS[codec] if name not in there] == []


@pytest.mark.parametrize("codec", NUMBERED)
def test_each_hazard_has_its_number(codec: str) -> None:
    file = {"gemini-interactions": "interactions"}.get(codec, codec.replace("-", "_"))
    found = names(f"test_{file}_hazards.py", f"test_{file}_rules.py")
    numbers = {int(word) for name in found for word in re.findall(r"(?<![a-z0-9])\d+(?![0-9])", name.replace("_", " "))}
    assert [number for number in range(1, NUMBERED[codec] + 1) if number not in numbers] == []
