"""UniEvent: units become events."""


from __future__ import annotations

import base64
import binascii
from typing import Any

from translate import jsontext
from translate.algebra.events import (
    GROWS,
    Append,
    Close,
    Data,
    Event,
    Foreign,
    JsonObject,
    Open,
    State,
)
from translate.algebra.parts import Growth
from translate.algebra.reading import kind_of, member, optional
from translate.carry import patches as patch
from translate.codec import Decoder, Options
from translate.engine.forms import Hot
from translate.errors import DecodeError, GrammarError, excerpt

from .words import (
    BETWEEN,
    FIELD,
    GROUP,
    HOT,
    NAME,
    STAMP,
    STATES,
    close_enough,
    delta_event,
    error_unit,
    item_of,
    parse_arguments,
    read_error,
    read_stop,
    stop_event,
)


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
