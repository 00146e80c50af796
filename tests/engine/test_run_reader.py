"""The reader of runs by itself: which bytes are taken for one, and what it says."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from translate import Append, Limits, codec, jsontext
from translate.engine.options import make_options
from translate.engine.run_reader import WINDOW, RunReader
from translate.engine.runs import NONE, Mark, Marks, Run
from translate.engine.templates import carry_of
from translate.shapes import Cursor, blocks, lines
from translate_codecs.gateway import words as gateway_units
from translate_codecs.unievent import words as unievent_units

GATEWAY, UNIEVENT = gateway_units.HOT["content"], unievent_units.HOT["text"]
AT = Marks(Mark("unievent", "at"))
STAMPED = Marks(AT.number, True)
SYNTHETIC = Marks(None, True)
FRAMINGS = {"sse": blocks.framing, "jsonl": lines.framing}
each_framing = pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS)


def spelled(unit: Any, *, spaced: bool = False) -> bytes:
    return json.dumps(unit, ensure_ascii=False, separators=(", ", ": ") if spaced else (",", ":")).encode()


def content(text: str) -> Any:
    return {"success": True, "code": 200, "value": {"type": "content", "value": text}}


def delta(text: str, at: int) -> Any:
    head = {"role": "assistant", "event_type": "delta", "content_items": [{"type": "text.delta", "text": text}]}
    return {**head, "usage_metadata": None, "finish_reason": None, "created_at": at}


def frames(framing: Any, name: str | None, units: list[Any], carries: Any = None, *, spaced: bool = False) -> bytes:
    beside = [None] * len(units) if carries is None else [spelled(carry) for carry in carries]
    return b"".join(framing(spelled(unit, spaced=spaced), name, c) for unit, c in zip(units, beside, strict=True))


TEXTS, NUMBERS = ["a", "é", ""], [0, 7, 10**17]
EVENTS: dict[str, list[Append]] = {
    "content": [Append(t) for t in TEXTS],
    "content with a stamp": [Append(t, None, {"unievent": {"at": n}}) for t, n in zip(TEXTS, NUMBERS, strict=True)],
    "stamped delta": [
        Append(t, None, {"unievent": {"at": n, "synthetic": True}}) for t, n in zip(TEXTS, NUMBERS, strict=True)
    ],
}
EVENTS["delta"] = EVENTS["content with a stamp"]
CARRIED = {"content": NONE, "delta": NONE}
CARRIED |= {"content with a stamp": AT, "stamped delta": SYNTHETIC}
WIRE = codec("gateway").encoder(make_options())
each_case = pytest.mark.parametrize("case", EVENTS)


def hot_of(case: str) -> Any:
    return UNIEVENT if "delta" in case else GATEWAY


def units_of(case: str, framing: Any, *, spaced: bool = False) -> list[bytes]:
    """The units of a case, each by itself; neither reader nor writer is used."""
    hot, out = hot_of(case), []
    for text, number in zip(TEXTS, NUMBERS, strict=True):
        unit = delta(text, number) if hot is UNIEVENT else content(text)
        carry = {NONE: None, AT: {"unievent": {"at": number}}, SYNTHETIC: {"synthetic": True}}[CARRIED[case]]
        out.append(frames(framing, hot.name, [unit], carry and [carry], spaced=spaced))
    return out


def reader(
    case: str, framing: Any, *, limits: Limits | None = None, spaced: bool = False, at: int = 2
) -> tuple[RunReader, list[bool]]:
    """A reader that was told of units, and what it said."""
    made, hot = RunReader(limits or Limits(), WIRE), hot_of(case)
    blocks = units_of(case, framing, spaced=spaced)
    units = [delta(t, n) if hot is UNIEVENT else content(t) for t, n in zip(TEXTS, NUMBERS, strict=True)]
    told = [
        made.learn(hot, framing, unit, hot.name, event, block)
        for unit, event, block in zip(units[:at], EVENTS[case], blocks, strict=False)
    ]
    return made, told


def at_hand(data: bytes) -> Cursor:
    cursor = Cursor()
    cursor.turn(data)
    return cursor


# ---- reading -------------------------------------------------------------------------------------------


@each_framing
@each_case
@pytest.mark.parametrize("spaced", [False, True])
def test_a_run_is_read_where_it_stands(framing: Any, case: str, spaced: bool) -> None:
    made, told = reader(case, framing, spaced=spaced)
    assert told == [True, True]
    data = b"".join(units_of(case, framing, spaced=spaced))
    cursor = at_hand(data + b"rest")
    run = made.read(hot_of(case), cursor)
    assert run is not None
    assert (run.texts, run.text, cursor.at) == (TEXTS, "aé", len(data))
    stamped = case != "content"
    assert [*run.numbers] == ([b"%d" % n for n in NUMBERS] if stamped else [])
    assert run.marks == (STAMPED if case == "stamped delta" else AT if stamped else NONE)
    assert run.events() == EVENTS[case]
    assert [*run.written()] == [json.dumps(text, ensure_ascii=False).encode() for text in TEXTS]
    # not from within a unit, and no unit that has not come whole
    cursor = at_hand(data[1:])
    assert (made.read(hot_of(case), cursor), cursor.at) == (None, 0)
    cursor = at_hand(data[:-1])
    first = made.read(hot_of(case), cursor)
    assert first is not None
    assert first.texts == TEXTS[:2]
    cursor.turn(data[cursor.at :])
    second = made.read(hot_of(case), cursor)
    assert second is not None
    assert second.texts == TEXTS[2:]
    other = UNIEVENT if hot_of(case) is GATEWAY else GATEWAY
    assert made.read(other, at_hand(data)) is None


@each_framing
@each_case
def test_it_takes_one_that_is_as_its_writer_would_have_it(framing: Any, case: str) -> None:
    hot, data = hot_of(case), units_of(case, framing)
    made, told = reader(case, framing, at=0)
    assert (told, made.knows(hot), made.read(hot, at_hand(data[0]))) == ([], False, None)
    unit = delta("a", 0) if "delta" in case else content("a")
    for other in (b" " + data[0], data[0][:-1], data[0].replace(b'"a"', b'"a" '), data[1] + data[0]):
        assert not made.learn(hot, framing, unit, hot.name, EVENTS[case][0], other)
        assert not made.knows(hot)
    made, told = reader(case, framing, at=1)
    assert (told, made.knows(hot)) == ([True], True)
    assert made.read(hot, at_hand(data[1])) is not None


@each_framing
def test_what_is_known_goes_on_being_known(framing: Any) -> None:
    made, _ = reader("content", framing)
    blocks = units_of("content", framing)
    assert made.learn(GATEWAY, framing, content("x"), "content", Append("x"), blocks[2])
    # one of another spelling is not read by it, and takes its place
    spaced = units_of("content", framing, spaced=True)
    assert made.read(GATEWAY, at_hand(spaced[0])) is None
    assert made.learn(GATEWAY, framing, content("a"), "content", Append("a"), spaced[0])
    assert made.read(GATEWAY, at_hand(spaced[0])) is not None
    assert made.read(GATEWAY, at_hand(blocks[0])) is None
    # what another part grows by is known apart
    thinking = gateway_units.HOT["thinking"]
    assert made.read(thinking, at_hand(spaced[0])) is None
    assert made.read(GATEWAY, at_hand(spaced[0])) is not None


@each_framing
def test_the_form_of_every_writer_is_known(framing: Any) -> None:
    """Compact, with spaces, and in ASCII."""
    spellings: list[Callable[[Any], bytes]] = [
        spelled,
        lambda unit: spelled(unit, spaced=True),
        lambda unit: json.dumps(unit).encode(),
    ]
    for spell in spellings:
        made = RunReader(Limits(), WIRE)
        blocks = [framing(spell(content(text)), "content", None) for text in ("a", "é", "b")]
        told = [
            made.learn(GATEWAY, framing, content(t), "content", Append(t), b)
            for t, b in zip("aéb", blocks, strict=True)
        ]
        assert told == [True, True, True]
        run = made.read(GATEWAY, at_hand(b"".join(blocks)))
        assert run is not None
        assert run.texts == ["a", "é", "b"]


@pytest.mark.parametrize(
    "residue",
    [
        *({"x": {"n": 1}, "y": {"n": 1}}, {"x": {"n": 1, "m": 2}}, {"x": {"n": "1"}}, {"x": {"n": -1}}, {"x": {}}),
        *({"x": {"n": 10**18}}, {"x": {"n": True}}, {"X": {"n": 1}}, {"events": {"n": 1}}, {"x": {"synthetic": True}}),
        *(
            {"unievent": {"other": 1}},
            {"unievent": {"at": 1, "patch": []}},
            {"x": {"n": 1}, "unievent": {"at": 1}},
            None,
        ),
    ],
)
def test_residues_that_are_no_number_are_not_learnt(residue: Any) -> None:
    made = RunReader(Limits(), WIRE)
    block = frames(lines.framing, None, [delta("a", 1)])
    event = Append("a", None, residue)
    told = [made.learn(UNIEVENT, lines.framing, delta("a", 1), None, event, block) for _ in range(3)]
    assert told == [False] * 3
    assert made.read(UNIEVENT, at_hand(block)) is None


@each_framing
@each_case
def test_a_carry_that_may_pass_its_limit_is_not_learnt(framing: Any, case: str) -> None:
    carry = carry_of(CARRIED[case])
    size = len(carry) + 18 if carry is not None else 0
    for limit, taken in ((max(size - 1, 0), carry is None), (size, True)):
        assert reader(case, framing, limits=Limits(carry=limit))[1][1] is taken


def body(inside: bytes) -> Run | None:
    made, _ = reader("content", lines.framing)
    block = units_of("content", lines.framing)[0]
    return made.read(GATEWAY, at_hand(block.replace(b'"a"', b'"' + inside + b'"')))


@pytest.mark.parametrize(
    ("inside", "canonical"),
    [
        (rb"a\n\t\b\f\r\\", None),
        (rb"a\"b", None),
        (rb"\u0041", b"A"),
        (rb"\u00e9", "é".encode()),
        (rb"\ud83d\ude00", "😀".encode()),
        (rb"\uD83D\uDE00", "😀".encode()),
        (rb"\u0041\"", rb"A\""),
        (rb"\u0041\",", rb"A\","),
        (rb"\u0041b\u0043", b"AbC"),
        (rb"a\/b", b"a/b"),
        ("\u2028".encode(), rb"\u2028"),
        ("\x85".encode(), rb"\u0085"),
        ("a\u2029b".encode(), rb"a\u2029b"),
        (rb"\u001f", rb"\u001f"),
        ("\x7fé".encode(), None),
    ],
)
def test_the_inside_of_a_string(inside: bytes, canonical: bytes | None) -> None:
    run = body(inside)
    assert run is not None
    assert run.texts == [json.loads(b'"' + inside + b'"')]
    assert [*run.written()] == [b'"' + (canonical if canonical is not None else inside) + b'"']
    both = Run([*run.texts, "plain"], [*run.tokens, b'"plain"'])
    assert [*both.written()] == [*run.written(), b'"plain"']


@pytest.mark.parametrize(
    "inside",
    [
        *(b'"', b"\n", b"\x00", b"\x1f", b"\\", rb"\x", rb"\u00g0", rb"\u12", rb"\ud83d", rb"\ude00"),
        *(rb"\ud83d\u0041", rb"\ud83da", b"\xff", b"\xc3", b"\xed\xa0\x80", b"a\xe2\x80", b'a","b', b'a",["b'),
    ],
)
def test_what_is_not_the_inside_of_a_string_ends_a_run(inside: bytes) -> None:
    assert body(inside) is None
    made, _ = reader("content", lines.framing)
    block = units_of("content", lines.framing)[0]
    units = [block.replace(b'"a"', b'"' + each + b'"') for each in (b"a", "é".encode(), inside, b"b")]
    cursor = at_hand(b"".join(units))
    run = made.read(GATEWAY, cursor)
    assert run is not None
    assert (run.texts, cursor.at) == (["a", "é"], len(units[0] + units[1]))


@each_framing
@pytest.mark.parametrize(
    ("number", "taken"),
    [
        *((b"0", True), (b"9" * 18, True), (b"9007199254740993", True), (b"1" + b"0" * 18, False), (b"01", False)),
        *((b"00", False), (b"-1", False), (b"+5", False), (b"1.5", False), (b"1e3", False), (b"null", False)),
        *((b"", False), (b" 5", False), (b"5 ", False), (b'"5"', False), (b"9" * 40, False), ("٣".encode(), False)),
    ],
)
def test_the_number_of_a_unit(framing: Any, number: bytes, taken: bool) -> None:
    for case, before in (("delta", b'"created_at":'), ("content with a stamp", b'"at":')):
        made, _ = reader(case, framing)
        first, odd, last = units_of(case, framing)
        odd = odd.replace(before + b"7", before + number)
        cursor = at_hand(first + odd + last)
        run = made.read(hot_of(case), cursor)
        assert run is not None
        assert len(run.texts) == (3 if taken else 1)
        if taken:
            assert run.events()[1] == Append("é", None, {"unievent": {"at": int(number)}})
        else:
            assert cursor.at == len(first)


def test_a_unit_that_may_pass_its_limit_is_not_read_here() -> None:
    unit = frames(lines.framing, "content", [content("a" * 100)])
    for limit, taken in ((len(unit), True), (len(unit) - 1, False)):
        made, _ = reader("content", lines.framing, limits=Limits(unit=limit))
        assert (made.read(GATEWAY, at_hand(unit)) is not None) is taken
    long = frames(lines.framing, "content", [content("a" * 200)])
    for units in ([unit, unit, long, unit], [unit, unit, long.replace(b"aa", b"\\n"), unit]):
        made, _ = reader("content", lines.framing, limits=Limits(unit=len(unit) + 10))
        cursor = at_hand(b"".join(units))
        run = made.read(GATEWAY, cursor)
        assert run is not None
        assert (len(run.texts), cursor.at) == (2, 2 * len(unit))


def test_what_is_read_together_is_bounded() -> None:
    unit = frames(lines.framing, "content", [content("a" * 100)])
    many = WINDOW // len(unit)
    made, _ = reader("content", lines.framing)
    cursor = at_hand(unit * (3 * many))
    while (run := made.read(GATEWAY, cursor)) is not None:
        assert many - 1 <= len(run.texts) <= many or cursor.at == len(cursor.data)
    assert cursor.at == len(cursor.data)
    # a unit that is longer than that is read by itself
    long = frames(lines.framing, "content", [content("a" * 2 * WINDOW)])
    cursor = at_hand(long * 2)
    run = made.read(GATEWAY, cursor)
    assert run is not None
    assert (len(run.texts), cursor.at) == (1, len(long))


HOLES = [b'"', b"a", b"b", b",", b"[", b"]", b"{", b"}", b":", b"\\", b" ", b"1", b'"a"', b'","', b"\n", b"\xff", b"\0"]


@given(
    st.lists(st.lists(st.sampled_from(HOLES), max_size=6).map(b"".join), min_size=1, max_size=5),
    st.sampled_from([*EVENTS]),
    st.sampled_from([*FRAMINGS]),
)
@settings(max_examples=500, deadline=None)
def test_pieces_that_only_together_are_json_are_not_read(insides: list[bytes], case: str, framing: str) -> None:
    """Such as a list that begins in one unit and ends in a later one: each by itself is what counts."""
    made, _ = reader(case, FRAMINGS[framing])
    block = units_of(case, FRAMINGS[framing])[0]
    units = [block.replace(b'"a"', b'"' + inside + b'"') for inside in insides]
    cursor = at_hand(b"".join(units))
    run = made.read(hot_of(case), cursor)
    singly = [said(b'"' + inside + b'"') for inside in insides]
    taken = [*itertools.takewhile(lambda text: text is not None, singly)]
    assert (run.texts if run is not None else []) == taken
    assert cursor.at == sum(map(len, units[: len(taken)]))


def said(token: bytes) -> str | None:
    """What a parser makes of it."""
    try:
        text = json.loads(token)
    except ValueError:
        return None
    return text if isinstance(text, str) and jsontext.dumps(text).isascii() else None


@each_framing
def test_units_may_be_padded_each_as_it_likes(framing: Any) -> None:
    """Blanks before the last brace are no one's: Anthropic's servers put some there."""
    pads = [2, 0, 5, 1]
    texts = ["a", 'b } \\" }', "é", "d"]
    blocks = [
        framing(spelled(content(text))[:-1] + b" " * pad + b"}", "content", None)
        for text, pad in zip(texts, pads, strict=True)
    ]
    made = RunReader(Limits(), WIRE)
    assert made.learn(GATEWAY, framing, content("a"), "content", Append("a"), blocks[0])
    cursor = at_hand(b"".join(blocks) + b"rest")
    run = made.read(GATEWAY, cursor)
    assert run is not None
    assert (run.texts, cursor.at) == (texts, sum(map(len, blocks)))
    alone = [made.one(GATEWAY, block) for block in blocks]
    assert [each.texts for each in alone if each is not None] == [[text] for text in texts]
    # a unit is as long as it came
    small = RunReader(Limits(unit=len(blocks[0]) + 1), WIRE)
    assert small.learn(GATEWAY, framing, content("a"), "content", Append("a"), blocks[0])
    cursor = at_hand(b"".join([blocks[0], *blocks]))
    run = small.read(GATEWAY, cursor)
    assert run is not None
    assert (run.texts, cursor.at) == (["a", "a"], 2 * len(blocks[0]))
    assert small.one(GATEWAY, blocks[1]) is None


def test_what_is_never_learnt_is_soon_looked_at_less() -> None:
    made, tried = RunReader(Limits(), WIRE), []
    look = made._template
    made._template = lambda *args: tried.append(1) or look(*args)  # type: ignore[method-assign,func-returns-value]
    for _ in range(1000):
        assert not made.learn(GATEWAY, lines.framing, content("a"), "content", Append("a"), b"{}\n")
    assert len(tried) < 20
