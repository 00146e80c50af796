"""Provider states: which say something of the message, and which only of the wire that they came by."""

from __future__ import annotations

from typing import Any, Final

from .events import State

REASONING_FIELD: Final = "reasoning_field"
"""The value of a state that names the member which thinking came in, on a wire that has several for it."""

REDACTED: Final = "_REDACTED_THINKING"
"""The text of a thinking part that only its issuer can read: its state is all of it."""


def is_hint(state: State) -> bool:
    """Whether a state only says how its part was spelled: alone it is no content, and gives way to any other state."""
    return state.values.keys() == {REASONING_FIELD}


def carried_states(carry: Any) -> list[dict[str, Any]]:
    """The states that a carry says or adds, as the members of :class:`State`; of carries that are none, none."""
    if not isinstance(carry, dict):
        return []
    entries, before = carry.get("events"), carry.get("before")
    states = [entry.get("state") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    found = [
        {"namespace": state.get("namespace"), "values": state["values"]}
        for state in states
        if isinstance(state, dict) and isinstance(state.get("values"), dict) and state["values"]
    ]
    ahead = [state for held in before for state in carried_states(held)] if isinstance(before, list) else []
    return [*ahead, *found]
