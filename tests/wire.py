"""Both wires, written without the library: units by hand, the shapes they travel in, and what is left without carries.

Nothing here imports a codec. What the tests expect is made with these few builders, or spelled out.
"""

import base64
import itertools
import json
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from translate import Translator

Object: TypeAlias = dict[str, Any]

AT = 1694502400000
CLOCK = 1700000000000
"""What the tests' clock says: a time that no source unit has."""

PARIS_MODEL: Object = {"name": "claude-sonnet-5", "tier": "high", "publisher": "Anthropic", "provider": "Anthropic"}
NO_MODEL: Object = {"name": "unknown", "tier": "unknown", "publisher": "unknown", "provider": "unknown"}

SHAPES = {
    "unievent": ("unievent", "unievent-jsonl", "unievent-sse"),
    "gateway": ("gateway", "gateway-jsonl", "gateway-sse"),
}


# ---- UniEvent units -------------------------------------------------------------------------------


def delta(item: Object, at: int | None = AT) -> Object:
    """A delta event; without ``created_at`` where ``at`` is ``None``."""
    event: Object = {
        "role": "assistant",
        "event_type": "delta",
        "content_items": [item],
        "usage_metadata": None,
        "finish_reason": None,
    }
    return event if at is None else {**event, "created_at": at}


def item(kind: str, grown: Any, fidelity: Object | None = None) -> Object:
    """An item of text, reasoning or a vector: ``kind`` is its whole type."""
    field = kind.partition(".")[0]
    out = {"type": kind, field: grown}
    return out if fidelity is None else {**out, "fidelity": fidelity}


def call(phase: str, arguments: Any, name: str = "", id: str = "", fidelity: Object | None = None) -> Object:
    """An item of a call, in the reference's order of keys."""
    out = {"type": f"tool_call.{phase}", "name": name, "arguments": arguments, "tool_call_id": id}
    return out if fidelity is None else {**out, "fidelity": fidelity}


def inline(kind: str, data: str | bytes, mime_type: str = "audio/wav") -> Object:
    """An item of bytes."""
    return {"type": kind, "data": data, "mime_type": mime_type}


def stop(
    reason: str = "stop",
    *,
    cached: int | None = 0,
    prompt: int | None = 10,
    thoughts: int | None = None,
    response: int | None = 5,
    at: int | None = AT,
) -> Object:
    """The stop event."""
    event: Object = {
        "role": "assistant",
        "event_type": "stop",
        "content_items": [],
        "usage_metadata": {
            "cached_tokens": cached,
            "prompt_tokens": prompt,
            "thoughts_tokens": thoughts,
            "response_tokens": response,
        },
        "finish_reason": reason,
    }
    return event if at is None else {**event, "created_at": at}


def text_group(*fragments: str, at: int | None = AT) -> list[Object]:
    """A group of text: its fragments and its ``.done``."""
    return [
        *(delta(item("text.delta", fragment), at) for fragment in fragments),
        delta(item("text.done", "".join(fragments)), at),
    ]


def call_group(raw: str, arguments: Object, name: str, id: str, at: int | None = AT) -> list[Object]:
    """A call that came as one fragment."""
    return [delta(call("delta", raw, name, id), at), delta(call("done", arguments, name, id), at)]


# ---- gateway units --------------------------------------------------------------------------------


def frame(kind: str, **members: Any) -> Object:
    """An envelope with a frame."""
    return {"success": True, "code": 200, "value": {"type": kind, **members}}


def start(model: Object | None = None) -> Object:
    """A ``streamStart``; of an unknown model where none is given."""
    return frame("streamStart", model=NO_MODEL if model is None else model)


def broken(model: Object | None = None) -> Object:
    """A ``streamError``."""
    return frame("streamError", model=NO_MODEL if model is None else model)


def content(*fragments: str) -> list[Object]:
    """An answer run."""
    return [frame("contentStart"), *(frame("content", value=text) for text in fragments), frame("contentEnd")]


def thinking(*fragments: str, **end: Any) -> list[Object]:
    """A reasoning run; ``end``: members of its ``thinkingEnd``."""
    fragments_ = (frame("thinking", value=text) for text in fragments)
    return [frame("thinkingStart"), *fragments_, frame("thinkingEnd", **end)]


def tool(id: str, name: str, arguments: str) -> Object:
    """A whole call."""
    return frame("tool", value={"id": id, "name": name, "arguments": arguments})


def usage(given: int = 10, made: int = 5, reason: str = "stop", provider: str = "unknown", **more: Any) -> Object:
    """A stop frame."""
    counts = {"provider": provider, "inputTokens": given, "outputTokens": made, "finishReason": reason, **more}
    return frame("stop", usage=counts)


def failed(code: int, message: str, **more: Any) -> Object:
    """An error envelope."""
    return {"success": False, "code": code, "message": message, **more}


# ---- shapes ---------------------------------------------------------------------------------------


def dumps(value: Any) -> bytes:
    """JSON as a careful writer writes it: compact, unescaped but for what some readers take for a line end.

    Bytes are base64 text on a wire.
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=lambda b: base64.b64encode(b).decode())
    text = re.sub("[\x85\u2028\u2029\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.encode()


def lines(units: Iterable[Object]) -> bytes:
    """JSON lines."""
    return b"".join(dumps(unit) + b"\n" for unit in units)


def blocks(units: Iterable[Object], carries: dict[int, Object] | None = None, *, done: bool = False) -> bytes:
    """An event stream, with event names for envelopes, and ``[DONE]`` after a UniEvent stream.

    ``carries``: the carry of the unit of that index.
    """
    out = b""
    for index, unit in enumerate(units):
        if carries and index in carries:
            out += b": carry " + dumps(carries[index]) + b"\n"
        if "success" in unit:
            out += b"event: " + name_of(unit).encode() + b"\n"
        out += b"data: " + dumps(unit) + b"\n\n"
    return out + (b"data: [DONE]\n\n" if done else b"")


def name_of(unit: Object) -> str:
    """The SSE event name of an envelope."""
    return str(unit["value"]["type"]) if unit["success"] else "error"


def shaped(units: list[Object], format: str) -> Any:
    """Units as one stream of ``format``."""
    if format.endswith("-sse"):
        return blocks(units, done=format.startswith("unievent"))
    return lines(units) if format.endswith("-jsonl") else list(units)


def read(data: Any, format: str) -> list[Object]:
    """The units of a stream, carries in JSON shapes included."""
    if not isinstance(data, bytes):
        return list(data)
    if format.endswith("-sse"):
        found = [line[6:] for line in data.split(b"\n") if line.startswith(b"data: ")]
    else:
        found = data.splitlines()
    return [json.loads(text) for text in found if text != b"[DONE]"]


def stripped(data: Any, format: str) -> Any:
    """A stream with all carries removed, in the same shape."""
    if format.endswith("-sse"):
        kept = [_without_carry(block) for block in data.split(b"\n\n")]
        return b"\n\n".join(block for block in kept if block) + b"\n\n"
    if format.endswith("-jsonl"):
        # the last member of its line; not read as JSON, so that every number keeps its spelling
        return re.sub(rb',"carry":\{.*\}\n', b"}\n", data)
    return [{k: v for k, v in unit.items() if k != "carry"} for unit in data]


def _without_carry(block: bytes) -> bytes:
    return b"\n".join(line for line in block.split(b"\n") if not line.startswith(b": carry "))


# ---- conversion -----------------------------------------------------------------------------------


def attempt(stream: Any, src: str, dst: str, **options: Any) -> tuple[Any, Exception | None]:
    """All the output there is, joined where it is bytes, and the error that ended it."""
    options.setdefault("clock", lambda: CLOCK)
    machine = Translator(src, dst, **options)
    out: list[Any] = []
    error: Exception | None = None
    try:
        for chunk in [stream] if isinstance(stream, (bytes, str)) else stream:
            out += machine.feed(chunk)
        out += machine.close()
        # an error that was met after output was made is kept
        error = machine.error
    except Exception as raised:
        error = raised
    return b"".join(out) if machine.joined else out, error


def translated(stream: Any, src: str, dst: str, **options: Any) -> Any:
    """The output of a conversion that succeeds."""
    out, error = attempt(stream, src, dst, **options)
    if error is not None:
        raise error
    return out


def chained(stream: Any, *formats: str, **options: Any) -> Any:
    """A stream of the first format through all others."""
    for src, dst in itertools.pairwise(formats):
        stream = translated(stream, src, dst, **options)
    return stream


# ---- streams with carries, taken apart -----------------------------------------------------------------

Pair: TypeAlias = tuple[Object | None, Object | None]
"""A carry and the unit it speaks for; either may be missing."""


def pairs(stream: bytes) -> list[Pair]:
    """The blocks of an event stream, ``[DONE]`` left out."""
    out: list[Pair] = []
    for block in stream.split(b"\n\n"):
        carry: Object | None = None
        unit: Object | None = None
        for line in block.split(b"\n"):
            if line.startswith(b": carry "):
                carry = json.loads(line[8:])
            elif line.startswith(b"data: ") and line != b"data: [DONE]":
                unit = json.loads(line[6:])
        if carry is not None or unit is not None:
            out.append((carry, unit))
    return out


def together(blocks_: Iterable[Pair], format: str) -> Any:
    """The stream that the pairs are, in any shape; in JSON shapes what has no unit rides in the next unit's carry."""
    if format.endswith("-sse"):
        out = b""
        for carry, unit in blocks_:
            head = b"" if carry is None else b": carry " + dumps(carry) + b"\n"
            out += head + (b"\n" if unit is None else blocks([unit]))
        return out + (b"data: [DONE]\n\n" if format.startswith("unievent") else b"")
    units: list[Object] = []
    ahead: list[Object] = []
    for carry, unit in blocks_:
        if unit is None:
            ahead += [] if carry is None else [dict(carry)]
            continue
        whole = {**(carry or {}), "before": ahead} if ahead else carry
        for held in ahead:
            if whole is not None and "v" in held:
                whole["v"] = held.pop("v")
        units.append(unit if whole is None else {**unit, "carry": whole})
        ahead = []
    return lines(units) if format.endswith("-jsonl") else units
