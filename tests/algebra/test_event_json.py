"""The JSON form of events: every event comes back, every malformed form is refused, and the models agree."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from translate import (
    Annotate,
    Append,
    Close,
    DecodeError,
    Event,
    Failure,
    Finish,
    Foreign,
    Handover,
    Model,
    Open,
    Ping,
    Reason,
    Start,
    State,
    TokenCounts,
    Usage,
    jsontext,
)
from translate.algebra.events import EVENTS, NAMES, PART_KINDS, REASONS
from translate.algebra.json_form import data_member, from_json, from_members, members, to_json
from translate.algebra.models import MODELS, Number, Unit
from translate.jsontext import Beyond

SCHEMA = Unit.model_json_schema()
VALIDATOR = Draft202012Validator(SCHEMA)

TEXT = st.text(st.characters(exclude_categories=()), max_size=5)
WORD = st.none() | TEXT
INTEGER = st.none() | st.integers() | st.just(2**70)
NUMBER = st.integers() | st.floats() | st.sampled_from([2**70, Beyond("1e400")])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT | st.just("$number"), inner, max_size=2),
    max_leaves=4,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=2)
RESIDUE = st.none() | st.dictionaries(st.sampled_from(["toy", "gateway"]), OBJECT, min_size=1, max_size=2)
MODEL = st.builds(Model, WORD, WORD, WORD, WORD)
COUNTS = st.builds(TokenCounts, INTEGER, INTEGER, INTEGER, INTEGER, WORD, OBJECT)
STATE = st.none() | st.builds(State, WORD, OBJECT)
DATA = TEXT | st.binary(max_size=5) | st.lists(NUMBER, max_size=3)
EVENT: st.SearchStrategy[Event] = st.one_of(
    st.builds(Start, MODEL, WORD, st.none() | NUMBER, RESIDUE),
    st.builds(Open, st.sampled_from(PART_KINDS), WORD, WORD, WORD, RESIDUE),
    st.builds(Append, DATA, STATE, RESIDUE),
    st.builds(Annotate, WORD, JSON, RESIDUE),
    st.builds(Close, RESIDUE),
    st.builds(Handover, MODEL, RESIDUE),
    st.builds(Usage, COUNTS, RESIDUE),
    st.builds(Finish, COUNTS, st.builds(Reason, st.sampled_from(REASONS), WORD), RESIDUE),
    st.builds(Failure, INTEGER, TEXT, WORD, OBJECT, RESIDUE),
    st.builds(Ping, RESIDUE),
    st.builds(Foreign, TEXT, OBJECT, RESIDUE),
)


def accepted(value: Any) -> bool:
    """Whether ``from_json`` takes what a reader of ``events-jsonl`` hands it."""
    try:
        from_json(jsontext.from_strict(value))
    except DecodeError:
        return False
    return True


def modelled(value: Any) -> bool:
    """Whether the model takes it."""
    try:
        Unit.model_validate(value)
    except ValidationError:
        return False
    return True


def described(value: Any) -> bool:
    """Whether the JSON Schema takes it. It cannot tell base64, nor which numbers JSON has not."""
    return bool(VALIDATOR.is_valid(value))


@given(EVENT)
def test_every_event_comes_back(event: Event) -> None:
    form = to_json(event)
    assert None not in [v for k, v in form.items() if k != "data"]
    back = from_json(form)
    assert type(back) is type(event)
    assert jsontext.same(to_json(back), form)
    raw = jsontext.dumps_strict(form)
    assert jsontext.same(to_json(from_json(jsontext.from_strict(jsontext.loads(raw)))), json_whole(form))
    assert modelled(jsontext.loads(raw))


def json_whole(value: Any) -> Any:
    """Names as JSON text holds them: halves that come together are one character."""
    if isinstance(value, dict):
        return {jsontext.whole(k): json_whole(v) for k, v in value.items()}
    return [json_whole(v) for v in value] if isinstance(value, list) else value


FORMS: list[tuple[Event, dict[str, Any]]] = [
    (Start(), {"event": "start", "model": {}}),
    (
        Start(Model("m", None, "p"), "i", 1.5),
        {"event": "start", "model": {"name": "m", "publisher": "p"}, "id": "i", "created": 1.5},
    ),
    (Open("tool_call", "i", "n"), {"event": "open", "kind": "tool_call", "id": "i", "name": "n"}),
    (Open("inline_data", mime_type="a/b"), {"event": "open", "kind": "inline_data", "mime_type": "a/b"}),
    (Append("Hel"), {"event": "append", "text": "Hel"}),
    (Append(""), {"event": "append", "text": ""}),
    (Append(b"\xff"), {"event": "append", "bytes": "/w=="}),
    (Append([1, 2.5]), {"event": "append", "vector": [1, 2.5]}),
    (Append("a", State(None, {})), {"event": "append", "text": "a", "state": {"values": {}}}),
    (
        Append("a", State("", {"b": 1})),
        {"event": "append", "text": "a", "state": {"namespace": "", "values": {"b": 1}}},
    ),
    (Annotate("n", {"a": 1}), {"event": "annotate", "namespace": "n", "data": {"a": 1}}),
    (Annotate(None, None), {"event": "annotate", "data": None}),
    (Close(), {"event": "close"}),
    (Handover(Model(provider="p")), {"event": "handover", "model": {"provider": "p"}}),
    (Usage(TokenCounts(1, 2)), {"event": "usage", "usage": {"input_tokens": 1, "output_tokens": 2}}),
    (Usage(TokenCounts(other={"a": None})), {"event": "usage", "usage": {"other": {"a": None}}}),
    (Finish(), {"event": "finish", "usage": {}, "reason": "unknown"}),
    (
        Finish(TokenCounts(0), Reason("stop", "END")),
        {"event": "finish", "usage": {"input_tokens": 0}, "reason": "stop", "raw": "END"},
    ),
    (Failure(None, "m"), {"event": "failure", "message": "m", "details": {}}),
    (
        Failure(500, "", "k", {"a": 1}),
        {"event": "failure", "code": 500, "message": "", "kind": "k", "details": {"a": 1}},
    ),
    (Ping(), {"event": "ping"}),
    (Ping({"toy": {}}), {"event": "ping", "residue": {"toy": {}}}),
    (Ping({}), {"event": "ping"}),
    (Foreign("c", {"a": 1}), {"event": "foreign", "codec": "c", "unit": {"a": 1}}),
]


@pytest.mark.parametrize(("event", "form"), FORMS)
def test_the_forms(event: Event, form: dict[str, Any]) -> None:
    assert to_json(event) == form
    assert members(event) == {k: v for k, v in form.items() if k not in ("event", "residue")}
    assert to_json(from_json(form)) == form
    assert accepted(form)
    assert modelled(form)
    assert described(form)


def test_every_event_has_a_form() -> None:
    assert {type(event) for event, _ in FORMS} == set(EVENTS.values()) == set(NAMES)


NULLS = [
    *({"event": "start", "model": None, "id": None, "created": None}, {"event": "close", "residue": None}),
    {"event": "open", "kind": "text", "id": None, "name": None, "mime_type": None},
    {"event": "append", "text": "a", "bytes": None, "vector": None, "state": None},
    {"event": "append", "text": "a", "state": {"namespace": None, "values": {"a": None}}},
    *({"event": "annotate", "namespace": None, "data": None}, {"event": "handover", "model": {"name": None}}),
    {"event": "usage", "usage": {"input_tokens": None, "provider": None, "other": None}},
    *({"event": "usage", "usage": None}, {"event": "finish", "usage": None, "reason": None, "raw": None}),
    {"event": "failure", "message": "m", "code": None, "kind": None, "details": None},
]


@pytest.mark.parametrize("form", NULLS)
def test_null_is_unknown(form: dict[str, Any]) -> None:
    def known(value: Any) -> Any:
        return {k: known(v) for k, v in value.items() if v is not None} if isinstance(value, dict) else value

    expected = from_json({**known(form), **({"data": None} if "data" in form else {})})
    found = from_json(form)
    if isinstance(found, Append) and found.state is not None:
        assert found.state.values == {"a": None}
    else:
        assert found == expected
    assert modelled(form)
    assert described(form)


MALFORMED: list[tuple[Any, str]] = [
    *(
        (None, "an event is an object, not null"),
        ([], "not a list"),
        ("a", "not text"),
        (1, "not 1"),
        (True, "not True"),
    ),
    *(
        ({}, "no event is named None"),
        ({"event": "x"}, "named 'x'"),
        ({"event": 1}, "named 1"),
        ({"event": ["ping"]}, "named"),
    ),
    *(
        ({"event": "Ping"}, "named 'Ping'"),
        ({"event": "ping", "x": 1}, "no member 'x'"),
        ({"event": "ping", "x": None}, "no member 'x'"),
    ),
    *(({"event": "close", "residue": []}, "'residue'"), ({"event": "close", "residue": {"a": 1}}, "'residue'")),
    *(({"event": "start", "model": 1}, "'model'"), ({"event": "start", "model": {"x": None}}, "'model'")),
    *(({"event": "start", "model": {"name": 1}}, "'name'"), ({"event": "start", "created": "1"}, "'created'")),
    *(({"event": "start", "created": True}, "'created'"), ({"event": "start", "id": 1}, "'id'")),
    *(
        ({"event": "open"}, "lacks a member"),
        ({"event": "open", "kind": "x"}, "'kind'"),
        ({"event": "open", "kind": []}, "'kind'"),
    ),
    *(({"event": "open", "kind": None}, "lacks a member"), ({"event": "open", "kind": "text", "name": 1}, "'name'")),
    *(({"event": "append"}, "0 of its data"), ({"event": "append", "text": None}, "0 of its data")),
    *(({"event": "append", "text": "", "bytes": ""}, "2 of its data"), ({"event": "append", "text": 1}, "'text'")),
    *(
        ({"event": "append", "data": "a"}, "no member 'data'"),
        ({"event": "append", "text": "a", "x": 1}, "no member 'x'"),
    ),
    *(({"event": "append", "bytes": 1}, "'bytes'"), ({"event": "append", "bytes": "Q"}, "'bytes'")),
    *(({"event": "append", "bytes": "QQ==\n"}, "'bytes'"), ({"event": "append", "bytes": "é==="}, "'bytes'")),
    *(({"event": "append", "vector": 1}, "'vector'"), ({"event": "append", "vector": ["1"]}, "'vector'")),
    *(({"event": "append", "vector": [True]}, "'vector'"), ({"event": "append", "vector": [None]}, "'vector'")),
    *(
        ({"event": "append", "text": "", "state": 1}, "'state'"),
        ({"event": "append", "text": "", "state": {}}, "'values'"),
    ),
    ({"event": "append", "text": "", "state": {"values": {}, "x": None}}, "'state'"),
    ({"event": "append", "text": "", "state": {"values": {}, "namespace": 1}}, "'namespace'"),
    ({"event": "append", "text": "", "state": {"values": []}}, "'values'"),
    *(({"event": "annotate"}, "lacks a member"), ({"event": "annotate", "data": 1, "namespace": 1}, "'namespace'")),
    *(({"event": "usage", "usage": []}, "'usage'"), ({"event": "usage", "usage": {"x": 1}}, "'usage'")),
    *(
        ({"event": "usage", "usage": {"input_tokens": 1.0}}, "'input_tokens'"),
        ({"event": "usage", "usage": {"input_tokens": True}}, "'input"),
    ),
    *(
        ({"event": "usage", "usage": {"provider": 1}}, "'provider'"),
        ({"event": "usage", "usage": {"other": []}}, "'other'"),
    ),
    *(({"event": "finish", "reason": "x"}, "'reason'"), ({"event": "finish", "reason": []}, "'reason'")),
    *(
        ({"event": "finish", "raw": 1}, "'raw'"),
        ({"event": "finish", "usage": 1}, "'usage'"),
        ({"event": "finish", "word": "stop"}, "'word'"),
    ),
    *(({"event": "failure"}, "lacks a member"), ({"event": "failure", "message": 1}, "'message'")),
    *(
        ({"event": "failure", "message": "", "code": "5"}, "'code'"),
        ({"event": "failure", "message": "", "code": 5.0}, "'code'"),
    ),
    *(
        ({"event": "failure", "message": "", "kind": 1}, "'kind'"),
        ({"event": "failure", "message": "", "details": []}, "'details'"),
    ),
    *(
        ({"event": "foreign", "codec": "c"}, "lacks a member"),
        ({"event": "foreign", "codec": 1, "unit": {}}, "'codec'"),
    ),
    *(({"event": "foreign", "codec": "c", "unit": []}, "'unit'"), ({"event": "foreign", "unit": {}}, "lacks a member")),
    *(
        ({"event": "annotate", "data": {"$number": "5"}}, "number"),
        ({"event": "start", "created": {"$number": ""}}, "number"),
    ),
]


@pytest.mark.parametrize(("value", "what"), MALFORMED)
def test_malformed_forms(value: Any, what: str) -> None:
    with pytest.raises(DecodeError) as caught:
        from_json(jsontext.from_strict(value))
    assert what in caught.value.what
    assert not modelled(value)


# it says neither what base64 is nor that one of three members is there, and takes 1.0 for an integer
BEYOND_SCHEMA = ("number", "'bytes'", "of its data", "'input_tokens'", "'code'")


@pytest.mark.parametrize("value", [value for value, what in MALFORMED if not what.endswith(BEYOND_SCHEMA)])
def test_the_schema_refuses_malformed_forms(value: Any) -> None:
    assert not described(value)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_numbers_that_json_has_not(word: str) -> None:
    number = {"$number": word}
    for form in ({"event": "start", "created": number}, {"event": "append", "vector": [1, number]}):
        assert accepted(form)
        assert modelled(form)
        assert described(form)
    event = from_json(jsontext.from_strict({"event": "append", "vector": [number]}))
    assert isinstance(event, Append)
    assert not math.isfinite(event.data[0])  # type: ignore[arg-type]
    assert jsontext.to_strict(to_json(event)) == {"event": "append", "vector": [number]}


VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(
            None,
            True,
            0,
            1,
            1.0,
            2**70,
            "",
            "a",
            "text",
            "stop",
            "QQ==",
            "Q",
            [],
            [1],
            [1.5, 2],
            ["a"],
            [None],
            {},
            {"a": 1},
        ),
        *(
            {"a": {}},
            {"values": {}},
            {"values": {}, "namespace": "n"},
            {"name": "m"},
            {"input_tokens": 1},
            {"other": {}},
        ),
        *({"provider": None}, {"$number": "NaN"}, {"$number": "x"}, [{"$number": "NaN"}], {"$a": 1}, {"$$number": "x"}),
    ]
)
KEYS = st.sampled_from(sorted({key for _, form in FORMS for key in form if key != "event"} | {"state", "x", "word"}))


@given(st.sampled_from(sorted(EVENTS)), st.dictionaries(KEYS, VALUES, max_size=5))
def test_the_models_take_what_is_taken(name: str, given_members: dict[str, Any]) -> None:
    form = {"event": name, **given_members}
    assert modelled(form) == accepted(form)
    if modelled(form):
        assert described(form)


@given(EVENT, KEYS, VALUES, st.booleans())
def test_the_models_take_what_is_taken_near_valid_forms(event: Event, key: str, value: Any, drop: bool) -> None:
    form = jsontext.to_strict(to_json(event))
    form = {k: v for k, v in form.items() if k != key} if drop else {**form, key: value}
    assert modelled(form) == accepted(form)


def test_the_models_and_their_schemas() -> None:
    assert {"unit": Unit} == MODELS
    Draft202012Validator.check_schema(Unit.model_json_schema())
    Draft202012Validator.check_schema(Unit.model_json_schema(mode="serialization"))
    forms = [form["properties"] for form in SCHEMA["$defs"].values()]
    assert {form["event"]["const"] for form in forms if "event" in form} == set(EVENTS)
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA
    assert Number.model_validate({"$number": "NaN"}).number == "NaN"


def test_pieces() -> None:
    assert data_member("a") == {"text": "a"}
    assert from_members("append", {"text": "a", "residue": {"toy": {}}}) == Append("a", None, {"toy": {}})
    given_members = {"kind": "text", "id": None}
    assert from_members("open", given_members) == Open("text")
    assert given_members == {"kind": "text", "id": None}
