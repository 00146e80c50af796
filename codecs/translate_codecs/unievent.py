"""UniEvent: the delta/done grammar of MMSP, as objects, JSON lines, a JSON array and SSE.

1. A unit is an event or ``{"error": {…}}``. An event of type ``delta`` holds one item; ``stop`` holds none, and the
   usage and finish reason. An error is always last.
2. Items form groups, which do not interleave: ``stream := group* (stop | error)``; ``group := delta+ (done | error)``,
   ``delta`` being a ``K.delta`` and ``done`` a ``K.done``, K one of the six kinds.
3. The first fragment of a call has its name and id, the later ones have neither.
4. ``K.done`` is the first fragment with the growing field replaced by all that the fragments held; a call's arguments
   are parsed, blank text being ``{}``.
5. One distinct fidelity a group, on any fragment, and on the ``.done``.
6. Unknown event types and item types are foreign units; unknown members stay in the residue. Neither is an error.
7. On SSE an event is one ``data`` line without a name, and ``[DONE]`` follows the end.

Native words are lacking for ``Start``, ``Handover`` (a half run gets its ``.done``), ``Usage``, ``Annotate``, server
tools, calls without a name or id, namespaces, raw finish reasons, and a second state of one part; a refusal is text.

The residue: ``at``, the unit's ``created_at`` (absent where there was none), and ``patch`` where the unit differs from
the one written here. A stamped ``created_at`` is synthetic.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from pydantic import BaseModel

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
from translate.algebra.parts import Growth, Part, parts
from translate.algebra.reading import kind_of, member, optional
from translate.carry import patches as patch
from translate.codec import Codec, Decoder, Encoder, Options, Sink
from translate.engine.forms import Hot
from translate.errors import DecodeError, GrammarError, ToolArgumentsError, excerpt
from translate.shapes import Shape
from translate.shapes.lines import Lines
from translate.shapes.objects import Objects
from translate.shapes.sse import Sse

from . import unievent_models
from .unievent_units import (
    DONE,
    FIELD,
    HOT,
    NAME,
    STAMP,
    assembled,
    close_enough,
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

BETWEEN: Final = "between groups"
GROUP: Final = "in a group"
LATEST: Final = 1e15
"""Milliseconds that no time stamp reaches."""
ENDED: Final = "ended"
STATES: Final[dict[str, dict[str, str]]] = {
    BETWEEN: {"delta": GROUP, "stop": ENDED, "error": ENDED},
    GROUP: {"delta": GROUP, "done": BETWEEN, "error": ENDED},
    ENDED: {},
}
"""State → what may come → next state. The encoder moves through the same table, from the other side."""

# ---- decoder ------------------------------------------------------------------------------------


class UniEventDecoder(Decoder):
    """Reads UniEvents."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._state = BETWEEN
        self._head = Open("text")
        self._grown = Growth()
        self._fidelity: JsonObject | None = None

    @property
    def state(self) -> str:
        return f"in a {self._head.kind} group" if self._state == GROUP else self._state

    def decode(self, unit: JsonObject, name: str | None) -> list[Event]:
        kind = unit.get("event_type")
        if kind is None and isinstance(unit.get("error"), dict):
            return self._on_error(unit)
        if not isinstance(kind, str):
            raise DecodeError("neither an event nor an error", expected="event_type or error", excerpt=excerpt(unit))
        if kind == "delta":
            return self._on_delta(unit)
        return self._on_stop(unit) if kind == "stop" else [Foreign(NAME, unit)]

    def hot(self) -> Hot | None:
        return HOT.get(self._head.kind) if self._state == GROUP else None

    def grow(self, text: str) -> None:
        self._grown.add(text)

    def resume(self, head: Open, grown: Growth, fidelity: JsonObject | None) -> None:
        """Go on in a group that others have begun."""
        self._state, self._head, self._grown, self._fidelity = GROUP, head, grown, fidelity

    def _move(self, what: str) -> None:
        self._state = self._following(what)

    def _following(self, what: str) -> str:
        """The next state; it is entered when the unit has been found to be good, so that errors name the one before."""
        following = STATES[self._state].get(what)
        if following is None:
            expected = " or ".join(STATES[self._state]) or "nothing"
            raise GrammarError(f"a {what} {self.state}", expected=expected)
        return following

    def _on_delta(self, unit: JsonObject) -> list[Event]:
        self._check_event(unit)
        if unit.get("usage_metadata") is not None or unit.get("finish_reason") is not None:
            raise DecodeError("a delta event with usage or a finish reason", expected="null")
        items = member(unit, "content_items", list, "a delta event")
        if len(items) != 1 or not isinstance(items[0], dict):
            raise DecodeError(f"a delta event with {len(items)} items", expected="exactly one object")
        item = items[0]
        kind, _, phase = member(item, "type", str, "an item").partition(".")
        if kind not in FIELD or phase not in ("delta", "done"):
            return [Foreign(NAME, unit)]
        return (self._on_fragment if phase == "delta" else self._on_done)(unit, item, kind)

    def _check_event(self, unit: JsonObject) -> None:
        if unit.get("role") != "assistant":
            raise DecodeError(f"the role is {unit.get('role')!r}", expected="'assistant'")
        if isinstance(at := unit.get("created_at"), bool) or not isinstance(at, (int, float, type(None))):
            raise DecodeError(f"created_at is {kind_of(at)}", expected="milliseconds, a number")

    def _on_fragment(self, unit: JsonObject, item: JsonObject, kind: str) -> list[Event]:
        head, data = self._header(item, kind), self._data(item, kind)
        events: list[Event] = []
        if self._state == GROUP and not self._continues(head):
            if self.options.strict:
                raise GrammarError(f"a {item['type']} that begins another group {self.state}", expected="its .done")
            self.options.repair(".done", f"the {self._head.kind} group had none")
            events.append(Close())
            self._state = BETWEEN
        begins = self._state == BETWEEN
        if begins:
            if kind == "tool_call" and not (head.name and head.id):
                raise GrammarError("the first tool_call.delta of a call without its name or id", expected="both")
            self._head, self._grown, self._fidelity = head, Growth(), None
            events.append(head)
        self._move("delta")
        state = self._stated(item)
        self._grown.add(data)
        events.append(Append(data, state))
        says = self._head if begins or kind != "tool_call" else Open("tool_call")
        canonical = item_of(kind, "delta", self._as_given(data, item), says, state.values if state else None)
        self._keep(unit, delta_event(canonical), events[-2] if begins else events[-1])
        return events

    def _continues(self, head: Open) -> bool:
        mine = self._head
        if head.kind != mine.kind or head.mime_type != mine.mime_type:
            return False
        return not head.name and head.id in (None, "", None if self.options.strict else mine.id)

    def _header(self, item: JsonObject, kind: str) -> Open:
        where = f"a {item['type']}"
        if kind == "tool_call":
            return Open("tool_call", member(item, "tool_call_id", str, where), member(item, "name", str, where))
        mime = member(item, "mime_type", str, where) if GROWS[kind] is bytes else None
        return Open(kind, mime_type=mime)  # type: ignore[arg-type]

    def _data(self, item: JsonObject, kind: str) -> Data:
        grows, where = GROWS[kind], f"a {item['type']}"
        if grows is bytes:
            value = item.get("data")
            if isinstance(value, (bytes, bytearray)):
                return bytes(value)
            try:
                return base64.b64decode(member(item, "data", str, where), validate=True)
            except (binascii.Error, ValueError):
                raise DecodeError(f"the data of {where} is not base64", excerpt=excerpt(value)) from None
        value = member(item, FIELD[kind], grows, where)
        if grows is list and not {*map(type, value)} <= {int, float, jsontext.Beyond}:
            raise DecodeError(f"the vector of {where} holds what is no number", expected="numbers")
        return value  # type: ignore[no-any-return]

    def _stated(self, item: JsonObject) -> State | None:
        """The state that this fragment brings. The same once more is transport."""
        fidelity = optional(item, "fidelity", dict, f"a {item['type']}")
        if not fidelity or (self._fidelity is not None and jsontext.same(fidelity, self._fidelity)):
            return None
        if self._fidelity is not None:
            if self.options.strict:
                raise GrammarError("a second, different fidelity in one group", expected="one")
            self.options.repair("fidelity", "pieces were joined")
            fidelity = {**self._fidelity, **{k: _joined(self._fidelity.get(k), v) for k, v in fidelity.items()}}
        self._fidelity = fidelity
        return State(None, fidelity)

    def _on_done(self, unit: JsonObject, item: JsonObject, kind: str) -> list[Event]:
        if self._state == GROUP and kind != self._head.kind:
            raise GrammarError(f"a {item['type']} {self.state}", expected=f"{self._head.kind}.delta or .done")
        following = self._following("done")
        canonical = item_of(kind, "done", self._complete(item, kind), self._head, self._fidelity)
        wrong = self._contradiction(item, kind, canonical)
        event = Close()
        if wrong:
            if self.options.strict:
                raise GrammarError(f"the {item['type']} differs from its fragments in {wrong!r}", expected="the same")
            self.options.repair(wrong, f"the {item['type']} differed from its fragments, which stand")
            unit = {**delta_event(canonical), **{k: v for k, v in unit.items() if k == "created_at"}}
        parsed = kind == "tool_call" and canonical[FIELD[kind]] is not item[FIELD[kind]]
        self._keep(unit, delta_event(canonical), event, parsed=parsed)
        self._state = following
        return [event]

    def _complete(self, item: JsonObject, kind: str) -> Any:
        """The complete item's growing field, in the form that ``item`` has it."""
        data = self._grown.join()
        if kind == "tool_call":
            parsed = parse_arguments(data, self._head.name or "", self._head.id or "")  # type: ignore[arg-type]
            given = item.get(FIELD[kind])
            return given if jsontext.same(given, parsed) else parsed
        return self._as_given(data, item) if GROWS[kind] is bytes else data

    def _as_given(self, data: Data, item: JsonObject) -> Any:
        """Data in the form that ``item`` has it: bytes as base64 where it has text."""
        if isinstance(data, bytes) and isinstance(item.get("data"), str):
            return base64.b64encode(data).decode("ascii")
        return data

    def _contradiction(self, item: JsonObject, kind: str, canonical: JsonObject) -> str | None:
        field = FIELD[kind]
        exact = GROWS[kind] is str and (kind != "tool_call" or item.get(field) is canonical[field])
        if exact and item == canonical and jsontext.same(item.get("fidelity"), self._fidelity):
            # nearly always; what was compared are texts
            return None
        if kind == "tool_call":
            given: Any = member(item, field, dict, "a tool_call.done")
            agrees = given is canonical[field] or close_enough(given, canonical[field])
        else:
            agrees = jsontext.same(self._data(item, kind), self._grown.join())
        if not agrees:
            return field
        fidelity = optional(item, "fidelity", dict, f"a {item['type']}") or None
        for key, value in (*self._header_pairs(item, kind), ("fidelity", fidelity)):
            if not jsontext.same(value, canonical.get(key)):
                return key
        return None

    def _header_pairs(self, item: JsonObject, kind: str) -> list[tuple[str, Any]]:
        self._header(item, kind)
        return [(key, item[key]) for key in ("name", "tool_call_id", "mime_type") if key in item]

    def _on_stop(self, unit: JsonObject) -> list[Event]:
        self._check_event(unit)
        if member(unit, "content_items", list, "a stop event"):
            raise DecodeError("a stop event with items", expected="none")
        usage = member(unit, "usage_metadata", dict, "a stop event")
        for key in ("cached_tokens", "prompt_tokens", "thoughts_tokens", "response_tokens"):
            optional(usage, key, int, "usage_metadata")
        member(unit, "finish_reason", str, "a stop event")
        events: list[Event] = []
        if self._state == GROUP and not self.options.strict:
            self.options.repair(".done", f"the {self._head.kind} group had none")
            events.append(Close())
            self._state = BETWEEN
        self._move("stop")
        event = read_stop(unit)
        self._keep(unit, stop_event(event), event)
        return [*events, event]

    def _on_error(self, unit: JsonObject) -> list[Event]:
        following = self._following("error")
        event = read_error(unit["error"])
        self._state = following
        self._keep(unit, error_unit(event, at_home=True), event)
        return [event]

    def _keep(self, unit: JsonObject, canonical: JsonObject, event: Event, *, parsed: bool = False) -> None:
        """Put what only UniEvent says of the unit into the event's residue.

        ``parsed``: ``canonical`` has values of its own. Otherwise its values are the unit's: equal ones are the same.
        """
        residue: JsonObject = {}
        if "created_at" in unit:
            residue[STAMP] = canonical["created_at"] = unit["created_at"]
        if (parsed or canonical != unit) and (changes := patch.diff(canonical, unit)):
            residue["patch"] = changes
        event.residue = {NAME: residue}


def _joined(first: Any, second: Any) -> Any:
    return first + second if isinstance(first, str) and isinstance(second, str) else second


# ---- encoder ------------------------------------------------------------------------------------


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


# ---- the codec ------------------------------------------------------------------------------------


class UniEvent(Codec):
    """The codec of UniEvent."""

    name: ClassVar[str] = NAME
    shapes: ClassVar[Mapping[str, Shape]] = {"": Objects(DONE), "jsonl": Lines(), "sse": Sse(DONE)}
    says = frozenset({*FIELD, "refusal", "state", "finish", "failure"})
    only: ClassVar[Mapping[str, str]] = {"created_at": "time stamps of single events"}

    def decoder(self, options: Options) -> UniEventDecoder:
        return UniEventDecoder(options)

    def encoder(self, sink: Sink, options: Options) -> UniEventEncoder:
        return UniEventEncoder(self, sink, options)

    def is_terminal(self, unit: JsonObject) -> bool:
        return unit.get("event_type") == "stop" or isinstance(unit.get("error"), dict)

    def kind(self, unit: JsonObject) -> str:
        items = unit.get("content_items")
        item = items[0] if isinstance(items, list) and items else None
        kind = item.get("type") if isinstance(item, dict) else unit.get("event_type", "error")
        return kind if isinstance(kind, str) else ""

    def time(self, unit: JsonObject) -> int | float | None:
        at = unit.get("created_at")
        known = isinstance(at, (int, float)) and not isinstance(at, bool) and -LATEST < at < LATEST
        return at if known else None

    def sayable(self, event: Event) -> bool:
        if type(event) is Open and event.kind == "tool_call":
            return bool(event.name and event.id)
        return super().sayable(event)

    def agrees(self, said: Event, meant: Event) -> bool:
        if type(said) is Open and type(meant) is Open:
            return said == replace(said_open(meant), residue=said.residue)
        if type(said) is Append and type(meant) is Append:
            values = [e.state.values if e.state else None for e in (said, meant)]
            return jsontext.same(said.data, meant.data) and jsontext.same(*values)
        if type(said) is Finish and type(meant) is Finish:
            # an unknown total beside a known part of it is read as that part
            return jsontext.same(stop_event(said), stop_event(read_stop(stop_event(meant))))
        if type(said) is Failure and type(meant) is Failure:
            return jsontext.same(error_unit(said, at_home=True), error_unit(meant, at_home=False)) or said == meant
        return said == meant

    def assemble(self, events: Iterable[Event]) -> JsonObject:
        """A UniMessage: the ``.done`` items, with the usage and finish reason of the stop event."""
        items: list[JsonObject] = []
        for part in parts(events):
            if isinstance(part, Part):
                # one state is all that an item can say, and a group that broke before its first fragment says nothing
                state = next((state.values for state in part.states if state.values), None)
                if self.sayable(part.head) and part.begun:
                    items.append(assembled(part.head, part.data, state))
            elif type(part) is Finish:
                stop = stop_event(part)
                ends = {key: stop[key] for key in ("usage_metadata", "finish_reason")}
                return {"role": "assistant", "content_items": items, **ends}
        raise GrammarError("the events have no finish", expected="finish")

    def models(self) -> Mapping[str, type[BaseModel]]:
        return unievent_models.MODELS


CODEC = UniEvent()
