"""Libraries that translate streams too: the same work done by them, from chunks of SSE to blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, TypeAlias

from .turns import CHAT, CLAUDE, GEMINI, INTERACTIONS, RESPONSES

Like: TypeAlias = Callable[[Sequence[bytes]], list[bytes]]
"""Like work: from chunks of SSE to blocks."""


class Rival(NamedTuple):
    """What does like work; ``made`` sets it up."""

    dist: str
    what: str
    src: str
    dst: str
    made: Callable[[], Like]
    target: float


def lines(chunks: Sequence[bytes]) -> Iterator[str]:
    """The lines of a stream, however it was cut."""
    rest = b""
    for data in chunks:
        *whole, rest = (rest + data).split(b"\n")
        yield from map(bytes.decode, whole)


def _data(chunks: Sequence[bytes]) -> Iterator[str]:
    """The lines that hold a unit."""
    return (line for line in lines(chunks) if line[:7] == "data: {")


# ---- LLM-Rosetta -----------------------------------------------------------------------------------------

_ROSETTA: Final = {
    CHAT: "openai_chat",
    CLAUDE: "anthropic",
    RESPONSES: "openai_responses",
    GEMINI: "google",
    INTERACTIONS: "google_interactions",
}
_ASKS: Final[dict[str, dict[str, Any]]] = {
    RESPONSES: {"model": "m", "input": "?", "stream": True},
    GEMINI: {"model": "m", "contents": [{"role": "user", "parts": [{"text": "?"}]}]},
    INTERACTIONS: {"model": "m", "input": "?", "stream": True},
}
_ASK: Final = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}], "stream": True}


def _rosetta(src: str, dst: str) -> Callable[[], Like]:
    """As its gateway does it: its reader of lines, its pipeline, its formatter."""

    def make() -> Like:
        events = import_module("llm_rosetta._vendor.sse").EventSource
        formatted = import_module("llm_rosetta.gateway.transport.sse_format").SSE_FORMATTERS[_ROSETTA[dst]]
        pipeline = import_module("llm_rosetta.pipeline").ConversionPipeline(_ROSETTA[dst], _ROSETTA[src])
        pipeline.convert_request(_ASKS.get(dst, _ASK))

        def run(chunks: Sequence[bytes]) -> list[bytes]:
            processor = pipeline.create_stream_processor()
            out = []
            for event in events(lines(chunks)):
                if event.data != "[DONE]":
                    out += [formatted(unit).encode() for unit in processor.process_chunk(json.loads(event.data))]
            return out

        return run

    return make


# ---- LiteLLM ---------------------------------------------------------------------------------------------


def _written(units: Iterator[Any]) -> list[bytes]:
    return [f"data: {unit.model_dump_json(exclude_none=True, exclude_unset=True)}\n\n".encode() for unit in units]


def _iterator() -> Like:
    iterator = import_module("litellm.llms.anthropic.chat.handler").ModelResponseIterator

    def run(chunks: Sequence[bytes]) -> list[bytes]:
        return _written(iterator(streaming_response=_data(chunks), sync_stream=True))

    return run


def _wrapper() -> Like:
    wrapper = import_module("litellm.llms.anthropic.messages.adapters.streaming_iterator").AnthropicStreamWrapper
    unit = import_module("litellm.types.utils").ModelResponseStream

    def run(chunks: Sequence[bytes]) -> list[bytes]:
        units = (unit(**json.loads(text[6:])) for text in _data(chunks))
        return list(wrapper(completion_stream=units, model="m").anthropic_sse_wrapper())

    return run


def _responses() -> Like:
    module = import_module("litellm.completion_extras.litellm_responses_transformation.transformation")
    iterator = module.OpenAiResponsesToChatCompletionStreamIterator

    def run(chunks: Sequence[bytes]) -> list[bytes]:
        return _written(iterator(streaming_response=_data(chunks), sync_stream=True))

    return run


def _gemini() -> Like:
    module = import_module("litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini")
    asked = SimpleNamespace(optional_params={}, litellm_params={})

    def run(chunks: Sequence[bytes]) -> list[bytes]:
        found = module.ModelResponseIterator(_data(chunks), sync_stream=True, logging_obj=asked)
        return _written(iter(found))

    return run


PAIRS: Final = (
    *((CLAUDE, CHAT, 1 / 3), (CHAT, CLAUDE, 1 / 3)),
    *((src, dst, 1 / 2) for new in (RESPONSES, GEMINI, INTERACTIONS) for src, dst in ((new, CHAT), (CHAT, new))),
    *((src, dst, 1 / 2) for new in (RESPONSES, GEMINI) for src, dst in ((new, CLAUDE), (CLAUDE, new))),
)
"""Source, target, and at most how much of its time."""
RIVALS: Final = (
    *(Rival("llm-rosetta", "as in its gateway", src, dst, _rosetta(src, dst), most) for src, dst, most in PAIRS),
    Rival("litellm", "its iterator", CLAUDE, CHAT, _iterator, 1 / 10),
    Rival("litellm", "its wrapper", CHAT, CLAUDE, _wrapper, 1 / 25),
    Rival("litellm", "its iterator", RESPONSES, CHAT, _responses, 1 / 10),
    Rival("litellm", "its iterator", GEMINI, CHAT, _gemini, 1 / 10),
)


def text_of(sse: bytes) -> str:
    """The text that a stream of any of these formats says, by the plainest reading there is."""
    found: list[Any] = []
    for data in re.findall(rb"(?m)^data: (\{.*)$", sse):
        unit = json.loads(data)
        delta, kind = unit.get("delta"), str(unit.get("type"))
        if kind == "response.output_text.delta":
            found.append(delta)
        elif isinstance(delta, dict) and delta.get("type") in ("text_delta", "text"):
            found.append(delta["text"])
        found += [each["delta"].get("content") for each in unit.get("choices", ())]
        for each in unit.get("candidates", ()):
            parts = (each.get("content") or {}).get("parts", ())
            found += [part.get("text") for part in parts if not part.get("thought")]
    return "".join(filter(None, found))
