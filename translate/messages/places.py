"""Where the clients of a format keep envelopes in a stream: see :mod:`translate.messages.sealed_stream`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..algebra.events import State
from .nodes import Part


@dataclass(frozen=True, slots=True)
class Places:
    """Where a client keeps envelopes in a stream.

    ``how``: see the rules above. ``issuer`` and ``member``: the state that holds one. ``format``: its member of that
    name. ``plain``: whether parts need no layout. ``id``: how ids of parts that hold nothing else begin. ``says``:
    whether a state is the format's own. ``holds``: the state that says a part's own, where there is no envelope.
    """

    how: Literal["beside", "layout", "within"]
    issuer: str | None
    member: str
    format: str | None = None
    plain: Callable[[list[Part]], bool] | None = None
    id: str | None = None
    says: Callable[[State], bool] | None = None
    holds: Callable[[Part], State] | None = None

    def state(self, envelope: str) -> State:
        """The state that holds an envelope."""
        beside = {} if self.format is None else {"format": self.format}
        return State(self.issuer, {self.member: envelope, **beside})

    def owns(self, state: State) -> bool:
        """Whether a state is the format's own."""
        if self.says is not None:
            return self.says(state)
        ours = self.issuer is not None and state.namespace == self.issuer
        return ours and isinstance(state.values.get(self.member), str)
