"""The layout of a message: its parts in order, with their states, sealed in one envelope.

Chat has one thinking, one text and calls, in this order. Where a message is more than that, the layout says what it
was. If the texts or the calls that come back no longer fit, the message is read as it stands.
"""

from __future__ import annotations

from typing import Any

from translate.algebra.states import is_hint
from translate.messages.capability import Writing
from translate.messages.envelope import digest, sealed
from translate.messages.nodes import Part
from translate.messages.sealing import layout_entry, part_of, with_state

from .words import REDACTED, field_of

FORMAT = "tstate-1"
"""The format of the entry of ``reasoning_details`` that holds a layout."""


def sealed_layout(parts: list[Part], writing: Writing) -> str | None:
    """The envelope of a message's layout; ``None`` where the message is as plain as Chat's own."""
    if is_plain(parts):
        return None
    shown = writing.seal != "ids"
    entries = []
    for part in parts:
        hidden = part.kind not in ("thinking", "text", "refusal", "tool_call") or part.data == REDACTED
        entries.append(layout_entry(part, writing, text=hidden or (part.kind == "thinking" and not shown)))
    return sealed({"l": entries})


def is_plain(parts: list[Part]) -> bool:
    """Whether a message says by itself what its parts are."""
    kinds = [part.kind for part in parts]
    calls = kinds.count("tool_call")
    plain = [kind for kind in ("thinking", "text") if kind in kinds] + ["tool_call"] * calls
    return kinds == plain and not any(_is_foreign(part) for part in parts)


def _is_foreign(part: Part) -> bool:
    state = part.state
    if state is None:
        return False
    return not is_hint(state) or field_of(state) is None or bool(state.namespace)


def laid_out(layout: list[Any], thinking: list[Part], texts: list[Part], calls: list[Part]) -> list[Part] | None:
    """The parts that a layout says a message has; ``None`` where what came does not fit."""
    thought = "".join(part.data for part in thinking if part.data != REDACTED)
    said, refused = ("".join(part.data for part in texts if part.kind == kind) for kind in ("text", "refusal"))
    rest = {"thinking": thought, "text": said, "refusal": refused}
    first = {kind: next((part for part in [*thinking, *texts] if part.kind == kind), None) for kind in rest}
    own = [part for part in texts if part.kind not in ("text", "refusal")]
    waiting = list(reversed(calls))
    out: list[Part] = []
    for entry in layout:
        whole = part_of(entry, "")
        if whole is not None:
            out.append(whole)
            continue
        if not isinstance(entry, dict):
            return None
        kind, length, known = entry.get("k"), entry.get("n"), entry.get("h")
        if kind == "tool_call":
            if not waiting:
                return None
            out.append(with_state(waiting.pop(), entry))
        elif kind in rest and type(length) is int and 0 <= length <= len(rest[kind]):
            data = rest[kind][:length]
            rest[kind] = rest[kind][length:]
            if known != digest(data):
                return None
            like = first[kind]
            part = Part(kind, data, path=like.path if like is not None else "")
            if like is not None and kind == "text" and like.cache is not None:
                part.cache = like.cache
            out.append(with_state(part, entry))
        else:
            return None
    return None if waiting or any(rest.values()) else [*out, *own]
