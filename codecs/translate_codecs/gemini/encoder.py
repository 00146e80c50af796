"""Gemini written: the chunk that is expected for events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from translate.algebra.calls import is_whole
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
    Reason,
    Start,
    State,
    Usage,
    with_residue,
)
from translate.algebra.json_form import same_event
from translate.algebra.parts import Growth
from translate.algebra.usage import latest
from translate.carry.expecting import Expecting
from translate.carry.reasons import guessed
from translate.carry.repeats import VALUES
from translate.codec import Codec, Encoder, Options, Pieces, Said, Written
from translate.errors import ToolArgumentsError, TranslateError

from .decoder import GeminiDecoder
from .units import WHOLE, goes_on
from .words import (
    ISSUER,
    NAME,
    PARTS,
    error_unit,
    is_known,
    read_usage,
    reason_words,
    signature_of,
    stem_of,
    usage_after,
    usage_change,
    usage_words,
)


def _state_guess(state: State | None) -> tuple[str, str] | None:
    if state is None or state.namespace is not None:
        return None
    return "namespace", guessed("issuer", issuer=repr(ISSUER))


def _reason_guess(reason: Reason, members: JsonObject) -> tuple[str, str] | None:
    if not members or reason.word not in ("pause", "unknown") or members["finishReason"] == reason.raw:
        return None
    return "reason", guessed("reason", meant=reason.word, said=members["finishReason"])


SYNTHETIC: JsonObject = {NAME: {"synthetic": True}}


class GeminiEncoder(GeminiDecoder, Encoder):
    """Predicts chunks."""

    def __init__(self, codec: Codec, options: Options) -> None:
        super().__init__(codec, options)
        self._expecting = Expecting(self._units.repeats, self._probe, self.fault)

    # ---- what units are expected

    def mark(self, unit: JsonObject) -> JsonObject | None:
        step = self._look(unit)
        canonical = self.canonical(step)
        values = self._expecting.moving(canonical, step.said, unit)
        out: JsonObject = {} if values is None else {VALUES: values}
        out |= step.parts or {}
        return out if out or self._is_of_home(step.said) else None

    def _is_of_home(self, said: Sequence[Event]) -> bool:
        """Whether among events there is what is only written where it came from here."""
        for event in said:
            kind = type(event)
            if kind in (Usage, Annotate) or (kind is Open and event.kind.startswith("server")):  # type: ignore[union-attr]
                return True
            if type(event) is Append and event.state is not None:
                if signature_of(event.state, None, home=False) is None:
                    return True
            elif type(event) is Failure and error_unit(event, at_home=True) != error_unit(event, at_home=False):
                return True
        return False

    def whole(self, events: Sequence[Event], unit: JsonObject | None = None) -> JsonObject | None:
        own = self.residue(events[0])
        if self._known.call is not None and type(events[0]) in (Append, Close) and PARTS not in (own or {}):
            # the end of a call that goes on, which no unit said
            return None
        for event in events:
            if type(event) is Open and self._known.response is None and (stem := stem_of(event.id)):
                # where no id of the response is known, ids that were made up tell of what
                self._stem.text = self._stem.text or stem
        canonical = self._units.write(events, own, home=self.at_home(events[0]))
        return self._expecting.unit(canonical, events, own.get(VALUES) if own else None, unit)

    def expected(self, unit: JsonObject, said: Sequence[Event]) -> JsonObject | None:
        return self.whole(said, unit)

    def say(self, events: Sequence[Event]) -> Said | None:
        event = events[0]
        if len(events) != 1 or type(event) is not Append or event.state is not None or type(event.data) is not str:
            return None
        own = event.residue.get(NAME) if event.residue else None
        if not event.data or (own is not None and own.keys() != {VALUES}):
            return None
        usual = self._last.usual or self._usual()
        values = None if own is None else own[VALUES]
        unit = None if usual is None or usual.is_free else usual.write(event.data, values)
        if usual is None or unit is None:
            return None
        if values is not None:
            usual.move(values)
        return unit, None, False

    def _probe(self, unit: JsonObject) -> list[Event] | None:
        last = self._last.step
        try:
            return self.read(unit, None)
        except TranslateError:
            return None
        finally:
            self._last.step = last

    # ---- the units of events: the last of them is new

    def write(self, events: Sequence[Event]) -> Pieces:
        return self._writers[type(events[-1])](self, events)

    def holds(self, waiting: Sequence[Event]) -> bool:
        head = waiting[0]
        return type(head) is Open and head.kind == "tool_call" and self.codec.sayable(head) and not self._pieces(head)

    def _pieces(self, event: Event) -> bool:
        """Whether the unit of an event has pieces of a call."""
        own = self.residue(event)
        return own is not None and PARTS in own

    def _unit(self, meant: Sequence[Event], said: Sequence[Event] | None = None, **more: Any) -> Written:
        """The unit of ``meant``; ``said``: what it says natively, where that is not all of it."""
        unit = self.whole(meant if said is None else [with_residue(said[0], meant[0].residue), *said[1:]])
        assert unit is not None
        if self._known.started or self.at_home(meant[0]) or type(meant[0]) is Start or "candidates" not in unit:
            return Written(unit, meant, **more)
        # nobody opened the stream: its first unit does
        return Written(unit, [Start(self.options.model, residue=SYNTHETIC), *meant], **{**more, "made_up": True})

    def _piece(self, events: Sequence[Event]) -> Pieces:
        """The unit of pieces of a call, once all is there that it says."""
        unit = self.whole(events)
        assert unit is not None
        try:
            said = self.read(unit, None)
        except TranslateError:
            said = []
        if len(said) < len(events) or not all(map(self._agree, said, events)):
            self.fault("the pieces of a call in it say something else")
            return None if type(events[-1]) is Open else [Written(None, events)]
        if len(said) > len(events):
            return None if type(events[-1]) in (Open, Append) else [Written(None, events)]
        return [Written(unit, events)]

    def _agree(self, said: Event, meant: Event) -> bool:
        return type(said) is type(meant) and (same_event(said, meant) or self.codec.agrees(said, meant))

    def _write_start(self, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        if self._known.started:
            return [Written(None, events)]
        return [self._unit(events, made_up=not self.at_home(event) and self.residue(event) is not None)]

    def _write_open(self, events: Sequence[Event]) -> Pieces:
        head = events[-1]
        if self._pieces(head):
            return self._piece(events)
        return None if self.codec.sayable(head) else [Written(None, events)]

    def _write_append(self, events: Sequence[Event]) -> Pieces:
        event, head = events[-1], events[0]
        assert type(event) is Append
        if self._pieces(head):
            return self._piece(events)
        if type(head) is not Open:
            if not self._known.kind or self._known.call is not None:
                return [Written(None, events)]
            part = self._units.head
        else:
            part = head
        if part.kind in WHOLE and not goes_on(part):
            return None
        begins = type(head) is Open
        # a part has one signature alone
        signature = self._signature(event.state, event)
        state = event.state if signature and (begins or self._known.signature in (None, signature)) else None
        if not event.data and state is None:
            return None if begins else [Written(None, events)]
        fragment = Append(event.data, state)
        return [self._unit(events, [head, fragment] if begins else [fragment], guess=_state_guess(state))]

    def _signature(self, state: State | None, of: Event) -> str | None:
        return signature_of(state, self._units.publisher, home=self.at_home(of))

    def _write_close(self, events: Sequence[Event]) -> Pieces:
        event, head = events[-1], events[0]
        assert type(event) is Close
        if self._pieces(head):
            return self._piece(events)
        if type(head) is not Open or not self.codec.sayable(head):
            return [Written(None, events)]
        if head.kind not in WHOLE:
            return [Written(None, events)]
        said = self._together(events)
        fragment = said[-1]
        assert type(fragment) is Append
        if head.kind == "tool_call" and event.cut and not is_whole(str(fragment.data), self.options.limits.nesting):
            # half a call is none
            return [Written(None, events)]
        return [self._unit(events, [*said, event], guess=_state_guess(fragment.state))]

    def _write_handover(self, events: Sequence[Event]) -> Pieces:
        if self._known.call is not None:
            # its beginning was said, and would be taken for a call
            head, raw = self._units.head, self._known.call.plan().close()
            what = f"the call {head.name!r} broke off at a handover"
            raise ToolArgumentsError(what, name=head.name or "", id=head.id or "", raw=raw, position=len(raw))
        if self._has_data(events):
            # what was said before a handover stays in the message
            return [self._unit(events, [*self._together(events), Close()])]
        return [Written(None, events)]

    def _has_data(self, events: Sequence[Event]) -> bool:
        """Whether data waits to be said whole, and some of it came."""
        head = events[0]
        if type(head) is not Open or head.kind not in ("inline_data", "inline_thinking") or goes_on(head):
            return False
        return any(type(event) is Append and event.data for event in events)

    def _together(self, events: Sequence[Event]) -> list[Event]:
        """A part that comes whole, as it is said: with one fragment."""
        head, grown, state = events[0], Growth(), None
        assert type(head) is Open
        for event in events:
            if type(event) is Append:
                grown.add(event.data)
                state = state or (event.state if self._signature(event.state, head) else None)
        data = grown.join()
        return [head, Append(data if data or head.kind not in ("inline_data", "inline_thinking") else b"", state)]

    def _write_finish(self, events: Sequence[Event]) -> Pieces:
        event, known = events[-1], self._known
        assert type(event) is Finish
        usage = latest(event.usage, self.usage)
        now, counts = known.end, known.counts
        members: JsonObject = {}
        if now is None or not (now == event.reason or now.raw == reason_words(event.reason)):
            members["finishReason"] = reason_words(event.reason)
        differs = is_known(usage) and (counts is None or usage_words(usage) != usage_words(counts))
        if not members and not differs:
            return [Written(None, events)]
        waiting = [Written(None, events[:-1])] if len(events) > 1 else []
        unit = self._units.chunk([{"text": ""}], **members)
        said: Event = Foreign(NAME, unit, SYNTHETIC)
        if differs:
            unit["usageMetadata"] = usage_words(usage)
            found = read_usage(unit["usageMetadata"])
            changed = usage_change(usage_after(found, counts), counts) if found is not None else None
            said = said if changed is None else Usage(changed, SYNTHETIC)
        end = Written(unit, [said], made_up=True, guess=_reason_guess(event.reason, members), ends=events[-1:])
        if known.started:
            return [*waiting, end]
        # nobody opened the stream
        start = Start(self.options.model, residue=SYNTHETIC)
        return [*waiting, Written(self._units.chunk([{"text": ""}]), [start], made_up=True), end]

    def _write_failure(self, events: Sequence[Event]) -> Pieces:
        if self._has_data(events):
            return [self._unit(events, [*self._together(events), events[-1]])]
        waiting = [Written(None, events[:-1])] if len(events) > 1 else []
        return [*waiting, self._unit(events[-1:])]

    def _write_foreign(self, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        assert type(event) is Foreign
        if event.codec != NAME or type(events[0]) is Open:
            return self._write_note(events)
        return [Written(event.unit, [event], made_up=self.residue(event) is not None)]

    def _write_note(self, events: Sequence[Event]) -> Pieces:
        if len(events) == 1 and self.residue(events[0]) is not None and type(events[0]) is not Ping:
            return [self._unit(events, made_up=not self.at_home(events[0]))]
        # what comes after an opening that has not been said yet comes after it at home, too
        return None if type(events[0]) is Open else [Written(None, events)]

    _writers: ClassVar[dict[type[Event], Callable[[Any, Sequence[Event]], Pieces]]] = {
        Append: _write_append,
        Open: _write_open,
        Close: _write_close,
        Start: _write_start,
        Finish: _write_finish,
        Failure: _write_failure,
        Handover: _write_handover,
        Foreign: _write_foreign,
        **dict.fromkeys((Usage, Annotate, Ping), _write_note),
    }
