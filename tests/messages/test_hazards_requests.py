"""Hazards of messages, settings, tools and media in requests, by their numbers."""

from typing import Any

import pytest

from tests.messages.documents import (
    CHAT_TOOL,
    PNG,
    TOOL,
    Json,
    Q,
    anthropic,
    assistant,
    call,
    calls,
    chat,
    gemini,
    responses,
    text,
    thinking,
    tool,
    unievent,
    user,
)
from tests.messages.hazards import A, C, G, R, U, home, roles, sent, text_of
from translate import DecodeError, LossError, RequestError, convert_request

CLOSED: Json = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
SEARCH: Json = {"type": "web_search_20260209", "name": "web_search"}


def test_38_one_text_stays_one_and_two_blocks_stay_two() -> None:
    for system in ("one", [text("one"), text("two")]):
        document = anthropic(Q, system=system)
        assert home(document, A, C) == document
    assert sent(anthropic(Q, system=[text("one"), text("two")]), A, U).said["config"]["system_prompt"] == "one\n\ntwo"


LATE = chat(Q, {"role": "assistant", "content": "b"}, {"role": "system", "content": "LATE"}, Q)


def test_39_late_instructions_never_move_to_the_top() -> None:
    said = sent(LATE, C, A).said
    assert "system" not in said
    assert roles(said) == ["user", "assistant", "user", "system"]
    plain = sent(LATE, C, A, profile={"mid_system": False}).said
    assert plain["messages"][2]["content"] == [text("q"), text("<system>LATE</system>")]
    alone = sent(chat(Q, {"role": "assistant", "content": "b"}, {"role": "system", "content": "LATE"}), C, A).said
    assert alone["messages"][2] == {"role": "user", "content": [text("<system>LATE</system>")]}
    for target in (G, U):
        assert "<system>LATE</system>" in text_of(sent(LATE, C, target).said)


def test_40_a_developer_is_the_system_where_there_is_none() -> None:
    document = chat({"role": "developer", "content": "D"}, Q)
    told = sent(document, C, C, profile="openai-compatible")
    assert roles(told.said) == ["system", "user"]
    assert told.report.repairs
    assert sent(document, C, A).said["system"] == "D"
    assert home(document, C, A) == document


def test_41_no_user_is_made_up() -> None:
    assert roles(sent(chat({"role": "assistant", "content": "hi"}, Q), C, A).said) == ["assistant", "user"]


def test_42_two_messages_stay_two() -> None:
    assert sent(anthropic(Q, Q), A, C).said["messages"] == [Q, Q]


def test_43_no_empty_text_block_is_written() -> None:
    said = sent(chat(Q, calls(call(), content=""), tool()), C, A)
    assert [block["type"] for block in said.said["messages"][1]["content"]] == ["tool_use"]
    assert said.report.repairs


def test_44_a_refusal_does_not_vanish() -> None:
    said = sent(chat(Q, {"role": "assistant", "content": None, "refusal": "no"}, Q), C, A).said
    assert said["messages"][1] == {"role": "assistant", "content": "no"}


def test_45_a_turn_of_foreign_thinking_alone_is_left_out() -> None:
    told = sent(anthropic(Q, assistant(thinking()), Q), A, C)
    assert roles(told.said) == ["user", "user"]
    assert "messages[1]" in [found.path for found in told.report.repairs]


def test_46_a_prefill_is_kept_at_home_and_a_loss_of_content_elsewhere() -> None:
    document = anthropic(Q, {"role": "assistant", "content": "The answer is ( "})
    assert sent(document, A, A).said == document
    assert sent(document, A, C).paths("content") == ["messages[1]"]
    with pytest.raises(LossError):
        convert_request(document, A, C, loss="raise")
    kept = sent(document, A, C, profile="openai-compatible").said
    assert kept["messages"][1]["content"] == "The answer is ( "


def test_47_a_bound_is_a_guess_where_none_was_given() -> None:
    assert sent(chat(max_tokens=7), C, A).said["max_tokens"] == 7
    told = sent(chat(), C, A)
    assert told.said["max_tokens"] == 8192
    assert [found.field for found in told.report.guesses] == ["max_tokens"]


def test_48_of_two_bounds_the_first_counts() -> None:
    told = sent(chat(max_tokens=9, max_completion_tokens=7), C, A)
    assert told.said["max_tokens"] == 7


def test_49_a_budget_is_an_effort_and_comes_home_as_it_was() -> None:
    document = anthropic(thinking={"type": "enabled", "budget_tokens": 10000}, max_tokens=20000)
    told = sent(document, A, C)
    assert told.said["reasoning_effort"] == "medium"
    assert [found.path for found in told.report.guesses] == ["thinking.budget_tokens"]
    assert home(document, A, C) == document


def test_50_a_budget_stays_below_the_bound_which_is_not_raised() -> None:
    profile = {"thinking_styles": ["enabled", "disabled"]}
    said = sent(chat(reasoning_effort="high", max_tokens=2000), C, A, profile=profile).said
    assert (said["thinking"], said["max_tokens"]) == ({"type": "enabled", "budget_tokens": 1999}, 2000)


def test_51_an_effort_goes_to_the_nearest() -> None:
    told = sent(chat(reasoning_effort="minimal"), C, A)
    assert told.said["output_config"] == {"effort": "low"}
    assert told.said["thinking"] == {"type": "adaptive"}
    assert "effort" in [found.field for found in told.report.guesses]
    assert "output_config" not in sent(chat(reasoning_effort="default"), C, A).said


def test_52_a_temperature_is_within_bounds() -> None:
    told = sent(chat(temperature=1.5), C, A)
    assert told.said["temperature"] == 1
    assert told.report.repairs
    bare = sent(chat(temperature=0.5), C, A, profile={"sampling": []})
    assert "temperature" not in bare.said
    assert bare.paths("tuning") == ["temperature"]


def test_53_words_to_stop_at() -> None:
    assert sent(chat(stop="X"), C, A).said["stop_sequences"] == ["X"]
    assert home(chat(stop="X"), C, A) == chat(stop="X")
    told = sent(anthropic(stop_sequences=list("abcde")), A, C)
    assert told.said["stop"] == list("abcd")
    assert told.paths("control") == ["stop_sequences"]


def test_55_several_answers_are_a_loss_of_control() -> None:
    assert sent(chat(n=2), C, A).paths("control") == ["n"]


def test_56_57_a_schema_of_the_answer_is_untouched() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "nnnn", "strict": True, "schema": CLOSED}}
    told = sent(chat(response_format=form), C, A)
    assert told.said["output_config"]["format"] == {"type": "json_schema", "schema": CLOSED}
    assert "response_format.json_schema.name" in told.paths("incidental")
    back = sent(anthropic(output_config={"format": {"type": "json_schema", "schema": CLOSED}}), A, C).said
    assert back["response_format"]["json_schema"] == {"name": "output", "schema": CLOSED}
    strict = {"name": "w", "input_schema": CLOSED, "strict": True}
    told = sent(anthropic(tools=[strict]), A, C)
    assert told.said["tools"][0]["function"]["strict"] is False
    assert [found.path for found in told.report.repairs] == ["tools[0]"]


def test_58_59_schemas_of_gemini() -> None:
    refs = {"type": "object", "$defs": {"x": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/x"}}}
    declared = sent(anthropic(tools=[{"name": "w", "input_schema": refs}]), A, G).said["tools"][0]
    assert declared == {"functionDeclarations": [{"name": "w", "parametersJsonSchema": refs}]}
    own = {"type": "OBJECT", "properties": {"a": {"type": "STRING", "nullable": True}}}
    document = gemini(tools=[{"functionDeclarations": [{"name": "w", "parameters": own}]}])
    said = sent(document, G, C, model="m").said["tools"][0]["function"]["parameters"]
    assert said == {"type": "object", "properties": {"a": {"type": ["string", "null"]}}}
    assert home(document, G, C) == document


@pytest.mark.parametrize("target", [C, R, G, U])
def test_60_a_tool_of_the_providers_side_is_not_offered_elsewhere(target: str) -> None:
    told = sent(anthropic(tools=[SEARCH]), A, target)
    assert "web_search" not in text_of(told.said)
    assert told.paths("control") == ["tools[0]"]


@pytest.mark.parametrize("target", [C, R, G, U])
def test_62_a_choice_of_a_lost_tool_is_told(target: str) -> None:
    choice = {"type": "tool", "name": "web_search"}
    told = sent(anthropic(tools=[SEARCH, TOOL], tool_choice=choice), A, target)
    assert "tool_choice" in told.paths("control")
    assert "toolConfig" not in told.said
    assert "tool_choice" not in told.said


def test_63_one_call_at_a_time() -> None:
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    said = sent(anthropic(tools=[TOOL], tool_choice=choice), A, C).said
    assert (said["tool_choice"], said["parallel_tool_calls"]) == ("auto", False)
    back = sent(chat(tools=[CHAT_TOOL], parallel_tool_calls=False), C, A).said
    assert back["tool_choice"] == choice
    assert "tool_choice" in sent(anthropic(tools=[TOOL], tool_choice=choice), A, G).paths("control")


def test_66_a_mark_of_what_is_cached_is_tuning() -> None:
    document = anthropic(user({**text("hello"), "cache_control": {"type": "ephemeral"}}))
    told = sent(document, A, G)
    assert "ephemeral" not in text_of(told.said)
    assert told.paths("tuning") == ["messages[0].content[0]"]
    assert home(document, A, G) == document


@pytest.mark.parametrize("target", [C, R, G, U])
def test_67_a_file_id_is_known_to_its_issuer_alone(target: str) -> None:
    image = {"type": "image", "source": {"type": "file", "file_id": "file_1"}}
    told = sent(anthropic(user(text("see"), image)), A, target)
    assert "file_1" not in text_of(told.said)
    assert told.paths("content") == ["messages[0].content[1]"]


def test_68_audio_is_a_loss_of_content_with_its_path() -> None:
    sound = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    with pytest.raises(LossError, match=r"^messages\[0\]\.content\[0\]: anthropic cannot say audio/wav"):
        convert_request(chat({"role": "user", "content": [sound]}), C, A, loss="raise")
    said = sent(chat({"role": "user", "content": [sound]}), C, G).said["contents"][0]["parts"][0]
    assert said == {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}


def test_69_a_data_url_comes_home_as_it_was_spelled() -> None:
    url = {"url": "data:image/png;charset=x;base64,iVBORw0KGgo="}
    document = chat({"role": "user", "content": [{"type": "image_url", "image_url": url}]})
    assert sent(document, C, A).said["messages"][0]["content"] == [PNG]
    assert home(document, C, A) == document


def test_70_a_user_is_one_and_metadata_are_none() -> None:
    assert sent(anthropic(metadata={"user_id": "u-123"}), A, C).said["user"] == "u-123"
    told = sent(chat(metadata={"k": "m-123"}), C, A)
    assert "m-123" not in text_of(told.said)
    assert told.paths("tuning") == ["metadata"]


@pytest.mark.parametrize(
    "document",
    [
        responses(previous_response_id="resp_0", instructions="i"),
        responses({"type": "item_reference", "id": "msg_1"}, Q),
        responses(conversation="conv_1"),
        responses(background=True),
    ],
    ids=["71", "72", "conversation", "background"],
)
def test_71_72_what_is_stored_elsewhere_is_asked_of_nobody(document: Json) -> None:
    with pytest.raises(RequestError) as caught:
        sent(document, R, C)
    assert caught.value.code == 400
    assert sent(document, R, R).said == document


def test_81_half_a_surrogate_pair_is_escaped_and_never_replaced() -> None:
    body = b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"\\ud83d"}]}'
    assert b'"content":"\\ud83d"' in convert_request(body, A, C, loss="drop")
    assert b'"text":"\\ud83d"' in convert_request(body, A, G, loss="drop")


@pytest.mark.parametrize("target", [C, R, G, U])
def test_82_unknown_members_are_told_and_not_sent(target: str) -> None:
    document = anthropic({**Q, "later": "UNKNOWN1"}, new={"a": "UNKNOWN2"})
    told = sent(document, A, target)
    assert "UNKNOWN" not in text_of(told.said)
    assert {"messages[0].later", "new"} <= {*told.paths("incidental")}
    assert sent(document, A, A).said == document


def test_83_an_older_item_is_read_as_the_newer() -> None:
    document = unievent({"role": "user", "content_items": [{"type": "text", "text": "qqqq"}]})
    assert sent(document, U, C).said["messages"] == [{"role": "user", "content": "qqqq"}]


def test_86_what_the_assistant_said_is_a_bare_text_in_responses() -> None:
    said = sent(anthropic(Q, assistant(text("hello")), Q), A, R).said["input"]
    assert said[1] == {"type": "message", "role": "assistant", "content": "hello"}


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        (A, {"type": "document", "source": {"type": "url", "url": "https://example.com/d.pdf"}, "title": "d.pdf"}),
        (R, {"type": "input_file", "file_url": "https://example.com/d.pdf", "filename": "d.pdf"}),
    ],
)
def test_89_data_that_is_a_link_is_said_as_one(target: str, wanted: Json) -> None:
    file = {"filename": "d.pdf", "file_data": "https://example.com/d.pdf"}
    said = sent(chat({"role": "user", "content": [{"type": "file", "file": file}]}), C, target).said
    listed: list[Any] = said["messages" if target == A else "input"]
    assert listed[0]["content"] == [wanted]


def test_90_bytes_that_are_text_are_decoded_and_others_are_lost() -> None:
    def asks(mime: str) -> Json:
        file = {"type": "input_file", "filename": "f", "file_data": f"data:{mime};base64,YSxiCjEsMg=="}
        return responses({"role": "user", "content": [file]})

    told = sent(asks("text/csv"), R, A)
    assert told.said["messages"][0]["content"][0]["source"]["data"] == "a,b\n1,2"
    assert "inline_data" in [found.field for found in told.report.guesses]
    assert sent(asks("application/msword"), R, A).paths("content") == ["input[0].content[0]"]


def test_91_a_word_of_another_dialect_is_kept_at_home_alone() -> None:
    document = chat(tools=[CHAT_TOOL], tool_choice="any")
    told = sent(document, C, A)
    assert "tool_choice" not in told.said
    assert told.paths("control") == ["tool_choice"]
    assert sent(document, C, C).said == document


def test_93_tools_that_are_no_list_are_refused() -> None:
    with pytest.raises(DecodeError, match=r"^tools: it is no list"):
        sent(gemini(tools={"functionDeclarations": [{"name": "w"}]}), G, C)
