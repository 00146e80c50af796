"""The work: one generated turn in the words of each format, and the limits that translations are measured against.

Neither is made by the library: what it says is compared with this.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from typing import Any, NamedTuple, TypeAlias

import orjson

from translate import Translator

Unit: TypeAlias = dict[str, Any]

WORDS = ["The", " quick", " brown", " fox", " in", " Paris", " é", " “so”", "日本", " token", "ization", ".", "\n"]
ARGUMENTS = '{"location": "Paris, France", "unit": "celsius", "days": [1, 2, 3, 4, 5]}'
NOW = 1796030591499


class Run(NamedTuple):
    """One part: its fragments; the signature of a thinking run, the id of a call."""

    kind: str
    pieces: list[str]
    signature: str = ""
    id: str = ""

    @property
    def whole(self) -> str:
        """What the fragments add up to."""
        return "".join(self.pieces)


def turn(events: int = 500, seed: int = 1) -> list[Run]:
    """About ``events`` UniEvents: one thinking run with its signature, one text run, two calls, all token-sized."""
    rng = random.Random(seed)

    def words(count: int) -> list[str]:
        return [rng.choice(WORDS) for _ in range(count)]

    arguments = [ARGUMENTS[i : i + 4] for i in range(0, len(ARGUMENTS), 4)]
    return [
        Run("thinking", words(events * 36 // 100), signature="E" * 400),
        Run("text", words(events * 54 // 100)),
        *(Run("tool_call", arguments, id=f"toolu_{call}") for call in range(2)),
    ]


def unievent(item: Unit, at: int = NOW) -> Unit:
    """The event of one item."""
    members = {"content_items": [item], "usage_metadata": None, "finish_reason": None, "created_at": at}
    return {"role": "assistant", "event_type": "delta", **members}


def unievent_stop(at: int = NOW, cached: int | None = 0) -> Unit:
    """The last event."""
    usage = {"cached_tokens": cached, "prompt_tokens": 10, "thoughts_tokens": None, "response_tokens": 5}
    members = {"content_items": [], "usage_metadata": usage, "finish_reason": "tool_call", "created_at": at}
    return {"role": "assistant", "event_type": "stop", **members}


def unievents(runs: list[Run]) -> list[Unit]:
    """The turn in UniEvents, one every 7 ms."""
    items = [item for run in runs for item in (*_deltas(run), _done(run))]
    events = [unievent(item, NOW + 7 * i) for i, item in enumerate(items)]
    return [*events, unievent_stop(NOW + 7 * len(events))]


def home(runs: list[Run]) -> list[Unit]:
    """The UniEvents that its gateway frames alone come home as, all at one time: a call is one fragment."""
    runs = [run._replace(pieces=[run.whole]) if run.kind == "tool_call" else run for run in runs]
    items = [item for run in runs for item in (*_deltas(run), _done(run))]
    return [*(unievent(item) for item in items), unievent_stop(cached=None)]


def _deltas(run: Run) -> Iterable[Unit]:
    for i, piece in enumerate(run.pieces):
        if run.kind == "tool_call":
            name, id = ("", "") if i else ("get_weather", run.id)
            yield {"type": "tool_call.delta", "name": name, "arguments": piece, "tool_call_id": id}
        else:
            yield {"type": f"{run.kind}.delta", run.kind: piece}
    if run.signature:
        yield {"type": f"{run.kind}.delta", run.kind: "", "fidelity": {"signature": run.signature}}


def _done(run: Run) -> Unit:
    if run.kind == "tool_call":
        arguments = orjson.loads(run.whole)
        return {"type": "tool_call.done", "name": "get_weather", "arguments": arguments, "tool_call_id": run.id}
    state = {"fidelity": {"signature": run.signature}} if run.signature else {}
    return {"type": f"{run.kind}.done", run.kind: run.whole, **state}


def frame(kind: str, **members: Any) -> Unit:
    """An envelope of the gateway."""
    return {"success": True, "code": 200, "value": {"type": kind, **members}}


def frames(runs: list[Run]) -> list[Unit]:
    """The turn in gateway frames."""
    unknown = dict.fromkeys(("name", "tier", "publisher", "provider"), "unknown")
    out = [frame("streamStart", model=unknown)]
    for run in runs:
        if run.kind == "tool_call":
            out.append(frame("tool", value={"id": run.id, "name": "get_weather", "arguments": run.whole}))
            continue
        kind = "content" if run.kind == "text" else run.kind
        out.append(frame(f"{kind}Start"))
        out += [frame(kind, value=piece) for piece in run.pieces]
        state = {"data": {"signature": run.signature}} if run.signature else {}
        out.append(frame(f"{kind}End", **state))
    usage = {"provider": "unknown", "inputTokens": 10, "outputTokens": 5, "finishReason": "toolCall"}
    return [*out, frame("stop", usage=usage)]


def lines(units: Iterable[Unit]) -> list[bytes]:
    """One unit a line."""
    return [orjson.dumps(unit) + b"\n" for unit in units]


def framing(unit: Unit) -> bytes:
    """What is before a gateway frame's JSON on SSE."""
    return b"event: %s\ndata: " % unit["value"]["type"].encode()


def gateway_sse(units: Iterable[Unit]) -> list[bytes]:
    """Gateway frames on SSE."""
    return [framing(unit) + orjson.dumps(unit) + b"\n\n" for unit in units]


def unievent_sse(units: Iterable[Unit]) -> list[bytes]:
    """UniEvents on SSE."""
    return [*(b"data: " + orjson.dumps(unit) + b"\n\n" for unit in units), b"data: [DONE]\n\n"]


def bare(sse: bytes) -> bytes:
    """Without the comments that are carries."""
    return re.sub(rb"(?m)^: carry .*\n", b"", sse)


def cut(data: bytes, size: int) -> list[bytes]:
    """``data`` in chunks of ``size`` bytes."""
    return [data[i : i + size] for i in range(0, len(data), size)]


def limit_forward(events: Sequence[Unit], frames: Sequence[Unit]) -> Callable[[], list[bytes]]:
    """L_fwd: each event read as JSON, and an envelope of the translation's own written with its framing, in turn."""
    return limit(*_paired(events, frames))


def limit_reverse(frames: Sequence[Unit], events: Sequence[Unit]) -> Callable[[], list[bytes]]:
    """L_rev: each frame read as JSON, and an event of the translation's own written as a line, in turn."""
    return limit(*_paired(frames, events))


def limit_read(units: Iterable[Unit]) -> Callable[[], None]:
    """L_read: each unit read as JSON."""
    texts = [orjson.dumps(unit) for unit in units]

    def limit() -> None:
        for text in texts:
            orjson.loads(text)

    return limit


def _paired(read: Sequence[Unit], written: Sequence[Unit]) -> tuple[Sequence[Unit], list[Unit]]:
    """As many written as read: the formats' counts differ by the brackets and the fragments of calls."""
    return read, [unit for _, unit in zip(read, cycle(written), strict=False)]


def limit(read: Sequence[Unit], written: Sequence[Unit]) -> Callable[[], list[bytes]]:
    """Each unit read as JSON, and each written as JSON with its framing: frames on SSE, UniEvents as lines. In turn."""
    texts = [orjson.dumps(unit) for unit in read]
    framed = [(framing(unit), unit, b"\n\n") if "success" in unit else (b"", unit, b"\n") for unit in written]
    both = min(len(texts), len(framed))
    pairs = list(zip(texts, framed, strict=False))

    def run() -> list[bytes]:
        out = []
        for text, (head, unit, tail) in pairs:
            orjson.loads(text)
            out.append(head + orjson.dumps(unit) + tail)
        for text in texts[both:]:
            orjson.loads(text)
        return out + [head + orjson.dumps(unit) + tail for head, unit, tail in framed[both:]]

    return run


def made(src: str, dst: str, loss: str, **options: Any) -> Translator:
    """A translator whose clock stands still."""
    asked: dict[str, Any] = {"loss": loss, "clock": lambda: NOW, **options}
    return Translator(src, dst, **asked)


def conversion(chunks: Sequence[Any], src: str, dst: str, loss: str) -> Callable[[], list[Any]]:
    """The translation of a whole stream, sans I/O."""

    def run() -> list[Any]:
        translator = made(src, dst, loss)
        out: list[Any] = []
        for chunk in chunks:
            out += translator.feed(chunk)
        return out + translator.close()

    return run
