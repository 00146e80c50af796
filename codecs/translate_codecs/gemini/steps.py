"""What one chunk says where it stands, and what is known behind it.

A chunk says parts; nothing in it says that one begins or ends, but for calls and for data that comes whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from translate.algebra.calls import made_stem
from translate.algebra.events import (
    Annotate,
    Append,
    Close,
    Event,
    Foreign,
    JsonObject,
    Open,
    PartKind,
    Reason,
    Start,
    State,
    TokenCounts,
    Usage,
)
from translate.algebra.reading import kind_of, optional
from translate.carry.expecting import Canonical
from translate.codec import Options
from translate.errors import DecodeError, GrammarError
from translate.shapes.blocks import BARE_BODY

from .paths import Paths, Plan
from .words import (
    CODE,
    ISSUER,
    MEMBERS,
    NAME,
    NOTES,
    PARTS,
    SERVERS,
    SIGNATURE,
    compact,
    is_audio,
    made_id,
    read_base64,
    read_blocked,
    read_error,
    read_reason,
    read_usage,
    usage_after,
    usage_change,
)


class Stem:
    """What ids are made of where the wire has no id of the response: looked up once."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.text = ""

    def __call__(self) -> str:
        self.text = self.text or made_stem(self._options.clock())
        return self.text


@dataclass(slots=True)
class Known:
    """What is known of a stream. Only :meth:`Step.take` and those who write change it."""

    started: bool = False
    response: str | None = None
    kind: str = ""
    """The kind of the open part, if it has words; so are its type and signature."""
    mime_type: str | None = None
    signature: str | None = None
    call: Paths | None = None
    """The arguments of the open call."""
    calls: int = 0
    """Calls that began."""
    reason: str | None = None
    blocked: str | None = None
    counts: TokenCounts | None = None
    """All counts that chunks said so far."""

    @property
    def end(self) -> Reason | None:
        """The reason that stands, if any."""
        if self.reason is not None:
            return read_reason(self.reason)
        return read_blocked(self.blocked) if self.blocked is not None else None


class Step:
    """What a unit says (``said``) behind what is known, which stays as it is until :meth:`take`."""

    def __init__(self, known: Known, unit: JsonObject, name: str | None, options: Options, stem: Stem) -> None:
        """Raises :class:`DecodeError`, :class:`GrammarError` and :class:`LimitExceeded`."""
        self.unit = unit
        self.canonical: Canonical | None = None
        """The unit that would be written for what it says, once that was asked for."""
        self.known = known
        self._options = options
        self._stem = stem
        self.said: list[Event] = []
        self.kind, self.mime_type, self.signature = known.kind, known.mime_type, known.signature
        self.call: Plan | None = known.call.plan() if known.call is not None else None
        self.calls = known.calls
        self.reason, self.blocked, self.counts = known.reason, known.blocked, known.counts
        self.in_pieces = self.opaque = False
        """Whether there are pieces of a call; whether there is what is only written where it came from here."""
        is_chunk = any(member in unit for member in MEMBERS)
        self.response = _text(unit, "responseId") or known.response if is_chunk else known.response
        self.starts = is_chunk and not known.started
        if self.starts:
            self._start()
        error = unit.get("error")
        if name == BARE_BODY and not error:
            raise DecodeError("a JSON body that stands bare among the events is no error", expected="an error")
        if is_chunk:
            self._read_chunk()
        if error:
            if len(self.said) > 1 and type(self.said[-1]) is Close and _is_data(self.said[-2]):
                # data that stands beside the error broke off
                self.said.pop()
            self.said.append(read_error(error))
            self.opaque = True
        if not self.said:
            self.said.append(Foreign(NAME, unit))

    @property
    def parts(self) -> JsonObject | None:
        """What a residue holds of a unit with pieces of a call: its parts."""
        return {PARTS: self.unit["candidates"][0]["content"]["parts"]} if self.in_pieces else None

    @property
    def grows(self) -> bool:
        """Whether the unit says one fragment, maybe counts too, and at most that its part began in place of another."""
        said = self.said[:-1] if type(self.said[-1]) is Usage else self.said
        last = said[-1] if said else None
        plain = type(last) is Append and type(last.data) is str and last.state is None and not self.in_pieces
        return plain and all(type(event) in (Close, Open) for event in said[:-1])

    # ---- the chunk

    def _start(self) -> None:
        start = Start(id=self.response)
        start.model.name = _text(self.unit, "modelVersion") or None
        self.said.append(start)

    def _read_chunk(self) -> None:
        unit = self.unit
        candidates = optional(unit, "candidates", list, "a chunk") or []
        if len(candidates) > 1:
            what = f"a chunk with {len(candidates)} candidates: one stream is one message"
            raise DecodeError(what, expected="one candidate")
        for candidate in candidates:
            self._read_candidate(_object(candidate, "a candidate"))
        feedback = optional(unit, "promptFeedback", dict, "a chunk") or {}
        if not candidates:
            self.blocked = optional(feedback, "blockReason", str, "promptFeedback") or self.blocked
        counts = read_usage(optional(unit, "usageMetadata", dict, "a chunk"))
        if counts is not None:
            before = self.counts
            self.counts = usage_after(counts, before)
            changed = usage_change(self.counts, before)
            if changed is not None:
                self.said.append(Usage(changed))
                self.opaque = True

    def _read_candidate(self, candidate: JsonObject) -> None:
        if (index := candidate.get("index")) not in (0, None):
            raise DecodeError(f"a candidate of index {index!r}: one stream is one message", expected="index 0")
        content = optional(candidate, "content", dict, "a candidate") or {}
        for part in optional(content, "parts", list, "the content") or []:
            self._read_part(_object(part, "a part"))
        for name in NOTES:
            if candidate.get(name) and self.kind:
                self.said.append(Annotate(ISSUER, {name: candidate[name]}))
                self.opaque = True
        reason = candidate.get("finishReason")
        if reason is not None and type(reason) not in (str, int):
            raise DecodeError(f"the finishReason is {kind_of(reason)}", expected="text")
        self.reason = str(reason) if reason or type(reason) is int else self.reason

    # ---- parts

    def _read_part(self, part: JsonObject) -> None:
        signature = optional(part, "thoughtSignature", str, "a part") or None
        state = State(ISSUER, {SIGNATURE: signature}) if signature else None
        if (text := optional(part, "text", str, "a part")) is not None:
            self._read_text("thinking" if part.get("thought") is True else "text", text, state)
        elif (call := optional(part, "functionCall", dict, "a part")) is not None:
            self._read_call(call, state)
        elif (data := optional(part, "inlineData", dict, "a part")) is not None:
            self._read_data(data, state, thought=part.get("thought") is True)
        else:
            for name, kind in SERVERS.items():
                if (tool := optional(part, name, dict, "a part")) is not None:
                    self._read_tool(name, kind, tool, state)  # type: ignore[arg-type]
                    break

    def _begin(self, head: Open, state: State | None = None) -> None:
        """A part begins: the open one is over."""
        self._end()
        self.said.append(head)
        self.kind, self.mime_type = head.kind, head.mime_type
        self.signature = None
        self._sign(state)

    def _sign(self, state: State | None) -> None:
        if state is not None:
            self.signature = state.values[SIGNATURE]

    def _end(self) -> None:
        """The open part is over."""
        if self.call is not None:
            raise GrammarError("another part while a call goes on", expected="more of its arguments")
        if self.kind:
            self.said.append(Close())
        self.kind = ""

    def _whole(self, head: Open, data: Any, state: State | None) -> None:
        """A part that is over as it comes."""
        self._begin(head)
        self.said += [Append(data, state), Close()]
        self.kind = ""

    def _read_text(self, kind: PartKind, text: str, state: State | None) -> None:
        if not text and state is None:
            return
        signed = state is not None and self.signature not in (None, state.values[SIGNATURE])
        if self.kind != kind or signed:
            self._begin(Open(kind), state)
        self._sign(state)
        self.said.append(Append(text, state))

    def _read_data(self, data: JsonObject, state: State | None, *, thought: bool) -> None:
        mime_type = optional(data, "mimeType", str, "inlineData")
        octets = read_base64(optional(data, "data", str, "inlineData") or "")
        kind: PartKind = "inline_thinking" if thought else "inline_data"
        if not is_audio(mime_type):
            self._whole(Open(kind, mime_type=mime_type), octets, state)
            return
        if (self.kind, self.mime_type) != (kind, mime_type):
            self._begin(Open(kind, mime_type=mime_type))
        self.said.append(Append(octets, state))

    def _read_tool(self, name: str, kind: PartKind, tool: JsonObject, state: State | None) -> None:
        called = CODE if name in ("executableCode", "codeExecutionResult") else _text(tool, "toolType")
        self._whole(Open(kind, _text(tool, "id"), called), compact(tool), state)
        self.opaque = True

    # ---- calls

    def _read_call(self, call: JsonObject, state: State | None) -> None:
        name = optional(call, "name", str, "a functionCall") or None
        args = optional(call, "args", dict, "a functionCall")
        pieces = optional(call, "partialArgs", list, "a functionCall")
        more = call.get("willContinue") is True
        if name is None and self.call is None:
            raise GrammarError("a call goes on, and none is open", expected="a name")
        if name is not None:
            id = _text(call, "id") or made_id(self.response or self._stem(), self.calls)
            head = Open("tool_call", id, name)
            if not more and pieces is None:
                self._whole(head, "" if args is None else compact(args), state)
                self.calls += 1
                return
            self._begin(head)
            self.calls += 1
            self.call = Paths(self._options.limits).plan()
        assert self.call is not None
        self.in_pieces = True
        if state is not None:
            self.said.append(Append("", state))
        self.call.put_object(args or {})
        texts = [self.call.put(piece) for piece in pieces or []]
        texts += [] if more else [self.call.close()]
        self.said += [Append(text) for text in texts if text]
        if not more:
            self.said.append(Close())
            self.call, self.kind = None, ""

    # ---- going on

    def take(self) -> None:
        """Go on behind the unit."""
        known = self.known
        known.started = known.started or self.starts
        known.response = self.response
        known.kind, known.mime_type, known.signature = self.kind, self.mime_type, self.signature
        known.call = self.call.take() if self.call is not None else None
        known.calls = self.calls
        known.reason, known.blocked, known.counts = self.reason, self.blocked, self.counts


def _is_data(event: Event) -> bool:
    return type(event) is Append and isinstance(event.data, bytes)


def _object(value: Any, what: str) -> JsonObject:
    if type(value) is not dict:
        raise DecodeError(f"{what} is {kind_of(value)}", expected="an object")
    return value


def _text(owner: JsonObject, name: str) -> str | None:
    """A member that only names something: what is no text says nothing."""
    found = owner.get(name)
    return found if type(found) is str else None
