"""Whole tool loops by the vendors' own clients, through the sidecar as a process, against strict servers.

Three turns, with thinking, two calls at once and an image; streamed and not. And each status by each client.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import anyio
import pytest

from tests.adapters.sidecars import Process, process
from tests.peers import reference
from tests.peers.serving import HOST, PATIENCE
from tests.peers.strict import DONE, PARTS, PNG, Strict, anthropic, genai, openai, strict

TURNS = 3
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WORDS = "What is the weather, and what is in the picture?"


@pytest.fixture(scope="module", params=PARTS)
def service(request: pytest.FixtureRequest) -> Iterator[tuple[Strict, Process]]:
    """A strict server of a format, and a sidecar before it that every client may ask."""
    with ExitStack() as stack:
        server = stack.enter_context(strict(request.param))
        running = stack.enter_context(process("--upstream", server.url, "--server", server.format, "--port", "0"))
        assert running.port
        yield server, running
        assert "Traceback" not in running.log, running.log


# ---- the loops of the clients: each hands back what its library made of the answer ---------------------------


def claude(port: int, *, stream: bool) -> str:
    client = anthropic.Anthropic(api_key="k", base_url=f"http://{HOST}:{port}", max_retries=0, timeout=PATIENCE)
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    content = [{"type": "text", "text": WORDS}, {"type": "image", "source": source}]
    messages: list[Any] = [{"role": "user", "content": content}]
    tools = [{"name": "weather", "input_schema": SCHEMA}]
    for _ in range(TURNS):
        options: dict[str, Any] = {"model": "m", "max_tokens": 2000, "messages": messages, "tools": tools}
        if stream:
            with client.messages.stream(**options) as reading:
                said = reading.get_final_message()
        else:
            said = client.messages.create(**options)
        messages.append({"role": "assistant", "content": said.content})
        called = [block for block in said.content if block.type == "tool_use"]
        assert all(block.name == "weather" for block in called)
        if not called:
            assert said.stop_reason == "end_turn"
            return "".join(block.text for block in said.content if block.type == "text")
        assert said.stop_reason == "tool_use"
        results = [{"type": "tool_result", "tool_use_id": block.id, "content": "21 C"} for block in called]
        messages.append({"role": "user", "content": results})
    raise AssertionError("it goes on and on")


def gpt(port: int, *, stream: bool) -> str:
    client = openai.OpenAI(api_key="k", base_url=f"http://{HOST}:{port}/v1", max_retries=0, timeout=PATIENCE)
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": WORDS}, image]}]
    tools = [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}]
    for _ in range(TURNS):
        options: dict[str, Any] = {"model": "m", "messages": messages, "tools": tools}
        if stream:
            with client.chat.completions.stream(**options) as reading:
                said = reading.get_final_completion().choices[0].message
        else:
            said = client.chat.completions.create(**options).choices[0].message
        # the helper adds what it parsed, which no server knows
        messages.append(_without(said.model_dump(exclude_none=True), "parsed", "parsed_arguments"))
        if not said.tool_calls:
            return str(said.content)
        messages += [{"role": "tool", "tool_call_id": call.id, "content": "21 C"} for call in said.tool_calls]
    raise AssertionError("it goes on and on")


def _without(value: Any, *names: str) -> Any:
    if isinstance(value, dict):
        return {key: _without(each, *names) for key, each in value.items() if key not in names}
    return [_without(each, *names) for each in value] if isinstance(value, list) else value


def responses(port: int, *, stream: bool) -> str:
    client = openai.OpenAI(api_key="k", base_url=f"http://{HOST}:{port}/v1", max_retries=0, timeout=PATIENCE)
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}
    said: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": WORDS}, image]}]
    tools = [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False}]
    more: dict[str, Any] = {"store": False, "include": ["reasoning.encrypted_content"]}
    for _ in range(TURNS):
        if stream:
            with client.responses.stream(model="m", input=said, tools=tools, **more) as reading:
                answer = reading.get_final_response()
        else:
            answer = client.responses.create(model="m", input=said, tools=tools, **more)
        said += [_without(item.model_dump(exclude_none=True), "parsed", "parsed_arguments") for item in answer.output]
        called = [item for item in answer.output if item.type == "function_call"]
        if not called:
            return str(answer.output_text)
        said += [{"type": "function_call_output", "call_id": item.call_id, "output": "21 C"} for item in called]
    raise AssertionError("it goes on and on")


def google(port: int, *, stream: bool) -> str:
    types = genai.types
    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=f"http://{HOST}:{port}"))
    image = types.Part.from_bytes(data=base64.b64decode(PNG), mime_type="image/png")
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=WORDS), image])]
    declared = types.FunctionDeclaration(name="weather", parameters_json_schema=SCHEMA)
    off = types.AutomaticFunctionCallingConfig(disable=True)
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declared])], automatic_function_calling=off
    )
    for _ in range(TURNS):
        if stream:
            chunks = [*client.models.generate_content_stream(model="m", contents=contents, config=config)]
        else:
            chunks = [client.models.generate_content(model="m", contents=contents, config=config)]
        said = [chunk.candidates[0].content for chunk in chunks if chunk.candidates[0].content is not None]
        contents += said
        parts = [part for content in said for part in content.parts or ()]
        called = [part.function_call for part in parts if part.function_call is not None]
        if not called:
            return "".join(part.text or "" for part in parts if not part.thought)
        found = [types.FunctionResponse(id=each.id, name=each.name, response={"result": "21 C"}) for each in called]
        answers = [types.Part(function_response=each) for each in found]
        contents.append(types.Content(role="user", parts=answers))
    raise AssertionError("it goes on and on")


def uni(port: int, *, stream: bool) -> str:
    """The client of mmsp, which only streams, and keeps the conversation itself."""

    async def loop() -> str:
        image = {"type": "image_url.done", "image_url": f"data:image/png;base64,{PNG}"}
        message: Any = {"role": "user", "content_items": [{"type": "text.done", "text": WORDS}, image]}
        config = {"tools": [{"name": "weather", "description": "d", "parameters": SCHEMA}]}
        async with reference.client(port) as client:
            for _ in range(TURNS):
                with anyio.fail_after(PATIENCE):
                    async for _ in client.streaming_response_stateful(message=message, config=config):
                        pass
                said = client.get_history()[-1]["content_items"]
                called = [item for item in said if item["type"] == "tool_call.done"]
                if not called:
                    return "".join(item["text"] for item in said if item["type"] == "text.done")
                ids = [item["tool_call_id"] for item in called]
                results = [{"type": "tool_result.done", "tool_call_id": id, "text": "21 C"} for id in ids]
                message = {"role": "user", "content_items": results}
        raise AssertionError("it goes on and on")

    return anyio.run(loop)


CLIENTS = {"anthropic": claude, "openai-chat": gpt, "openai-responses": responses, "gemini": google, "unievent": uni}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_tool_loop_goes_through(service: tuple[Strict, Process], client: str, *, stream: bool) -> None:
    if client == "unievent" and not stream:
        pytest.skip("it only streams")
    server, running = service
    server.wrong.clear()
    server.turns.clear()
    try:
        said = CLIENTS[client](running.port, stream=stream)
    except Exception as error:
        pytest.fail("\n".join([repr(error), *server.wrong]))
    assert said == DONE
    assert server.turns == [0, 1, 2]


# ---- errors ----------------------------------------------------------------------------------------------


STATUSES = (400, 401, 403, 404, 413, 429, 500, 503, 504)


def _body(format: str, status: int) -> Any:
    """An error as servers of a format say it."""
    from translate.algebra.events import Failure
    from translate.messages.api import encode_error
    from translate.messages.failures import kind_of_status

    return encode_error(Failure(status, "as it was said", kind_of_status(status)), format)


def _raised(client: str, port: int) -> Exception:
    try:
        CLIENTS[client](port, stream=False)
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


CLASSES: dict[str, dict[int, str]] = {
    "anthropic": {
        **{400: "BadRequestError", 401: "AuthenticationError", 403: "PermissionDeniedError", 404: "NotFoundError"},
        **{413: "ContentTooLargeError", 429: "RateLimitError", 500: "InternalServerError"},
        **{503: "OverloadedError", 504: "GatewayTimeoutError"},
    },
    "openai-chat": {
        **{400: "BadRequestError", 401: "AuthenticationError", 403: "PermissionDeniedError", 404: "NotFoundError"},
        **{413: "APIStatusError", 429: "RateLimitError"},
        **dict.fromkeys((500, 503, 504), "InternalServerError"),
    },
    "gemini": {status: "ClientError" if status < 500 else "ServerError" for status in STATUSES},
}
CLASSES["openai-responses"] = CLASSES["openai-chat"]
CLASSES["unievent"] = dict.fromkeys(STATUSES, "UpstreamError")


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("status", STATUSES)
def test_each_library_raises_its_own_class(service: tuple[Strict, Process], client: str, status: int) -> None:
    server, running = service
    said, _, body = _body(server.format, status)
    server.fails = said, json.loads(body)
    try:
        error = _raised(client, running.port)
    finally:
        server.fails = None
    assert type(error).__name__ == CLASSES[client][status], error
    assert "as it was said" in str(error)
