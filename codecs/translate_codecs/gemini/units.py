"""The chunk that is written for events, and the one that is expected where a stream has repeated itself."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, Final

from translate import jsontext
from translate.algebra.calls import parse_arguments
from translate.algebra.events import (
    Annotate,
    Append,
    Close,
    Event,
    Failure,
    JsonObject,
    Open,
    Start,
    TokenCounts,
    Usage,
)
from translate.algebra.parts import Growth
from translate.algebra.serial import was_said
from translate.algebra.usage import latest
from translate.carry.expecting import Canonical
from translate.carry.repeats import Repeats
from translate.carry.usual import Usual, stands_in
from translate.codec import TEXT, Options
from translate.errors import TranslateError

from .steps import Step
from .words import (
    CODE,
    ISSUER,
    NAME,
    NOTES,
    OCTETS,
    PARTS,
    error_unit,
    is_audio,
    is_made,
    signature_of,
    usage_words,
)


class Units:
    """Writes the units of one stream, and knows what they repeat."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.head = Open("text")
        """What opened the open part, or the last one."""
        self.repeats = Repeats(options.limits.nesting)
        self.counts: TokenCounts | None = None
        """All counts that chunks said so far."""
        self.steady: tuple[str, ...] | None = None
        """The form of the last unit, if it was a fragment of the open part, and the next may well be as expected."""
        self.publisher: str | None = options.model.publisher
        self.usage: JsonObject | None = None
        """The ``usageMetadata`` of the last unit that had one."""
        self._top: JsonObject | None = None
        self._candidate: JsonObject = {"index": 0}
        self._content: JsonObject = {"role": "model"}

    def chunk(self, parts: list[JsonObject], **members: Any) -> JsonObject:
        """A chunk with these parts; ``members`` are the candidate's."""
        top = self._top if self._top is not None else self.first(Start())
        content = {"parts": parts, **self._content}
        usage = {} if self.usage is None else {USAGE: self.usage}
        return {"candidates": [{"content": content, **self._candidate, **members}], **usage, **top}

    def first(self, start: Start) -> JsonObject:
        """What all chunks of a stream have that ``start`` opens."""
        known = {"modelVersion": start.model.name or self.options.model.name, "responseId": start.id}
        return {name: value for name, value in known.items() if value}

    def write(self, events: Sequence[Event], own: JsonObject | None, *, home: bool) -> Canonical:
        """The one unit of these events, but for those that were said before.

        ``own``: the residue of the first; ``home``: whether they came from here.
        """
        return _Writing(self, events, own or {}, home).canonical()

    # ---- what is known

    def take(self, step: Step, canonical: Canonical) -> None:
        """Go on behind a unit that was read or written."""
        unit = step.unit
        if step.starts:
            candidate: JsonObject = next(iter(unit.get("candidates") or ()), {})
            self._top = jsontext.copied({k: v for k, v in unit.items() if k not in _PER_UNIT})
            if candidate:
                content = candidate.get("content") or {}
                self._candidate = jsontext.copied({k: v for k, v in candidate.items() if k not in _PER_CANDIDATE})
                self._content = jsontext.copied({k: v for k, v in content.items() if k != "parts"})
        elif canonical.form:
            steady = self.repeats.take(canonical.form, canonical.unit, unit, canonical.says)
            self.steady = canonical.form if steady and step.grows and canonical.form in FRAGMENTS else None
        if isinstance(unit.get(USAGE), dict):
            self.usage = jsontext.copied(unit[USAGE])
        self.counts = step.counts

    def usual(self, form: tuple[str, ...]) -> Usual | None:
        """The unit of a plain fragment of the open part that has this form; its ``usageMetadata`` is free in some."""
        counted = form[-1] == "usage"
        said: list[Event] = [Append(TEXT), Usage(TokenCounts())] if counted else [Append(TEXT)]
        canonical = self.write(said, None, home=True)
        unit = self.repeats.expected(form, canonical.unit, canonical.says)
        moving = self.repeats.slots(form)
        if canonical.form != form or moving is None or not all(_is_idle(slot.path) for slot in moving):
            return None
        if self.repeats.changes(form, USAGE) or not stands_in(TEXT, canonical.unit, unit):
            return None
        try:
            return Usual(unit, TEXT, moving, USAGE if counted else None)
        except ValueError:
            return None

    def count(self, usage: JsonObject, counts: TokenCounts) -> None:
        """Go on behind a unit whose ``usageMetadata`` differs in counts alone, which make these."""
        self.usage = {**(self.usage or {}), **{name: value for name, value in usage.items() if type(value) is int}}
        self.counts = counts

    def follow(self, event: Event) -> None:
        """Go on behind an event that is meant."""
        if type(event) is Open:
            self.head = event
        elif type(event) is Start:
            self.publisher = event.model.publisher or event.model.provider or self.options.model.publisher


USAGE: Final = "usageMetadata"
FRAGMENTS: Final = tuple((kind, *more) for kind in ("text", "thinking") for more in ((), ("usage",)))
"""The forms of units that say a fragment."""
_PER_UNIT: Final = ("candidates", USAGE, "error", "promptFeedback")
_PER_CANDIDATE: Final = ("content", "finishReason", "finishMessage", *NOTES)


def _is_idle(path: Sequence[Any]) -> bool:
    """Whether what stands at a path means nothing behind the first unit, whatever it is."""
    if path[:2] == ["candidates", 0] and len(path) > len(("candidates", 0)):
        return path[2] not in ("content", "index", "finishReason", *NOTES)
    return path[0] not in ("candidates", USAGE, "error", "promptFeedback", "responseId")


class _Writing:
    """One unit in the making."""

    def __init__(self, units: Units, events: Sequence[Event], own: JsonObject, home: bool) -> None:
        self._units = units
        self._home = home
        self._head = units.head
        self._grown = Growth()
        self._state: str | None = None
        self._parts: list[JsonObject] = []
        self._members: JsonObject = {}
        self._usage: JsonObject | None = None
        self._beside: JsonObject = {}
        self._top: JsonObject | None = None
        self._form: list[str] = []
        self._says: list[str] = []
        parts = own.get(PARTS)
        self._given: list[JsonObject] | None = parts if isinstance(parts, list) else None
        if self._given is not None:
            self._form.append(PARTS)
        for event in events:
            self._add(event)

    def canonical(self) -> Canonical:
        """The unit."""
        if self._beside and not self._form:
            return Canonical(self._beside, (), [])
        parts = self._parts if self._given is None else self._given
        unit = self._units.chunk(parts or [{"text": ""}], **self._members)
        if self._top is not None:
            unit |= self._top
        if self._usage is not None:
            unit[USAGE] = self._usage
        return Canonical({**self._beside, **unit}, tuple(self._form), self._says)

    def _add(self, event: Event) -> None:
        if type(event) is Open:
            self._head, self._grown, self._state = event, Growth(), None
        if was_said(event, NAME) or (self._given is not None and type(event) in (Append, Close)):
            return
        if type(event) is Append:
            self._append(event)
        elif type(event) is Close:
            self._close()
        elif type(event) is Start:
            self._top = self._units.first(event)
            self._form.append("start")
        elif type(event) is Usage:
            units = self._units
            before = (units.usage or {}) if self._home else None
            self._usage = usage_words(latest(event.usage, units.counts) if self._home else event.usage, before)
            self._form.append("usage")
        elif type(event) is Annotate and event.namespace == ISSUER and isinstance(event.data, dict):
            self._members |= event.data
            self._form.append("note")
        elif type(event) is Failure:
            if isinstance(self._grown.join(), bytes):
                # data that broke off stands beside the error
                self._close()
            self._beside |= error_unit(event, at_home=self._home)

    def _append(self, event: Append) -> None:
        kind, data = self._head.kind, event.data
        signature = signature_of(event.state, self._units.publisher, home=self._home)
        if kind in WHOLE and not goes_on(self._head):
            self._grown.add(data)
            self._state = signature or self._state
            return
        part: JsonObject
        if isinstance(data, bytes):
            part = data_part(self._head, data)
            self._form.append("data")
        else:
            part = {"text": data, **({"thought": True} if kind == "thinking" else {})}
            self._says.append(str(data))
            self._form.append("thinking" if kind == "thinking" else "text")
        self._parts.append({**part, **({"thoughtSignature": signature} if signature else {})})

    def _close(self) -> None:
        kind = self._head.kind
        if kind not in WHOLE or goes_on(self._head):
            return
        part = whole_part(self._head, self._grown.join(), self._units.options.limits.nesting)
        if part is None:
            return
        self._parts.append({**part, **({"thoughtSignature": self._state} if self._state else {})})
        self._form.append(kind)


WHOLE: Final = frozenset({"tool_call", "server_tool_call", "server_tool_result", "inline_data", "inline_thinking"})
"""Kinds of parts that come whole, but for data that goes on."""


def goes_on(head: Open) -> bool:
    """Whether data comes in further chunks."""
    return head.kind in ("inline_data", "inline_thinking") and is_audio(head.mime_type)


def data_part(head: Open, data: bytes) -> JsonObject:
    """A part of bytes."""
    thought: JsonObject = {"thought": True} if head.kind == "inline_thinking" else {}
    text = base64.b64encode(data).decode("ascii")
    return {"inlineData": {"mimeType": head.mime_type or OCTETS, "data": text}, **thought}


def whole_part(head: Open, data: Any, nesting: int) -> JsonObject | None:
    """A part that comes whole; ``None`` where its data is none that this wire has.

    Raises :class:`ToolArgumentsError`, and :class:`LimitExceeded` for more than ``nesting`` levels.
    """
    if head.kind == "tool_call":
        id = {} if is_made(head.id) else {"id": head.id}
        arguments = parse_arguments(data, head.name or "", head.id or "", nesting)
        return {"functionCall": {"name": head.name, "args": arguments, **id}}
    if head.kind in ("inline_data", "inline_thinking"):
        return data_part(head, data or b"")
    try:
        tool = jsontext.loads_str(data, nesting)
    except TranslateError:
        return None
    called = head.kind == "server_tool_call"
    names = ("executableCode", "codeExecutionResult") if head.name == CODE else ("toolCall", "toolResponse")
    return {names[0 if called else 1]: tool} if isinstance(tool, dict) else None
