"""Streams whose states go into envelopes, in the places where whole answers have them.

It works on events, before the client's encoder: a state of another issuer becomes one of the client's own, whose value
is the envelope. What belongs to a part that is over, or to a call, gets a thinking part of its own beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..algebra.events import Append, Close, Event, Finish, Handover, JsonObject, Open, State
from ..algebra.states import is_hint
from .capability import Sealing
from .envelope import digest, sealed

_REDACTED: Final = "_REDACTED_THINKING"


class SealedStream:
    """The states of one stream, for a client of one format.

    ``places``: where that format has envelopes; ``scope``: of the server, where it is known.
    """

    def __init__(self, places: Sealing, scope: str | None = None) -> None:
        self._places, self._scope = places, scope
        self._open: Open | None = None
        self._waits: Open | None = None
        """A call whose envelope would come before it: it is said with its first fragment."""
        self._state: State | None = None
        self._text = ""
        self._said: list[str] = []
        self._layout: list[JsonObject] = []
        self._plain = True
        self._thinks = False

    def events(self, event: Event) -> Iterator[Event]:
        """What is said for an event."""
        kind = type(event)
        if kind is Open:
            yield from self._begin(event)  # type: ignore[arg-type]
        elif kind is Append and self._open is not None:
            yield from self._grow(event)  # type: ignore[arg-type]
        elif kind in (Close, Handover) and self._open is not None:
            yield from self._end(event)
        elif kind is Finish:
            yield from self._finish()
            yield event
        else:
            yield event

    def _begin(self, event: Open) -> Iterator[Event]:
        self._open, self._state, self._said = event, None, []
        if event.kind == "tool_call" and self._places.before_calls:
            self._waits = event
        else:
            yield event

    def _grow(self, event: Append) -> Iterator[Event]:
        part = self._open
        if part is None:
            return
        if isinstance(event.data, str) and part.kind != "tool_call":
            self._said.append(event.data)
        state = event.state
        if state is not None and (self._state is None or not is_hint(state)):
            self._state = state
        if state is None or self._is_own(state):
            if self._waits is not None:
                yield from self._said_call(None)
            yield event
            return
        if self._waits is not None:
            yield from self._said_call(state)
        bare = self._places.value is None or self._places.name is None
        here = part.kind == "thinking" or self._places.anywhere
        if here and not bare:
            yield from [Append(event.data)] if event.data else []
        else:
            yield Append(event.data)

    def _said_call(self, state: State | None) -> Iterator[Event]:
        call = self._waits
        self._waits = None
        if call is None:
            return
        if state is not None:
            self._state = None
            yield from self._alone({**self._members(state), "b": "next"})
        yield call

    def _end(self, event: Event) -> Iterator[Event]:
        part, state = self._open, self._state
        text = "".join(self._said)
        self._open, self._thinks = None, part is not None and part.kind == "thinking"
        yield from self._said_call(None)
        if part is None:
            return
        if self._places.layout:
            self._note(part, state, text)
            yield event
            return
        foreign = state is not None and not self._is_own(state)
        unsigned = part.kind == "thinking" and state is None and self._places.always
        if (foreign or unsigned) and (part.kind == "thinking" or self._places.anywhere):
            known = {} if part.kind == "tool_call" else {"h": digest(text)}
            yield Append("", self._own({**self._members(state), **known}, state, text))
            yield event
        elif foreign:
            yield event
            yield from self._alone({**self._members(state), "h": digest(text), "b": "prev"})
        else:
            yield event

    def _finish(self) -> Iterator[Event]:
        if self._places.layout and not self._is_plain():
            yield from self._alone({"l": self._layout})

    def _alone(self, members: JsonObject) -> Iterator[Event]:
        yield Open("thinking")
        yield Append("", self._own(members, None, ""))
        yield Close()

    def _own(self, members: JsonObject, state: State | None, text: str) -> State:
        """The client's own state that holds an envelope, or what stands for one there."""
        if self._places.name is None:
            values = {} if state is None else state.values
            issuer = {"issuer": state.namespace} if state is not None and state.namespace else {}
            known = {"digest": digest(text)} if "h" in members and self._thinks else {}
            return State(None, {**values, **issuer, **known})
        more: Mapping[str, Any] = self._places.more
        return State(self._places.name or None, {str(self._places.value): sealed(members), **more})

    def _members(self, state: State | None) -> JsonObject:
        if state is None:
            return {}
        return {"i": state.namespace or None, "s": self._scope, "d": state.values}

    def _is_own(self, state: State) -> bool:
        return bool(self._places.name) and state.namespace == self._places.name

    def _note(self, part: Open, state: State | None, text: str) -> None:
        entry: JsonObject = {"k": part.kind, **self._members(state)}
        if part.kind == "tool_call":
            entry["id"] = part.id
        else:
            entry |= {"n": len(text), "h": digest(text)}
        if text == _REDACTED:
            entry["t"] = text
        self._plain = self._plain and (state is None or (is_hint(state) and not state.namespace))
        self._layout.append({key: value for key, value in entry.items() if value is not None and value != {}})

    def _is_plain(self) -> bool:
        kinds = [entry["k"] for entry in self._layout]
        once = [kind for kind in ("thinking", "text") if kind in kinds]
        return self._plain and kinds == [*once, *["tool_call"] * kinds.count("tool_call")]


