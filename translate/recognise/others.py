"""What bytes are that no installed format reads: said so that whoever has them knows what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..registry import codec, formats

_WINDOW = 1 << 22
"""Bytes that are looked at."""
_FIRST = re.compile(rb"(?:^data:[^\r\n]*(?:\r\n|\n|\r|$))+", re.MULTILINE)
_DATA = re.compile(rb"^data:", re.MULTILINE)
_FIELD = re.compile(rb"(?:data|event|id|retry)(?::|$)|:")
_BOM = b"\xef\xbb\xbf"
_PACKED = (
    (b"\x1f\x8b", "compressed with gzip: unpack it, or give the file as a file whose name ends in .gz"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd: unpack it, or give the file as a file whose name ends in .zst"),
    (b"PK\x03\x04", "a ZIP archive: unpack it"),
    (b"PAR1", "a Parquet file, which `convert` and `stats` read as a file whose name ends in .parquet"),
)
_TEXT = (
    (re.compile(rb"HTTP/[\d.]+ \d"), "a whole HTTP answer: leave out its header fields (curl without -i)"),
    (re.compile(rb"<(?:!doctype|html|\?xml)", re.I), "a page of HTML or XML: an error page, it may be"),
)


def _of_type(*beginnings: str) -> Callable[[dict[str, Any]], bool]:
    return lambda unit: isinstance(unit.get("type"), str) and unit["type"].startswith(beginnings)


def _is_object(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda unit: unit.get("object") == name


@dataclass(frozen=True, slots=True)
class Other:
    """Something that is known by its marks. ``codec``: the name of the codec that reads it, where one is installed."""

    name: str
    codec: str
    marks: Callable[[dict[str, Any]], bool]

    @property
    def advice(self) -> str:
        """What it means for whoever has it."""
        if not self.codec:
            return self.name
        if any(codec(name).name == self.codec for name in formats()):
            return f"{self.name}, but its first unit is broken or not whole"
        return f"{self.name}, for which no codec is installed"


_BEDROCK = Other(
    "a stream of AWS Bedrock",
    "bedrock-converse",
    lambda u: not u.keys().isdisjoint(("messageStart", "contentBlockStart", "contentBlockDelta")),
)
OTHERS = (
    Other("a whole answer of OpenAI Chat Completions, not a stream", "", _is_object("chat.completion")),
    Other("a whole answer of OpenAI Responses, not a stream", "", _is_object("response")),
    Other("a whole answer of Anthropic Messages, not a stream", "", lambda u: u.get("type") == "message"),
    Other(
        "a stream of OpenAI Chat Completions",
        "openai-chat",
        lambda u: u.get("object") == "chat.completion.chunk" or isinstance(u.get("choices"), list),
    ),
    Other("a stream of OpenAI Responses", "openai-responses", _of_type("response.")),
    Other(
        "a stream of Anthropic Messages",
        "anthropic",
        _of_type("message_start", "content_block_", "message_delta"),
    ),
    Other("a stream of Gemini", "gemini", lambda u: isinstance(u.get("candidates"), list) or "promptFeedback" in u),
    Other(
        "a stream of Gemini Interactions",
        "gemini-interactions",
        lambda u: str(u.get("event_type")).startswith(("interaction.", "step.")),
    ),
    _BEDROCK,
    Other("a stream of Cohere", "cohere", _of_type("message-start", "content-start", "tool-plan-delta")),
    Other("a stream of Ollama", "ollama", lambda u: isinstance(u.get("done"), bool) and "model" in u),
    Other("a stream of AG-UI", "ag-ui", _of_type("RUN_", "TEXT_MESSAGE_", "STEP_")),
    Other("a stream of the Vercel AI SDK", "ai-sdk", _of_type("start-step", "text-start", "text-delta")),
    Other("an error, not a stream", "", lambda u: isinstance(u.get("error"), (dict, str))),
)
"""What others' units are, told by members that those have, and nobody else."""
MARKED = frozenset(each.codec for each in OTHERS if each.codec)
"""Names of the codecs, installed or not, whose streams have marks."""
_EVENTSTREAM = re.compile(rb"\x00.{3,60}:(?:event|exception|message)-type", re.DOTALL)


def other(head: Any) -> Other | None:
    """Whose stream begins so, by the marks of its first unit. ``head``: bytes, or that unit."""
    if not isinstance(head, dict):
        head = bytes(head[:_WINDOW])
        if _EVENTSTREAM.search(head[:200]) is not None:
            return _BEDROCK
        head = _unit(head)
    return next((each for each in OTHERS if each.marks(head)), None) if isinstance(head, dict) else None


def what(head: bytes) -> str:
    """What bytes are that :func:`translate.recognise.format_of` does not know: a sentence without its full stop."""
    text = bytes(head[:_WINDOW]).removeprefix(_BOM)
    stripped = text.strip()
    if not head:
        return "it is empty"
    if not stripped:
        return "it holds blank lines alone"
    known = other(text)
    if known is not None:
        return f"it looks like {known.advice}"
    for mark, name in _PACKED:
        if text.startswith(mark):
            return f"it is {name}"
    for pattern, name in _TEXT:
        if pattern.match(stripped):
            return f"it is {name}"
    if b"\x00" in text or _broken(text):
        return "it is binary data, no text in UTF-8"
    return f"it is {_text(stripped)}; `translate-streams formats` lists the formats that are read"


def is_json(head: bytes) -> bool:
    """Whether bytes begin as JSON lines or a JSON array do."""
    return head.removeprefix(_BOM).lstrip().startswith((b"{", b"["))


def is_sse(head: bytes) -> bool:
    """Whether the first lines of bytes are those of SSE."""
    lines = [line for line in head.removeprefix(_BOM).splitlines() if line.strip()]
    return bool(lines) and all(_FIELD.match(line) for line in lines[:3])


def _text(text: bytes) -> str:
    if all(line.startswith(b":") for line in text.splitlines() if line.strip()):
        return "SSE that holds comments alone, and no unit yet"
    unit = _unit(text)
    if isinstance(unit, dict):
        members = ", ".join(map(repr, list(unit)[:5])) or "none"
        return (
            f"JSON, but no unit of a format that is known (its members: {members[:200]}); where its records hold "
            "streams, name the field with --stream-field, or --unit-field"
        )
    if is_json(text):
        return "broken JSON, or the first unit is not whole"
    if is_sse(text):
        return "SSE, but the data of its first unit is no JSON, or not whole"
    return "text, neither JSON nor SSE"


def _unit(text: bytes) -> Any:
    """The first unit of JSON lines, of a JSON array, of one indented object, or of SSE; ``None`` without one."""
    text = text.removeprefix(_BOM).lstrip()
    found = _FIRST.search(text)
    if found is not None and not is_json(text):
        text = _DATA.sub(b"", found[0]).lstrip()
    try:
        value, _ = json.JSONDecoder().raw_decode(text.removeprefix(b"[").lstrip().decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value


def _broken(text: bytes) -> bool:
    """Whether text is not UTF-8. The last character may be cut off."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start < len(text) - 3 or error.reason != "unexpected end of data"
    return False
