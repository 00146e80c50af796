"""The carry: what a native unit does not say, beside it. The format is described in ``docs/carry.md``.

1. A native unit *says* events (what its decoder makes of it alone), and stands for the events that are *meant*.
   The carry is the difference: :func:`compose` makes it, :class:`translate.carry.reading.CarryReader` applies it.
2. ``{"<codec>": {…}}`` is that codec's residue of the first event meant; ``[{…}, null, {…}, 5, {…}]`` those of all in
   order, a number standing for so many without. The unit's own codec says the residue of the first event natively, and
   which events it said before (:mod:`translate.algebra.serial`).
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

from collections import Counter
from collections.abc import Sequence
from typing import Any

from .. import jsontext
from ..algebra.events import (
    NAMES,
    Append,
    Close,
    Data,
    Event,
    JsonObject,
    Open,
    State,
)
from ..algebra.json_form import data_member, members, same_event
from ..algebra.parts import join, size
from ..algebra.serial import SAID

VERSION = 1
SHOWN = 50
"""Characters of a name that the other side chose, at most, in a message."""
RESERVED = frozenset({"v", "synthetic", "events", "before", "member", "end"})
"""Members of a carry that no codec may be named."""


def compose(said: Sequence[Event], meant: Sequence[Event], own: str, *, made_up: bool) -> JsonObject:
    """The carry of a unit of codec ``own`` that says ``said`` and stands for ``meant``; empty where nothing is needed.

    ``made_up``: what ``own`` adds to the unit (a stamp, the whole of a made-up unit) comes from no one.
    """
    carry: JsonObject = {"synthetic": True} if made_up else {}
    columns: dict[str, list[JsonObject | int | None]] = {}
    filled: dict[str, int] = {}
    for i, event in enumerate(meant):
        if event.residue:
            for name, residue in event.residue.items():
                native = name == own and said and (i == 0 or residue.get(SAID))
                if not (residue.get("synthetic") or native):
                    column = columns.setdefault(name, [])
                    if gap := i - filled.get(name, 0):
                        column.append(gap if gap > 1 else None)
                    column.append(residue)
                    filled[name] = i + 1
    for name, column in columns.items():
        carry[name] = column[0] if filled[name] == 1 else column
    entries = script(said, meant)
    if entries is not None:
        carry["events"] = entries
    return carry


def compose_plain(events: Sequence[Event], own: str, *, made_up: bool) -> JsonObject | None:
    """As :func:`compose`, of a unit that says exactly ``events``; ``None`` where nothing is needed."""
    residue = events[0].residue
    if len(events) > 1 and any(event.residue is not None for event in events[1:]):
        return compose(events, events, own, made_up=made_up) or None
    if residue is None:
        return {"synthetic": True} if made_up else None
    carry: JsonObject = {"synthetic": True} if made_up else {}
    for name, others in residue.items():
        if name != own and not others.get("synthetic"):
            carry[name] = others
    return carry or None


def script(said: Sequence[Event], meant: Sequence[Event]) -> list[Any] | None:
    """The entries (rule 3) that turn ``said`` into ``meant``, or ``None`` where they are equal but for residues.

    One entry an event meant. Time is linear in both.
    """
    if len(said) == len(meant) and all(map(same_event, said, meant)):
        return None
    if len(said) == len(meant) == 1 and type(said[0]) is type(meant[0]) is not Append:
        return [_changed(said[0], meant[0])]
    if (usual := _in_pieces(said, meant)) is not None:
        return usual
    found = _found(said, meant)
    pieces = _pieces(said, meant, found)
    entries: list[Any] = []
    for i, event in enumerate(meant):
        place = found[i]
        if type(event) is Append and i in pieces:
            entries.append(pieces[i].entry(event))
        elif place is None:
            entries.append({"event": NAMES[type(event)], **members(event)})
        else:
            entries.append(_changed(said[place], event))
    return entries


def _in_pieces(said: Sequence[Event], meant: Sequence[Event]) -> list[Any] | None:
    """The same where a whole part is said, and just its fragments are meant, as calls mostly are; else ``None``."""
    if [*map(type, said)] != [Open, Append, Close] or type(meant[0]) is not Open or type(meant[-1]) is not Close:
        return None
    whole, data, entries, used = said[1], list[Any](), list[Any](), 0
    assert type(whole) is Append
    for event in meant[1:-1]:
        if type(event) is not Append or event.state is not None:
            return None
        data.append(event.data)
    if not data or whole.state is not None or {*map(type, data)} != {str} or "".join(data) != whole.data:
        return None
    total = size(whole.data)
    for text in data:
        length = len(text) if text.isascii() else size(text)
        entries.append("append" if length == total and not used else length)
        used += length
    return [_changed(said[0], meant[0]), *entries, _changed(said[2], meant[-1])]


def _found(said: Sequence[Event], meant: Sequence[Event]) -> list[int | None]:
    """For each event meant but fragments: which of those said it is, if any.

    They are taken in order. Where more are meant than said, the first that is alike is it, and the ``Close`` of a
    part whose ``Open`` is not said is not said either.
    """
    places: dict[type[Event], list[int]] = {}
    for i, event in enumerate(said):
        places.setdefault(type(event), []).append(i)
    spare = Counter(map(type, meant))
    spare.subtract({cls: len(found) for cls, found in places.items()})
    nth: Counter[type[Event]] = Counter()
    out: list[int | None] = []
    at, unsaid = -1, False
    for event in meant:
        cls = type(event)
        if cls is Append:
            out.append(None)
            continue
        found = places.get(cls, [])
        while nth[cls] < len(found) and found[nth[cls]] <= at:
            nth[cls] += 1
        place = found[nth[cls]] if nth[cls] < len(found) else None
        if place is not None and ((cls is Close and unsaid) or (spare[cls] > 0 and not _alike(said[place], event))):
            place = None
        if place is None:
            spare[cls] -= 1
        else:
            at = place
            nth[cls] += 1
        if cls in (Open, Close):
            unsaid = cls is Open and place is None
        out.append(place)
    return out


def _alike(said: Event, meant: Event) -> bool:
    return said.kind == meant.kind if type(said) is Open and type(meant) is Open else same_event(said, meant)


class _Said:
    """The fragments said between one opening that is said and the next, given out in pieces."""

    __slots__ = ("_appends", "_nth", "_taken", "_used", "explicit")

    def __init__(self) -> None:
        self._appends: list[tuple[Append, int]] = []
        self._nth = self._used = 0
        self._taken = self.explicit = False

    def add(self, event: Append) -> None:
        """One fragment said."""
        self._appends.append((event, size(event.data)))

    def says(self, grown: Sequence[Data]) -> bool:
        """Whether data may be pieces of this; where it is other data, each piece is spelled out."""
        data = [event.data for event, _ in self._appends]
        if not data or not grown or type(data[0]) is not type(grown[0]):
            return False
        self.explicit = not jsontext.same(join(data), join(grown))
        return True

    def entry(self, meant: Append) -> Any:
        """The entry of the next piece."""
        length = size(meant.data)
        said, whole = self._appends[self._nth]
        if self._nth + 1 < len(self._appends):
            following = self._appends[self._nth + 1]
            # an empty piece at the end of one is of the next one where that is empty, too
            if self._taken and self._used == whole and (length or not following[1]):
                self._nth, self._used = self._nth + 1, 0
                said, whole = following
        entire = self._used == 0 and length == whole
        self._used += length
        self._taken = True
        return _piece(said, meant, length, whole=entire, explicit=self.explicit)


def _pieces(said: Sequence[Event], meant: Sequence[Event], found: Sequence[int | None]) -> dict[int, _Said]:
    """The fragments meant that are pieces of those said, by their index.

    They go on in the part whose opening is said; before any that is, also in one that a carry opens in its place.
    """
    parts = [_Said()]
    openings: dict[int, _Said] = {}
    for i, event in enumerate(said):
        if type(event) is Open:
            parts.append(openings.setdefault(i, _Said()))
        elif type(event) is Append:
            parts[-1].add(event)
    own: dict[int, _Said] = {}
    grown: dict[_Said, list[int]] = {part: [] for part in parts}
    instead: list[int] = []
    part: _Said | None = parts[0]
    for i, event in enumerate(meant):
        if type(event) is Open:
            place = found[i]
            part = None if place is None else openings[place]
        elif type(event) is Append:
            (instead if part is None else grown[part]).append(i)
    if not grown[parts[0]]:
        grown[parts[0]] = instead
    for part, places in grown.items():
        if part.says([event.data for i in places if type(event := meant[i]) is Append]):
            own.update(dict.fromkeys(places, part))
    return own


def _piece(said: Append, meant: Append, length: int, *, whole: bool, explicit: bool) -> Any:
    stateless = said.state is None and meant.state is None
    if stateless and not explicit:
        return "append" if whole else length
    changed = _state_change(said.state, meant.state)
    if explicit:
        return {"as": "append", **data_member(meant.data), **changed}
    if whole and not changed:
        return "append"
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
    name = NAMES[type(said)]
    if same_event(said, meant):
        return name
    a, b = members(said), members(meant)
    change = {k: b.get(k) for k in {**a, **b} if not jsontext.same(a.get(k), b.get(k))}
    if "usage" in change:
        change["usage"] = _usage_change(a["usage"], b["usage"])
    return {"as": name, **change}


def _usage_change(said: JsonObject, meant: JsonObject) -> JsonObject:
    """The counts that differ, each with the sum it is part of, so that a reader can tell whether that was changed."""
    change = {k: meant.get(k) for k in {**said, **meant} if not jsontext.same(said.get(k), meant.get(k))}
    for part, total in (("cached_tokens", "input_tokens"), ("reasoning_tokens", "output_tokens")):
        if change.get(part) is not None:
            change[total] = meant.get(total)
    return change
