"""Gateway: events become units."""


from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

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
    Residue,
    Start,
    State,
    Usage,
)
from translate.codec import Codec, Encoder, Options, Sink
from translate.engine.forms import Hot

from .decoder import GatewayDecoder
from .words import (
    HOT,
    MODEL,
    NAME,
    OPENING,
    STATES,
    WORD,
    arguments_of,
    envelope,
    error_envelope,
    guessed_issuer,
    known_model,
    model_words,
    read_data,
    read_usage,
    said_open,
    state_data,
    usage_words,
)


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
