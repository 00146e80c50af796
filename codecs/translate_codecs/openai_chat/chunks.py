"""What one chunk holds, by itself: its members checked, and brought to one form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from translate import jsontext
from translate.algebra.events import JsonObject, TokenCounts
from translate.algebra.json_form import base64_bytes
from translate.algebra.reading import kind_of, optional
from translate.errors import DecodeError

from .words import FIELDS, error_of, read_usage


@dataclass(slots=True)
class CallPiece:
    """A piece of a call. ``index``: what it is known by, ``None`` where nothing says; ``free``: its text is no JSON."""

    index: int | str | None
    id: str | None
    name: str | None
    text: str | None
    free: bool = False


@dataclass(slots=True)
class Executed:
    """A tool that the server ran: ``output`` once it is known."""

    index: int
    name: str | None
    arguments: str
    output: str | None


@dataclass(slots=True)
class Chunk:
    """What a chunk holds. ``None``: no such member; ``""``: an empty piece."""

    thinking: str | None = None
    member: str | None = None
    """What thinking came in, where it was one member."""
    text: str | None = None
    refusal: str | None = None
    calls: list[CallPiece] = field(default_factory=list)
    executed: list[Executed] = field(default_factory=list)
    audio: bytes | None = None
    notes: list[tuple[str, Any]] = field(default_factory=list)
    """Annotations: who issued each, and what it is."""
    details: list[JsonObject] = field(default_factory=list)
    reason: str | None = None
    usage: TokenCounts | None = None
    error: Any = None
    choices: int = 0


def read_chunk(unit: JsonObject) -> Chunk:
    """Raises :class:`DecodeError` where a member is of the wrong type, and for several choices."""
    out = Chunk(error=error_of(unit))
    choices = optional(unit, "choices", list, "a chunk") or []
    if len(choices) > 1:
        raise DecodeError(f"a chunk with {len(choices)} choices: one stream is one message", expected="one choice")
    out.choices = len(choices)
    for choice in choices:
        _object(choice, "a choice")
        if (index := choice.get("index")) not in (0, None):
            raise DecodeError(f"a choice of index {index!r}: one stream is one message", expected="index 0")
        _read_delta(optional(choice, "delta", dict, "a choice") or {}, out)
        out.reason = optional(choice, "finish_reason", str, "a choice") or None
    out.usage = read_usage(unit)
    citations = unit.get("citations")
    if isinstance(citations, list) and citations:
        out.notes.append(("perplexity", {"citations": citations}))
    return out


def _object(value: Any, what: str) -> JsonObject:
    if type(value) is not dict:
        raise DecodeError(f"{what} is {kind_of(value)}", expected="an object")
    return value


def _objects(owner: JsonObject, key: str, where: str = "a delta") -> Iterator[JsonObject]:
    for entry in optional(owner, key, list, where) or []:
        yield _object(entry, f"an entry of {key!r}")


def _read_delta(delta: JsonObject, out: Chunk) -> None:
    content = delta.get("content")
    if type(content) is str:
        out.text = content
    elif isinstance(content, list):
        _read_list(delta, out)
    else:
        out.text = optional(delta, "content", str, "a delta")
    for name in reversed(FIELDS):
        if name in delta:
            text = optional(delta, name, str, "a delta")
            if text or (text is not None and not out.thinking):
                out.thinking, out.member = text, None if out.thinking else name
    # most have nothing else
    for name, read in _MEMBERS.items():
        if delta.get(name) is not None:
            read(delta, out)


def _read_details(delta: JsonObject, out: Chunk) -> None:
    out.details = list(_objects(delta, "reasoning_details"))
    if out.thinking is None:
        texts = [entry.get(name) for entry in out.details for name in ("text", "summary")]
        out.thinking = "".join(filter(lambda text: isinstance(text, str), texts)) or None  # type: ignore[arg-type]


def _read_refusal(delta: JsonObject, out: Chunk) -> None:
    out.refusal = optional(delta, "refusal", str, "a delta")


def _read_calls(delta: JsonObject, out: Chunk) -> None:
    out.calls += [_read_call(entry) for entry in _objects(delta, "tool_calls")]


def _read_old_call(delta: JsonObject, out: Chunk) -> None:
    old = optional(delta, "function_call", dict, "a delta")
    name, text = (optional(old, key, str, "a function_call") for key in ("name", "arguments"))
    out.calls.append(CallPiece("function", None, name, text))


def _read_tools(delta: JsonObject, out: Chunk) -> None:
    out.executed = [_read_executed(entry, i) for i, entry in enumerate(_objects(delta, "executed_tools"))]


def _read_annotations(delta: JsonObject, out: Chunk) -> None:
    out.notes += [("openai", entry) for entry in optional(delta, "annotations", list, "a delta")]


def _read_list(delta: JsonObject, out: Chunk) -> None:
    """Content as a list of entries: text, thinking, references."""
    for entry in _objects(delta, "content"):
        kind = entry.get("type")
        if kind == "text":
            out.text = (out.text or "") + (optional(entry, "text", str, "an entry") or "")
        elif kind == "thinking":
            texts = [optional(each, "text", str, "an entry") or "" for each in _objects(entry, "thinking", "an entry")]
            out.thinking = (out.thinking or "") + "".join(texts)
        elif kind == "reference":
            out.notes.append(("mistral", entry))


def _read_call(entry: JsonObject) -> CallPiece:
    where = "an entry of 'tool_calls'"
    index, id = optional(entry, "index", int, where), optional(entry, "id", str, where)
    custom = optional(entry, "custom", dict, where)
    called = custom if custom is not None else optional(entry, "function", dict, where) or {}
    name = optional(called, "name", str, "a function")
    text = called.get("arguments" if custom is None else "input")
    if isinstance(text, dict):
        # some servers send an object where text belongs
        text = jsontext.dumps(text).decode("utf-8", "surrogatepass")
    elif text is not None and not isinstance(text, str):
        raise DecodeError(f"the arguments of a call are {kind_of(text)}", expected="text")
    return CallPiece(index, id or None, name or None, text, custom is not None)


def _read_executed(entry: JsonObject, at: int) -> Executed:
    index = optional(entry, "index", int, "an executed tool")
    name, arguments = (optional(entry, key, str, "an executed tool") for key in ("type", "arguments"))
    output = entry.get("output")
    if output is not None and not isinstance(output, str):
        output = jsontext.dumps(output).decode("utf-8", "surrogatepass")
    return Executed(at if index is None else index, name, arguments or "", output)


def _read_audio(delta: JsonObject, out: Chunk) -> None:
    audio = optional(delta, "audio", dict, "a delta")
    text = optional(audio, "data", str, "audio")
    try:
        out.audio = base64_bytes(text) if text else None
    except ValueError:
        raise DecodeError("the data of audio is not base64", expected="base64") from None
    transcript = optional(audio, "transcript", str, "audio")
    if transcript:
        out.notes.append(("openai", {"transcript": transcript}))


_MEMBERS: Final[dict[str, Callable[[JsonObject, Chunk], None]]] = {
    "reasoning_details": _read_details,
    "refusal": _read_refusal,
    "tool_calls": _read_calls,
    "function_call": _read_old_call,
    "executed_tools": _read_tools,
    "annotations": _read_annotations,
    "audio": _read_audio,
}
"""What else a delta may have, in the order in which it is read."""
MEANT: Final = frozenset({"role", "content", *FIELDS, *_MEMBERS})
"""The members of a delta that mean something."""
