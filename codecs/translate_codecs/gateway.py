"""The gateway's bracketed frames, as envelopes, JSON lines and SSE.

1. A unit is an envelope: ``{"success": true, "code", "value": {"type", …}}`` or ``{"success": false, "code",
   "message"}``. On SSE the event name is the ``type``, ``error`` for a failure.
2. ``stream := error | streamStart (run | tool | streamError | streamStart)* (stop | error)``;
   ``run := contentStart content* (contentEnd | streamError | error) |
   thinkingStart thinking* (thinkingEnd | streamError | error)``. An ``error`` is always last.
3. ``thinkingEnd.data`` is the run's provider state, its keys prefixed with who issued it. A call comes whole.
4. Frames of other types are foreign units; unknown members stay in the residue. Neither is an error.

Native words are lacking for bytes and vectors, server tools, ``Usage``, ``Annotate``, the state of anything but a
thinking run (which goes out at its end), ids, counts of cached and reasoning tokens, and raw words that are not
its own; a refusal is content.

The residue: ``patch`` where the envelope differs from the one written here (``code: 201``, an unknown member). On an
``error`` it is there, if empty, where the stream had no ``streamStart``. ``blank`` marks a call whose arguments were
blank text, not the ``{}`` written here. A ``streamStart`` made for a source that has
none is synthetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from pydantic import BaseModel

from translate import jsontext
from translate.algebra.events import (
    Annotate,
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Foreign,
    Handover,
    JsonObject,
    Model,
    Open,
    PartKind,
    Residue,
    Start,
    State,
    Usage,
)
from translate.algebra.parts import Part, parts
from translate.algebra.reading import member, optional
from translate.carry import patches as patch
from translate.codec import Codec, Decoder, Encoder, Options, Sink
from translate.engine.forms import Hot
from translate.errors import CarryError, DecodeError, GrammarError, excerpt
from translate.shapes import Shape
from translate.shapes.lines import Lines
from translate.shapes.objects import Objects
from translate.shapes.sse import Sse

from . import gateway_models
from .gateway_units import (
    HOT,
    MODEL,
    NAME,
    UNKNOWN,
    WORD,
    arguments_of,
    assembled,
    envelope,
    error_envelope,
    guessed_issuer,
    known_model,
    model_words,
    read_data,
    read_model,
    read_usage,
    said_open,
    same_data,
    same_finish,
    same_state,
    state_data,
    usage_words,
)

OPENING: Final = "before streamStart"
BETWEEN: Final = "between runs"
THINKING: Final = "in a thinking run"
CONTENT: Final = "in a content run"
ENDED: Final = "ended"
STATES: Final[dict[str, dict[str, str]]] = {
    OPENING: {"streamStart": BETWEEN, "error": ENDED},
    BETWEEN: {
        "streamStart": BETWEEN,
        "thinkingStart": THINKING,
        "contentStart": CONTENT,
        "tool": BETWEEN,
        "streamError": BETWEEN,
        "stop": ENDED,
        "error": ENDED,
    },
    THINKING: {"thinking": THINKING, "thinkingEnd": BETWEEN, "streamError": BETWEEN, "error": ENDED},
    CONTENT: {"content": CONTENT, "contentEnd": BETWEEN, "streamError": BETWEEN, "error": ENDED},
    ENDED: {},
}
"""State → frame → next state. The encoder moves through the same table, from the other side."""

RUN: Final[dict[str, PartKind]] = {THINKING: "thinking", CONTENT: "text"}
# ---- decoder ------------------------------------------------------------------------------------


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


# ---- encoder ------------------------------------------------------------------------------------


class GatewayEncoder(Encoder):
    """Writes gateway frames."""

    def __init__(self, codec: Codec, sink: Sink, options: Options) -> None:
        super().__init__(codec, sink, options)
        self._started = False
        self._model = options.model
        self._head: Open | None = None
        self._native = False
        self._held: list[Event] = []
        self._state: JsonObject = {}
        self._stated: list[State] = []
        self._frames: str = OPENING

    def handle(self, event: Event) -> None:
        if not self._started and type(event) is not Start and not self._needs_no_start(event):
            self._start(self.options.model, made_up=True)
        self._handlers[type(event)](self, event)

    def hot(self) -> Hot | None:
        head = self._head
        return HOT.get(WORD.get(head.kind, "")) if self._native and head is not None and not self._held else None

    @property
    def holds(self) -> bool:
        return self._native and self._head is not None and self._head.kind == "tool_call"

    def hold(self, fragments: list[Append]) -> None:
        self._held += fragments

    def _needs_no_start(self, event: Event) -> bool:
        """What may stand before ``streamStart`` at home."""
        if type(event) is Foreign:
            return event.codec == NAME
        return type(event) is Failure and self.at_home(event)

    def _start(self, model: Model, event: Start | None = None, *, made_up: bool) -> None:
        self._started = True
        residue: Residue = {NAME: {"synthetic": True}}
        meant = event or Start(model, residue=residue)
        # the option is for a source that knows no model
        self._model = model if any(getattr(model, name) for name in MODEL) else self.options.model
        value = {"type": "streamStart", "model": model_words(self._model)}
        self._say(value, [Start(known_model(self._model))], [meant], made_up=made_up)

    def _on_start(self, event: Start) -> None:
        synthetic = self.residue(event) is not None and not self.at_home(event)
        self._start(event.model, event, made_up=synthetic)

    def _on_open(self, event: Open) -> None:
        self._native = event.kind in self.codec.says
        if not self._native:
            self.carried(event)
            return
        if event.kind == "tool_call" and (event.id is None or event.name is None):
            self._native = False
            self.carried(event)
            return
        self._head, self._state, self._stated = event, {}, []
        if event.kind == "tool_call":
            self._held = [event]
        else:
            self._say({"type": f"{WORD[event.kind]}Start"}, [said_open(event)], [event])

    def _on_append(self, event: Append) -> None:
        if not self._native:
            self.carried(event)
            return
        head, state = self._head, event.state
        assert head is not None
        if head.kind == "tool_call":
            self._held.append(event)
            return
        self._flush()
        if head.kind == "thinking" and state is not None:
            first = not self._state
            self._remember(state)
            if event.data == "" and first:
                # the state goes out with thinkingEnd
                self._held = [event]
                return
            self._stated.append(state)
            if event.data == "":
                self.carried(event, later=("state",))
                return
        later = ("state",) if head.kind == "thinking" else ()
        value = {"type": WORD[head.kind], "value": event.data}
        self._say(value, [Append(event.data)], [event], later=later)

    def _remember(self, state: State) -> None:
        guess = guessed_issuer(self._model)
        data = state_data(state, guess)
        if state.namespace is None and guess:
            self.options.guess("namespace", f"the state's issuer was taken to be {guess!r}, the publisher")
        self._state = {**self._state, **(data or {})}

    def _flush(self) -> None:
        """A held state turned out not to be the run's last fragment: it is carried at its place."""
        if self._held:
            self.carried(*self._held, later=("state",))
            self._stated += [e.state for e in self._held if type(e) is Append and e.state is not None]
            self._held = []

    def _on_close(self, event: Close) -> None:
        if not self._native:
            self.carried(event)
            return
        head, held = self._head, self._held
        assert head is not None
        self._native, self._held = False, []
        if head.kind == "tool_call":
            self._tool(head, held, event)
        elif head.kind == "thinking" and self._state:
            value = {"type": "thinkingEnd", "data": self._state}
            said: list[Event] = [Append("", read_data(self._state)), Close()] if held else [Close()]
            self._say(value, said, [*held, event])
        else:
            self._say({"type": f"{WORD[head.kind]}End"}, [Close()], [event])

    def _tool(self, head: Open, held: list[Event], event: Close) -> None:
        raw = arguments_of("".join([piece.data for piece in held if type(piece) is Append]))  # type: ignore[misc]
        value = {"type": "tool", "value": {"id": head.id, "name": head.name, "arguments": raw}}
        self._say(value, [said_open(head), Append(raw), Close()], [*held, event])

    def _on_handover(self, event: Handover) -> None:
        self._flush()
        self._native = False
        value = {"type": "streamError", "model": model_words(event.model)}
        self._say(value, [Handover(known_model(event.model))], [event])

    def _on_finish(self, event: Finish) -> None:
        usage = usage_words(event, self._model)
        self._say({"type": "stop", "usage": usage}, [read_usage(usage, self._model)], [event])

    def _on_failure(self, event: Failure) -> None:
        self._flush()
        unit = error_envelope(event)
        unit, said = self.restore(unit, [Failure(unit["code"], event.message)], [event])
        self.sink.put(unit, "error", said, [event])

    def _on_foreign(self, event: Foreign) -> None:
        if event.codec == NAME and not self._held:
            value = event.unit.get("value")
            kind = value.get("type") if isinstance(value, dict) else None
            self.foreign(event, kind if isinstance(kind, str) else None)
        else:
            self._on_note(event)

    def _on_note(self, event: Event) -> None:
        if self._held and self._head is not None and self._head.kind == "tool_call":
            self._held.append(event)
        else:
            self._flush()
            self.carried(event)

    def _say(
        self,
        value: JsonObject,
        said: list[Event],
        meant: list[Event],
        *,
        made_up: bool = False,
        later: Sequence[str] = (),
    ) -> None:
        kind, unit = value["type"], envelope(value)
        if meant[0].residue:
            unit, said = self.restore(unit, said, meant)
        self._frames = STATES[self._frames].get(kind, self._frames)
        self.sink.put(unit, kind, said, meant, made_up=made_up, later=later)

    def reread(self, unit: JsonObject) -> list[Event]:
        reader = GatewayDecoder(replace(self.options, strict=True, report=None))
        reader.resume(self._frames, self._model, self._stated)
        return reader.decode(unit, None)

    _handlers: ClassVar[dict[type[Event], Callable[[Any, Any], None]]] = {
        Append: _on_append,
        Open: _on_open,
        Close: _on_close,
        Start: _on_start,
        Finish: _on_finish,
        Failure: _on_failure,
        Handover: _on_handover,
        Foreign: _on_foreign,
        Usage: _on_note,
        Annotate: _on_note,
    }


# ---- the codec ------------------------------------------------------------------------------------


class Gateway(Codec):
    """The codec of the gateway's frames."""

    name: ClassVar[str] = NAME
    shapes: ClassVar[Mapping[str, Shape]] = {"": Objects(), "jsonl": Lines(), "sse": Sse()}
    says = frozenset({"start", "handover", "text", "thinking", "refusal", "tool_call", "finish", "failure"})
    partly: ClassVar[Mapping[str, str]] = {"state": "gateway has native words for the state of thinking runs only"}
    only: ClassVar[Mapping[str, str]] = {"code": "envelope codes other than 200"}

    def decoder(self, options: Options) -> GatewayDecoder:
        return GatewayDecoder(options)

    def encoder(self, sink: Sink, options: Options) -> GatewayEncoder:
        return GatewayEncoder(self, sink, options)

    def is_terminal(self, unit: JsonObject) -> bool:
        value = unit.get("value")
        return unit.get("success") is False or (isinstance(value, dict) and value.get("type") == "stop")

    def kind(self, unit: JsonObject) -> str:
        value = unit.get("value")
        kind = value.get("type") if isinstance(value, dict) else None
        return kind if isinstance(kind, str) else "error" if unit.get("success") is False else ""

    def sayable(self, event: Event) -> bool:
        if type(event) is Open and event.kind == "tool_call":
            return event.id is not None and event.name is not None
        return super().sayable(event)

    def agrees(self, said: Event, meant: Event) -> bool:
        if type(said) is Open and type(meant) is Open:
            return said_open(meant) == said_open(said) and said.kind == said_open(said).kind
        if type(said) is Append and type(meant) is Append:
            return same_data(said, meant) and same_state(said.state, meant.state)
        if type(said) is Finish and type(meant) is Finish:
            return same_finish(said, meant)
        if type(said) is Failure and type(meant) is Failure:
            return said.message == meant.message and error_envelope(said)["code"] == error_envelope(meant)["code"]
        if isinstance(said, (Start, Handover)) and isinstance(meant, (Start, Handover)):
            pairs = [(getattr(said.model, name), getattr(meant.model, name)) for name in MODEL]
            return all(not theirs or (ours or UNKNOWN) == theirs for ours, theirs in pairs)
        return said == meant

    def assemble(self, events: Iterable[Event]) -> list[JsonObject]:
        """The ``messages`` that the unary route would have returned: ``thinking``, ``content``, ``toolCall``."""
        messages: list[JsonObject] = []
        model = Model()
        for part in parts(events):
            if isinstance(part, Part):
                data: JsonObject = {}
                for state in part.states:
                    data |= state_data(state, guessed_issuer(model)) or {}
                if self.sayable(part.head):
                    messages.append(assembled(part.head, part.data, data))
            elif type(part) is Start:
                model = part.model
        return messages

    def models(self) -> Mapping[str, type[BaseModel]]:
        return gateway_models.MODELS


CODEC = Gateway()
