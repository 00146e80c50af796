"""Limits bound all that waits with an open part, by one measure; long text stands in memory as seldom as it can."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from tests.wire import Object, blocks, call, content, delta, dumps, frame, start, stop, text_group, usage
from translate import (
    Annotate,
    Append,
    Foreign,
    LimitExceeded,
    Limits,
    Open,
    State,
    Translator,
    assemble,
    convert,
    jsontext,
)
from translate.algebra.parts import Gathered, Growth
from translate.algebra.weight import weight
from translate.shapes import LONG, laid
from translate.shapes.blocks import framing

MUCH = "x" * 10_000
BOUNDS = Limits(unit=100_000, part=100_000, carry=100_000)
CALL = blocks([delta(call("delta", "{", "f", "c"))])
PIECE = delta(call("delta", "a"))


def beside(unit: Object | None, carry: Object) -> bytes:
    """A block with its carry, or the carry alone."""
    return b": carry " + dumps(carry) + b"\n" + (b"\n" if unit is None else blocks([unit]))


WAITING: dict[str, tuple[str, str, bytes, bytes]] = {
    name: ("unievent-sse", "gateway-sse", CALL, again)
    for name, again in {
        "unknown units": blocks([{"event_type": "z", "y": MUCH}]),
        "unknown items": blocks([delta({"type": "z.delta", "y": MUCH})]),
        "unknown members of an item": blocks([delta({**call("delta", "a"), "x": MUCH})]),
        "unknown members of an event": blocks([{**PIECE, "x": MUCH}]),
        "unknown members, many": blocks([{**PIECE, **{f"x{i}": i for i in range(900)}}]),
        "states": blocks([delta({**call("delta", "a"), "fidelity": {"k": MUCH}})]),
        "residues in carries": beside(PIECE, {"toy": {"x": MUCH}}),
        "residues of many codecs": beside(PIECE, {f"c{i}": {"a": i} for i in range(900)}),
        "annotations in carries": beside(
            PIECE, {"events": ["append", {"event": "annotate", "namespace": "k", "data": MUCH}]}
        ),
        "foreign units in carries": beside(None, {"events": [{"event": "foreign", "codec": "q", "unit": {"x": MUCH}}]}),
        "counts in carries": beside(None, {"events": [{"event": "usage", "usage": {"other": {"x": MUCH}}}]}),
        "arguments": blocks([delta(call("delta", MUCH))]),
    }.items()
}
FIRST = blocks([start(), frame("contentStart")])
WAITING["foreign frames behind an opening that waits"] = (
    *("gateway-sse", "unievent-sse", FIRST),
    blocks([frame("z", y=MUCH)]),
)
WAITING["events that are to be one unit"] = (
    *("events-jsonl", "unievent-sse", b""),
    dumps({"event": "foreign", "codec": "unievent", "unit": {"x": MUCH}, "residue": {"unievent": {"n": 60_000}}})
    + b"\n",
)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("name", WAITING)
def test_what_waits_is_bounded_in_bytes_of_input(name: str, strict: bool) -> None:
    src, dst, head, again = WAITING[name]
    machine = Translator(src, dst, clock=lambda: 1, limits=BOUNDS, strict=strict)
    machine.feed(head)
    taken = 0
    with pytest.raises(LimitExceeded) as raised:  # noqa: PT012
        for taken in range(300):  # noqa: B007
            machine.feed(again)
    assert (raised.value.limit, raised.value.maximum) == ("part", BOUNDS.part)
    # neither much more than the limit was taken, nor much less
    assert 0.5 * BOUNDS.part < taken * len(again) < 2.5 * BOUNDS.part


def test_what_is_said_at_once_does_not_count() -> None:
    """Between parts nothing waits, and units there may be as many as they like."""
    units = [*text_group("a"), *[{"event_type": "z", "y": MUCH}] * 50, *text_group("b"), stop()]
    assert list(convert(blocks(units), "unievent-sse", "gateway-sse", limits=BOUNDS))


def test_weights() -> None:
    assert weight(Append("abc")) == weight(Append([1.0, 2.0, 3.0])) == 3
    assert weight(Append("")) == weight(Open("text")) == 1
    # a stamp is held as a number
    stamped: dict[str, Any] = {"unievent": {"at": 5, "synthetic": True}}
    assert weight(Append("abc", residue=stamped)) == 3
    for event in (
        Append("", State(None, {"k": MUCH})),
        Append("", None, {"toy": {"x": [MUCH]}}),
        Append("", None, {"toy": {"x": 10**4000}}),
        Append("", None, {f"c{i}": {"a": 1} for i in range(2000)}),
        Annotate("k", [MUCH]),
        Foreign("q", {"x": MUCH}),
    ):
        assert weight(event) > 1000


# ---- long text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["x" * (2 * LONG), '"\\é😀\u2028\x00' * (LONG // 3), "\ud83d" + "x" * 2 * LONG])
@pytest.mark.parametrize("carry", [None, b'{"v":1}'])
def test_a_unit_with_long_text_is_laid_out_as_any_other(text: str, carry: bytes | None) -> None:
    for unit in ({"a": text, "b": [1, {"c": text}], "d": None}, {"a": text, "b": "\0long"}):
        expected = framing(jsontext.dumps(unit), "name", carry)
        assert laid(framing, unit, "name", carry, jsontext.dumps(unit)) == expected


def test_growth_tells_what_it_comes_to_without_being_put_together() -> None:
    grown = Growth()
    for _ in range(5000):
        grown.add("ab")
    assert grown.comes_to("ab" * 5000)
    assert not grown.comes_to("ab" * 4999)
    assert not grown.comes_to("ab" * 5000 + "a")
    assert not grown.comes_to("ba" * 5000)
    pair = Growth()
    pair.add("\ud83d")
    pair.add("\ude00")
    assert pair.comes_to("\U0001f600")
    assert Growth().comes_to("")


def test_fragments_are_gathered_as_what_they_come_to() -> None:
    gathered = Gathered()
    signed = Append("c", State(None, {"k": 1}))
    for event in (Open("text"), Append("a"), Append("b", None, {"unievent": {"at": 1}}), signed, Append("d")):
        gathered.add(event)
    assert gathered.events() == [Open("text"), Append("ab"), signed, Append("d")]


def test_assembling_holds_text_twice_at_most() -> None:
    piece = blocks([frame("content", value="x" * 500)])
    head, *tail = content("")

    def stream() -> Any:
        yield blocks([start(), head])
        for _ in range(4000):
            yield piece
        yield blocks([tail[-1], usage()])

    tracemalloc.start()
    try:
        messages: Any = assemble(stream(), "gateway-sse", "gateway")
        (message,) = messages
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(message["value"]) == 2_000_000
    assert peak < 2.5 * 2_000_000
