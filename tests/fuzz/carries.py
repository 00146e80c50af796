"""Carries as their grammar has them, and any other value in their place, beside valid units."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, Final

from tests import tampering
from tests.carry.test_tampering import without
from tests.wire import PARIS_MODEL, Object, Pair, pairs, together, translated
from translate import TranslateError, assemble, jsontext
from translate import check as conforms
from translate.algebra.events import PART_KINDS, REASONS
from translate.carry.rules import CHANGES

from . import laws
from .choices import Choices, chunks, parted, split
from .laws import check
from .spelling import CARRIES, NUMBERS

NAMES: Final = [
    *("events", "v", "before", "synthetic", "member", "unievent", "gateway", "toy", "at", "patch", "as", "event"),
    *("kind", "text", "state", "namespace", "values", "length", "data", "usage", "input_tokens", "reason", "model"),
    *("code", "message", "details", "name", "id", "raw", "vector", "bytes", "$number", "$x", "x", "cached_tokens"),
]
WORDS: Final = [
    *("append", "open", "close", "finish", "failure", "handover", "start", "usage", "annotate", "foreign", "ping"),
    *("text", "thinking", "tool_call", "embedding", "stop", "NaN", "a", "Hello", "", "toy", "unievent", "gateway"),
]
MEMBERS: Final[dict[str, list[Any]]] = {
    "kind": [*PART_KINDS],
    "length": [0, 1, 2, 5, -1],
    "state": [None, {"values": {}}, {"values": {"signature": "s"}}, {"namespace": "anthropic", "values": {"x": 1}}],
    "model": [{}, {"name": "a"}, {"publisher": "Z.ai", "provider": "p"}],
    "usage": [{}, *({n: count} for n in ("input_tokens", "cached_tokens") for count in (0, 3, None))],
    "reason": [*REASONS],
    "details": [{}, {"message": "a"}, {"status": 418}],
    "code": [400, 418, 200, None],
    "created": [1, 1.5],
    "data": [None, {"a": 1}],
    "unit": [{}, {"x": 1}],
    "bytes": ["", "YQ==", "YWI="],
    "vector": [[], [1.0]],
}
"""Member of an event → values that it may have; texts for all others."""
RESIDUES: Final[list[Any]] = [
    *(None, 2, 5, {}, {"a": 1}, {"at": 1}, {"at": 1, "patch": [[["x"], 1]]}, {"patch": [[["x"], {}], [["x", "y"], 1]]}),
    *({"patch": [[["code"], 201]]}, {"patch": [[["error"], {"message": "a"}]]}, {"synthetic": True}),
]


def _value(choices: Choices, depth: int = 0) -> Any:
    """A JSON value of the words that carries are made of."""
    how = choices.below(9 if depth < 5 else 6)
    if how == 8 or depth == 0:
        return {choices.of(NAMES): _value(choices, depth + 1) for _ in range(choices.below(4))}
    if how in (6, 7):
        return [_value(choices, depth + 1) for _ in range(choices.below(5))]
    if how < 2:
        return choices.of([0, 1, 2, 3, 5, -1, 1.5, 2**70, 100])
    return choices.of(WORDS) if how < 5 else choices.of([None, True, False])


def _entries(choices: Choices) -> list[Any]:
    """Entries as the grammar of carries has them, of any event and member."""
    out: list[Any] = []
    for _ in range(choices.below(5)):
        name, how = choices.of([*CHANGES]), choices.below(8)
        if how < 2:
            out.append(choices.of([0, 1, 2, 3, 5, 13]))
        elif how < 4:
            out.append(name)
        else:
            named: dict[str, Any] = {"as" if how < 6 else "event": name}
            members = [*{member.partition(".")[0] for member in CHANGES[name]}, "length"]
            for _ in range(choices.below(3)):
                member = choices.of(members)
                named[member] = choices.of(MEMBERS.get(member, WORDS))
            out.append(named)
    return out


def _grown(choices: Choices) -> dict[str, Any]:
    """A carry as the grammar has it."""
    out: dict[str, Any] = {"events": _entries(choices)} if not choices.rarely(4) else {}
    if choices.rarely(4):
        out["before"] = [{"events": _entries(choices)} for _ in range(choices.below(3))]
    if choices.rarely(6):
        out["synthetic"] = True
    for name in ("toy", "unievent", "gateway"):
        if choices.rarely(4):
            column = [choices.of(RESIDUES) for _ in range(choices.below(4))]
            out[name] = column if choices.rarely(2) else choices.of(RESIDUES)
    if choices.rarely(20):
        out["end"] = {"events": _entries(choices)}
    return out


def _tampered(choices: Choices, stream: list[Any]) -> None:
    """Change the carries of a stream, and no unit."""
    at = choices.below(len(stream))
    carry, unit = stream[at]
    how = choices.below(12)
    if how > 7:
        carry = _grown(choices)
    elif how == 0:
        carry = stream[choices.below(len(stream))][0]
    elif how == 1:
        carry = _value(choices)
    elif how == 2:
        carry = {**(carry or {}), choices.of(NAMES): _value(choices, 1)}
    elif how == 3:
        carry = {k: v for k, v in (carry or {}).items() if not choices.rarely(2)}
    elif how == 4:
        text = choices.of(CARRIES).replace(b"%s", choices.of(NUMBERS[:5]))
        carry = jsontext.loads(text) if _is_object(text) else None
    elif how == 5:
        stream.insert(at, (_value(choices), None))
        return
    elif carry is not None:
        carry = _replaced(carry, choices)
    stream[at] = (carry if isinstance(carry, dict) else None, unit)


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(jsontext.loads(text), dict)
    except TranslateError:
        return False


def _said(message: Any) -> Any:
    """What of a message all formats have words for: a carry may add more."""
    parts = message["content_items"] if isinstance(message, dict) else message
    names = ("type", "text", "thinking", "value", "name", "arguments", "tool_call_id", "id")
    plain = [{k: v for k, v in part.items() if k in names} for part in parts]
    return [part for part in plain if not part["type"].startswith(("inline", "embedding"))]


def _replaced(value: Any, choices: Choices) -> Any:
    """A value with one deep within it replaced."""
    if isinstance(value, dict) and value and not choices.rarely():
        key = choices.of([*value])
        return {**value, key: _replaced(value[key], choices)}
    if isinstance(value, list) and value and not choices.rarely():
        at = choices.below(len(value))
        return [*value[:at], _replaced(value[at], choices), *value[at + 1 :]]
    return _value(choices, 1)


HOME: Final = {codec: home for codec, (home, _) in tampering.BASE.items()}
"""The codec whose units carry → the source that the carry speaks for."""
_THINKING, _TEXT, _CALL = (tampering.FROM_UNIEVENT[i:j] for i, j in ((0, 3), (3, 6), (6, 10)))
_START, *_RUNS = tampering.FROM_GATEWAY
BASES: Final[dict[str, list[list[Object]]]] = {
    "gateway": [
        *([*group, tampering.FROM_UNIEVENT[-1]] for group in (_THINKING, _TEXT, _CALL, [*_TEXT, *_CALL])),
        tampering.FROM_UNIEVENT,
    ],
    "unievent": [
        *([_START, *group, _RUNS[-1]] for group in (_RUNS[:3], _RUNS[3:7], _RUNS[7:8], _RUNS[3:8])),
        tampering.FROM_GATEWAY,
    ],
}
"""Streams of the source, the whole one last: short ones cost little, and differ in all that matters to a carry."""


@lru_cache
def converted(codec: str, base: int) -> tuple[Pair, ...]:
    """A base stream as units of ``codec``, with its carries."""
    home, model = HOME[codec], PARIS_MODEL if codec == "gateway" else None
    return tuple(pairs(translated(BASES[codec][base], home, codec + "-sse", model=model)))


@lru_cache
def native(codec: str, base: int, format: str) -> Any:
    """What it adds up to without its carries."""
    return _said(assemble(together(without([*converted(codec, base)]), format), format, codec, strict=False))


def carry(data: bytes) -> None:
    """Carries that say anything, beside valid units: strict mode tells; lenient mode keeps the meaning."""
    head, rest = parted(data)
    codec = head.of(["gateway", "unievent"])
    format = codec + head.of(["-sse", "-jsonl"])
    home, strict, law, base = HOME[codec], head.below(2) == 0, head.below(8), head.below(9) % len(BASES[codec])
    stream: list[Any] = [*converted(codec, base)]
    for _ in range(min(rest.left, 8)):
        if rest.left:
            _tampered(rest, stream)
    whole = together(stream, format)
    pieced = chunks(head, split(whole))
    run = partial(laws.translated, pieced, format, home, strict=strict)
    out, told = run()
    if law < 3:
        laws.same(told, laws.reference(run)[1], "the short ways say what the long one says")
    elif law < 5:
        other = laws.translated([whole], format, home, strict=strict)[1]
        laws.same(other, told, "cuts change nothing", excerpts=False)
    if told.error is not None:
        check(strict, "lenient mode takes any carry", told.error, whole)
        check(told.error[0] in ("CarryError", "LimitExceeded"), "what is wrong is the carry", told.error, whole)
    elif law == 5:
        found = conforms(out, home)
        check(found == [], "what comes of it conforms", found, whole)
    elif law > 5:
        ours, theirs = _said(assemble(whole, format, codec, strict=False)), native(codec, base, format)
        check(jsontext.same(ours, theirs), "the native content stands", ours, theirs, whole)
