"""Who issued a state, what the ``model`` and ``clock`` options add, and what a native reader sees of both."""

import itertools
import time
from dataclasses import replace
from typing import Any

import pytest

from tests import wire
from tests.wire import (
    AT,
    CLOCK,
    NO_MODEL,
    PARIS_MODEL,
    SHAPES,
    Object,
    call,
    chained,
    content,
    delta,
    frame,
    item,
    shaped,
    start,
    stop,
    stripped,
    text_group,
    thinking,
    tool,
    translated,
    usage,
)
from translate import (
    Annotate,
    Append,
    Close,
    Event,
    Finish,
    Handover,
    Model,
    Open,
    Report,
    Start,
    State,
    assemble,
    decode,
)

SIGNED = {"signature": "s"}


def thought(*fragments: tuple[str, Object | None]) -> list[Object]:
    """A group of reasoning: each fragment with its fidelity."""
    state = next((fidelity for _, fidelity in fragments if fidelity), None)
    whole = "".join(text for text, _ in fragments)
    return [
        *(delta(item("thinking.delta", text, fidelity)) for text, fidelity in fragments),
        delta(item("thinking.done", whole, state)),
    ]


def data_of(units: list[Object]) -> list[Any]:
    """What the ``thinkingEnd`` frames hold."""
    return [unit["value"].get("data") for unit in units if unit.get("value", {}).get("type") == "thinkingEnd"]


def reasoned(namespace: str | None, publisher: str | None) -> list[Event]:
    """A stream of events with one state."""
    return [
        Start(Model(publisher=publisher)),
        Open("thinking"),
        Append("Hm"),
        Append("", State(namespace, dict(SIGNED))),
        Close(),
        Finish(),
    ]


@pytest.mark.parametrize(
    ("namespace", "publisher", "key", "guessed"),
    [
        ("anthropic", "OpenAI", "anthropic.signature", False),
        ("anthropic", None, "anthropic.signature", False),
        (None, "OpenAI", "openai.signature", True),
        (None, None, "signature", False),
        ("", "OpenAI", "signature", False),
        ("", None, "signature", False),
    ],
)
def test_keys_are_prefixed_with_who_issued_them(
    namespace: str | None, publisher: str | None, key: str, guessed: bool
) -> None:
    report = Report()
    events = reasoned(namespace, publisher)
    out = translated(events, "events", "gateway", report=report)
    assert data_of(out) == [{key: "s"}]
    assert [(finding.field, finding.unit) for finding in report.guesses] == ([("namespace", 4)] if guessed else [])
    assert translated(out, "gateway", "events") == events


@pytest.mark.parametrize(
    ("data", "namespace", "values"),
    [
        ({"anthropic.signature": "s"}, "anthropic", {"signature": "s"}),
        ({"anthropic.a.b": 1, "anthropic.": 2}, "anthropic", {"a.b": 1, "": 2}),
        ({"anthropic.signature": "s", "openai.id": "i"}, "", {"anthropic.signature": "s", "openai.id": "i"}),
        ({"anthropic.signature": "s", "id": "i"}, "", {"anthropic.signature": "s", "id": "i"}),
        ({"signature": "s"}, "", {"signature": "s"}),
        ({".signature": "s"}, "", {".signature": "s"}),
        ({"": "s"}, "", {"": "s"}),
    ],
)
def test_the_part_before_the_first_dot_is_the_namespace(data: Object, namespace: str, values: Object) -> None:
    units = [start(PARIS_MODEL), *thinking("Hm", data=data), usage(provider="anthropic")]
    states = [event.state for event in decode(units, "gateway") if isinstance(event, Append) and event.state]
    assert states == [State(namespace, values)]
    # a UniEvent client sees the values; a namespace, known or known to be none, comes home
    [last] = [unit for unit in translated(units, "gateway", "unievent") if "thinking.done" in str(unit)]
    assert last["content_items"][0]["fidelity"] == values
    assert data_of(chained(units, "gateway", "unievent", "gateway")) == [data]


def test_no_data_is_no_state() -> None:
    ends: list[Object] = [{}, {"data": None}, {"data": {}}]
    for end in ends:
        units = [start(), *thinking("Hm", **end), usage()]
        assert [event for event in decode(units, "gateway") if isinstance(event, Append)] == [Append("Hm")]


def test_a_guess_is_made_anew_where_the_carry_is_lost() -> None:
    """Known to have no issuer, and that is forgotten: from then on the publisher is a fair guess."""
    units = [start(PARIS_MODEL), *thinking("Hm", data=SIGNED), usage(provider="anthropic")]
    bare = translated(units, "gateway", "unievent", loss="drop")
    assert data_of(translated(bare, "unievent", "gateway", loss="drop")) == [SIGNED]
    assert data_of(translated(bare, "unievent", "gateway", model=PARIS_MODEL)) == [{"anthropic.signature": "s"}]
    carried = translated(units, "gateway", "unievent")
    assert data_of(translated(carried, "unievent", "gateway", model={"publisher": "Other"})) == [SIGNED]


@pytest.mark.parametrize("dst", SHAPES["gateway"])
@pytest.mark.parametrize(
    ("fragments", "native"),
    [
        ([("a", SIGNED)], SIGNED),
        ([("a", SIGNED), ("b", None)], SIGNED),
        ([("", SIGNED), ("b", None)], SIGNED),
        ([("", SIGNED), ("", None)], SIGNED),
        ([("a", None), ("", SIGNED), ("b", None)], SIGNED),
        ([("a", None), ("b", SIGNED)], SIGNED),
        ([("", SIGNED)], SIGNED),
        ([("a", SIGNED), ("b", SIGNED)], SIGNED),
        ([("a", None)], None),
        ([("a", {"x": None}), ("", None)], {"x": None}),
    ],
)
@pytest.mark.parametrize("model", [None, PARIS_MODEL], ids=["no model", "model"])
def test_a_state_on_any_fragment_goes_out_at_the_end(
    fragments: list[tuple[str, Object | None]], native: Object | None, dst: str, model: Object | None
) -> None:
    units = [*thought(*fragments), stop()]
    expected = None if native is None else {f"anthropic.{k}" if model else k: v for k, v in native.items()}
    out = translated(units, "unievent", dst, model=model)
    assert data_of(wire.read(stripped(out, dst), dst)) == [expected]
    assert stripped(out, dst) == translated(units, "unievent", dst, model=model, loss="drop")
    assert translated(out, dst, "unievent") == units
    for third in ("unievent-sse", "gateway-jsonl", "events-jsonl"):
        assert chained(units, "unievent", dst, third, dst, "unievent", model=model) == units


def test_other_parts_keep_their_state_in_the_carry() -> None:
    """Gemini signs any item, OpenAI gives text a phase: the gateway has no place for either."""
    phase = {"phase": "final_answer"}
    units = [
        delta(item("text.delta", "a", phase)),
        delta(item("text.delta", "b")),
        delta(item("text.done", "ab", phase)),
        delta(call("delta", "{", "f", "t")),
        delta(call("delta", "}", fidelity=SIGNED)),
        delta(call("done", {}, "f", "t", SIGNED)),
        stop("tool_call"),
    ]
    native = [start(), *content("a", "b"), tool("t", "f", "{}"), usage(reason="toolCall")]
    for dst in SHAPES["gateway"]:
        out = translated(units, "unievent", dst)
        assert stripped(out, dst) == shaped(native, dst)
        assert translated(out, dst, "unievent") == units


# ---- the model option --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (None, NO_MODEL),
        ("claude-sonnet-5", {**NO_MODEL, "name": "claude-sonnet-5"}),
        ({"publisher": "Anthropic"}, {**NO_MODEL, "publisher": "Anthropic"}),
        (Model(**PARIS_MODEL), PARIS_MODEL),
        ({"name": "m", "provider": None}, {**NO_MODEL, "name": "m"}),
    ],
)
def test_the_model_option_is_who_answers(model: Any, said: Object) -> None:
    units = [*text_group("a"), stop()]
    provider = str(said["provider"]).lower()
    native = [start(said), *content("a"), usage(provider=provider)]
    assert translated(units, "unievent", "gateway", model=model, loss="drop") == native
    home = translated(units, "unievent", "gateway", model=model)
    assert translated(home, "gateway", "unievent") == units
    assert assemble(home, "gateway", "gateway") == [{"type": "content", "value": "a"}]


@pytest.mark.parametrize("model", [PARIS_MODEL, {**NO_MODEL, "name": "m"}, NO_MODEL], ids=["whole", "half", "none"])
def test_the_model_option_fills_in_what_nobody_knows(model: Object) -> None:
    """But at home, where nothing changes."""
    units = [start(model), *thinking("Hm", data=SIGNED), usage(provider="x")]
    option = {"name": "n", "tier": "t", "publisher": "P", "provider": "Q"}
    filled = option if set(model.values()) == {"unknown"} else model
    assert translated(units, "gateway", "gateway", model=option) == units
    out = chained(units, "gateway", "unievent", "gateway", model=option)
    assert stripped(out, "gateway") == [start(filled), *units[1:]]
    for path in (("gateway", "gateway"), ("gateway", "unievent-sse", "gateway"), ("gateway", "events", "gateway")):
        assert translated(chained(units, *path, model=option), path[-1], "gateway") == units


def test_the_provider_of_the_usage_is_that_of_the_last_segment() -> None:
    other = {"name": "o", "tier": "high", "publisher": "OpenAI", "provider": "Azure"}
    events: list[Event] = [Start(Model(**PARIS_MODEL)), Handover(Model(**PARIS_MODEL)), Start(Model(**other)), Finish()]
    native = [
        start(PARIS_MODEL),
        frame("streamError", model=PARIS_MODEL),
        start(other),
        usage(0, 0, "unknown", "azure"),
    ]
    assert translated(events, "events", "gateway", loss="drop") == native


# ---- the clock option --------------------------------------------------------------------------------


def test_the_clock_stamps_what_has_no_time() -> None:
    ticks = itertools.count(CLOCK)
    units = [start(), *content("a"), usage()]
    out = translated(units, "gateway", "unievent", clock=lambda: next(ticks))
    assert [unit["created_at"] for unit in out] == [CLOCK, CLOCK + 1, CLOCK + 2]
    assert translated(out, "unievent", "gateway") == units


def test_the_clock_is_now_by_default() -> None:
    before = time.time_ns() // 1_000_000
    [unit] = translated([start(), usage()], "gateway", "unievent", clock=None)
    assert before <= unit["created_at"] <= time.time_ns() // 1_000_000
    assert isinstance(unit["created_at"], int)


@pytest.mark.parametrize("at", [AT, AT + 0.5, 0, -1, 2**70, None], ids=str)
def test_no_clock_for_what_has_a_time_or_never_had_one(at: int | None) -> None:
    units = [*text_group("a", at=at), stop(at=at)]
    for middle in ("gateway", "gateway-sse", "events-jsonl", "unievent-jsonl"):
        home = chained(units, "unievent", middle, "unievent", clock=lambda: pytest.fail("the clock was asked"))
        assert home == units


def test_a_time_of_null_is_not_an_absent_one() -> None:
    units = [{**unit, "created_at": None} for unit in (*text_group("a", at=None), stop(at=None))]
    assert chained(units, "unievent", "gateway-sse", "unievent") == units


# ---- what may be unknown in an event -------------------------------------------------------------------


@pytest.mark.parametrize(
    "event",
    [Annotate(None, {"url": "u"}), Annotate("", None), Annotate(None, None), Annotate("openai", [1, None, 1.5])],
    ids=repr,
)
def test_annotations_come_home(event: Event) -> None:
    events: list[Event] = [Start(), Open("text"), Append("a"), event, Close(), Finish()]
    for middle in ("events-jsonl", *SHAPES["gateway"], *SHAPES["unievent"]):
        home = chained(events, "events", middle, "events")
        # what was stamped is marked as made up, and stays in the residue
        assert [replace(each, residue=None) for each in home] == events
