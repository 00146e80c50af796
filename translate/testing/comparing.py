"""What the test kit compares: events as their source meant them, calls, units without their carry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from .. import jsontext
from ..algebra.events import (
    WHOLE,
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Handover,
    JsonObject,
    Open,
    Ping,
)
from ..algebra.json_form import same_event, to_json
from .recording import Put


def at_home(events: Iterable[Event], *codecs: str) -> list[Event]:
    """The events as their source meant them: without keep-alives, and without what ``codecs`` made up on the way."""
    out: list[Event] = []
    for event in events:
        if type(event) is Ping or any(is_made_up(event, codec) for codec in codecs):
            continue
        residue = {k: v for k, v in (event.residue or {}).items() if not v.get("synthetic")}
        out.append(replace(event, residue=residue or None))
    return out


def content(events: Iterable[Event]) -> list[Event]:
    """The events that make up the message, but for the end."""
    return [event for event in events if type(event) in (Open, Append, Close, Failure)]


def calls(events: Iterable[Event]) -> list[tuple[tuple[str, str], bool]]:
    """The calls that were closed, by name and arguments, and whether they were cut off."""
    out: list[tuple[tuple[str, str], bool]] = []
    head, text = None, ""
    for event in events:
        if type(event) is Open:
            head, text = event, ""
        elif type(event) is Append and isinstance(event.data, str):
            text += event.data
        elif type(event) is Close and head is not None and head.kind == "tool_call":
            out.append(((head.name or "", text), event.cut))
    return out


def without_carry(unit: JsonObject) -> JsonObject:
    """An object unit without its carry, an unknown member of that name back in its place."""
    inside = unit.get("carry")
    if not isinstance(inside, dict):
        return unit
    plain = {k: v for k, v in unit.items() if k != "carry"}
    return {**plain, "carry": inside["member"]} if "member" in inside else plain


def varied(event: Event) -> Event:
    """The event, saying something else."""
    if type(event) is Failure:
        return replace(event, message=event.message + "x")
    if type(event) is Finish:
        more = (event.usage.output_tokens or event.usage.reasoning_tokens or 0) + 1
        return replace(event, usage=replace(event.usage, output_tokens=more))
    assert type(event) is Handover
    return replace(event, model=replace(event.model, name=(event.model.name or "") + "x"))


def is_made_up(event: Event, codec: str) -> bool:
    """Whether a codec made up an event as a whole."""
    own = (event.residue or {}).get(codec, {})
    return type(event) in WHOLE and bool(own.get("synthetic"))


def same(a: Event, b: Event) -> bool:
    """Whether two events are equal, residues included."""
    return same_event(a, b) and jsontext.same(a.residue or {}, b.residue or {})


def equal(found: Sequence[Event], expected: Sequence[Event], what: str) -> None:
    """Raise ``AssertionError`` where events are not the same."""
    for i, (a, b) in enumerate(zip(found, expected, strict=False)):
        assert same(a, b), f"{what}: event {i} is {to_json(a)}, not {to_json(b)}"
    if len(found) != len(expected):
        longer = found if len(found) > len(expected) else expected
        extra = to_json(longer[min(len(found), len(expected))])
        raise AssertionError(f"{what}: {len(found)} events, not {len(expected)}; the first of the others is {extra}")


def first_unlike(found: Sequence[Put], expected: Sequence[Put]) -> str:
    """Where what was put begins to differ."""
    for a, b in zip(found, expected, strict=False):
        if a != b:
            return f"{a}, the long way {b}"
    return f"{len(found)} times, the long way {len(expected)} times"
