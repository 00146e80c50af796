"""Parts that interleave are said one at a time, and nothing of them is lost."""

from __future__ import annotations

import pytest

from translate.algebra.events import Append, Close, Event, Open
from translate.algebra.serial import Serial, said_before, was_said
from translate.errors import LimitExceeded

CODEC = "x"


def put(serial: Serial[str], *pieces: tuple[str, Event]) -> list[Event]:
    turn = serial.turn()
    for key, event in pieces:
        turn.put(key, event)
    serial.take(turn)
    return turn.said


def opened(key: str) -> tuple[str, Event]:
    return key, Open("tool_call", key)


def test_the_first_part_is_said_at_once_and_others_wait_in_order() -> None:
    serial: Serial[str] = Serial(CODEC, 10_000)
    assert put(serial, opened("a")) == [Open("tool_call", "a")]
    assert put(serial, opened("b"), ("b", Append("1"))) == []
    assert put(serial, opened("c"), ("c", Append("2")), ("c", Close())) == []
    assert put(serial, ("a", Append("0"))) == [Append("0")]
    said = put(serial, ("b", Close()), ("a", Close()))
    assert [(type(e), was_said(e, CODEC)) for e in said] == [
        *((Close, False), (Open, True), (Append, True), (Close, False)),
        *((Open, True), (Append, True), (Close, True)),
    ]
    assert serial.open is None
    assert not serial.waits


def test_the_last_part_stays_open_and_goes_on() -> None:
    serial: Serial[str] = Serial(CODEC, 10_000)
    put(serial, opened("a"), opened("b"))
    assert put(serial, ("a", Close())) == [Close(), said_before(Open("tool_call", "b"), CODEC)]
    assert serial.open == "b"
    assert put(serial, ("b", Append("1"))) == [Append("1")]


def test_a_turn_changes_nothing_before_it_is_taken() -> None:
    serial: Serial[str] = Serial(CODEC, 10_000)
    put(serial, opened("a"), opened("b"))
    turn = serial.turn()
    turn.put("a", Close())
    assert turn.open == "b"
    assert (serial.open, serial.waits) == ("a", True)
    again = serial.turn()
    again.put("a", Close())
    assert again.said == turn.said


def test_who_opened_last_is_known() -> None:
    serial: Serial[str] = Serial(CODEC, 10_000)
    assert serial.turn().last() is None
    put(serial, opened("a"))
    assert serial.turn().last() == "a"
    put(serial, opened("b"))
    turn = serial.turn()
    assert turn.last() == "b"
    turn.put(*opened("c"))
    assert turn.last() == "c"
    assert turn.holds("b")
    assert not turn.holds("a")


def test_what_waits_is_limited_all_together() -> None:
    serial: Serial[str] = Serial(CODEC, 1_000)
    put(serial, opened("a"), opened("b"), *[("b", Append("x" * 100))] * 5)
    with pytest.raises(LimitExceeded) as raised:
        put(serial, ("b", Append("x" * 100)))
    assert (raised.value.limit, raised.value.maximum) == ("part", 1_000)


def test_what_was_said_is_not_counted_any_more() -> None:
    serial: Serial[str] = Serial(CODEC, 1_000)
    put(serial, opened("0"))
    for i in range(50):
        put(serial, opened(str(i + 1)), (str(i + 1), Append("x" * 500)))
        put(serial, (str(i), Close()))
    assert serial.open == "50"
