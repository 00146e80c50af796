"""The one unit that is to be expected for some events, and what a unit that was read has beyond them."""

from __future__ import annotations

from collections.abc import Sequence

from translate.algebra.calls import made_stem
from translate.algebra.events import (
    Annotate,
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Handover,
    JsonObject,
    Model,
    Open,
    Ping,
    Start,
    Usage,
)
from translate.algebra.serial import was_said
from translate.algebra.usage import latest
from translate.codec import Encoder

from .decoder import ResponsesDecoder
from .items import (
    added_item,
    answered_item,
    free_text,
    image_item,
    items_of,
)
from .known import Item
from .wire import Wire
from .words import (
    ADDED,
    ANNOTATION,
    CALL,
    CONTENT,
    CUSTOM,
    DONE_ITEM,
    IMAGE,
    ITEM,
    KEEPALIVE,
    KNOWN,
    LIFECYCLE,
    MADE_ID,
    MESSAGE,
    NAME,
    PAD,
    PADDING,
    PART_ADDED,
    PART_DONE,
    REASONING,
    SUMMARY,
    TERMINAL,
    UNIT,
    UNKNOWN,
    WHOLE,
    R,
    error_words,
    is_sayable,
    is_usual_error,
    item_type,
    reason_words,
    state_words,
    usage_words,
)

MESSAGES = ("text", "refusal")
"""Kinds of parts that a message has."""


class ResponsesUnits(ResponsesDecoder, Encoder):
    """Predicts single units of one response."""

    # ---- what a unit that was read has beyond its events

    def mark(self, unit: JsonObject) -> JsonObject | None:
        said, type_ = self._look(unit).said, unit["type"]
        first, out = said[0], self._told(said, unit)
        if type_ != self._usual_type(said):
            out = {**(out or {}), UNIT: type_}
        if type(first) is Open and type_ == ADDED and unit["item"].get("type") != item_type(first):
            out = {**(out or {}), ITEM: unit["item"].get("type")}
        return out

    def _told(self, said: Sequence[Event], unit: JsonObject) -> JsonObject | None:
        """What else is told of the unit of these events: its type, where it stands alone as no other unit would."""
        first, item, alone = said[0], self._wire.find(unit), {UNIT: unit["type"]}
        if type(first) in (Open, Finish, Failure) and not (self._wire.started or self._wire.next):
            return alone
        match first:
            case Append() if len(said) == 1:
                if isinstance(unit.get(PAD), str):
                    return {PADDING: unit[PAD]}
                silent = item is not None and item.type == REASONING and (item.at is None or not item.at.open)
                return alone if silent else None
            case Append() | Close() if type(said[-1]) is not Finish and item is not None:
                # the units that are usual before it came by themselves, or not at all
                told = item.told if item.type != REASONING else item.at is None or not item.at.open
                if item.type == MESSAGE:
                    told = item.at is not None and item.at.told
                blank = item.type == CALL and type(first) is Close and not first.cut and not item.text()
                told = told and not blank
                state = first.state if type(first) is Append else None
                return None if told and (state is None or is_sayable(state)) else alone
            case Open():
                return alone if first.kind not in (*MESSAGES, "thinking", "tool_call") else None
            case Finish():
                return alone if first.reason.word == "unknown" else None
            case Failure():
                return None if is_usual_error(first) else alone
            case Ping():
                return alone
        return None

    def alone(self, event: Event) -> bool:
        """Whether an event came as a unit that is written as it is told, whatever else would be written for it."""
        return UNIT in (self.residue(event) or {})

    # ---- the one unit of some events

    def _usual_type(self, events: Sequence[Event]) -> str | None:
        """The type of the unit that these events come as."""
        first, last = events[0], events[-1]
        match last:
            case Finish():
                words = reason_words(last.reason, home=self.alone(first))
                return R + str(words["status"])
            case Failure():
                return TERMINAL[2]
        match first:
            case Start():
                return LIFECYCLE[0]
            case Open():
                if first.kind == "inline_data":
                    return DONE_ITEM
                return PART_ADDED[0] if first.kind in MESSAGES else ADDED
            case Append() | Close() | Handover():
                item = self.open_item()
                if item is None:
                    return None
                if type(first) is Append and type(last) is Append:
                    return self.delta_type(item)
                return PART_DONE[0] if item.type == MESSAGE else DONE_ITEM
            case Annotate():
                return ANNOTATION
            case Ping():
                return KEEPALIVE
        return None

    def whole(self, events: Sequence[Event]) -> JsonObject | None:
        own = self.residue(events[0]) or {}
        events = [event for event in events if event is events[0] or not was_said(event, NAME)]
        usual = self._usual_type(events)
        type_ = own.get(UNIT, usual)
        if type_ not in KNOWN and type_ != KEEPALIVE:
            if UNIT in own:
                self.fault("it names a type of unit that says nothing")
            type_ = usual
        return None if type_ is None else self.unit_of(self._wire, str(type_), events, own)

    def unit_of(self, wire: Wire, type_: str, events: Sequence[Event], own: JsonObject) -> JsonObject | None:
        first, last = events[0], events[-1]
        item = self.open_item(wire)
        if type_ in TERMINAL and type(last) in (Finish, Failure):
            return self.terminal(wire, type_, events)
        if type(first) is Start and type_ in LIFECYCLE:
            return {**wire.head(type_), "response": wire.base(first)}
        if type_ == KEEPALIVE:
            return wire.head(KEEPALIVE)
        if type_ == ADDED and type(first) is Open:
            given = own.get(ITEM)
            added = added_item(first, wire.id, wire.next, given if isinstance(given, str) else None)
            return {**wire.expected(ADDED, None), "item": added}
        if type_ == PART_ADDED[0] and type(first) is Open:
            return self.part_added(wire, first, events)
        if type_ == DONE_ITEM:
            return self.item_done(wire, item, events)
        if item is None:
            return None
        unit = wire.expected(type_, item)
        if type(first) is Append and type(first.data) is str:
            text = free_text(first.data) if item.type == CUSTOM else first.data
            if type_.endswith(WHOLE):
                key = "input" if item.type == CUSTOM else "arguments"
                unit[key] = item.text() + text
            else:
                unit["delta"] = text
            if isinstance(own.get(PADDING), str):
                unit[PAD] = own[PADDING]
        elif type(first) is Annotate:
            unit["annotation"] = first.data
        return unit

    def part_added(self, wire: Wire, head: Open, events: Sequence[Event]) -> JsonObject | None:
        item = wire.at
        if item is None or item.type != MESSAGE:
            return None
        place = wire.fresh(item, CONTENT, head.kind)
        text = "".join([str(event.data) for event in events if type(event) is Append])
        key = "refusal" if head.kind == "refusal" else "text"
        return wire.of_item(PART_ADDED[0], item, place, part={**place.added, key: text})

    def item_done(self, wire: Wire, item: Item | None, events: Sequence[Event]) -> JsonObject | None:
        first, last = events[0], events[-1]
        if type(first) is Open and first.kind == "inline_data" and len(events) == 3:
            data = events[1].data if type(events[1]) is Append else b""
            if wire.at is None or wire.at.type != IMAGE or not isinstance(data, bytes):
                return None
            unit = wire.expected(DONE_ITEM, wire.at)
            return {**unit, "item": {**unit["item"], **image_item(first, data, wire.id, wire.at.index)}}
        if type(first) is Open:
            item = wire.at
        if item is None:
            return None
        unit = wire.expected(DONE_ITEM, item)
        whole = unit["item"]
        cut = type(last) is Close and last.cut
        text = "".join([event.data for event in events if type(event) is Append and type(event.data) is str])
        if item.type == MESSAGE:
            built = items_of(events, wire.id, 0, self.options.limits.nesting)
            added = [part for each in built for part in each.get("content", [])]
            whole = {**whole, CONTENT: [*whole.get(CONTENT, []), *added]}
        elif item.type == REASONING:
            states = [event.state for event in events if type(event) is Append and event.state is not None]
            state = states[-1] if states else self._stated
            if text:
                whole = {**whole, SUMMARY: [{"type": "summary_text", "text": text}]}
            if states or is_sayable(state):
                whole = {**whole, **state_words(state)}
        elif item.type == CUSTOM and item.kind == "tool_call":
            whole = {**whole, "input": item.text() + free_text(text, ended=not cut)}
        elif item.type == CALL:
            whole = {**whole, "arguments": item.text() + text}
        else:
            whole = answered_item(events, self.options.limits.nesting)
        if whole is None:
            return None
        if cut and item.type in (CALL, CUSTOM, REASONING):
            whole = {**whole, "status": "incomplete"}
        return {**unit, "item": whole}

    def terminal(self, wire: Wire, type_: str, events: Sequence[Event]) -> JsonObject:
        last = events[-1]
        usage = self.usage
        said: JsonObject
        if type(last) is Finish:
            usage = latest(last.usage, self.usage)
            said = reason_words(last.reason, home=self.alone(events[0]))
        else:
            assert type(last) is Failure
            home = self.alone(events[0])
            usage = next((event.usage for event in events if type(event) is Usage), None)
            said = {"status": "failed", "error": error_words(last, home=home)}
        built = items_of(events, wire.id, wire.next, self.options.limits.nesting)
        output = [item for _, item in wire.items()] + built
        counts_said = None if usage is None else usage_words(usage)
        # where no unit told of the response, nothing is stamped that another reader would not expect
        response = wire.response or wire.base(Start(Model(UNKNOWN), f"{MADE_ID}{made_stem(0)}", 0))
        return {**wire.head(type_), "response": {**response, **said, "output": output, "usage": counts_said}}
