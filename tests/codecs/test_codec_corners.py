"""What of the two codecs' rules shows in few streams: unions of states, losses, and units that are nearly canonical."""

from __future__ import annotations

from typing import Any

import pytest

from tests.codecs.test_codec_rules import home, options
from tests.codecs.test_gateway_rules import carried, run, states, x
from tests.wire import CLOCK, PARIS_MODEL, attempt, call, delta, frame, inline, item, start, stop, usage
from translate import (
    Append,
    Close,
    DecodeError,
    Event,
    Failure,
    Finish,
    Foreign,
    GrammarError,
    Handover,
    LossError,
    Model,
    Open,
    Report,
    Start,
    State,
    Usage,
    codec,
    convert,
    decode,
    encode,
    jsontext,
)
from translate.engine.writing import Writing

UNIEVENT, GATEWAY = codec("unievent"), codec("gateway")
S = State("x", {"k": 1})


def test_what_formats_have_words_for() -> None:
    assert GATEWAY.says == {"start", "handover", "text", "thinking", "refusal", "tool_call", "finish", "failure"}
    kinds = {"text", "thinking", "refusal", "tool_call", "inline_data", "inline_thinking", "embedding"}
    assert UNIEVENT.says == kinds | {"state", "finish", "failure"}
    more = {"server_tool_call", "server_tool_result", "start", "handover", "annotate", "usage", "foreign"}
    assert codec("events").says == UNIEVENT.says | more
    assert ({*GATEWAY.partly}, {*GATEWAY.only}, {*UNIEVENT.only}) == ({"state"}, {"code"}, {"created_at"})


@pytest.mark.parametrize("of", [UNIEVENT, GATEWAY], ids=lambda of: of.name)
def test_what_is_hot_in_an_encoder(of: Any) -> None:
    """Text after its first fragment, where that one opens the run; calls are held until they are whole."""
    kinds: list[tuple[Any, bool | None]] = [
        ("text", True),
        ("refusal", True),
        ("thinking", True),
        ("embedding", False),
        ("tool_call", None),
    ]
    for kind, hot in kinds:
        writing = Writing(of.name, options(), "carry")
        encoder = writing.encoder
        assert encoder.hot() is None
        writing.encode(Start())
        writing.encode(Open(kind, "i", "n"))
        assert (encoder.hot() is None) == (of is UNIEVENT or not hot)
        data: Any = {"embedding": [1.0], "tool_call": "{}"}.get(kind, "a")
        writing.encode(Append(data))
        word = "tool_call" if kind == "tool_call" else kind.replace("refusal", "text")
        name = {"text": "content"}.get(word, word) if of is GATEWAY else None
        found = encoder.hot()
        assert (found is not None) == (hot if hot is not None else of is UNIEVENT)
        assert found is None or found.name == name
        waiting: list[Event] = [Open(kind, "i", "n"), Append(data)]
        assert encoder.holds(waiting) == (of is GATEWAY and kind == "tool_call")
        writing.encode(Handover() if kind != "tool_call" else Close())
        assert writing._held == []
        assert encoder.hot() is None


@pytest.mark.parametrize(
    "events",
    [
        [Open("text"), Append("", S), Append("b"), Close(), Finish()],
        [Open("text"), Append("", S), Close(), Finish()],
        [Open("thinking"), Append("", S), Failure(500, "m")],
        [Open("tool_call", "i", "n"), Append("{}"), Close(), Usage(), Handover(), Finish()],
        [Open("tool_call", "i", "n"), Append('{"a"'), Append(":1}"), Close(), Usage(), Open("text"), Close(), Finish()],
        [
            Open("thinking"),
            Append("a", S),
            Append("", S),
            Append("b"),
            Append("", State("x", {"m": 2})),
            Close(),
            Finish(),
        ],
    ],
    ids=lambda events: " ".join(type(event).__name__ for event in events),
)
@pytest.mark.parametrize("name", ["unievent", "gateway"])
def test_events_come_home(events: list[Event], name: str) -> None:
    if name == "unievent" and any(type(event) is Handover for event in events):
        events = [event for event in events if type(event) is not Handover]
    assert [(type(e), getattr(e, "data", None), getattr(e, "state", None)) for e in home(events, name)] == [
        (type(e), getattr(e, "data", None), getattr(e, "state", None)) for e in events
    ]


# ---- events --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("events", "state"), [([Close()], "between parts"), ([Open("text"), Finish()], "in a part")])
def test_events_from_outside_are_held_to_the_grammar(events: list[Event], state: str) -> None:
    with pytest.raises(GrammarError) as caught:
        list(decode(events, "events"))
    assert caught.value.state == state
    decoder = codec("events").encoder(options())
    for event in events[:-1]:
        decoder.take({"event": event}, decoder.read({"event": event}, None))
    with pytest.raises(GrammarError):
        decoder.read({"event": events[-1]}, None)
    assert decoder.state == state


@pytest.mark.parametrize("chunk", [5, "{}", b"{}", {}, None])
def test_what_is_no_event(chunk: Any) -> None:
    with pytest.raises(DecodeError, match="a unit is an event"):
        list(decode([chunk], "events"))


def test_what_a_codec_made_up_is_not_handed_on_as_events() -> None:
    made_up, own = {"gateway": {"synthetic": True}}, {"x": {"a": 1}}
    for event, out in (
        (Start(residue={**made_up}), []),
        (Start(residue={**own}), [Start(residue={**own})]),
        (Start(residue={**made_up, **own}), []),
        (Usage(residue={**made_up}), []),
        (Foreign("x", {}, residue={**made_up, **own}), []),
        (Handover(residue={**made_up, **own}), [Handover(residue={**own})]),
        (Usage(residue={**own}), [Usage(residue={**own})]),
    ):
        assert list(encode([event, Finish()], "events")) == [*out, Finish()]


# ---- gateway -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "begun", [[], ["contentStart"], ["contentStart", "content"], ["thinkingStart"], ["thinkingStart", "thinking"]]
)
def test_a_run_may_break_off_anywhere(begun: list[str]) -> None:
    before = [start(), *(frame(kind, value="a") if "Start" not in kind else frame(kind) for kind in begun)]
    over = [*before, frame("streamError", model=PARIS_MODEL), start(), usage()]
    assert [type(event) for event in decode(over, "gateway")][-3:] == [Handover, Start, Finish]
    failed = [*before, {"success": False, "code": 500, "message": "m"}]
    assert list(decode(failed, "gateway"))[-1] == Failure(500, "m")


def test_an_unknown_issuer_may_be_the_keys_or_none() -> None:
    carry = carried(None, {"a": 1})
    for data in ({"anthropic.a": 1}, {"openai.a": 1}, {"a": 1}):
        assert states([start(PARIS_MODEL), *run(data, carry), usage()]) == [State(None, {"a": 1})]


def test_a_run_without_a_start_has_said_nothing_yet() -> None:
    units = [start(), *run({"x.a": 1}, carried("x", {"a": 1})), *run({"x.a": 1}, None)[1:], usage()]
    assert states(units, strict=False) == [x(a=1), x(a=1)]


@pytest.mark.parametrize(
    "pieces",
    [
        [Append("a", S), Append("b")],
        [Append("", S), Append("b")],
        [Append("a", S), Append("", State("x", {"m": 2})), Append("b")],
        [Append("", S), Append("", State("x", {"m": 2})), Append("b")],
    ],
)
def test_the_states_of_a_thinking_run_are_no_loss(pieces: list[Event]) -> None:
    """They are said at its end."""
    events: list[Event] = [Start(Model("m")), Open("thinking"), *pieces, Close(), Finish()]
    units = list(convert(events, "events", "gateway", loss="drop", report=(report := Report())))
    (end,) = [unit["value"] for unit in units if unit["value"]["type"] == "thinkingEnd"]
    values = {
        key: value
        for piece in pieces
        if type(piece) is Append and piece.state
        for key, value in piece.state.values.items()
    }
    assert end["data"] == {f"x.{key}": value for key, value in values.items()}
    assert "state" not in {finding.field for finding in report.losses if finding.content}
    assert list(convert(events, "events", "gateway", loss="raise"))


def test_an_empty_fragments_state_in_a_text_run_is_one() -> None:
    events: list[Event] = [Start(Model("m")), Open("text"), Append("", S), Append("b"), Close(), Finish()]
    with pytest.raises(LossError):
        list(convert(events, "events", "gateway", loss="raise"))


def test_states_in_carries_and_a_patch_at_the_end_of_their_run() -> None:
    for first in (carried("x", {"a": 1}), {"events": [0, 2], "x": {}}):
        *others, end = run({"x.a": 1}, first)
        units = [start(), *others, {**end, "code": 201}, usage()]
        home_again = list(convert(units, "gateway", "gateway"))
        assert home_again[-2]["code"] == 201
        assert states(home_again) == states(units)
    events: list[Event] = [
        *(
            Start(),
            Open("thinking"),
            Append("", S),
            Append("a", State("x", {"b": 1})),
            Append("", State("x", {"c": 1})),
        ),
        *(Append("d"), Close(residue={"gateway": {"patch": [[["code"], 201]]}}), Finish()),
    ]
    units = list(convert(events, "events", "gateway"))
    assert units[-2]["code"] == 201
    assert states(units) == [S, State("x", {"b": 1}), State("x", {"c": 1})]


def test_what_agrees_in_the_gateways_words() -> None:
    for said, meant, agree in (
        (Failure(500, "m"), Failure(502, "m"), False),
        (Failure(502, "m"), Failure(None, "m", "K"), True),
        (Failure(502, "m"), Failure(502, "n"), False),
        (Start(Model("a", "b")), Start(Model("a", "c")), False),
        (Start(Model("a")), Start(Model("a", "c")), False),
        (Start(Model("a", "b")), Start(Model("a")), False),
        (Start(Model("a", "b")), Start(), True),
        (Handover(Model("a", "b")), Handover(), False),
        (Start(), Start(Model("unknown")), True),
        (Open("text"), Open("refusal"), True),
        (Open("refusal"), Open("text"), False),
        (Open("text"), Open("thinking"), False),
        (Append("a"), Append("b"), False),
        (Append("a", S), Append("a"), False),
    ):
        assert GATEWAY.agrees(said, meant) is agree, (said, meant)


def test_all_states_of_a_run_are_in_its_message() -> None:
    events: list[Event] = [Open("thinking"), Append("a", S), Append("b", State("x", {"m": 2})), Close(), Finish()]
    assert GATEWAY.assemble(events) == [{"type": "thinking", "value": "ab", "data": {"x.k": 1, "x.m": 2}}]


# ---- UniEvent ------------------------------------------------------------------------------------------


def error_of(*units: Any, **more: Any) -> str | None:
    _, error = attempt([*units, stop()], "unievent", "gateway", **more)
    return type(error).__name__ if error is not None else None


def test_what_goes_on_with_a_group() -> None:
    first, done = delta(call("delta", "{", "f", "t")), delta(call("done", {}, "f", "t"))
    assert error_of(first, delta(call("delta", "}")), done) is None
    for more in (
        call("delta", "}", "f"),
        call("delta", "}", "f", "t"),
        call("delta", "}", "g"),
        call("delta", "}", "", "u"),
    ):
        assert error_of(first, delta(more), done) == "GrammarError"
    assert error_of(first, delta(call("delta", "}", "", "t")), done) == "GrammarError"
    assert error_of(first, delta(call("delta", "}", "", "t")), done, strict=False) is None
    # another id is another call, and of this one only half was said
    assert error_of(first, delta(call("delta", "}", "", "u")), done, strict=False) == "ToolArgumentsError"
    png, gif = (delta(inline("inline_data.delta", "AAEC", mime)) for mime in ("image/png", "image/gif"))
    whole = delta(inline("inline_data.done", "AAECAAEC", "image/png"))
    assert (error_of(png, png, whole), error_of(png, gif, whole)) == (None, "GrammarError")


def test_later_fragments_of_a_call_have_neither_name_nor_id() -> None:
    events: list[Event] = [Open("tool_call", "t", "f"), Append("{"), Append("}"), Close(), Finish()]
    units = list(encode(events, "unievent", clock=lambda: CLOCK))
    assert [unit["content_items"] for unit in units[:3]] == [
        [call("delta", "{", "f", "t")],
        [call("delta", "}")],
        [call("done", {}, "f", "t")],
    ]


def test_vectors_hold_numbers_of_all_kinds() -> None:
    good: list[Any] = [[1], [2.5], [1, 2.5], [1, 2.5, jsontext.Beyond("1e400")], []]
    for vector in good:
        assert error_of(*(delta(item(f"embedding.{phase}", vector)) for phase in ("delta", "done"))) is None
    bad: list[Any] = [[True], ["1"], [None], [1, [2]]]
    for vector in bad:
        assert error_of(*(delta(item(f"embedding.{phase}", vector)) for phase in ("delta", "done"))) == "DecodeError"


def test_the_done_and_its_fidelity() -> None:
    signed = delta(item("thinking.delta", "a", {"k": 1}))
    assert error_of(signed, delta(item("thinking.done", "a", {"k": 1}))) is None
    for other in ({"k": True}, {"k": 1.0}, {}, None):
        assert error_of(signed, delta(item("thinking.done", "a", other))) == "GrammarError"
    plain = delta(item("thinking.delta", "a"))
    assert error_of(plain, delta(item("thinking.done", "a", {}))) is None
    assert error_of(plain, delta(item("thinking.done", "a", {"k": 1}))) == "GrammarError"


def test_an_unknown_member_named_as_another_kinds_field() -> None:
    units = [delta({**item(f"text.{phase}", "a"), "data": "x"}) for phase in ("delta", "done")]
    assert list(convert([*units, stop()], "unievent", "unievent")) == [*units, stop()]


@pytest.mark.parametrize("member", [{"role": "user"}, {"role": None}, {"created_at": "x"}, {"created_at": True}])
def test_every_event_has_a_role_and_a_time(member: Any) -> None:
    for unit in (delta(item("text.delta", "a")), stop()):
        _, error = attempt([{**unit, **member}], "unievent", "gateway")
        assert type(error).__name__ == "DecodeError"


def test_a_stamp_that_was_made_up_stays_so() -> None:
    events: list[Event] = [
        Open("text", residue={"unievent": {"at": 5, "synthetic": True}}),
        Append("a"),
        Close(),
        Finish(),
    ]
    unit, *_ = encode(events, "unievent", clock=lambda: CLOCK)
    assert (unit["created_at"], unit["carry"]["synthetic"]) == (5, True)


def test_what_agrees_in_the_words_of_uni_event() -> None:
    for said, meant, agree in (
        (Append("a"), Append("b"), False),
        (Append("a", State(None, {"k": 1})), Append("a", State("x", {"k": 1})), True),
        (Append("a", State(None, {"k": 1})), Append("a", State(None, {"k": 2})), False),
        (Append("a", State(None, {"k": 1})), Append("b", State(None, {"k": 1})), False),
        (Append("a", State(None, {"k": 1})), Append("a"), False),
        (Open("text"), Open("refusal"), True),
        (Open("text"), Open("thinking"), False),
    ):
        assert UNIEVENT.agrees(said, meant) is agree, (said, meant)


def test_a_message_has_what_has_words() -> None:
    events: list[Event] = [
        *(Open("server_tool_call", "i", "n"), Append("{}"), Close()),
        *(Open("thinking"), Append("a", State(None, {})), Append("b", State(None, {"k": 1})), Close()),
        *(Open("tool_call"), Append("{}"), Close(), Finish()),
    ]
    assert UNIEVENT.assemble(events)["content_items"] == [item("thinking.done", "ab", {"k": 1})]
