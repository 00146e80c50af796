"""Anthropic Messages written: the units that are expected for events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from translate.algebra.calls import made_id, made_stem
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
    is_synthetic,
    with_residue,
)
from translate.algebra.usage import latest
from translate.carry.reasons import guessed
from translate.codec import Encoder, Pieces, Said, Written
from translate.errors import ToolArgumentsError, TranslateError

from .decoder import BETWEEN, BLOCK, ENDED, OPENING, AnthropicDecoder
from .words import (
    GROWS,
    MADE_ID,
    NAME,
    REDACTED,
    SERVERS,
    SYNTHETIC,
    UNKNOWN,
    block_of,
    delta_unit,
    error_unit,
    is_sayable,
    is_usual_error,
    kind_of_block,
    message_delta,
    message_start,
    reason_words,
    said_state,
    same_counts,
    start_unit,
    stop_unit,
)

REASON = "reason"
"""The member of the residue of a message_delta that holds its reason, which the ``Finish`` says later."""
PLAIN = "text"
"""The member of the residue of a fragment that is the text of redacted thinking, and stands for itself."""


class AnthropicEncoder(AnthropicDecoder, Encoder):
    """Predicts the units of one message."""

    def write(self, events: Sequence[Event]) -> Pieces:
        first = events[0]
        if type(first) is Close and self._pending:
            return self._write_resolved(events)
        if type(first) is Open and len(events) > 1:
            return self._write_begun(first, events)
        return self._writers[type(events[-1])](self, events[-1], self._index if self._open else None)

    def ahead(self, event: Event) -> Sequence[Written]:
        """The ``message_start`` before what needs it, and the end of a block that lost its own."""
        if type(event) is not Finish and not (type(event) is Open and self.codec.sayable(event)):
            return ()
        if self._state is OPENING:
            unit = self._message(Start())
            return [named(unit, [replace(self.read(unit, None)[0], residue=SYNTHETIC)], made_up=True)]
        if self._state is not BLOCK or self._kind:
            return ()
        unit = stop_unit(self._index)
        return [named(unit, [Foreign(NAME, unit, SYNTHETIC)], made_up=True)]

    def mark(self, unit: JsonObject) -> JsonObject | None:
        kind = unit["type"]
        if kind == "message_delta":
            reason = unit["delta"].get("stop_reason")
            return {} if reason is None else {REASON: reason}
        if kind == "content_block_delta":
            plain = self._kind == "thinking" and not self._begun and unit["delta"].get("thinking") == REDACTED
            return {PLAIN: True} if plain else None
        if kind == "content_block_start":
            return {} if kind_of_block(unit["content_block"]["type"]) in SERVERS else None
        usual = kind != "ping" and (kind != "error" or is_usual_error(unit["error"]))
        return None if usual else {}

    def whole(self, events: Sequence[Event]) -> JsonObject | None:
        first, last = events[0], events[-1]
        if type(first) is Start:
            return self._whole_message(first, events[1:])
        if type(first) is Open and len(events) <= 2 and type(last) in (Open, Append):
            return self._block(self._blocks, first, last if type(last) is Append else None)
        if type(first) is Close and type(last) is Usage and len(events) == 2:
            return self._delta(first, last)
        return {"type": "message_stop"} if type(last) is Finish else super().whole(events)

    def say(self, events: Sequence[Event]) -> Said | None:
        event = events[0]
        if len(events) != 1 or (event.residue is not None and NAME in event.residue):
            return None
        if type(event) is not Append:
            return self._say_bracket(event)
        text, kind = event.data, self._kind
        if event.state is not None or not self._open or type(text) is not str or kind not in GROWS:
            return None
        if not (self._begun or text != REDACTED):
            return None
        type_, key = GROWS[kind]
        self.grow(text)
        unit = {"type": "content_block_delta", "index": self._index, "delta": {"type": type_, key: text}}
        return unit, "content_block_delta", False

    def _say_bracket(self, event: Event) -> Said | None:
        """The beginning of a block of text, or the end of one that is no half call."""
        if type(event) is Open:
            if event.kind != "text" or self._state is not BETWEEN or self._pending:
                return None
            if event.id is not None or event.name is not None or event.mime_type is not None:
                return None
            unit = start_unit(self._blocks, {"type": "text", "text": ""})
        elif type(event) is Close and not event.cut and self._open and not self._is_half():
            unit = stop_unit(self._index)
        else:
            return None
        self.take(unit, [event])
        return unit, unit["type"], False

    # ---- the message; ``index``: that of the open block, if there is one

    def _message(self, event: Start, usage: Usage | None = None, content: list[JsonObject] | None = None) -> JsonObject:
        name = event.model.name or self.options.model.name or UNKNOWN
        id = event.id if event.id is not None else f"{MADE_ID}{made_stem(self.options.clock())}"
        return message_start(name, id, usage.usage if usage is not None else None, content)

    def _whole_message(self, start: Start, events: Sequence[Event]) -> JsonObject | None:
        """A message_start with the counts and the whole blocks that came in it."""
        usage: Usage | None = None
        content: list[JsonObject] = []
        head, grown = Open("text"), None
        for event in events:
            if type(event) is Usage:
                usage = event
            elif type(event) is Open:
                head, grown = event, None
            elif type(event) is Append:
                grown = event
            elif type(event) is Close:
                unit = self._block(0, head, grown)
                if unit is None:
                    return None
                content.append(unit["content_block"])
            else:
                return None
        return self._message(start, usage, content)

    def _write_start(self, event: Start, index: int | None) -> Pieces:
        if self._state is not OPENING:
            return [Written(None, [event])]
        return [named(self._message(event), [event], made_up=is_synthetic(event, NAME))]

    def _delta(self, first: Event, usage: Usage) -> JsonObject:
        """The message_delta of ``usage``; ``first``: the event of its unit that has the residue."""
        reason = (self.residue(first) or {}).get(REASON)
        if reason is not None and not isinstance(reason, str):
            self.fault("the reason in it is no text")
            reason = None
        return message_delta(reason, usage.usage)

    def _write_usage(self, event: Usage, index: int | None) -> Pieces:
        if self.residue(event) is None or index is not None or self._state in (OPENING, ENDED):
            return [Written(None, [event])]
        return [named(self._delta(event, event), [event], made_up=is_synthetic(event, NAME))]

    def _write_finish(self, event: Finish, index: int | None) -> Pieces:
        counts = latest(event.usage, self.usage)
        end = named({"type": "message_stop"}, [event])
        said = self._end()
        if self._told and said.reason == event.reason and same_counts(said.usage, counts):
            return [end]
        reason, guess = reason_words(event.reason, calls=self._calls > 0)
        unit = message_delta(reason, counts)
        usage = with_residue(self.read(unit, None)[-1], SYNTHETIC)
        return [named(unit, [usage], made_up=True, guess=("reason", guess) if guess else None), end]

    def _write_failure(self, event: Failure, index: int | None) -> Pieces:
        return [named(error_unit(event, at_home=self.at_home(event)), [event])]

    # ---- blocks

    def _block(self, index: int, head: Open, grown: Append | None) -> JsonObject | None:
        """The unit that begins the block of a part, with the data that it holds; ``None`` where that has no words."""
        if grown is not None and grown.state is not None:
            grown = Append(grown.data, said_state(grown.state) if self._says(grown) else None)
        id = head.id or made_id(self._calls) if head.kind == "tool_call" else head.id
        try:
            return start_unit(index, block_of(head, id, grown, self.options.limits.nesting))
        except TranslateError:
            return None

    def _begins(self, head: Open, grown: Append | None = None, meant: Sequence[Event] = ()) -> Written:
        """The beginning of a block, which means ``head`` alone, or all that is ``meant``."""
        unit = self._block(self._blocks, head, grown)
        if unit is None:
            self.fault("the content of a tool's result is no JSON")
            unit = self._block(self._blocks, head, None)
        assert unit is not None
        id = unit["content_block"].get("id")
        guess = ("id", guessed("id", id=repr(id))) if id != head.id and head.kind == "tool_call" else None
        if grown is not None:
            guess = guess or self._guess(grown)
        return named(unit, meant or [head], guess=guess)

    def _write_open(self, event: Open, index: int | None) -> Pieces:
        if not self.codec.sayable(event):
            return [Written(None, [event])]
        # the type of a thinking block depends on its first fragment, and a result comes whole
        return None if event.kind in ("thinking", "server_tool_result") else [self._begins(event)]

    def _write_begun(self, head: Open, events: Sequence[Event]) -> Pieces:
        """What an opening waited for."""
        first, last = events[1], events[-1]
        fragment = first if type(first) is Append else None
        if head.kind == "server_tool_result" and fragment is not None:
            return [self._begins(head, fragment, events)]
        redacted = fragment is not None and fragment.data == REDACTED and self.residue(fragment) is None
        if redacted and head.kind == "thinking":
            if len(events) == 2 and first.state is None:  # type: ignore[union-attr]
                return None
            if type(last) is Append and self._says(last) and (last is first or last.data == ""):
                return [self._begins(head, Append(REDACTED, last.state), events)]
        index, pieces = self._blocks, [self._begins(head)]
        for event in events[1:]:
            if type(event) is Append:
                pieces += self._fragment(event, index, head.kind, begun=event is not first)
            else:
                pieces += self._writers[type(event)](self, event, index) or ()
        return pieces

    def _says(self, event: Append) -> bool:
        return is_sayable(event.state, self._model.publisher or self.options.model.publisher)

    def _guess(self, event: Append) -> tuple[str, str] | None:
        if event.state is None or event.state.namespace is not None or not self._says(event):
            return None
        return "namespace", guessed("issuer", issuer=repr(NAME))

    def _write_append(self, event: Append, index: int | None) -> Pieces:
        if index is None or self._kind not in GROWS:
            return [Written(None, [event])]
        return self._fragment(event, index, self._kind, begun=self._begun)

    def _fragment(self, event: Append, index: int, kind: str, *, begun: bool) -> list[Written]:
        """One fragment; a state that the format can say follows it, and repeats what the carry of the text says."""
        state = event.state if kind == "thinking" and self._says(event) else None
        type_, key = GROWS[kind]
        unit = delta_unit(index, type_, key, event.data)
        if state is None:
            plain = kind == "thinking" and not begun and event.data == REDACTED and self.residue(event) is None
            return [named(unit, [event], made_up=plain)]
        signature = delta_unit(index, "signature_delta", "signature", state.values["signature"])
        if event.data == "":
            return [named(signature, [event], guess=self._guess(event))]
        again = named(signature, [Foreign(NAME, signature, SYNTHETIC)], made_up=True)
        return [named(unit, [event], later=("state",), guess=self._guess(event)), again]

    def _write_annotate(self, event: Annotate, index: int | None) -> Pieces:
        # a refusal is a text block here
        if event.namespace != NAME or index is None or not self._open or self._kind != "text":
            return [Written(None, [event])]
        return [named(delta_unit(index, "citations_delta", "citation", event.data), [event])]

    def _write_close(self, event: Close | Handover, index: int | None) -> Pieces:
        if index is None:
            return [Written(None, [event])]
        unit = stop_unit(index)
        if self._open and self._is_half():
            # by itself the unit leaves open whether the call was cut: that it is over is in the carry
            return [named(unit, [Foreign(NAME, unit, SYNTHETIC), event], made_up=True)]
        return [named(unit, [event])]

    def _write_handover(self, event: Handover, index: int | None) -> Pieces:
        if (index is not None or self._pending) and self._kind == "tool_call" and self._head.kind == "tool_call":
            # a call that a handover breaks off is none, and its end would make it one that can be run
            what, raw = f"the call {self._head.name!r} broke off at a handover", str(self._grown.join())
            raise ToolArgumentsError(
                what, name=self._head.name or "", id=self._head.id or "", raw=raw, position=len(raw)
            )
        return self._write_close(event, index)

    def _write_resolved(self, events: Sequence[Event]) -> Pieces:
        """The ``Close`` of a call that came home with the unit after its own, which says if it was cut."""
        at = next((i for i, event in enumerate(events) if i and self._resolves(event)), 0)
        pieces = self.write(events[at:]) if at else None
        if not pieces:
            return None
        first, *others = pieces
        waiting = events[:at]
        if first.made_up:
            # so was what it said the last time
            return [first._replace(meant=[each for each in waiting if not is_synthetic(each, NAME)]), *others]
        return [first._replace(meant=[*waiting, *first.meant]), *others]

    def _resolves(self, event: Event) -> bool:
        if type(event) is Open:
            return self.codec.sayable(event)
        block = type(event) is Foreign and event.codec == NAME and event.unit.get("type") == "content_block_start"
        return block or type(event) in (Finish, Failure)

    # ---- notes

    def _write_foreign(self, event: Foreign, index: int | None) -> Pieces:
        if event.codec != NAME:
            return [Written(None, [event])]
        kind = event.unit.get("type")
        made_up = is_synthetic(event, NAME)
        return [Written(event.unit, [event], kind if isinstance(kind, str) else None, made_up)]

    def _write_ping(self, event: Ping, index: int | None) -> Pieces:
        return [named({"type": "ping"}, [event]) if self.residue(event) is not None else Written(None, [event])]

    _writers: ClassVar[dict[type[Event], Callable[[Any, Any, int | None], Pieces]]] = {
        Append: _write_append,
        Open: _write_open,
        Close: _write_close,
        Start: _write_start,
        Usage: _write_usage,
        Annotate: _write_annotate,
        Finish: _write_finish,
        Failure: _write_failure,
        Handover: _write_handover,
        Foreign: _write_foreign,
        Ping: _write_ping,
    }


def named(
    unit: JsonObject,
    meant: Sequence[Event],
    *,
    made_up: bool = False,
    later: Sequence[str] = (),
    guess: tuple[str, str] | None = None,
) -> Written:
    """A unit under its own name."""
    return Written(unit, meant, unit["type"], made_up, later, guess)
