"""One call by an exchange: what the server is sent, what the client gets, and that state comes home."""

import json
from typing import Any

import pytest

from tests.messages.documents import (
    CHAT_TOOL,
    SIGNATURE,
    TOOL,
    Json,
    Q,
    anthropic,
    assistant,
    call,
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
from tests.messages.streamed import STREAMS
from translate import (
    Exchange,
    MisuseError,
    Report,
    RequestError,
    ToolArgumentsError,
    UnsupportedFormat,
    assemble,
    convert_request,
    decode_answer,
    encode,
    unfold,
)

ENTRY = {"type": "reasoning.encrypted", "data": "ENC", "format": "openai-responses-v1", "index": 0}
RICH = message(
    thinking(),
    {"type": "redacted_thinking", "data": "opaque"},
    text("let me see"),
    thinking("second+/", ""),
    use(given={"city": "Paris"}),
    use("toolu_2", given={}),
    reason="tool_use",
)
DEEP = completion(
    {"reasoning_content": "hmm", "reasoning_details": [ENTRY], "tool_calls": [call("functions.w:0")]}, "tool_calls"
)
PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "gemini": "/v1beta/models/m:generateContent",
    "unievent": "/v1/stream",
}


def asked(client: str, server: str, document: Json, **options: Any) -> tuple[Exchange, Json]:
    """An exchange, and the body that its server is sent."""
    exchange = Exchange(client, server, **options)
    path, _, body = exchange.request(PATHS[client], {}, json.dumps(document).encode())
    assert path == PATHS[server]
    return exchange, json.loads(body)


def answered(exchange: Exchange, document: Json, *, stream: bool) -> Json:
    """The message that the client has at the end."""
    if not stream:
        status, _, body = exchange.answer(200, {}, json.dumps(document).encode())
        assert status == 200, body
        return dict(json.loads(body))
    translator = exchange.stream()
    out = [piece for chunk in STREAMS[exchange.server](document) for piece in translator.feed(chunk)]
    out += translator.close()
    if exchange.client == "gemini":
        # its clients hand back each piece as it came
        units = [json.loads(line[6:]) for line in b"".join(out).splitlines() if line]
        parts = [part for unit in units for part in unit["candidates"][0]["content"]["parts"]]
        return {"candidates": [{"content": {"role": "model", "parts": parts}}]}
    return dict(assemble(b"".join(out), f"{exchange.client}-sse", exchange.client))


UNI = {"role": "user", "content_items": [{"type": "text.done", "text": "q"}]}
GOOGLE = {"role": "user", "parts": [{"text": "q"}]}
ASKS: dict[str, Json] = {
    "anthropic": anthropic(Q, tools=[TOOL]),
    "openai-chat": chat(Q, tools=[CHAT_TOOL]),
    "openai-responses": {"model": "m", "input": [Q]},
    "gemini": {"contents": [GOOGLE]},
    "unievent": {"model": "m", "messages": [UNI], "config": {}},
}


def joined(blocks: list[Json]) -> list[Json]:
    """Blocks with texts that follow one another as one."""
    out: list[Json] = []
    for block in blocks:
        if out and block["type"] == out[-1]["type"] == "text":
            out[-1]["text"] += block["text"]
        else:
            out.append({**block})
    return out


def goes_on(client: str, said: Any) -> Json:
    """The next request of a client that hands back what it was told, and answers each call."""
    if client == "anthropic":
        results = [result(block["id"]) for block in said["content"] if block["type"] == "tool_use"]
        return anthropic(Q, assistant(*said["content"]), user(*results), tools=[TOOL])
    if client == "openai-responses":
        ids = [item["call_id"] for item in said["output"] if item["type"] == "function_call"]
        results = [{"type": "function_call_output", "call_id": id, "output": "r"} for id in ids]
        return {"model": "m", "input": [Q, *said["output"], *results]}
    if client == "gemini":
        parts = said["candidates"][0]["content"]["parts"]
        called = [part["functionCall"] for part in parts if "functionCall" in part]
        results = [{"functionResponse": {**each, "response": {"result": "r"}}} for each in called]
        for each in results:
            del each["functionResponse"]["args"]
        return {"contents": [GOOGLE, {"role": "model", "parts": parts}, {"role": "user", "parts": results}]}
    if client == "unievent":
        ids = [item["tool_call_id"] for item in said["content_items"] if item["type"] == "tool_call.done"]
        results = [{"type": "tool_result.done", "tool_call_id": id, "text": "r"} for id in ids]
        back = [UNI, {"role": "assistant", "content_items": said["content_items"]}]
        return {"model": "m", "messages": [*back, {"role": "user", "content_items": results}], "config": {}}
    reply = said["choices"][0]["message"]
    return chat(Q, reply, *(tool(each["id"]) for each in reply["tool_calls"]), tools=[CHAT_TOOL])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("client", ["openai-chat", "openai-responses", "gemini", "unievent"])
def test_the_state_of_anthropic_comes_home_by_every_client(client: str, *, stream: bool) -> None:
    """Hazard 7, by each client's own form: same parts, same order, each signature to the byte."""
    if client == "unievent" and not stream:
        pytest.skip("its clients only stream")
    exchange = Exchange(client, "anthropic")
    path = PATHS[client].replace("generateContent", "streamGenerateContent?alt=sse") if stream else PATHS[client]
    document = ASKS[client] if client in ("gemini", "unievent") else {**ASKS[client], "stream": stream}
    exchange.request(path, {}, json.dumps(document).encode())
    said = answered(exchange, RICH, stream=stream)
    again = Exchange(client, "anthropic")
    _, _, body = again.request(PATHS[client], {}, json.dumps(goes_on(client, said)).encode())
    home = json.loads(body)["messages"]
    assert joined([block for turn in home[1:-1] for block in turn["content"]]) == RICH["content"]
    assert [block["tool_use_id"] for block in home[-1]["content"]] == ["toolu_1", "toolu_2"]
    # pieces of thinking that come back by themselves stay home; the envelope has them whole
    assert again.losses["state"] == (2 if client == "gemini" and stream else 0)


def test_a_server_that_only_streams_answers_whole() -> None:
    exchange = Exchange("anthropic", "unievent")
    path, _, _ = exchange.request("/v1/messages", {}, json.dumps(ASKS["anthropic"]).encode())
    assert path == "/v1/stream"
    stream = b"".join(encode(list(unfold(decode_answer(RICH, "anthropic"))), "unievent-sse", loss="drop"))
    status, _, said = exchange.answer(200, {}, stream)
    assert status == 200
    assert [block for block in json.loads(said)["content"] if block["type"] == "tool_use"] == RICH["content"][4:]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("client", "server", "answer"), [("openai-chat", "anthropic", RICH), ("anthropic", "openai-chat", DEEP)]
)
def test_state_comes_home_by_a_client_that_hands_back_what_it_got(
    client: str, server: str, answer: Json, *, stream: bool
) -> None:
    exchange, _ = asked(client, server, {**ASKS[client], "stream": stream})
    said = answered(exchange, answer, stream=stream)
    _, home = asked(client, server, goes_on(client, said), profile="openai-compatible" if "chat" in server else None)
    told = home["messages"][1]
    if server == "anthropic":
        assert told["content"] == RICH["content"]
        assert [block["tool_use_id"] for block in home["messages"][2]["content"]] == ["toolu_1", "toolu_2"]
    else:
        assert told["tool_calls"][0]["id"] == "functions.w:0" == home["messages"][2]["tool_call_id"]
        # many servers speak this format: none of them is known to have issued it
        assert "reasoning_details" not in told


@pytest.mark.parametrize(
    ("client", "server", "answer"), [("openai-chat", "anthropic", RICH), ("anthropic", "openai-chat", DEEP)]
)
def test_a_stream_has_the_envelopes_of_the_whole_answer(client: str, server: str, answer: Json) -> None:
    """Law 6, for what is sealed."""
    whole = answered(asked(client, server, ASKS[client])[0], answer, stream=False)
    streamed = answered(asked(client, server, {**ASKS[client], "stream": True})[0], answer, stream=True)
    assert decode_answer(streamed, client).parts == decode_answer(whole, client).parts
    if client == "anthropic":
        assert streamed["content"] == whole["content"]
    else:
        found, wanted = (each["choices"][0]["message"] for each in (streamed, whole))
        for name in ("content", "reasoning_content", "reasoning_details", "tool_calls"):
            assert found[name] == wanted[name], name


def test_no_byte_of_a_state_reaches_another_issuer() -> None:
    """Hazards 1 and 12: what one server issued, sealed or not, is not sent to another."""
    exchange, _ = asked("openai-chat", "anthropic", ASKS["openai-chat"])
    said = answered(exchange, RICH, stream=False)
    _, body = asked("openai-chat", "openai-chat", goes_on("openai-chat", said))
    assert "tstate" not in json.dumps(body)
    assert SIGNATURE not in json.dumps(body)
    _, body = asked("anthropic", "openai-chat", anthropic(Q, assistant(thinking(), text()), Q))
    assert SIGNATURE not in json.dumps(body)


def test_state_before_a_call_goes_before_it_and_a_late_one_behind() -> None:
    """Hazards 10 and 74."""
    signed = {**call("a"), "extra_content": {"google": {"thought_signature": "GS"}}}
    answer = completion({"content": None, "tool_calls": [signed, call("b")]}, "tool_calls")
    whole = answered(asked("anthropic", "openai-chat", ASKS["anthropic"])[0], answer, stream=False)
    assert [block["type"] for block in whole["content"]] == ["thinking", "tool_use", "tool_use"]


def test_names_and_ids_are_the_clients() -> None:
    """Hazards 17 and 65."""
    name = "w" * 90
    document = anthropic(Q, tools=[{**TOOL, "name": name}], tool_choice={"type": "tool", "name": name})
    for stream in (False, True):
        exchange, body = asked("anthropic", "openai-chat", {**document, "stream": stream})
        short = body["tools"][0]["function"]["name"]
        assert len(short) == 61
        assert body["tool_choice"]["function"]["name"] == short
        answer = completion({"content": None, "tool_calls": [call("functions.w:0", short)]}, "tool_calls")
        (block,) = answered(exchange, answer, stream=stream)["content"]
        assert (block["name"], block["id"]) == (name, "tsx_ZnVuY3Rpb25zLnc6MA")
        after = {**document, "messages": [Q, assistant(block), user(result(block["id"]))]}
        _, home = asked("anthropic", "openai-chat", after)
        assert home["messages"][1]["tool_calls"][0]["id"] == home["messages"][2]["tool_call_id"] == "functions.w:0"
        assert home["messages"][1]["tool_calls"][0]["function"]["name"] == short


def test_a_free_text_tool_is_called_with_free_text() -> None:
    """Hazard 61."""
    custom = {"type": "custom", "custom": {"name": "w", "description": "d"}}
    exchange, body = asked("openai-chat", "anthropic", chat(Q, tools=[custom]))
    assert body["tools"][0]["input_schema"]["required"] == ["input"]
    said = answered(exchange, message(use(given={"input": "free"}), reason="tool_use"), stream=False)
    (found,) = said["choices"][0]["message"]["tool_calls"]
    assert found == {"id": "toolu_1", "type": "custom", "custom": {"name": "w", "input": "free"}}


def test_models_are_mapped_and_the_answer_names_the_one_that_was_asked() -> None:
    models = {"gpt-4*": "claude-old", "gpt-*": "claude-new"}
    for stream in (False, True):
        exchange, body = asked("openai-chat", "anthropic", chat(Q, model="gpt-5", stream=stream), model_map=models)
        assert body["model"] == "claude-new" == exchange.model
        assert answered(exchange, message(text()), stream=stream)["model"] == "gpt-5"
    exchange, body = asked("anthropic", "anthropic", anthropic(Q), model_map={"m": "n"})
    assert body == anthropic(Q, model="n")
    assert answered(exchange, message(text(), model="n"), stream=False)["model"] == "m"
    assert answered(exchange, message(text(), model="n"), stream=True)["model"] == "m"
    assert asked("openai-chat", "anthropic", chat(Q, model="o3"), model_map=models)[1]["model"] == "o3"


def test_counts_are_asked_for_and_given_to_whom_asked() -> None:
    plain = chat(Q, stream=True)
    for document, wanted in ((plain, False), ({**plain, "stream_options": {"include_usage": True}}, True)):
        translator = asked("openai-chat", "anthropic", document)[0].stream()
        out = b"".join(piece for chunk in STREAMS["anthropic"](message(text())) for piece in translator.feed(chunk))
        assert (b'"usage"' in out) is wanted
    _, body = asked("anthropic", "openai-chat", anthropic(Q, stream=True))
    assert body["stream_options"] == {"include_usage": True}


def test_within_one_format_a_body_passes_byte_for_byte() -> None:
    body = b'{ "model":"m", "unknown" : [1.0, 1e2, "\\u00e9"],"messages":[{"role":"user","content":"q"}]}'
    exchange = Exchange("openai-chat", "openai-chat")
    path, headers, sent = exchange.request(
        "/v1/chat/completions?x=1", {"Authorization": "Bearer k", "OpenAI-Organization": "o", "Cookie": "c"}, body
    )
    assert sent == body
    assert path == "/v1/chat/completions?x=1"
    assert headers == {"content-type": "application/json", "openai-organization": "o", "authorization": "Bearer k"}
    whole = json.dumps(completion(), indent=1).encode()
    assert exchange.answer(200, {"x-ratelimit-remaining": "3"}, whole) == (
        200,
        {"content-type": "application/json", "x-ratelimit-remaining": "3"},
        whole,
    )


@pytest.mark.parametrize("name", ["x-api-key", "authorization", "x-goog-api-key", "query"])
def test_the_key_goes_where_the_server_looks_for_it(name: str) -> None:
    headers = {} if name == "query" else {name: "Bearer k" if name == "authorization" else "k"}
    path = "/v1/chat/completions" + ("?key=k" if name == "query" else "")
    exchange = Exchange("openai-chat", "anthropic")
    found, sent, _ = exchange.request(path, headers, json.dumps(chat()).encode())
    assert "k" not in found.partition("?")[2]
    assert sent == {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "k"}


def test_what_would_lose_content_is_refused_and_names_its_path() -> None:
    """Hazards 55, 62, 68: before the server is called, in the client's own shape."""
    audio = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    cases = [
        (chat({"role": "user", "content": [audio]}), "messages[0].content[0]"),
        (chat(Q, n=2), "n"),
    ]
    for document, path in cases:
        exchange = Exchange("openai-chat", "anthropic")
        with pytest.raises(RequestError) as caught:
            exchange.request("/v1/chat/completions", {}, json.dumps(document).encode())
        assert caught.value.path == path
        status, _, body = exchange.error(caught.value)
        assert status == 400
        assert json.loads(body)["error"]["type"] == "invalid_request_error"
        assert json.loads(body)["error"]["message"].startswith(f"{path}: ")
    server_tool = {"type": "web_search_20260101", "name": "web_search"}
    document = anthropic(Q, tools=[server_tool, TOOL])
    exchange, _ = asked("anthropic", "openai-chat", document)
    assert exchange.losses["control"] == 1
    with pytest.raises(RequestError):
        asked("anthropic", "openai-chat", document, refuse=["content", "control"])
    with pytest.raises(RequestError):
        asked("anthropic", "openai-chat", {**document, "tool_choice": {"type": "tool", "name": "web_search"}})


def test_a_cut_call_is_refused() -> None:
    """Hazard 35."""
    document = chat(Q, calls(call(arguments='{"a":')), tool())
    exchange = Exchange("openai-chat", "anthropic")
    with pytest.raises(ToolArgumentsError) as caught:
        exchange.request("", {}, json.dumps(document).encode())
    status, _, body = exchange.error(caught.value)
    assert (status, json.loads(body)["error"]["message"][:27]) == (400, "messages[1].tool_calls[0]: ")


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"null", b'{"messages": 3}', b'{"messages": ["x"]}'])
def test_what_is_no_request_is_an_error_of_the_client(body: bytes) -> None:
    exchange = Exchange("openai-chat", "anthropic")
    with pytest.raises(Exception) as caught:  # noqa: PT011  # which one is the reader's matter
        exchange.request("/v1/chat/completions", {}, body)
    assert exchange.error(caught.value)[0] == 400


def test_errors_are_said_in_the_clients_words() -> None:
    exchange, _ = asked("openai-chat", "anthropic", chat())
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    status, fields, said = exchange.answer(529, {"Request-Id": "r", "retry-after": "3"}, json.dumps(body).encode())
    assert (status, fields["x-request-id"], fields["retry-after"]) == (503, "r", "3")
    assert json.loads(said)["error"]["code"] == "overloaded"
    exchange, _ = asked("anthropic", "openai-chat", anthropic())
    status, _, said = exchange.answer(200, {}, b'{"error":{"message":"boom","type":"server_error"}}')
    assert (status, json.loads(said)["error"]["type"]) == (502, "api_error")
    status, _, said = exchange.answer(200, {}, json.dumps({**completion(), "choices": []}).encode())
    assert (status, json.loads(said)["type"]) == (502, "error")


def test_an_exchange_is_one_call() -> None:
    exchange = Exchange("openai-chat", "anthropic")
    with pytest.raises(MisuseError):
        exchange.answer(200, {}, b"{}")
    with pytest.raises(MisuseError):
        exchange.stream()
    exchange.request("", {}, json.dumps(chat()).encode())
    with pytest.raises(MisuseError):
        exchange.request("", {}, json.dumps(chat()).encode())


def test_a_carry_is_never_sent() -> None:
    with pytest.raises(ValueError, match="carry"):
        Exchange("openai-chat", "anthropic", loss="carry")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="classes"):
        Exchange("openai-chat", "anthropic", refuse=["everything"])
    with pytest.raises(UnsupportedFormat):
        Exchange("openai-chat-sse", "anthropic")


def test_a_failed_stream_ends_in_the_clients_failure() -> None:
    exchange, _ = asked("anthropic", "openai-chat", anthropic(stream=True))
    translator = exchange.stream()
    out = b"".join([*translator.feed(b'data: {"error": {"message": "no", "code": 429}}\n\n'), *translator.close()])
    assert b'"rate_limit_error"' in out


def test_bytes_in_the_alphabet_of_urls_are_sent_in_the_usual_one() -> None:
    """Google's own library writes base64 so, which the others refuse."""
    document = {"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "-_8="}}]}]}
    _, _, body = Exchange("gemini", "anthropic").request(PATHS["gemini"], {}, json.dumps(document).encode())
    assert json.loads(body)["messages"][0]["content"][0]["source"]["data"] == "+/8="
    report = Report()
    kept = convert_request(document, "gemini", "anthropic", report=report)
    assert [(each.path, each.field) for each in report.repairs] == [("contents[0].parts[0].inlineData.data", "data")]
    assert convert_request(kept, "anthropic", "gemini") == document


def test_a_whole_answer_to_who_wants_a_stream_is_said_as_one() -> None:
    exchange, _ = asked("anthropic", "openai-chat", {**ASKS["anthropic"], "stream": True})
    status, headers, body = exchange.answer(200, {}, json.dumps(DEEP).encode())
    assert (status, headers["content-type"]) == (200, "text/event-stream")
    whole = answered(asked("anthropic", "openai-chat", ASKS["anthropic"])[0], DEEP, stream=False)
    assert assemble(body, "anthropic-sse", "anthropic")["content"] == whole["content"]
