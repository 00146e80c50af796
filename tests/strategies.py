"""Streams of the built-in formats: events said natively and strewn with what else a format may hold, and wild ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from translate import check, convert, encode, jsontext
from translate.algebra.events import JsonObject
from translate.testing import ELSEWHERE, Knobs, event_streams, json_objects, json_values, object_texts, texts

settings.register_profile(
    "ci", max_examples=12, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
settings.register_profile("long", settings.get_profile("ci"), max_examples=2000, derandomize=False)
settings.register_profile("find", settings.get_profile("ci"), phases=[Phase.explicit, Phase.generate], max_examples=40)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

NOW = 1694502400000
OBJECTS = ("unievent", "gateway", "events")
FORMATS = (
    *("unievent", "unievent-jsonl", "unievent-sse"),
    *("gateway", "gateway-jsonl", "gateway-sse"),
    *("events", "events-jsonl"),
)
UNKNOWN_UNIEVENTS: st.SearchStrategy[JsonObject] = st.one_of(
    st.fixed_dictionaries({"event_type": st.sampled_from(("ping", "")), "x": json_values()}),
    st.fixed_dictionaries(
        {
            "role": st.just("assistant"),
            "event_type": st.just("delta"),
            "content_items": st.lists(
                st.fixed_dictionaries({"type": st.sampled_from(("image.delta", "x")), "x": json_values()}),
                min_size=1,
                max_size=1,
            ),
        }
    ),
)
UNKNOWN_FRAMES: st.SearchStrategy[JsonObject] = st.fixed_dictionaries(
    {
        "success": st.just(True),
        "code": st.sampled_from((200, 201)),
        "value": st.fixed_dictionaries({"type": st.sampled_from(("usage", "ping")), "value": json_values()}),
    }
)
FOREIGN: dict[str, st.SearchStrategy[JsonObject]] = {
    ELSEWHERE: json_objects(),
    "unievent": UNKNOWN_UNIEVENTS,
    "gateway": UNKNOWN_FRAMES,
}
KNOBS = Knobs(foreign=FOREIGN, broken_calls=False)
"""What every format takes: UniEvent has no words for a call that broke off."""
NAMES = st.sampled_from(("x-unknown", "carry", "$x", "synthetic", "é"))


def clock() -> int:
    """A clock that stands still."""
    return NOW


@dataclass(frozen=True, repr=False)
class Source:
    """A stream of one format."""

    format: str
    stream: list[Any]

    def __repr__(self) -> str:
        text = repr(self.stream)
        return f"Source({self.format!r}, {text if len(text) < 4000 else text[:400] + ' …'})"

    @property
    def joined(self) -> bytes:
        """All bytes of a byte format."""
        return b"".join(self.stream)


def codec_of(format: str) -> str:
    """The codec that a format's name says."""
    return format.partition("-")[0]


def to(source: Source, format: str, **options: Any) -> Source:
    """The source, converted."""
    return Source(format, list(convert(source.stream, source.format, format, clock=clock, **options)))


def laid_out(units: Sequence[JsonObject], format: str) -> Source:
    """Units as our own writer lays them out: what we write of what we read, which law 9 holds for."""
    codec = codec_of(format)
    source = Source(codec, list(units))
    return source if format == codec else to(source, format, errors="encode")


@st.composite
def native_units(draw: st.DrawFn, codec: str) -> list[JsonObject]:
    """Units of a codec without a carry: events said natively, and strewn with unknown members, units, odd codes."""
    events = draw(event_streams(replace(KNOBS, residues=())))
    units: list[JsonObject] = list(encode(events, codec, clock=draw(clocks()), loss="drop"))
    out: list[JsonObject] = []
    for unit in units:
        odd = draw(st.integers(0, 5))
        if odd == 0:
            out.append(sprinkled(draw, codec, unit))
            continue
        if odd == 1 and out:
            out.append(draw(FOREIGN[codec]))
        out.append(unit)
    return out


def clocks() -> st.SearchStrategy[Callable[[], Any]]:
    """Clocks that stand still, at odd times too."""
    return st.sampled_from((NOW, 0, -1, 2**70, 1694502400000.5)).map(lambda now: lambda: now)


def sprinkled(draw: st.DrawFn, codec: str, unit: JsonObject) -> JsonObject:
    """The unit with something that only its own codec says."""
    where = draw(st.integers(0, 2))
    name, value = draw(NAMES), draw(json_values())
    if name == "carry" and isinstance(value, dict):
        value = [value]
    if codec == "gateway":
        if where == 0 and unit["success"]:
            return {**unit, "code": draw(st.sampled_from((201, 0, -1, 2**70)))}
        if where == 1 and unit["success"]:
            return {**unit, "value": {**unit["value"], name: value}}
        return {**unit, name: value}
    if where == 0 and "created_at" in unit:
        return {key: unit[key] for key in unit if key != "created_at"}
    if where == 1 and unit.get("content_items"):
        return {**unit, "content_items": [{**unit["content_items"][0], name: value}]}
    return {**unit, name: value}


@st.composite
def sources(draw: st.DrawFn, formats: Sequence[str] = FORMATS) -> Source:
    """A valid stream of any of the formats: native, wild, or with what others say of it in a carry."""
    format = draw(st.sampled_from(formats))
    codec = codec_of(format)
    how = draw(st.integers(0, 3))
    if codec == "events" or how == 0:
        return Source(format, list(encode(draw(event_streams(KNOBS)), format, clock=clock)))
    if how == 1:
        return laid_out(draw(WILD[codec]()), format)
    return laid_out(draw(native_units(codec)), format)


# ---- wild streams: written by hand from the source documents, not by our encoders ---------------------


def _event(item: JsonObject) -> JsonObject:
    event: JsonObject = {"role": "assistant", "event_type": "delta", "content_items": [item]}
    return {**event, "usage_metadata": None, "finish_reason": None}


@st.composite
def wild_unievents(draw: st.DrawFn) -> list[JsonObject]:
    """UniEvents: groups of text, thinking and calls, fidelity on any fragment and on the ``.done``."""
    out: list[JsonObject] = []
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(("text", "text", "thinking", "tool_call", "inline_data", "embedding")))
        fidelity = {"fidelity": draw(json_objects(min_size=1))} if draw(st.booleans()) and kind != "embedding" else {}
        if kind == "tool_call":
            head: JsonObject = {"name": "f", "tool_call_id": "toolu_1"}
            empty: JsonObject = {"name": "", "tool_call_id": ""}
            whole: Any = draw(object_texts())
            grown: list[Any] = [whole[:3], whole[3:]]
            done: Any = jsontext.loads_text(whole) if whole.strip() else {}
            field = "arguments"
        elif kind in ("inline_data", "embedding"):
            head = empty = {"mime_type": "image/png"} if kind == "inline_data" else {}
            grown = [b"ab", b""] if kind == "inline_data" else [[1, 0.5]]
            done = b"ab" if kind == "inline_data" else [1, 0.5]
            field = "data" if kind == "inline_data" else "embedding"
        else:
            head = empty = {}
            grown = draw(st.lists(texts(), min_size=1, max_size=4))
            done, field = jsontext.whole("".join(grown)), kind
        stated = draw(st.integers(0, len(grown) - 1))
        for i, piece in enumerate(grown):
            said = {"type": f"{kind}.delta", **(head if i == 0 else empty), field: piece}
            out.append(_event({**said, **(fidelity if i == stated else {})}))
        out.append(_event({"type": f"{kind}.done", **head, field: done, **fidelity}))
    counts = st.sampled_from((None, 0, 5, 10**30))
    names = ("cached_tokens", "prompt_tokens", "thoughts_tokens", "response_tokens")
    usage = {name: draw(counts) for name in names if draw(st.integers(0, 5))}
    reason = draw(st.sampled_from(("stop", "length", "tool_call", "unknown", "tool_calls", "END_TURN", "refusal", "")))
    if draw(st.integers(0, 3)):
        stop = {"role": "assistant", "event_type": "stop", "content_items": [], "usage_metadata": usage}
        out.append({**stop, "finish_reason": reason})
    else:
        status = st.sampled_from([dict[str, Any](), {"status": 503}, {"status": 200}, {"status": None}])
        kind = draw(st.sampled_from(("UpstreamError", "UnsupportedParameterError", "x")))
        out.append({"error": {"type": kind, "message": "no", **draw(status)}})
    stamp = draw(st.sampled_from([dict[str, Any](), {"created_at": NOW}, {"created_at": 1.5}, {"created_at": None}]))
    return [{**unit, **(stamp if "error" not in unit else {})} for unit in out]


@st.composite
def wild_frames(draw: st.DrawFn) -> list[JsonObject]:
    """Gateway envelopes: runs, calls, handovers, several segments, every ending."""
    word = st.sampled_from(("Anthropic", "openai", "unknown", "", "é"))
    names = ("name", "tier", "publisher", "provider")

    def model() -> JsonObject:
        return {name: draw(word) for name in names if draw(st.integers(0, 5))}

    frames: list[JsonObject] = [{"type": "streamStart", "model": model()}]
    for _ in range(draw(st.integers(0, 5))):
        kind = draw(st.sampled_from(("content", "thinking", "tool", "streamError", "streamStart")))
        if kind in ("streamError", "streamStart"):
            frames.append({"type": kind, "model": model()})
        elif kind == "tool":
            call = {"id": draw(st.sampled_from(("1", ""))), "name": "f", "arguments": draw(object_texts())}
            frames.append({"type": kind, "value": call})
        else:
            frames.append({"type": f"{kind}Start"})
            frames += [{"type": kind, "value": text} for text in draw(st.lists(texts(), max_size=3))]
            if draw(st.integers(0, 5)) == 0:
                frames.append({"type": "streamError", "model": model()})
                continue
            data = st.one_of(json_objects(), st.just({"anthropic.signature": "…"}), st.none())
            states = st.sampled_from(({}, {"data": draw(data)}))
            frames.append({"type": f"{kind}End", **(draw(states) if kind == "thinking" else {})})
    units: list[JsonObject] = [{"success": True, "code": 200, "value": frame} for frame in frames]
    message = draw(texts())
    if draw(st.integers(0, 3)) == 0:
        code = draw(st.sampled_from((502, 400, 599, 200, 0)))
        return [*units, {"success": False, "code": code, "message": message}][draw(st.sampled_from((0, 0, -1))) :]
    usage = {"provider": draw(word), "inputTokens": draw(st.sampled_from((0, 24, 10**30))), "outputTokens": 3}
    reason = draw(st.sampled_from(("stop", "length", "toolCall", "tool_calls", "unknown", "refusal", "", "STOP")))
    stop = {"type": "stop", "usage": {**usage, "finishReason": reason}}
    return [*units, {"success": True, "code": 200, "value": stop}]


WILD: dict[str, Callable[[], st.SearchStrategy[list[JsonObject]]]] = {
    "unievent": wild_unievents,
    "gateway": wild_frames,
}


def conforms(source: Source) -> bool:
    """Whether the strict check finds nothing."""
    return check(source.stream, source.format) == []
