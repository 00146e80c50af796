"""Gemini Interactions written: the unit that is expected for events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from translate import jsontext
from translate.algebra.calls import BLANK, is_whole, made_id
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
)
from translate.algebra.parts import Growth
from translate.algebra.usage import latest
from translate.carry.reasons import guessed
from translate.codec import Encoder, Pieces, Said, Written
from translate.errors import ToolArgumentsError, TranslateError

from .decoder import BETWEEN, OPENING, STEP, InteractionsDecoder
from .words import (
    COMPLETED,
    CREATED,
    DELTA,
    ERROR,
    ISSUER,
    NAME,
    PLAIN,
    SIGNATURE,
    START,
    STOP,
    SYNTHETIC,
    delta_unit,
    error_unit,
    interaction,
    is_known,
    kind_of_step,
    media_delta,
    read_status,
    said_kind,
    signature_of,
    status_words,
    step_of,
    text_delta,
    unit_of,
    usage_words,
)

STATUS = "status"
"""The member of the residue of a ``Failure`` that an ``interaction.completed`` said: its status."""
BYTES = ("inline_data", "inline_thinking")


class InteractionsEncoder(InteractionsDecoder, Encoder):
    """Predicts the units of one interaction."""

    def write(self, events: Sequence[Event]) -> Pieces:
        first, last = events[0], events[-1]
        if type(first) is Open and len(events) > 1:
            return self._write_begun(first, events)
        return self._writers[type(last)](self, last)

    def ahead(self, event: Event) -> Sequence[Written]:
        """The ``interaction.created`` before what needs it, and the end of a step that lost its own."""
        if type(event) is not Finish and not (type(event) is Open and self.codec.sayable(event)):
            return ()
        if self._state is OPENING:
            unit = self._created(Start())
            return [named(unit, [replace(self.read(unit, None)[0], residue=SYNTHETIC)], made_up=True)]
        if self._state is not STEP or self._kind or (type(event) is Open and self._fits(event)):
            return ()
        return [self._silent(unit_of(STOP, index=self._index))]

    def mark(self, unit: JsonObject) -> JsonObject | None:
        kind = unit["event_type"]
        if kind == START:
            return {} if str(kind_of_step(unit["step"]["type"])).startswith("server") else None
        if kind == DELTA:
            delta = unit["delta"]
            if delta["type"] == "thought_signature":
                usual = self._kind == "thinking" and delta[SIGNATURE]
                return None if usual else {SIGNATURE: True}
            return {} if delta["type"] == "text_annotation_delta" else None
        if kind == COMPLETED:
            end = self.read(unit, None)[0]
            if type(end) is not Finish:
                return {STATUS: unit["interaction"]["status"]}
            return None if jsontext.same(*(self._completed(end, home=home) for home in (False, True))) else {}
        if kind == ERROR:
            failure = self.read(unit, None)[0]
            assert type(failure) is Failure
            return None if error_unit(failure, at_home=True) == error_unit(failure, at_home=False) else {}
        return None

    # ---- the one unit of events

    def whole(self, events: Sequence[Event]) -> JsonObject | None:
        own = self.residue(events[0]) or {}
        usage = next((event for event in events if type(event) is Usage), None)
        unit = self._whole([event for event in events if event is not usage], own)
        if unit is None or usage is None:
            return unit
        counts = latest(usage.usage, self._counts)
        return {**unit, "metadata": {"usage": usage_words(counts, home=True)}}

    def _whole(self, events: Sequence[Event], own: JsonObject) -> JsonObject | None:
        if not events:
            return None
        first, last = events[0], events[-1]
        if type(first) is Start:
            return self._created(first)
        if type(first) is Close and len(events) > 1:
            return self._whole(events[1:], own)
        if type(first) is Open:
            grown = last if type(last) is Append else None
            if self._state is not STEP:
                return self._opens(first, grown) if step_of(first.kind) != "model_output" else None
            return None if grown is None else self._delta(first, grown, own)
        if type(first) is Append:
            return self._delta(self._head, first, own)
        pieces = self._writers[type(first)](self, first)
        units = [piece.unit for piece in pieces or () if piece.unit is not None]
        return units[0] if len(units) == 1 else None

    def _created(self, event: Start) -> JsonObject:
        return unit_of(CREATED, interaction=interaction(event, self.options.model.name, "in_progress"))

    def _opens(self, head: Open, grown: Append | None = None) -> JsonObject:
        """The start of a step that is a part, with what comes with it."""
        step: JsonObject = {"type": step_of(head.kind)}
        signature = signature_of(grown.state, self._publisher) if grown is not None else None
        text = str(grown.data) if grown is not None else ""
        if head.kind == "tool_call":
            arguments = self._object(text) if is_whole(text, self.options.limits.nesting) else {}
            step |= {"id": head.id or made_id(self._calls), "name": head.name, "arguments": arguments}
        elif head.kind != "thinking":
            id = {"call_id" if head.kind == "server_tool_result" else "id": head.id} if head.id else {}
            step = {"type": head.name, **id, **self._object(text)}
        if signature:
            step[SIGNATURE] = signature
        return unit_of(START, index=self._index + 1, step=step)

    def _object(self, text: str) -> JsonObject:
        """The members that text of a server's tool holds."""
        try:
            found = jsontext.loads_str(text, self.options.limits.nesting) if text.strip(BLANK) else {}
        except TranslateError:
            found = None
        if isinstance(found, dict):
            return found
        self.fault("the text of a server's tool is no object")
        return {}

    def _delta(self, head: Open, event: Append, own: JsonObject) -> JsonObject:
        """The delta of one fragment of a part."""
        data = event.data
        if own.get(SIGNATURE) is True or (not data and event.state is not None):
            signature = event.state.values.get(SIGNATURE, "") if event.state is not None else ""
            return delta_unit(self._index, {"type": "thought_signature", SIGNATURE: signature})
        if isinstance(data, bytes):
            delta = media_delta(head, data)
            if self._step == "thought":
                delta = {"type": "thought_summary", "content": delta}
            return delta_unit(self._index, delta)
        if head.kind.startswith("server"):
            return delta_unit(self._index, {"type": head.name, **self._object(str(data))})
        return delta_unit(self._index, text_delta(said_kind(head.kind), str(data)))

    @property
    def _publisher(self) -> str | None:
        model = self._start.model
        return model.publisher or model.provider or self.options.model.publisher

    # ---- the short way

    def say(self, events: Sequence[Event]) -> Said | None:
        event = events[0]
        if type(event) is not Append or event.state is not None or len(events) != 1 or self._state is not STEP:
            return None
        text, kind = event.data, self._kind
        if type(text) is not str or kind not in PLAIN or self.residue(event) is not None:
            return None
        self.grow(text)
        return delta_unit(self._index, text_delta(kind, text)), DELTA, False

    # ---- steps

    def _fits(self, head: Open) -> bool:
        """Whether a part may go on in the open step, which has none."""
        if self._state is not STEP or self._kind:
            return False
        step = step_of(said_kind(head.kind))
        return step == self._step or (self._step == "thought" and head.kind == "inline_thinking")

    def _silent(self, unit: JsonObject) -> Written:
        """A unit that says nothing, and that the format demands."""
        return named(unit, [Foreign(NAME, unit, SYNTHETIC)], made_up=True)

    def _write_open(self, event: Open) -> Pieces:
        if not self.codec.sayable(event):
            return [Written(None, [event])]
        if event.kind == "thinking" and not self._fits(event):
            return [named(self._opens(event), [event])]
        if event.kind.startswith("server"):
            return [named(self._opens(event), [event])]
        return None

    def _write_begun(self, head: Open, events: Sequence[Event]) -> Pieces:
        """What an opening waited for."""
        last = events[-1]
        if type(last) is Failure and head.kind not in BYTES:
            return [Written(None, events[:-1]), *(self._write_failure(last) or ())]
        if head.kind == "tool_call":
            return self._write_call(head, events)
        if head.kind in BYTES:
            return self._write_bytes(head, events)
        if type(last) in (Close, Handover):
            # nothing was said in it
            return [Written(None, events)]
        if type(last) is not Append or not (last.data or self._fits(head)):
            return None
        starts, index = self._starts(head)
        unit = {**self._delta(head, Append(last.data), {}), "index": index}
        return [*starts, named(unit, events)]

    def _starts(self, head: Open) -> tuple[list[Written], int]:
        """The start of a step that its deltas say, if one has to start, and its index."""
        if self._fits(head):
            return [], self._index
        index = self._index + 1
        return [self._silent(unit_of(START, index=index, step={"type": "model_output"}))], index

    def _write_bytes(self, head: Open, events: Sequence[Event]) -> Pieces:
        last, grown = events[-1], Growth()
        begun = [event for event in events if type(event) is Append]
        if type(last) not in (Close, Handover, Failure):
            home = self._fits(head) and bool(begun)
            return [named(self._delta(head, begun[0], {}), events)] if home and type(last) is Append else None
        for event in begun:
            grown.add(event.data)
        said = self._writers[type(last)](self, last) if type(last) is Failure else ()
        if type(last) is not Close and not any(event.data for event in begun):
            return [Written(None, events[:-1]), *said] if said else [Written(None, events)]
        starts, index = self._starts(head)
        unit = delta_unit(index, media_delta(head, grown.join() or b""))  # type: ignore[arg-type]
        stop = [] if said else [named(unit_of(STOP, index=index), [last])]
        return [*starts, named(unit, events[:-1]), *stop, *(said or ())]

    def _write_call(self, head: Open, events: Sequence[Event]) -> Pieces:
        last, before = events[-1], events[:-1]
        if type(last) is Handover or (type(last) is Close and last.cut):
            # half a call is none
            return [Written(None, events)]
        guess = None if head.id else ("id", guessed("id", id=repr(made_id(self._calls))))
        if type(last) is Append:
            text = str(last.data)
            signature = signature_of(last.state, self._publisher)
            if signature and (not text.strip(BLANK) or is_whole(text, self.options.limits.nesting)):
                return [named(self._opens(head, last), events, guess=guess or _guess(last.state))]
            delta = delta_unit(self._index + 1, text_delta("tool_call", text))
            return [named(self._opens(head), before, guess=guess), named(delta, [last])]
        if type(last) is Close:
            stop = unit_of(STOP, index=self._index + 1)
            return [named(self._opens(head), before, guess=guess), named(stop, [last])]
        if type(last) is Foreign and last.codec == NAME:
            return [named(self._opens(head), before, guess=guess), *(self._write_foreign(last) or ())]
        return None

    # ---- the events of an open part

    def _write_append(self, event: Append) -> Pieces:
        own = self.residue(event)
        if not self._kind or self._state is not STEP:
            return [Written(None, [event])]
        if own is not None and SIGNATURE in own:
            return [named(self._delta(self._head, event, own), [event])]
        if self._kind in BYTES or (self._kind.startswith("server") and not self._head.residue):
            return [Written(None, [event])]
        signature = signature_of(event.state, self._publisher) if self._kind == "thinking" else None
        if signature is None:
            return [named(self._delta(self._head, Append(event.data), {}), [event])]
        repeats = delta_unit(self._index, {"type": "thought_signature", SIGNATURE: signature})
        guess = _guess(event.state)
        if not event.data:
            return [named(repeats, [event], guess=guess)]
        unit = self._delta(self._head, Append(event.data), {})
        return [named(unit, [event], later=("state",), guess=guess), self._silent(repeats)]

    def _write_annotate(self, event: Annotate) -> Pieces:
        native = event.namespace == ISSUER and isinstance(event.data, dict) and event.data.keys() == {"annotations"}
        open = self._kind == "text" or (self.residue(event) is not None and self._state is STEP)
        if not native or not open:
            return [Written(None, [event])]
        return [named(delta_unit(self._index, {"type": "text_annotation_delta", **event.data}), [event])]

    def _write_close(self, event: Close) -> Pieces:
        if not self._kind or self._state is not STEP:
            return [Written(None, [event])]
        nesting = self.options.limits.nesting
        if self._kind == "tool_call" and event.cut and not is_whole(str(self._grown.join()), nesting):
            raise self._broken_off("was cut off")
        return [named(unit_of(STOP, index=self._index), [event])]

    def _write_handover(self, event: Handover) -> Pieces:
        if not self._kind or self._state is not STEP:
            return [Written(None, [event])]
        if self._kind == "tool_call":
            raise self._broken_off("broke off at a handover")
        return [named(unit_of(STOP, index=self._index), [event])]

    def _broken_off(self, how: str) -> ToolArgumentsError:
        """The error for a call that no one finished: the end of its step would make it one that can be run."""
        head, raw = self._head, str(self._grown.join())
        what = f"the call {head.name!r} {how}"
        return ToolArgumentsError(what, name=head.name or "", id=head.id or "", raw=raw, position=len(raw))

    # ---- the rest

    def _write_start(self, event: Start) -> Pieces:
        if self._state is not OPENING:
            return [Written(None, [event])]
        own = self.residue(event)
        return [named(self._created(event), [event], made_up=own is not None and not self.at_home(event))]

    def _write_finish(self, event: Finish) -> Pieces:
        if self._state is not BETWEEN:
            return [Written(None, [event])]
        unit = self._completed(event, home=self.at_home(event))
        status, guess = unit["interaction"]["status"], None
        if read_status(status).word != event.reason.word:
            guess = ("reason", guessed("reason", meant=event.reason.word, said=status))
        return [named(unit, [event], guess=guess)]

    def _completed(self, event: Finish, *, home: bool) -> JsonObject:
        counts = latest(event.usage, self._counts if home else self.usage)
        status = status_words(event.reason, calls=self._calls > 0, home=home)
        usage = usage_words(counts, home=home) if is_known(counts) or (home and counts.other) else None
        said = interaction(self._start, self.options.model.name, status, usage)
        return unit_of(COMPLETED, interaction=said)

    def _write_failure(self, event: Failure) -> Pieces:
        own = self.residue(event)
        if own is not None and isinstance(own.get(STATUS), str) and self._state is BETWEEN:
            said = interaction(self._start, self.options.model.name, own[STATUS])
            return [named(unit_of(COMPLETED, interaction=said), [event])]
        return [named(error_unit(event, at_home=self.at_home(event)), [event])]

    def _write_foreign(self, event: Foreign) -> Pieces:
        if event.codec != NAME:
            return [Written(None, [event])]
        kind = event.unit.get("event_type")
        made_up = self.residue(event) is not None
        return [Written(event.unit, [event], kind if isinstance(kind, str) else None, made_up)]

    def _write_note(self, event: Event) -> Pieces:
        return [Written(None, [event])]

    _writers: ClassVar[dict[type[Event], Callable[[Any, Any], Pieces]]] = {
        Append: _write_append,
        Open: _write_open,
        Close: _write_close,
        Start: _write_start,
        Annotate: _write_annotate,
        Finish: _write_finish,
        Failure: _write_failure,
        Handover: _write_handover,
        Foreign: _write_foreign,
        **dict.fromkeys((Usage, Ping), _write_note),
    }


def _guess(state: State | None) -> tuple[str, str] | None:
    if state is None or state.namespace is not None:
        return None
    return "namespace", guessed("issuer", issuer=repr(ISSUER))


def named(
    unit: JsonObject,
    meant: Sequence[Event],
    *,
    made_up: bool = False,
    later: Sequence[str] = (),
    guess: tuple[str, str] | None = None,
) -> Written:
    """A unit under its own name."""
    return Written(unit, meant, unit["event_type"], made_up, later, guess)
