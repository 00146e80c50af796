"""OpenAI Responses read: what the units say, and what is known of a stream so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from translate import jsontext
from translate.algebra.events import (
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Handover,
    JsonObject,
    Open,
    State,
)
from translate.algebra.serial import Serial, said_before
from translate.algebra.weight import is_word
from translate.carry.reasons import repaired
from translate.codec import COUNT, TEXT, Codec, Decoder, Hot, Mended, Options
from translate.errors import DecodeError, GrammarError, LimitExceeded, TranslateError, excerpt, shown

from .items import is_part
from .known import Item
from .steps import AS_SAID, Key, Step
from .wire import Wire
from .words import (
    ARGUMENTS,
    CALL,
    CONTENT,
    COUNTER,
    DELTA,
    DONE_ITEM,
    LIFECYCLE,
    MESSAGE,
    NAME,
    PAD,
    PADDING,
    PART_ADDED,
    PART_DONE,
    REASONING,
    REASONING_TEXT,
    SUMMARY_TEXT,
    TERMINAL,
    TEXTS,
    WHOLES,
    R,
)

ENDED: Final = "ended"


class ResponsesDecoder(Decoder):
    """Reads the units of one response."""

    def __init__(self, codec: Codec, options: Options) -> None:
        super().__init__(codec, options)
        self._wire = Wire(options)
        self._serial: Serial[Key] = Serial(NAME, options.limits.part)
        self._stated: State | None = None
        """The last state of the open part."""
        self._inside = False
        """Whether a part is open, native or carried."""
        self._over = False
        self._last = _Last()
        self._first = b""
        """The first response.created, in lenient mode: the same again is left out."""

    @property
    def state(self) -> str:
        if self._over:
            return ENDED
        open = self._serial.open
        if open is not None:
            item = self._wire.open.get(open[0])
            return f"in a {item.type}" if item is not None else "in an item"
        return "between items" if self._wire.started or self._wire.next else "before response.created"

    # ---- reading

    def _look(self, unit: JsonObject) -> Step:
        step = self._last.step
        if step is None or step.unit is not unit:
            step = self._last.step = Step(self._wire, self._serial, unit, self._stated)
        return step

    def read(self, unit: JsonObject, name: str | None) -> list[Event]:
        kind = unit.get("type")
        if name is not None and isinstance(kind, str) and name != kind:
            what = f"the event name {excerpt(name)!r} disagrees with the type {excerpt(kind)!r}"
            raise DecodeError(what, expected="one name")
        self._last.step = None
        said = list(self._look(unit).said)
        if self._wire.size > self.options.limits.message:
            raise LimitExceeded("message", self.options.limits.message)
        return said

    def take(self, unit: JsonObject | None, meant: Sequence[Event]) -> None:
        if unit is not None:
            step = self._look(unit)
            self._serial.take(step.turn)
            self._wire.take(unit)
            if not self.options.strict and unit.get("type") == LIFECYCLE[0] and not self._first:
                self._first = _without_number(unit)
        self._last.step = self._last.usual = None
        for event in meant:
            kind = type(event)
            if kind is Open:
                self._stated, self._inside = None, True
                if unit is None:
                    # no words: what is open is none of the format's parts
                    self._serial.end()
            elif kind is Append:
                if event.state is not None:  # type: ignore[union-attr]
                    self._stated = event.state  # type: ignore[union-attr]
            elif kind is Close or kind is Handover:
                self._inside = False
            elif kind is Finish or kind is Failure:
                self._over = True
        last = next((event for event in reversed(meant) if type(event) in (Open, Close, Handover)), None)
        if type(last) in (Close, Handover) and not self._serial.waits:
            self._serial.end()

    def close(self, *, marked: bool) -> list[Event]:
        step = Step(self._wire, self._serial, {"type": "keepalive"}, self._stated)
        return [said_before(event, NAME) for event in step.end()]

    # ---- the open part

    def open_item(self, wire: Wire | None = None) -> Item | None:
        """The item of the open part."""
        key = self._serial.open
        return None if key is None else (wire or self._wire).open.get(key[0])

    def delta_type(self, item: Item) -> str | None:
        """The type of the unit that grows the part that is open in an item."""
        if item.type == MESSAGE:
            part = item.at.added if item.at is not None else {}
            return R + ("refusal" if part.get("type") == "refusal" else "output_text") + DELTA
        if item.type == REASONING:
            place = item.at
            return (REASONING_TEXT if place is not None and place.where == CONTENT else SUMMARY_TEXT) + DELTA
        if item.kind == "tool_call":
            return (ARGUMENTS if item.type == CALL else R + "custom_tool_call_input") + DELTA
        return None

    def usual(self) -> Usual | None:
        """The unit of a plain fragment of the open part, if such are usual here."""
        if self._last.usual is None:
            self._last.usual = self._usual_unit()
        return self._last.usual

    def _usual_unit(self) -> Usual | None:
        item = self.open_item()
        if item is None or item is not self._wire.at:
            return None
        texts = item.type in (MESSAGE, REASONING)
        if (texts and (item.at is None or not item.at.open)) or not (texts or (item.type == CALL and not item.told)):
            return None
        type_ = self.delta_type(item)
        return None if type_ is None else Usual(self._wire.expected(type_, item), item)

    def plain(self, unit: JsonObject, name: str | None) -> list[Event] | None:
        usual = self.usual()
        if usual is None:
            return None
        delta, wire = unit.get("delta"), self._wire
        if type(delta) is not str or (name is not None and name != usual.unit["type"]):
            return None
        if usual.numbered:
            number = unit.get(COUNTER)
            if number != wire.number or type(number) is not int:
                return None
        more = len(unit) - len(usual.unit)
        pad: Any = unit.get(PAD)
        if more != (pad is not None) or (more and not (type(pad) is str and is_word(pad))):
            return None
        for key, value in usual.beside:
            found = unit.get(key)
            if found != value or type(found) is not type(value):
                return None
        self.grow(delta)
        return [Append(delta, None, {NAME: {PADDING: pad}} if more else None)]

    def hot(self) -> Hot | None:
        usual = self.usual()
        return None if usual is None else usual.hot

    @property
    def count(self) -> int:
        return self._wire.number

    def grow(self, text: str, units: int = 1) -> None:
        usual = self.usual()
        assert usual is not None
        self._wire.number += units if usual.numbered else 0
        usual.grown.add(text)
        if usual.grown is usual.item.grown:
            usual.item.begun = True

    # ---- lenient mode

    def mend(self, unit: JsonObject, name: str | None, error: TranslateError) -> Mended | None:
        kind = unit.get("type")
        if isinstance(error, DecodeError) and isinstance(kind, str) and name not in (None, kind):
            what = repaired("event name", name=shown(name), type=shown(kind))
            return Mended("event", what, unit, None)
        if not isinstance(error, GrammarError) or not isinstance(kind, str):
            return None
        if error.expected == AS_SAID:
            what = repaired("not its fragments", unit=kind, member=_repeating(kind))
            return Mended(kind, what, self._repeated(unit, kind), name)
        if kind == LIFECYCLE[0] and self._first and _without_number(unit) == self._first:
            return Mended(kind, repaired("repeated", unit=kind), None, None)
        item = self._wire.find(unit)
        if item is None or item.type != MESSAGE:
            return None
        is_open = item.at is not None and item.at.open and is_part(item.at.added)
        if kind in (PART_ADDED[0], DONE_ITEM) and is_open:
            what = repaired("missing", unit="content_part.done", next=kind, state=self.state)
            return Mended(kind, what, unit, name, [Close()])
        if kind.removesuffix(DELTA) in TEXTS and not is_open and kind.endswith(DELTA):
            part = "refusal" if "refusal" in kind else "text"
            what = repaired("missing", unit="content_part.added", next=kind, state=self.state)
            return Mended(kind, what, unit, name, [Open(part)])  # type: ignore[arg-type]
        return None

    def _repeated(self, unit: JsonObject, kind: str) -> JsonObject:
        """A unit that repeats what was said, with what was said."""
        if kind in TERMINAL:
            streamed = [item for _, item in self._wire.items()]
            response = {**unit["response"], "output": streamed}
            return {**unit, "response": response}
        item = self._wire.find(unit)
        expected = self._wire.expected(kind, item)
        repeats = _repeating(kind)
        return {**unit, repeats: expected[repeats]} if repeats in expected else unit


class Usual:
    """The unit of a plain fragment of an item's open part."""

    __slots__ = ("beside", "grown", "hot", "item", "numbered", "unit")

    def __init__(self, unit: JsonObject, item: Item) -> None:
        """``unit``: without text."""
        self.unit, self.item, self.numbered = unit, item, COUNTER in unit
        self.grown = item.grown if item.type == CALL or item.at is None else item.at.grown
        self.beside = [(key, value) for key, value in unit.items() if key not in ("delta", COUNTER)]
        counted: JsonObject = {COUNTER: COUNT} if self.numbered else {}
        self.hot = Hot({**unit, "delta": TEXT, **counted}, NAME, unit["type"], pad=(PAD, PADDING))


class _Last:
    """The last unit that was looked at, and the usual one: no knowledge, only not to look twice."""

    __slots__ = ("step", "usual")

    def __init__(self) -> None:
        self.step: Step | None = None
        self.usual: Usual | None = None


def _repeating(kind: str) -> str:
    """The member of a unit that repeats what was said."""
    if kind in TERMINAL:
        return "response"
    if kind in PART_DONE:
        return "part"
    if kind == DONE_ITEM:
        return "item"
    family, _, _ = kind.rpartition(".")
    return TEXTS[family][1] if family in TEXTS else WHOLES.get(family, "")


def _without_number(unit: JsonObject) -> bytes:
    return jsontext.dumps({k: v for k, v in unit.items() if k != COUNTER})
