"""Gemini read: what its chunks say, and what is known of a stream so far."""

from __future__ import annotations

from collections.abc import Sequence

from translate.algebra.events import (
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Foreign,
    Handover,
    JsonObject,
    Open,
    TokenCounts,
)
from translate.algebra.serial import said_before
from translate.carry.expecting import Canonical
from translate.carry.reasons import repaired
from translate.codec import Codec, Decoder, Mended, Options
from translate.errors import GrammarError, TranslateError

from .steps import Known, Stem, Step
from .units import Units
from .words import NAME

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
        """The unit that would be written for what a unit says."""
        return self._units.write(step.said, step.parts, home=True)

    def take(self, unit: JsonObject | None, meant: Sequence[Event]) -> None:
        known = self._known
        if unit is not None:
            step = self._look(unit)
            self._units.steady = False
            if type(step.said[-1]) is not Foreign:
                self._units.take(step, self.canonical(step))
            step.take()
        self._last.step = None
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
    """The last unit that was looked at: no knowledge, only not to look twice."""

    __slots__ = ("step",)

    def __init__(self) -> None:
        self.step: Step | None = None
