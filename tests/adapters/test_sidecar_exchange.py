"""The sidecar where clients speak formats of their own: its paths, keys, models, losses, errors, and who leaves."""

from __future__ import annotations

import json
import re
import shlex
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.sidecars import Process, process, until
from tests.messages.documents import Json, Q, anthropic, chat, completion, message, text
from tests.messages.streamed import STREAMS
from tests.peers.serving import HOST, PATIENCE
from translate import assemble


@dataclass
class Upstream:
    """A server that answers whatever is asked with one answer, and remembers what it was asked."""

    format: str
    answer: Json
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    waits: Callable[[], object] = lambda: None
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    url: str = ""
    left: threading.Event = field(default_factory=threading.Event)

    @property
    def sent(self) -> Any:
        """The last body."""
        return self.asked[-1][2]


@contextmanager
def upstream(format: str, answer: Json, **more: Any) -> Iterator[Upstream]:
    made = Upstream(format, answer, **more)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = PATIENCE

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            fields = {name.lower(): value for name, value in self.headers.items()}
            made.asked.append((self.path, fields, json.loads(body) if body else None))
            stream = made.status == 200 and bool(body) and made.asked[-1][2].get("stream")
            said = b"".join(STREAMS[format](made.answer)) if stream else json.dumps(made.answer).encode()
            try:
                made.waits()
                self.send_response(made.status)
                for name, value in made.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)
            except ConnectionError:
                made.left.set()

        do_POST = do_GET

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


@contextmanager
def sidecar(made: Upstream, *args: str, **variables: str) -> Iterator[Process]:
    options = ("--upstream", made.url, "--server", made.format, "--port", "0", "--log-level", "debug")
    with process(*options, *args, **variables) as running:
        assert running.port
        yield running
        running.signal()
        assert running.code() == 0, running.log
        assert "Traceback" not in running.log, running.log


@dataclass
class Got:
    status: int
    fields: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(running: Process, path: str, document: Any = None, method: str | None = None, **fields: str) -> Got:
    data = None if document is None else json.dumps(document).encode()
    head = {name.replace("_", "-"): value for name, value in fields.items()}
    request = urllib.request.Request(f"http://{HOST}:{running.port}{path}", data, head, method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as got:
            return Got(got.status, {k.lower(): v for k, v in got.headers.items()}, got.read())
    except urllib.error.HTTPError as error:
        with error:
            return Got(error.code, {k.lower(): v for k, v in error.headers.items()}, error.read())


ASKS = {
    "anthropic": ("/v1/messages?beta=true", anthropic(Q)),
    "openai-chat": ("/v1/chat/completions", chat(Q)),
    "openai-responses": ("/v1/responses", {"model": "m", "input": "q"}),
    "gemini": ("/v1beta/models/m:generateContent", {"contents": [{"role": "user", "parts": [{"text": "q"}]}]}),
}
CLAUDE = ("--client", "anthropic")
ANSWERS = {"anthropic": message(text("said")), "openai-chat": completion({"content": "said"})}


@pytest.mark.parametrize("server", ANSWERS)
def test_every_client_is_served(server: str) -> None:
    with upstream(server, ANSWERS[server]) as made, sidecar(made) as running:
        for client, (path, document) in ASKS.items():
            got = ask(running, path, document, x_api_key="k")
            assert got.status == 200, got
            assert b'"said"' in got.body, client
            assert got.fields["x-translate-loss"] == "content=0 control=0 state=0 tuning=0 incidental=0"
            if client == "gemini":
                got = ask(running, "/v1/models/m:streamGenerateContent?alt=sse&key=k", document)
                assert got.fields["content-type"].startswith("text/event-stream")
                whole = ask(running, "/v1alpha/models/m:streamGenerateContent", document, x_goog_api_key="k")
                assert whole.json[0]["modelVersion"] == "m"
            else:
                got = ask(running, path, {**document, "stream": True}, authorization="Bearer k")
            said = json.dumps(assemble(got.body, f"{client}-sse", client))
            assert '"said"' in said, client
        for path, fields, _ in made.asked:
            assert "k" not in path.partition("?")[2]
            assert (fields.get("x-api-key") or fields["authorization"].removeprefix("Bearer ")) == "k"


def test_keys_are_replaced_and_the_door_is_guarded() -> None:
    with (
        upstream("openai-chat", completion()) as made,
        sidecar(made, "--upstream-key-env", "UP", "--client-key-env", "DOOR", UP="true-key", DOOR="door") as running,
    ):
        assert ask(running, "/v1/messages", anthropic(Q), x_api_key="door").status == 200
        assert made.asked[-1][1]["authorization"] == "Bearer true-key"
        assert "x-api-key" not in made.asked[-1][1]
        got = ask(running, "/v1/messages", anthropic(Q), x_api_key="another")
        assert (got.status, got.json["error"]["type"]) == (401, "authentication_error")
        assert ask(running, "/v1/chat/completions", chat(Q)).json["error"]["code"] == "invalid_api_key"
        assert len(made.asked) == 1
        assert not any(key in running.log for key in ("true-key", "door", "another"))


def test_models_are_mapped_and_listed() -> None:
    answer = completion(model="gpt-5-2026")
    with (
        upstream("openai-chat", answer) as made,
        sidecar(made, *("--model", "claude-sonnet=gpt-5", "--model", "claude-*=gpt-4o"), *CLAUDE) as running,
    ):
        got = ask(running, "/v1/messages", anthropic(Q, model="claude-sonnet"))
        assert (made.sent["model"], got.json["model"]) == ("gpt-5", "claude-sonnet")
        assert got.fields["x-translate-model"] == "gpt-5"
        ask(running, "/v1/messages", anthropic(Q, model="claude-x"))
        assert made.sent["model"] == "gpt-4o"
        listed = ask(running, "/v1/models", anthropic_version="2023-06-01").json
        assert [entry["id"] for entry in listed["data"]] == ["claude-sonnet"]
        assert ask(running, "/v1/models/claude-sonnet").json["type"] == "model"
        assert ask(running, "/v1/models/other").status == 404
        assert ask(running, "/v1/chat/completions", chat(Q)).status == 404


def test_without_a_map_the_upstreams_models_are_listed_in_the_clients_shape() -> None:
    with (
        upstream("openai-chat", {"object": "list", "data": [{"id": "a"}, {"id": "b"}]}) as made,
        sidecar(made) as running,
    ):
        assert [each["id"] for each in ask(running, "/v1/models").json["data"]] == ["a", "b"]
        assert ask(running, "/v1/models", anthropic_version="x").json["last_id"] == "b"
        assert ask(running, "/v1beta/models").json["models"][0]["name"] == "models/a"
        assert made.asked[-1][0] == "/v1/models"


def test_tokens_are_estimated_where_nobody_counts() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    document = anthropic({"role": "user", "content": [text("é" * 10), image]}, system="12")
    with upstream("openai-chat", completion()) as made, sidecar(made) as running:
        got = ask(running, "/v1/messages/count_tokens", document)
        assert (got.json, got.fields["x-translate-estimate"]) == ({"input_tokens": 6 + 1600}, "1")
        contents = [{"role": "user", "parts": [{"text": "12345"}]}]
        got = ask(running, "/v1beta/models/m:countTokens", {"contents": contents})
        assert got.json == {"totalTokens": 2}
        assert made.asked == []
    with upstream("anthropic", {"input_tokens": 7}) as made, sidecar(made) as running:
        got = ask(running, "/v1/messages/count_tokens", document)
        assert (got.json, made.asked[-1][0]) == ({"input_tokens": 7}, "/v1/messages/count_tokens")
    with upstream("anthropic", {}, status=404) as made, sidecar(made) as running:
        assert ask(running, "/v1/messages/count_tokens", document).json == {"input_tokens": 1606}


def test_paths_that_are_nothing_are_answered_in_the_shape_they_suggest() -> None:
    with upstream("openai-chat", completion()) as made, sidecar(made) as running:
        assert ask(running, "/").status == ask(running, "/", method="HEAD").status == 200
        assert ask(running, "/healthz").status == 200
        assert ask(running, "/v1/nothing").json["error"]["type"] == "invalid_request_error"
        assert ask(running, "/v1/nothing", {}, anthropic_version="x").json["type"] == "error"
        assert ask(running, "/v1beta/nothing", {}).json["error"]["status"] == "NOT_FOUND"
        for path, document in (
            ("/v1/responses/abc", None),
            ("/v1/responses", {"model": "m", "input": "q", "previous_response_id": "r"}),
        ):
            assert ask(running, path, document).status == 400
        assert made.asked == []


def test_losses_are_told_and_content_is_refused_before_anyone_is_asked() -> None:
    marked = {**text("a"), "cache_control": {"type": "ephemeral"}}
    lost = {"type": "document", "source": {"type": "file", "file_id": "file_1"}}
    searched = anthropic(Q, tools=[{"type": "web_search_20260101", "name": "web_search"}])
    with upstream("openai-chat", completion()) as made, sidecar(made, "--refuse", "control") as running:
        got = ask(running, "/v1/messages", anthropic({"role": "user", "content": [marked]}))
        assert got.fields["x-translate-loss"] == "content=0 control=0 state=0 tuning=1 incidental=0"
        assert "tuning messages[0].content[0]" in running.log
        assert ask(running, "/v1/messages", searched).status == 400
        assert len(made.asked) == 1
    with upstream("openai-chat", completion()) as made, sidecar(made) as running:
        got = ask(running, "/v1/messages", anthropic({"role": "user", "content": [lost]}))
        assert (got.status, got.json["error"]["message"][:24]) == (400, "messages[0].content[0]: ")
        assert ask(running, "/v1/messages", searched).status == 200
        assert len(made.asked) == 1


@pytest.mark.parametrize("stream", [False, True])
def test_what_the_upstream_refuses_is_told_in_the_clients_words(*, stream: bool) -> None:
    error = {"error": {"message": "slow down tstate1_abc", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}
    headers = {"Retry-After": "9", "x-request-id": "r9"}
    with upstream("openai-chat", error, status=429, headers=headers) as made, sidecar(made) as running:
        got = ask(running, "/v1/messages", anthropic(Q, stream=stream))
        assert (got.status, got.json["error"]) == (429, {"type": "rate_limit_error", "message": "slow down […]"})
        assert (got.fields["retry-after"], got.fields["request-id"]) == ("9", "r9")
        assert got.fields["content-type"] == "application/json"
        path, document = ASKS["gemini"]
        path = path.replace("generateContent", "streamGenerateContent?alt=sse") if stream else path
        assert ask(running, path, document).json["error"]["status"] == "RESOURCE_EXHAUSTED"


@pytest.mark.parametrize("stream", [False, True])
def test_an_upstream_that_is_not_there_is_a_failure_of_the_service(*, stream: bool) -> None:
    with upstream("openai-chat", completion()) as made:
        pass
    with sidecar(made) as running:
        got = ask(running, "/v1/messages", anthropic(Q, stream=stream))
        assert (got.status, got.json["error"]["type"]) == (502, "api_error")
        assert made.url not in got.body.decode()


def test_a_body_that_is_too_large_is_refused_in_the_clients_words() -> None:
    with upstream("openai-chat", completion()) as made, sidecar(made, "--max-body", "1K") as running:
        got = ask(running, "/v1/messages", anthropic({"role": "user", "content": "x" * 2000}))
        assert (got.status, got.json["error"]["type"]) == (413, "request_too_large")


def test_one_process_has_many_upstreams_by_model(tmp_path: Path) -> None:
    first, second = completion({"content": "from a"}), message(text("from b"))
    with upstream("openai-chat", first) as a, upstream("anthropic", second) as b:
        file = tmp_path / "options.toml"
        file.write_text(
            f'port = 0\n[[route]]\nmodels = "gpt-*, o*"\nserver = "openai-chat"\nupstream = "{a.url}"\n'
            f'[[route]]\nserver = "anthropic"\nupstream = "{b.url}"\n'
        )
        with process("--config", str(file)) as running:
            for model, said in (("gpt-5", b"from a"), ("o9", b"from a"), ("claude", b"from b")):
                assert said in ask(running, "/v1/messages", anthropic(Q, model=model)).body
                assert said in ask(running, "/v1/chat/completions", chat(Q, model=model)).body
        assert (len(a.asked), len(b.asked)) == (4, 2)


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_takes_the_upstream_along(*, stream: bool) -> None:
    come = threading.Event()
    held: dict[str, Any] = {}

    def waits() -> None:
        come.set()
        held["go"].wait(PATIENCE)

    held["go"] = threading.Event()
    with upstream("openai-chat", completion(), waits=waits) as made, sidecar(made) as running:
        thread = threading.Thread(
            target=lambda: _short(running, anthropic(Q, stream=stream)),
        )
        thread.start()
        assert come.wait(PATIENCE)
        until(lambda: "disconnected" in running.log, "leaving")
        held["go"].set()
        thread.join(PATIENCE)


def _short(running: Process, document: Json) -> None:
    """Ask, and leave at once."""
    import socket

    body = json.dumps(document).encode()
    with socket.create_connection((HOST, running.port), PATIENCE) as wire:
        head = b"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(body)
        wire.sendall(head + body)
        time.sleep(0.3)


def test_the_page_for_requests_is_run() -> None:
    """Claude's client, a server of Chat: the command as it stands there, but for addresses."""
    page = (Path(__file__).parents[2] / "docs" / "requests.md").read_text(encoding="utf-8")
    found = re.search(r"^translate-streams serve (.+?)\n```", page, re.DOTALL | re.MULTILINE)
    assert found is not None
    args = shlex.split(found[1].replace("\\\n", " "))
    with upstream("openai-chat", completion({"content": "said"}, model="llama-4")) as made:
        args[args.index("--upstream") + 1] = made.url
        with process(*args, "--port", "0") as running:
            got = ask(running, "/v1/messages", anthropic(Q, model="claude-sonnet-5"), x_api_key="k")
        assert (got.json["model"], got.json["content"]) == ("claude-sonnet-5", [text("said")])
        assert (made.sent["model"], made.sent["max_tokens"]) == ("llama-4", 100)
