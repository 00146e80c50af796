"""Hazards of calls and results, by their numbers: ids, pairs, arguments, order and media."""

import hashlib
import json

import pytest

from tests.messages.documents import (
    PDF,
    PNG,
    TOOL,
    Json,
    Q,
    anthropic,
    assistant,
    call,
    calls,
    chat,
    completion,
    gemini,
    result,
    text,
    tool,
    use,
    user,
)
from tests.messages.hazards import A, C, G, R, U, answered, home, roles, sent, text_of
from translate import ToolArgumentsError, convert_request

TWICE = gemini(
    {"role": "user", "parts": [{"text": "q"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "w", "args": {}}}] * 2},
    {
        "role": "user",
        "parts": [{"functionResponse": {"name": "w", "response": {"result": each}}} for each in ("1", "2")],
    },
)


def test_17_an_id_that_anthropic_refuses_is_spelled_reversibly() -> None:
    whole = completion({"content": None, "tool_calls": [call("functions.w:0")]}, "tool_calls")
    content = answered(whole, C, A, seal="message").said["content"]
    assert content[-1]["id"] == "tsx_ZnVuY3Rpb25zLnc6MA"
    back = sent(anthropic(Q, assistant(*content), user(result("tsx_ZnVuY3Rpb25zLnc6MA"))), A, C).said["messages"]
    assert (back[1]["tool_calls"][0]["id"], back[2]["tool_call_id"]) == ("functions.w:0", "functions.w:0")


def test_18_an_id_that_is_too_long_is_hashed_in_call_and_result_alike() -> None:
    long = "toolu_" + "t" * 39
    said = sent(anthropic(Q, assistant(use(long)), user(result(long))), A, C).said["messages"]
    expected = "tsh_" + hashlib.sha256(long.encode()).hexdigest()[:32]
    assert (said[1]["tool_calls"][0]["id"], said[2]["tool_call_id"]) == (expected, expected)


def test_19_a_repeated_id_is_told_apart_in_order() -> None:
    said = sent(chat(Q, calls(call("w"), call("w")), tool("w", "1"), tool("w", "2")), C, A).said["messages"]
    assert [block["id"] for block in said[1]["content"]] == ["w", "w-2"]
    assert [(block["tool_use_id"], block["content"]) for block in said[2]["content"]] == [("w", "1"), ("w-2", "2")]


def test_20_calls_without_ids_get_made_ones_that_google_never_sees() -> None:
    said = sent(TWICE, G, A).said["messages"]
    assert [block["id"] for block in said[1]["content"]] == ["made_0_w", "made_1_w"]
    assert [block["tool_use_id"] for block in said[2]["content"]] == ["made_0_w", "made_1_w"]
    back = sent({**anthropic(), "messages": said}, A, G).said
    assert "made_" not in text_of(back)


def test_21_a_function_and_its_result_get_one_id() -> None:
    old = {"role": "assistant", "content": None, "function_call": {"name": "w", "arguments": "{}"}}
    said = sent(chat(Q, old, {"role": "function", "name": "w", "content": "r"}), C, A).said["messages"]
    assert said[1]["content"][0]["id"] == said[2]["content"][0]["tool_use_id"] == "made_0_w"


def test_22_two_equal_calls_are_two() -> None:
    said = sent(chat(Q, calls(call("a"), call("b")), tool("a"), tool("b")), C, G).said
    assert [len([*part]) for part in said["contents"][1]["parts"]] == [2, 1]
    assert all("functionCall" in part for part in said["contents"][1]["parts"])


def test_23_results_in_another_order_are_paired_by_id() -> None:
    document = chat(Q, calls(call("a"), call("b")), tool("b", "2"), tool("a", "1"))
    assert sent(document, C, C).said == document
    blocks = sent(document, C, A).said["messages"][2]["content"]
    assert [(block["tool_use_id"], block["content"]) for block in blocks] == [("b", "2"), ("a", "1")]


def test_24_a_result_and_a_text_are_two_messages() -> None:
    assert roles(sent(anthropic(Q, assistant(use()), user(result(), text())), A, C).said)[1:] == [
        *("assistant", "tool", "user"),
    ]


def test_25_the_result_comes_first_which_is_told() -> None:
    told = sent(anthropic(Q, assistant(use()), user(text(), result())), A, C)
    assert roles(told.said) == ["user", "assistant", "tool", "user"]
    assert [found.path for found in told.report.repairs] == ["messages[2].content[1]"]


def test_26_the_results_of_a_step_are_one_message_and_the_users_own_stays() -> None:
    document = chat(Q, calls(call("a"), call("b")), tool("a"), tool("b"), {"role": "user", "content": "and?"})
    said = sent(document, C, A).said["messages"]
    assert [block["type"] for block in said[2]["content"]] == ["tool_result"] * 2
    assert said[3:] == [{"role": "user", "content": "and?"}]


@pytest.mark.parametrize(("content", "words"), [([text(), PNG], "x"), ([PNG], "")], ids=["27", "28"])
def test_27_28_an_image_in_a_result_follows_in_the_users_message(content: list[Json], words: str) -> None:
    said = sent(anthropic(Q, assistant(use()), user(result(content=content))), A, C).said["messages"]
    assert said[2] == {"role": "tool", "tool_call_id": "toolu_1", "content": words}
    assert said[3]["content"] == [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]


def test_28_of_several_results_each_group_is_named() -> None:
    loop = (assistant(use("a"), use("b")), user(result("a", [PNG]), result("b", [PNG])))
    said = sent(anthropic(Q, *loop), A, C).said["messages"][4]["content"]
    assert [part.get("text") for part in said] == ["Result of call a:", None, "Result of call b:", None]


def test_29_a_pdf_in_a_result_is_a_loss_of_content() -> None:
    told = sent(anthropic(Q, assistant(use()), user(result(content=[PDF]))), A, U)
    assert told.paths("content") == ["messages[2].content[0].content[0]"]


def test_30_that_a_result_is_an_error_is_tuning_or_said() -> None:
    document = anthropic(Q, assistant(use()), user(result(is_error=True)))
    told = sent(document, A, C)
    assert told.said["messages"][2]["content"] == "r"
    assert told.paths("tuning") == ["messages[2].content[0]"]
    said = sent(document, A, G).said["contents"][2]["parts"][0]["functionResponse"]
    assert said["response"] == {"error": "r"}
    assert sent(sent(document, A, G).said, G, A, model="m").said["messages"][2]["content"][0]["is_error"] is True


def test_31_a_result_without_content_stays_one() -> None:
    document = anthropic(Q, assistant(use()), user(result(content=None)))
    assert sent(document, A, C).said["messages"][2]["content"] == ""
    assert home(document, A, C) == document


def test_32_an_object_is_the_text_of_a_result() -> None:
    answer = {"functionResponse": {"name": "w", "id": "i", "response": {"temp": 21, "ok": True}}}
    document = gemini(
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "w", "args": {}, "id": "i"}}]},
        {"role": "user", "parts": [answer]},
    )
    assert sent(document, G, A).said["messages"][2]["content"][0]["content"] == '{"temp":21,"ok":true}'
    assert home(document, G, A) == document


def test_33_blank_arguments_are_an_empty_object_and_come_home_blank() -> None:
    document = chat(Q, calls(call(arguments="")), tool())
    assert sent(document, C, A).said["messages"][1]["content"][0]["input"] == {}
    assert home(document, C, A) == document


def test_34_integers_are_exact_and_fractions_keep_their_spelling() -> None:
    document = chat(Q, calls(call(arguments='{"n":12345678901234567890123,"x":1.0,"y":1e2}')), tool())
    assert sent(document, C, A).said["messages"][1]["content"][0]["input"]["n"] == 12345678901234567890123
    said = convert_request(json.dumps(document).encode(), C, A, loss="drop")
    assert b'{"n":12345678901234567890123,"x":1.0,"y":1e2}' in said


@pytest.mark.parametrize("target", [A, G, U])
def test_35_a_call_that_was_cut_is_refused(target: str) -> None:
    with pytest.raises(ToolArgumentsError) as caught:
        sent(chat(Q, calls(call(arguments='{"a":')), tool()), C, target)
    assert caught.value.path == "messages[1].tool_calls[0]"


def test_36_of_two_members_of_one_name_the_last_counts_and_the_text_comes_home() -> None:
    document = chat(Q, calls(call(arguments='{"k":1,"k":2}')), tool())
    assert sent(document, C, A).said["messages"][1]["content"][0]["input"] == {"k": 2}
    assert home(document, C, A) == document


def test_37_text_after_a_call_comes_before_it_and_goes_home_behind() -> None:
    document = anthropic(Q, assistant(use(), text()), user(result()))
    told = sent(document, A, C)
    assert told.said["messages"][1]["content"] == "x"
    assert [found.path for found in told.report.repairs] == ["messages[1].content[1]"]
    assert home(document, A, C) == document


def test_61_a_tool_of_free_text_takes_one_text() -> None:
    tools = [{"type": "custom", "custom": {"name": "w"}}]
    custom = {"id": "a", "type": "custom", "custom": {"name": "w", "input": 'say "hi"'}}
    document = chat(Q, calls(custom), tool(), tools=tools)
    said = sent(document, C, A).said
    assert list(said["tools"][0]["input_schema"]["properties"]) == ["input"]
    assert said["messages"][1]["content"][0]["input"] == {"input": 'say "hi"'}
    items = sent(document, C, R).said["input"]
    assert items[1] == {"type": "custom_tool_call", "call_id": "a", "name": "w", "input": 'say "hi"'}
    assert items[2]["type"] == "custom_tool_call_output"
    assert home(document, C, A) == document


def test_64_no_tool_is_made_up_for_calls_of_the_past() -> None:
    assert "tools" not in sent(chat(Q, calls(call()), tool()), C, A).said


def test_65_a_long_name_is_the_same_everywhere() -> None:
    long = "n" * 90
    short = "n" * 52 + "_" + hashlib.sha256(long.encode()).hexdigest()[:8]
    choice = {"type": "tool", "name": long}
    tools = [{**TOOL, "name": long}]
    said = sent(anthropic(Q, assistant(use(name=long)), user(result()), tools=tools, tool_choice=choice), A, C).said
    assert said["tools"][0]["function"]["name"] == short
    assert said["messages"][1]["tool_calls"][0]["function"]["name"] == short
    assert said["tool_choice"]["function"]["name"] == short


def test_87_a_result_of_gemini_has_no_name_in_chat() -> None:
    said = sent(TWICE, G, C).said["messages"]
    assert [set(message) for message in said[2:]] == [{"role", "tool_call_id", "content"}] * 2


def test_88_all_text_of_a_result_is_in_the_response_of_gemini() -> None:
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "two2"}}
    said = sent(anthropic(Q, assistant(use()), user(result(content=[text("one1"), document]))), A, G).said
    answer = said["contents"][2]["parts"][0]["functionResponse"]
    assert answer["response"] == {"result": "one1\ntwo2"}
    assert "parts" not in answer


@pytest.mark.parametrize("target", [C, R, G, U])
def test_85_a_longer_conversation_begins_as_the_shorter_one(target: str) -> None:
    loop = [
        Q,
        assistant(text("one"), use("w.1"), use("w.1")),
        user(result("w.1", "1"), result("w.1", [PNG]), text("go on")),
        assistant(use("w.1", "n" * 200)),
        user(result("w.1")),
        assistant(text("done")),
        Q,
    ]
    whole = anthropic(*loop, system="s", tools=[TOOL])
    listed = {C: "messages", R: "input", G: "contents", U: "messages"}[target]
    longest = sent(whole, A, target, strict=False).said[listed]
    for n in (1, 3, 5, 7):
        said = sent({**whole, "messages": loop[:n]}, A, target, strict=False).said[listed]
        assert text_of(longest[: len(said)]) == text_of(said)
