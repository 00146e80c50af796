"""Losses: what a target cannot say natively, classed, and the report that collects them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from ..algebra.events import PART_KINDS, JsonObject
from ..errors import excerpt, shown
from .making import RESERVED
from .reasons import LOSSES, loss

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
    carry holds it (a native reader of the target does not see it). Of requests and whole answers also ``kind``, the
    class of a loss (``content, control, state, tuning, incidental``), and ``path``, where it stood in the source
    (``messages[3].content[1]``).
    """

    unit: int | None
    field: str
    reason: str
    content: bool = False
    carried: bool = False
    kind: str = ""
    path: str = ""

    def members(self) -> dict[str, Any]:
        """As JSON; what only those of documents have, their ``class`` and ``path``, is left out of others."""
        said = {name: getattr(self, name) for name in ("unit", "field", "reason", "content", "carried")}
        of_document = {"class": self.kind, "path": self.path}
        return {**said, **{name: value for name, value in of_document.items() if value}}


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

    def __str__(self) -> str:
        """What was found, content first, findings of one reason together with their number."""
        lines = _section("Content", [found for found in self.losses if found.content], "nothing is left out")
        lines += _section("Not content", [found for found in self.losses if not found.content], "nothing is left out")
        for title, found in (("Guessed", self.guesses), ("Mended", self.repairs)):
            lines += _section(title, found) if found else []
        left = sum(self.counts.values()) - sum(map(len, (self.predicted, self.losses, self.guesses, self.repairs)))
        return "\n".join([*lines, *([f"{left:,} more findings were counted and not kept"] if left else [])])

    @property
    def hidden(self) -> list[Finding]:
        """What travels in the carry, unseen by native readers of the target."""
        return [finding for finding in self.losses if finding.carried]


def _section(title: str, findings: list[Finding], nothing: str = "") -> list[str]:
    if not findings:
        return [f"{title}: {nothing}."]
    groups = Counter((found.field, found.reason, _fate(found)) for found in findings)
    rows = [f"  {number:,} × {field}: {reason}{fate}" for (field, reason, fate), number in groups.most_common()]
    return [f"{title}: {len(findings):,} finding{'s' * (len(findings) > 1)}", *rows]


def _fate(finding: Finding) -> str:
    return " (carried)" if finding.carried else " (lost)" if finding.content else ""


_PARTS: Final[dict[str, str]] = {
    "thinking": "thinking",
    "refusal": "a refusal",
    "tool_call": "a tool call",
    "server_tool_call": "a call of a tool that runs on the provider's side",
    "server_tool_result": "the result of a tool that ran on the provider's side",
    "inline_data": "data within the message, such as an image",
    "inline_thinking": "thinking that is not text, such as an image",
    "embedding": "an embedding",
}
_EVENTS: Final[dict[str, str]] = {
    "start": "the start",
    "open": "the beginning of a part",
    "append": "a piece of a part",
    "close": "the end of a part",
    "handover": "another model taking over",
    "usage": "counts",
    "annotate": "an annotation",
    "foreign": "a unit that only its own format has",
    "finish": "how the message ended",
    "failure": "an error",
    "ping": "a keep-alive",
}
_MEMBERS: Final[dict[str, str]] = {
    "failure.kind": "the type of an error",
    "failure.details": "further members of an error",
    "failure.code": "this code of an error",
    "open.mime_type": "a media type",
    "close.cut": "that a part was cut off",
    "id": "an id",
    "open.name": "a name",
    "created": "a time stamp",
    "start.model": "all that is said of who answers",
    "handover.model": "all that is said of who broke off",
    "namespace": "who issued the provider's state",
    "raw": "the provider's own word for a reason to finish",
}
_MADE_UP: Final[dict[str, str]] = {"id": "an id", "created": "a time stamp", "model": "a name of who answers"}
"""What a unit may have to say though nobody said it."""
_RESIDUES: Final[dict[str, str]] = {
    "at": "its time stamp",
    "patch": "how it was written, or further members",
    "synthetic": "that it was made up",
}


def losses(
    carry: JsonObject,
    target: str,
    *,
    unsayable: bool,
    later: Iterable[str] = (),
    content: Callable[[str, object], str] = lambda name, residue: "",
    is_content: Callable[[str, JsonObject], bool] = lambda codec, unit: False,
) -> list[Loss]:
    """The losses that a carry makes good.

    ``unsayable``: whether the open part is of a kind that the target has no words for; then all that makes it up is
    content. ``later``: members that the target says natively further on. ``content``: what of a residue of a codec is
    content, in words. ``is_content``: whether a foreign unit of a codec is content.
    """
    out: list[Loss] = []
    for entry in carry.get("events", ()):
        if isinstance(entry, int):
            out.append(("fragments", loss("fragments", target), False))
        elif isinstance(entry, dict) and "event" in entry:
            name, why, matters = _unsaid(entry, target, unsayable, frozenset(later))
            out.append((name, why, matters or (name == "foreign" and is_content(entry["codec"], entry["unit"]))))
        elif isinstance(entry, dict):
            out += _changes(entry, target, frozenset(later))
    out += [
        (f"{excerpt(name)} residue", loss("residue", target, _of_residue(excerpt(name), own)), False)
        for name, own in carry.items()
        if name not in RESERVED
    ]
    out += [
        (f"{excerpt(name)} residue", unsaid_of(excerpt(name), target, what), True)
        for name, own in carry.items()
        if name not in RESERVED
        for each in (own if isinstance(own, list) else [own])
        if (what := content(name, each))
    ]
    return out


def unsaid(word: str, target: str) -> str:
    """Why a target never says events of a name, or parts of a kind."""
    return loss("words", target, _part(word)) if word in PART_KINDS else loss(word, target)


def unsaid_of(source: str, target: str, what: str) -> str:
    """Why a target does not say what only the source says."""
    return loss("residue", target, f"{source} says: {what}")


def _part(kind: str) -> str:
    return _PARTS.get(kind, f"a {excerpt(kind)}")


def _event(name: str) -> str:
    return _EVENTS.get(name, f"an event {shown(name)}")


def _unsaid(entry: JsonObject, target: str, unsayable: bool, later: frozenset[str]) -> Loss:
    name = entry["event"]
    if name == "open":
        kind = entry["kind"]
        unnamed = kind == "tool_call" and unsayable and not ("id" in entry and "name" in entry)
        # a call that could be said, and is not, was cut off
        key = "unnamed" if unnamed else "words" if unsayable else "cut"
        return kind, loss(key, target, _part(kind)), unsayable or kind == "tool_call"
    state = "state" in entry and "state" not in later
    content = name == "annotate" or (name == "append" and (unsayable or state))
    key = name if name in LOSSES else "words"
    if name in ("append", "close") and not unsayable:
        key = "state" if "state" in entry else f"{name} cut"
    return name, loss(key, target, _event(name)), content


def _changes(entry: JsonObject, target: str, later: frozenset[str]) -> list[Loss]:
    what = entry["as"]
    changed: list[str] = [key for key in entry if key not in ("as", "length")]
    # a call's arguments that are blank are said as {}
    said = {*later, "text"} if what == "append" and not str(entry.get("text", "x")).strip() else later
    return [
        (f"{what}.{key}", _reason(f"{what}.{key}", entry[key], target), key in _CONTENT_FIELDS and key not in said)
        for key in changed
    ] or [("fragments", loss("fragments", target), False)]


def _reason(path: str, value: object, target: str) -> str:
    key = path.rpartition(".")[2]
    if key == "usage" and isinstance(value, dict):
        known = [name for name, count in value.items() if count is not None]
        unknown = [name for name, count in value.items() if count is None]
        found = (("counts", known), ("counts unknown", unknown))
        return "; ".join(loss(why, target, _named(names)) for why, names in found if names)
    of = _event(path.partition(".")[0])
    named = _MEMBERS.get(path) or _MEMBERS.get(key) or f"the member {shown(key)} of {of}"
    if key in ("text", "state", "reason"):
        return loss(key, target)
    if key in _MADE_UP and (value is None or value == {}):
        return loss("made up", target, _MADE_UP[key])
    return loss("member", target, named)


def _named(names: Iterable[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)


def _of_residue(name: str, own: object) -> str:
    """Whose residue it is, and of what: its members, in words where codecs share them."""
    members = {key for each in (own if isinstance(own, list) else [own]) if isinstance(each, dict) for key in each}
    named = " and ".join(dict.fromkeys(_RESIDUES.get(key, f"its member {shown(key)}") for key in sorted(members)))
    return f"{name} says: {named or 'that the unit is its own'}"
