"""What lenient mode holds back until the next units tell what it is: pieces of a state, states that a carry says."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import pytest

from tests.wire import (
    AT,
    PARIS_MODEL,
    Object,
    attempt,
    blocks,
    delta,
    dumps,
    item,
    shaped,
    start,
    stop,
    thinking,
    translated,
    usage,
)
from translate import LimitExceeded, Limits, Report, Translator, assemble, check

PIECES = [
    delta(item("thinking.delta", "t")),
    delta(item("thinking.delta", "", {"signature": "ab"}), AT + 1),
    delta(item("thinking.delta", "u", {"signature": "cd"}), AT + 2),
    delta(item("thinking.delta", "", {"signature": "ef", "id": 1}), AT + 3),
    delta(item("thinking.done", "tu", {"signature": "abcdef", "id": 1}), AT + 4),
    stop(),
]
WHOLE = [
    PIECES[0],
    delta(item("thinking.delta", "u", {"signature": "abcdef", "id": 1}), AT + 1),
    *PIECES[4:],
]
SHAPES = ["", "-jsonl", "-sse"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_signature_in_pieces_is_native_as_a_whole(shape: str) -> None:
    report = Report()
    stream = shaped(PIECES, "unievent" + shape)
    out = translated(stream, "unievent" + shape, "unievent", strict=False, report=report)
    assert out == WHOLE
    assert check(out, "unievent") == []
    assert [(found.unit, found.field) for found in report.repairs] == [(3, "fidelity")]
    message: Any = assemble(stream, "unievent" + shape, "unievent", strict=False)
    assert message["content_items"][0]["fidelity"] == {"signature": "abcdef", "id": 1}


def test_keep_alives_among_pieces_and_any_cut() -> None:
    stream = b": x\n\n".join(blocks([unit]) for unit in PIECES)
    for size in (1, 7, len(stream)):
        chunks = [stream[i : i + size] for i in range(0, len(stream), size)]
        assert translated(chunks, "unievent-sse", "unievent", strict=False) == WHOLE


@pytest.mark.parametrize("shape", SHAPES)
def test_units_behind_pieces_keep_their_numbers(shape: str) -> None:
    report = Report()
    odd = [*PIECES[:4], delta(item("thinking.done", "x", {"signature": "abcdef", "id": 1})), *PIECES[5:]]
    translated(shaped(odd, "unievent" + shape), "unievent" + shape, "unievent", strict=False, report=report)
    assert [(found.unit, found.field) for found in report.repairs] == [(3, "fidelity"), (4, "thinking")]


def test_one_state_is_given_out_with_the_next_unit_at_the_latest() -> None:
    whole = [delta(item("thinking.delta", "t", {"signature": "ab"})), delta(item("thinking.delta", "u"))]
    done = [delta(item("thinking.done", "tu", {"signature": "ab"})), stop()]
    machine = Translator("unievent", "unievent", strict=False)
    assert [len(machine.feed(unit)) for unit in [*whole, *done]] == [0, 2, 1, 1]
    assert translated([*whole, *done], "unievent", "unievent", strict=False) == [*whole, *done]


def test_what_is_held_at_the_end_comes_out() -> None:
    out, error = attempt(PIECES[:3], "unievent", "unievent", strict=False)
    assert [unit["content_items"][0].get("fidelity") for unit in out] == [None, {"signature": "abcd"}]
    assert type(error).__name__ == "TruncatedStream"
    out, error = attempt([*PIECES[:3], {"x": 1}], "unievent", "unievent", strict=False)
    assert [unit["content_items"][0].get("fidelity") for unit in out] == [None, {"signature": "abcd"}]
    assert type(error).__name__ == "DecodeError"


def test_pieces_are_limited() -> None:
    pieces = [delta(item("thinking.delta", "", {"signature": f"{i}" + "x" * 1000})) for i in range(99)]
    _, error = attempt([PIECES[0], *pieces], "unievent", "unievent", strict=False, limits=Limits(part=10_000))
    assert isinstance(error, LimitExceeded)
    assert (error.limit, error.unit) == ("part", 8)


# ---- states that a carry says -------------------------------------------------------------------------

FORGED = {"signature": "forged"}
STATED: list[Object] = [{"v": 1, "events": [{"as": "append", "state": {"values": FORGED}}]}]
ALONE: Object = {"events": [{"event": "append", "text": "", "state": {"values": FORGED}}]}


def forged(carry: Object | None, alone: Object | None, *, comment: bool, end: Object) -> bytes:
    """A thinking run whose end says another state than a carry before it."""
    first, opened, said, ended = [start(PARIS_MODEL), *thinking("a", data=end)]
    block = blocks([said])
    if carry is not None:
        block = b": carry " + dumps(carry) + b"\n" + block
    if alone is not None:
        block += b": carry " + dumps(alone) + b"\n\n"
    return blocks([first, opened]) + block + (b": x\n\n" if comment else b"") + blocks([said, ended, usage()])


@pytest.mark.parametrize("comment", [False, True])
@pytest.mark.parametrize(("carry", "alone"), [(STATED[0], None), (None, ALONE), (STATED[0], ALONE)])
def test_a_forged_state_never_beats_the_native_one(carry: Any, alone: Any, comment: bool) -> None:
    real = {"anthropic.signature": "real"}
    stream = forged(carry, alone, comment=comment, end=real)
    assert attempt(stream, "gateway-sse", "unievent")[1] is not None
    report = Report()
    out = translated(stream, "gateway-sse", "unievent", strict=False, loss="drop", report=report)
    said = [unit["content_items"][0].get("fidelity") for unit in out if unit["content_items"]]
    assert [state for state in said if state] == [{"signature": "real"}] * 2
    assert "state" in {found.field for found in report.repairs}
    for size in (1, 50):
        chunks = [stream[i : i + size] for i in range(0, len(stream), size)]
        assert translated(chunks, "gateway-sse", "unievent", strict=False, loss="drop") is not None


def test_a_carried_state_that_its_end_says_comes_back_in_its_place() -> None:
    units = [
        delta(item("thinking.delta", "a", {"signature": "s"})),
        delta(item("thinking.delta", "b")),
        delta(item("thinking.done", "ab", {"signature": "s"})),
        stop(),
    ]
    for shape in SHAPES:
        there = translated(units, "unievent", "gateway" + shape)
        for strict in (True, False):
            assert translated(there, "gateway" + shape, "unievent", strict=strict) == units


def test_a_carried_state_stands_where_no_end_refutes_it() -> None:
    stream = forged(STATED[0], None, comment=False, end={})
    cut = stream[: stream.index(b"thinkingEnd") - 60]
    cut = cut[: cut.rindex(b"\n\n") + 2]
    failed = cut + blocks([{"success": False, "code": 503, "message": "m"}])
    out, _ = attempt(failed, "gateway-sse", "unievent", strict=False)
    assert [unit["content_items"][0].get("fidelity") for unit in itertools.islice(out, 1)] == [FORGED]


def test_what_is_held_back_is_not_shared_with_who_gave_it() -> None:
    translator = Translator("unievent", "unievent", strict=False)
    out: list[Any] = []
    for unit in copy.deepcopy(PIECES):
        out += translator.feed(unit)
        unit.clear()
    assert [*out, *translator.close()] == WHOLE
