"""One call between a client of one format and a server of another."""

import json
from typing import Any

import pytest

from tests.messages.documents import (
    CHAT_TOOL,
    TOOL,
    Json,
    Q,
    anthropic,
    assistant,
    call,
    chat,
    completion,
    generated,
    message,
    response,
    text,
    use,
    user,
)
from tests.messages.hazards import sent
from tests.messages.test_hazards_state import handed_back
from translate import Exchange, RequestError, TranslateError, convert, encode_answer, fold
from translate import decode as decode_stream


def body(document: Json) -> bytes:
    return json.dumps(document).encode()


def asked(exchange: Exchange, document: Json, path: str = "/v1/messages", **headers: str) -> tuple[str, Any, Any]:
    path, sent, said = exchange.request(path, headers, body(document))
    return path, sent, json.loads(said)


def test_a_call_of_claudes_client_to_a_server_of_chat() -> None:
    exchange = Exchange("anthropic", "openai-chat", model_map={"claude-*": "gpt-9"})
    headers = {"x-api-key": "k", "user-agent": "sdk", "anthropic-version": "2023-06-01", "anthropic-beta": "b"}
    path, sent, said = exchange.request("/v1/messages?beta=true", headers, body({**anthropic(), "model": "claude-1"}))
    assert path == "/v1/chat/completions"
    assert sent == {"user-agent": "sdk", "content-type": "application/json", "authorization": "Bearer k"}
    document = json.loads(said)
    assert (document["model"], document["stream"], "carry" in document) == ("gpt-9", False, False)
    status, more, answer = exchange.answer(200, {}, body({**completion(), "model": "gpt-9-2026"}))
    assert (status, more["x-translate-model"]) == (200, "gpt-9-2026")
    assert more["x-translate-loss"].startswith("content=0 control=0 ")
    assert json.loads(answer)["model"] == "claude-1"
    assert json.loads(answer)["content"] == [text()]


def test_names_and_kinds_of_tools_come_back_as_they_were_asked() -> None:
    long = "n" * 90
    exchange = Exchange("anthropic", "openai-chat")
    _, _, said = asked(exchange, anthropic(tools=[{**TOOL, "name": long}]))
    written = said["tools"][0]["function"]["name"]
    assert len(written) <= 64
    reply = completion({"content": None, "tool_calls": [call(name=written)]}, "tool_calls")
    assert json.loads(exchange.answer(200, {}, body(reply))[2])["content"][0]["name"] == long
    free = Exchange("openai-chat", "anthropic")
    asked(free, chat(tools=[{"type": "custom", "custom": {"name": "w"}}]))
    whole = message(use(given={"input": "free text"}), reason="tool_use")
    entry = json.loads(free.answer(200, {}, body(whole))[2])["choices"][0]["message"]["tool_calls"][0]
    assert (entry["type"], entry["custom"]) == ("custom", {"name": "w", "input": "free text"})


def test_a_model_in_the_path_goes_there_and_back() -> None:
    exchange = Exchange("gemini", "anthropic")
    document = {"contents": [{"parts": [{"text": "q"}]}]}
    path, _, said = asked(exchange, document, "/v1beta/models/gemini-3:streamGenerateContent?alt=sse&key=k")
    assert (path, said["model"], said["stream"], exchange.streams) == ("/v1/messages", "gemini-3", True, True)
    back = Exchange("anthropic", "gemini")
    path, headers, said = asked(back, {**anthropic(), "model": "g/3"}, **{"x-api-key": "k"})
    assert (path, headers["x-goog-api-key"]) == ("/v1beta/models/g/3:generateContent", "k")
    assert "model" not in said


def test_one_format_on_both_sides_is_passed_on() -> None:
    exchange = Exchange("anthropic", "anthropic", model_map={"*": "claude-2"})
    document = anthropic(new={"a": 1})
    path, headers, said = asked(exchange, document, **{"anthropic-beta": "b", "x-api-key": "k"})
    assert (path, headers["anthropic-beta"]) == ("/v1/messages", "b")
    assert said == {**document, "model": "claude-2"}
    reply = message(text(), model="claude-2", later=[1])
    assert json.loads(exchange.answer(200, {}, body(reply))[2]) == {**reply, "model": "m"}


SOUND = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (chat({"role": "user", "content": [SOUND]}), r"messages\[0\]\.content\[0\]"),
        (chat(n=2), "n"),
        (
            chat(
                tools=[CHAT_TOOL, {"type": "other:search"}],
                tool_choice={"type": "function", "function": {"name": "search"}},
            ),
            "tool_choice",
        ),
    ],
    ids=["content", "candidates", "choice"],
)
def test_what_cannot_be_asked_is_refused_before_the_call(document: Json, path: str) -> None:
    exchange = Exchange("openai-chat", "anthropic")
    with pytest.raises(RequestError, match=f"^{path}: ") as caught:
        exchange.request("/v1/chat/completions", {}, body(document))
    status, _, said = exchange.error(caught.value)
    assert status == 400
    assert json.loads(said)["error"]["type"] == "invalid_request_error"
    assert json.loads(said)["error"]["message"].startswith(caught.value.path or "?")


def test_errors_of_the_server_are_said_in_the_clients_words() -> None:
    exchange = Exchange("anthropic", "openai-chat")
    asked(exchange, anthropic())
    error = {"error": {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}
    status, headers, said = exchange.answer(429, {"Retry-After": "3", "x-request-id": "r"}, body(error))
    assert (status, headers["retry-after"], headers["request-id"]) == (429, "3", "r")
    assert json.loads(said)["error"] == {"type": "rate_limit_error", "message": "slow down"}
    assert exchange.answer(200, {}, body({"error": {"message": "boom"}}))[0] == 502
    assert exchange.answer(502, {}, b"<html>")[0] == 502
    assert exchange.error(ConnectionError("secret host"))[0] == 502
    assert b"secret" not in exchange.error(ConnectionError("secret host"))[2]


def test_a_body_that_is_no_request_is_the_clients_fault() -> None:
    for wrong in (b"{", b"[]", body({"model": "m", "messages": [{"role": "user", "content": 7}]})):
        exchange = Exchange("anthropic", "openai-chat")
        with pytest.raises(TranslateError) as caught:
            exchange.request("/v1/messages", {}, wrong)
        assert exchange.error(caught.value)[0] == 400


def test_a_carry_never_goes_to_a_server() -> None:
    with pytest.raises(ValueError, match="never goes to a server"):
        Exchange("anthropic", "openai-chat", loss="carry")  # type: ignore[arg-type]


def streamed(document: Json, format: str) -> bytes:
    from translate import decode_answer, encode, unfold

    return b"".join(encode(unfold(decode_answer(document, format)), f"{format}-sse", clock=lambda: 1))


def test_a_stream_is_said_in_the_clients_words_and_names() -> None:
    long = "n" * 90
    exchange = Exchange("anthropic", "openai-chat")
    _, _, said = asked(exchange, anthropic(tools=[{**TOOL, "name": long}], stream=True))
    assert (said["stream"], said["stream_options"]) == (True, {"include_usage": True})
    written = said["tools"][0]["function"]["name"]
    reply = completion({"content": "hi", "tool_calls": [call(name=written, arguments='{"a":1}')]}, "tool_calls")
    stream = exchange.stream(clock=lambda: 1)
    data = streamed(reply, "openai-chat")
    out = b"".join(piece for i in range(0, len(data), 7) for piece in stream.feed(data[i : i + 7]))
    out += b"".join(stream.close())
    answer = fold(decode_stream([out], "anthropic-sse"))
    assert [part.name for part in answer.parts if part.kind == "tool_call"] == [long]
    assert answer.model.name == "m"
    assert answer.usage.input_tokens == 10


WHOLES = {
    "anthropic": message(
        {"type": "thinking", "thinking": "hm", "signature": "T1BBUVVFLTE="},
        text("so"),
        {"type": "thinking", "thinking": "", "signature": "T1BBUVVFLTI="},
        use(given={"a": 1}),
        reason="tool_use",
    ),
    "openai-responses": response(
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "T1BBUVVFLTE="},
        {"type": "function_call", "id": "fc", "call_id": "toolu_1", "name": "w", "arguments": '{"a":1}'},
    ),
    "gemini": generated(
        {"text": "hm", "thought": True, "thoughtSignature": "T1BBUVVFLTE="},
        {"text": "so", "thoughtSignature": "T1BBUVVFLTM="},
        {"functionCall": {"id": "toolu_1", "name": "w", "args": {"a": 1}}, "thoughtSignature": "T1BBUVVFLTI="},
    ),
    "openai-chat": completion({"reasoning_content": "RRRR"}),
}


@pytest.mark.parametrize("client", ["anthropic", "openai-chat", "openai-responses", "gemini", "unievent"])
@pytest.mark.parametrize("server", [*WHOLES])
def test_states_of_a_stream_come_home_as_those_of_a_whole_answer(client: str, server: str) -> None:
    if client == server:
        pytest.skip("nothing is translated")
    exchange = Exchange(client, server)
    stream = exchange.stream(clock=lambda: 1)
    out = b"".join([*stream.feed(streamed(WHOLES[server], server)), *stream.close()])
    answer = fold(decode_stream([out], f"{client}-sse"))
    handed = handed_back(encode_answer(answer, client, seal="off"), client)
    whole = handed_back(json.loads(Exchange(client, server).answer(200, {}, body(WHOLES[server]))[2]), client)
    through = [sent(each, client, server, profile={"trust_unknown": True}).said for each in (handed, whole)]
    assert through[0] == through[1]
    opaque = [f"T1BBUVVFLT{c}=" for c in "123" if f"T1BBUVVFLT{c}=" in json.dumps(WHOLES[server])]
    assert [each for each in opaque if each in json.dumps(through[0])] == opaque


def test_counts_are_kept_from_a_client_that_did_not_ask() -> None:
    for options, wanted in (({}, False), ({"stream_options": {"include_usage": True}}, True)):
        exchange = Exchange("openai-chat", "anthropic")
        exchange.request("/v1/chat/completions", {}, body(chat(stream=True, **options)))
        stream = exchange.stream(clock=lambda: 1)
        out = b"".join([*stream.feed(streamed(message(text()), "anthropic")), *stream.close()])
        units = [*convert([out], "openai-chat-sse", "openai-chat", loss="drop")]
        assert any(unit.get("usage") for unit in units) is wanted


def test_a_server_that_only_streams_gives_a_whole_answer() -> None:
    exchange = Exchange("anthropic", "unievent")
    path, _, document = asked(exchange, anthropic(user(text())))
    assert (path, document["messages"][0]["role"]) == ("/v1/stream", "user")
    said = streamed(message(text("hello")), "anthropic")
    data = b"".join(convert([said], "anthropic-sse", "unievent-sse", loss="drop"))
    status, _, answer = exchange.answer(200, {"content-type": "text/event-stream; charset=utf-8"}, data)
    assert (status, json.loads(answer)["content"]) == (200, [text("hello")])


def test_three_turns_with_thinking_calls_and_state() -> None:
    """The state of the first answer comes home with the third request."""
    first = Exchange("openai-chat", "anthropic")
    first.request("/v1/chat/completions", {}, body(chat(tools=[CHAT_TOOL])))
    block = {"type": "thinking", "thinking": "hm", "signature": "SIG+/=="}
    reply = json.loads(first.answer(200, {}, body(message(block, use(given={"a": 1}), reason="tool_use")))[2])
    said = reply["choices"][0]["message"]
    assert reply["choices"][0]["finish_reason"] == "tool_calls"
    second = Exchange("openai-chat", "anthropic")
    history = [Q, said, {"role": "tool", "tool_call_id": said["tool_calls"][0]["id"], "content": "r"}]
    _, _, sent = asked(second, chat(*history, tools=[CHAT_TOOL]), "/v1/chat/completions")
    assert sent["messages"][1] == assistant(block, use(given={"a": 1}))
    last = json.loads(second.answer(200, {}, body(message(text("17 degrees"))))[2])["choices"][0]["message"]
    third = Exchange("openai-chat", "anthropic")
    _, _, longer = asked(third, chat(*history, last, Q, tools=[CHAT_TOOL]), "/v1/chat/completions")
    assert longer["messages"][: len(sent["messages"])] == sent["messages"]
