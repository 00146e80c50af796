"""The carry: what a native unit does not say, beside it. The format is described in ``docs/carry.md``.

1. A native unit *says* events (what its decoder makes of it alone), and stands for the events that are *meant*.
   The carry is the difference: :func:`compose` makes it, :class:`CarryReader` applies it.
2. ``{"<codec>": {…}}`` is that codec's residue of the first event meant; ``[{…}, null, {…}]`` those of all in order.
   The unit's own codec says the residue of the first event natively.
3. ``"events"`` is the list of the events meant, present where they are not those said. An entry is
   ``n``, an ``Append`` of the next n units of the data said; ``"close"``, the next event said of that name;
   ``{"as": "append", …}``, that event with members changed; or ``{"event": …}``, an event that is not said.
4. ``"synthetic": true``: what the unit's own codec adds here was made up. ``"before"``: carries that had no unit of
   their own, ahead of this one. ``"v"``: the version, in the first carry of a stream.
5. A carry adds. An ``Append`` not said may only grow a part that was opened by a carry, and of a kind that the format
   cannot say, or a call, which is none until it is closed; a ``Finish`` or ``Failure`` is always native. Where carry
   and native content disagree, the native content stands, and strict mode raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from . import jsontext
from .errors import CarryError, DecodeError
from .event_json import data_member, from_members, members
from .events import (
    EVENTS,
    NAMES,
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
    Residue,
    Start,
    State,
    Usage,
)

if TYPE_CHECKING:
    from .codec import Codec

VERSION = 1
RESERVED = frozenset({"v", "synthetic", "events", "before", "member"})
"""Members of a carry that no codec may be named."""


def size(data: Data) -> int:
    """The length of a fragment: UTF-16 code units of text, bytes, or elements."""
    if isinstance(data, str) and not data.isascii():
        return len(jsontext.units(data)) // 2
    return len(data)


def cut(data: Data, start: int, length: int) -> Data:
    """A piece of ``data``, counted as :func:`size` counts."""
    if isinstance(data, str) and not data.isascii():
        return jsontext.units(data)[2 * start : 2 * (start + length)].decode("utf-16-le", "surrogatepass")
    return data[start : start + length]


def join(pieces: Sequence[Data]) -> Data:
    """The data of a part, of the type its pieces have."""
    first = pieces[0] if pieces else ""
    if isinstance(first, str):
        return "".join(pieces)  # type: ignore[arg-type]
    if isinstance(first, bytes):
        return b"".join(pieces)  # type: ignore[arg-type]
    return [x for piece in pieces for x in piece]  # type: ignore[misc]


def bare(event: Event) -> Event:
    """The event without its residue."""
    return event if event.residue is None else replace(event, residue=None)


# ---- writing --------------------------------------------------------------------------------------


def compose(said: Sequence[Event], meant: Sequence[Event], own: str, *, made_up: bool) -> JsonObject:
    """The carry of a unit of codec ``own`` that says ``said`` and stands for ``meant``; empty where nothing is needed.

    ``made_up``: what ``own`` adds to the unit (a stamp, the whole of a made-up unit) comes from no one.
    """
    carry: JsonObject = {"synthetic": True} if made_up else {}
    last = len(meant) - 1
    columns: dict[str, list[JsonObject | None]] = {}
    for i, event in enumerate(meant):
        for name, residue in (event.residue or {}).items():
            if not (residue.get("synthetic") or (name == own and i == 0 and said)):
                columns.setdefault(name, [None] * (last + 1))[i] = residue
    for name, column in columns.items():
        while column[-1] is None:
            column.pop()
        carry[name] = column[0] if len(column) == 1 else column
    entries = script(said, meant)
    if entries is not None:
        carry["events"] = entries
    return carry


def script(said: Sequence[Event], meant: Sequence[Event]) -> list[Any] | None:
    """The entries (rule 3) that turn ``said`` into ``meant``, or ``None`` where they are equal but for residues."""
    if len(said) == len(meant) and all(same_event(s, m) for s, m in zip(said, meant, strict=True)):
        return None
    appends = [event for event in said if type(event) is Append]
    grown = [event.data for event in meant if type(event) is Append]
    explicit = bool(appends) and not jsontext.same(join([a.data for a in appends]), join(grown))
    entries: list[Any] = []
    others = [event for event in said if type(event) is not Append]
    at, used = 0, 0
    for event in meant:
        if type(event) is Append and appends:
            length = size(event.data)
            if used and used + length > size(appends[0].data) and len(appends) > 1:
                appends.pop(0)
                used = 0
            entries.append(_piece(appends[0], event, used, length, explicit))
            used += length
            continue
        found = next((i for i in range(at, len(others)) if type(others[i]) is type(event)), None)
        if found is None:
            entries.append({"event": NAMES[type(event)], **members(event)})
            continue
        entries.append(_changed(others[found], event))
        at = found + 1
    return entries


def same_event(a: Event, b: Event) -> bool:
    """Equality but for residues, as JSON values."""
    if type(a) is not type(b):
        return False
    if type(a) is Append and type(b) is Append:
        return jsontext.same(a.data, b.data) and not _state_change(a.state, b.state)
    return type(a) is Close or jsontext.same(members(a), members(b))


def _piece(said: Append, meant: Append, used: int, length: int, explicit: bool) -> Any:
    changed = _state_change(said.state, meant.state)
    if explicit:
        return {"as": "append", **data_member(meant.data), **changed}
    if used == 0 and length == size(said.data) and not changed:
        return "append"
    if said.state is None and meant.state is None:
        return length
    return {"as": "append", "length": length, **changed}


def _state_change(said: State | None, meant: State | None) -> JsonObject:
    if said is None and meant is None:
        return {}
    if said is not None and meant is not None and said.namespace == meant.namespace:
        if jsontext.same(said.values, meant.values):
            return {}
        return {"state": _state_json(meant)}
    if said is not None and meant is not None and jsontext.same(said.values, meant.values):
        return {"namespace": meant.namespace}
    return {"state": None if meant is None else _state_json(meant)}


def _state_json(state: State) -> JsonObject:
    namespace: JsonObject = {} if state.namespace is None else {"namespace": state.namespace}
    return {**namespace, "values": state.values}


def _changed(said: Event, meant: Event) -> Any:
    name, a, b = NAMES[type(said)], members(said), members(meant)
    change = {k: b.get(k) for k in {**a, **b} if not jsontext.same(a.get(k), b.get(k))}
    if "usage" in change:
        change["usage"] = _usage_change(a["usage"], b["usage"])
    return {"as": name, **change} if change else name


def _usage_change(said: JsonObject, meant: JsonObject) -> JsonObject:
    """The counts that differ, each with the sum it is part of, so that a reader can tell whether that was changed."""
    change = {k: meant.get(k) for k in {**said, **meant} if not jsontext.same(said.get(k), meant.get(k))}
    for part, total in (("cached_tokens", "input_tokens"), ("reasoning_tokens", "output_tokens")):
        if change.get(part):
            change[total] = meant.get(total)
    return change


# ---- reading --------------------------------------------------------------------------------------


class _Cursor:
    """Takes the events said, in order; only what holds nothing may be left untaken."""

    def __init__(self, said: Sequence[Event], codec: Codec) -> None:
        self.said = said
        self.codec = codec
        self.at = 0
        self.used = 0
        self.stated = False
        self.left: list[Event] = []

    def append(self) -> Append:
        """The ``Append`` that the next piece is of."""
        while self.at < len(self.said):
            event = self.said[self.at]
            if type(event) is Append:
                return event
            self._leave()
        raise CarryError("the carry takes more from the unit than it says")

    def take(self, length: int | None) -> Data:
        """The next ``length`` units of data; ``None`` for the rest of the current ``Append``."""
        event = self.append()
        whole = size(event.data)
        if length and self.used == whole:
            self._leave()
            event = self.append()
            whole = size(event.data)
        length = whole - self.used if length is None else length
        if length < 0 or self.used + length > whole:
            raise CarryError("the lengths in the carry are not those of the native content")
        piece = cut(event.data, self.used, length)
        self.used += length
        return piece

    def next(self, name: str) -> Event:
        """The next event of that name."""
        while self.at < len(self.said):
            event = self.said[self.at]
            if NAMES[type(event)] == name:
                self._move()
                return event
            self._leave()
        raise CarryError(f"the carry speaks of an event {name!r} that the unit does not say")

    def finish(self, *, handed_over: bool) -> None:
        """All is taken. A ``Close`` may be left where a ``Handover`` stands for it."""
        while self.at < len(self.said):
            self._leave()
        if not all(type(event) is Close and handed_over for event in self.left):
            raise CarryError("the carry leaves out what the unit says")

    def _leave(self) -> None:
        event = self.said[self.at]
        if type(event) is not Append:
            self.left.append(event)
        elif (self.used != size(event.data) and not self._is_blank(event)) or (event.state and not self.stated):
            raise CarryError("the carry leaves out a part of the native content")
        self._move()

    def _is_blank(self, event: Append) -> bool:
        """Whether these are the codec's words for no content at all, of which no fragment may be meant."""
        return not self.used and self.codec.agrees(Append(event.data), Append(type(event.data)()))

    def _move(self) -> None:
        self.at, self.used, self.stated = self.at + 1, 0, False


class CarryReader:
    """Applies the carries of one stream, in order: :meth:`read` for each unit that has one."""

    __slots__ = ("_closing", "_codec", "_foreign_version", "_kind_unsayable", "_open", "used")

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._foreign_version = False
        self._open: Open | None = None
        self._kind_unsayable = False
        self.used = False

    @property
    def trusted(self) -> bool:
        """Whether carries are read: not so after one of another version."""
        return not self._foreign_version

    def ahead(self, carry: JsonObject) -> list[Event]:
        """The events that rode ahead of the unit: to be read, and told to the decoder, before the unit is decoded."""
        out: list[Event] = []
        with self._reading(carry):
            for held in _list(carry.get("before", []), "before"):
                if not isinstance(held, dict):
                    raise CarryError("an entry of 'before' is no object")
                out += self._events([], held)
        return out

    def read(self, said: list[Event], carry: JsonObject) -> list[Event]:
        """The events meant by a unit that says ``said``. Raises :class:`CarryError`; then ``said`` stands."""
        with self._reading(carry):
            return self._events(said, carry)

    @contextmanager
    def _reading(self, carry: JsonObject) -> Iterator[None]:
        version = carry.get("v", VERSION)
        if version != VERSION or isinstance(version, bool):
            self._foreign_version = True
            raise CarryError(f"the carry is of version {str(version)[:20]}", expected=f"version {VERSION}")
        if self._foreign_version:
            raise CarryError("the carries of this stream are of another version", expected=f"version {VERSION}")
        self.used = True
        try:
            yield
        except DecodeError as error:
            raise CarryError(f"the carry holds a malformed event: {error.what}", expected=error.expected) from None

    def _events(self, said: list[Event], carry: JsonObject) -> list[Event]:
        own = self._codec.name
        events = self._script(said, carry["events"]) if "events" in carry else [replace(event) for event in said]
        native = said[0].residue if said else None
        if native and events:
            events[0].residue = {**native, **(events[0].residue or {})}
        for name, column in carry.items():
            if name not in RESERVED:
                for event, residue in _column(name, column, events):
                    event.residue = {**(event.residue or {}), name: residue}
        if "synthetic" in carry:
            if carry["synthetic"] is not True or not events or not said:
                raise CarryError("a mark 'synthetic' that marks nothing")
            marked: Residue = dict(events[0].residue or {})
            marked[own] = {**marked.get(own, {}), "synthetic": True}
            events[0].residue = marked
        return events

    def _script(self, said: list[Event], entries: Any) -> list[Event]:
        cursor = _Cursor(said, self._codec)
        out: list[Event] = []
        for entry in _list(entries, "events"):
            if type(entry) is int:
                out.append(Append(cursor.take(entry)))
            elif entry == "append":
                state, cursor.stated = cursor.append().state, True
                out.append(Append(cursor.take(None), state))
            elif isinstance(entry, str):
                out.append(bare(cursor.next(entry)))
            elif isinstance(entry, dict) and entry.get("as") == "append":
                out.append(self._append(cursor, entry))
            elif isinstance(entry, dict) and "as" in entry:
                out.append(self._as(cursor.next(str(entry["as"])), entry))
            elif isinstance(entry, dict):
                out.append(self._unsaid(entry))
            else:
                raise CarryError("an entry of the carry's events is none of number, name and object")
        cursor.finish(handed_over=any(type(event) is Handover for event in out))
        if any(isinstance(entry, dict) and _spelled_out(entry) for entry in entries):
            native = join([event.data for event in said if type(event) is Append])
            grown = join([event.data for event in out if type(event) is Append])
            if not self._codec.agrees(Append(native), Append(grown)):
                raise CarryError("the carry holds other content than the unit")
        return out

    def _append(self, cursor: _Cursor, entry: JsonObject) -> Append:
        said = cursor.append()
        if _spelled_out(entry):
            data = getattr(from_members("append", {k: v for k, v in entry.items() if k in _DATA}), "data")  # noqa: B009
            cursor.used = size(said.data)
        else:
            length = entry.get("length")
            if "length" in entry and type(length) is not int:
                raise CarryError("a length in the carry is no integer")
            data = cursor.take(length)
        state = said.state
        if "state" in entry:
            state = getattr(from_members("append", {"text": "", "state": entry["state"]}), "state")  # noqa: B009
        elif "namespace" in entry:
            if state is None or not isinstance(entry["namespace"], (str, type(None))):
                raise CarryError("the carry names the issuer of a state that the unit does not hold")
            state = State(entry["namespace"], state.values)
        if said.state is not None and state is not None:
            if not self._codec.agrees(said, replace(said, state=state)):
                raise CarryError("the state in the carry is not that of the native content")
            cursor.stated = True
        return Append(data, state)

    def _as(self, said: Event, entry: JsonObject) -> Event:
        changed = {k: v for k, v in entry.items() if k != "as"}
        if isinstance(changed.get("usage"), dict):
            changed["usage"] = {**members(said).get("usage", {}), **changed["usage"]}
        meant = from_members(NAMES[type(said)], {**members(said), **changed})
        if not self._codec.agrees(said, meant):
            raise CarryError(f"the carry's {NAMES[type(said)]!r} is not what the unit says")
        return meant

    def _unsaid(self, entry: JsonObject) -> Event:
        name = entry.get("event")
        if not isinstance(name, str) or name not in EVENTS or "residue" in entry:
            raise CarryError("an entry of the carry's events names no event")
        event = from_members(name, {k: v for k, v in entry.items() if k != "event"})
        if not self._may_add(event):
            raise CarryError(f"a carry may not add an event {name!r} here")
        if type(event) is Open:
            self._open = event
        elif type(event) in (Close, Handover):
            self._open = None
        return event

    def _may_add(self, event: Event) -> bool:
        rule = _MAY_ADD.get(type(event))
        return rule is None or rule(self, event)

    def ended(self, events: Sequence[Event]) -> None:
        """To be told of a unit's events after a carry was read: an end closes what a carry opened."""
        if any(type(event) in (Failure, Handover) for event in events):
            self._open = None


def _add_start(reader: CarryReader, event: Event) -> bool:
    return not reader._codec.sayable(event)


def _add_append(reader: CarryReader, event: Event) -> bool:
    if type(event) is Append and not event.data:
        return True
    part = reader._open
    # a call that is cut off before it was said is carried, and is no part of the message
    return part is not None and (part.kind == "tool_call" or not reader._codec.sayable(part))


def _add_close(reader: CarryReader, event: Event) -> bool:
    return reader._open is not None and not reader._codec.sayable(reader._open)


def _never(reader: CarryReader, event: Event) -> bool:
    return False


_MAY_ADD: dict[type[Event], Callable[[CarryReader, Event], bool]] = {
    Start: _add_start,
    Handover: _add_start,
    Append: _add_append,
    Close: _add_close,
    Finish: _never,
    Failure: _never,
}
assert {Open, Annotate, Usage, Foreign}.isdisjoint(_MAY_ADD), "these may be added anywhere the grammar allows"


_DATA = ("text", "bytes", "vector")


def _spelled_out(entry: JsonObject) -> bool:
    return entry.get("as") == "append" and any(key in entry for key in _DATA)


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise CarryError(f"the carry's {name!r} is no list")
    return value


def _column(name: str, column: Any, events: list[Event]) -> list[tuple[Event, JsonObject]]:
    if isinstance(column, dict):
        column = [column]
    if not isinstance(column, list) or len(column) > len(events):
        raise CarryError(f"the carry's {name!r} belongs to no event of the unit")
    out = []
    for event, residue in zip(events, column, strict=False):
        if residue is not None:
            if not isinstance(residue, dict):
                raise CarryError(f"the carry's {name!r} is no object")
            out.append((event, residue))
    return out
