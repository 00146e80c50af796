"""The unit that is written for events, and the one that is expected where a stream has repeated itself."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any

from translate import jsontext
from translate.algebra.calls import FREE_END, made_id, made_stem, unescaped
from translate.algebra.events import Annotate, Append, Event, Failure, JsonObject, Open, Start, State, Usage
from translate.algebra.parts import Growth
from translate.algebra.serial import was_said
from translate.carry.expecting import Canonical
from translate.carry.repeats import Repeats
from translate.carry.usual import Usual, stands_in
from translate.codec import TEXT, Options

from .chunks import MEANT
from .steps import Call
from .words import (
    FIELDS,
    MADE_ID,
    NAME,
    OBJECT,
    REDACTED,
    entry_of,
    error_unit,
    field_of,
    read_entry,
    sayable,
    usage_words,
)


class Units:
    """Writes the units of one stream, and knows what they repeat."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.kind: str = ""
        """The kind of the open part, or of the last one, if it has words."""
        self.call: Call | None = None
        """The call that is open."""
        self.calls = 0
        """Calls that were said."""
        self.entries = 0
        """Entries of ``reasoning_details`` that were said."""
        self.field = FIELDS[0]
        self.repeats = Repeats(options.limits.nesting)
        self.steady = False
        """Whether the last unit was a fragment of the open part, and the next one may well be as expected."""
        self._at: int | None = None
        """When the stream began, where that has to be made up: looked up once."""
        self._top: JsonObject | None = None
        self._choice: JsonObject = {}
        self._whole: Growth | None = None
        """All the text so far, where units repeat it."""

    # ---- canonical units

    def chunk(self, delta: JsonObject, reason: str | None = None) -> JsonObject:
        """A chunk with a choice."""
        return self.bare([{"index": 0, "delta": delta, "finish_reason": reason, **self._choice}])

    def bare(self, choices: list[JsonObject]) -> JsonObject:
        """A chunk with these choices."""
        top = self._top if self._top is not None else self.first(Start())
        return {**top, "choices": choices}

    def first(self, start: Start) -> JsonObject:
        """What all chunks of a stream have that ``start`` opens."""
        if self._at is None:
            self._at = int(self._options.clock())
        return {
            "id": start.id or f"{MADE_ID}{made_stem(self._at)}",
            "object": OBJECT,
            "created": self._at // 1000 if start.created is None else start.created,
            "model": start.model.name or self._options.model.name or "unknown",
        }

    def write(self, events: Sequence[Event], reason: str | None = None) -> Canonical:
        """The one unit of these events, but for those that were said before. ``reason``: the one that it gives."""
        return _Writing(self, events, reason).canonical()

    # ---- what is known

    def take(self, unit: JsonObject, canonical: Canonical, *, first: bool, grows: bool) -> None:
        """Go on behind a unit that was read or written; ``first``: it opens the stream; ``grows``: a part, alone."""
        choices = unit.get("choices") or [{}]
        if first:
            kept = {k: v for k, v in unit.items() if k not in _PER_UNIT and (k != "usage" or v is None)}
            self._top = jsontext.copied(kept)
            self._choice = jsontext.copied({k: v for k, v in choices[0].items() if k not in _PER_CHOICE})
        elif canonical.form:
            steady = self.repeats.take(canonical.form, canonical.unit, unit, canonical.says)
            self.steady = steady and grows and len(canonical.form) == 1
        message = choices[0].get("message")
        if self._whole is None and first and isinstance(message, dict):
            self._whole = Growth()

    def count(self, details: Sequence[JsonObject]) -> None:
        """Go on behind entries of ``reasoning_details``: a state counts when it is said, not when it is meant."""
        self.entries += sum(read_entry(each) is not None for each in details)

    def follow(self, event: Event) -> None:
        """Go on behind an event that is meant."""
        if type(event) is Append:
            if self._whole is not None and self.kind == "text":
                self._whole.add(event.data)
            if event.state is not None and self.kind == "thinking":
                self.field = field_of(event.state) or self.field
        elif type(event) is Open:
            self.kind = event.kind if sayable(event) else ""
            self.calls += self.kind == "tool_call"
            self.field = FIELDS[0]

    def usual(self, grows: Callable[[JsonObject], bool]) -> Usual | None:
        """The unit of a plain fragment of the open part, where such are usual.

        ``grows``: whether a unit says that its :data:`TEXT` grows the open part, and nothing else.
        """
        if not self.steady or self._whole is not None or not self.kind:
            return None
        canonical = self.write([Append(TEXT)])
        unit = self.repeats.expected(canonical.form, canonical.unit, canonical.says)
        moving = self.repeats.slots(canonical.form)
        if moving is None or not all(_is_idle(slot.path) for slot in moving):
            return None
        try:
            return Usual(unit, TEXT, moving) if stands_in(TEXT, canonical.unit, unit) or grows(unit) else None
        except ValueError:
            return None

    def so_far(self) -> str | None:
        """All the text, where units repeat it."""
        return None if self._whole is None else str(self._whole.join())


def _is_idle(path: Sequence[Any]) -> bool:
    """Whether what stands at a path means nothing behind the first unit, whatever it is."""
    if path[:2] == ["choices", 0]:
        within = path[2:]
        return bool(within) and (
            (within[0] == "delta" and len(within) > 1 and within[1] not in MEANT) or within[0] not in (*_PER_CHOICE,)
        )
    return path[0] not in ("choices", "usage", "x_groq", "error", "citations")


_PER_UNIT = ("choices", "error")
_PER_CHOICE = ("index", "delta", "finish_reason", "message")


class _Writing:
    """One unit in the making."""

    def __init__(self, units: Units, events: Sequence[Event], reason: str | None) -> None:
        self._units = units
        self._kind, self._calls, self._field = units.kind, units.calls, units.field
        self._call = units.call
        self._entries = units.entries
        self._delta: JsonObject = {}
        self._reason = reason
        self._beside: JsonObject = {}
        self._form: list[str] = []
        self._says: list[str] = []
        self._fresh: JsonObject | None = None
        self._top: JsonObject | None = None
        for event in events:
            self._add(event)
        if reason is not None:
            self._form.append("reason")

    def canonical(self) -> Canonical:
        """The unit."""
        units, beside = self._units, self._beside
        if self._top is not None:
            choice = {"index": 0, "delta": self._delta, "finish_reason": self._reason}
            unit = {**self._top, "choices": [choice], **beside}
        elif beside.keys() == {"error"} and not self._delta and self._reason is None:
            unit = beside
        elif "usage" in beside and not self._delta and self._reason is None:
            unit = {**units.bare([]), **beside}
        else:
            unit = {**units.chunk(self._delta, self._reason), **beside}
        whole = units.so_far()
        says = self._says if whole is None else [whole + "".join(self._says), *self._says]
        return Canonical(unit, tuple(self._form), says)

    def _add(self, event: Event) -> None:
        said = was_said(event, NAME)
        kind = type(event)
        if kind is Open:
            self._open(event, said=said)  # type: ignore[arg-type]
        elif said:
            return
        elif kind is Append:
            self._append(event)  # type: ignore[arg-type]
        elif kind is Start:
            self._top = self._units.first(event)  # type: ignore[arg-type]
            self._delta |= {"role": "assistant", "content": ""}
            self._form.append("start")
        elif kind is Usage:
            self._beside["usage"] = usage_words(event.usage)  # type: ignore[union-attr]
            self._form.append("usage")
        elif kind is Annotate:
            self._note(event)  # type: ignore[arg-type]
        elif kind is Failure:
            self._beside |= error_unit(event, at_home=bool(event.residue and NAME in event.residue))  # type: ignore[arg-type]

    def _open(self, head: Open, *, said: bool) -> None:
        self._kind, self._field = head.kind, FIELDS[0]
        self._fresh = None
        if self._kind in ("server_tool_call", "server_tool_result"):
            tools = self._delta.setdefault("executed_tools", [])
            tools.append({"index": 0, "type": head.name, "arguments": ""})
        if self._kind != "tool_call":
            return
        index, self._calls, self._call = self._calls, self._calls + 1, None
        if not said:
            function = {"name": head.name, "arguments": ""}
            entry = {"index": index, "id": head.id or made_id(index), "type": "function", "function": function}
            self._delta.setdefault("tool_calls", []).append(entry)
            self._fresh = function
            self._form.append("begin")

    def _append(self, event: Append) -> None:
        kind, data, delta = self._kind, event.data, self._delta
        if kind == "thinking":
            self._think(event)
        elif isinstance(data, bytes):
            delta["audio"] = {"data": base64.b64encode(data).decode("ascii")}
        elif not isinstance(data, str):
            return
        elif kind == "tool_call":
            self._form.append("call")
            if self._fresh is not None:
                self._fresh["arguments"], self._fresh = data, None
            else:
                self._piece(data)
        elif kind in ("server_tool_call", "server_tool_result"):
            delta["executed_tools"][-1]["arguments" if kind == "server_tool_call" else "output"] = data
        else:
            name = "refusal" if kind == "refusal" else "content"
            if isinstance(delta.get(name), list):
                delta[name].append({"type": "text", "text": data})
            else:
                delta[name] = delta.get(name, "") + data
            self._form.append(name)
        if isinstance(data, str) and kind != "thinking":
            self._says.append(data)

    def _piece(self, data: str) -> None:
        """A later piece of a call, under what the call is known by."""
        call, delta = self._call, self._delta
        piece: JsonObject = {"function": {"arguments": data}}
        if call is not None and call.free:
            if data == FREE_END:
                return
            piece = {"custom": {"input": unescaped(data)}}
        if call is not None and call.index == "function":
            delta["function_call"] = piece["function"]
            return
        index = self._calls - 1 if call is None else call.index
        entry = {"index": index, **piece} if type(index) is int else piece
        delta.setdefault("tool_calls", []).append(entry)

    def _think(self, event: Append) -> None:
        state = event.state
        redacted = event.data == REDACTED and state is not None
        self._field = field_of(state) or self._field
        entry = entry_of(state, self._entries, redacted=redacted) if state is not None else None
        if entry is not None:
            self._delta.setdefault("reasoning_details", []).append(entry)
            self._entries += 1
            self._form.append("details")
        if (event.data and not (redacted and entry is not None)) or entry is None:
            self._delta[self._field] = self._delta.get(self._field, "") + event.data
            self._form.append("thinking")
        self._says.append(str(event.data))

    def _note(self, event: Annotate) -> None:
        namespace, data, delta = event.namespace, event.data, self._delta
        if namespace == "perplexity" and isinstance(data, dict):
            self._beside |= data
        elif namespace == "mistral":
            text = delta.get("content")
            entries = text if isinstance(text, list) else [{"type": "text", "text": text}] if text else []
            delta["content"] = [*entries, data]
        elif isinstance(data, dict) and data.keys() == {"transcript"}:
            delta.setdefault("audio", {}).update(data)
        else:
            delta.setdefault("annotations", []).append(data)
        self._form.append("note")


def states_of(events: Sequence[Event]) -> list[State]:
    """The states among events."""
    return [event.state for event in events if type(event) is Append and event.state is not None]
