"""Strict servers: they hold bodies to the types of the vendors' libraries, unknown members refused, and check that what
they issued comes home: signatures to the byte, each call with its result, the image.

Each plays one conversation of three turns: thinking and two calls at once; thinking, text and one more; the end.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, is_typeddict

import pytest
from pydantic import ConfigDict, TypeAdapter

from tests.messages.documents import Json, call, completion, message, text, thinking, use
from tests.messages.streamed import STREAMS
from tests.peers.serving import HOST, PATIENCE

anthropic: Any = pytest.importorskip("anthropic", reason="anthropic is not installed: pip install -e '.[peers]'")
openai: Any = pytest.importorskip("openai", reason="openai is not installed: pip install -e '.[peers]'")
genai: Any = pytest.importorskip("google.genai", reason="google-genai is not installed: pip install -e '.[peers]'")

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SIGNED = ("EuYBsig+/1==", "EuYBsig+/2==")
SEALED = ("gAAAAABmENC1", "gAAAAABmENC2")
GOOGLE = ("c2lnbmF0dXJlMQ==", "c2lnbmF0dXJlMg==")
DONE = "It is warm in all three."


def _weather(city: str) -> Json:
    return {"city": city}


def _closed(prefix: str) -> None:
    """Have every type of a library refuse what it does not know."""
    for name, module in list(sys.modules.items()):
        if name.startswith(prefix):
            for found in list(vars(module).values()):
                if is_typeddict(found):
                    found.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


def _drained(value: Any) -> None:
    """Read what is only held to its type as it is read."""
    if isinstance(value, dict):
        for each in value.values():
            _drained(each)
    elif not isinstance(value, (str, bytes)) and isinstance(value, Iterable):
        for each in value:
            _drained(each)


_ASKED = {
    "anthropic": ("anthropic.types", "message_create_params", "MessageCreateParams"),
    "openai-chat": ("openai.types.chat", "completion_create_params", "CompletionCreateParams"),
    "openai-responses": ("openai.types.responses", "response_create_params", "ResponseCreateParams"),
}
"""Format → package, module and name of the type of its requests."""
_adapters: dict[str, TypeAdapter[Any]] = {}


def _adapter(format: str) -> TypeAdapter[Any]:
    if format not in _adapters:
        package, module, name = _ASKED[format]
        asked = importlib.import_module(f"{package}.{module}")
        _closed(".".join(package.split(".")[:2]))
        _adapters[format] = TypeAdapter(getattr(asked, name))
    return _adapters[format]


def held_to_types(format: str, body: Json) -> None:
    """Raise for a body that the library's own types refuse."""
    if format in _ASKED:
        _drained(_adapter(format).validate_python(body))
        return
    types = genai.types
    members = {
        "contents": types.Content,
        "systemInstruction": types.Content,
        "tools": types.Tool,
        "toolConfig": types.ToolConfig,
        "generationConfig": types.GenerationConfig,
        "safetySettings": types.SafetySetting,
    }
    assert body.keys() <= members.keys(), f"unknown members: {body.keys() - members.keys()}"
    for name, value in body.items():
        for each in value if isinstance(value, list) else [value]:
            members[name].model_validate(each)


# ---- what each answers, and how it finds in a request what it wants ----------------------------------------


@dataclass
class Seen:
    """What a request shows of the conversation."""

    states: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)


def _anthropic_seen(body: Json) -> Seen:
    seen = Seen()
    for turn in body["messages"]:
        for block in turn["content"] if isinstance(turn["content"], list) else ():
            if block["type"] == "thinking":
                seen.states.append(f"{block['thinking']}:{block['signature']}")
            elif block["type"] == "tool_use":
                seen.calls.append(block["id"])
            elif block["type"] == "tool_result":
                seen.results.append(block["tool_use_id"])
            elif block["type"] == "image":
                seen.images.append(block["source"]["data"])
    return seen


def _chat_seen(body: Json) -> Seen:
    seen = Seen()
    for turn in body["messages"]:
        seen.calls += [each["id"] for each in turn.get("tool_calls") or ()]
        if turn["role"] == "tool":
            seen.results.append(turn["tool_call_id"])
        for part in turn["content"] if isinstance(turn.get("content"), list) else ():
            if part["type"] == "image_url":
                seen.images.append(part["image_url"]["url"].rpartition(",")[2])
    return seen


def _responses_seen(body: Json) -> Seen:
    seen = Seen()
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind == "reasoning":
            said = "".join(part["text"] for part in item["summary"])
            seen.states.append(f"{said}:{item['encrypted_content']}")
        elif kind == "function_call":
            seen.calls.append(item["call_id"])
        elif kind == "function_call_output":
            seen.results.append(item["call_id"])
        for part in item.get("content") or () if isinstance(item.get("content"), list) else ():
            if part["type"] == "input_image":
                seen.images.append(part["image_url"].rpartition(",")[2])
    return seen


def _gemini_seen(body: Json) -> Seen:
    seen = Seen()
    for content in body["contents"]:
        for part in content["parts"]:
            if "functionCall" in part:
                city = part["functionCall"]["args"]["city"]
                seen.calls.append(city)
                if part.get("thoughtSignature"):
                    seen.states.append(f"{city}:{part['thoughtSignature']}")
            elif "functionResponse" in part:
                # without ids, a result is known by its place
                seen.results.append(seen.calls[len(seen.results)])
            elif "inlineData" in part:
                # its own library writes the alphabet of URLs
                seen.images.append(part["inlineData"]["data"].replace("-", "+").replace("_", "/"))
    return seen


def _reasoned(n: int, said: str) -> Json:
    summary = [{"type": "summary_text", "text": said}]
    return {"id": f"rs_{n}", "type": "reasoning", "summary": summary, "encrypted_content": SEALED[n]}


def _called(id: str, city: str) -> Json:
    given = json.dumps(_weather(city), separators=(",", ":"))
    named = {"id": f"fc_{id}", "type": "function_call", "call_id": id, "name": "weather", "arguments": given}
    return {**named, "status": "completed"}


def _said(words: str) -> Json:
    part = {"type": "output_text", "text": words, "annotations": [], "logprobs": []}
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def _response(*output: Json) -> Json:
    usage = {
        **{"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}},
        **{"output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 15},
    }
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed", "error": None}
    echoed = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "incomplete_details": None}
    return {**head, **echoed, "output": list(output), "usage": usage}


def _generated(*parts: Json) -> Json:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"}


def _signed(city: str, signature: str | None = None) -> Json:
    said: Json = {"functionCall": {"name": "weather", "args": _weather(city)}}
    return {**said, **({"thoughtSignature": signature} if signature else {})}


def _arguments(city: str) -> str:
    return json.dumps(_weather(city), separators=(",", ":"))


@dataclass(frozen=True)
class Part:
    """One server's part in the conversation. ``states``, ``calls``: what must have come home before each answer."""

    answers: tuple[Json, Json, Json]
    seen: Callable[[Json], Seen]
    states: tuple[list[str], list[str], list[str]]
    calls: tuple[list[str], list[str], list[str]]


_IDS = ["functions.weather:0", "functions.weather:1", "call_2"]
PARTS = {
    "anthropic": Part(
        (
            message(
                *(thinking(SIGNED[0], "plan"), use("toolu_1", "weather", _weather("Paris"))),
                use("toolu_2", "weather", _weather("Rome")),
                reason="tool_use",
            ),
            message(
                *(thinking(SIGNED[1], "again"), text("One more."), use("toolu_3", "weather", _weather("Oslo"))),
                reason="tool_use",
            ),
            message(text(DONE)),
        ),
        _anthropic_seen,
        ([], [f"plan:{SIGNED[0]}"], [f"plan:{SIGNED[0]}", f"again:{SIGNED[1]}"]),
        ([], ["toolu_1", "toolu_2"], ["toolu_1", "toolu_2", "toolu_3"]),
    ),
    "openai-chat": Part(
        (
            completion(
                {
                    **{"content": None, "reasoning_content": "plan"},
                    "tool_calls": [
                        call(_IDS[0], "weather", _arguments("Paris")),
                        call(_IDS[1], "weather", _arguments("Rome")),
                    ],
                },
                "tool_calls",
            ),
            completion(
                {
                    **{"content": "One more.", "reasoning_content": "again"},
                    "tool_calls": [call(_IDS[2], "weather", _arguments("Oslo"))],
                },
                "tool_calls",
            ),
            completion({"content": DONE}),
        ),
        _chat_seen,
        ([], [], []),
        ([], _IDS[:2], _IDS),
    ),
    "openai-responses": Part(
        (
            _response(_reasoned(0, "plan"), _called("call_1", "Paris"), _called("call_2", "Rome")),
            _response(_reasoned(1, "again"), _said("One more."), _called("call_3", "Oslo")),
            _response(_said(DONE)),
        ),
        _responses_seen,
        ([], [f"plan:{SEALED[0]}"], [f"plan:{SEALED[0]}", f"again:{SEALED[1]}"]),
        ([], ["call_1", "call_2"], ["call_1", "call_2", "call_3"]),
    ),
    "gemini": Part(
        (
            _generated({"text": "plan", "thought": True}, _signed("Paris", GOOGLE[0]), _signed("Rome")),
            _generated({"text": "again", "thought": True}, {"text": "One more."}, _signed("Oslo", GOOGLE[1])),
            _generated({"text": DONE}),
        ),
        _gemini_seen,
        ([], [f"Paris:{GOOGLE[0]}"], [f"Paris:{GOOGLE[0]}", f"Oslo:{GOOGLE[1]}"]),
        ([], ["Paris", "Rome"], ["Paris", "Rome", "Oslo"]),
    ),
}


@dataclass
class Strict:
    """A server of one format; ``wrong``: what it found wrong with requests."""

    format: str
    url: str = ""
    wrong: list[str] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    fails: tuple[int, Json] | None = None
    """A status and a body that it answers everything with."""

    def answer(self, body: bytes) -> Json:
        """What is answered to a request. Raises what is wrong with it."""
        document = json.loads(body)
        known = body.decode()
        turn = 0 if "Paris" not in known else 1 if "Oslo" not in known else 2
        self.turns.append(turn)
        part = PARTS[self.format]
        assert "tstate" not in known, "an envelope"
        held_to_types(self.format, document)
        seen = part.seen(document)
        assert seen.calls == part.calls[turn], f"turn {turn}: the calls are {seen.calls}"
        assert seen.results == part.calls[turn], f"turn {turn}: the results are {seen.results}"
        assert seen.states == part.states[turn], f"turn {turn}: the states are {seen.states}"
        assert seen.images == [PNG], f"turn {turn}: {len(seen.images)} images"
        foreign = {*SIGNED, *SEALED, *GOOGLE} - {state.partition(":")[2] for state in part.states[2]}
        assert not any(state in known for state in foreign), "a state of another issuer"
        return part.answers[turn]


@contextmanager
def strict(format: str) -> Iterator[Strict]:
    """A strict server, while the block runs."""
    made = Strict(format)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = PATIENCE
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if made.fails is not None:
                self._say(made.fails[0], "application/json", json.dumps(made.fails[1]).encode())
                return
            try:
                answer = made.answer(body)
            except Exception as error:
                made.wrong.append(f"{error}\n{body.decode()[:3000]}")
                self._say(400, "application/json", b'{"error":{"message":"wrong","type":"invalid_request_error"}}')
                return
            if json.loads(body).get("stream") or "streamGenerateContent" in self.path:
                self._say(200, "text/event-stream", b"".join(STREAMS[format](answer)))
            else:
                self._say(200, "application/json", json.dumps(answer).encode())

        def _say(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer((HOST, 0), Handler)
    made.url = f"http://{HOST}:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE)
