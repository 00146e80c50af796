"""Anthropic Messages read: what the units say, and what is known of a stream so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

from translate import jsontext
from translate.algebra.calls import is_whole
from translate.algebra.events import (
    Annotate,
    Append,
    Close,
    Event,
    Finish,
    Foreign,
    Handover,
    JsonObject,
    Model,
    Open,
    Ping,
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
    DELTAS,
    GROWS,
    NAME,
    REDACTED,
    SYNTHETIC,
    UNKNOWN,
    are_blank,
    hot_unit,
    kind_of_block,
    plain_head,
    read_block,
    read_error,
    read_reason,
    read_usage,
    state_of,
    stop_unit,
)

OPENING: Final = "before message_start"
BETWEEN: Final = "between blocks"
BLOCK: Final = "in a block"
ENDING: Final = "after message_delta"
ENDED: Final = "ended"
STATES: Final[dict[str, dict[str, str]]] = {
    OPENING: {"message_start": BETWEEN, "error": ENDED},
    BETWEEN: {"content_block_start": BLOCK, "message_delta": ENDING, "message_stop": ENDED, "error": ENDED},
    BLOCK: {"content_block_delta": BLOCK, "content_block_stop": BETWEEN, "message_delta": ENDING, "error": ENDED},
    ENDING: {"message_delta": ENDING, "message_stop": ENDED, "error": ENDED},
    ENDED: {},
}
"""State → unit → next state; ``ping`` and units of unknown type stand anywhere before the end."""
_BEGINS: Final = ("type", "index", "content_block")
_ENDS: Final = ("type", "index")


class AnthropicDecoder(Decoder):
    """Reads the units of one message."""

    def __init__(self, codec: Codec, options: Options) -> None:
        super().__init__(codec, options)
        self._state = OPENING
        self._model = Model()
        self._first = b""
        """The message_start, in lenient mode: the same again is left out."""
        self._blocks = 0
        self._calls = 0
        self._index = 0
        """Of the open block, or the last one; so are its kind, whether it has begun to grow, and a call's arguments."""
        self._kind = ""
        """Empty where the algebra has none for the block."""
        self._begun = False
        self._head: Open = Open("text")
        self._grown = Growth()
        self._pending = False
        """The open part is a call whose block is over, and whose ``Close`` comes with what says if it was cut."""
        self._repeated: str | None = None
        """The signature that the last fragment brought, in its carry: a delta that follows repeats it."""
        self._counts: TokenCounts | None = None
        """All counts that units said so far."""
        self._reason: str | None = None
        self._told = False
        """Whether a reason may have been said, if it is null."""

    @property
    def state(self) -> str:
        return f"in a {self._kind or 'foreign'} block" if self._state is BLOCK else self._state

    @property
    def _open(self) -> bool:
        """Whether a block is open that is a part."""
        return self._state is BLOCK and self._kind != ""

    def _is_half(self) -> bool:
        """Whether the block is a call whose arguments are no whole object, blank ones among them."""
        return self._kind == "tool_call" and not is_whole(str(self._grown.join()), self.options.limits.nesting)

    # ---- what is known

    def take(self, unit: JsonObject | None, meant: Sequence[Event]) -> None:
        if unit is not None:
            self._move(unit, meant)
        for event in meant:
            kind = type(event)
            if kind is Append:
                self._grow(event.data)  # type: ignore[union-attr]
            elif kind is Start:
                self._model = event.model  # type: ignore[union-attr]
            elif kind is Open:
                self._head = event  # type: ignore[assignment]
            elif kind is Close or kind is Handover:
                self._pending = False
            elif kind is Usage:
                self._told |= NAME in (event.residue or {})

    def _move(self, unit: JsonObject, meant: Sequence[Event]) -> None:
        kind = unit.get("type")
        self._repeated = None
        if kind == "content_block_delta":
            if unit["delta"].get("type") == "thinking_delta":
                states = [event.state for event in meant if type(event) is Append and event.state is not None]
                self._repeated = states[0].values.get("signature") if states else None
        elif kind == "content_block_start":
            block = unit["content_block"]
            self._begin(unit["index"], kind_of_block(block["type"]) or "")
        elif kind == "message_start":
            self._start(unit)
        elif kind in ("content_block_stop", "message_delta"):
            closed = any(type(event) in (Close, Handover) for event in meant)
            self._pending |= self._open and self._kind == "tool_call" and not closed
        if kind == "message_delta":
            self._told = True
            self._reason = unit["delta"].get("stop_reason") or self._reason
            self._counts = read_usage(unit.get("usage"), self._counts)
        self._state = STATES[self._state].get(str(kind), self._state)

    def _start(self, unit: JsonObject) -> None:
        message = unit["message"]
        content = message.get("content") or []
        self._blocks = len(content)
        self._calls = sum(block["type"] == "tool_use" for block in content)
        self._reason = message.get("stop_reason")
        self._told = self._reason is not None
        counts = read_usage(message.get("usage"), None)
        self._counts = None if are_blank(counts) else counts
        if not self.options.strict:
            self._first = jsontext.dumps(unit)

    def _begin(self, index: int, kind: str) -> None:
        self._index, self._kind, self._begun, self._grown = index, kind, False, Growth()
        self._blocks += 1
        self._calls += kind == "tool_call"

    def _grow(self, data: Any) -> None:
        if self._open:
            self._begun = True
            if self._kind == "tool_call":
                self._grown.add(data)

    def hot(self) -> Hot | None:
        # the first fragment of thinking may stand for redacted thinking
        kind = self._kind
        usual = self._state is BLOCK and kind in GROWS and (self._begun or kind != "thinking")
        return hot_unit(self._index, kind) if usual else None

    def grow(self, text: str, units: int = 1) -> None:
        self._repeated = None
        self._begun = True
        if self._kind == "tool_call":
            self._grown.add(text)

    # ---- the short way

    def plain(self, unit: JsonObject, name: str | None) -> list[Event] | None:
        if self._state is not BLOCK:
            return self._plain_other(unit, name)
        try:
            delta, index, (kind, key) = unit["delta"], unit["index"], GROWS[self._kind]
            text = delta[key]
            usual = (
                (len(unit), len(delta)) == (3, 2)
                and unit["type"] == "content_block_delta"
                and delta["type"] == kind
                and index == self._index
                and type(index) is int
                and type(text) is str
                and (name is None or name == "content_block_delta")
                and (self._begun or text != REDACTED)
            )
        except (KeyError, TypeError):
            return self._plain_other(unit, name)
        if not usual:
            return None
        self.grow(text)
        return [Append(text)]

    def _plain_other(self, unit: JsonObject, name: str | None) -> list[Event] | None:
        """A beginning or an end of a block as this format writes it, and a ping."""
        kind = unit.get("type")
        if name is not None and name != kind:
            return None
        said: list[Event]
        if kind == "content_block_start" and self._state is BETWEEN and not self._pending:
            block, index = unit.get("content_block"), unit.get("index")
            head = plain_head(block) if type(block) is dict else None
            if head is None or len(unit) != len(_BEGINS) or type(index) is not int or index != self._blocks:
                return None
            said = [head]
        elif kind == "content_block_stop" and self._open:
            if len(unit) != len(_ENDS) or type(unit.get("index")) is not int or unit != stop_unit(self._index):
                return None
            if self._is_half():
                return None
            said = [Close()]
        elif kind == "ping" and len(unit) == 1:
            said = [Ping({NAME: {}})]
        else:
            return None
        self.take(unit, said)
        return said

    # ---- the long way

    def read(self, unit: JsonObject, name: str | None) -> list[Event]:
        kind = member(unit, "type", str, "a unit")
        if name is not None and name != kind:
            what = f"the event name {excerpt(name)!r} disagrees with the type {excerpt(kind)!r}"
            raise DecodeError(what, expected="one name")
        reader = self._readers.get(kind)
        return [Foreign(NAME, unit)] if reader is None else reader(self, unit)

    def _allow(self, kind: str) -> None:
        if kind not in STATES[self._state]:
            raise GrammarError(f"a {kind} {self.state}", expected=" or ".join(STATES[self._state]) or "nothing")

    def _on_start(self, unit: JsonObject) -> list[Event]:
        message = member(unit, "message", dict, "a message_start")
        id, name, reason = (optional(message, key, str, "the message") for key in ("id", "model", "stop_reason"))
        counts = read_usage(optional(message, "usage", dict, "the message"), None)
        content = optional(message, "content", list, "the message") or []
        self._allow("message_start")
        events: list[Event] = [Start(Model(None if name == UNKNOWN else name), id)]
        if not are_blank(counts):
            events.append(Usage(counts))
        for i, block in enumerate(content):
            if not isinstance(block, dict):
                raise DecodeError("the message has a block that is no object", excerpt=excerpt(block))
            if kind_of_block(member(block, "type", str, "a block")) is not None:
                said = read_block(block)
                half = block["type"] == "tool_use" and len(said) == 1
                events += [*said, _close(reason) if half and i == len(content) - 1 else Close()]
        return events

    def _resolved(self, reason: str | None = None) -> list[Event]:
        """The end of a call that may have been cut, once more is known."""
        return [_close(reason)] if self._pending else []

    def _on_block(self, unit: JsonObject) -> list[Event]:
        member(unit, "index", int, "a content_block_start")
        block = member(unit, "content_block", dict, "a content_block_start")
        known = kind_of_block(member(block, "type", str, "a content block"))
        said: list[Event] = [Foreign(NAME, unit)] if known is None else read_block(block)
        self._allow("content_block_start")
        return [*self._resolved(), *said]

    def _on_delta(self, unit: JsonObject) -> list[Event]:
        delta = member(unit, "delta", dict, "a content_block_delta")
        kind = member(delta, "type", str, "a delta")
        self._of_open_block(unit, "content_block_delta")
        if kind not in DELTAS or self._kind == "":
            return [Foreign(NAME, unit)]
        if self._kind not in DELTAS[kind]:
            raise GrammarError(f"a {kind} {self.state}", expected=GROWS.get(self._kind, ("its end",))[0])
        where = f"a {kind}"
        if kind == "citations_delta":
            if "citation" not in delta:
                raise DecodeError("a citations_delta lacks the member 'citation'", expected="an object")
            return [Annotate(NAME, delta["citation"])]
        if kind == "signature_delta":
            signature = member(delta, "signature", str, where)
            return [Foreign(NAME, unit)] if signature == self._repeated else [Append("", state_of(signature))]
        return [Append(member(delta, GROWS[self._kind][1], str, where))]

    def _of_open_block(self, unit: JsonObject, what: str) -> None:
        index = member(unit, "index", int, f"a {what}")
        self._allow(what)
        if index != self._index:
            raise GrammarError(f"a {what} of block {index} {self.state}", expected=f"block {self._index}")

    def _on_stop(self, unit: JsonObject) -> list[Event]:
        self._of_open_block(unit, "content_block_stop")
        # whether half a call was cut is said by what follows
        return [Foreign(NAME, unit)] if self._kind == "" or self._is_half() else [Close()]

    def _on_message_delta(self, unit: JsonObject) -> list[Event]:
        delta = member(unit, "delta", dict, "a message_delta")
        reason = optional(delta, "stop_reason", str, "the delta") or self._reason
        counts = read_usage(optional(unit, "usage", dict, "a message_delta"), self._counts)
        self._allow("message_delta")
        half = self._pending or (self._open and self._is_half())
        said: list[Event] = [Usage(counts)]
        if (self._pending or self._open) and not (half and reason is None):
            said.insert(0, _close(reason))
        return said

    def _on_message_stop(self, unit: JsonObject) -> list[Event]:
        self._allow("message_stop")
        if not self._told:
            raise GrammarError("a message_stop without a reason", expected="message_delta")
        return [*self._resolved(self._reason), self._end()]

    def _end(self) -> Finish:
        """What a message_stop says now."""
        return Finish(self._counts or TokenCounts(), read_reason(self._reason))

    def _on_error(self, unit: JsonObject) -> list[Event]:
        failure = read_error(unit)
        self._allow("error")
        return [*self._resolved(), failure]

    def _on_ping(self, unit: JsonObject) -> list[Event]:
        return [Ping()]

    _readers: ClassVar[dict[str, Callable[[Any, JsonObject], list[Event]]]] = {
        "content_block_delta": _on_delta,
        "content_block_start": _on_block,
        "content_block_stop": _on_stop,
        "message_start": _on_start,
        "message_delta": _on_message_delta,
        "message_stop": _on_message_stop,
        "error": _on_error,
        "ping": _on_ping,
    }

    # ---- lenient mode

    def mend(self, unit: JsonObject, name: str | None, error: TranslateError) -> Mended | None:
        kind = unit.get("type")
        if isinstance(error, DecodeError) and isinstance(kind, str) and name not in (None, kind):
            what = repaired("event name", name=shown(name), type=shown(kind))
            return Mended("event", what, unit, None)
        if not isinstance(error, GrammarError):
            return None
        if kind == "message_start" and self._first and jsontext.dumps(unit) == self._first:
            return Mended(kind, repaired("repeated", unit=kind), None, None)
        if kind == "content_block_start" and self._state is BLOCK:
            ahead: Event = Close() if self._kind else Foreign(NAME, stop_unit(self._index), dict(SYNTHETIC))
            what = repaired("missing", unit="content_block_stop", next=kind, state=self.state)
            return Mended(kind, what, unit, name, [ahead])
        if kind == "message_stop" and self._state is BETWEEN and not self._told:
            ahead = Usage(self._counts or TokenCounts(), dict(SYNTHETIC))
            what = repaired("missing", unit="message_delta", next=kind, state=self.state)
            return Mended(kind, what, unit, name, [ahead])
        return None


def _close(reason: str | None) -> Close:
    """The end of a part that was open, or of a call that may have been cut, once ``reason`` is known."""
    return Close(read_reason(reason).word == "length")
