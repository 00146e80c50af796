"""The SDKs that people use, as clients of a sidecar: what they read, whom they retry, what a silence does to them."""

from __future__ import annotations

import importlib
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.sidecars import Asked, Recorder, process, streams, upstream
from tests.peers.serving import HOST, PATIENCE
from translate import Append, Close, Finish, Model, Open, Reason, Start, TokenCounts, convert

openai = pytest.importorskip("openai", reason="openai is not installed: pip install -e '.[benchmarks]'")
anthropic = pytest.importorskip("anthropic", reason="anthropic is not installed: pip install -e '.[benchmarks]'")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install -e '.[serve]'")
pytest.importorskip("httpx2", reason="httpx2 is not installed: pip install -e '.[serve]'")

EVENTS = (
    *(Start(Model("m-1")), Open("text"), Append("Paris "), Append("it is."), Close()),
    *(Open("tool_call", "c1", "look"), Append('{"at": '), Append("1}"), Close()),
    Finish(TokenCounts(7, 5), Reason("tool_call")),
)
TURN = [*convert(EVENTS, "events", "gateway-sse")]
_BUSY = (
    b"HTTP/1.1 429 Busy\r\nContent-Type: application/json\r\nRetry-After: 1\r\nX-Should-Retry: true\r\n"
    b'X-Request-Id: theirs\r\nContent-Length: 28\r\n\r\n{"error":{"message":"busy"}}'
)


class Script:
    """An upstream that first refuses, or first is silent, or says no end, by what the question holds."""

    def __init__(self) -> None:
        self.refused = threading.Event()
        self.asked: list[float] = []

    def __call__(self, asked: Asked) -> Iterator[bytes]:
        self.asked.append(time.monotonic())
        if b"busy" in asked.body and not self.refused.is_set():
            self.refused.set()
            return iter([_BUSY])
        if b"endless" in asked.body:
            return streams(itertools.chain(TURN[:3], itertools.repeat(TURN[2])))
        return self._late() if b"slow" in asked.body else streams(TURN)

    def clear(self) -> None:
        """Begin anew."""
        self.refused.clear()
        self.asked.clear()

    def waited(self) -> float:
        """Seconds between the two requests that there were."""
        first, second = self.asked
        return second - first

    def _late(self) -> Iterator[bytes]:
        time.sleep(0.6)
        yield from streams(TURN)


@pytest.fixture(scope="module")
def script() -> Script:
    return Script()


@pytest.fixture(scope="module")
def recorder(script: Script) -> Iterator[Recorder]:
    with upstream(script) as made:
        yield made


@pytest.fixture(scope="module")
def url(recorder: Recorder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    options: Path = tmp_path_factory.mktemp("sdks") / "options.toml"
    options.write_text(f"""
        upstream = "{recorder.url}"
        from = "gateway-sse"
        port = 0
        ping = 0.1
        [[route]]
        path = "/openai"
        to = "openai-chat-sse"
        [[route]]
        path = "/anthropic"
        to = "anthropic-sse"
        [[route]]
        path = "/gemini"
        to = "gemini-sse"
    """)
    with process("--config", str(options)) as made:
        yield f"http://{HOST}:{made.port}"
        made.signal()
        assert made.code() == 0
        assert "Traceback" not in made.log


@pytest.mark.parametrize("word", ["plain", "slow", "busy"])
def test_the_client_of_openai_reads_it(word: str, url: str, script: Script) -> None:
    script.clear()
    with openai.OpenAI(base_url=f"{url}/openai/v1", api_key="k", timeout=PATIENCE, max_retries=1) as client:
        text, arguments, usage, by = "", "", None, ""
        messages = [{"role": "user", "content": word}]
        for chunk in client.chat.completions.create(model="m", messages=messages, stream=True):
            usage, by = chunk.usage or usage, chunk.model
            for choice in chunk.choices:
                text += choice.delta.content or ""
                arguments += "".join(call.function.arguments or "" for call in choice.delta.tool_calls or ())
    assert (text, arguments, by) == ("Paris it is.", '{"at": 1}', "m-1")
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (7, 5)
    # it comes again when the upstream says, through the sidecar
    assert len(script.asked) == 1 if word != "busy" else script.waited() >= 1


@pytest.mark.parametrize("word", ["plain", "slow", "busy"])
def test_the_client_of_anthropic_reads_it(word: str, url: str, script: Script) -> None:
    script.clear()
    with anthropic.Anthropic(base_url=f"{url}/anthropic", api_key="k", timeout=PATIENCE, max_retries=1) as client:
        messages = [{"role": "user", "content": word}]
        with client.messages.stream(model="m", max_tokens=9, messages=messages) as stream:
            message = stream.get_final_message()
    text, call = message.content
    assert (text.text, call.name, call.input) == ("Paris it is.", "look", {"at": 1})
    assert (message.model, message.stop_reason, message.usage.output_tokens) == ("m-1", "tool_use", 5)
    assert len(script.asked) == 1 if word != "busy" else script.waited() >= 1


@contextmanager
def of_google(url: str) -> Iterator[Any]:
    genai = pytest.importorskip("google.genai", reason="google-genai is not installed: pip install -e '.[peers]'")
    types = importlib.import_module("google.genai.types")
    retry = types.HttpRetryOptions(attempts=2, initial_delay=0.1)
    options = types.HttpOptions(base_url=f"{url}/gemini", timeout=int(PATIENCE * 1000), retry_options=retry)
    with genai.Client(api_key="k", http_options=options) as client:
        yield client


@pytest.mark.parametrize("word", ["plain", "slow", "busy"])
def test_the_client_of_google_reads_it(word: str, url: str, script: Script) -> None:
    script.clear()
    text, calls, usage = "", [], None
    with of_google(url) as client:
        for chunk in client.models.generate_content_stream(model="m", contents=word):
            for part in chunk.candidates[0].content.parts or () if chunk.candidates[0].content else ():
                text += part.text or ""
                calls += [part.function_call] if part.function_call else []
            usage = chunk.usage_metadata or usage
    assert text == "Paris it is."
    assert [(call.name, call.args) for call in calls] == [("look", {"at": 1})]
    assert usage is not None
    assert (usage.prompt_token_count, usage.candidates_token_count) == (7, 5)
    assert len(script.asked) == (2 if word == "busy" else 1)


MESSAGES = [{"role": "user", "content": "endless"}]


def leaves_openai(url: str) -> None:
    with openai.OpenAI(base_url=f"{url}/openai/v1", api_key="k", timeout=PATIENCE) as client:
        with client.chat.completions.create(model="m", messages=MESSAGES, stream=True) as stream:
            assert next(iter(stream))


def leaves_anthropic(url: str) -> None:
    with anthropic.Anthropic(base_url=f"{url}/anthropic", api_key="k", timeout=PATIENCE) as client:
        with client.messages.stream(model="m", max_tokens=9, messages=MESSAGES) as stream:
            assert next(iter(stream))


def leaves_google(url: str) -> None:
    with of_google(url) as client:
        stream = client.models.generate_content_stream(model="m", contents="endless")
        assert next(stream)
        stream.close()


@pytest.mark.parametrize("leaves", [leaves_openai, leaves_anthropic, leaves_google])
def test_a_client_that_leaves_hangs_up_on_the_upstream(
    leaves: Callable[[str], None], url: str, recorder: Recorder
) -> None:
    recorder.left.clear()
    leaves(url)
    assert recorder.left.wait(PATIENCE)


def test_a_refusal_keeps_what_a_client_tells_of_it(url: str, script: Script) -> None:
    script.clear()
    with openai.OpenAI(base_url=f"{url}/openai/v1", api_key="k", timeout=PATIENCE, max_retries=0) as client:
        with pytest.raises(openai.RateLimitError) as raised:
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "busy"}], stream=True)
    assert (raised.value.request_id, raised.value.body) == ("theirs", {"message": "busy"})
