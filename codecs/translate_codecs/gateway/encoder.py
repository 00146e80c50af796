"""The gateway's frames written: those that are expected for events."""

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
    Start,
    Usage,
)
from translate.algebra.usage import latest
from translate.carry.reasons import guessed
from translate.codec import Encoder, Pieces, Said, Written

from .decoder import GatewayDecoder
from .words import (
    BETWEEN,
    CONTENT,
    ENDED,
    MODEL,
    NAME,
    OPENING,
    RUN,
    STARTS,
    THINKING,
    WORD,
    are_words,
    arguments_of,
    envelope,
    error_envelope,
    guessed_issuer,
    is_plain_end,
    model_words,
    said_open,
    start_of,
    state_data,
    usage_words,
)


class GatewayEncoder(GatewayDecoder, Encoder):
    """Predicts gateway frames."""

    def write(self, events: Sequence[Event]) -> Pieces:
        return self._writers[type(events[-1])](self, events)

    def ahead(self, event: Event) -> Sequence[Written]:
        """A ``streamStart``, before all but what may stand without one at home."""
        if self._state is not OPENING or type(event) is Start:
            return ()
        if type(event) is Foreign and event.codec == NAME:
            return ()
        if type(event) is Ping or (type(event) is Failure and self.at_home(event)):
            return ()
        model = self.options.model
        meant = [Start(model, residue={NAME: {"synthetic": True}})]
        return [frame(start_of(model), meant, made_up=True, exact=are_words(model))]

    def mark(self, unit: JsonObject) -> JsonObject | None:
        return {} if self._state is OPENING and unit.get("success") is False else None

    def say(self, events: Sequence[Event]) -> Said | None:
        event, state = events[-1], self._state
        residue, kind = events[0].residue, type(event)
        if state is OPENING or len(events) != 1 or (residue is not None and NAME in residue):
            return None
        if kind is Append:
            if state not in RUN or event.state is not None or type(event.data) is not str:  # type: ignore[union-attr]
                return None
            word = WORD[RUN[state]]
            value: JsonObject = {"type": word, "value": event.data}  # type: ignore[union-attr]
        elif kind is Close:
            if state not in RUN or event.cut or (state is THINKING and self._stated):  # type: ignore[union-attr]
                return None
            word = "contentEnd" if state is CONTENT else "thinkingEnd"
            value = {"type": word}
            self._state = BETWEEN
        elif kind is Open:
            part: Any = event.kind  # type: ignore[union-attr]
            if part not in ("text", "thinking") or event.id is not None or event.mime_type is not None:  # type: ignore[union-attr]
                return None
            word = f"{WORD[part]}Start"
            value = {"type": word}
            self._state, self._stated = STARTS[word], []
        elif kind is Finish and is_plain_end(event) and self.usage is None:  # type: ignore[arg-type]
            word = "stop"
            value = {"type": word, "usage": usage_words(event, self._model)}  # type: ignore[arg-type]
            self._state = ENDED
        else:
            return None
        return {"success": True, "code": 200, "value": value}, word, False

    def holds(self, waiting: Sequence[Event]) -> bool:
        head = waiting[0]
        return type(head) is Open and head.kind == "tool_call"

    # ---- by event: the last of those that wait

    def _write_start(self, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        assert type(event) is Start
        made_up = self.residue(event) is not None and not self.at_home(event)
        # the option is for a source that knows no model
        known = event.model if any(getattr(event.model, name) for name in MODEL) else self.options.model
        exact = known == event.model and are_words(known) and events == [Start(known, residue=events[0].residue)]
        return [frame(start_of(known), events, made_up=made_up, exact=exact)]

    def _write_open(self, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        assert type(event) is Open
        if not self.codec.sayable(event):
            return [Written(None, events)]
        return None if event.kind == "tool_call" else [frame({"type": f"{WORD[event.kind]}Start"}, events)]

    def _write_append(self, events: Sequence[Event]) -> Pieces:
        event, first = events[-1], events[0]
        assert type(event) is Append
        if type(first) is Open:
            return None
        if self._state not in RUN:
            return [Written(None, events)]
        if self._state is THINKING and event.state is not None and event.data == "":
            if len(events) == 1 and not any(state.values for state in self._stated):
                # the state goes out with thinkingEnd
                return None
            return [Written(None, [each], later=("state",), guess=self._guess(each)) for each in events]
        later = ("state",) if self._state is THINKING else ()
        value = {"type": WORD[RUN[self._state]], "value": event.data}
        guess = self._guess(event) if self._state is THINKING else None
        return [*self._not_last(events), frame(value, [event], later=later, guess=guess)]

    def _guess(self, event: Event) -> tuple[str, str] | None:
        issuer = guessed_issuer(self._model)
        if type(event) is not Append or event.state is None or event.state.namespace is not None or not issuer:
            return None
        return "namespace", guessed("issuer", issuer=repr(issuer))

    def _not_last(self, events: Sequence[Event]) -> list[Written]:
        """What waited for the end of its part, which did not come: it is carried at its place."""
        before = events[:-1]
        guess = next(filter(None, map(self._guess, before)), None) if self._state is THINKING else None
        return [Written(None, before, later=("state",), guess=guess)] if before else []

    def _write_close(self, events: Sequence[Event]) -> Pieces:
        head = events[0]
        if type(head) is Open:
            return self._tool(head, events)
        if self._state not in RUN:
            return [Written(None, events)]
        if self._state is CONTENT:
            return [frame({"type": "contentEnd"}, events)]
        data: JsonObject = {}
        issuer = guessed_issuer(self._model)
        waiting = [each.state for each in events if type(each) is Append and each.state is not None]
        for state in (*self._stated, *waiting):
            data |= state_data(state, issuer) or {}
        guess = next(filter(None, map(self._guess, events)), None)
        return [frame({"type": "thinkingEnd", **({"data": data} if data else {})}, events, guess=guess)]

    def _tool(self, head: Open, events: Sequence[Event]) -> Pieces:
        raw = "".join([piece.data for piece in events if type(piece) is Append])  # type: ignore[misc]
        end = events[-1]
        if type(end) is Close and end.cut and not is_whole(raw, self.options.limits.nesting):
            # a client would run half a call
            return [Written(None, events)]
        said = said_open(head, self._calls)
        call = {"id": said.id, "name": said.name, "arguments": arguments_of(raw)}
        guess = ("id", guessed("id", id=repr(said.id))) if said.id != head.id else None
        return [frame({"type": "tool", "value": call}, events, guess=guess)]

    def _write_handover(self, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        assert type(event) is Handover
        value = {"type": "streamError", "model": model_words(event.model)}
        return [*self._not_last(events), frame(value, [event])]

    def _write_finish(self, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        assert type(event) is Finish
        known = Finish(latest(event.usage, self.usage), event.reason)
        return [frame({"type": "stop", "usage": usage_words(known, self._model)}, events)]

    def _write_failure(self, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        assert type(event) is Failure
        return [*self._not_last(events), Written(error_envelope(event), [event], "error")]

    def _write_foreign(self, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        assert type(event) is Foreign
        if event.codec != NAME or type(events[0]) is Open:
            return self._write_note(events)
        value = event.unit.get("value")
        kind = value.get("type") if isinstance(value, dict) else None
        return [*self._not_last(events), Written(event.unit, [event], kind if isinstance(kind, str) else None)]

    def _write_note(self, events: Sequence[Event]) -> Pieces:
        if type(events[0]) is Open:
            return None
        return [*self._not_last(events), Written(None, events[-1:])]

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


def frame(
    value: JsonObject,
    meant: Sequence[Event],
    *,
    made_up: bool = False,
    later: Sequence[str] = (),
    guess: tuple[str, str] | None = None,
    exact: bool = False,
) -> Written:
    """A frame in its envelope."""
    return Written(envelope(value), meant, value["type"], made_up, later, guess, exact=exact)
