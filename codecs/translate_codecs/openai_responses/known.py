"""What is known of an item and of its parts: how it was added, what grew it, how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from translate import jsontext
from translate.algebra.events import JsonObject, PartKind
from translate.algebra.parts import Growth

from .words import CONTENT, CUSTOM, MESSAGE, REASONING, SUMMARY


@dataclass(slots=True)
class Place:
    """A part of an item: of a message, of a summary, of what was reasoned."""

    where: str
    index: int
    added: JsonObject
    """The part as it was added."""
    grown: Growth
    annotations: list[Any] = field(default_factory=list)
    logprobs: list[Any] = field(default_factory=list)
    told: bool = False
    """Whether its whole text was repeated."""
    open: bool = True
    done: JsonObject | None = None
    """The part as it ended."""

    def text(self) -> str:
        """All its text."""
        return jsontext.whole(str(self.grown.join()))

    def whole(self) -> JsonObject:
        """The part as it is to be expected at its end."""
        if self.done is not None:
            return self.done
        key = "refusal" if self.added.get("type") == "refusal" else "text"
        out = {**self.added, key: self.text()}
        if self.annotations:
            out["annotations"] = self.annotations
        if self.logprobs:
            out["logprobs"] = self.logprobs
        return out

    def weight(self) -> int:
        """Its characters, without what still grows."""
        return weight(self.added if self.done is None else self.done)


@dataclass(slots=True)
class Item:
    """An item. ``kind``: that of the part that it is; none for a message, and for what the algebra has no part for."""

    index: int
    added: JsonObject
    kind: PartKind | None
    places: dict[tuple[str, int], Place] = field(default_factory=dict)
    at: Place | None = None
    """The part that a unit spoke of last."""
    grown: Growth = field(default_factory=Growth)
    """Text that grew the item itself: arguments, code."""
    begun: bool = False
    told: bool = False
    """Whether the whole of that was repeated."""
    done: JsonObject | None = None

    @property
    def type(self) -> str:
        """The type of the item."""
        return str(self.added.get("type"))

    @property
    def blocks(self) -> bool:
        """Whether the response cannot be complete while the item is open."""
        return self.kind is not None or self.type == MESSAGE

    def text(self) -> str:
        """The text that grew the item itself."""
        return jsontext.whole(str(self.grown.join()))

    def weight(self) -> int:
        """Its characters, without what still grows."""
        return weight(self.added) + sum(place.weight() for place in self.places.values())

    def list(self, where: str) -> list[JsonObject]:
        """Its parts, as they are to be expected at its end."""
        return [self.places[key].whole() for key in sorted(self.places) if key[0] == where]

    def whole(self) -> JsonObject:
        """The item as it is to be expected at its end, without what events say of that."""
        if self.done is not None:
            return self.done
        out = dict(self.added)
        if out.get("status") == "in_progress":
            out["status"] = "completed"
        if self.type == MESSAGE:
            out[CONTENT] = self.list(CONTENT)
        elif self.type == REASONING:
            out.pop("encrypted_content", None)
            for where in (SUMMARY, CONTENT):
                if found := self.list(where):
                    out[where] = found
        elif self.kind == "tool_call" and self.type != CUSTOM and "arguments" in out:
            out["arguments"] = self.text()
        elif self.kind == "tool_call" and self.type == CUSTOM:
            out["input"] = self.text()
        return out


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished item, and the one that was before it."""

    index: int
    item: JsonObject
    before: Finished | None


def weight(value: Any) -> int:
    """The characters of a JSON value, about."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return 8 + sum(len(k) + weight(v) for k, v in value.items())
    return 8 + sum(map(weight, value)) if isinstance(value, list) else 8
