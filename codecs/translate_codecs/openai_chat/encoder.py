"""Chat Completions written: the chunk that is expected for events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

from translate.algebra.calls import BLANK, made_id
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
from translate.algebra.usage import latest
from translate.carry.expecting import Expecting
from translate.carry.reasons import guessed
from translate.carry.repeats import VALUES
from translate.codec import Codec, Encoder, Options, Pieces, Said, Written
from translate.errors import ToolArgumentsError, TranslateError
from translate.shapes.blocks import ERROR_LINE, ERROR_MEMBER

from .decoder import ChatDecoder, reason_in
from .words import (
    NAME,
    REASON,
    REDACTED,
    entry_of,
    is_known,
    reason_words,
    same_reason,
    usage_words,
)


class ChatEncoder(ChatDecoder, Encoder):
    """Predicts chunks."""

    def __init__(self, codec: Codec, options: Options) -> None:
        super().__init__(codec, options)
        self._expecting = Expecting(self._units.repeats, self._probe, self.fault)
        self._head = Open("text")
        self._pieces: list[str] = []
        """What the open call holds."""

    # ---- what is known, of those who write

    def take(self, unit: JsonObject | None, meant: Sequence[Event]) -> None:
        super().take(unit, meant)
        for event in meant:
            if type(event) is Open:
                self._head, self._pieces = event, []
            elif type(event) is Append and self._head.kind == "tool_call":
                self._pieces.append(str(event.data))

    def grow(self, text: str, units: int = 1) -> None:
        if self._units.kind == "tool_call":
            super().grow(text, units)
        if self._head.kind == "tool_call":
            self._pieces.append(text)

    def say(self, events: Sequence[Event]) -> Said | None:
        event = events[0]
        if len(events) != 1 or type(event) is not Append or event.state is not None or type(event.data) is not str:
            return None
        text = event.data
        if not text or text == REDACTED:
            return None
        own = event.residue.get(NAME) if event.residue else None
        if own is not None and own.keys() != {VALUES}:
            return None
        usual = self._last.usual or self._usual()
        values = None if own is None else own[VALUES]
        unit = usual.write(text, values) if usual is not None else None
        if usual is None or unit is None:
            return None
        if values is not None:
            usual.move(values)
        self.grow(text)
        return unit, None, False

    # ---- what units are expected

    def _probe(self, unit: JsonObject) -> list[Event] | None:
        last = self._last.step
        try:
            return self.read(unit, None)
        except TranslateError:
            return None
        finally:
            self._last.step = last

    def mark(self, unit: JsonObject) -> JsonObject | None:
        step = self._look(unit)
        canonical = self.canonical(step)
        values = self._expecting.moving(canonical, step.said, unit)
        out: JsonObject = {} if step.chunk.reason is None else {REASON: step.chunk.reason}
        if values is not None:
            out[VALUES] = values
        if step.name in LINES:
            out[LINE] = LINES.index(step.name)
        return out if out or step.opaque or step.chunk.error else None

    def whole(self, events: Sequence[Event]) -> JsonObject | None:
        own = self.residue(events[0])
        canonical = self._units.write(events, reason_in(own))
        return self._expecting.unit(canonical, events, own.get(VALUES) if own else None)

    def expected(self, unit: JsonObject, said: Sequence[Event]) -> JsonObject | None:
        own = self.residue(said[0])
        return self._expecting.unit(self.canonical(self._look(unit)), said, own.get(VALUES) if own else None, unit)

    # ---- the units of events: the last of them is new

    def write(self, events: Sequence[Event]) -> Pieces:
        if type(events[0]) in (Usage, Foreign) and is_synthetic(events[0], NAME):
            # made up for the end, whose carry it bears: it is made up again once that comes
            return []
        pieces: Pieces = self._writers[type(events[-1])](self, events)
        if pieces is None or self._known.started or self.at_home(events[0]):
            return pieces
        says = [piece for piece in pieces if piece.unit is not None]
        if not says or type(events[-1]) in (Start, Foreign, Failure):
            return pieces
        # nobody opened the stream: a first chunk is made up
        start = Start(self.options.model, residue={NAME: {"synthetic": True}})
        return [Written(self._units.write([start]).unit, [start], made_up=True), *pieces]

    def _unit(self, meant: Sequence[Event], said: Sequence[Event] | None = None, **more: Any) -> Written:
        """The unit of ``meant``; ``said``: what it says natively, where that is not all of it."""
        own = self.residue(meant[0])
        said = meant if said is None else said
        canonical = self._units.write(said, reason_in(own))
        return Written(self._expecting.unit(canonical, said, own.get(VALUES) if own else None), meant, **more)

    def _write_start(self, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        if self._known.started:
            return [Written(None, events)]
        return [self._unit(events, made_up=not self.at_home(event) and self.residue(event) is not None)]

    def _write_open(self, events: Sequence[Event]) -> Pieces:
        head = events[-1]
        assert type(head) is Open
        if self.at_home(head) and not self.codec.sayable(head):
            return [self._unit(events)]
        if not self.codec.sayable(head):
            return [Written(None, events)]
        if head.kind != "tool_call":
            # a part without text has no words
            return None
        guess = None if head.id else ("id", guessed("id", id=repr(made_id(self._units.calls))))
        return [self._unit(events, guess=guess)]

    def _write_append(self, events: Sequence[Event]) -> Pieces:
        event, head = events[-1], events[0]
        assert type(event) is Append
        if self.at_home(head):
            return [self._unit(events)]
        if type(head) is not Open and self._known.serial.open is None:
            return [Written(None, events)]
        kind = head.kind if type(head) is Open else self._units.kind
        opaque = kind == "thinking" and event.state is not None and entry_of(event.state, 0) is not None
        if opaque and event.data in ("", REDACTED):
            # the state goes out with the end of the part
            return None
        if not event.data and type(head) is Open:
            return None
        if any(type(each) is Append and each.data == REDACTED for each in events[:-1]):
            said = [each for each in events if type(each) is not Append or each.data]
            return [self._unit(events, said, later=_LATER)]
        waiting = [Written(None, events[:-1], later=_LATER)] if type(head) is not Open and len(events) > 1 else []
        meant = events[-1:] if waiting else events
        said = [_stateless(each) for each in meant if type(each) is Open or each is event]
        return [*waiting, self._unit(meant, said, later=_LATER if opaque else ())]

    def _write_close(self, events: Sequence[Event]) -> Pieces:
        event, head = events[-1], events[0]
        assert type(event) is Close
        if len(events) == 1 and reason_in(self.residue(event)) is not None:
            return [self._unit(events)]
        if self._units.kind == "tool_call" and type(head) is Close and self._known.serial.open is not None:
            blank = not any(piece.strip(BLANK) for piece in self._pieces)
            return [self._unit(events, [Append("{}")])] if blank and not event.cut else [Written(None, events)]
        if type(head) is not Open and self._known.serial.open is None:
            return [Written(None, events)]
        said = self._states(events)
        return [self._unit(events, said, made_up=True)] if said else [Written(None, events)]

    def _states(self, events: Sequence[Event]) -> list[Event]:
        """What says the states of the thinking part that ends with ``events``."""
        head = events[0]
        if (head.kind if type(head) is Open else self._units.kind) != "thinking":
            return []
        before: list[State] = [] if type(head) is Open else self._known.due
        appends = [each for each in events if type(each) is Append and each.state is not None]
        redacted = [each for each in appends if each.data == REDACTED]
        if redacted:
            return [Open("thinking"), redacted[0]]
        states = [*before, *(each.state for each in appends if each.state is not None)]
        said: list[Event] = [Append("", state) for state in states if entry_of(state, 0) is not None]
        return [head, *said] if said and type(head) is Open else said

    def _write_handover(self, events: Sequence[Event]) -> Pieces:
        raw = "".join(self._pieces)
        if self._known.serial.open is not None and self._units.kind == "tool_call":
            # readers would run it, though no one finished it
            what = f"the call {self._head.name!r} broke off at a handover"
            name, id = self._head.name or "", self._head.id or ""
            raise ToolArgumentsError(what, name=name, id=id, raw=raw, position=len(raw))
        return [Written(None, events)]

    def _write_finish(self, events: Sequence[Event]) -> Pieces:
        event, known = events[-1], self._known
        assert type(event) is Finish
        usage = latest(event.usage, self.usage)
        pieces: list[Written] = []
        now = self.close(marked=True)[-1]
        assert type(now) is Finish
        home = self.at_home(event) or known.reason is not None
        if not (home and same_reason(now.reason, event.reason)):
            pieces.append(self._write_reason(event))
        if is_known(usage) and usage_words(usage) != usage_words(now.usage):
            made = Usage(usage, {NAME: {"synthetic": True}})
            pieces.append(Written(self._units.write([made]).unit, [made], made_up=True))
        if not pieces:
            return [Written(None, events)]
        pieces[-1] = pieces[-1]._replace(ends=events)
        return pieces

    def _write_reason(self, event: Finish) -> Written:
        word = reason_words(event.reason, calls=self._units.calls > 0)
        guess = None
        if word == "tool_calls" and event.reason.word == "stop":
            guess = (REASON, guessed("reason to act on", meant=event.reason.word, said=word))
        elif event.reason.word in ("pause", "unknown"):
            guess = (REASON, guessed("reason", meant=event.reason.word, said=word))
        unit = self._units.write([], word).unit
        return Written(unit, [Foreign(NAME, unit, {NAME: {"synthetic": True}})], made_up=True, guess=guess)

    def _write_failure(self, events: Sequence[Event]) -> Pieces:
        waiting = [Written(None, events[:-1])] if len(events) > 1 else []
        own = self.residue(events[-1])
        line = own.get(LINE) if own is not None else None
        home = self.at_home(events[-1])
        return [*waiting, self._unit(events[-1:], name=LINES[line] if line in (0, 1) else None, made_up=not home)]

    def _write_foreign(self, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        assert type(event) is Foreign
        if event.codec != NAME or type(events[0]) is Open:
            return self._write_note(events)
        waiting = [Written(None, events[:-1], later=_LATER)] if len(events) > 1 else []
        return [*waiting, Written(event.unit, [event], made_up=self.residue(event) is not None)]

    def _write_note(self, events: Sequence[Event]) -> Pieces:
        if len(events) == 1 and self.residue(events[0]) is not None and type(events[0]) is not Ping:
            return [self._unit(events, made_up=not self.at_home(events[0]))]
        # what comes after an opening that has not been said yet comes after it at home, too
        return None if type(events[0]) is Open else [Written(None, events, later=_LATER)]

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


_LATER = ("state",)
LINE: Final = "line"
"""The member of a residue that says how an error stood that had a line of its own, by :data:`LINES`."""
LINES: Final = (ERROR_LINE, ERROR_MEMBER)


def _stateless(event: Event) -> Event:
    """A fragment as its unit says it: of a state only the name of its member has words there."""
    if type(event) is Append and event.state is not None and entry_of(event.state, 0) is not None:
        return Append(event.data, None, event.residue)
    return event
