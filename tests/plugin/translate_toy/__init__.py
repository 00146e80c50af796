"""Toy: a small chat format, as objects, JSON lines and SSE.

1. A unit is an object; its first member of the table says what it is: ``{"open": "text"}``, ``{"t": "Hel"}``,
   ``{"think": "Hm"}``, ``{"call": {"id", "name", "args"}}``, ``{"close": "text"}``, ``{"end": "stop", "in": 3, "out":
   4}``, ``{"fail": "overloaded", "code": 529}``.
2. ``stream := (block | call)* (end | fail)``; ``block := open (t | think)* close``. A ``fail`` ends an open block too.
3. ``t`` grows a block of ``text``, ``think`` one of ``thinking``. A call comes whole, ``args`` being its raw text.
4. Units without a member of the table are foreign; unknown members stay in the residue. Neither is an error.

There are no other native words; a block that ends in a ``Handover`` is closed. The residue: ``patch``, where the unit
differs from the one written here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

from translate import Codec, Encoder, Options, Said, Written, jsontext
from translate.algebra.events import (
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Foreign,
    Handover,
    JsonObject,
    Open,
    PartKind,
    Reason,
    TokenCounts,
)
from translate.algebra.parts import join
from translate.algebra.reading import member, optional, reason_word
from translate.algebra.usage import latest
from translate.codec import Pieces
from translate.errors import DecodeError, GrammarError
from translate.shapes.lines import Lines
from translate.shapes.objects import Objects
from translate.shapes.sse import Sse

NAME: Final = "toy"
BETWEEN: Final = "between blocks"
TEXT: Final = "in a text block"
THINKING: Final = "in a thinking block"
ENDED: Final = "ended"
STATES: Final[dict[str, dict[str, str]]] = {
    BETWEEN: {"open text": TEXT, "open thinking": THINKING, "call": BETWEEN, "end": ENDED, "fail": ENDED},
    TEXT: {"t": TEXT, "close text": BETWEEN, "fail": ENDED},
    THINKING: {"think": THINKING, "close thinking": BETWEEN, "fail": ENDED},
    ENDED: {},
}
"""State → unit → next state."""
KINDS: Final[dict[str, PartKind]] = {"text": "text", "thinking": "thinking"}


def _end(event: Finish) -> JsonObject:
    word = event.reason.word
    counts = {"in": event.usage.input_tokens, "out": event.usage.output_tokens}
    return {"end": word, **{key: count for key, count in counts.items() if count is not None}}


def _finish(unit: JsonObject) -> Finish:
    raw = member(unit, "end", str, "an end")
    word = raw if raw in ("refusal", "content_filter", "pause") else reason_word(raw)
    counts = TokenCounts(optional(unit, "in", int, "an end"), optional(unit, "out", int, "an end"))
    return Finish(counts, Reason(word, None if raw == word else raw))


def _fail(event: Failure) -> JsonObject:
    return {"fail": event.message} if event.code is None else {"fail": event.message, "code": event.code}


def _failure(unit: JsonObject) -> Failure:
    return Failure(optional(unit, "code", int, "a fail"), member(unit, "fail", str, "a fail"))


class ToyEncoder(Encoder):
    """Knows one stream of toy units: reads them, and predicts them."""

    def __init__(self, codec: Codec, options: Options) -> None:
        super().__init__(codec, options)
        self._state = BETWEEN

    @property
    def state(self) -> str:
        return self._state

    # ---- what units say

    def read(self, unit: JsonObject, name: str | None) -> list[Event]:
        word = next((key for key in unit if key in self._readers), None)
        return [Foreign(NAME, unit)] if word is None else self._readers[word](self, unit)

    def take(self, unit: JsonObject | None, meant: Sequence[Event]) -> None:
        for event in meant:
            if type(event) is Open and event.kind in KINDS:
                self._state = TEXT if event.kind == "text" else THINKING
            elif type(event) in (Close, Handover):
                self._state = BETWEEN
            elif type(event) in (Finish, Failure):
                self._state = ENDED

    def _allow(self, what: str) -> None:
        if what not in STATES[self._state]:
            raise GrammarError(f"a unit {what!r} {self._state}", expected=", ".join(STATES[self._state]) or "nothing")

    def _block(self, unit: JsonObject, word: str) -> PartKind:
        kind = member(unit, word, str, f"a unit {word!r}")
        if kind not in KINDS:
            raise DecodeError(f"no block is of kind {kind!r}", expected=" or ".join(KINDS))
        self._allow(f"{word} {kind}")
        return KINDS[kind]

    def _on_open(self, unit: JsonObject) -> list[Event]:
        return [Open(self._block(unit, "open"))]

    def _on_close(self, unit: JsonObject) -> list[Event]:
        self._block(unit, "close")
        return [Close()]

    def _on_t(self, unit: JsonObject, word: str = "t") -> list[Event]:
        text = member(unit, word, str, f"a unit {word!r}")
        self._allow(word)
        return [Append(text)]

    def _on_think(self, unit: JsonObject) -> list[Event]:
        return self._on_t(unit, "think")

    def _on_call(self, unit: JsonObject) -> list[Event]:
        call = member(unit, "call", dict, "a unit 'call'")
        id, name, args = (member(call, key, str, "a call") for key in ("id", "name", "args"))
        self._allow("call")
        return [Open("tool_call", id, name), Append(args), Close()]

    def _on_end(self, unit: JsonObject) -> list[Event]:
        event = _finish(unit)
        self._allow("end")
        return [event]

    def _on_fail(self, unit: JsonObject) -> list[Event]:
        event = _failure(unit)
        self._allow("fail")
        return [event]

    _readers: ClassVar[dict[str, Callable[[Any, JsonObject], list[Event]]]] = {
        "open": _on_open,
        "t": _on_t,
        "think": _on_think,
        "call": _on_call,
        "close": _on_close,
        "end": _on_end,
        "fail": _on_fail,
    }

    # ---- the short ways

    def plain(self, unit: JsonObject, name: str | None) -> list[Event] | None:
        word = GROWS.get(self._state)
        text = unit.get(word) if word is not None and len(unit) == 1 else None
        return [Append(text)] if type(text) is str else None

    def say(self, events: Sequence[Event]) -> Said | None:
        word, event = GROWS.get(self._state), events[0]
        if word is None or type(event) is not Append or type(event.data) is not str or event.state is not None:
            return None
        return None if self.residue(event) is not None else ({word: event.data}, None, False)

    # ---- the units of events

    def write(self, events: Sequence[Event]) -> Pieces:
        event, first = events[-1], events[0]
        if type(first) is Open and first.kind == "tool_call":
            return self._write_call(first, events)
        if type(event) is Open and self.codec.sayable(event):
            return [Written({"open": event.kind}, events)]
        if type(event) is Append and self._state in GROWS:
            return [Written({GROWS[self._state]: event.data}, events)]
        if type(event) in (Close, Handover) and self._state in GROWS:
            return [Written({"close": "text" if self._state is TEXT else "thinking"}, events)]
        if type(event) is Finish:
            return [Written(_end(Finish(latest(event.usage, self.usage), event.reason)), events)]
        if type(event) is Failure:
            return [Written(_fail(event), events)]
        if type(event) is Foreign and event.codec == NAME:
            return [Written(event.unit, events)]
        return [Written(None, events)]

    def _write_call(self, head: Open, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        if not self.codec.sayable(head) or type(event) is Handover:
            return [Written(None, events)]
        if type(event) is Failure:
            return [Written(None, events[:-1]), Written(_fail(event), [event])]
        if type(event) is not Close:
            return None
        args = join([each.data for each in events if type(each) is Append])
        return [Written({"call": {"id": head.id, "name": head.name, "args": args}}, events)]


GROWS: Final = {TEXT: "t", THINKING: "think"}
"""State → the word that grows what is open."""


class Toy(Codec):
    """The codec of toy."""

    name: ClassVar[str] = NAME
    shapes: ClassVar = {"": Objects(), "jsonl": Lines(), "sse": Sse()}
    says = frozenset({"text", "thinking", "tool_call", "finish", "failure"})

    def encoder(self, options: Options) -> ToyEncoder:
        return ToyEncoder(self, options)

    def sayable(self, event: Event) -> bool:
        if type(event) is Open and event.kind == "tool_call":
            return event.id is not None and event.name is not None
        return super().sayable(event)

    def agrees(self, said: Event, meant: Event) -> bool:
        if type(said) is Open and type(meant) is Open:
            same_call = said.kind != "tool_call" or (said.id, said.name) == (meant.id, meant.name)
            return said.kind == meant.kind and same_call
        if type(said) is Append and type(meant) is Append:
            return jsontext.same(said.data, meant.data)
        if type(said) is Finish and type(meant) is Finish:
            return jsontext.same(_end(said), _end(meant))
        if type(said) is Failure and type(meant) is Failure:
            return jsontext.same(_fail(said), _fail(meant))
        return said == meant


CODEC = Toy()
