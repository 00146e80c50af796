"""Stored conversations: lists in, lists out; and the gateway, as far as it is known."""

import copy
import json

import pytest

from tests.messages.documents import (
    CHAT_TOOL,
    SIGNATURE,
    Json,
    Q,
    assistant,
    calls,
    chat,
    result,
    text,
    thinking,
    tool,
    use,
    user,
)
from tests.messages.documents import call as chat_call
from tests.messages.hazards import A, C, G, R, U, home, sent, text_of
from translate import DecodeError, Report, convert_answer, convert_messages

LOOP = [Q, assistant(thinking(), text("so"), use(given={"a": 1})), user(result(), text("and?")), assistant(text("17"))]
CHAT = [{"role": "system", "content": "S"}, Q, calls(chat_call(arguments='{"a":1}')), tool(), Q]


@pytest.mark.parametrize("target", [C, R, G, U, "gateway"])
def test_a_list_comes_home_with_the_carry_on_its_first_message(target: str) -> None:
    before = copy.deepcopy(LOOP)
    kept = convert_messages(LOOP, A, target)
    assert isinstance(kept, list)
    assert kept[0]["carry"]["v"] == 1
    assert json.dumps(convert_messages(kept, target, A)) == json.dumps(LOOP)
    assert before == LOOP


@pytest.mark.parametrize("target", [A, R, G, U, "gateway"])
def test_instructions_stay_in_the_list(target: str) -> None:
    report = Report()
    said = convert_messages(CHAT, C, target, loss="drop", report=report)
    assert ">S<" in text_of(said) or '"S"' in text_of(said)
    assert "max_tokens" not in [found.field for found in report.guesses]
    assert convert_messages(convert_messages(CHAT, C, target), target, C) == CHAT


def test_a_conversation_that_the_assistant_ends_is_kept_whole() -> None:
    assert convert_messages(LOOP, A, C, loss="drop")[-1] == {"role": "assistant", "content": "17"}


def test_a_list_to_its_own_format_is_unchanged() -> None:
    assert convert_messages(LOOP, A, A) == LOOP
    assert convert_messages([], A, C) == []


def test_what_is_no_list_is_refused() -> None:
    with pytest.raises(DecodeError, match="expected a list"):
        convert_messages({"role": "user"}, A, C)  # type: ignore[arg-type]


def test_a_result_that_only_the_carry_has_comes_home() -> None:
    document = chat(Q, calls(chat_call()), tool(), Q)
    assert home(document, C, "gateway") == document


# ---- the gateway -----------------------------------------------------------------------------------------

GATEWAY: Json = {
    "model": "m",
    "streaming": True,
    "systemPrompt": "Answer in one sentence.",
    "messages": [
        {"type": "user", "value": "q"},
        {"type": "thinking", "value": "hm", "data": {"anthropic.signature": SIGNATURE}},
        {"type": "content", "value": "so"},
        {"type": "toolCall", "value": {"id": "toolu_1", "name": "w", "arguments": '{"a":1}'}},
    ],
    "parameters": {"maxTokens": 1024},
}


def test_a_request_of_the_gateway_is_one_of_anthropic() -> None:
    said = sent(GATEWAY, "gateway", A).said
    assert said == {
        "model": "m",
        "max_tokens": 1024,
        "system": "Answer in one sentence.",
        "messages": [Q, assistant(thinking(value="hm"), text("so"), use(given={"a": 1}))],
        "stream": True,
    }
    assert sent(said, A, "gateway").said == GATEWAY
    assert SIGNATURE not in text_of(sent(GATEWAY, "gateway", C).said)


@pytest.mark.parametrize("target", [A, C, R, G, U])
def test_a_request_of_the_gateway_comes_home(target: str) -> None:
    assert home(GATEWAY, "gateway", target) == GATEWAY


def test_what_the_gateway_has_no_words_for_is_told() -> None:
    told = sent(chat(Q, calls(chat_call()), tool(), tools=[CHAT_TOOL]), C, "gateway")
    assert told.paths("content") == ["messages[2]"]
    assert told.paths("control") == ["tools[0]"]


def test_an_answer_of_the_gateway_goes_both_ways() -> None:
    usage = {"provider": "anthropic", "inputTokens": 24, "outputTokens": 3, "finishReason": "stop"}
    whole = {"success": True, "code": 200, "value": {"messages": GATEWAY["messages"][1:3], "usage": usage}}
    said = convert_answer(whole, "gateway", A)
    assert said["content"][0]["signature"] == SIGNATURE
    assert (said["usage"]["input_tokens"], said["stop_reason"]) == (24, "end_turn")
    assert convert_answer(said, A, "gateway") == whole
