"""Sealed streams: state of other issuers in a stream, in the places where its whole answer has it.

1. ``beside``: an envelope is thinking of the client's own: the state of a thinking part, a part before a call, and a
   part after any other. A state that comes behind the beginning of its call stands after the call.
2. ``layout``: one envelope of all parts, the last thing before the end, where the message is more than the client's
   grammar says by itself.
3. ``within``: an envelope in place of the state of each part. Where pieces come back as parts of their own, the one
   of a thinking part holds its text.

The same stage gives the client its own words back: the model that it asked for, the names of its tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from ..algebra.events import (
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Handover,
    Model,
    Open,
    Start,
    State,
    TokenCounts,
    Usage,
    with_residue,
)
from ..algebra.states import REDACTED, is_hint
from ..engine.stage import Stage
from ..limits import Limits
from ..registry import codec as find_codec
from .capability import Seal
from .envelope import sealed
from .ids import MADE, true_id, written_id
from .nodes import Part
from .places import Places
from .sealing import layout_entry, seal

_TEXTS: Final = ("text", "thinking", "refusal", "tool_call")


@dataclass(slots=True)
class Facts:
    """What the answer of a call needs of its request.

    ``asked``: the model that the client named; ``answered``: the one that answered. ``tools``: by the names that the
    server knows, the client's name and kind. ``counts``: whether the client wants counts in a stream. ``calls``:
    how many the conversation has before. ``shape``: of the client's stream.
    """

    client: str
    server: str
    seal: Seal = "message"
    scope: str | None = None
    asked: str | None = None
    answered: str | None = None
    tools: dict[str, tuple[str, str]] = field(default_factory=dict)
    counts: bool = True
    calls: int = 0
    shape: str = "sse"

    def called(self, name: str | None, id: str | None, n: int) -> tuple[str | None, str, str]:
        """Name, id and kind of the answer's ``n``-th call, as the client is to know it."""
        name, kind = self.tools.get(name or "", (name, "function"))
        return name, id or f"{MADE}{self.calls + n}_{name or ''}", kind


class Answering(Stage):
    """The events of a server's answer, as its client is to have them."""

    def __init__(self, facts: Facts, limits: Limits | None = None) -> None:
        self._facts = facts
        codec = find_codec(facts.client)
        answers = codec.answers
        self._charset = codec.requests.charset if codec.requests is not None else None
        self._ids: set[str] = set()
        sealing = facts.seal != "off" and facts.client != facts.server and answers is not None
        self._places: Places | None = answers.places if sealing and answers is not None else None
        self._most = (limits or Limits()).state
        self._held: list[Event] = []
        """The opening of thinking, which says nothing yet."""
        self._part: Part | None = None
        self._pieces: list[str] = []
        self._parts: list[Part] = []
        self._entries: list[dict[str, object]] = []
        self._size = 0
        self._before = False
        """Whether the envelope of the open call was said before it."""
        self._made = 0

    def take(self, events: Sequence[Event]) -> Sequence[Event]:
        """The events of a unit for the client."""
        out: list[Event] = []
        for i, event in enumerate(events):
            self._take(event, events[i + 1 :], out)
        return out

    def grow(self, text: str) -> Sequence[Event]:
        """Note more text of the open part; what was held of it goes before."""
        if self._part is None or self._places is None:
            return ()
        self._pieces.append(text)
        held, self._held = self._held, []
        return held

    def _take(self, event: Event, following: Sequence[Event], out: list[Event]) -> None:
        kind = type(event)
        if kind is Open:
            self._open(event, following, out)  # type: ignore[arg-type]
        elif kind is Append:
            self._append(event, out)  # type: ignore[arg-type]
        elif kind is Close or kind is Handover or kind is Failure:
            if self._part is not None:
                self._close(event, out)
            else:
                out.append(self._named(event))
        elif kind is Finish:
            self._finish(event, out)  # type: ignore[arg-type]
        elif kind is not Usage or self._facts.counts:
            out.append(self._named(event))

    def _named(self, event: Event) -> Event:
        """Who answers, by the name that the client asked for."""
        if type(event) is not Start:
            return event
        self._facts.answered = event.model.name or self._facts.answered
        if self._facts.asked not in (None, event.model.name):
            model = Model(self._facts.asked, event.model.tier, event.model.publisher, event.model.provider)
            return Start(model, event.id, event.created, event.residue)
        return event

    # ---- parts

    def _open(self, event: Open, following: Sequence[Event], out: list[Event]) -> None:
        if event.kind == "tool_call" and self._facts.client != self._facts.server:
            event = self._call(event)
        self._part, self._pieces, self._before = None, [], False
        if self._places is None:
            out.append(event)
            return
        part = self._part = Part(event.kind, id=true_id(event.id), name=event.name)
        if event.kind == "thinking":
            self._held = [event]
            return
        if event.kind == "tool_call" and self._places.how == "beside":
            state = _coming(following)
            if state is not None and not self._places.owns(state):
                part.state = state
                self._before = True
                self._beside(part, "next", out)
        out.append(event)

    def _call(self, event: Open) -> Open:
        """A call by the client's name for the tool, and with an id that the client takes."""
        name, id, _ = self._facts.called(event.name, event.id, len(self._ids))
        found, k = id, 1
        while found in self._ids:
            k += 1
            found = f"{id}-{k}"
        self._ids.add(found)
        return Open(event.kind, written_id(found, self._charset, None), name, event.mime_type, event.residue)

    def _append(self, event: Append, out: list[Event]) -> None:
        part, places = self._part, self._places
        if part is None or places is None:
            out.append(event)
            return
        if isinstance(event.data, str):
            self._pieces.append(event.data)
        state = event.state
        if state is None:
            self._say(event, out)
            return
        if part.state is None or is_hint(part.state) or self._before:
            part.state = state
        elif not is_hint(state):
            part.state = State(state.namespace, {**part.state.values, **state.values})
        if places.owns(state) and places.how != "layout" and part.kind == "thinking":
            self._say(event, out)
        elif event.data:
            self._say(Append(event.data, None, event.residue), out)

    def _say(self, event: Append, out: list[Event]) -> None:
        if self._places is not None and self._places.how == "layout" and event.data == REDACTED:
            return
        out += self._held
        self._held = []
        out.append(event)

    def _close(self, event: Event, out: list[Event]) -> None:
        part, places = self._part, self._places
        assert part is not None
        assert places is not None
        part.data = "".join(self._pieces)
        self._part, self._pieces = None, []
        self._issued(part)
        if places.how == "layout":
            self._lay(part)
            if self._held and not part.data.replace(REDACTED, ""):
                # what its issuer alone can read is in the layout, and shown to nobody
                self._held = []
                if type(event) is not Close:
                    out.append(event)
                return
        foreign = part.state is not None and not places.owns(part.state)
        thinking = part.kind == "thinking"
        if places.how != "layout" and type(event) is Close:
            bare = thinking and part.state is None and places.how == "beside"
            if foreign and places.holds is not None:
                self._say(Append("", places.holds(part)), out)
            elif thinking and foreign and places.how == "within":
                # its pieces come back as parts of their own: the envelope holds what it is about
                self._say(Append("", places.state(sealed({"l": [layout_entry(part, None, text=True)]}))), out)
            elif bare or (foreign and (thinking or places.how == "within")):
                self._say(Append("", places.state(seal(part, None))), out)
        out += self._held
        self._held = []
        out.append(event)
        if foreign and not thinking and places.how == "beside" and not self._before and type(event) is Close:
            self._beside(part, "prev", out)

    def _issued(self, part: Part) -> None:
        part.scope = self._facts.scope
        part.issued_by = self._facts.answered if part.state is not None else None

    def _beside(self, part: Part, neighbour: str, out: list[Event]) -> None:
        """A part of thinking that holds the state of its neighbour."""
        assert self._places is not None
        self._issued(part)
        id = None if self._places.id is None else f"{self._places.id}{self._made}"
        self._made += 1
        state = self._places.state(seal(part, None, neighbour=neighbour))
        out += [Open("thinking", id), Append("", state), Close()]

    # ---- the layout of a message

    def _lay(self, part: Part) -> None:
        if self._size > self._most:
            return
        hidden = part.kind not in _TEXTS or part.data == REDACTED
        entry = layout_entry(part, None, text=hidden)
        self._size += len(str(entry))
        self._entries.append(entry)
        self._parts.append(Part(part.kind, state=part.state))

    def _finish(self, event: Finish, out: list[Event]) -> None:
        places = self._places
        if places is not None and places.how == "layout" and self._size <= self._most:
            assert places.plain is not None
            if self._parts and not places.plain(self._parts):
                out += [Open("thinking"), Append("", places.state(sealed({"l": self._entries}))), Close()]
        if not self._facts.counts:
            event = with_residue(Finish(TokenCounts(), event.reason), event.residue)  # type: ignore[assignment]
        out.append(event)


def _coming(events: Sequence[Event]) -> State | None:
    """The state of the part that is open, as far as it came with its beginning."""
    for event in events:
        if type(event) is Append and event.state is not None and not is_hint(event.state):
            return event.state
        if type(event) in (Close, Open):
            break
    return None
