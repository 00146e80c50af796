"""Both sides of a conversion as one JSON-able object, for whatever draws it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from .. import __version__, jsontext
from ..algebra.events import (
    NAMES,
    Close,
    Event,
    Failure,
    Handover,
    JsonObject,
    Open,
    Ping,
    Start,
    made_up_by_another,
)
from ..carry.losses import Finding, LossPolicy, Report
from ..codec import Codec
from ..engine.options import ModelOption, now
from ..engine.trace import SourceUnit, TargetUnit, Trace
from ..engine.translator import Translator
from ..errors import TranslateError
from ..limits import Limits
from ..recognise import hint
from ..registry import codec
from .fate import fate
from .message import message
from .places import folds
from .words import json_text, shortened, words


def view(
    stream: bytes,
    src: str,
    dst: str,
    *,
    loss: LossPolicy = "carry",
    strict: bool = True,
    model: ModelOption | None = None,
    clock: Callable[[], int] | None = None,
    limits: Limits | None = None,
    file: str | None = None,
) -> JsonObject:
    """What became of ``stream``: its units, those of the target, and which came from which; ``docs/inspect.md``.

    Options as for :func:`translate.convert`; ``file``: what the stream is called. A stream that is broken is shown up
    to there, and as far as it goes the target ends as with ``errors="encode"``; the error is the member ``"error"``.
    Raises :class:`UnknownFormat`.
    """
    seen = viewed(stream, src, dst, loss=loss, strict=strict, model=model, clock=clock, limits=limits)[0]
    seen["about"]["file"] = file
    return seen


def viewed(stream: bytes, src: str, dst: str, **options: Any) -> tuple[JsonObject, list[Any], TranslateError | None]:
    """The :func:`view`, the output as it was given out, and the error that no output could tell."""
    trace, report = Trace(), Report()
    machine = Translator(src, dst, errors="encode", report=report, trace=trace, **options)
    out, error = fed(machine, [stream])
    met = machine.failure or error
    if isinstance(met, TranslateError):
        hint(met, stream)
    seen = _View(trace, report, codec(src), codec(dst), met).drawn(src, dst)
    clock = options.get("clock") or now
    seen["about"] = {
        "file": None,
        "model": seen["message"]["source"]["model"],
        "loss": options.get("loss", "carry"),
        "strict": options.get("strict", True),
        "version": __version__,
        "time": clock(),
    }
    return seen, out, error


def fed(
    machine: Translator, chunks: Iterable[bytes], after: Callable[[int], None] = lambda index: None
) -> tuple[list[Any], TranslateError | None]:
    """The output of a machine, and the error that ended it where one did; ``after`` is called after each chunk."""
    out: list[Any] = []
    try:
        for index, chunk in enumerate(chunks):
            out += machine.feed(chunk)
            after(index)
        out += machine.close()
    except TranslateError as error:
        return out, error
    return out, None


class _View:
    def __init__(self, trace: Trace, report: Report, src: Codec, dst: Codec, error: Exception | None) -> None:
        self._trace = trace
        self._report = report
        self._src = src
        self._dst = dst
        self._error = error
        self._to: list[list[int]] = [[] for _ in trace.sources]
        self._merged: set[int] = set()
        self._native: set[int] = set()
        for i, unit in enumerate(trace.targets):
            native = set(unit.sources) - set(unit.carried)
            self._native |= native
            self._merged |= native if len(native) > 1 else set()
            for index in unit.sources:
                self._to[index].append(i)
        self._parts: list[JsonObject] = []
        self._part_of: dict[int, int] = {}
        self._find_parts()

    def drawn(self, src: str, dst: str) -> JsonObject:
        findings = {name: [self._finding(found) for found in getattr(self._report, name)] for name in _FINDINGS}
        lost = {found["unit"] for found in findings["losses"] if found["content"] and not found["carried"]}
        seen: JsonObject = {
            "source": {"format": src, "units": [self._source(unit, lost) for unit in self._trace.sources]},
            "target": {"format": dst, "units": [self._target(i, u) for i, u in enumerate(self._trace.targets)]},
            "parts": self._parts,
            **findings,
            "error": self._error_shown(),
        }
        seen["message"] = {
            "source": message(event for unit in self._trace.sources for event in unit.events),
            "target": message(event for unit in self._trace.targets for event in unit.says),
        }
        return {**seen, "folds": folds(seen), "fate": fate(seen)}

    def _find_parts(self) -> None:
        part: JsonObject | None = None
        for unit in self._trace.sources:
            for event in unit.events:
                if type(event) is Open:
                    span = [unit.index, unit.index]
                    part = {"kind": event.kind, "source": span, "target": None, "native": False}
                    self._parts.append(part)
                if type(event) is Failure:
                    # it ends the part, and is none of it
                    part = None
                if part is not None:
                    self._part_of[id(event)] = len(self._parts) - 1
                    part["source"][1] = unit.index
                if type(event) in (Close, Handover):
                    part = None
        for i, target in enumerate(self._trace.targets):
            for event in target.means if target.unit is None else target.native:
                at = self._part_of.get(id(event))
                if at is not None:
                    part = self._parts[at]
                    part["target"] = [part["target"][0] if part["target"] else i, i]
                    part["native"] |= target.unit is not None

    def _source(self, unit: SourceUnit, lost: set[int | None]) -> JsonObject:
        return {
            "index": unit.index,
            "kind": self._kind(self._src, unit.unit, unit.name, unit.events) or _bare(unit),
            "label": words(unit.events) or ("" if unit.unit is not None else shortened(_text(unit.data))),
            "time": self._src.time(unit.unit) if unit.unit is not None else None,
            "part": self._part(unit.events),
            "raw": _text(unit.data),
            "to": self._to[unit.index],
            "failed": _fails(unit.events),
            "marks": self._source_marks(unit, lost),
        }

    def _source_marks(self, unit: SourceUnit, lost: set[int | None]) -> list[str]:
        to, index = self._to[unit.index], unit.index
        silent = not to and (bool(unit.events) or self._error is None)
        broken_off = self._error is not None and any(self._needs_saying(event) for event in unit.events)
        unsaid = silent and (unit.dropped is not None or broken_off)
        found = {
            "held": unit.said is not None and unit.said > index,
            "merged": index in self._merged,
            "lost": index in lost or unsaid,
            "carried": bool(to) and index not in self._native,
            "silent": silent and not unsaid,
        }
        return [mark for mark, holds in found.items() if holds]

    def _needs_saying(self, event: Event) -> bool:
        return type(event) is not Ping and not (type(event) is Start and made_up_by_another(event, self._dst.name))

    def _target(self, index: int, unit: TargetUnit) -> JsonObject:
        kind = self._kind(self._dst, unit.unit, unit.name, unit.says) if unit.unit is not None else "carry"
        native = len(unit.sources) - len(unit.carried)
        filled = [] if unit.made_up or unit.unit is None else _filled_in(unit.says, unit.means)
        label = words(unit.says if unit.unit is not None else unit.means)
        found = {
            "made up": unit.made_up,
            "filled in": bool(filled),
            "merged": native > 1,
            "carry": unit.unit is None,
            "restored": any(self._restores(self._trace.sources[at]) for at in unit.sources),
        }
        return {
            "index": index,
            "kind": kind,
            "label": shortened(f"{label} (made up: {', '.join(filled)})") if filled else label,
            "time": self._dst.time(unit.unit) if unit.unit is not None else None,
            "part": self._part(unit.means),
            "raw": json_text(unit.unit) if unit.unit is not None else "",
            "from": list(unit.sources),
            "failed": _fails(unit.says),
            "carried": list(unit.carried),
            "marks": [mark for mark, holds in found.items() if holds],
            "carry": jsontext.dumps_strict(unit.carry).decode() if unit.carry else None,
        }

    def _restores(self, unit: SourceUnit) -> bool:
        """Whether a unit's carries hold words of the target: events, or what its own codec said otherwise."""
        return any("events" in carry or "before" in carry or _has_patch(carry, self._dst) for carry in unit.carries)

    def _part(self, events: list[Event] | tuple[Event, ...]) -> int | None:
        found = [self._part_of[id(event)] for event in events if id(event) in self._part_of]
        return found[-1] if found else None

    def _kind(self, of: Codec, unit: JsonObject | None, name: str | None, events: Any) -> str:
        if unit is None:
            return ""
        return of.kind(unit) or name or " ".join(NAMES[type(event)] for event in events) or "unit"

    def _finding(self, finding: Finding) -> JsonObject:
        return {**finding.members(), "unit": self._index(finding.unit)}

    def _index(self, unit: int | None) -> int | None:
        """The index of a unit that is there."""
        return unit if unit is not None and 0 <= unit < len(self._trace.sources) else None

    def _error_shown(self) -> JsonObject | None:
        error = self._error
        if error is None:
            return None
        if not isinstance(error, TranslateError):
            return {"type": type(error).__name__, "message": str(error), "unit": None, "offset": None}
        message = f"{error.what}; expected {error.expected}" if error.expected else error.what
        message += f"; the input looks like {error.looks_like}" if error.looks_like else ""
        # what the target refuses is of the unit at work
        at = self._index(error.unit if error.unit is not None else len(self._trace.sources) - 1)
        return {"type": type(error).__name__, "message": message, "unit": at, "offset": error.offset}


_FINDINGS = ("losses", "guesses", "repairs")


def _bare(unit: SourceUnit) -> str:
    """What is called a unit that has no native part."""
    if unit.data is not None:
        return "broken"
    return "carry" if unit.carries else "ping"


def _fails(events: Iterable[Event]) -> bool:
    return any(type(event) is Failure for event in events)


def _filled_in(says: Iterable[Event], means: Sequence[Event]) -> list[str]:
    """The members that events have on the wire though nobody said them, as counts that a format must have."""
    meant: dict[type, list[Event]] = {}
    for event in means:
        meant.setdefault(type(event), []).append(event)
    pairs = ((event, meant[type(event)].pop(0)) for event in says if meant.get(type(event)))
    return [name for said, event in pairs for name in _invented(said, event)]


def _invented(said: Any, meant: Any) -> Iterator[str]:
    for field in fields(said):
        ours, theirs = getattr(said, field.name), getattr(meant, field.name)
        if theirs is None and ours not in (None, ""):
            yield field.name
        elif is_dataclass(ours) and type(ours) is type(theirs):
            yield from _invented(ours, theirs)


def _has_patch(carry: JsonObject, codec: Codec) -> bool:
    column = carry.get(codec.name)
    residues = column if isinstance(column, list) else [column]
    return any(isinstance(residue, dict) and "patch" in residue for residue in residues)


def _text(data: Any) -> str:
    if isinstance(data, dict):
        return json_text(data)
    return bytes(data).decode("utf-8", "replace") if data is not None else ""
