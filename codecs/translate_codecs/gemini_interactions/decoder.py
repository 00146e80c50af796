"""Gemini Interactions read: what the units say, and what is known of a stream so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

from translate.algebra.events import (
    Annotate,
    Append,
    Close,
    Event,
    Foreign,
    Handover,
    JsonObject,
    Open,
    PartKind,
    Start,
    TokenCounts,
    Usage,
)
from translate.algebra.parts import Growth
from translate.algebra.reading import member, optional
from translate.carry.reasons import repaired
from translate.codec import Codec, Decoder, Hot, Mended, Options
from translate.errors import DecodeError, GrammarError, TranslateError, excerpt, shown

from .words import (
    COMPLETED,
    CREATED,
    DELTA,
    ERROR,
    ISSUER,
    MEDIA,
    NAME,
    PLAIN,
    SIGNATURE,
    START,
    STOP,
    compact,
    hot_unit,
    kind_of_step,
    read_base64,
    read_end,
    read_error,
    read_start,
    read_usage,
    said_kind,
    state_of,
    usage_change,
)

OPENING: Final = "before interaction.created"
BETWEEN: Final = "between steps"
STEP: Final = "in a step"
ENDED: Final = "ended"
STATES: Final[dict[str, dict[str, str]]] = {
    OPENING: {CREATED: BETWEEN, ERROR: ENDED},
    BETWEEN: {START: STEP, COMPLETED: ENDED, ERROR: ENDED},
    STEP: {DELTA: STEP, STOP: BETWEEN, ERROR: ENDED},
    ENDED: {},
}
"""State → unit → next state; units of other types stand anywhere before the end."""


class InteractionsDecoder(Decoder):
    """Reads the units of one interaction."""

    def __init__(self, codec: Codec, options: Options) -> None:
        super().__init__(codec, options)
        self._state = OPENING
        self._start = Start()
        self._index = -1
        """Of the open step, or the last one; so is its type."""
        self._step = ""
        self._kind = ""
        """The kind of the open part, as the wire says it; empty where the step says none."""
        self._head = Open("text")
        self._grown = Growth()
        """The arguments of the open call."""
        self._calls = 0
        self._counts: TokenCounts | None = None
        """All counts that units said so far."""
        self._repeated: str | None = None
        """The signature that the last fragment brought, in its carry: a delta that follows repeats it."""

    @property
    def state(self) -> str:
        return f"in a {self._step} step" if self._state is STEP else self._state

    # ---- what is known

    def take(self, unit: JsonObject | None, meant: Sequence[Event]) -> None:
        if unit is not None:
            self._move(unit, meant)
        for event in meant:
            kind = type(event)
            if kind is Append:
                if self._kind == "tool_call":
                    self._grown.add(event.data)  # type: ignore[union-attr]
            elif type(event) is Open:
                self._kind = said_kind(event.kind) if unit is not None else ""
                self._head, self._grown = event, Growth()
                self._calls += self._kind == "tool_call"
            elif kind is Close or kind is Handover:
                self._kind = ""

    def _move(self, unit: JsonObject, meant: Sequence[Event]) -> None:
        kind = unit.get("event_type")
        self._repeated = None
        if kind == START:
            self._index, self._step, self._kind = unit["index"], unit["step"]["type"], ""
        elif kind == DELTA:
            if unit["delta"].get("type") == "thought_summary":
                states = [event.state for event in meant if type(event) is Append and event.state is not None]
                self._repeated = states[0].values.get(SIGNATURE) if states else None
            self._counts = self._counts_of(unit)
        elif kind == CREATED:
            self._counts = self._counts_of(unit)
            self._start = next((event for event in meant if type(event) is Start), self._start)
        elif kind == COMPLETED:
            self._counts = self._counts_of(unit)
        self._state = STATES[self._state].get(str(kind), self._state)

    def _counts_of(self, unit: JsonObject) -> TokenCounts | None:
        """All counts behind a unit."""
        metadata = optional(unit, "metadata", dict, "a unit") or {}
        found = optional(unit, "interaction", dict, "a unit") or {}
        counts = self._counts
        for usage in (metadata.get("total_usage"), metadata.get("usage"), found.get("usage")):
            counts = read_usage(usage, counts)
        return counts

    # ---- the short way

    def hot(self) -> Hot | None:
        usual = self._state is STEP and self._kind in PLAIN
        return hot_unit(self._index, self._kind) if usual else None

    def grow(self, text: str, units: int = 1) -> None:
        self._repeated = None
        if self._kind == "tool_call":
            self._grown.add(text)

    def plain(self, unit: JsonObject, name: str | None) -> list[Event] | None:
        if self._state is not STEP or self._kind not in PLAIN or name not in (None, DELTA):
            return None
        type_, key = PLAIN[self._kind]
        try:
            delta, index = unit["delta"], unit["index"]
            text = delta[key]
            if key == "content":
                text = text["text"] if len(text) == 2 and text["type"] == "text" else None
            usual = (
                (len(unit), len(delta)) == (3, 2)
                and unit["event_type"] == DELTA
                and delta["type"] == type_
                and index == self._index
                and type(index) is int
                and type(text) is str
            )
        except (KeyError, TypeError):
            return None
        if not usual or text is None:
            return None
        self.grow(text)
        return [Append(text)]

    # ---- the long way

    def read(self, unit: JsonObject, name: str | None) -> list[Event]:
        kind = member(unit, "event_type", str, "a unit")
        if name is not None and name != kind:
            what = f"the event name {excerpt(name)!r} disagrees with the type {excerpt(kind)!r}"
            raise DecodeError(what, expected="one name")
        reader = self._readers.get(kind)
        return [Foreign(NAME, unit)] if reader is None else reader(self, unit)

    def _allow(self, kind: str) -> None:
        if kind not in STATES[self._state]:
            raise GrammarError(f"a {kind} {self.state}", expected=" or ".join(STATES[self._state]) or "nothing")

    def _of_open_step(self, unit: JsonObject, kind: str) -> None:
        index = member(unit, "index", int, f"a {kind}")
        self._allow(kind)
        if index != self._index:
            raise GrammarError(f"a {kind} of step {index} {self.state}", expected=f"step {self._index}")

    def _with_usage(self, said: list[Event], unit: JsonObject) -> list[Event]:
        counts = self._counts_of(unit)
        changed = usage_change(counts, self._counts) if counts is not None else None
        return said if changed is None else [*said, Usage(changed)]

    def _on_created(self, unit: JsonObject) -> list[Event]:
        member(unit, "interaction", dict, "an interaction.created")
        start = read_start(unit)
        self._allow(CREATED)
        return self._with_usage([start], unit)

    def _on_start(self, unit: JsonObject) -> list[Event]:
        member(unit, "index", int, "a step.start")
        step = member(unit, "step", dict, "a step.start")
        kind = kind_of_step(member(step, "type", str, "a step"))
        said: list[Event] = [Foreign(NAME, unit)]
        if kind is not None:
            said = [_opening(kind, step)]
            signature = optional(step, SIGNATURE, str, "a step")
            text = _first_text(kind, step)
            if text or signature:
                said.append(Append(text, state_of(signature) if signature else None))
        self._allow(START)
        return said

    def _on_delta(self, unit: JsonObject) -> list[Event]:
        delta = member(unit, "delta", dict, "a step.delta")
        type_ = member(delta, "type", str, "a delta")
        self._of_open_step(unit, DELTA)
        said = self._said(type_, delta) if self._step == "model_output" or kind_of_step(self._step) else None
        return [Foreign(NAME, unit)] if said is None else self._with_usage(said, unit)

    def _said(self, type_: str, delta: JsonObject) -> list[Event] | None:
        """What a delta says; ``None`` where it says nothing that the algebra has."""
        if type_ == "text":
            return self._grow_by("text", member(delta, "text", str, "a text"))
        if type_ == "thought_summary":
            return self._summary(member(delta, "content", dict, "a thought_summary"))
        if type_ == "thought_signature":
            signature = member(delta, SIGNATURE, str, "a thought_signature")
            if not self._kind or (signature and signature == self._repeated):
                return None
            return [Append(b"" if "inline" in self._kind else "", state_of(signature) if signature else None)]
        if type_ == "arguments_delta":
            if self._kind != "tool_call":
                raise GrammarError(f"an arguments_delta {self.state}", expected="a function_call")
            given = delta.get("arguments", delta.get("partial_arguments"))
            return [Append(_text_of(given, "an arguments_delta"))]
        if type_ == "text_annotation_delta":
            return [Annotate(ISSUER, {"annotations": delta["annotations"]})] if "annotations" in delta else None
        if type_ in MEDIA:
            return self._media("inline_data", delta)
        if type_ == self._step and self._kind.startswith("server"):
            return [Append(compact({key: value for key, value in delta.items() if key != "type"}))]
        return None

    def _summary(self, content: JsonObject) -> list[Event] | None:
        if content.get("type") == "text":
            return self._grow_by("thinking", member(content, "text", str, "a thought_summary"))
        return self._media("inline_thinking", content)

    def _end(self) -> list[Event]:
        return [Close()] if self._kind else []

    def _grow_by(self, kind: PartKind, text: str) -> list[Event]:
        grown = Append(text)
        return [grown] if self._kind == kind else [*self._end(), Open(kind), grown]

    def _media(self, kind: PartKind, delta: JsonObject) -> list[Event] | None:
        data, mime_type = (optional(delta, key, str, "a delta") for key in ("data", "mime_type"))
        if data is None:
            return None
        return [*self._end(), Open(kind, mime_type=mime_type), Append(read_base64(data))]

    def _on_stop(self, unit: JsonObject) -> list[Event]:
        self._of_open_step(unit, STOP)
        return [Close()] if self._kind else [Foreign(NAME, unit)]

    def _on_completed(self, unit: JsonObject) -> list[Event]:
        member(unit, "interaction", dict, "an interaction.completed")
        end = read_end(unit, self._counts_of(unit))
        self._allow(COMPLETED)
        return [end]

    def _on_error(self, unit: JsonObject) -> list[Event]:
        failure = read_error(unit)
        self._allow(ERROR)
        return [failure]

    _readers: ClassVar[dict[str, Callable[[Any, JsonObject], list[Event]]]] = {
        DELTA: _on_delta,
        START: _on_start,
        STOP: _on_stop,
        CREATED: _on_created,
        COMPLETED: _on_completed,
        ERROR: _on_error,
    }

    # ---- lenient mode

    def mend(self, unit: JsonObject, name: str | None, error: TranslateError) -> Mended | None:
        if name is not None and name != unit.get("event_type"):
            what = repaired("event name", name=shown(name), type=shown(unit.get("event_type")))
            return Mended("event", what, unit, None)
        return None


def _opening(kind: PartKind, step: JsonObject) -> Open:
    if kind == "thinking":
        return Open(kind)
    id = optional(step, "call_id" if kind == "server_tool_result" else "id", str, "a step") or None
    name = member(step, "name", str, "a function_call") if kind == "tool_call" else step["type"]
    if not name:
        raise DecodeError("a function_call without a name", expected="a name")
    return Open(kind, id, name)


def _text_of(value: Any, where: str) -> str:
    """Arguments as text: some come as an object."""
    if isinstance(value, dict):
        return compact(value)
    return member({"arguments": value}, "arguments", str, where)  # type: ignore[no-any-return]


def _first_text(kind: PartKind, step: JsonObject) -> str:
    """What a step brings as it starts, if anything."""
    if kind == "tool_call":
        return _text_of(step["arguments"], "a step") if step.get("arguments") else ""
    held = {key: step[key] for key in ("arguments", "result", "is_error") if step.get(key)}
    return compact(held) if held and kind != "thinking" else ""
