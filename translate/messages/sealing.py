"""Envelopes of parts: what is in one, and what becomes of those that come back."""

from __future__ import annotations

from typing import Any, Final

from ..algebra.events import JsonObject, State
from .capability import Reading, Writing
from .envelope import digest, sealed
from .nodes import KINDS, Part
from .reasons import why

_MARK: Final = "tstate"
"""``via`` of a part that only holds an envelope, until :func:`settle` has given it to whom it belongs."""


def state_members(part: Part, writing: Writing | None) -> JsonObject:
    """Who issued a part's state, and its values; where it has none, the members of a state without values."""
    state = part.state
    return {
        "i": (state.namespace or None) if state is not None else None,
        "s": part.scope if state is not None else None,
        "m": part.issued_by,
        "d": state.values if state is not None else None,
    }


def seal(part: Part, writing: Writing | None, *, neighbour: str | None = None) -> str:
    """The envelope of a part's state; ``neighbour``: where the part stands, seen from the envelope's own place."""
    bound = part.kind != "tool_call"
    return sealed({**state_members(part, writing), "h": digest(part.data) if bound else None, "b": neighbour})


def layout_entry(part: Part, writing: Writing | None, *, text: bool) -> JsonObject:
    """One part of a layout; ``text``: its text travels in it, as the message does not show it."""
    entry: JsonObject = {"k": part.kind, **state_members(part, writing)}
    if part.unit is not None:
        entry["u"] = {"codec": part.via, "unit": part.unit}
    elif part.kind == "tool_call":
        entry["id"] = part.id
    else:
        entry |= {"n": len(part.data), "h": digest(part.data)}
    if text and part.unit is None:
        entry["t"] = part.data
    return {key: value for key, value in entry.items() if value is not None and value != {}}


def part_of(entry: Any, path: str) -> Part | None:
    """The part that an entry of a layout holds as a whole; ``None`` where it only speaks of one."""
    if not isinstance(entry, dict) or entry.get("k") not in KINDS:
        return None
    unit, text = entry.get("u"), entry.get("t")
    if isinstance(unit, dict) and isinstance(unit.get("unit"), dict) and isinstance(unit.get("codec"), str):
        part = Part(entry["k"], via=unit["codec"], unit=unit["unit"], path=path)
    elif isinstance(text, str):
        part = Part(entry["k"], text, path=path)
    else:
        return None
    return with_state(part, entry)


def with_state(part: Part, entry: JsonObject) -> Part:
    """The part with the state that an entry of a layout holds."""
    issuer, values = entry.get("i"), entry.get("d")
    if isinstance(values, dict) and values:
        part.state = State(issuer if isinstance(issuer, str) else None, values)
    scope, model = entry.get("s"), entry.get("m")
    part.scope = scope if isinstance(scope, str) else None
    part.issued_by = model if isinstance(model, str) else None
    return part


def sealed_part(part: Part, writing: Writing) -> str:
    """The envelope of a whole part that the client's format cannot say."""
    return sealed({"l": [layout_entry(part, writing, text=True)]})


def marker(members: JsonObject, path: str) -> Part:
    """What stands for an envelope in a place of its own, until :func:`settle`."""
    return Part("foreign", via=_MARK, unit=members, path=path)


def settle(parts: list[Part], reading: Reading) -> list[Part]:
    """The parts of a message, each with its state, and the whole ones out of their envelopes."""
    if not any(part.via == _MARK for part in parts):
        return parts
    out: list[Part] = []
    ahead: list[Part] = []
    for part in parts:
        if part.via != _MARK:
            for held in ahead:
                _give(part, held, reading, "next")
            ahead = []
            out.append(part)
            continue
        members = part.unit or {}
        whole = [found for entry in members.get("l") or () if (found := part_of(entry, part.path)) is not None]
        if whole:
            out += whole
        elif members.get("b") == "next":
            ahead.append(part)
        elif members.get("b") == "prev":
            _give(out[-1] if out else None, part, reading, "prev")
        elif members.get("d"):
            # a thinking part without text
            out.append(with_state(Part("thinking", path=part.path), members))
    for held in ahead:
        _give(None, held, reading, "next")
    return out


def _give(part: Part | None, held: Part, reading: Reading, side: str) -> None:
    # what belongs to a call is said before it, and thinking has an envelope of its own
    fits = part is not None and (part.kind == "tool_call" or side == "prev") and part.state is None
    if part is None or not fits:
        reading.telling.lost("state", held.path, "state", why("changed", reading.format))
    else:
        reading.unseal(part, held.unit or {})
