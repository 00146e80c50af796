"""Gateway: units become events."""


from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from translate import jsontext
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
from translate.carry import patches as patch
from translate.codec import Decoder, Options
from translate.engine.forms import Hot
from translate.errors import CarryError, DecodeError, GrammarError, excerpt

from .words import (
    BETWEEN,
    CONTENT,
    HOT,
    NAME,
    OPENING,
    RUN,
    STATES,
    THINKING,
    WORD,
    arguments_of,
    envelope,
    error_envelope,
    guessed_issuer,
    model_words,
    read_data,
    read_model,
    read_usage,
    state_data,
    usage_words,
)


class GatewayDecoder(Decoder):
    """Reads gateway frames."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._state = OPENING
        self._model = Model()
        self._stated: list[State] = []

    @property
    def state(self) -> str:
        return self._state

    def decode(self, unit: JsonObject, name: str | None) -> list[Event]:
        code = member(unit, "code", int, "an envelope")
        if not member(unit, "success", bool, "an envelope"):
            return self._on_error(unit, name, code)
        value = member(unit, "value", dict, "an envelope")
        kind = member(value, "type", str, "a frame")
        if name is not None and name != kind:
            self._misnamed(name, kind)
        handler = self._handlers.get(kind)
        if handler is None:
            return [Foreign(NAME, unit)]
        return handler(self, unit)

    def meant(self, events: Sequence[Event]) -> None:
        self._stated += [event.state for event in events if type(event) is Append and event.state]

    def hot(self) -> Hot | None:
        return HOT[WORD[RUN[self._state]]] if self._state in RUN else None

    def resume(self, state: str, model: Model, stated: list[State]) -> None:
        """Go on in a stream that others have begun; ``stated``: what the open run has said of its state."""
        self._state, self._model, self._stated = state, model, stated

    def _misnamed(self, name: str, kind: str) -> None:
        if self.options.strict:
            raise DecodeError(f"the event name {name!r} disagrees with the type {kind!r}", expected="one name")
        self.options.repair("event", f"the event name {name!r} disagreed with the type {kind!r}")

    def _move(self, kind: str) -> list[Event]:
        """To the next state; lenient mode puts in the one frame that is missing, if that is all."""
        following = STATES[self._state].get(kind)
        if following is not None:
            self._state = following
            return []
        repaired = [] if self.options.strict else self._missing(kind)
        if not repaired:
            expected = ", ".join(STATES[self._state]) or "nothing"
            raise GrammarError(f"a {kind} frame {self._state}", expected=expected)
        self.options.repair(kind, f"a frame was missing before a {kind} frame {self._state}")
        self._state = STATES[self._state if self._state in RUN else BETWEEN].get(kind, self._state)
        return repaired

    def _missing(self, kind: str) -> list[Event]:
        events: list[Event] = []
        if self._state in RUN and (kind in STATES[BETWEEN] or kind in WORD.values()):
            events.append(Close())
            self._state = BETWEEN
        elif self._state == OPENING and kind in STATES[BETWEEN]:
            events.append(Start())
            self._state = BETWEEN
        if kind in ("content", "thinking") and self._state in (OPENING, BETWEEN):
            self._state = THINKING if kind == "thinking" else CONTENT
            self._stated = []
            events.append(Open(RUN[self._state]))
        return events

    def _on_start(self, unit: JsonObject) -> list[Event]:
        model = read_model(unit["value"])
        before = self._move("streamStart")
        self._model = model
        value = {"type": "streamStart", "model": model_words(model)}
        return [*before, *self._keep(unit, value, Start(model))]

    def _on_open(self, unit: JsonObject) -> list[Event]:
        kind = unit["value"]["type"]
        before = self._move(kind)
        self._stated = []
        return [*before, *self._keep(unit, {"type": kind}, Open(RUN[self._state]))]

    def _on_text(self, unit: JsonObject) -> list[Event]:
        kind = unit["value"]["type"]
        text = member(unit["value"], "value", str, f"a {kind} frame")
        before = self._move(kind)
        return [*before, *self._keep(unit, {"type": kind, "value": text}, Append(text))]

    def _on_content_end(self, unit: JsonObject) -> list[Event]:
        before = self._move("contentEnd")
        return [*before, *self._keep(unit, {"type": "contentEnd"}, Close())]

    def _on_thinking_end(self, unit: JsonObject) -> list[Event]:
        data = optional(unit["value"], "data", dict, "a thinkingEnd frame")
        before = self._move("thinkingEnd")
        state = read_data(data)
        value = {"type": "thinkingEnd"} if state is None else {"type": "thinkingEnd", "data": data}
        fresh = self._not_yet(state, data or {})
        events: list[Event] = [Append("", fresh), Close()] if fresh is not None else [Close()]
        return [*before, *self._keep(unit, value, *events)]

    def _not_yet(self, state: State | None, data: JsonObject) -> State | None:
        """What of the run's state the carries of its fragments have not said already."""
        if not self._stated:
            return state
        said: JsonObject = {}
        for stated in self._stated:
            # who issued it is known, or was guessed from the model by the writer, or is what the keys have in common
            issuers = (guessed_issuer(self._model), state.namespace if state else None)
            forms = [state_data(stated, issuer) or {} for issuer in issuers]
            said |= next((form for form in forms if form.keys() <= data.keys()), stated.values)
        if said.keys() <= data.keys() and all(jsontext.same(v, data[k]) for k, v in said.items()):
            rest = {k: v for k, v in data.items() if k not in said}
            issuer = (state.namespace if state else None) or ""
            return State(issuer, {k[len(issuer) + 1 :] if issuer else k: v for k, v in rest.items()}) if rest else None
        if self.options.strict:
            raise CarryError("the state in the carry of a fragment is not that of its thinkingEnd")
        self.options.repair("state", "the state in the carry of a fragment was not that of its thinkingEnd")
        return state

    def _on_tool(self, unit: JsonObject) -> list[Event]:
        call = member(unit["value"], "value", dict, "a tool frame")
        id, name, raw = (member(call, key, str, "a call") for key in ("id", "name", "arguments"))
        before = self._move("tool")
        value = {"type": "tool", "value": {"id": id, "name": name, "arguments": arguments_of(raw)}}
        return [*before, *self._keep(unit, value, Open("tool_call", id, name), Append(raw), Close())]

    def _on_handover(self, unit: JsonObject) -> list[Event]:
        model = read_model(unit["value"])
        before = self._move("streamError")
        return [*before, *self._keep(unit, {"type": "streamError", "model": model_words(model)}, Handover(model))]

    def _on_stop(self, unit: JsonObject) -> list[Event]:
        event = read_usage(member(unit["value"], "usage", dict, "a stop frame"), self._model)
        before = self._move("stop")
        return [*before, *self._keep(unit, {"type": "stop", "usage": usage_words(event, self._model)}, event)]

    def _on_error(self, unit: JsonObject, name: str | None, code: int) -> list[Event]:
        if "value" in unit:
            raise DecodeError("an error envelope with a value", expected="a message", excerpt=excerpt(unit))
        if name not in (None, "error"):
            self._misnamed(name or "", "error")
        event = Failure(code, member(unit, "message", str, "an error envelope"))
        alone = self._state == OPENING
        self._move("error")
        changes = patch.diff(error_envelope(event), unit)
        if changes or alone:
            event.residue = {NAME: {"patch": changes} if changes else {}}
        return [event]

    def _keep(self, unit: JsonObject, value: JsonObject, *events: Event) -> tuple[Event, ...]:
        """The events, the first of them with what only the gateway says of the unit."""
        canonical = envelope(value)
        # its values are the unit's own, so that equal ones are the same
        if canonical != unit and (changes := patch.diff(canonical, unit)):
            events[0].residue = {NAME: {"patch": changes}}
        return events

    _handlers: ClassVar[dict[str, Callable[[Any, JsonObject], list[Event]]]] = {
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
