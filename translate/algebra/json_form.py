"""The JSON form of events: ``{"event": "append", "text": "Hel"}``. Members that are unknown are left out.

``Append.data`` is one of the members ``text``, ``bytes`` (base64) and ``vector``; a ``Finish`` says its reason as
``reason`` and ``raw``. The form is described by the schema of :mod:`translate.algebra.models`, and written as strict
JSON by :func:`translate.jsontext.dumps_strict`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from .. import jsontext
from ..errors import DecodeError, shown
from ..jsontext import Beyond
from .events import (
    EVENTS,
    FIELDS,
    NAMES,
    PART_KINDS,
    REASONS,
    Annotate,
    Append,
    Close,
    Data,
    Event,
    Finish,
    JsonObject,
    Model,
    Open,
    Reason,
    State,
    TokenCounts,
)

MEMBERS: dict[str, frozenset[str]] = {
    **{name: frozenset({*FIELDS[cls], "residue"}) for name, cls in EVENTS.items()},
    "append": frozenset({"text", "bytes", "vector", "state", "residue"}),
    "finish": frozenset({"usage", "reason", "raw", "residue"}),
}
"""Name of an event → the members that it may have."""


def to_json(event: Event) -> JsonObject:
    """The event as a JSON object, with its residue."""
    out = {"event": NAMES[type(event)], **members(event)}
    if event.residue:
        out["residue"] = event.residue
    return out


def members(event: Event) -> JsonObject:
    """The event's own members, without its name and its residue."""
    out: JsonObject = {}
    for name in FIELDS[type(event)]:
        value = getattr(event, name)
        if value is None and (type(event) is not Annotate or name != "data"):
            continue
        if name == "data" and type(event) is Append:
            out |= data_member(value)
        elif name == "cut":
            if value:
                out["cut"] = True
        elif isinstance(value, Reason):
            out["reason"] = value.word
            if value.raw is not None:
                out["raw"] = value.raw
        elif isinstance(value, (Model, TokenCounts, State)):
            out[name] = _known(value)
        else:
            out[name] = value
    return out


def data_member(data: Any) -> JsonObject:
    """``Append.data`` as the member that its type takes."""
    if type(data) is str:
        return {"text": data}
    if type(data) is bytes:
        return {"bytes": base64.b64encode(data).decode("ascii")}
    return {"vector": data}


def _known(value: Model | TokenCounts | State) -> JsonObject:
    pairs = ((name, getattr(value, name)) for name in FIELDS[type(value)])
    return {name: v for name, v in pairs if v is not None and not (name == "other" and v == {})}


def from_json(value: Any) -> Event:
    """The event that a JSON object says. Raises :class:`DecodeError` naming the member that is wrong."""
    if not isinstance(value, dict):
        raise DecodeError(f"an event is an object, not {_name(value)}", expected="an object")
    name = value.get("event")
    if not isinstance(name, str) or name not in EVENTS:
        raise DecodeError(f"no event is named {shown(name)}", expected="one of " + ", ".join(EVENTS))
    return from_members(name, {k: v for k, v in value.items() if k != "event"})


def from_members(name: str, given: JsonObject) -> Event:
    """An event from its name and members (``null`` is unknown); the reverse of :func:`members`."""
    known = MEMBERS[name]
    for key in given:
        if key not in known:
            raise DecodeError(f"an event {name!r} has no member {shown(key)}", expected=", ".join(sorted(known)))
    given = {k: v for k, v in given.items() if v is not None or (name == "annotate" and k == "data")}
    residue = given.pop("residue", None)
    if residue is not None and not (isinstance(residue, dict) and all(isinstance(v, dict) for v in residue.values())):
        raise _wrong(name, "residue", "an object of objects")
    if name == "append":
        event: Event = Append(take_data(given), read_state(given.pop("state", None)))
    elif name == "finish":
        reason = Reason(_word(given.pop("reason", "unknown")), _text("finish", "raw", given.pop("raw", None)))
        event = Finish(_counts(given.pop("usage", {})), reason)
    else:
        event = _plain(name, given)
    event.residue = residue
    return event


def _plain(name: str, given: JsonObject) -> Event:
    out = dict(_MAY_LACK.get(name, {}))
    for key, value in given.items():
        out[key] = _CHECKS[key](name, key, value) if (name, key) != ("annotate", "data") else value
    try:
        return EVENTS[name](**out)
    except TypeError:
        missing = {"open": "kind", "annotate": "data", "failure": "message", "foreign": "codec"}.get(name, "")
        raise DecodeError(f"an event {name!r} lacks a member", expected=missing or None) from None


_MAY_LACK: dict[str, JsonObject] = {"annotate": {"namespace": None}, "failure": {"code": None}}
"""Members that an event must be given in Python, and that may be unknown."""


def _text(event: str, key: str, value: Any) -> Any:
    if value is not None and not isinstance(value, str):
        raise _wrong(event, key, "text", value)
    return value


def _number(event: str, key: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong(event, key, "a number", value)
    return value


def _integer(event: str, key: str, value: Any) -> Any:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise _wrong(event, key, "an integer", value)
    return value


def _flag(event: str, key: str, value: Any) -> Any:
    if not isinstance(value, bool):
        raise _wrong(event, key, "true or false", value)
    return value


def _object(event: str, key: str, value: Any) -> Any:
    if not isinstance(value, dict):
        raise _wrong(event, key, "an object", value)
    return value


def _kind(event: str, key: str, value: Any) -> Any:
    if event == "open" and value not in PART_KINDS:
        raise _wrong(event, key, "one of " + ", ".join(PART_KINDS), value)
    return _text(event, key, value)


def _model(event: str, key: str, value: Any) -> Model:
    names = {f.name for f in fields(Model)}
    if not isinstance(value, dict) or not set(value) <= names:
        raise _wrong(event, key, "an object of " + ", ".join(sorted(names)), value)
    return Model(**{k: _text(event, k, v) for k, v in value.items()})


_CHECKS: dict[str, Callable[[str, str, Any], Any]] = {
    "model": _model,
    "usage": lambda event, key, value: _counts(value),
    "id": _text,
    "name": _text,
    "mime_type": _text,
    "namespace": _text,
    "message": _text,
    "codec": _text,
    "kind": _kind,
    "cut": _flag,
    "created": _number,
    "code": _integer,
    "details": _object,
    "unit": _object,
}


def _counts(value: Any) -> TokenCounts:
    names = {f.name for f in fields(TokenCounts)}
    if not isinstance(value, dict) or not set(value) <= names:
        raise _wrong("usage", "usage", "an object of " + ", ".join(sorted(names)), value)
    out = {k: v for k, v in value.items() if v is not None}
    for key, v in out.items():
        check = _text if key == "provider" else _object if key == "other" else _integer
        check("usage", key, v)
    return TokenCounts(**out)


def _word(value: Any) -> Any:
    if value not in REASONS:
        raise _wrong("finish", "reason", "one of " + ", ".join(REASONS), value)
    return value


def read_state(value: Any) -> State | None:
    """A state from its JSON form; ``null`` is none."""
    if value is None:
        return None
    if not isinstance(value, dict) or not set(value) <= {"namespace", "values"}:
        raise _wrong("append", "state", "an object of namespace and values", value)
    return State(_text("append", "namespace", value.get("namespace")), _object("append", "values", value.get("values")))


def take_data(given: JsonObject) -> Data:
    """Take the one of ``text``, ``bytes`` and ``vector`` that is among the members."""
    found = [key for key in ("text", "bytes", "vector") if given.get(key) is not None]
    if len(found) != 1:
        raise DecodeError(f"an append has {len(found)} of its data members", expected="one of text, bytes, vector")
    value = given.pop(found[0])
    if found[0] == "text":
        text: str = _text("append", "text", value)
        return text
    if found[0] == "vector":
        if not isinstance(value, list) or not all(type(x) in (int, float, Beyond) for x in value):
            raise _wrong("append", "vector", "a list of numbers", value)
        return value
    try:
        return base64_bytes(_text("append", "bytes", value))
    except ValueError:
        raise _wrong("append", "bytes", "base64 text", value) from None


def base64_bytes(text: str) -> bytes:
    """The bytes that base64 text says. Raises ``ValueError``."""
    return base64.b64decode(text, validate=True)


def _wrong(event: str, key: str, expected: str, value: Any = None) -> DecodeError:
    return DecodeError(f"the member {key!r} of {event!r} is {_name(value)}", expected=expected)


def _name(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "text", type(None): "null"}.get(type(value), shown(value))


def same_event(a: Event, b: Event) -> bool:
    """Equality but for residues, as JSON values."""
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is Append:
        return jsontext.same(a.data, b.data) and same_state(a.state, b.state)  # type: ignore[union-attr]
    if kind is Open and a.kind == b.kind:  # type: ignore[union-attr]
        return (a.id, a.name, a.mime_type) == (b.id, b.name, b.mime_type)  # type: ignore[union-attr]
    if kind is Close:
        return a.cut == b.cut  # type: ignore[union-attr]
    return jsontext.same(members(a), members(b))


def same_state(a: State | None, b: State | None) -> bool:
    """Equality of states, as JSON values."""
    if a is None or b is None:
        return a is b
    return a.namespace == b.namespace and jsontext.same(a.values, b.values)
