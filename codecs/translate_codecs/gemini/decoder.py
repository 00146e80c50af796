"""Gemini read: what its chunks say, and what is known of a stream so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    TokenCounts,
    Usage,
)
from translate.algebra.serial import said_before
from translate.algebra.usage import latest
from translate.carry.expecting import Canonical
from translate.carry.reasons import repaired
from translate.carry.repeats import VALUES
from translate.carry.usual import Usual
from translate.codec import JOINED, Codec, Decoder, Mended, Options
from translate.errors import GrammarError, TranslateError

from .steps import Known, Stem, Step
from .units import USAGE, Units
from .words import NAME, numbers, usage_grown

ENDED = "ended"


class GeminiDecoder(Decoder):
    """Reads chunks."""

    def __init__(self, codec: Codec, options: Options) -> None:
        super().__init__(codec, options)
        self._known = Known()
        self._units = Units(options)
        self._stem = Stem(options)
        self._ended = self._failed = False
        self._last = _Last()

    @property
    def state(self) -> str:
        if self._ended:
            return ENDED
        known = self._known
        if known.call is not None:
            return "in a call that goes on"
        return f"in a part of kind {known.kind!r}" if known.kind else "between parts"

    # ---- reading

    def _look(self, unit: JsonObject, name: str | None = None) -> Step:
        """What a unit says here; the last one that was looked at is known."""
        step = self._last.step
        if step is None or step.unit is not unit:
            step = self._last.step = Step(self._known, unit, name, self.options, self._stem)
        return step

    def read(self, unit: JsonObject, name: str | None) -> list[Event]:
        self._last.step = None
        return list(self._look(unit, name).said)

    def canonical(self, step: Step) -> Canonical:
        """The unit that would be written for what a unit says; until the stream goes on, it is the same."""
        if step.canonical is None:
            step.canonical = self._units.write(step.said, step.parts, home=True)
        return step.canonical

    def take(self, unit: JsonObject | None, meant: Sequence[Event]) -> None:
        known = self._known
        if unit is None and all(type(event) in (Usage, Annotate, Ping) for event in meant):
            # notes that no unit says change nothing here
            return
        if unit is not None:
            step = self._look(unit)
            self._units.steady = None
            if type(step.said[-1]) is not Foreign:
                self._units.take(step, self.canonical(step))
            step.take()
        self._last.clear()
        for event in meant:
            self._units.follow(event)
            if type(event) is Finish or type(event) is Failure:
                self._ended, self._failed = True, type(event) is Failure
        last = next((event for event in reversed(meant) if type(event) in (Open, Close, Handover)), None)
        if type(last) in (Close, Handover) or (unit is None and type(last) is Open):
            # what is open now is none of the format's parts
            known.kind, known.call = "", None

    def mend(self, unit: JsonObject, name: str | None, error: TranslateError) -> Mended | None:
        known = self._known
        if known.call is None or not isinstance(error, GrammarError):
            return None
        rest = known.call.plan().close()
        ahead: list[Event] = [*([Append(rest)] if rest else []), Close()]
        what = repaired("missing", unit="call's end", next="unit of another part", state=self.state)
        return Mended("call", what, unit, name, ahead)

    # ---- the short way; for a run, an empty text would have to be a fragment, and here it is none

    def _usual(self) -> Usual | None:
        """The unit of a plain fragment of the open part, if such are usual now."""
        last, units = self._last, self._units
        if last.usual is None and units.steady is not None:
            if self._known.kind == units.steady[0] and self._known.call is None:
                last.usual = units.usual(units.steady)
            # not to look twice
            units.steady = None
        return last.usual

    def plain(self, unit: JsonObject, name: str | None) -> list[Event] | None:
        usual = self._last.usual or self._usual()
        found = usual.read(unit) if usual is not None and name is None else None
        if usual is None or found is None or not found[0]:
            return None
        text, moved = found
        residue: JsonObject = {} if moved is None else {VALUES: moved}
        said: list[Event] = [Append(text)]
        if usual.is_free:
            changed = self._counted(unit[USAGE])
            if changed is None:
                return None
            said.append(changed)
            residue[JOINED] = 2
        if moved is not None:
            usual.move(moved)
        if residue:
            said[0].residue = {NAME: residue}
        return said

    def _counted(self, usage: Any) -> Usage | None:
        """The counts that a unit changes, if it says them as is expected; then they are taken."""
        known, units = self._known, self._units
        if type(usage) is not dict or units.usage is None or known.counts is None:
            return None
        found = usage_grown(usage, units.usage, known.counts)
        if found is None or not any(count is not None for count in numbers(found[1])):
            return None
        after, changed = found
        known.counts = after
        units.count(usage, after)
        self.usage = latest(changed, self.usage)
        return Usage(changed)

    # ---- the end

    def trails(self, unit: JsonObject) -> bool:
        return self._failed

    def close(self, *, marked: bool) -> list[Event]:
        known, end = self._known, self._known.end
        if end is None or known.call is not None:
            return []
        counts = known.counts if known.counts is not None else TokenCounts()
        finish = Finish(counts, end, {NAME: {}})
        return [said_before(Close(), NAME), finish] if known.kind else [finish]


class _Last:
    """The last unit that was looked at, and the usual one: no knowledge, only not to look twice."""

    __slots__ = ("step", "usual")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """The stream goes on."""
        self.step: Step | None = None
        self.usual: Usual | None = None
