"""What bytes are that no format reads, and what errors say of an input of another format than the one named."""

from __future__ import annotations

import gzip
import pickle
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

import translate
from tests.inspect.streams import EXAMPLES
from tests.logs.packing import CORPUS
from translate import DecodeError, TranslateError, TruncatedStream
from translate.inspect import view
from translate.recognise import format_of, what
from translate.recognise.others import other

TURN = (EXAMPLES / "claude-turn.unievent.sse").read_bytes()
FRAMES = b"".join(translate.convert(TURN, "unievent-sse", "gateway-sse"))
CHAT = b'data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[]}\n\n'
GEMINI = b'data: {"candidates":[{},{}]}\n\n'
COHERE = b'data: {"type":"message-start"}\n\n'


@pytest.mark.parametrize(
    ("head", "says"),
    [
        (b"", "it is empty"),
        (b" \n\n", "it holds blank lines alone"),
        (b"\xef\xbb\xbf\r\n", "it holds blank lines alone"),
        (b": ping\n\n: ping\n\n", "comments alone"),
        (bytes(range(256)), "binary data"),
        (b"\xff\xfe{\x00}\x00", "binary data"),
        (gzip.compress(TURN, mtime=0), "compressed with gzip"),
        (b"PK\x03\x04 and more", "a ZIP archive"),
        (b'{"a":1}\n', "no unit of a format that is known (its members: 'a')"),
        (b'[{"a":1}]', "no unit of a format that is known (its members: 'a')"),
        (b'{"a":', "broken JSON"),
        (b"data: {\n\n", "SSE, but the data of its first unit is no JSON"),
        (b"event: x\ndata: hello\n\n", "SSE, but the data of its first unit is no JSON"),
        (b"hello\n", "text, neither JSON nor SSE"),
        ("naïve é".encode()[:-1], "text, neither JSON nor SSE"),
        (b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {}\n\n", "leave out its header fields"),
        (b"<!DOCTYPE html><html>", "a page of HTML"),
        (b'{"object":"chat.completion","choices":[]}', "a whole answer of OpenAI Chat Completions, not a stream"),
        (b'{\n  "error": {\n    "code": 400\n  }\n}\n', "an error, not a stream"),
    ],
    ids=lambda each: each.decode("latin-1")[:20] if isinstance(each, bytes) else "",
)
def test_what_is_not_recognised_is_said(head: bytes, says: str) -> None:
    assert format_of(head) is None
    assert says in what(head)
    assert "\n" not in what(head)


PROVIDERS = {
    "anthropic": "Anthropic Messages",
    "openai-chat": "OpenAI Chat Completions",
    "openai-responses": "OpenAI Responses",
    "gemini": "Gemini",
    "gemini-interactions": "Gemini Interactions",
    "cohere": "Cohere",
    "ollama": "Ollama",
    "ag-ui": "AG-UI",
    "bedrock-converse": "AWS",
}


@pytest.mark.parametrize("folder", PROVIDERS)
def test_recordings_of_others_are_known_by_their_marks(folder: str) -> None:
    if not CORPUS.is_dir():
        pytest.skip(f"the corpus of recordings is not at {CORPUS}")
    paths = sorted(path for path in (CORPUS / folder).rglob("*") if path.suffix in (".sse", ".jsonl", ".eventstream"))
    named = [found.name if (found := other(path.read_bytes())) is not None else "" for path in paths]
    assert len(named) > 5
    wrong = [name for name in named if name and PROVIDERS[folder] not in name and "error" not in name]
    assert wrong == []
    assert sum(PROVIDERS[folder] in name for name in named) >= 0.9 * len(named)


def failing(call: Any) -> TranslateError:
    with pytest.raises(TranslateError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("size", [1, 7, 100, 1 << 20])
@pytest.mark.parametrize(
    ("data", "named", "looks_like"),
    [
        (FRAMES, "unievent-sse", "the format 'gateway-sse'"),
        (b"data: x\n\n", "gateway-jsonl", "SSE, not lines of JSON"),
        (b'{"a":1}\n', "gateway-sse", "JSON, not SSE"),
        (TURN, "gateway-sse", "the format 'unievent-sse'"),
        (TURN, "gateway", "the format 'unievent-sse'"),
        (CHAT, "gateway-sse", "the format 'openai-chat-sse'"),
        (GEMINI, "gateway-sse", "a stream of Gemini, but its first unit is broken or not whole"),
        (COHERE, "gateway-sse", "a stream of Cohere, for which no codec is installed"),
    ],
)
def test_an_error_says_what_the_input_looks_like(data: bytes, named: str, looks_like: str, size: int) -> None:
    chunks = [data[at : at + size] for at in range(0, min(len(data), 3000), size)]
    for call in (
        lambda: list(translate.convert(chunks, named, "events")),
        lambda: list(translate.decode(chunks, named)),
        lambda: translate.assemble(chunks, named, "unievent"),
    ):
        error = failing(call)
        assert error.looks_like is not None
        assert error.looks_like.startswith(looks_like)
        assert f"; the input looks like {looks_like}" in str(error)
    findings = translate.check(chunks, named)
    assert f"; the input looks like {looks_like}" in findings[-1].reason
    assert findings[-1].field == type(error).__name__


def test_lines_of_json_that_turn_out_to_be_sse() -> None:
    assert failing(lambda: list(translate.convert(FRAMES, "gateway-jsonl", "events"))).looks_like == (
        "the format 'gateway-sse'"
    )


def test_a_text_that_only_begins_is_looked_at_as_far_as_it_was_read() -> None:
    read = 0

    def source() -> Any:
        nonlocal read
        for at in range(0, len(FRAMES), 50):
            read += 1
            yield FRAMES[at : at + 50]

    error = failing(lambda: list(translate.convert(source(), "unievent-sse", "events")))
    assert error.looks_like == "the format 'gateway-sse'"
    assert read * 50 < FRAMES.index(b"\n\n", FRAMES.index(b"data:")) + 100


def test_objects_and_asynchronous_input_are_looked_at_too() -> None:
    unit = next(iter(translate.convert(TURN, "unievent-sse", "gateway")))
    assert failing(lambda: list(translate.convert([unit], "unievent", "events"))).looks_like == "the format 'gateway'"

    async def chunks() -> AsyncIterator[bytes]:
        yield FRAMES

    async def read() -> None:
        async for _ in translate.convert(chunks(), "unievent-sse", "gateway"):
            pass

    assert failing(lambda: anyio.run(read)).looks_like == "the format 'gateway-sse'"


def test_what_is_of_the_named_format_is_not_said_to_look_like_another() -> None:
    for data, named in ((TURN[:300], "unievent-sse"), (FRAMES[:300], "gateway"), (b"", "gateway"), (b"?", "gateway")):
        with pytest.raises(TranslateError) as caught:
            list(translate.convert(data, named, "events"))
        assert caught.value.looks_like is None
    late = TURN.replace(b"\n\n", b"\n\n" + FRAMES, 1)
    error = failing(lambda: list(translate.convert(late, "unievent-sse", "events")))
    assert (error.unit, error.looks_like) == (1, None), "it is only the beginning that tells"


def test_the_view_says_it_too_and_clients_are_not_told() -> None:
    seen = view(FRAMES, "unievent-sse", "gateway-sse")
    assert "the input looks like the format 'gateway-sse'" in seen["error"]["message"]
    with translate.convert(FRAMES, "unievent-sse", "gateway-sse", errors="encode") as out:
        said = b"".join(out)
        assert b"looks like" not in said
        assert isinstance(out.failure, DecodeError)
        assert out.failure.looks_like == "the format 'gateway-sse'"


@pytest.mark.parametrize("error", [DecodeError("x", expected="y", excerpt="z"), TruncatedStream("x")])
def test_the_repr_of_an_error_keeps_its_place(error: TranslateError) -> None:
    assert repr(error) == f"{type(error).__name__}('x')"
    error.locate(format="gateway", unit=3, offset=12, state="between runs")
    assert repr(error) == f"{type(error).__name__}('x', format='gateway', unit=3, byte=12, state='between runs')"
    assert repr(pickle.loads(pickle.dumps(error))) == repr(error)
