"""UniEvent: events become units."""


from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from translate import jsontext
from translate.algebra.events import (
    GROWS,
    Annotate,
    Append,
    Close,
    Data,
    Event,
    Failure,
    Finish,
    Foreign,
    Handover,
    JsonObject,
    Open,
    Start,
    State,
    Usage,
)
from translate.algebra.parts import Growth
from translate.algebra.reading import kind_of
from translate.codec import Codec, Encoder, Options, Sink
from translate.engine.forms import Hot
from translate.errors import ToolArgumentsError

from .decoder import UniEventDecoder
from .words import (
    HOT,
    NAME,
    STAMP,
    delta_event,
    error_unit,
    item_of,
    parse_arguments,
    read_error,
    read_stop,
    said_kind,
    said_open,
    stop_event,
)


class UniEventEncoder(Encoder):
    """Writes UniEvents."""

    def __init__(self, codec: Codec, sink: Sink, options: Options) -> None:
        super().__init__(codec, sink, options)
        self._held: list[Event] = []
        self._head: Open | None = None
        self._native = False
        self._grown = Growth()
        self._state: State | None = None
        self._group: tuple[Open, Growth, JsonObject | None] | None = None

    def handle(self, event: Event) -> None:
        self._handlers[type(event)](self, event)

    def hot(self) -> Hot | None:
        return HOT.get(said_kind(self._head)) if self._native and not self._held and self._head else None

    def grow(self, text: str) -> None:
        self._grown.add(text)

    def _on_open(self, event: Open) -> None:
        self._native = self.codec.sayable(event)
        if not self._native:
            self.carried(event)
            return
        # nothing is sayable before the first fragment
        self._held = [event]
        self._head, self._grown, self._state = event, Growth(), None

    def _on_append(self, event: Append) -> None:
        if not self._native:
            self.carried(event)
            return
        self._fragment(event.data, event.state, [*self._held, event])

    def _fragment(self, data: Data, state: State | None, meant: list[Event]) -> None:
        head = self._head
        assert head is not None
        first = bool(self._held)
        self._held = []
        # a fragment is reread without what came before it: that is of the .done only
        self._group = None if first else self._so_far(Growth())
        self._grown.add(data)
        state = State(None, state.values) if state is not None and state.values and self._state is None else None
        self._state = self._state or state
        kind = said_kind(head)
        says = head if first or kind != "tool_call" else Open("tool_call")
        unit = delta_event(item_of(kind, "delta", self._wire(data), says, state.values if state else None))
        said: list[Event] = [said_open(head), Append(data, state)] if first else [Append(data, state)]
        self._say(unit, said, meant)

    def _wire(self, data: Data) -> Any:
        if isinstance(data, bytes) and not self.options.objects:
            return base64.b64encode(data).decode("ascii")
        return data

    def _on_close(self, event: Close) -> None:
        if not self._native:
            self.carried(event)
        else:
            self._done(event)

    def _done(self, event: Close | Handover) -> None:
        head = self._head
        assert head is not None
        if self._held:
            # an empty run: one empty fragment is made up, so that the group is one
            empty: Data = GROWS[head.kind]()
            self._fragment(empty, None, self._held)
        kind, data = said_kind(head), self._grown.join()
        self._group = self._so_far(self._grown)
        self._native, self._head = False, None
        whole: Any = jsontext.whole(data) if isinstance(data, str) else self._wire(data)
        if kind == "tool_call":
            whole = parse_arguments(data, head.name or "", head.id or "")  # type: ignore[arg-type]
        unit = delta_event(item_of(kind, "done", whole, head, self._state.values if self._state else None))
        self._say(unit, [Close()], [event])
        self._group = None

    def _so_far(self, grown: Growth) -> tuple[Open, Growth, JsonObject | None]:
        """The group as a reader of it would have it."""
        assert self._head is not None
        return said_open(self._head), grown, self._state.values if self._state else None

    def _on_handover(self, event: Handover) -> None:
        head = self._head
        if self._native and not self._held and head is not None:
            if head.kind == "tool_call":
                # its .done would make half a call one that can be run
                what = f"the call {head.name!r} broke off at a handover"
                raw = str(self._grown.join())
                raise ToolArgumentsError(what, name=head.name or "", id=head.id or "", raw=raw, position=len(raw))
            self._done(event)
            return
        self.carried(*self._held, event)
        self._native, self._held = False, []

    def _on_finish(self, event: Finish) -> None:
        unit = stop_event(event)
        self._say(unit, [read_stop(unit)], [event])

    def _on_failure(self, event: Failure) -> None:
        if self._held:
            self.carried(*self._held)
        home = self.at_home(event)
        unit = error_unit(event, at_home=home)
        residue = self.residue(event)
        if residue is not None and STAMP in residue:
            unit["created_at"] = residue[STAMP]
        unit, said = self.restore(unit, [read_error(unit["error"])], [event])
        self.sink.put(unit, None, said, [event], made_up=not home)

    def _on_foreign(self, event: Foreign) -> None:
        if event.codec == NAME and not self._held:
            self.foreign(event, None)
        else:
            self._on_note(event)

    def _on_note(self, event: Event) -> None:
        if self._held:
            # it comes after an opening that has not been said yet
            self._held.append(event)
        else:
            self.carried(event)

    def _say(self, unit: JsonObject, said: list[Event], meant: list[Event]) -> None:
        residue = self.residue(meant[0])
        made_up = residue is None or bool(residue.get("synthetic"))
        if residue is None:
            unit["created_at"] = self.options.clock()
        elif STAMP in residue:
            at = residue[STAMP]
            if isinstance(at, bool) or not isinstance(at, (int, float, type(None))):
                self.fault(f"its created_at is {kind_of(at)}")
                at, made_up = self.options.clock(), True
            unit["created_at"] = at
        if residue is not None:
            unit, said = self.restore(unit, said, meant)
        self.sink.put(unit, None, said, meant, made_up=made_up)

    def reread(self, unit: JsonObject) -> list[Event]:
        reader = UniEventDecoder(replace(self.options, strict=True, report=None))
        if self._group is not None:
            reader.resume(*self._group)
        return reader.decode(unit, None)

    _handlers: ClassVar[dict[type[Event], Callable[[Any, Any], None]]] = {
        Append: _on_append,
        Open: _on_open,
        Close: _on_close,
        Finish: _on_finish,
        Failure: _on_failure,
        Handover: _on_handover,
        Foreign: _on_foreign,
        Start: _on_note,
        Usage: _on_note,
        Annotate: _on_note,
    }
