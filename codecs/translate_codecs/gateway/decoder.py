"""The gateway's frames read: what they say, and what is known of a stream so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from translate import jsontext
from translate.algebra.calls import BLANK
from translate.algebra.events import (
    Append,
    Close,
    Event,
    Failure,
    Foreign,
    Handover,
    JsonObject,
    Model,
    Open,
    Start,
    State,
)
from translate.algebra.reading import member, optional
from translate.algebra.states import carried_states
from translate.codec import Codec, Decoder, Hot, Mended, Options, Piece
from translate.errors import CarryError, DecodeError, GrammarError, TranslateError, excerpt

from .words import (
    BETWEEN,
    HOT,
    MODEL,
    NAME,
    OPENING,
    REASONS,
    RUN,
    STARTS,
    STATES,
    THINKING,
    WORD,
    guessed_issuer,
    is_texts,
    kind_of_frame,
    named,
    read_data,
    read_model,
    read_usage,
    state_data,
)

_REFUTED = "the state in the carry of a fragment was not that of its thinkingEnd"


class GatewayDecoder(Decoder):
    """Reads gateway frames."""

    def __init__(self, codec: Codec, options: Options) -> None:
        super().__init__(codec, options)
        self._state = OPENING
        self._model = Model()
        self._calls = 0
        self._stated: list[State] = []
        """What was said of the open run's state before its end, by carries or for them."""

    @property
    def state(self) -> str:
        return self._state

    # ---- what is known

    def take(self, unit: JsonObject | None, meant: Sequence[Event]) -> None:
        if unit is not None:
            # what a frame is counts, whatever a carry makes of it
            kind = kind_of_frame(unit)
            self._state = STATES[self._state].get(kind, self._state)
            if kind in STARTS:
                self._stated = []
            elif kind == "streamStart":
                self._model = named(unit["value"])
        for event in meant:
            if type(event) is Append:
                if event.state is not None and self._state is THINKING:
                    self._stated.append(event.state)
            elif type(event) is Open:
                self._calls += event.kind == "tool_call"

    def hot(self) -> Hot | None:
        return HOT[WORD[RUN[self._state]]] if self._state in RUN else None

    # ---- the short way

    def plain(self, unit: JsonObject, name: str | None) -> list[Event] | None:
        try:
            value, state = unit["value"], self._state
            kind = value["type"]
            if len(unit) != 3 or unit["success"] is not True or unit["code"] != 200 or type(unit["code"]) is not int:
                return None
            if (name != kind and name is not None) or kind not in STATES[state]:
                return None
            if kind in ("content", "thinking"):
                text = value["value"]
                return [Append(text)] if len(value) == 2 and type(text) is str else None
            events = self._plain.get(kind, _none)(self, value)
        except (KeyError, TypeError, AttributeError):
            return None
        if events is not None:
            self._state = STATES[state][kind]
        return events

    def _plain_mark(self, value: JsonObject) -> list[Event] | None:
        kind = value["type"]
        if len(value) != 1:
            return None
        if kind == "contentEnd":
            return [Close()]
        self._stated = []
        return [Open(RUN[STARTS[kind]])]

    def _plain_start(self, value: JsonObject) -> list[Event] | None:
        model = value["model"]
        words = [model[name] for name in MODEL]
        if len(value) != 2 or len(model) != len(MODEL) or not is_texts(model) or not all(words):
            return None
        self._model = named(value)
        return [Start(named(value))]

    def _plain_end(self, value: JsonObject) -> list[Event] | None:
        if self._stated:
            return None
        if len(value) == 1:
            return [Close()]
        data = value["data"]
        if len(value) != 2 or not is_texts(data):
            return None
        return [Append("", read_data(data)), Close()]

    def _plain_tool(self, value: JsonObject) -> list[Event] | None:
        call = value["value"]
        id, name, raw = call["id"], call["name"], call["arguments"]
        if len(value) != 2 or len(call) != 3 or not is_texts(call) or not raw.strip(BLANK):
            return None
        self._calls += 1
        return [Open("tool_call", id, name), Append(raw), Close()]

    def _plain_stop(self, value: JsonObject) -> list[Event] | None:
        usage = value["usage"]
        counts = usage["inputTokens"], usage["outputTokens"]
        if len(value) != 2 or len(usage) != 4 or not all(type(count) is int for count in counts):
            return None
        if usage["finishReason"] not in REASONS or type(usage["provider"]) is not str:
            return None
        return [read_usage(usage, self._model)]

    _plain: ClassVar[dict[str, Callable[[Any, JsonObject], list[Event] | None]]] = {
        "contentStart": _plain_mark,
        "thinkingStart": _plain_mark,
        "contentEnd": _plain_mark,
        "thinkingEnd": _plain_end,
        "streamStart": _plain_start,
        "tool": _plain_tool,
        "stop": _plain_stop,
    }

    # ---- the long way

    def read(self, unit: JsonObject, name: str | None) -> list[Event]:
        code = member(unit, "code", int, "an envelope")
        if not member(unit, "success", bool, "an envelope"):
            return self._on_error(unit, name, code)
        value = member(unit, "value", dict, "an envelope")
        kind = member(value, "type", str, "a frame")
        if name is not None and name != kind:
            raise misnamed(name, kind)
        handler = self._handlers.get(kind)
        return [Foreign(NAME, unit)] if handler is None else handler(self, value, kind)

    def _allow(self, kind: str) -> None:
        if kind not in STATES[self._state]:
            expected = ", ".join(STATES[self._state]) or "nothing"
            raise GrammarError(f"a {kind} frame {self._state}", expected=expected)

    def _on_start(self, value: JsonObject, kind: str) -> list[Event]:
        model = read_model(value)
        self._allow(kind)
        return [Start(model)]

    def _on_open(self, value: JsonObject, kind: str) -> list[Event]:
        self._allow(kind)
        return [Open(RUN[STARTS[kind]])]

    def _on_text(self, value: JsonObject, kind: str) -> list[Event]:
        text = member(value, "value", str, f"a {kind} frame")
        self._allow(kind)
        return [Append(text)]

    def _on_content_end(self, value: JsonObject, kind: str) -> list[Event]:
        self._allow(kind)
        return [Close()]

    def _on_thinking_end(self, value: JsonObject, kind: str) -> list[Event]:
        data = optional(value, "data", dict, "a thinkingEnd frame")
        self._allow(kind)
        fresh = self._not_yet(self._stated, read_data(data), data or {})
        return [Append("", fresh), Close()] if fresh is not None else [Close()]

    def _not_yet(self, before: Sequence[State], state: State | None, data: JsonObject) -> State | None:
        """What of the run's state the carries of its fragments, which said ``before``, have not said already."""
        if not before:
            return state
        said: JsonObject = {}
        for stated in before:
            # who issued it is known, or was guessed from the model by the writer, or is what the keys have in common
            issuers = (guessed_issuer(self._model), state.namespace if state else None)
            forms = [state_data(stated, issuer) or {} for issuer in issuers]
            said |= next((form for form in forms if form.keys() <= data.keys()), stated.values)
        if said.keys() <= data.keys() and all(jsontext.same(v, data[k]) for k, v in said.items()):
            rest = {k: v for k, v in data.items() if k not in said}
            issuer = (state.namespace if state else None) or ""
            return State(issuer, {k[len(issuer) + 1 :] if issuer else k: v for k, v in rest.items()}) if rest else None
        raise CarryError("the state in the carry of a fragment is not that of its thinkingEnd")

    def _on_tool(self, value: JsonObject, kind: str) -> list[Event]:
        call = member(value, "value", dict, "a tool frame")
        id, name, raw = (member(call, key, str, "a call") for key in ("id", "name", "arguments"))
        self._allow(kind)
        return [Open("tool_call", id, name), Append(raw), Close()]

    def _on_handover(self, value: JsonObject, kind: str) -> list[Event]:
        model = read_model(value)
        self._allow(kind)
        return [Handover(model)]

    def _on_stop(self, value: JsonObject, kind: str) -> list[Event]:
        event = read_usage(member(value, "usage", dict, "a stop frame"), self._model)
        self._allow(kind)
        return [event]

    def _on_error(self, unit: JsonObject, name: str | None, code: int) -> list[Event]:
        if unit.get("value") is not None:
            raise DecodeError("an error envelope with a value", expected="a message", excerpt=excerpt(unit))
        if name not in (None, "error"):
            raise misnamed(name or "", "error")
        event = Failure(code, member(unit, "message", str, "an error envelope"))
        self._allow("error")
        return [event]

    _handlers: ClassVar[dict[str, Callable[[Any, JsonObject, str], list[Event]]]] = {
        "content": _on_text,
        "thinking": _on_text,
        "contentStart": _on_open,
        "thinkingStart": _on_open,
        "contentEnd": _on_content_end,
        "thinkingEnd": _on_thinking_end,
        "tool": _on_tool,
        "stop": _on_stop,
        "streamStart": _on_start,
        "streamError": _on_handover,
    }

    # ---- lenient mode

    def awaits(self, held: Sequence[Piece], piece: Piece) -> bool:
        """A state in the carry of a fragment is believed when its thinkingEnd is there."""
        if held:
            return kind_of_frame(piece.unit) not in STATES[THINKING].keys() - {"thinking"}
        return self._state is THINKING and bool(carried_states(piece.carry))

    def ends(self, piece: Piece) -> bool:
        return kind_of_frame(piece.unit) == "thinkingEnd"

    def settled(self, pieces: Sequence[Piece]) -> Sequence[Piece | None] | None:
        if not self.ends(pieces[-1]):
            return None
        stated = [[State(**each) for each in carried_states(piece.carry)] for piece in pieces]
        data = pieces[-1].unit["value"].get("data")
        try:
            self._not_yet([*self._stated, *(each for states in stated for each in states)], read_data(data), data or {})
        except (CarryError, AttributeError, TypeError):
            self.options.repair("state", _REFUTED)
            return [Piece(piece.unit, None) if found else piece for piece, found in zip(pieces, stated, strict=True)]
        return None

    def mend(self, unit: JsonObject, name: str | None, error: TranslateError) -> Mended | None:
        kind = kind_of_frame(unit)
        if isinstance(error, DecodeError) and name not in (None, kind):
            return Mended("event", f"the event name {excerpt(name)!r} disagreed with the type {kind!r}", unit, None)
        if isinstance(error, CarryError):
            self._stated = []
            return Mended("state", _REFUTED, unit, name)
        if not isinstance(error, GrammarError):
            return None
        ahead: list[Event] = []
        state = self._state
        what = f"a frame was missing before a {kind} frame {state}"
        if state in RUN and (kind in STATES[BETWEEN] or kind in WORD.values()) and kind != "streamStart":
            # a run that broke off before another stream is no run that lacks its end
            ahead.append(Close())
            state = BETWEEN
        elif state is OPENING and kind in STATES[BETWEEN]:
            ahead.append(Start())
            state = BETWEEN
        if kind in ("content", "thinking") and state in (OPENING, BETWEEN):
            self._state = BETWEEN if state is OPENING else self._state
            ahead.append(Open("thinking" if kind == "thinking" else "text"))
        return Mended(kind, what, unit, name, ahead) if ahead else None


def _none(decoder: object, value: JsonObject) -> None:
    return None


def misnamed(name: str, kind: str) -> DecodeError:
    """The error for an event name that is not the frame's type."""
    what = f"the event name {excerpt(name)!r} disagrees with the type {excerpt(kind)!r}"
    return DecodeError(what, expected="one name")
