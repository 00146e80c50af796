"""Losses: what a target cannot say natively, classed, and the report that collects them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..algebra.events import JsonObject
from ..errors import excerpt, shown
from .making import RESERVED

LossPolicy: TypeAlias = Literal["carry", "drop", "raise"]
ErrorPolicy: TypeAlias = Literal["raise", "encode"]

Loss: TypeAlias = tuple[str, str, bool]
"""Field, reason, and whether it is content."""

_CONTENT_FIELDS = frozenset({"state", "reason", "text", "bytes", "vector"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a report says.

    ``unit``: index of the source's wire unit, ``None`` for what holds of the whole stream; ``field``: what it is
    about; ``reason``: a sentence; ``content``: whether the assembled message is concerned; ``carried``: whether a
    carry holds it (a native reader of the target does not see it).
    """

    unit: int | None
    field: str
    reason: str
    content: bool = False
    carried: bool = False


@dataclass(slots=True)
class Report:
    """Collects what a conversion did, for any loss policy. Give a fresh one to each conversion.

    ``predicted`` is filled before the first unit: what the target could not say of such a source. ``losses``: what
    it did not say natively, unit by unit. ``guesses`` and ``repairs``: what was assumed and what was mended.
    At most ``limit`` findings of each kind are kept; ``counts`` has the number of all by ``(list, field)``.
    ``incidental``: whether losses that are not of content are noted, unit by unit; without them translation keeps its
    full speed.
    """

    limit: int = 10_000
    incidental: bool = True
    predicted: list[Finding] = field(default_factory=list)
    losses: list[Finding] = field(default_factory=list)
    guesses: list[Finding] = field(default_factory=list)
    repairs: list[Finding] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, kind: Literal["predicted", "losses", "guesses", "repairs"], finding: Finding) -> None:
        """Keep a finding, up to the limit, and count it."""
        kept: list[Finding] = getattr(self, kind)
        if len(kept) < self.limit:
            kept.append(finding)
        self.counts[kind, finding.field] += 1

    @property
    def hidden(self) -> list[Finding]:
        """What travels in the carry, unseen by native readers of the target."""
        return [finding for finding in self.losses if finding.carried]


def losses(carry: JsonObject, target: str, *, unsayable: bool, later: Iterable[str] = ()) -> list[Loss]:
    """The losses that a carry makes good.

    ``unsayable``: whether the open part is of a kind that the target has no words for; then all that makes it up is
    content. ``later``: members that the target says natively further on.
    """
    out: list[Loss] = []
    for entry in carry.get("events", ()):
        if isinstance(entry, int):
            out.append(("fragments", f"{target} says the whole at once", False))
        elif isinstance(entry, dict) and "event" in entry:
            out.append(_unsaid(entry, target, unsayable, frozenset(later)))
        elif isinstance(entry, dict):
            out += _changes(entry, target, frozenset(later))
    out += [
        (f"{excerpt(name)} residue", f"{target} has no place for what only {excerpt(name)} says of the unit", False)
        for name in carry
        if name not in RESERVED
    ]
    return out


def _unsaid(entry: JsonObject, target: str, unsayable: bool, later: frozenset[str]) -> Loss:
    name = entry["event"]
    if name == "open":
        # a call that could be said, and is not, was cut off
        content = unsayable or entry["kind"] == "tool_call"
        return entry["kind"], f"{target} has no native form of this part of kind {shown(entry['kind'])}", content
    content = name == "annotate" or (name == "append" and (unsayable or ("state" in entry and "state" not in later)))
    return name, f"{target} has no native form of this {name!r}", content


def _changes(entry: JsonObject, target: str, later: frozenset[str]) -> list[Loss]:
    changed: list[str] = [key for key in entry if key not in ("as", "length")]
    # a call's arguments that are blank are said as {}
    said = {*later, "text"} if entry["as"] == "append" and not str(entry.get("text", "x")).strip() else later
    return [
        (f"{entry['as']}.{key}", _reason(key, entry[key], target), key in _CONTENT_FIELDS and key not in said)
        for key in changed
    ] or [("fragments", f"{target} says the whole at once", False)]


def _reason(key: str, value: object, target: str) -> str:
    what = ", ".join(value) if key == "usage" and isinstance(value, dict) else key
    return f"{target} has no native place for {what!r} here"
