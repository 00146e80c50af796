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
    Open,
    Ping,
    Start,
    State,
    Usage,
    is_synthetic,
)
from translate.algebra.serial import was_said
from translate.carry import patches
from translate.carry.reasons import guessed
from translate.codec import Pieces, Said, Written
from translate.errors import LimitExceeded, ToolArgumentsError, shown

from .items import (
    free_text,
    message_item,
)
from .known import Item
from .steps import Step
from .units import MESSAGES, ResponsesUnits
from .wire import Wire
from .words import (
    ADDED,
    ANNOTATION,
    ARGUMENTS,
    CALL,
    COUNTER,
    CUSTOM,
    DONE_ITEM,
    ISSUER,
    KNOWN,
    LIFECYCLE,
    LOGPROBS,
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
    WHOLE,
    R,
    is_sayable,
    phase_of,
    reason_words,
    same_words,
)

_LATER = ("state",)


class ResponsesEncoder(ResponsesUnits):
    """Predicts the units of one response."""

    # ---- the units of events: the last of them is new

    def write(self, events: Sequence[Event]) -> Pieces:
        first = events[0]
        if self._wire.size > self.options.limits.message:
            raise LimitExceeded("message", self.options.limits.message)
        if was_said(first, NAME):
            return [Written(None, events)]
        if self.alone(first):
            unit = self.whole(events)
            return [named(unit, events)] if unit is not None else [Written(None, events)]
        if type(first) is Open and len(events) > 1:
            return self._begun(first, events[1:])
        return self._write(self._wire, self.open_item(), events)

    def ahead(self, event: Event) -> Sequence[Written]:
        """The ``response.created`` before what needs it."""
        needs = type(event) in (Finish, Failure) or (type(event) is Open and self.codec.sayable(event))
        begun = self._wire.started or self._wire.next or self._inside
        if begun or not needs or self.alone(event) or was_said(event, NAME):
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
            unit = self.part_added(wire, head, [])
            assert unit is not None
            return [named(unit, [head, *events])]
        unit = self.part_added(wire, head, [])
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
        return [named(self.unit_of(wire, LIFECYCLE[0], events, {}), events, made_up=is_synthetic(event, NAME))]

    def _write_open(self, wire: Wire, item: Item | None, events: Sequence[Event]) -> Pieces:
        head = events[-1]
        assert type(head) is Open
        if not self.codec.sayable(head):
            return [Written(None, events)]
        if head.kind in MESSAGES:
            message = self._message(wire)
            if message is None or PHASE in message.added:
                # the message opens with what it holds first
                return None
            return [named(self.part_added(wire, head, []), events)]
        unit = self.unit_of(wire, ADDED, events, self.residue(head) or {})
        guess = None
        if head.kind == "tool_call" and not head.id and unit is not None:
            guess = ("id", guessed("id", id=repr(unit["item"]["call_id"])))
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
        unit = self._delta(wire, item, type_, event)
        later = _LATER if item.type == REASONING and is_sayable(event.state) else ()
        return [*waiting, *pieces, named(unit, [event], later=later)]

    def _is_stated(self, event: Append) -> bool:
        """Whether a state is the one that came last."""
        return self._stated is not None and same_words(self._stated, event.state)

    def _delta(self, wire: Wire, item: Item, type_: str, event: Append) -> JsonObject:
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
        unit = self.item_done(wire, item, events)
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
        done = self.item_done(wire, item, events)
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
        status = str(reason_words(event.reason, home=False)["status"])
        guess = None
        if word in ("unknown", "pause", "refusal"):
            guess = ("reason", guessed("reason", meant=word, said=status))
        type_ = R + status
        return [*pieces, named(self.terminal(wire, type_, events), events, guess=guess)]

    def _write_failure(self, wire: Wire, item: Item | None, events: Sequence[Event]) -> Pieces:
        before = [Written(None, events[:-1], later=_LATER)] if len(events) > 1 else []
        unit = self.terminal(wire, TERMINAL[2], events[-1:])
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
        unit = dict(usual.unit)
        unit["delta"] = event.data
        if LOGPROBS in unit:
            # a list of its own
            unit[LOGPROBS] = []
        if usual.numbered:
            unit[COUNTER] = self.count
        if pad is not None:
            unit[PAD] = pad
        self.grow(event.data)
        return unit, unit["type"], False


def _guess(state: State | None, item: Item) -> tuple[str, str] | None:
    """What is assumed where a state is said at the end of an item."""
    if state is None or not is_sayable(state):
        return None
    bound = state.values.get("reasoning_id", state.values.get("id"))
    if bound not in (None, item.added.get("id")):
        return "state", guessed("place of state", id=shown(bound))
    return ("namespace", guessed("issuer", issuer=repr(ISSUER))) if state.namespace is None else None


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
