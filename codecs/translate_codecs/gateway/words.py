"""The words of the gateway: its canonical envelopes and what they say, for decoder and encoder alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, Final

from translate import jsontext
from translate.algebra.calls import BLANK, made_id
from translate.algebra.events import (
    Append,
    Failure,
    Finish,
    JsonObject,
    Model,
    Open,
    PartKind,
    Reason,
    State,
    TokenCounts,
)
from translate.algebra.reading import member, optional, reason_word
from translate.codec import TEXT, Hot

NAME: Final = "gateway"
UNKNOWN: Final = "unknown"

WORD: Final[dict[str, str]] = {"text": "content", "refusal": "content", "thinking": "thinking"}
"""Kind of part → the word its frames are named with."""
_REASONS: Final[dict[str, str]] = {"stop": "stop", "length": "length", "tool_call": "toolCall"}
REASONS: Final = frozenset({*_REASONS.values(), UNKNOWN})
"""Finish reasons that are written here."""
MODEL: Final = tuple(f.name for f in fields(Model))

OPENING: Final = "before streamStart"
BETWEEN: Final = "between runs"
THINKING: Final = "in a thinking run"
CONTENT: Final = "in a content run"
ENDED: Final = "ended"
STATES: Final[dict[str, dict[str, str]]] = {
    OPENING: {"streamStart": BETWEEN, "error": ENDED},
    BETWEEN: {
        "streamStart": BETWEEN,
        "thinkingStart": THINKING,
        "contentStart": CONTENT,
        "tool": BETWEEN,
        "streamError": BETWEEN,
        "stop": ENDED,
        "error": ENDED,
    },
    THINKING: {"thinking": THINKING, "thinkingEnd": BETWEEN, "streamError": BETWEEN, "error": ENDED},
    CONTENT: {"content": CONTENT, "contentEnd": BETWEEN, "streamError": BETWEEN, "error": ENDED},
    ENDED: {},
}
"""State → frame → next state. The encoder moves through the same table, from the other side."""

RUN: Final[dict[str, PartKind]] = {THINKING: "thinking", CONTENT: "text"}
STARTS: Final[dict[str, str]] = {"contentStart": CONTENT, "thinkingStart": THINKING}
"""Frame that opens a run → the state that it leads to."""


def is_texts(values: Any) -> bool:
    """Whether an object holds texts alone, at least one."""
    return type(values) is dict and bool(values) and {*map(type, values.values())} == {str}


def kind_of_frame(unit: JsonObject) -> str:
    """What a frame is, ``error`` for a failure; empty for what is none."""
    if unit.get("success") is False:
        return "error"
    value = unit.get("value")
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def envelope(value: JsonObject) -> JsonObject:
    """The envelope of a frame."""
    return {"success": True, "code": 200, "value": value}


def model_words(model: Model) -> JsonObject:
    """The model as a frame names it."""
    return {
        "name": model.name or UNKNOWN,
        "tier": model.tier or UNKNOWN,
        "publisher": model.publisher or UNKNOWN,
        "provider": model.provider or UNKNOWN,
    }


def start_of(model: Model) -> JsonObject:
    """What a ``streamStart`` says."""
    return {"type": "streamStart", "model": model_words(model)}


def are_words(model: Model) -> bool:
    """Whether a frame that names the model is read as just that."""
    words = (model.name, model.tier, model.publisher, model.provider)
    return "" not in words and UNKNOWN not in words


def read_model(value: JsonObject) -> Model:
    """The model that a frame names; the word ``unknown`` is nobody."""
    model = member(value, "model", dict, f"a {value['type']}")
    return _named(optional(model, name, str, "the model") for name in MODEL)


def named(value: JsonObject) -> Model:
    """As :func:`read_model`, of a frame that was read before."""
    return _named(map(value["model"].get, MODEL))


def _named(words: Iterable[str | None]) -> Model:
    return Model(*[None if word == UNKNOWN else word for word in words])


def state_data(state: State | None, guess: str | None) -> JsonObject | None:
    """A state as ``thinkingEnd.data``, its keys prefixed with who issued it."""
    if state is None:
        return None
    issuer = state.namespace if state.namespace is not None else guess
    return {f"{issuer}.{key}" if issuer else key: value for key, value in state.values.items()}


def guessed_issuer(model: Model) -> str | None:
    """Who is taken to have issued a state whose namespace is unknown."""
    if not model.publisher or model.publisher == UNKNOWN:
        return None
    # a dot would end it
    return model.publisher.lower().replace(".", "-")


def read_data(data: JsonObject | None) -> State | None:
    """The part before the first dot, non-empty and equal in all keys, is the namespace."""
    if not data:
        return None
    heads = {key.partition(".")[0] if "." in key else "" for key in data}
    issuer = heads.pop() if len(heads) == 1 else ""
    return State(issuer, {key[len(issuer) + 1 :]: value for key, value in data.items()} if issuer else dict(data))


def usage_words(event: Finish, model: Model) -> JsonObject:
    """The usage of a ``stop`` frame."""
    usage = event.usage
    return {
        "provider": usage.provider if usage.provider is not None else (model.provider or UNKNOWN).lower(),
        "inputTokens": usage.input_tokens or 0,
        "outputTokens": usage.output_tokens or 0,
        "finishReason": _REASONS.get(event.reason.word, UNKNOWN),
    }


def is_plain_end(event: Finish) -> bool:
    """Whether the usage of a ``stop`` frame says all of an end."""
    usage, reason = event.usage, event.reason
    known = type(usage.input_tokens) is type(usage.output_tokens) is int
    more = usage.cached_tokens, usage.reasoning_tokens, usage.provider, reason.raw
    return known and more == (None,) * 4 and not usage.other and (reason.word in _REASONS or reason.word == UNKNOWN)


def read_usage(usage: JsonObject, model: Model) -> Finish:
    """What the usage of a ``stop`` frame says, the provider being the model's where it is not another."""
    where = "the usage"
    provider: str | None = member(usage, "provider", str, where)
    counts = TokenCounts(member(usage, "inputTokens", int, where), member(usage, "outputTokens", int, where))
    counts.provider = None if provider == (model.provider or UNKNOWN).lower() else provider
    raw = member(usage, "finishReason", str, where)
    word = reason_word(raw)
    return Finish(counts, Reason(word, None if raw == _REASONS.get(word, UNKNOWN) else raw))


def error_envelope(event: Failure) -> JsonObject:
    """The envelope of a failure, its code one of an HTTP error."""
    code = event.code if event.code is not None and 400 <= event.code <= 599 else 502
    return {"success": False, "code": code, "message": event.message}


HOT: Final = {word: Hot(envelope({"type": word, "value": TEXT}), NAME, word) for word in ("content", "thinking")}


def arguments_of(raw: str) -> str:
    """The arguments as a ``tool`` says them; text that is blank at home is a patch in the residue."""
    return raw if raw.strip(BLANK) else "{}"


def known_model(model: Model) -> Model:
    """The model that is read where this one is named."""
    return Model(**{name: None if word == UNKNOWN else word for name, word in model_words(model).items()})


def said_open(head: Open, calls: int = 0) -> Open:
    """The opening that the native words of ``head`` say, after so many ``calls``."""
    if head.kind == "tool_call":
        return Open("tool_call", made_id(calls) if head.id is None else head.id, head.name)
    return Open("thinking" if head.kind == "thinking" else "text")


def assembled(head: Open, data: Any, state: JsonObject) -> JsonObject:
    """One message of the unary route."""
    text = jsontext.whole(data)
    if head.kind == "tool_call":
        call = {"id": head.id, "name": head.name, "arguments": arguments_of(text)}
        return {"type": "toolCall", "value": call}
    message: JsonObject = {"type": WORD[head.kind], "value": text}
    if head.kind == "thinking" and state:
        message["data"] = state
    return message


def same_data(said: Append, meant: Append) -> bool:
    """Whether a fragment is said as another; blank arguments are ``{}``."""
    blank = said.data == "{}" and isinstance(meant.data, str) and not meant.data.strip(BLANK)
    return blank or jsontext.same(said.data, meant.data)


def same_state(said: State | None, meant: State | None) -> bool:
    """Whether two states have the same words; who issued an unknown one may have been guessed."""
    if said is None or meant is None:
        return said is meant
    data = state_data(said, None)
    if meant.namespace is not None:
        return jsontext.same(data, state_data(meant, None))
    # whoever was guessed to be the issuer stands before each key
    first = next(iter(meant.values), "")
    prefixes = [key.removesuffix(first) for key in data or {} if key.endswith(first)]
    return any(
        prefix[-1:] in ("", ".") and jsontext.same(data, {prefix + key: value for key, value in meant.values.items()})
        for prefix in prefixes
    )


def same_finish(said: Finish, meant: Finish) -> bool:
    """Whether two ends have the same words; a provider and a raw word that were read stand."""
    ours, theirs = usage_words(said, Model()), usage_words(meant, Model())
    provider = said.usage.provider in (None, meant.usage.provider)
    raw = said.reason.raw is None or said.reason == meant.reason
    return provider and raw and {**ours, "provider": ""} == {**theirs, "provider": ""}
