"""The last step of a translation: a unit gets its carry, losses are noted, and it is laid out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from .. import jsontext
from ..algebra.events import Event, JsonObject, Open
from ..carry.losses import Finding, LossPolicy, losses
from ..carry.making import compose, compose_plain
from ..codec import Codec, Decoder, Encoder, Options, Said
from ..errors import LimitExceeded, LossError
from ..registry import content_in, is_content
from ..shapes import LONG, Writer, laid
from .run_writer import RunWriter
from .runs import Run


class Ending(NamedTuple):
    """An end that no unit says: what the format makes of it, and what it stands for."""

    said: Sequence[Event]
    meant: Sequence[Event]
    made_up: bool


_MADE_UP: Final = b'{"synthetic":true}'
"""The carry of a unit to which its codec alone has added something."""


class UnitSink:
    """Where units go: adds the carry or not, notes and refuses losses, lays the units out."""

    def __init__(self, codec: Codec, writer: Writer, options: Options, loss: LossPolicy) -> None:
        self._codec = codec
        self._name = codec.name
        self._writer = writer
        self._options = options
        self._loss = loss
        self.weighs = loss != "drop" or options.report is not None
        """Whether it matters what a unit does not say."""
        self._noting = loss == "raise" or options.report is not None
        self._first = loss == "carry"
        self._unsayable = False
        self._waiting = 0
        self._framing = framing = writer.framing
        plain = (options.report is None or not options.report.incidental) and loss != "raise"
        together = plain and framing is not None
        self._runs = RunWriter(framing, loss == "carry", options.clock) if together and framing else None
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
        end: Ending | None = None,
    ) -> None:
        """One unit, ``None`` for a carry alone, that says ``said`` and stands for ``meant``; see ``codec.Written``.

        ``end``: what the end of the stream says and means, if it follows.
        """
        carry: JsonObject | None = None
        if self.weighs:
            carry = compose(said, meant, self._name, made_up=made_up) if said or meant else {}
            if end is not None and (ending := compose(end.said, end.meant, self._name, made_up=end.made_up)):
                carry["end"] = ending
            for event in meant:
                if type(event) is Open:
                    self._unsayable = not self._codec.sayable(event)
            if carry:
                carry = self._weighed(carry, later)
        if unit is not None and not self._writer.joined:
            # it belongs to whoever gets it, and may hold what events hold
            unit = jsontext.copied(unit)
        self._write(unit, name, carry)

    def plain(self, said: Said, events: Sequence[Event]) -> None:
        """A unit that says exactly ``events``, residues apart."""
        unit, name, made_up = said
        framing, carry, text = self._framing, None, None
        if self.weighs:
            if type(events[0]) is Open:
                self._unsayable = False
            usual = not (self._noting or self._first or framing is None)
            if usual and len(events) == 1 and events[0].residue is None:
                text = _MADE_UP if made_up else None
            else:
                carry = compose_plain(events, self._name, made_up=made_up)
                if carry is not None:
                    carry = carry if usual else self._weighed(carry, ())
        if framing is None or self._writer.pending:
            self._write(unit, name, {"synthetic": True} if text else carry)
            return
        self.units += 1
        if carry is not None:
            text = jsontext.dumps_strict(carry)
        body = jsontext.dumps_plain(unit)
        whole = framing(body, name, text) if len(body) <= LONG else laid(framing, unit, name, text, body)
        self.out.append(whole)

    def _weighed(self, carry: JsonObject, later: Iterable[str]) -> JsonObject | None:
        """A carry as it is written, if it is; what it makes good is noted, or refused."""
        if self._noting:
            self._note(carry, later)
            self._note(carry.get("end", {}), later)
        if self._loss != "carry":
            return None
        if self._first:
            self._first = False
            return {"v": 1, **carry}
        return carry

    def _write(self, unit: JsonObject | None, name: str | None, carry: JsonObject | None) -> None:
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
        found = losses(
            carry, self._name, unsayable=self._unsayable, later=later, content=content_in, is_content=is_content
        )
        for field, reason, content in found:
            if options.report is not None and (content or options.report.incidental):
                options.report.add("losses", Finding(options.unit, field, reason, content, self._loss == "carry"))
            if content and self._loss == "raise":
                raise LossError(f"{reason}, and loss='raise'", field=field)

    def run(self, encoder: Encoder, run: Run) -> bool:
        """Write plain fragments together; false where they have to be written one by one."""
        hot = encoder.hot()
        if hot is None or self._runs is None or self._writer.pending:
            return False
        written = self._runs.write(hot, run, encoder, first=self._first)
        if written is None:
            return False
        self.out.append(written)
        self.units += len(run.texts)
        if type(encoder).grow is not Decoder.grow:
            encoder.grow(run.text, len(run.texts))
        return True

    def native(self, unit: JsonObject, name: str | None = None) -> None:
        """One unit that says all that is meant."""
        self.units += 1
        self._writer.write(unit, name, None, self.out)

    def ping(self) -> None:
        """A keep-alive."""
        self._writer.ping(self.out)

    def end(self, *, failed: bool) -> None:
        """After the terminal unit; ``failed``: it says a failure."""
        self._writer.end(self.out, failed=failed)
