"""Rules of the codecs that whole streams seldom come near, each with the least that shows it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.algebra.test_grammar import EXAMPLES
from tests.wire import (
    CLOCK,
    attempt,
    call,
    call_group,
    delta,
    frame,
    inline,
    item,
    start,
    stop,
    text_group,
    usage,
)
from translate import (
    Append,
    Close,
    Event,
    Failure,
    Finish,
    Foreign,
    GrammarError,
    Handover,
    Limits,
    Model,
    Open,
    Options,
    Report,
    Start,
    State,
    Usage,
    codec,
    convert,
    decode,
    encode,
)
from translate.algebra.events import is_synthetic

CODECS = [codec(name) for name in ("unievent", "gateway", "events")]
each_codec = pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)


def options(*, strict: bool = True, report: Report | None = None) -> Options:
    return Options(Model(), lambda: CLOCK, strict, Limits(), report, objects=True)


def home(events: list[Event], name: str) -> list[Event]:
    """Events that were written in a format and read again, without what its encoder made up."""
    out = decode(list(encode(events, name, clock=lambda: CLOCK)), name)
    kept = [event for event in out if not (type(event) is Start and is_synthetic(event, name))]
    for event in kept:
        event.residue = {n: own for n, own in (event.residue or {}).items() if not own.get("synthetic")} or None
    return kept


# ---- what codecs have in common ------------------------------------------------------------------------


@each_codec
def test_events_of_two_kinds_never_agree(codec: Any) -> None:
    for a, b in itertools.product(EXAMPLES.values(), repeat=2):
        if {type(a), type(b)} != {Start, Handover} and type(a) is not Close:
            # the gateway's words for these two are the same; and a Close is asked about another alone
            assert codec.agrees(a, b) == (a is b)


@each_codec
def test_the_words_for_a_close_do_not_say_whether_it_was_cut(codec: Any) -> None:
    assert codec.agrees(Close(), Close())
    assert codec.agrees(Close(), Close(cut=True)) == (not codec.complete)


TERMINAL = {
    "unievent": [stop(), {"error": {"message": "m"}}],
    "gateway": [usage(), {"success": False, "code": 500, "message": "m"}],
}
MORE = {
    "unievent": [delta(item("text.delta", "a")), *TERMINAL["unievent"]],
    "gateway": [start(), frame("contentStart"), frame("content", value="a"), *TERMINAL["gateway"]],
}


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("name", TERMINAL)
@pytest.mark.parametrize("end", [0, 1])
def test_a_decoder_is_at_its_end_after_the_end(name: str, end: int, strict: bool) -> None:
    for more in MORE[name]:
        decoder = codec(name).encoder(options(strict=strict))
        for unit in ([start()] if name == "gateway" else []) + [TERMINAL[name][end]]:
            decoder.take(unit, decoder.read(unit, None))
        assert decoder.state == "ended"
        with pytest.raises(GrammarError) as caught:
            decoder.read(more, None)
        assert decoder.mend(more, None, caught.value) is None
        assert decoder.plain(more, None) is None
        assert decoder.state == "ended"


@pytest.mark.parametrize("name", ["unievent", "gateway"])
@pytest.mark.parametrize(
    "events",
    [
        [Open("text"), Handover(), Handover(), Finish()],
        [Open("text"), Append("a"), Handover(), Handover(), Open("text"), Append("b"), Close(), Finish()],
        [Open("thinking"), Usage(), Handover(), Start(), Finish()],
        [Open("text"), Foreign("unievent", {"event_type": "x"}), Append("a"), Close(), Finish()],
        [Open("text"), Foreign("gateway", {"success": True, "code": 200, "value": {"type": "x"}}), Close(), Finish()],
        [Open("tool_call", "i", "n"), Foreign("gateway", frame("x")), Append("{}"), Usage(), Close(), Finish()],
        [Open("thinking"), Append("", State("", {"k": 1})), Foreign("gateway", frame("x")), Close(), Finish()],
        [Open("text"), Append("a", State("x", {"k": 1})), Append("b", State("x", {"k": 2})), Close(), Finish()],
        [Open("thinking"), Append("a", State("", {"k": 1})), Append("b", State("", {"m": 2})), Close(), Finish()],
        [Open("thinking"), Append("a", State("a", {"k": 1})), Append("", State("a", {"m": 2})), Close(), Finish()],
        [Open("thinking"), Append("a", State("a", {"k": 1})), Append("", State("b", {"m": 2})), Close(), Finish()],
        [Open("thinking"), Append("", State("a", {"k": 1})), Append("", State("a", {"k": 1})), Close(), Finish()],
        [Open("thinking"), Append("", State("a", {"k": 1})), Append("b"), Close(), Finish()],
        [Open("thinking"), Append("", State("a", {"k": 1})), Handover(), Finish()],
        [Open("thinking"), Append("a", State(None, {"k": 1})), Append("b"), Close(), Finish()],
        [
            Start(Model(publisher="OpenAI")),
            Open("thinking"),
            Append("a", State(None, {"k": 1})),
            Append("b"),
            Close(),
            Finish(),
        ],
        [
            Start(Model(publisher="OpenAI")),
            Open("thinking"),
            Append("a"),
            Append("", State(None, {"k": 1})),
            Close(),
            Finish(),
        ],
        [
            Open("thinking"),
            Append("a", State("", {"k": 1})),
            Append("b"),
            Close(),
            Open("thinking"),
            Append("c"),
            Append("", State("", {"k": 2})),
            Close(),
            Finish(),
        ],
        [Open("server_tool_call", "i", "n"), Append("{}"), Close(), Finish()],
        pytest.param([Open("tool_call", None, "n"), Append("{}"), Close(), Finish()]),
        [Open("tool_call", "i"), Append("{}"), Close(), Finish()],
        [Open("inline_data", mime_type="image/png"), Append(b"a"), Append(b"b"), Close(), Finish()],
        [Open("embedding"), Close(), Open("inline_thinking"), Close(), Finish()],
    ],
    ids=lambda events: " ".join(type(event).__name__ for event in events),
)
def test_events_come_home_in_order(events: list[Event], name: str) -> None:
    assert home(events, name) == events


# ---- UniEvent ------------------------------------------------------------------------------------------


def test_an_event_of_another_type_is_foreign_whatever_it_holds() -> None:
    unit = {"event_type": "progress", "content_items": [{"type": "text.delta", "text": "a"}], "errors": {}}
    assert next(decode([unit, stop()], "unievent")) == Foreign("unievent", unit)


@pytest.mark.parametrize("beside", [{"event_type": "progress"}, {"event_type": "delta"}, stop(), {"x": 1}], ids=str)
def test_a_unit_with_an_error_is_one_whatever_else_it_holds(beside: Any) -> None:
    """The reference client raises."""
    unit = {**beside, "error": {"message": "m"}}
    (failure,) = decode([unit], "unievent")
    assert type(failure) is Failure
    assert (failure.code, failure.message) == (502, "m")
    assert list(convert([unit], "unievent", "unievent", errors="encode")) == [unit]


@pytest.mark.parametrize("word", ["text", "text.delta.x", "x.text.delta", "text.end", "image.delta", ".delta"])
def test_an_item_of_another_type_is_foreign(word: str) -> None:
    unit = delta({"type": word, "text": "a"})
    assert next(decode([unit, stop()], "unievent")) == Foreign("unievent", unit)


def test_the_canonical_units_leave_no_patch() -> None:
    units = [
        *text_group("a", "b"),
        *call_group('{"a":1}', {"a": 1}, "f", "t"),
        delta(call("delta", '{"a"', "f", "t")),
        delta(call("delta", ":1}")),
        delta(call("done", {"a": 1}, "f", "t")),
        delta(inline("inline_data.delta", "AAEC", "image/png")),
        delta(inline("inline_data.delta", "AAEC", "image/png")),
        delta(inline("inline_data.done", "AAECAAEC", "image/png")),
        delta(inline("inline_thinking.delta", b"\0", "image/png")),
        delta(inline("inline_thinking.done", b"\0", "image/png")),
        delta({"type": "embedding.delta", "embedding": [1, 2.0]}),
        delta({"type": "embedding.done", "embedding": [1, 2.0]}),
        delta(item("thinking.delta", "a", {"s": 1})),
        delta(item("thinking.delta", "b", {"s": 1})),
        delta(item("thinking.done", "ab", {"s": 1})),
        stop(),
    ]
    events = list(decode(units, "unievent"))
    patched = [event for event in events if "patch" in (event.residue or {}).get("unievent", {})]
    # the same fidelity once more is transport
    assert [event.data for event in patched if type(event) is Append] == ["b"]
    assert len(patched) == 1
    assert [event.state for event in events if type(event) is Append and event.state] == [State(None, {"s": 1})]


def test_numbers_of_another_spelling_in_the_arguments_come_home() -> None:
    units = [*call_group('{"n":1}', {"n": 1.0}, "f", "t"), stop()]
    (event,) = [event for event in decode(units, "unievent") if type(event) is Close]
    assert event.residue == {
        "unievent": {"at": units[0]["created_at"], "patch": [[["content_items", 0, "arguments", "n"], 1.0]]}
    }
    assert str(list(convert(units, "unievent", "unievent"))[1]) == str(units[1])


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ({"a": 1, "s": "x"}, {"s": "y"}, {"a": 1, "s": "xy"}),
        ({"s": "x"}, {"s": 2}, {"s": 2}),
        ({"s": 1}, {"s": "y"}, {"s": "y"}),
        ({"s": 1}, {"t": 2}, {"s": 1, "t": 2}),
    ],
)
def test_a_second_fidelity_is_joined_in_lenient_mode(first: Any, second: Any, joined: Any) -> None:
    units = [
        delta(item("thinking.delta", "a", first)),
        delta(item("thinking.delta", "b", second)),
        delta(item("thinking.done", "ab", joined)),
        stop(),
    ]
    report = Report()
    events = list(decode(units, "unievent", strict=False, report=report))
    states = [event.state for event in events if type(event) is Append]
    assert states == [State(None, joined)]
    assert [event.data for event in events if type(event) is Append] == ["ab"]
    assert report.counts == {("repairs", "fidelity"): 1}
    with pytest.raises(GrammarError, match="second, different fidelity"):
        list(decode(units, "unievent"))


@pytest.mark.parametrize("key", ["cached_tokens", "prompt_tokens", "thoughts_tokens", "response_tokens"])
@pytest.mark.parametrize("value", ["1", 1.5, True, []])
def test_counts_are_integers(key: str, value: Any) -> None:
    unit = stop()
    unit["usage_metadata"][key] = value
    _, error = attempt([unit], "unievent", "gateway")
    assert type(error).__name__ == "DecodeError"


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (call("done", {}, "g", "t"), "GrammarError"),
        (call("done", {}, "f", "u"), "GrammarError"),
        ({"type": "tool_call.done", "arguments": {}, "tool_call_id": "t"}, "DecodeError"),
        ({"type": "tool_call.done", "arguments": {}, "name": "f"}, "DecodeError"),
        ({"type": "tool_call.done", "arguments": {}, "name": 5, "tool_call_id": "t"}, "DecodeError"),
        (call("done", {}, "f", "t", {"s": 1}), "GrammarError"),
        (call("done", {"a": 1}, "f", "t"), "GrammarError"),
    ],
)
def test_the_done_of_a_call_says_what_its_fragments_said(bad: Any, error: str) -> None:
    _, found = attempt([delta(call("delta", "{}", "f", "t")), delta(bad), stop()], "unievent", "gateway")
    assert type(found).__name__ == error


def test_the_done_of_bytes_says_what_its_fragments_said() -> None:
    first = delta(inline("inline_data.delta", "AAEC", "image/png"))
    for bad, error in (
        (inline("inline_data.done", "AAEC", "image/gif"), "GrammarError"),
        (inline("inline_data.done", "AAED", "image/png"), "GrammarError"),
        ({"type": "inline_data.done", "data": "AAEC"}, "DecodeError"),
        ({"type": "inline_data.done", "data": "AAEC", "mime_type": 5}, "DecodeError"),
        (inline("inline_data.done", "AAE", "image/png"), "DecodeError"),
        (inline("inline_data.done", "AA EC", "image/png"), "DecodeError"),
    ):
        _, found = attempt([first, delta(bad), stop()], "unievent", "gateway")
        assert type(found).__name__ == error, bad


def test_bytes_are_base64_on_the_wire_and_bytes_in_objects() -> None:
    events: list[Event] = [Open("inline_data", mime_type="a/b"), Append(b"\0\1\2"), Close(), Finish()]
    for format, data in (("unievent", b"\0\1\2"), ("unievent-jsonl", b"AAEC")):
        first, done, _ = encode(events, format, clock=lambda: CLOCK)
        for unit, phase in ((first, "delta"), (done, "done")):
            if format == "unievent":
                assert unit["content_items"] == [inline(f"inline_data.{phase}", data, "a/b")]
            else:
                assert b'"data":"AAEC"' in unit


def test_a_stamp_that_is_no_number_is_replaced_and_made_up() -> None:
    events: list[Event] = [Open("text", residue={"unievent": {"at": "noon"}}), Append("a"), Close(), Finish()]
    out = list(convert(events, "events", "unievent", clock=lambda: CLOCK, strict=False))
    assert out[0]["created_at"] == CLOCK
    assert out[0]["carry"]["synthetic"] is True


def test_the_second_state_of_a_part_is_no_fidelity() -> None:
    events: list[Event] = [
        Open("text"),
        Append("a", State(None, {"k": 1})),
        Append("b", State(None, {"k": 2})),
        Append("c", State(None, {})),
        Close(),
        Finish(),
    ]
    units = list(encode(events, "unievent", clock=lambda: CLOCK))
    assert [unit["content_items"][0].get("fidelity") for unit in units[:-1]] == [{"k": 1}, None, None, {"k": 1}]
