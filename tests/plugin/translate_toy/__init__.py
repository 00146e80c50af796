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

from translate import Codec, Decoder, Encoder, Options, Sink, jsontext
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
from translate.carry import patches as patch
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
WORDS: Final = {"text": "t", "thinking": "think"}


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


class ToyDecoder(Decoder):
    """Reads toy units."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._state = BETWEEN
        self._handlers: dict[str, Callable[[JsonObject], tuple[JsonObject, list[Event]]]] = {
            word: getattr(self, f"_on_{word}") for word in ("open", "t", "think", "call", "close", "end", "fail")
        }

    @property
    def state(self) -> str:
        return self._state

    def decode(self, unit: JsonObject, name: str | None) -> list[Event]:
        handler = next((self._handlers[key] for key in unit if key in self._handlers), None)
        if handler is None:
            return [Foreign(NAME, unit)]
        canonical, events = handler(unit)
        if changes := patch.diff(canonical, unit):
            events[0].residue = {NAME: {"patch": changes}}
        return events

    def resume(self, state: str) -> None:
        """Go on in a stream that others have begun."""
        self._state = state

    def _move(self, what: str) -> None:
        following = STATES[self._state].get(what)
        if following is None:
            raise GrammarError(f"a unit {what!r} {self._state}", expected=", ".join(STATES[self._state]) or "nothing")
        self._state = following

    def _block(self, unit: JsonObject, word: str) -> PartKind:
        kind = member(unit, word, str, f"a unit {word!r}")
        if kind not in KINDS:
            raise DecodeError(f"no block is of kind {kind!r}", expected=" or ".join(KINDS))
        self._move(f"{word} {kind}")
        return KINDS[kind]

    def _on_open(self, unit: JsonObject) -> tuple[JsonObject, list[Event]]:
        kind = self._block(unit, "open")
        return {"open": kind}, [Open(kind)]

    def _on_close(self, unit: JsonObject) -> tuple[JsonObject, list[Event]]:
        return {"close": self._block(unit, "close")}, [Close()]

    def _on_t(self, unit: JsonObject, word: str = "t") -> tuple[JsonObject, list[Event]]:
        text = member(unit, word, str, f"a unit {word!r}")
        self._move(word)
        return {word: text}, [Append(text)]

    def _on_think(self, unit: JsonObject) -> tuple[JsonObject, list[Event]]:
        return self._on_t(unit, "think")

    def _on_call(self, unit: JsonObject) -> tuple[JsonObject, list[Event]]:
        call = member(unit, "call", dict, "a unit 'call'")
        id, name, args = (member(call, key, str, "a call") for key in ("id", "name", "args"))
        self._move("call")
        canonical = {"call": {"id": id, "name": name, "args": args}}
        return canonical, [Open("tool_call", id, name), Append(args), Close()]

    def _on_end(self, unit: JsonObject) -> tuple[JsonObject, list[Event]]:
        event = _finish(unit)
        self._move("end")
        return {**_end(event), "end": event.reason.raw or event.reason.word}, [event]

    def _on_fail(self, unit: JsonObject) -> tuple[JsonObject, list[Event]]:
        event = _failure(unit)
        self._move("fail")
        return _fail(event), [event]


class ToyEncoder(Encoder):
    """Writes toy units."""

    def __init__(self, codec: Codec, sink: Sink, options: Options) -> None:
        super().__init__(codec, sink, options)
        self._state = BETWEEN
        self._head: Open | None = None
        self._held: list[Event] = []
        self._handlers: dict[type[Event], Callable[[Any], None]] = {
            Open: self._on_open,
            Append: self._on_append,
            Close: self._on_close,
            Finish: self._on_finish,
            Failure: self._on_failure,
            Handover: self._on_handover,
            Foreign: self._on_foreign,
        }

    def handle(self, event: Event) -> None:
        self._handlers.get(type(event), self._on_note)(event)

    def _on_open(self, event: Open) -> None:
        self._head = event if self.codec.sayable(event) else None
        if self._head is None:
            self.carried(event)
        elif event.kind == "tool_call":
            self._held = [event]
        else:
            self._say({"open": event.kind}, f"open {event.kind}", [Open(event.kind)], [event])

    def _on_append(self, event: Append) -> None:
        if self._held:
            self._held.append(event)
        elif self._head is None:
            self.carried(event)
        else:
            word = WORDS[self._head.kind]
            self._say({word: event.data}, word, [Append(event.data)], [event])

    def _on_close(self, event: Close | Handover) -> None:
        head, held = self._head, self._held
        self._head, self._held = None, []
        if head is None:
            self.carried(event)
        elif held:
            args = join([e.data for e in held if type(e) is Append])
            call = {"id": head.id, "name": head.name, "args": args}
            said: list[Event] = [Open("tool_call", head.id, head.name), Append(args), Close()]
            self._say({"call": call}, "call", said, [*held, event])
        else:
            self._say({"close": head.kind}, f"close {head.kind}", [Close()], [event])

    def _on_handover(self, event: Handover) -> None:
        if self._head is not None and not self._held:
            self._on_close(event)
        else:
            self._flush()
            self.carried(event)
        self._head = None

    def _on_finish(self, event: Finish) -> None:
        unit = _end(event)
        self._say(unit, "end", [_finish(unit)], [event])

    def _on_failure(self, event: Failure) -> None:
        self._flush()
        self._say(_fail(event), "fail", [Failure(event.code, event.message)], [event])

    def _on_foreign(self, event: Foreign) -> None:
        if event.codec == NAME and not self._held:
            self.foreign(event, None)
        else:
            self._on_note(event)

    def _on_note(self, event: Event) -> None:
        if self._held:
            self._held.append(event)
        else:
            self.carried(event)

    def _flush(self) -> None:
        """A call that never came whole is carried."""
        if self._held:
            self.carried(*self._held)
            self._held = []

    def _say(self, unit: JsonObject, word: str, said: list[Event], meant: Sequence[Event]) -> None:
        unit, said = self.restore(unit, said, meant)
        self._state = STATES[self._state].get(word, self._state)
        self.sink.put(unit, None, said, meant)

    def reread(self, unit: JsonObject) -> list[Event]:
        reader = ToyDecoder(self.options)
        reader.resume(self._state)
        return reader.decode(unit, None)


class Toy(Codec):
    """The codec of toy."""

    name: ClassVar[str] = NAME
    shapes: ClassVar = {"": Objects(), "jsonl": Lines(), "sse": Sse()}
    says = frozenset({"text", "thinking", "tool_call", "finish", "failure"})

    def decoder(self, options: Options) -> ToyDecoder:
        return ToyDecoder(options)

    def encoder(self, sink: Sink, options: Options) -> ToyEncoder:
        return ToyEncoder(self, sink, options)

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
