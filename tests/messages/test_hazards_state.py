"""Hazards of state, by their numbers: it goes home and nowhere else."""

import json
from base64 import b64decode, b64encode, urlsafe_b64decode
from collections.abc import Callable
from typing import Any

import pytest

from tests.messages.documents import (
    SIGNATURE,
    Json,
    Q,
    anthropic,
    assistant,
    call,
    calls,
    chat,
    completion,
    generated,
    message,
    response,
    responses,
    text,
    thinking,
    tool,
    unievent,
    use,
)
from tests.messages.hazards import A, C, G, R, U, answered, sent, text_of
from translate.messages.envelope import MARK, digest, opened, sealed

GOOGLE = "c2lnbmF0dXJlMTIz"


def held(envelope: str) -> Json:
    return opened(envelope, 1 << 18)


@pytest.mark.parametrize("target", [C, R, G])
def test_1_a_signature_stays_home_with_its_thinking(target: str) -> None:
    told = sent(anthropic(Q, assistant(thinking(value="TTTT"), text()), Q), A, target)
    assert SIGNATURE not in text_of(told.said)
    assert "TTTT" not in text_of(told.said)
    assert told.paths("state") == ["messages[1].content[0]"]


def test_2_at_home_the_block_is_unchanged() -> None:
    document = anthropic(Q, assistant(thinking(), text()), Q)
    assert sent(document, A, A).said == document


def test_3_redacted_thinking_keeps_its_data() -> None:
    block = {"type": "redacted_thinking", "data": SIGNATURE}
    kept = sent(anthropic(Q, assistant(block, text()), Q), A, U).said
    item = kept["messages"][1]["content_items"][0]
    assert item["thinking"] == "_REDACTED_THINKING"
    assert item["fidelity"]["signature"] == SIGNATURE
    assert sent(kept, U, A).said["messages"][1]["content"][0] == block


def test_4_empty_thinking_with_a_signature_is_kept() -> None:
    document = anthropic(Q, assistant(thinking(value=""), text()), Q)
    assert sent(document, A, A).said == document
    kept = sent(document, A, U).said
    assert sent(kept, U, A).said["messages"][1]["content"][0] == thinking(value="")


@pytest.mark.parametrize("signature", ["", None])
def test_5_thinking_without_a_signature_has_no_state(signature: str | None) -> None:
    told = sent(anthropic(Q, assistant(thinking(signature), text()), Q), A, U)
    assert "fidelity" not in text_of(told.said)
    assert "thinking" not in text_of(sent(told.said, U, A).said["messages"])


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_6_reasoning_of_chat_is_no_thinking_of_anthropic(field: str) -> None:
    told = sent(chat(Q, {"role": "assistant", "content": "x", field: "RRRR"}, Q), C, A)
    assert told.said["messages"][1] == {"role": "assistant", "content": "x"}
    assert told.paths("state") == [f"messages[1].{field}"]


def test_7_four_parts_come_home_through_a_client_of_chat() -> None:
    parts = [thinking(SIGNATURE + "1", "one"), text("hello"), thinking(SIGNATURE + "2", "two"), use(given={"a": 1})]
    said = answered(message(*parts, reason="tool_use"), A, C, seal="message").said["choices"][0]["message"]
    assert SIGNATURE not in text_of(said)
    back = sent(chat(Q, said, tool("toolu_1")), C, A).said
    assert back["messages"][1]["content"] == parts


def test_8_a_state_of_changed_text_is_dropped_and_the_text_is_foreign() -> None:
    envelope = sealed({"i": "anthropic", "d": {"signature": SIGNATURE}, "h": digest("a long thought")})
    item = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "..."}]}
    told = sent(responses(Q, {**item, "encrypted_content": envelope}, Q), R, A)
    assert SIGNATURE not in text_of(told.said)
    assert roles_of(told.said) == ["user", "user"]
    assert "state" in told.classes()


def roles_of(document: Json) -> list[str]:
    return [each["role"] for each in document["messages"]]


def test_9_encrypted_content_goes_into_an_envelope() -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "s"}]}
    whole = response({**item, "encrypted_content": SIGNATURE})
    block = answered(whole, R, A, seal="message").said["content"][0]
    assert block["thinking"] == "s"
    assert held(block["signature"])["i"] == "openai"
    back = sent(anthropic(Q, assistant(block, text()), Q), A, R).said["input"]
    assert [each for each in back if each["type"] == "reasoning"] == [{**item, "encrypted_content": SIGNATURE}]


def test_10_a_signature_of_a_call_stands_before_it() -> None:
    part = {"functionCall": {"name": "w", "args": {}}, "thoughtSignature": GOOGLE}
    content = answered(generated(part), G, A, seal="message").said["content"]
    assert [block["type"] for block in content] == ["thinking", "tool_use"]
    assert content[0]["thinking"] == ""
    assert held(content[0]["signature"])["b"] == "next"
    back = sent(anthropic(Q, assistant(*content)), A, G).said["contents"][1]["parts"]
    assert back == [part]


def test_11_a_signature_of_trailing_empty_text_is_its_own() -> None:
    parts = [{"text": "hello"}, {"text": "", "thoughtSignature": GOOGLE}]
    content = answered(generated(*parts), G, A, seal="message").said["content"]
    back = sent(anthropic(Q, assistant(*content), Q), A, G).said["contents"][1]["parts"]
    assert back == parts


def test_12_a_conversation_that_moves_takes_no_state_along() -> None:
    layout = [
        {"k": "thinking", "n": 4, "h": digest("RRRR"), "i": "deepseek", "d": {"reasoning_field": "reasoning_content"}},
        {"k": "text", "n": 1, "h": digest("x")},
    ]
    entry = {"type": "reasoning.encrypted", "format": "tstate-1", "index": 0, "data": sealed({"l": layout})}
    said = {"role": "assistant", "content": "x", "reasoning_content": "RRRR", "reasoning_details": [entry]}
    told = sent(chat(Q, said, Q), C, A)
    assert told.said["messages"] == [Q, {"role": "assistant", "content": "x"}, Q]
    assert "state" in told.classes()
    deepseek = sent(chat(Q, said, Q), C, C, profile={"issuer": "deepseek"}).said
    assert deepseek["messages"][1]["reasoning_content"] == "RRRR"
    assert MARK not in text_of(deepseek)


def test_13_an_envelope_that_was_cut_is_dropped() -> None:
    cut = sealed({"i": "x", "d": {"a": "b" * 99}})[:60]
    told = sent(anthropic(Q, assistant(thinking(cut), text()), Q), A, A)
    assert MARK not in text_of(told.said)
    assert told.said["messages"][1]["content"] == [text()] or told.said["messages"][1]["content"] == "x"
    assert told.paths("state")


def test_14_the_other_alphabet_is_the_same_envelope() -> None:
    members = {"i": "google", "d": {"signature": GOOGLE}, "h": digest("thought"), "m": "~~~???>>>"}
    envelope = sealed(members)
    other = b64encode(urlsafe_b64decode(envelope)).decode()
    assert other != envelope
    assert b64decode(other) == urlsafe_b64decode(envelope)
    told = sent(anthropic(Q, assistant(thinking(other, "thought"), text()), Q), A, G)
    assert told.said["contents"][1]["parts"][0] == {"text": "thought", "thought": True, "thoughtSignature": GOOGLE}


def test_15_in_text_it_is_text() -> None:
    question = {"role": "user", "content": f"what is {MARK}AAAA?"}
    assert sent(anthropic(question), A, C).said["messages"] == [question]


def test_16_a_later_version_is_dropped_and_never_sent() -> None:
    told = sent(anthropic(Q, assistant(thinking("tstate9_AAAABBBB"), text()), Q), A, A)
    assert "tstate9" not in text_of(told.said)
    assert told.paths("state")


def test_73_a_phase_comes_home_through_a_client_of_chat() -> None:
    item: Json = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "final_answer"}
    item["content"] = [{"type": "output_text", "text": "hello", "annotations": []}]
    said = answered(response(item), R, C, seal="message").said["choices"][0]["message"]
    back = sent(chat(Q, said, Q), C, R).said["input"][1]
    assert back == {"type": "message", "role": "assistant", "content": "hello", "phase": "final_answer"}


def test_74_a_signature_in_extra_content_is_googles() -> None:
    entry = {**call(), "extra_content": {"google": {"thought_signature": GOOGLE}}}
    said = sent(chat(Q, calls(entry), tool()), C, G).said
    assert said["contents"][1]["parts"][0]["thoughtSignature"] == GOOGLE


@pytest.mark.parametrize("target", [A, C, R])
def test_84_fidelity_of_an_issuer_goes_to_nobody_else(target: str) -> None:
    item = {"type": "thinking.done", "thinking": "T", "fidelity": {"signature": SIGNATURE, "issuer": "google"}}
    ask = {"role": "user", "content_items": [{"type": "text.done", "text": "q"}]}
    said = {"role": "assistant", "content_items": [item, {"type": "text.done", "text": "x"}]}
    assert SIGNATURE not in text_of(sent(unievent(ask, said, ask), U, target).said)


def test_92_thinking_of_length_zero_is_an_entry() -> None:
    parts = [thinking(value=""), text("hello")]
    said = answered(message(*parts), A, C, seal="message").said["choices"][0]["message"]
    layout: list[Any] = held(said["reasoning_details"][0]["data"])["l"]
    assert layout[0]["n"] == 0
    assert sent(chat(Q, said, Q), C, A).said["messages"][1]["content"] == parts


@pytest.mark.parametrize("client", [A, C, R, G, U])
@pytest.mark.parametrize("server", [A, R, G])
def test_every_state_comes_home_through_every_client(client: str, server: str) -> None:
    whole = {
        A: message(thinking(), text("hello"), use(given={"a": 1}), reason="tool_use"),
        R: response(
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": SIGNATURE},
            {"type": "function_call", "id": "fc", "call_id": "toolu_1", "name": "w", "arguments": '{"a":1}'},
        ),
        G: generated(
            {"text": "hm", "thought": True, "thoughtSignature": GOOGLE},
            {"functionCall": {"id": "toolu_1", "name": "w", "args": {"a": 1}}, "thoughtSignature": GOOGLE},
        ),
    }[server]
    said = answered(whole, server, client, seal="message").said
    makers: dict[str, Callable[[], Json]] = {
        A: lambda: anthropic(Q, assistant(*said["content"])),
        C: lambda: chat(Q, said["choices"][0]["message"]),
        R: lambda: responses(Q, *said["output"]),
        G: lambda: {"contents": [{"role": "user", "parts": [{"text": "q"}]}, said["candidates"][0]["content"]]},
        U: lambda: unievent({"role": "user", "content_items": [{"type": "text.done", "text": "q"}]}, said),
    }
    handed = makers[client]()
    back = json.dumps(sent(handed, client, server).said)
    opaque = SIGNATURE if server != G else GOOGLE
    assert back.count(json.dumps(opaque)) == json.dumps(whole).count(json.dumps(opaque))
    others = {A, R, G} - {client, server}
    for other in others:
        assert opaque not in json.dumps(sent(handed, client, other).said)


def test_chat_answer_is_plain_without_foreign_state() -> None:
    said = answered(completion({"reasoning_content": "r"}), C, C, seal="message").said
    assert MARK not in text_of(said)
