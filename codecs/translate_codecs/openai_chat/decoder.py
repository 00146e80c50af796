"""Chat Completions read: what its chunks say, and what is known of a stream so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

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
    TokenCounts,
    Usage,
    is_synthetic,
)
from translate.algebra.json_form import same_event
from translate.algebra.serial import Serial, said_before
from translate.carry.expecting import Canonical
from translate.carry.repeats import VALUES
from translate.carry.usual import Usual
from translate.codec import TEXT, Codec, Decoder, Hot, Options
from translate.errors import TranslateError

from .steps import Known, Step
from .units import Units, states_of
from .words import NAME, REASON, read_reason, told

ENDED = "ended"


class ChatDecoder(Decoder):
    """Reads chunks."""

    def __init__(self, codec: Codec, options: Options) -> None:
        super().__init__(codec, options)
        self._known = Known(Serial(NAME, options.limits.part), options.limits.nesting)
        self._units = Units(options)
        self._ended = self._failed = False
        self._last = _Last()

    @property
    def state(self) -> str:
        if self._ended:
            return ENDED
        open = self._known.serial.open
        return "between parts" if open is None else f"in a part of kind {open[0]!r}"

    # ---- reading

    def _look(self, unit: JsonObject, name: str | None = None) -> Step:
        """What a unit says here; the last one that was looked at is known."""
        step = self._last.step
        if step is None or step.unit is not unit:
            step = self._last.step = Step(self._known, unit)
            step.name = name
        return step

    def read(self, unit: JsonObject, name: str | None) -> list[Event]:
        self._last.step = None
        return list(self._look(unit, name).said)

    def canonical(self, step: Step) -> Canonical:
        """The unit that would be written for what a unit says; until the stream goes on, it is the same."""
        if step.canonical is None or step.chunk.error:
            # how an error is written depends on its residue
            step.canonical = self._units.write(step.said, step.chunk.reason)
        return step.canonical

    def take(self, unit: JsonObject | None, meant: Sequence[Event]) -> None:
        known = self._known
        if unit is None and all(type(event) in (Usage, Annotate, Ping) for event in meant):
            # notes that no unit says change nothing here
            return
        native: set[bytes] = set()
        step = self._look(unit) if unit is not None else None
        if unit is not None and step is not None:
            native = {told(state) for state in states_of(step.said)}
            said = step.said
            self._units.steady = False
            if type(said[-1]) is not Foreign and not step.repeats:
                self._units.take(unit, self.canonical(step), first=type(said[0]) is Start, grows=step.grows)
            self._units.count(step.chunk.details)
            step.take()
            if step.chunk.reason:
                known.made_up = any(is_synthetic(event, NAME) for event in meant)
            open = known.serial.open
            self._units.call = None if open is None else known.by_key.get(open)
        self._last.step = self._last.usual = self._last.hot = None
        for event in meant:
            kind = type(event)
            self._units.follow(event)
            if kind is Open:
                known.stated, known.due = set(), []
                if unit is None:
                    # no words: what is open is none of the format's parts
                    known.serial.end()
            elif kind is Append and event.state is not None:  # type: ignore[union-attr]
                words = told(event.state)  # type: ignore[union-attr]
                known.stated.add(words)
                if words not in native:
                    known.due.append(event.state)  # type: ignore[union-attr]
            elif kind is Finish or kind is Failure:
                self._ended, self._failed = True, kind is Failure
        if step is not None and step.chunk.member is not None:
            # thinking may change the member that it comes in
            self._units.field = step.chunk.member
        last = next((event for event in reversed(meant) if type(event) in (Open, Close, Handover)), None)
        if type(last) in (Close, Handover):
            known.serial.end()

    # ---- the short way

    def _usual(self) -> Usual | None:
        """The unit of a plain fragment of the open part, if such are usual now."""
        if self._last.usual is None and self._units.steady:
            known, open = self._known, self._known.serial.open
            if open is not None and open[0] in _GROWS and not known.serial.waits and not self._is_free():
                self._last.usual = self._units.usual(self._grows)
            # not to look twice
            self._units.steady = False
        return self._last.usual

    def _grows(self, unit: JsonObject) -> bool:
        try:
            said = Step(self._known, unit).said
        except TranslateError:
            return False
        return len(said) == 1 and same_event(said[0], Append(TEXT))

    def _is_free(self) -> bool:
        return self._units.call is not None and self._units.call.free

    def hot(self) -> Hot | None:
        usual = self._last.usual or self._usual()
        if usual is not None and usual.only_text and self._last.hot is None:
            self._last.hot = Hot(usual.write(TEXT) or {}, NAME)
        return self._last.hot

    def grow(self, text: str, units: int = 1) -> None:
        if self._units.kind == "tool_call" and self._units.call is not None:
            self._units.call.arguments.add(text)

    def plain(self, unit: JsonObject, name: str | None) -> list[Event] | None:
        if self._last.usual is None and not (self._units.steady and may_grow(unit)):
            return None
        usual = self._usual()
        found = usual.read(unit) if usual is not None and name is None else None
        if usual is None or found is None or not found[0]:
            return None
        text, moved = found
        self.grow(text)
        if moved is None:
            return [Append(text)]
        usual.move(moved)
        return [Append(text, None, {NAME: {VALUES: moved}})]

    # ---- the end

    def trails(self, unit: JsonObject) -> bool:
        return self._failed

    def close(self, *, marked: bool) -> list[Event]:
        known = self._known
        end = Step(known, None)
        if not marked and known.reason is None:
            end.release()
            return [said_before(event, NAME) for event in end.said]
        end.end(cut=False)
        counts = known.counts if known.counts is not None else TokenCounts()
        mark: JsonObject = {"synthetic": True} if known.made_up else {}
        finish = Finish(counts, read_reason(known.reason), {NAME: mark})
        return [*(said_before(event, NAME) for event in end.said), finish]


_GROWS: Final = ("text", "refusal", "thinking", "tool_call")


def may_grow(unit: Any) -> bool:
    """Whether a unit may be a plain fragment, at the first look."""
    choices = unit.get("choices")
    if type(choices) is not list or len(choices) != 1 or type(choices[0]) is not dict:
        return False
    return choices[0].get("finish_reason") is None and bool(choices[0].get("delta"))


class _Last:
    """The last unit that was looked at, and the usual one: no knowledge, only not to look twice."""

    __slots__ = ("hot", "step", "usual")

    def __init__(self) -> None:
        self.step: Step | None = None
        self.usual: Usual | None = None
        self.hot: Hot | None = None


def reason_in(residue: JsonObject | None) -> str | None:
    """The reason that a residue holds."""
    found: Any = residue.get(REASON) if residue else None
    return found if type(found) is str and found else None
