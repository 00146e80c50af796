"""The check of a stream: each unit by its model, all by the grammar, and what readers tolerate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from .. import jsontext
from ..algebra.events import Event, JsonObject
from ..algebra.json_form import to_json
from ..carry.losses import Finding, Report
from ..errors import TranslateError, TruncatedStream
from ..limits import Limits
from ..registry import resolve
from ..shapes import Chunk, Cursor, Frame, Framing, Reader, Shape
from .options import make_options
from .source import Source
from .translator import Machine

_OF_A_UNIT = frozenset({"before", "member"})
"""Members of a carry that speak of the unit it rides on."""


@dataclass(frozen=True, slots=True)
class Fault(Finding):
    """One thing that is wrong with a stream. ``tolerated``: whether strict readers read on all the same."""

    tolerated: bool = False


class Checker(Machine):
    """Reads a stream strictly, and has every unit looked at by its model on the way. ``findings``: what is wrong."""

    def __init__(self, format: str, limits: Limits | None) -> None:
        codec, shape = resolve(format)
        self.findings: list[Fault] = []
        self._report = Report(incidental=False)
        self._model = codec.models().get("unit")
        # an end marker that is never written is none that could be missing
        self._marked = getattr(shape, "done", None) is not None and getattr(shape, "writes_done", "") == "always"
        self._shape = _Watched(shape, self._alone)
        options = make_options(limits=limits, report=self._report)
        self._source = Source(codec, self._shape, format, options, _unused, _unused, watch=self._look)
        super().__init__(joined=False)

    def _look(self, index: int, unit: JsonObject) -> None:
        if self._model is None:
            return
        from pydantic import ValidationError

        event = unit.get("event")
        try:
            # an event that is an object is looked at in its JSON form
            self._model.model_validate(jsontext.to_strict(to_json(event)) if isinstance(event, Event) else unit)
        except ValidationError as error:
            for found in error.errors(include_url=False, include_input=False):
                self._find(index, ".".join(map(str, found["loc"])), found["msg"])

    def _alone(self, frame: Frame) -> None:
        for text in frame.carries:
            try:
                carry = jsontext.loads(text)
            except TranslateError:
                continue
            for name in sorted(_OF_A_UNIT.intersection(carry) if isinstance(carry, dict) else ()):
                self._find(self._source.units, f"carry.{name}", "a carry without a unit speaks of one")

    def _find(self, unit: int | None, field: str, reason: str) -> None:
        if len(self.findings) < self._report.limit:
            self.findings.append(Fault(unit, field, reason, content=True, tolerated=True))

    @property
    def ended(self) -> bool:
        """Whether the terminal unit was read."""
        return self._source.ended

    def _read(self, data: Any, out: list[Any]) -> None:
        self._source.feed(data)

    def _end(self, out: list[Any]) -> None:
        self._source.close()
        for repair in self._report.repairs:
            self._find(repair.unit, repair.field, repair.reason)
        if self._marked and not self._shape.ended:
            self._find(None, "end of input", "the end marker is missing")

    def _meet(self, error: Exception, out: list[Any]) -> Exception | None:
        if not isinstance(error, TranslateError):
            return error
        if not isinstance(error, TruncatedStream):
            self.findings = [replace(found, tolerated=found.unit != error.unit) for found in self.findings]
        self.findings.append(Fault(error.unit, type(error).__name__, str(error), content=True))
        return None


def _unused(_: object) -> None:
    """What is read is of no use."""


class _Watched:
    """A shape, and the one reader of it, which shows each frame that holds carries but no unit."""

    objects = False

    def __init__(self, shape: Shape, alone: Callable[[Frame], None]) -> None:
        self._shape = shape
        self._alone = alone
        self.media_types = shape.media_types
        self.writer = shape.writer

    def reader(self, limits: Limits, strict: bool) -> Reader:
        self._reader = self._shape.reader(limits, strict)
        return self

    @property
    def cursor(self) -> Cursor:
        return self._reader.cursor

    @property
    def framing(self) -> Framing | None:
        return self._reader.framing

    @property
    def ended(self) -> bool:
        return self._reader.ended

    def one(self, chunk: Chunk) -> Frame | None:
        """All is fed."""
        return None

    def passes(self, size: int) -> bool:
        """All is fed."""
        return False

    def feed(self, chunk: Chunk) -> Iterator[Frame]:
        return self._shown(self._reader.feed(chunk))

    def close(self) -> Iterator[Frame]:
        return self._shown(self._reader.close())

    def _shown(self, frames: Iterator[Frame]) -> Iterator[Frame]:
        for frame in frames:
            if frame.data is None and frame.carries:
                self._alone(frame)
            yield frame
