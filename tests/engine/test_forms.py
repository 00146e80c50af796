"""Forms by themselves: which bytes they take for a run, what it says, and what is written for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from translate.engine.forms import SYNTHETIC, Mark, Run, carrying, form_of, forms_of, gather, is_plain

from translate import Append, Close, State
from translate.shapes import lines, sse
from translate_codecs.gateway import words as gateway_units
from translate_codecs.unievent import words as unievent_units

GATEWAY, UNIEVENT = gateway_units.HOT["content"], unievent_units.HOT["text"]
AT: Mark = ("unievent", "at")
FRAMINGS = {"sse": sse.framing, "jsonl": lines.framing}
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
CASES: dict[str, Any] = {
    "content": (GATEWAY, None, lambda f: frames(f, "content", [content(t) for t in TEXTS])),
    "content with a stamp": (
        GATEWAY,
        AT,
        lambda f: frames(f, "content", [content(t) for t in TEXTS], [{"unievent": {"at": n}} for n in NUMBERS]),
    ),
    "delta": (UNIEVENT, None, lambda f: frames(f, None, [delta(t, n) for t, n in zip(TEXTS, NUMBERS, strict=True)])),
    "stamped delta": (
        UNIEVENT,
        SYNTHETIC,
        lambda f: frames(
            f, None, [delta(t, n) for t, n in zip(TEXTS, NUMBERS, strict=True)], [{"synthetic": True}] * 3
        ),
    ),
}
each_case = pytest.mark.parametrize(("hot", "carry", "written"), CASES.values(), ids=CASES)


@each_framing
@each_case
def test_a_form_reads_and_writes_a_run(framing: Any, hot: Any, carry: Mark, written: Any) -> None:
    form, data = form_of(hot, framing, carry), written(framing)
    run = form.read(data + b"rest", 0, len(data) + 4)
    assert run is not None
    assert (run.texts, run.size, run.text, run.form) == (TEXTS, len(data), "aé", form)
    stamped = hot is UNIEVENT or carry is not None
    assert run.numbers == ([b"%d" % n for n in NUMBERS] if stamped else [])
    assert run.residue == (AT if stamped else None)
    assert run.synthetic == (carry is SYNTHETIC)
    mark = {"synthetic": True} if carry is SYNTHETIC else {}
    residues = [{"unievent": {"at": n, **mark}} if stamped else None for n in NUMBERS]
    assert run.events() == [Append(t, None, r) for t, r in zip(TEXTS, residues, strict=True)]
    assert form.write(run.bodies, run.numbers) == data
    assert form.carry == {None: 0, AT: len('{"unievent":{"at":}}'), SYNTHETIC: len('{"synthetic":true}')}[carry]
    assert form.read(data, 1, len(data)) is None
    first = form.read(data, 0, len(data) - 1)
    assert first is not None
    assert first.texts == TEXTS[:2]
    second = form.read(data, first.size, len(data))
    assert second is not None
    assert second.texts == TEXTS[2:]


@each_framing
def test_the_forms_that_all_streams_have(framing: Any) -> None:
    assert len(forms_of(GATEWAY, framing)) == 2
    assert len(forms_of(UNIEVENT, framing)) == 3
    for hot, name, unit in ((GATEWAY, "content", content("a")), (UNIEVENT, None, delta("a", 5))):
        for spaced in (False, True):
            data = frames(framing, name, [unit], spaced=spaced)
            assert [form.read(data, 0, len(data)) is not None for form in forms_of(hot, framing)][:2] == [
                not spaced,
                spaced,
            ]
    data = frames(framing, None, [delta("a", 5)], [{"synthetic": True}])
    run = forms_of(UNIEVENT, framing)[2].read(data, 0, len(data))
    assert run is not None
    assert run.synthetic


def body(inside: bytes) -> Run | None:
    form = form_of(GATEWAY, lines.framing)
    return form.read(data := form.head + inside + form.tail, 0, len(data))


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
    assert run.bodies == [canonical if canonical is not None else inside]
    form = form_of(GATEWAY, lines.framing)
    data = (form.head + inside + form.tail) + (form.head + b"plain" + form.tail)
    both = form.read(data, 0, len(data))
    assert both is not None
    assert both.bodies == [*run.bodies, b"plain"]


@pytest.mark.parametrize(
    "inside",
    [
        b'"',
        b"\n",
        b"\x00",
        b"\x1f",
        b"\\",
        rb"\x",
        rb"\u00g0",
        rb"\u12",
        rb"\ud83d",
        rb"\ude00",
        rb"\ud83d\u0041",
        rb"\ud83da",
    ],
)
def test_what_is_not_the_inside_of_a_string(inside: bytes) -> None:
    assert body(inside) is None


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"a\xe2\x80"])
def test_what_is_not_utf_8_ends_a_run(bad: bytes) -> None:
    form = form_of(GATEWAY, lines.framing)
    units = [form.head + inside + form.tail for inside in (b"a", "é".encode(), bad, b"b")]
    run = form.read(b"".join(units), 0, sum(map(len, units)))
    assert run is not None
    assert (run.texts, run.size) == (["a", "é"], len(units[0] + units[1]))
    assert body(bad) is None


@pytest.mark.parametrize(
    ("number", "taken"),
    [
        ("0", True),
        ("9" * 18, True),
        ("1" + "0" * 18, False),
        ("01", False),
        ("-1", False),
        ("1.5", False),
        ("1e3", False),
        ("null", False),
    ],
)
def test_the_number_of_a_unit(number: str, taken: bool) -> None:
    form = form_of(UNIEVENT, lines.framing)
    data = form.head + b"a" + form.mid + number.encode() + form.tail
    assert (form.read(data, 0, len(data)) is not None) is taken


def test_a_run_in_two() -> None:
    run = Run(["a", "b", "c"], [b"a", b"b", b"c"], [b"1", b"2", b"3"], AT, True)
    first, second = run.split(1)
    assert (first.texts, first.bodies, first.numbers) == (["a"], [b"a"], [b"1"])
    assert (second.texts, second.bodies, second.numbers) == (["b", "c"], [b"b", b"c"], [b"2", b"3"])
    assert (first.residue, first.synthetic, second.residue, second.synthetic) == (AT, True, AT, True)


def stamped(text: str, at: Any, **more: Any) -> Append:
    return Append(text, None, {"unievent": {"at": at, **more}})


@pytest.mark.parametrize(
    ("events", "at", "texts", "numbers"),
    [
        ([Append("a"), Append("é")], 0, ["a", "é"], []),
        ([Append("a"), Append("b"), Append("c"), Close()], 1, ["b", "c"], []),
        ([Append("a"), Append("b"), Append("c", State("", {})), Append("d")], 0, ["a", "b"], []),
        ([Append("a"), Append("b"), Append(b"c"), Append("d")], 0, ["a", "b"], []),
        ([Append("a"), Append("b"), stamped("c", 1), Append("d")], 0, ["a", "b"], []),
        ([Append("a"), Append("b"), stamped("c", 1, patch=[]), Append("d")], 0, ["a", "b"], []),
        (
            [stamped("a", 0), stamped("b", 10**18 - 1), stamped("c", 10**18)],
            0,
            ["a", "b"],
            [b"0", b"999999999999999999"],
        ),
        ([stamped("a", 1), stamped("b", 2), Append("c")], 0, ["a", "b"], [b"1", b"2"]),
        ([stamped("a", 1), stamped("b", 2), stamped("c", 3, patch=[])], 0, ["a", "b"], [b"1", b"2"]),
        ([stamped("a", 1), stamped("b", 2), stamped("c", True)], 0, ["a", "b"], [b"1", b"2"]),
        ([stamped("a", 1), stamped("b", 2), stamped("c", 1.5)], 0, ["a", "b"], [b"1", b"2"]),
        ([stamped("a", 1), stamped("b", 2), stamped("c", -1)], 0, ["a", "b"], [b"1", b"2"]),
        ([stamped("a", 1), stamped("b", 2), Append("c", None, {"x": {"at": 1}})], 0, ["a", "b"], [b"1", b"2"]),
        (
            [stamped("a", 1), stamped("b", 2), Append("c", None, {"unievent": {"at": 1}, "x": {}})],
            0,
            ["a", "b"],
            [b"1", b"2"],
        ),
        ([Append("a")], 0, None, None),
        ([Append("a"), Close()], 0, None, None),
        ([Close(), Append("a"), Append("b")], 0, None, None),
        ([stamped("a", 1), Append("b")], 0, None, None),
        ([stamped("a", 1, patch=[]), stamped("b", 2)], 0, None, None),
        ([Append("a\ud83d"), Append("b")], 0, None, None),
        ([Append(t, None, {"x": {"synthetic": 1}}) for t in "ab"], 0, None, None),
        ([Append(t, None, {"events": {"at": 1}}) for t in "ab"], 0, None, None),
        ([Append(t, None, {"x y": {"at": 1}}) for t in "ab"], 0, None, None),
    ],
)
def test_plain_fragments_in_a_row(events: Any, at: int, texts: Any, numbers: Any) -> None:
    run = gather(events, at)
    if texts is None:
        assert run is None
        return
    assert run is not None
    assert (run.texts, run.bodies, run.numbers) == (texts, [t.encode() for t in texts], numbers)
    assert (run.residue, run.synthetic, run.form, run.size) == (AT if numbers else None, False, None, 0)


@pytest.mark.parametrize(
    ("codec", "member", "plain"),
    [
        *(("unievent", "at", True), ("a-b_9", "a_b", True), ("X", "at", False), ("a", "A", False), ("a", "a1", False)),
        *(("", "at", False), ("a", "", False), ("v", "at", False), ("events", "at", False), ("a", "synthetic", False)),
        *(("a b", "at", False), ("a", "a b", False), ("before", "at", False), ("member", "at", False)),
    ],
)
def test_a_residue_that_a_carry_may_name(codec: str, member: str, plain: bool) -> None:
    assert is_plain(codec, member) is plain


@each_framing
def test_a_carry_of_one_number_names_its_residue(framing: Any) -> None:
    data = frames(framing, "content", [content("a")], [{"uni-9": {"at_x": 5}}])
    match = carrying(GATEWAY, framing).match(data)
    assert match is not None
    assert match.groups() == (b"uni-9", b"at_x")
    for carry in ({"uni": {"at": "5"}}, {"Uni": {"at": 5}}, {"uni": {"at1": 5}}, {"uni": 5}, {}):
        found = carrying(GATEWAY, framing).match(frames(framing, "content", [content("a")], [carry]))
        assert found is None or carry == {"uni": {"at": "5"}}
