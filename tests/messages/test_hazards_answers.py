"""Hazards of whole answers and error bodies, by their numbers."""

import json

import pytest

from tests.messages.documents import Json, call, completion, generated, message, text
from tests.messages.hazards import A, C, G, R, U, answer_home, answered, text_of
from translate import DecodeError, UpstreamFailure, convert_error, decode_error


def test_54_which_word_was_stopped_at_is_not_guessed() -> None:
    said = answered(completion(), C, A).said
    assert (said["stop_reason"], said["stop_sequence"]) == ("end_turn", None)


@pytest.mark.parametrize("word", ["stop", "tool_calls", "function_call"])
def test_75_calls_are_the_reason_whatever_word_came(word: str) -> None:
    whole = completion({"content": None, "tool_calls": [call()]}, word)
    assert answered(whole, C, A).said["stop_reason"] == "tool_use"
    assert answered(whole, C, U).said["finish_reason"] == "tool_call"
    assert answer_home(whole, C, A) == whole


def test_76_thinking_that_came_twice_is_said_once() -> None:
    whole = completion({"reasoning": "RRRR", "reasoning_content": "RRRR"})
    assert text_of(answered(whole, C, A).said).count("RRRR") == 1
    assert answer_home(whole, C, A) == whole


def test_77_cached_tokens_are_apart_in_anthropic() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    said = answered(completion(usage={**usage, "prompt_tokens_details": {"cached_tokens": 4}}), C, A).said["usage"]
    assert (said["input_tokens"], said["cache_read_input_tokens"], said["output_tokens"]) == (6, 4, 1)


@pytest.mark.parametrize(
    ("src", "status", "dst", "wanted", "kind"),
    [(A, 529, C, 503, "server_error"), (C, 503, A, 529, "overloaded_error"), (C, 429, A, 429, "rate_limit_error")],
)
def test_78_an_overloaded_server_says_so(src: str, status: int, dst: str, wanted: int, kind: str) -> None:
    body: Json = {"error": {"message": "busy", "type": "overloaded_error" if src == A else "server_error"}}
    if status == 429:
        body["error"]["type"] = "rate_limit_error"
    got, headers, said = convert_error(status, {"retry-after": "7"}, body, src, dst)
    assert (got, json.loads(said)["error"]["type"]) == (wanted, kind)
    assert json.loads(said)["error"]["message"] == "busy"
    assert headers["retry-after"] == "7"


def test_78_a_quota_that_is_used_up_is_not_to_be_tried_again() -> None:
    body = {"error": {"message": "no money", "type": "insufficient_quota", "code": "insufficient_quota"}}
    assert convert_error(429, {}, body, C, A)[0] == 402
    error = {"code": 400, "message": "m", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}
    assert convert_error(400, {}, {"error": error}, G, A)[0] == 401


def test_79_an_error_of_status_200_is_one() -> None:
    body = {"error": {"message": "boom", "type": "server_error"}}
    with pytest.raises(UpstreamFailure, match="boom"):
        answered(body, C, A)
    assert convert_error(200, {}, body, C, A)[0] == 502
    assert convert_error(502, {}, b"<html>bad gateway</html>", C, A)[0] == 502


@pytest.mark.parametrize("secret", ["https://up.example/v1?key=1", "sk-abcdefghijklmnopqrst", "tstate1_AAAABBBB"])
def test_80_a_message_names_no_secret(secret: str) -> None:
    failure = decode_error(400, {}, {"error": {"message": f"bad value {secret} here", "type": "x"}}, C)
    assert secret not in failure.message
    assert failure.message.startswith("bad value ")
    assert failure.message.endswith(" here")


@pytest.mark.parametrize("target", [A, C])
def test_94_an_image_in_an_answer_has_a_place_in_some_formats_alone(target: str) -> None:
    whole = generated({"text": "see"}, {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}})
    told = answered(whole, G, target)
    assert told.paths("content") == ["candidates[0].content.parts[1]"]
    assert answer_home(whole, G, target) == whole
    output = answered(whole, G, R).said["output"]
    assert (output[1]["type"], output[1]["result"]) == ("image_generation_call", "iVBORw0KGgo=")
    assert answered(whole, G, U).said["content_items"][1]["type"] == "inline_data.done"


def test_95_counts_that_nobody_knows_are_zero_which_is_a_guess() -> None:
    whole = completion(usage={"tokens": 4})
    told = answered(whole, C, A)
    assert (told.said["usage"]["input_tokens"], told.said["usage"]["output_tokens"]) == (0, 0)
    assert {"input_tokens", "output_tokens"} <= {found.field for found in told.report.guesses}
    assert answer_home(whole, C, A) == whole


def test_96_texts_around_what_is_left_out_stay_their_own() -> None:
    server = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
    whole = message(text("one1"), server, text("two2"))
    assert answered(whole, A, C).said["choices"][0]["message"]["content"] == "one1two2"
    assert answer_home(whole, A, C) == whole
    parts = answered(whole, A, G).said["candidates"][0]["content"]["parts"]
    assert parts == [{"text": "one1"}, {"text": "two2"}]


def test_97_several_choices_or_none_are_no_answer() -> None:
    two = completion()
    two["choices"] *= 2
    for wrong in (two, {**completion(), "choices": [{"index": 0, "finish_reason": "stop"}]}):
        with pytest.raises(DecodeError, match=r"^choices"):
            answered(wrong, C, A)
