"""The carry: what a native unit does not say, beside it. The format is described in ``docs/carry.md``.

1. A native unit *says* events (what its decoder makes of it alone), and stands for the events that are *meant*.
   The carry is the difference: :func:`compose` makes it, :class:`translate.carry.reading.CarryReader` applies it.
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

from collections.abc import Sequence
from typing import Any

from .. import jsontext
from ..algebra.events import (
    NAMES,
    Append,
    Event,
    JsonObject,
    State,
)
from ..algebra.json_form import data_member, members, same_event
from ..algebra.parts import join, size

VERSION = 1
RESERVED = frozenset({"v", "synthetic", "events", "before", "member"})
"""Members of a carry that no codec may be named."""


def compose(said: Sequence[Event], meant: Sequence[Event], own: str, *, made_up: bool) -> JsonObject:
    """The carry of a unit of codec ``own`` that says ``said`` and stands for ``meant``; empty where nothing is needed.

    ``made_up``: what ``own`` adds to the unit (a stamp, the whole of a made-up unit) comes from no one.
    """
    carry: JsonObject = {"synthetic": True} if made_up else {}
    columns: dict[str, list[JsonObject | None]] = {}
    for i, event in enumerate(meant):
        if event.residue:
            for name, residue in event.residue.items():
                if not (residue.get("synthetic") or (name == own and i == 0 and said)):
                    columns.setdefault(name, [None] * len(meant))[i] = residue
    for name, column in columns.items():
        while column[-1] is None:
            column.pop()
        carry[name] = column[0] if len(column) == 1 else column
    entries = script(said, meant)
    if entries is not None:
        carry["events"] = entries
    return carry


def compose_plain(events: Sequence[Event], own: str, *, made_up: bool) -> JsonObject | None:
    """As :func:`compose`, of a unit that says exactly ``events``; ``None`` where nothing is needed."""
    residue = events[0].residue
    if len(events) > 1 and events[1].residue is not None:
        return compose(events, events, own, made_up=made_up) or None
    if residue is None:
        return {"synthetic": True} if made_up else None
    carry: JsonObject = {"synthetic": True} if made_up else {}
    for name, others in residue.items():
        if name != own and not others.get("synthetic"):
            carry[name] = others
    return carry or None


def script(said: Sequence[Event], meant: Sequence[Event]) -> list[Any] | None:
    """The entries (rule 3) that turn ``said`` into ``meant``, or ``None`` where they are equal but for residues."""
    if len(said) == len(meant) and all(map(same_event, said, meant)):
        return None
    appends = [(event, size(event.data)) for event in said if type(event) is Append]
    grown = [event.data for event in meant if type(event) is Append]
    explicit = bool(appends) and not jsontext.same(join([a.data for a, _ in appends]), join(grown))
    entries: list[Any] = []
    others = [event for event in said if type(event) is not Append]
    at, used = 0, 0
    for event in meant:
        if type(event) is Append and appends:
            length = size(event.data)
            if used and used + length > appends[0][1] and len(appends) > 1:
                appends.pop(0)
                used = 0
            native, whole = appends[0]
            entries.append(_piece(native, event, length, whole=used == 0 and length == whole, explicit=explicit))
            used += length
            continue
        found = next((i for i in range(at, len(others)) if type(others[i]) is type(event)), None)
        if found is None:
            entries.append({"event": NAMES[type(event)], **members(event)})
            continue
        entries.append(_changed(others[found], event))
        at = found + 1
    return entries


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
        if change.get(part):
            change[total] = meant.get(total)
    return change
