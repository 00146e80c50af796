"""One sentence or two on what became of a stream: what arrives, what rides in the carry, what is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from ..algebra.events import PART_KINDS, JsonObject

_MOST = 3
"""Kinds of what rides that are named; the others are counted together."""
_PARTS: Final = {
    "tool_call": "call",
    "server_tool_call": "call of the provider's own tools",
    "server_tool_result": "result of the provider's own tools",
    "inline_data": "image or file",
    "inline_thinking": "image of thinking",
    "embedding": "embedding",
    "refusal": "refusal",
}
"""Kinds of parts that are counted; text and thinking are not."""
_PLURALS: Final = {"image or file": "images or files"}
_FIELDS: Final = {
    "fragments": "fragment",
    "annotate": "citation",
    "handover": "change of model",
    "foreign": "unit of its own",
}
_OF_PARTS: Final = ("append", "close", "open")
"""Losses that are pieces of a part, which is one itself."""


def fate(view: JsonObject) -> str:
    """What became of the stream of a view."""
    carried = [loss for loss in view["losses"] if loss["carried"]]
    gone = [loss for loss in view["losses"] if not loss["carried"]]
    lost, left = ([loss for loss in gone if loss["content"] is content] for content in (True, False))
    lost_words = _listed(_nouns(lost))
    sentences = [
        _broken(view["error"]),
        _arrives(view["parts"]),
        _said(_nouns(carried), "rides in the carry", "ride in the carry"),
        _said(_nouns(left), "is left out", "are left out"),
        f"Lost: {lost_words}." if lost_words else "Nothing is lost.",
    ]
    if not view["losses"] and view["error"] is None:
        sentences[2:] = ["All is said natively, and nothing is lost."]
    return " ".join(filter(None, sentences))


def _broken(error: JsonObject | None) -> str:
    if error is None:
        return ""
    where = f" at unit {error['unit']}" if error["unit"] is not None else ""
    if error["type"] == "UpstreamFailure":
        return f"The stream reports a failure{where}, and so does the target."
    what = "ends too early" if error["type"] == "TruncatedStream" else f"breaks ({error['type']})"
    return f"The stream {what}{where}."


def _arrives(parts: Sequence[JsonObject]) -> str:
    """Which parts a native reader has."""
    found = Counter(part["kind"] for part in parts)
    there = Counter(part["kind"] for part in parts if part["native"])
    named: list[str] = []
    for kind in sorted(there, key=lambda kind: (kind in _PARTS, list(found).index(kind))):
        some = there[kind] < found[kind]
        counted = _count(found[kind], _PARTS[kind]) if kind in _PARTS else kind
        named.append(counted if not some else f"{there[kind]} of {counted}" if kind in _PARTS else f"some {kind}")
    if not named:
        return "No part of the message arrives." if found else ""
    mass = named[0] in found
    listed = f"{'All ' if mass else ''}{_joined(named)}"
    one = len(named) == 1 and (mass or named[0].startswith("1 ")) and " of " not in named[0]
    return f"{listed[0].upper()}{listed[1:]} {'arrives' if one else 'arrive'}."


def _nouns(losses: Iterable[JsonObject]) -> Counter[str]:
    return Counter(filter(None, map(_noun, losses)))


def _noun(loss: JsonObject) -> str:
    """What is not said, as one of a kind."""
    field = loss["field"]
    if field in PART_KINDS:
        return _PARTS.get(field, f"part of {field}")
    if field in _OF_PARTS:
        return ""
    if field in _FIELDS:
        return _FIELDS[field]
    if field.endswith(".state"):
        return "signature"
    return "time stamp" if loss["reason"].endswith(("its time stamp", "a time stamp")) else "detail"


def _said(nouns: Counter[str], one: str, many: str) -> str:
    listed = _listed(nouns)
    return f"{listed} {one if sum(nouns.values()) == 1 else many}." if listed else ""


def _listed(nouns: Counter[str]) -> str:
    named = [noun for noun, _ in nouns.most_common() if noun != "detail"][:_MOST]
    rest = sum(nouns.values()) - sum(nouns[noun] for noun in named)
    words = [_count(nouns[noun], noun) for noun in named]
    return _joined([*words, *([_count(rest, "other detail" if named else "detail")] if rest else [])])


def _count(number: int, noun: str) -> str:
    first, of, rest = noun.partition(" of ")
    return f"{number:,} {noun if number == 1 else _PLURALS.get(noun) or f'{first}s{of}{rest}'}"


def _joined(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))

