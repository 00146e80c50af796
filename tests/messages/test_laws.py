"""The laws of requests and whole answers, over generated documents."""

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.messages.documents import Json
from tests.messages.generated import FORMATS, answers, documents
from translate import (
    Report,
    check,
    convert_answer,
    convert_request,
    decode,
    decode_answer,
    decode_request,
    encode,
    encode_answer,
    fold,
    unfold,
)
from translate.messages.difference import alike, applied, differences

WHOLE = [name for name in FORMATS if name != "gateway"]
"""Formats that can say results of calls."""
LISTED = {"openai-responses": "input", "gemini": "contents"}
OPAQUE = ("T1BBUVVFLTEtb25l", "T1BBUVVFLTItdHdv")


def others(src: str, formats: Sequence[str]) -> st.SearchStrategy[str]:
    return st.sampled_from([name for name in formats if name != src])


def same(a: Any, b: Any) -> bool:
    return json.dumps(a) == json.dumps(b)


@pytest.mark.parametrize("src", FORMATS)
@given(data=st.data())
def test_a_format_to_itself_changes_nothing(src: str, data: st.DataObject) -> None:
    document = data.draw(documents(src))
    before = copy.deepcopy(document)
    assert same(convert_request(document, src, src), before)
    assert same(document, before)


@pytest.mark.parametrize("src", FORMATS)
@given(data=st.data())
def test_a_request_comes_home(src: str, data: st.DataObject) -> None:
    dst = data.draw(others(src, FORMATS))
    document = data.draw(documents(src))
    kept = convert_request(document, src, dst, strict=False)
    assert same(convert_request(kept, dst, src, strict=False), document)
    kept.pop("carry", None)
    assert same(convert_request(document, src, dst, loss="drop", strict=False), kept)


@pytest.mark.parametrize("src", FORMATS)
@given(data=st.data())
def test_an_answer_comes_home(src: str, data: st.DataObject) -> None:
    dst = data.draw(others(src, FORMATS))
    document = data.draw(answers(src))
    kept = convert_answer(document, src, dst)
    assert same(convert_answer(kept, dst, src), document)


@pytest.mark.parametrize("src", FORMATS)
@given(data=st.data())
def test_no_state_reaches_another_issuer(src: str, data: st.DataObject) -> None:
    dst = data.draw(others(src, FORMATS))
    document = data.draw(documents(src))
    said = json.dumps(convert_request(document, src, dst, loss="drop", strict=False))
    if dst not in ("unievent", "gateway") and src not in ("unievent", "gateway"):
        assert not any(value in said for value in OPAQUE)
    assert "tstate1_" not in said


def calls_and_results(document: Json, format: str) -> tuple[list[str | None], list[str | None]]:
    request = decode_request(document, format)
    parts = [part for turn in request.turns for part in turn.parts]
    return (
        [part.id for part in parts if part.kind == "tool_call"],
        [part.id for part in parts if part.kind == "tool_result"],
    )


@pytest.mark.parametrize("src", WHOLE)
@given(data=st.data())
def test_each_call_has_one_id_and_its_result_the_same(src: str, data: st.DataObject) -> None:
    dst = data.draw(others(src, WHOLE))
    document = data.draw(documents(src))
    calls, results = calls_and_results(convert_request(document, src, dst, loss="drop", strict=False), dst)
    known = [id for id in calls if id is not None]
    assert len({*known}) == len(known)
    assert {*results} <= {*calls}
    wanted = calls_and_results(document, src)
    assert (len(calls), len(results)) == (len(wanted[0]), len(wanted[1]))


@pytest.mark.parametrize("src", WHOLE)
@given(data=st.data())
def test_what_is_written_is_what_is_read(src: str, data: st.DataObject) -> None:
    dst = data.draw(others(src, WHOLE))
    document = data.draw(documents(src))
    said = convert_request(document, src, dst, loss="drop", strict=False)
    again = convert_request(copy.deepcopy(document), src, dst, loss="drop", strict=False)
    assert same(said, again)
    assert check(said, dst, what="request") == []


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(inner)


@pytest.mark.parametrize("src", FORMATS)
@given(data=st.data())
def test_nothing_is_lost_in_silence(src: str, data: st.DataObject) -> None:
    """A text of the user's or the assistant's is in the output, or its place is in the report."""
    dst = data.draw(others(src, FORMATS))
    document = data.draw(documents(src))
    request = decode_request(document, src)
    report = Report()
    said = "\x00".join(texts(convert_request(document, src, dst, loss="drop", report=report, strict=False)))
    told = [found.path for found in (*report.losses, *report.repairs)]
    for turn in request.turns:
        for part in [*turn.parts, *(inner for outer in turn.parts for inner in outer.parts)]:
            if part.kind in ("text", "thinking") and part.data:
                assert part.data in said or any(part.path.startswith(path) for path in told if path), part.path


@pytest.mark.parametrize("src", FORMATS)
@given(data=st.data())
def test_a_longer_conversation_begins_as_the_shorter_one(src: str, data: st.DataObject) -> None:
    dst = data.draw(others(src, FORMATS))
    document = data.draw(documents(src))
    items = document[LISTED.get(src, "messages")]
    said_by_it = ("assistant", "model", "reasoning", "function_call", "content", "thinking", "toolCall")
    his = [bool({item.get("role"), item.get("type")} & {*said_by_it}) for item in items]
    ends = [n for n in range(1, len(items)) if his[n] and not his[n - 1]]
    whole = convert_request(document, src, dst, loss="drop", strict=False)
    for n in ends[:1]:
        shorter = {**document, LISTED.get(src, "messages"): items[:n]}
        said = convert_request(shorter, src, dst, loss="drop", strict=False)
        key = LISTED.get(dst, "messages")
        assert same(whole[key][: len(said[key])], said[key])
        for member in ("tools", "system", "instructions", "systemInstruction", "systemPrompt"):
            assert same(whole.get(member), said.get(member))


@pytest.mark.parametrize("format", WHOLE)
@given(data=st.data())
def test_an_answer_said_as_a_stream_and_folded_is_the_answer(format: str, data: st.DataObject) -> None:
    whole = decode_answer(data.draw(answers(format)), format)
    stream = b"".join(encode(unfold(whole), f"{format}-sse", clock=lambda: 1700000000000))
    folded = fold(decode([stream], f"{format}-sse"))
    assert [(part.kind, part.data) for part in folded.parts if part.kind != "tool_call"] == [
        (part.kind, part.data) for part in whole.parts if part.kind != "tool_call"
    ]
    assert encode_answer(folded, format).keys() <= encode_answer(whole, format).keys() | {"usage", "usageMetadata"}
    assert folded.reason.word == whole.reason.word
    assert folded.usage.input_tokens == whole.usage.input_tokens
    assert folded.usage.output_tokens == whole.usage.output_tokens


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["a", "b", "", "é", 0.0, -0.0, 1.0]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=12,
)


@given(home=json_values, real=json_values)
def test_a_difference_makes_the_one_of_the_other(home: Any, real: Any) -> None:
    operations = json.loads(json.dumps(differences(home, real)))
    assert alike(applied(copy.deepcopy(home), operations), real)


@given(home=json_values, real=json_values, other=json_values)
def test_a_difference_of_something_else_raises_nothing(home: Any, real: Any, other: Any) -> None:
    applied(copy.deepcopy(other), json.loads(json.dumps(differences(home, real))))
    if isinstance(other, list):
        applied(copy.deepcopy(home), other)
