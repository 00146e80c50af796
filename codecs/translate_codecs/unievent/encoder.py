"""UniEvent written: the unit that is expected for events."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from translate import jsontext
from translate.algebra.calls import is_whole, parse_arguments
from translate.algebra.events import (
    GROWS,
    Annotate,
    Append,
    Close,
    Data,
    Event,
    Failure,
    Finish,
    Foreign,
    Handover,
    JsonObject,
    Open,
    Ping,
    Start,
    Usage,
)
from translate.algebra.reading import kind_of
from translate.algebra.states import is_hint
from translate.algebra.usage import latest
from translate.carry.reasons import guessed
from translate.codec import Encoder, Pieces, Said, Written
from translate.errors import ToolArgumentsError

from .decoder import UniEventDecoder
from .words import (
    BETWEEN,
    DELTA,
    ENDED,
    GROUP,
    NAME,
    REASONS,
    STAMP,
    delta_event,
    error_unit,
    is_stamp,
    is_texts,
    item_of,
    read_stop,
    said_kind,
    said_open,
    stop_event,
)


class UniEventEncoder(UniEventDecoder, Encoder):
    """Predicts UniEvents."""

    def write(self, events: Sequence[Event]) -> Pieces:
        return self._writers[type(events[-1])](self, events)

    def mark(self, unit: JsonObject) -> JsonObject | None:
        return {STAMP: unit["created_at"]} if "created_at" in unit else {}

    def expected(self, unit: JsonObject, said: Sequence[Event]) -> JsonObject | None:
        """Bytes in the form that ``unit`` has them, and the text of a ``.done``, compared as it was read."""
        expected = self.whole(said)
        if expected is None or "error" in unit or not unit["content_items"]:
            return expected
        given, mine = unit["content_items"][0], expected["content_items"][0]
        if type(mine.get("data")) is bytes and isinstance(given["data"], str):
            mine["data"] = _base64(mine["data"])
        elif isinstance(mine.get("data"), str) and not isinstance(given["data"], str):
            mine["data"] = given["data"]
        elif self.at_source and type(said[-1]) is Close and isinstance(text := given.get(self._kind), str):
            mine[self._kind] = jsontext.whole(text)
        return expected

    def say(self, events: Sequence[Event]) -> Said | None:
        event, first = events[-1], events[0]
        kind = type(event)
        if kind is Append and self._state is GROUP:
            if first.residue is None and event.state is None and type(event.data) is str:  # type: ignore[union-attr]
                return self._plain_made_up(event.data)  # type: ignore[union-attr]
            item = self._plain_item(event)
        elif kind is Append and type(first) is Open and self.codec.sayable(first) and (first.id or first.name is None):
            item = self._plain_first(first, event)
        elif kind is Close and self._state is GROUP:
            item = self._plain_whole(event)
        elif kind is Finish:
            return self._plain_end(event)
        else:
            return None
        if item is None:
            return None
        stamped = self._plain_stamp(first)
        if stamped is None:
            return None
        self.take_plain(events)
        unit = {
            "role": "assistant",
            "event_type": "delta",
            "content_items": [item],
            "usage_metadata": None,
            "finish_reason": None,
            "created_at": stamped[0],
        }
        return unit, None, stamped[1]

    def _plain_made_up(self, text: str) -> Said:
        """A fragment that no UniEvent said: the shortest of the short ways."""
        kind = self._kind
        if kind == "tool_call":
            item = {"type": "tool_call.delta", "name": "", "arguments": text, "tool_call_id": ""}
        else:
            item = {"type": DELTA[kind], kind: text}
        self._grown.add(text)
        unit = {
            "role": "assistant",
            "event_type": "delta",
            "content_items": [item],
            "usage_metadata": None,
            "finish_reason": None,
            "created_at": self.options.clock(),
        }
        return unit, None, True

    def _plain_stamp(self, event: Event) -> tuple[int, bool] | None:
        """The stamp of a unit, and whether it was made up; ``None`` for what only the long way writes."""
        residue = event.residue
        own = residue.get(NAME) if residue is not None else None
        if own is None:
            return self.options.clock(), True
        at = own.get(STAMP)
        synthetic = len(own) == 2 and own.get("synthetic") is True
        return (at, synthetic) if type(at) is int and (synthetic or len(own) == 1) else None

    def _plain_item(self, event: Any) -> JsonObject | None:
        text, kind, state = event.data, self._kind, event.state
        if type(text) is not str:
            return None
        item: JsonObject
        if kind == "tool_call":
            item = {"type": "tool_call.delta", "name": "", "arguments": text, "tool_call_id": ""}
        else:
            item = {"type": DELTA[kind], kind: text}
        if state is not None:
            if self._fidelity is not None or state.namespace is not None or not is_texts(state.values):
                return None
            item["fidelity"] = dict(state.values)
        return item

    def _plain_first(self, head: Open, event: Any) -> JsonObject | None:
        text, kind = event.data, head.kind
        if type(text) is not str or event.state is not None or kind not in DELTA or head.mime_type is not None:
            return None
        if kind == "tool_call":
            return {"type": "tool_call.delta", "name": head.name, "arguments": text, "tool_call_id": head.id}
        return {"type": DELTA[kind], kind: text} if head.id is head.name is None else None

    def _plain_whole(self, event: Any) -> JsonObject | None:
        kind, fidelity = self._kind, self._fidelity
        if fidelity is None and self._hint is not None:
            return None
        if kind not in ("text", "thinking") or event.cut or not (fidelity is None or is_texts(fidelity)):
            return None
        whole = jsontext.whole(self._whole())  # type: ignore[arg-type]
        state = {} if fidelity is None else {"fidelity": dict(fidelity)}
        return {"type": f"{kind}.done", kind: whole, **state}

    def _plain_end(self, event: Any) -> Said | None:
        usage, reason = event.usage, event.reason
        if usage.provider is not None or usage.other or reason.raw is not None or reason.word not in REASONS:
            return None
        known = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens)
        if not all(count is None or type(count) is int for count in known) or self.usage is not None:
            return None
        stop = stop_event(event)
        if read_stop(stop).usage != usage:
            return None
        stamped = self._plain_stamp(event)
        if stamped is None:
            return None
        self._state = ENDED
        stop["created_at"] = stamped[0]
        return stop, None, stamped[1]

    def take_plain(self, events: Sequence[Event]) -> None:
        """As :meth:`take`, of a unit that says exactly ``events``."""
        for event in events:
            kind = type(event)
            if kind is Append:
                self._grown.add(event.data)  # type: ignore[union-attr]
                if event.state is not None:  # type: ignore[union-attr]
                    self._fidelity = dict(event.state.values)  # type: ignore[union-attr]
            elif kind is Open:
                self._begin(event)  # type: ignore[arg-type]
                self._state = GROUP
            else:
                self._state = BETWEEN

    # ---- by event: the last of those that wait

    def _write_open(self, events: Sequence[Event]) -> Pieces:
        # nothing is sayable before the first fragment
        return None if self.codec.sayable(events[-1]) else [Written(None, events)]

    def _write_append(self, events: Sequence[Event]) -> Pieces:
        event, first = events[-1], events[0]
        assert type(event) is Append
        head = first if type(first) is Open else None
        if head is None and self._state is not GROUP:
            return [Written(None, events)]
        state = event.state.values if event.state and (head or self._fidelity is None) else None
        if event.state is not None and is_hint(event.state) and not self.at_home(first):
            state = None
        return [self._fragment(head, event.data, state or None, events)]

    def _fragment(self, head: Open | None, data: Data, state: JsonObject | None, events: Sequence[Event]) -> Written:
        if head is None:
            says = Open("tool_call") if self._kind == "tool_call" else self._said
        else:
            says = said_open(head, self._calls)
        written = self._stamped(delta_event(item_of(says.kind, "delta", self._wire(data), says, state)), events)
        if head is not None and says.id != head.id:
            return written._replace(guess=("id", guessed("id", id=repr(says.id))))
        return written

    def _write_close(self, events: Sequence[Event]) -> Pieces:
        event, head = events[-1], events[0]
        assert type(event) is Close
        if type(head) is Open:
            # an empty run: one empty fragment is made up, so that the group is one
            empty = GROWS[said_kind(head)]()
            said = said_open(head, self._calls)
            return [self._fragment(head, empty, None, events[:-1]), self._done(said, empty, None, event)]
        if self._state is not GROUP:
            return [Written(None, events)]
        if self._fidelity is not None or self._hint is None:
            return [self._done(self._said, self._whole(), self._fidelity, event)]
        repeated = self._fragment(None, GROWS[self._kind](), self._hint, ())._replace(made_up=False)
        return [repeated, self._done(self._said, self._whole(), self._hint, event)]

    def _done(self, head: Open, data: Data, state: JsonObject | None, event: Close | Handover) -> Written:
        whole: Any = jsontext.whole(data) if isinstance(data, str) else self._wire(data)
        if head.kind == "tool_call":
            assert isinstance(data, str)
            if type(event) is Close and event.cut and not is_whole(data, self.options.limits.nesting):
                raise broken_off(f"the call {head.name!r} was cut off", head, data)
            whole = parse_arguments(data, head.name or "", head.id or "", self.options.limits.nesting)
        return self._stamped(delta_event(item_of(head.kind, "done", whole, head, state)), [event])

    def _write_handover(self, events: Sequence[Event]) -> Pieces:
        event, first = events[-1], events[0]
        assert type(event) is Handover
        if type(first) is Open or self._state is not GROUP:
            return [Written(None, events)]
        if self._kind == "tool_call":
            # its .done would make half a call one that can be run
            what = f"the call {self._said.name!r} broke off at a handover"
            raise broken_off(what, self._said, str(self._whole()))
        return [self._done(self._said, self._whole(), self._fidelity, event)]

    def _write_finish(self, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        assert type(event) is Finish
        stop = stop_event(Finish(latest(event.usage, self.usage), event.reason))
        return [self._stamped(stop, events)]

    def _write_failure(self, events: Sequence[Event]) -> Pieces:
        event, residue = events[-1], self.residue(events[-1])
        assert type(event) is Failure
        home = self.at_home(event)
        unit = error_unit(event, at_home=home)
        if residue is not None and STAMP in residue:
            unit["created_at"] = residue[STAMP]
        said = Written(unit, events[-1:], made_up=not home)
        return [Written(None, events[:-1]), said] if len(events) > 1 else [said]

    def _write_foreign(self, events: Sequence[Event]) -> Pieces:
        event = events[-1]
        assert type(event) is Foreign
        if event.codec == NAME and len(events) == 1:
            return [Written(event.unit, events)]
        return self._write_note(events)

    def _write_note(self, events: Sequence[Event]) -> Pieces:
        # what comes after an opening that has not been said yet comes after it at home, too
        return None if type(events[0]) is Open else [Written(None, events)]

    def _stamped(self, unit: JsonObject, events: Sequence[Event]) -> Written:
        residue = self.residue(events[0]) if events else None
        made_up = residue is None or bool(residue.get("synthetic"))
        if residue is not None and not is_stamp(residue.get(STAMP)):
            self.fault(f"its created_at is {kind_of(residue[STAMP])}")
            residue, made_up = None, True
        if residue is None:
            unit["created_at"] = self.options.clock()
        elif STAMP in residue:
            unit["created_at"] = residue[STAMP]
        return Written(unit, events, made_up=made_up)

    def _wire(self, data: Data) -> Any:
        return _base64(data) if isinstance(data, bytes) and not self.options.objects else data

    _writers: ClassVar[dict[type[Event], Callable[[Any, Sequence[Event]], Pieces]]] = {
        Append: _write_append,
        Open: _write_open,
        Close: _write_close,
        Finish: _write_finish,
        Failure: _write_failure,
        Handover: _write_handover,
        Foreign: _write_foreign,
        **dict.fromkeys((Start, Usage, Annotate, Ping), _write_note),
    }


def broken_off(what: str, head: Open, raw: str) -> ToolArgumentsError:
    """The error for a call that no one finished."""
    return ToolArgumentsError(what, name=head.name or "", id=head.id or "", raw=raw, position=len(raw))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
