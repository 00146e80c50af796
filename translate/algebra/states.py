"""Provider states: which say something of the message, and which only of the wire that they came by."""

from __future__ import annotations

from typing import Final

from .events import State

REASONING_FIELD: Final = "reasoning_field"
"""The value of a state that names the member which thinking came in, on a wire that has several for it."""


def is_hint(state: State) -> bool:
    """Whether a state only says how its part was spelled: alone it is no content, and gives way to any other state."""
    return state.values.keys() == {REASONING_FIELD}
