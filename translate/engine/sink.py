"""The half of a translation behind the events: what an encoder says becomes output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .. import jsontext
from ..algebra.events import Event, JsonObject, Open
from ..carry.losses import Finding, LossPolicy, losses
from ..carry.making import compose
from ..codec import Codec, Encoder, Options
from ..errors import LimitExceeded, LossError
from ..shapes import Writer
from .forms import Form, Run
from .hot import HotWriter


class UnitSink:
    """Where an encoder puts its units: adds the carry or not, notes and refuses losses, lays the units out."""

    def __init__(self, codec: Codec, writer: Writer, options: Options, loss: LossPolicy) -> None:
        self._codec = codec
        self._name = codec.name
        self._writer = writer
        self._options = options
        self._loss = loss
        self._weigh = loss != "drop" or options.report is not None
        self._first = True
        self._unsayable = False
        self._waiting = 0
        plain = (options.report is None or not options.report.incidental) and loss != "raise"
        framing = writer.framing if plain else None
        self._hot = HotWriter(framing, loss == "carry", options.clock) if framing is not None else None
        self.out: list[Any] = []
        self.units = 0
        """Units that were written."""

    @property
    def pending(self) -> list[JsonObject]:
        """Carries that wait for a unit to ride on."""
        return self._writer.pending

    def put(
        self,
        unit: JsonObject | None,
        name: str | None,
        said: Sequence[Event],
        meant: Sequence[Event],
        *,
        made_up: bool = False,
        later: Iterable[str] = (),
    ) -> None:
        """See :meth:`translate.codec.Sink.put`."""
        carry: JsonObject | None = None
        if self._weigh:
            carry = compose(said, meant, self._name, made_up=made_up)
            for event in meant:
                if type(event) is Open:
                    self._unsayable = not self._codec.sayable(event)
            if carry:
                self._note(carry, later)
                if self._loss != "carry":
                    carry = None
                elif self._first:
                    carry = {"v": 1, **carry}
                    self._first = False
        self._writer.write(unit, name, carry, self.out)
        if unit is not None:
            self.units += 1
            self._waiting = 0
        elif carry and self._writer.pending:
            # together they will be one carry
            self._waiting += len(jsontext.dumps_strict(carry))
            if self._waiting > self._options.limits.carry:
                raise LimitExceeded("carry", self._options.limits.carry)

    def _note(self, carry: JsonObject, later: Iterable[str]) -> None:
        options = self._options
        if options.report is None and self._loss != "raise":
            return
        for field, reason, content in losses(carry, self._name, unsayable=self._unsayable, later=later):
            if options.report is not None and (content or options.report.incidental):
                options.report.add("losses", Finding(options.unit, field, reason, content, self._loss == "carry"))
            if content and self._loss == "raise":
                raise LossError(f"{reason}, and loss='raise'", field=field)

    def run(self, encoder: Encoder, run: Run) -> Form | None:
        """Write hot units; the form they are written in, ``None`` where they have to be written one by one."""
        unit = encoder.hot()
        if unit is None or self._hot is None or self._writer.pending:
            return None
        form = self._hot.form(unit, run, first=self._first)
        if form is not None:
            self.out.append(self._hot.write(form, run))
            self.units += len(run.texts)
            encoder.grow(run.text)
        return form

    def native(self, unit: JsonObject, name: str | None = None) -> None:
        """One unit that says all that is meant."""
        self.units += 1
        self._writer.write(unit, name, None, self.out)

    def ping(self) -> None:
        """A keep-alive."""
        self._writer.ping(self.out)

    def end(self) -> None:
        """After the terminal unit."""
        self._writer.end(self.out)
