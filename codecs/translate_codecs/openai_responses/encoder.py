"""OpenAI Responses written: the units that are expected for events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

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
    Ping,
    Start,
    State,
    Usage,
    is_synthetic,
)
from translate.algebra.serial import was_said
from translate.algebra.usage import latest
from translate.carry import patches
from translate.codec import Encoder, Pieces, Said, Written
from translate.errors import LimitExceeded, ToolArgumentsError

from .decoder import ResponsesDecoder
from .items import (
    added_item,
    answered_item,
    free_text,
    image_item,
    items_of,
    message_item,
)
from .steps import Step
from .wire import Item, Wire
from .words import (
    ADDED,
    ANNOTATION,
    ARGUMENTS,
    CALL,
    CONTENT,
    CUSTOM,
    DONE_ITEM,
    IMAGE,
    ISSUER,
    ITEM,
    KEEPALIVE,
    KNOWN,
    LIFECYCLE,
    MESSAGE,
    NAME,
    PAD,
    PADDING,
    PART_ADDED,
    PART_DONE,
    PHASE,
    REASONING,
    SUMMARY,
    SUMMARY_TEXT,
    SYNTHETIC,
    TERMINAL,
    UNIT,
    UNKNOWN,
    WHOLE,
    R,
    error_words,
    is_sayable,
    is_usual_error,
    item_type,
    made_response_id,
    phase_of,
    reason_words,
    same_words,
    state_words,
    usage_words,
)

_LATER = ("state",)
_MESSAGES = ("text", "refusal")


class ResponsesEncoder(ResponsesDecoder, Encoder):
    """Predicts the units of one response."""

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
                return alone if first.kind not in (*_MESSAGES, "thinking", "tool_call") else None
            case Finish():
                return alone if first.reason.word == "unknown" else None
            case Failure():
                return None if is_usual_error(first) else alone
            case Ping():
                return alone
        return None

    def _alone(self, event: Event) -> bool:
        """Whether an event came as a unit that is written as it is told, whatever else would be written for it."""
        return UNIT in (self.residue(event) or {})

    # ---- the one unit of some events

    def _usual_type(self, events: Sequence[Event]) -> str | None:
        """The type of the unit that these events come as."""
        first, last = events[0], events[-1]
        match last:
            case Finish():
                words = reason_words(last.reason, home=self._alone(first))
                return R + str(words["status"])
            case Failure():
                return TERMINAL[2]
        match first:
            case Start():
                return LIFECYCLE[0]
            case Open():
                if first.kind == "inline_data":
                    return DONE_ITEM
                return PART_ADDED[0] if first.kind in _MESSAGES else ADDED
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
        return None if type_ is None else self._unit(self._wire, str(type_), events, own)

    def _unit(self, wire: Wire, type_: str, events: Sequence[Event], own: JsonObject) -> JsonObject | None:
        first, last = events[0], events[-1]
        item = self.open_item(wire)
        if type_ in TERMINAL and type(last) in (Finish, Failure):
            return self._terminal(wire, type_, events)
        if type(first) is Start and type_ in LIFECYCLE:
            return {**wire.head(type_), "response": wire.base(first)}
        if type_ == KEEPALIVE:
            return wire.head(KEEPALIVE)
        if type_ == ADDED and type(first) is Open:
            given = own.get(ITEM)
            added = added_item(first, wire.id, wire.next, given if isinstance(given, str) else None)
            return {**wire.expected(ADDED, None), "item": added}
        if type_ == PART_ADDED[0] and type(first) is Open:
            return self._part_added(wire, first, events)
        if type_ == DONE_ITEM:
            return self._item_done(wire, item, events)
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

    def _part_added(self, wire: Wire, head: Open, events: Sequence[Event]) -> JsonObject | None:
        item = wire.at
        if item is None or item.type != MESSAGE:
            return None
        place = wire.fresh(item, CONTENT, head.kind)
        text = "".join([str(event.data) for event in events if type(event) is Append])
        key = "refusal" if head.kind == "refusal" else "text"
        return wire.of_item(PART_ADDED[0], item, place, part={**place.added, key: text})

    def _item_done(self, wire: Wire, item: Item | None, events: Sequence[Event]) -> JsonObject | None:
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
            added = [part for built in items_of(events, wire.id, 0) for part in built.get("content", [])]
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
            whole = answered_item(events)
        if whole is None:
            return None
        if cut and item.type in (CALL, CUSTOM, REASONING):
            whole = {**whole, "status": "incomplete"}
        return {**unit, "item": whole}

    def _terminal(self, wire: Wire, type_: str, events: Sequence[Event]) -> JsonObject:
        last = events[-1]
        usage = self.usage
        said: JsonObject
        if type(last) is Finish:
            usage = latest(last.usage, self.usage)
            said = reason_words(last.reason, home=self._alone(events[0]))
        else:
            assert type(last) is Failure
            home = self._alone(events[0])
            usage = next((event.usage for event in events if type(event) is Usage), None)
            said = {"status": "failed", "error": error_words(last, home=home)}
        built = items_of(events, wire.id, wire.next)
        output = [item for _, item in wire.items()] + built
        counts_said = None if usage is None else usage_words(usage)
        # where no unit told of the response, nothing is stamped that another reader would not expect
        response = wire.response or wire.base(Start(Model(UNKNOWN), made_response_id(0), 0))
        return {**wire.head(type_), "response": {**response, **said, "output": output, "usage": counts_said}}

    # ---- the units of events: the last of them is new

    def write(self, events: Sequence[Event]) -> Pieces:
        first = events[0]
        if self._wire.size > self.options.limits.message:
            raise LimitExceeded("message", self.options.limits.message)
        if was_said(first, NAME):
            return [Written(None, events)]
        if self._alone(first):
            unit = self.whole(events)
            return [named(unit, events)] if unit is not None else [Written(None, events)]
        if type(first) is Open and len(events) > 1:
            return self._begun(first, events[1:])
        return self._write(self._wire, self.open_item(), events)

    def ahead(self, event: Event) -> Sequence[Written]:
        """The ``response.created`` before what needs it."""
        needs = type(event) in (Finish, Failure) or (type(event) is Open and self.codec.sayable(event))
        begun = self._wire.started or self._wire.next or self._inside
        if begun or not needs or self._alone(event) or was_said(event, NAME):
            return ()
        start = Start(self.options.model)
        unit = {**self._wire.head(LIFECYCLE[0]), "response": self._wire.base(start)}
        said = Step(self._wire, self._serial, unit, None).said[0]
        assert type(said) is Start
        return [named(unit, [Start(said.model, said.id, said.created, SYNTHETIC)], made_up=True)]

    def _write(self, wire: Wire, item: Item | None, events: Sequence[Event]) -> Pieces:
        return self._writers[type(events[-1])](self, wire, item, events)

    def _made_up(self, wire: Wire, unit: JsonObject) -> Written:
        """A unit that the format has here, and that nobody said. ``wire`` goes on behind it."""
        piece = named(unit, [Foreign(NAME, wire.compact(unit), SYNTHETIC)], made_up=True)
        wire.take(unit)
        return piece

    def _begun(self, head: Open, events: Sequence[Event]) -> Pieces:
        """The beginning of a message, and what it waited for."""
        wire, first = self._wire.fork(), events[0]
        phase = phase_of(first.state) if type(first) is Append else None
        pieces: list[Written] = []
        item = self._message(wire)
        if item is None:
            added = message_item(wire.made("msg", wire.next), phase)
            pieces.append(self._made_up(wire, {**wire.expected(ADDED, None), "item": added}))
            item = wire.at
        elif PHASE in item.added and type(first) is Append and first.data == "" and phase == item.added[PHASE]:
            unit = self._part_added(wire, head, [])
            assert unit is not None
            return [named(unit, [head, *events])]
        unit = self._part_added(wire, head, [])
        assert unit is not None
        wire.take(unit)
        rest = self._write(wire, wire.at, events)
        return [*pieces, named(unit, [head]), *(rest or ())]

    def _message(self, wire: Wire) -> Item | None:
        """A message that is open and has no open part."""
        item = wire.at
        if item is None or item.index not in wire.open or item.type != MESSAGE:
            return None
        return None if item.at is not None and item.at.open else item

    def _write_start(self, wire: Wire, item: Item | None, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        if wire.started or type(event) is not Start or wire.next:
            return [Written(None, events)]
        return [named(self._unit(wire, LIFECYCLE[0], events, {}), events, made_up=is_synthetic(event, NAME))]

    def _write_open(self, wire: Wire, item: Item | None, events: Sequence[Event]) -> Pieces:
        head = events[-1]
        assert type(head) is Open
        if not self.codec.sayable(head):
            return [Written(None, events)]
        if head.kind in _MESSAGES:
            message = self._message(wire)
            if message is None or PHASE in message.added:
                # the message opens with what it holds first
                return None
            return [named(self._part_added(wire, head, []), events)]
        unit = self._unit(wire, ADDED, events, self.residue(head) or {})
        guess = None
        if head.kind == "tool_call" and not head.id and unit is not None:
            guess = ("id", f"the call had none: {unit['item']['call_id']!r} was made up")
        return [named(unit, events, guess=guess)]

    def _write_append(self, wire: Wire, item: Item | None, events: Sequence[Event]) -> Pieces:
        event, before = events[-1], events[:-1]
        assert type(event) is Append
        type_ = None if item is None else self.delta_type(item)
        if item is None or type_ is None or type(event.data) is not str:
            return [Written(None, events)]
        waiting = [Written(None, before, later=_LATER)] if before else []
        if item.type == CALL and item.told:
            # what is said behind the whole arguments is said at the end
            return None
        pieces: list[Written] = []
        if item.type == REASONING and (item.at is None or not item.at.open):
            if event.data == "":
                if is_sayable(event.state) and not before and not self._is_stated(event):
                    return None
                return [*waiting, Written(None, [event], later=_LATER)]
            wire = wire.fork() if wire is self._wire else wire
            pieces.append(self._made_up(wire, wire.expected(PART_ADDED[2], item)))
            item = wire.at
        elif item.type == REASONING and event.data == "" and is_sayable(event.state):
            if not before and not self._is_stated(event):
                return None
            return [*waiting, Written(None, [event], later=_LATER)]
        assert item is not None
        type_ = self.delta_type(item)
        assert type_ is not None
        unit = self._unit_of(wire, item, type_, event)
        later = _LATER if item.type == REASONING and is_sayable(event.state) else ()
        return [*waiting, *pieces, named(unit, [event], later=later)]

    def _is_stated(self, event: Append) -> bool:
        """Whether a state is the one that came last."""
        return self._stated is not None and same_words(self._stated, event.state)

    def _unit_of(self, wire: Wire, item: Item, type_: str, event: Append) -> JsonObject:
        text = str(event.data)
        unit = wire.expected(type_, item)
        unit["delta"] = free_text(text) if item.type == CUSTOM else text
        own = self.residue(event) or {}
        if isinstance(own.get(PADDING), str):
            unit[PAD] = own[PADDING]
        return unit

    def _write_close(self, wire: Wire, item: Item | None, events: Sequence[Event]) -> Pieces:
        if item is None or item.kind not in (None, "thinking", "tool_call"):
            return [Written(None, events)]
        wire = self._wire.fork() if wire is self._wire else wire
        item = wire.open[item.index]
        if item.type == MESSAGE:
            return self._close_part(wire, item, events)
        if item.type == REASONING:
            return self._close_reasoning(wire, item, events)
        return self._close_call(wire, item, events)

    def _close_part(self, wire: Wire, item: Item, events: Sequence[Event]) -> Pieces:
        place = item.at
        assert place is not None
        if place.told:
            return [named(wire.expected(PART_DONE[0], item), events)]
        family = R + ("refusal" if place.added.get("type") == "refusal" else "output_text")
        before = [self._made_up(wire, wire.expected(family + WHOLE, item))]
        unit = wire.expected(PART_DONE[0], item)
        wire.take(unit)
        return [*before, named(unit, events), self._made_up(wire, wire.expected(DONE_ITEM, wire.at))]

    def _close_reasoning(self, wire: Wire, item: Item, events: Sequence[Event]) -> Pieces:
        pieces: list[Written] = []
        place = item.at
        if place is not None and place.open:
            family = SUMMARY_TEXT if place.where == SUMMARY else R + "reasoning_text"
            pieces.append(self._made_up(wire, wire.expected(family + WHOLE, item)))
            pieces.append(self._made_up(wire, wire.expected(PART_DONE[2 if place.where == SUMMARY else 0], item)))
            item = wire.open[item.index]
        unit = self._item_done(wire, item, events)
        states = [event.state for event in events if type(event) is Append and event.state is not None]
        guess = _guess(states[-1] if states else self._stated, item)
        return [*pieces, named(unit, events, guess=guess)]

    def _close_call(self, wire: Wire, item: Item, events: Sequence[Event]) -> Pieces:
        end = events[-1]
        if type(end) is Handover:
            # a call that a handover breaks off is none, and its end would make it one that can be run
            name, id, raw = item.added.get("name"), item.added.get("call_id"), item.text()
            what = f"the call {name!r} broke off at a handover"
            raise ToolArgumentsError(what, name=str(name or ""), id=str(id or ""), raw=raw, position=len(raw))
        pieces: list[Written] = []
        cut = type(end) is Close and end.cut
        blank = not item.text() and not cut
        if not item.told and item.type == CALL:
            unit = wire.expected(ARGUMENTS + WHOLE, item)
            pieces.append(self._made_up(wire, {**unit, "arguments": "{}"} if blank else unit))
            item = wire.open[item.index]
        done = self._item_done(wire, item, events)
        if done is not None and blank and item.type == CALL and not done["item"].get("arguments"):
            done = {**done, "item": {**done["item"], "arguments": "{}"}}
        return [*pieces, named(done, events)]

    def _write_annotate(self, wire: Wire, item: Item | None, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        assert type(event) is Annotate
        if event.namespace != ISSUER or item is None or item.type != MESSAGE or item.at is None:
            return self._note(events)
        if item.at.added.get("type") != "output_text":
            return self._note(events)
        return [named({**wire.expected(ANNOTATION, item), "annotation": event.data}, events)]

    def _write_finish(self, wire: Wire, item: Item | None, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        assert type(event) is Finish
        wire = wire.fork()
        pieces = []
        for open in [each for each in wire.open.values() if each.type == MESSAGE]:
            pieces.append(self._made_up(wire, wire.expected(DONE_ITEM, open)))
        word = event.reason.word
        guess = ("reason", "no word for an unknown reason") if word in ("unknown", "pause", "refusal") else None
        type_ = R + str(reason_words(event.reason, home=False)["status"])
        return [*pieces, named(self._terminal(wire, type_, events), events, guess=guess)]

    def _write_failure(self, wire: Wire, item: Item | None, events: Sequence[Event]) -> Pieces:
        before = [Written(None, events[:-1], later=_LATER)] if len(events) > 1 else []
        unit = self._terminal(wire, TERMINAL[2], events[-1:])
        return [*before, named(unit, events[-1:], made_up=not (wire.started or wire.next))]

    def _write_foreign(self, wire: Wire, item: Item | None, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        assert type(event) is Foreign
        if event.codec != NAME:
            return self._note(events)
        before = [Written(None, events[:-1], later=_LATER)] if len(events) > 1 else []
        unit = self._expanded(wire, event.unit)
        if unit is None:
            return [*before, Written(None, [event])]
        return [*before, Written(unit, [event], self.codec.event_name(unit), is_synthetic(event, NAME))]

    def _expanded(self, wire: Wire, kept: JsonObject) -> JsonObject | None:
        """The unit that a foreign event keeps; ``None`` where it keeps none."""
        if kept.get("type") not in KNOWN:
            return kept
        try:
            unit = wire.expand(kept, self.options.limits.nesting)
            if jsontext.same(wire.compact(unit), kept):
                return unit
            what = "it is told in other words"
        except patches.PatchError as error:
            what = str(error)
        self.fault(f"what it keeps of a unit does not fit: {what}")
        return None

    def _note(self, events: Sequence[Event]) -> Pieces:
        return [Written(None, events, later=_LATER)]

    def _write_note(self, wire: Wire, item: Item | None, events: Sequence[Event]) -> Pieces:
        return self._note(events)

    _writers: ClassVar[dict[type[Event], Callable[[Any, Wire, Item | None, Sequence[Event]], Pieces]]] = {
        Append: _write_append,
        Open: _write_open,
        Close: _write_close,
        Handover: _write_close,
        Start: _write_start,
        Annotate: _write_annotate,
        Finish: _write_finish,
        Failure: _write_failure,
        Foreign: _write_foreign,
        **dict.fromkeys((Usage, Ping), _write_note),
    }

    # ---- the short way

    def say(self, events: Sequence[Event]) -> Said | None:
        event = events[0]
        if type(event) is not Append or len(events) != 1 or event.state is not None or type(event.data) is not str:
            return None
        usual = self.usual()
        if usual is None:
            return None
        pad = None
        if event.residue is not None and NAME in event.residue:
            own = event.residue[NAME]
            pad = own.get(PADDING)
            if len(own) != 1 or type(pad) is not str:
                return None
        expected, item = usual
        wire = self._wire
        unit = {**expected, "sequence_number": wire.number, "delta": event.data}
        if pad is not None:
            unit[PAD] = pad
        wire.number += 1
        self.grown(item, event.data)
        return unit, expected["type"], False


def _guess(state: State | None, item: Item) -> tuple[str, str] | None:
    """What is assumed where a state is said at the end of an item."""
    if state is None or not is_sayable(state):
        return None
    bound = state.values.get("reasoning_id", state.values.get("id"))
    if bound not in (None, item.added.get("id")):
        return "state", f"it is bound to the item {bound!r}, and said in another"
    return ("namespace", f"the state's issuer was taken to be {ISSUER!r}") if state.namespace is None else None


def named(
    unit: JsonObject | None,
    meant: Sequence[Event],
    *,
    made_up: bool = False,
    later: Sequence[str] = (),
    guess: tuple[str, str] | None = None,
) -> Written:
    """A unit under its own name."""
    return Written(unit, meant, unit["type"] if unit is not None else None, made_up, later, guess)
