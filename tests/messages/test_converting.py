"""The way of a document: identity, the carry, its yielding, and what is told."""

import copy
import json

import pytest

from tests.messages.documents import (
    CHAT_TOOL,
    SIGNATURE,
    TOOL,
    Q,
    anthropic,
    assistant,
    calls,
    chat,
    completion,
    message,
    result,
    text,
    thinking,
    tool,
    use,
    user,
)
from tests.messages.documents import call as chat_call
from translate import (
    DecodeError,
    LossError,
    Report,
    RequestError,
    ToolArgumentsError,
    UnsupportedFormat,
    convert_answer,
    convert_request,
    decode_request,
    encode_request,
)

LOOP = anthropic(
    Q,
    assistant(thinking(), text("let me see"), use(given={"city": "Paris", "n": 1.0})),
    user(result(content=[text("17")], is_error=True), text("and?")),
    system=[text("one"), {**text("two"), "cache_control": {"type": "ephemeral"}}],
    tools=[TOOL],
    tool_choice={"type": "auto", "disable_parallel_tool_use": True},
    later={"unknown": ["member"]},
)


def test_a_request_comes_home_with_its_carry_alone() -> None:
    kept = convert_request(LOOP, "anthropic", "openai-chat")
    assert kept["carry"]["v"] == 1
    home = convert_request(kept, "openai-chat", "anthropic")
    assert json.dumps(home) == json.dumps(LOOP)


def test_what_is_sent_is_what_stands_beside_the_carry() -> None:
    kept = convert_request(LOOP, "anthropic", "openai-chat")
    del kept["carry"]
    assert convert_request(LOOP, "anthropic", "openai-chat", loss="drop") == kept


def test_an_edit_after_the_translation_wins_over_the_carry() -> None:
    kept = convert_request(LOOP, "anthropic", "openai-chat")
    kept["messages"][-1]["content"] = "and tomorrow?"
    home = convert_request(kept, "openai-chat", "anthropic")
    assert home["messages"][-1]["content"] == "and tomorrow?"
    assert home["messages"][1]["content"][0] == thinking()


def test_a_message_more_leaves_the_others_to_the_carry() -> None:
    kept = convert_request(LOOP, "anthropic", "openai-chat")
    kept["messages"].append({"role": "assistant", "content": "17 degrees"})
    home = convert_request(kept, "openai-chat", "anthropic")
    assert home["messages"][:3] == LOOP["messages"]
    assert home["messages"][3:] == [{"role": "assistant", "content": "17 degrees"}]


def test_a_format_to_itself_changes_nothing_and_no_input_is_touched() -> None:
    before = copy.deepcopy(LOOP)
    assert convert_request(LOOP, "anthropic", "anthropic") == LOOP
    convert_request(LOOP, "anthropic", "openai-chat")
    assert before == LOOP


def test_what_a_carry_holds_of_another_codec_goes_home_through_it() -> None:
    kept = convert_request(LOOP, "anthropic", "openai-chat")
    again = convert_request(convert_request(kept, "openai-chat", "openai-chat"), "openai-chat", "anthropic")
    assert again == LOOP


@pytest.mark.parametrize("carry", [1, {}, {"v": 2, "anthropic": [[["model"], "", "x"]]}, {"v": 1, "anthropic": 7}])
def test_a_carry_that_is_none_changes_nothing(carry: object) -> None:
    said = convert_request(chat(carry=carry), "openai-chat", "anthropic", loss="drop")
    assert said["messages"] == [Q]
    assert said["model"] == "m"


@pytest.mark.parametrize(
    "operation",
    [
        *([], ["x"], [["model"]], [[], ""], [["messages", 9, "x"], "", 1]),
        *([["messages"], "x", [], "a", 2], [[1.5], "", 2], [7, ""]),
    ],
)
def test_an_operation_that_is_none_is_passed_over(operation: object) -> None:
    kept = chat(carry={"v": 1, "anthropic": [operation]})
    assert convert_request(kept, "openai-chat", "anthropic")["messages"] == [Q]


def test_bytes_give_bytes_and_numbers_keep_their_spelling() -> None:
    arguments = '{"n":12345678901234567890123,"x":1.0,"y":1e2}'
    body = json.dumps(chat(Q, calls(chat_call(arguments=arguments)), tool())).encode()
    said = convert_request(body, "openai-chat", "anthropic", loss="drop")
    assert b'"input":{"n":12345678901234567890123,"x":1.0,"y":1e2}' in said


def test_a_report_says_class_path_and_reason() -> None:
    report = Report()
    convert_request(LOOP, "anthropic", "openai-chat", loss="drop", report=report)
    told = {(found.kind, found.path) for found in report.losses}
    assert told >= {
        ("state", "messages[1].content[0]"),
        ("tuning", "messages[2].content[0]"),
        ("tuning", "system[1]"),
        ("incidental", "later"),
    }
    assert SIGNATURE not in str(report)


def test_loss_raise_stops_at_content_and_control_alone() -> None:
    convert_request(LOOP, "anthropic", "openai-chat", loss="raise")
    search = {"type": "web_search_20260209", "name": "web_search"}
    with pytest.raises(LossError, match=r"^tools\[0\]: ") as caught:
        convert_request(anthropic(tools=[search]), "anthropic", "openai-chat", loss="raise")
    assert caught.value.path == "tools[0]"


def test_errors_name_the_path() -> None:
    with pytest.raises(DecodeError, match=r"^messages\[0\]\.content\[1\]: found null; expected an object"):
        convert_request(anthropic(user(text(), None)), "anthropic", "openai-chat")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match=r"^messages\[1\]\.content\[0\]: a call without its result") as caught:
        convert_request(anthropic(Q, assistant(use()), Q), "anthropic", "openai-chat")
    assert caught.value.code == 400
    with pytest.raises(ToolArgumentsError, match=r"^messages\[1\]\.tool_calls\[0\]: ") as cut:
        convert_request(chat(Q, calls(chat_call(arguments='{"a":')), tool()), "openai-chat", "anthropic")
    assert cut.value.path == "messages[1].tool_calls[0]"


def test_lenient_mode_passes_calls_without_results_on() -> None:
    said = convert_request(anthropic(Q, assistant(use()), Q), "anthropic", "openai-chat", strict=False)
    assert [each["role"] for each in said["messages"]] == ["user", "assistant", "user"]


def test_a_format_without_requests_says_so() -> None:
    with pytest.raises(UnsupportedFormat, match="'events' has no requests"):
        convert_request(chat(), "openai-chat", "events")
    with pytest.raises(UnsupportedFormat):
        convert_request(chat(), "openai-chat", "anthropic-sse")


def test_a_decoded_request_is_encoded_again() -> None:
    request = decode_request(LOOP, "anthropic")
    assert [turn.role for turn in request.turns] == ["system", "user", "assistant", "user"]
    assert encode_request(request, "anthropic") == {**LOOP, "messages": LOOP["messages"]} | {
        "messages": [
            Q,
            LOOP["messages"][1],
            user({**result(content="17"), "is_error": True}, text("and?")),
        ]
    }


def test_an_answer_comes_home_and_keeps_its_sums() -> None:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 5, "service_tier": "standard"}
    whole = message(thinking(), text("hello"), use(given={"a": 1}), reason="tool_use", usage=usage)
    kept = convert_answer(whole, "anthropic", "openai-chat")
    assert kept["choices"][0]["finish_reason"] == "tool_calls"
    assert kept["usage"]["prompt_tokens"] == 7
    assert convert_answer(kept, "openai-chat", "anthropic") == whole


def test_what_an_answer_says_in_several_choices_is_no_answer() -> None:
    two = completion()
    two["choices"] *= 2
    with pytest.raises(DecodeError, match=r"^choices: there are 2"):
        convert_answer(two, "openai-chat", "anthropic")


def test_a_tool_of_chat_is_offered_with_its_schema_as_it_is() -> None:
    said = convert_request(chat(tools=[CHAT_TOOL]), "openai-chat", "anthropic", loss="drop")
    assert said["tools"] == [TOOL]
