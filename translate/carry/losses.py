"""Losses: what a target cannot say natively, classed, and the report that collects them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ..algebra.events import PART_KINDS, JsonObject
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


REASONS: Final[dict[str, str]] = {
    "fragments": "{target} says this whole at once: where it was cut into pieces is not seen",
    "residue": "{target} has no place for what only {what}",
    "open": "{target} has no words for {what}",
    "open unnamed": "{target} calls a tool by an id and a name, and this call lacks one",
    "open cut": "{what} broke off before {target} could say it",
    "append": "a piece of a part that {target} has no words for",
    "append cut": "a piece of a part that broke off before {target} could say it",
    "append state": "{target} has no place here for the provider's state, such as a signature",
    "close": "the end of a part that {target} has no words for",
    "close cut": "the end of a part that {target} could not say",
    "start": "{target} does not say who answers",
    "handover": "{target} does not say that another model took over",
    "usage": "{target} has no place for counts before the end of the stream",
    "annotate": "{target} has no words for annotations, such as citations",
    "foreign": "a unit that only its own format has: {target} has nothing like it",
    "event": "{target} has no words for this",
    "text": "{target} writes this text another way",
    "state": "{target} has no place here for the provider's state, such as a signature",
    "reason": "{target} has no word of its own for this reason to finish",
    "usage counts": "{target} has no place for these counts: {what}",
    "usage unknown": "{target} must have these counts, and nobody knows them: {what}",
    "made up": "{target} must have {what}, and nobody said one: it is made up",
    "member": "{target} has no place for {what}",
}
"""What is not said → why, with ``target`` the codec and ``what`` a name for it. ``docs/losses.md`` says what to do."""
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
    is_content: Callable[[str, JsonObject], bool] = lambda codec, unit: False,
) -> list[Loss]:
    """The losses that a carry makes good.

    ``unsayable``: whether the open part is of a kind that the target has no words for; then all that makes it up is
    content. ``later``: members that the target says natively further on. ``is_content``: whether a foreign unit of a
    codec is content.
    """
    out: list[Loss] = []
    for entry in carry.get("events", ()):
        if isinstance(entry, int):
            out.append(("fragments", _why("fragments", target), False))
        elif isinstance(entry, dict) and "event" in entry:
            name, why, content = _unsaid(entry, target, unsayable, frozenset(later))
            out.append((name, why, content or (name == "foreign" and is_content(entry["codec"], entry["unit"]))))
        elif isinstance(entry, dict):
            out += _changes(entry, target, frozenset(later))
    out += [
        (f"{excerpt(name)} residue", _why("residue", target, _of_residue(excerpt(name), own)), False)
        for name, own in carry.items()
        if name not in RESERVED
    ]
    return out


def unsaid(word: str, target: str) -> str:
    """Why a target never says events of a name, or parts of a kind."""
    return _why("open", target, _part(word)) if word in PART_KINDS else _why(word, target)


def unsaid_of(source: str, target: str, what: str) -> str:
    """Why a target does not say what only the source says."""
    return _why("residue", target, f"{source} says: {what}")


def _part(kind: str) -> str:
    return _PARTS.get(kind, f"a {excerpt(kind)}")


def _why(key: str, target: str, what: str = "") -> str:
    return REASONS[key].format(target=target, what=what)


def _unsaid(entry: JsonObject, target: str, unsayable: bool, later: frozenset[str]) -> Loss:
    name = entry["event"]
    if name == "open":
        kind = entry["kind"]
        unnamed = kind == "tool_call" and unsayable and not ("id" in entry and "name" in entry)
        # a call that could be said, and is not, was cut off
        key = "open unnamed" if unnamed else "open" if unsayable else "open cut"
        return kind, _why(key, target, _part(kind)), unsayable or kind == "tool_call"
    state = "state" in entry and "state" not in later
    content = name == "annotate" or (name == "append" and (unsayable or state))
    key = name if name in REASONS else "event"
    if name in ("append", "close") and not unsayable:
        key = "append state" if "state" in entry else f"{name} cut"
    return name, _why(key, target), content


def _changes(entry: JsonObject, target: str, later: frozenset[str]) -> list[Loss]:
    what = entry["as"]
    changed: list[str] = [key for key in entry if key not in ("as", "length")]
    # a call's arguments that are blank are said as {}
    said = {*later, "text"} if what == "append" and not str(entry.get("text", "x")).strip() else later
    return [
        (f"{what}.{key}", _reason(f"{what}.{key}", entry[key], target), key in _CONTENT_FIELDS and key not in said)
        for key in changed
    ] or [("fragments", _why("fragments", target), False)]


def _reason(path: str, value: object, target: str) -> str:
    key = path.rpartition(".")[2]
    if key == "usage" and isinstance(value, dict):
        known = [name for name, count in value.items() if count is not None]
        unknown = [name for name, count in value.items() if count is None]
        found = (("usage counts", known), ("usage unknown", unknown))
        return "; ".join(_why(why, target, _named(names)) for why, names in found if names)
    named = _MEMBERS.get(path) or _MEMBERS.get(key, f"the member {key!r} of this")
    if key in ("text", "state", "reason"):
        return _why(key, target)
    if key in _MADE_UP and (value is None or value == {}):
        return _why("made up", target, _MADE_UP[key])
    return _why("member", target, named)


def _named(names: Iterable[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)


def _of_residue(name: str, own: object) -> str:
    """Whose residue it is, and of what: its members, in words where codecs share them."""
    members = {key for each in (own if isinstance(own, list) else [own]) if isinstance(each, dict) for key in each}
    named = " and ".join(dict.fromkeys(_RESIDUES.get(key, f"its member {shown(key)}") for key in sorted(members)))
    return f"{name} says: {named or 'that the unit is its own'}"
