"""The hot path says what the general way says: every stream here is converted with it and without it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hot_streams import (
    LURES,
    SIZES,
    cut,
    gateway_stream,
    is_json,
    mutate,
    same_both_ways,
    unievent_stream,
    without_hot_path,
)
from translate import Append, Close, Event, Finish, Limits, Open, Start, convert, encode
from translate.engine import forms, hot, translator
from translate.shapes import Cursor, lines, sse
from translate_codecs.gateway import words as gateway_units
from translate_codecs.unievent import words as unievent_units

EXAMPLES = Path(__file__).parents[2] / "examples"
TARGETS = [
    "gateway-sse",
    "gateway-jsonl",
    "gateway",
    "unievent-sse",
    "unievent-jsonl",
    "unievent",
    "events-jsonl",
    "events",
]
LOSSES = st.sampled_from(["carry", "carry", "drop", "raise"])
ERRORS = st.sampled_from(["raise", "encode"])
LIMITS = st.sampled_from(
    [None, None, None, Limits(part=9), Limits(carry=25), Limits(nesting=2), Limits(nesting=3), Limits(unit=200)]
)
MUTANTS = st.sampled_from(
    [b'"', b"\\", b"{", b"}", b",", b"[", b"]", b"0", b"x", b"\xff", b" ", b'","', b"\n", b"\x01", b""]
)


@pytest.mark.parametrize("example", ["claude-turn.unievent.sse", "cut.unievent.sse"])
@pytest.mark.parametrize("dst", TARGETS)
@pytest.mark.parametrize("loss", ["carry", "drop", "raise"])
def test_the_examples(example: str, dst: str, loss: str) -> None:
    data = (EXAMPLES / example).read_bytes()
    found = [same_both_ways(cut(data, [size]), "unievent-sse", dst, loss=loss) for size in (len(data), 700, 64)]
    assert found[0] == found[1] == found[2]
    if loss == "carry" and found[0].error is None and dst.startswith("gateway"):
        carried = list(convert([data], "unievent-sse", dst))
        back = b"".join(convert(carried, dst, "unievent-sse"))
        assert [json.loads(x[6:]) for x in back.split(b"\n\n")[:-2]] == [
            json.loads(x[6:]) for x in data.split(b"\n\n")[:-2]
        ]


@given(st.data(), st.sampled_from(["sse", "jsonl"]), st.sampled_from(TARGETS), SIZES, LOSSES, ERRORS, LIMITS)
@settings(deadline=None)
def test_unievent_streams(
    data: st.DataObject, shape: str, dst: str, sizes: list[int], loss: str, errors: str, limits: Limits | None
) -> None:
    chunks = cut(data.draw(unievent_stream(shape)), sizes)
    options: dict[str, Any] = {"loss": loss, "errors": errors, "limits": limits, "strict": data.draw(st.booleans())}
    same_both_ways(chunks, f"unievent-{shape}", dst, reported=data.draw(st.booleans()), **options)


@given(st.data(), st.sampled_from(["sse", "jsonl"]), st.sampled_from(TARGETS), SIZES, LOSSES, ERRORS, LIMITS)
@settings(deadline=None)
def test_gateway_streams(
    data: st.DataObject, shape: str, dst: str, sizes: list[int], loss: str, errors: str, limits: Limits | None
) -> None:
    chunks = cut(data.draw(gateway_stream(shape)), sizes)
    options: dict[str, Any] = {"loss": loss, "errors": errors, "limits": limits, "strict": data.draw(st.booleans())}
    same_both_ways(chunks, f"gateway-{shape}", dst, reported=data.draw(st.booleans()), **options)


@given(st.data(), st.sampled_from(["sse", "jsonl"]), st.integers(0, 5000), MUTANTS, st.integers(0, 2), SIZES)
@settings(deadline=None)
def test_streams_with_an_error_in_them(
    data: st.DataObject, shape: str, at: int, what: bytes, drop: int, sizes: list[int]
) -> None:
    src, make = data.draw(st.sampled_from([("unievent", unievent_stream), ("gateway", gateway_stream)]))
    chunks = cut(mutate(data.draw(make(shape)), at, what, drop), sizes)
    dst = data.draw(st.sampled_from(TARGETS))
    same_both_ways(chunks, f"{src}-{shape}", dst, strict=data.draw(st.booleans()))


@given(st.data(), SIZES)
@settings(deadline=None)
def test_the_output_does_not_depend_on_the_cut(data: st.DataObject, sizes: list[int]) -> None:
    src, make = data.draw(st.sampled_from([("unievent", unievent_stream), ("gateway", gateway_stream)]))
    shape, dst = data.draw(st.sampled_from(["sse", "jsonl"])), data.draw(st.sampled_from(TARGETS))
    stream = data.draw(make(shape))
    options: dict[str, Any] = {"limits": data.draw(LIMITS), "reported": data.draw(st.booleans())}
    whole = same_both_ways([stream], f"{src}-{shape}", dst, **options)
    assert same_both_ways(cut(stream, sizes), f"{src}-{shape}", dst, **options) == whole


# ---- reading, unit by unit --------------------------------------------------------------------

TEXT = unievent_units.HOT["text"]
CONTENT = gateway_units.HOT["content"]
STAMPED = forms.form_of(TEXT, lines.framing)
BARE = forms.form_of(CONTENT, sse.framing)
RIDING = forms.form_of(CONTENT, lines.framing, ("x", "a"))
SPACED = forms.form_of(TEXT, lines.framing, spaced=True)
FORMS = [STAMPED, BARE, RIDING, SPACED, forms.form_of(TEXT, sse.framing, forms.SYNTHETIC)]


def unit(form: forms.Form, inside: bytes, number: bytes = b"5") -> bytes:
    """One unit, by joining; the writer is not used."""
    first, second = (number, inside) if form.number_first else (inside, number)
    return form.head + first + (form.mid + second if form.mid else b"") + form.tail


def read(form: forms.Form, units: list[bytes]) -> list[str]:
    """What is read of units one after another; a lane reads of each by itself no more."""
    data = b"".join(units)
    run = form.read(data, 0, len(data))
    texts = [] if run is None else run.texts
    assert run is None or (run.size, len(run.bodies)) == (sum(map(len, units[: len(texts)])), len(texts))
    for one, text in zip(units, [*texts, None], strict=False):
        for target in (form, None):
            lane = hot.Lane(form, target, lambda: 7, 1000)
            out, settled = lane.take(one), lane.settle()
            assert (out is not None) == (text is not None)
            assert (settled is not None) == (text is not None)
            assert settled is None or (settled.texts, settled.size) == ([text], len(one))
            assert settled is None or out == ([form.write(settled.bodies, settled.numbers)] if target else [])
    return texts


@pytest.mark.parametrize("form", FORMS)
def test_what_is_read_is_what_json_says(form: forms.Form) -> None:
    for text in LURES:
        for ascii_only in (True, False):
            inside = json.dumps(text, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")[1:-1]
            found = read(form, [unit(form, inside)] * 2)
            assert found in ([], [text, text])
            assert found or "\ud83d" <= text <= "\ude00"


HOLES = [b'"', b"a", b"b", b",", b"[", b"]", b"{", b"}", b":", b"\\", b" ", b"1", b'"a"', b'","', b"\n", b"\xff"]


INSIDES = st.lists(st.lists(st.sampled_from(HOLES), max_size=6).map(b"".join), min_size=1, max_size=4)


@given(INSIDES, st.sampled_from(FORMS))
@settings(max_examples=500)
def test_what_no_parser_takes_is_not_read(insides: list[bytes], form: forms.Form) -> None:
    """Pieces that only together are JSON, such as a list that begins in one unit and ends in a later one."""
    units = [unit(form, inside) for inside in insides]
    for inside, text in zip(insides, read(form, units), strict=False):
        assert is_json(b'"' + inside + b'"')
        assert json.loads(b'"' + inside + b'"') == text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "insides",
    [
        [b'a",["b', b"c", b'd"],"e'],
        [b'a",{"b":"c', b'd":"e', b'f":"g"},"h'],
        [b'a",', b',"b'],
        [b'a","b', b"c"],
        [b'a"],["b'],
        [b"\\"],
        [b'"a'],
        [b"\\x"],
        [b"\\u00g0"],
        [b"\\ud83d"],
        [b"\\ude00\\ud83d"],
        [b"a\tb"],
        [b"\xff"],
        [b"\xed\xa0\x80"],
    ],
)
def test_pieces_that_are_no_strings(form: forms.Form, insides: list[bytes]) -> None:
    assert read(form, [unit(form, inside) for inside in insides]) == []


@pytest.mark.parametrize("form", FORMS)
def test_what_comes_before_a_piece_that_is_not_utf8_is_read(form: forms.Form) -> None:
    assert read(form, [unit(form, inside) for inside in (b"a", "é".encode(), b"\xe9", b"b")]) == ["a", "é"]


@pytest.mark.parametrize(
    "number", [b"", b"05", b"00", b"-5", b"+5", b"5.0", b"5e1", b" 5", b"5 ", b"null", b'"5"', b"9" * 19, "٣".encode()]
)
def test_numbers_that_are_no_plain_integers(number: bytes) -> None:
    for form in (STAMPED, RIDING):
        assert read(form, [unit(form, b"a", number)]) == []
        # nor is one among others read by its neighbours
        assert read(form, [unit(form, b"a"), unit(form, b"b", number)]) == ["a"]


def test_integers_are_exact() -> None:
    for number in (b"0", b"9007199254740993", b"999999999999999999"):
        data = unit(STAMPED, b"a", number)
        run = STAMPED.read(data, 0, len(data))
        assert run is not None
        assert run.events() == [Append("a", None, {"unievent": {"at": int(number)}})]


def test_units_that_are_not_hot() -> None:
    whole = unit(STAMPED, b"a")
    odd = [whole[:-1], b" " + whole, whole.replace(b"null", b"NULL"), whole[:-1] + b"\r\n"]
    for other in (*odd, b"{}", STAMPED.head, b"\n", unit(SPACED, b"a")):
        assert read(STAMPED, [other]) == []
        assert read(STAMPED, [whole, other, whole]) == ["a"]
    # a quote that ends what is before the text does not begin what is after it
    assert read(BARE, [BARE.head[:-1] + BARE.tail]) == []


def reader(limits: Limits | None = None) -> hot.HotReader:
    return hot.HotReader(sse.framing, limits or Limits())


def at_hand(data: bytes) -> Cursor:
    cursor = Cursor()
    cursor.turn(data)
    return cursor


def test_a_window_is_kept() -> None:
    whole = unit(BARE, b"a")
    cursor = at_hand(whole * 9)
    run = reader(Limits(unit=len(whole) * 4 + 5)).read(CONTENT, cursor, trusted=True)
    assert run is not None
    assert (len(run.texts), cursor.at) == (4, len(whole) * 4)
    assert reader(Limits(unit=len(whole) - 1)).read(CONTENT, cursor, trusted=True) is None
    assert reader().read(CONTENT, at_hand(unit(BARE, b"a" * hot.WINDOW)), trusted=True) is None


def carried(carry: bytes, form: forms.Form = BARE) -> bytes:
    return b": carry " + carry + b"\n" + unit(form, b"a")


def test_a_carry_is_read_where_carries_are() -> None:
    whole = carried(b'{"x":{"a":1}}')
    assert reader().read(CONTENT, at_hand(whole), trusted=False) is None
    run = reader().read(CONTENT, at_hand(whole), trusted=True)
    assert run is not None
    assert run.events() == [Append("a", None, {"x": {"a": 1}})]
    # what might pass the limit is left to the general way
    size = len(b'{"x":{"a":}}') + forms.DIGITS
    assert reader(Limits(carry=size - 1)).read(CONTENT, at_hand(whole), trusted=True) is None
    assert reader(Limits(carry=size)).read(CONTENT, at_hand(whole), trusted=True) is not None


@pytest.mark.parametrize(
    "carry",
    [
        *(b'{"synthetic":true}', b'{"v":{"a":1}}', b'{"before":{"a":1}}', b'{"gateway":{"a":1}}'),
        *(b"{}", b'{"x":{"a":"1"}}', b'{"x":{"a":-1}}', b'{"x":{"a":01}}', b'{"x":{"synthetic":1}}'),
        *(b'{"x":{"a":1}} ', b'{"x":{"a":1}}}', b'{"x":{"a":1,"b":2}}'),
    ],
)
def test_carries_that_are_not_plain(carry: bytes) -> None:
    assert reader().read(CONTENT, at_hand(carried(carry)), trusted=True) is None


def test_a_stamp_that_was_made_up() -> None:
    form = forms.form_of(TEXT, sse.framing)
    run = reader().read(TEXT, at_hand(carried(b'{"synthetic":true}', form)), trusted=True)
    assert run is not None
    assert run.events() == [Append("a", None, {"unievent": {"at": 5, "synthetic": True}})]
    # two numbers are more than a form has holes for
    assert reader().read(TEXT, at_hand(carried(b'{"x":{"a":1}}', form)), trusted=True) is None


# ---- writing ----------------------------------------------------------------------------------

RESIDUES: list[Any] = [
    *(
        None,
        {},
        {"unievent": {"at": 5}},
        {"unievent": {"at": 5.0}},
        {"unievent": {"at": True}},
        {"unievent": {"at": 2**64}},
    ),
    *({"unievent": {"at": 5, "x": 1}}, {"unievent": {}}, {"unievent": {"synthetic": True}}, {"gateway": {"patch": []}}),
    *({"unievent": {"at": 5, "synthetic": True}}, {"toy": {"a": "}},{"}}, {"toy": {"a": None}}, {"toy": {"a": "null"}}),
    *(
        {"toy": {"$a": 1}},
        {"toy": {"a": "é"}},
        {"toy": {"a": float("nan")}},
        {"toy": {"a": "\ud83d"}},
        {"toy": {"a": 2**70}},
    ),
    *({"toy": {"a": 1}, "unievent": {"at": 5}}, {"unievent": {"at": 5}, "toy": {"a": 1}}, {"toy": {"synthetic": True}}),
    *({"toy": {"a": [{"b": {"c": 1}}, {"d": {}}]}}, {"toy": {}}, {"unievent": {"at": -1}}, {"unievent": {"at": "5"}}),
]


@given(
    st.lists(st.tuples(st.sampled_from(LURES), st.sampled_from(RESIDUES)), min_size=1, max_size=8),
    st.sampled_from(["text", "thinking", "refusal", "tool_call"]),
    st.sampled_from(["gateway-sse", "gateway-jsonl", "unievent-sse", "unievent-jsonl"]),
    st.sampled_from(["carry", "drop", "raise"]),
    st.booleans(),
)
@settings(deadline=None)
def test_events(pieces: list[tuple[str, Any]], kind: Any, dst: str, loss: str, again: bool) -> None:
    if kind == "tool_call":
        pieces = [("{", None), *((" ", residue) for _, residue in pieces), ("}", None)]
    part: list[Event] = [Open(kind, "i", "n"), *(Append(text, None, residue) for text, residue in pieces), Close()]
    events: list[Event] = [Start(), *part, *(part if again else []), Finish()]
    same_both_ways(events, "events", dst, loss=loss)


def test_the_first_carry_is_left_to_the_general_way() -> None:
    at_home: Any = {"unievent": {"at": 5}}
    fragments = [Append("a"), Append("b"), Append("c"), Append("d", None, at_home), Append("e")]
    events: list[Event] = [Open("text", residue=at_home), *fragments, Close(residue=at_home), Finish()]
    for dst in ("unievent-sse", "unievent-jsonl"):
        found = same_both_ways(events, "events", dst)
        assert found.error is None
        assert found.output[0].count('"v":1') == 1


def test_an_integer_that_python_does_not_write() -> None:
    events = [Start(), Open("text"), Append("a"), Append("b", None, {"unievent": {"at": 10**5000}}), Close(), Finish()]
    found = same_both_ways(events, "events", "unievent-sse")
    assert found.error is not None
    assert found.error[0] == "LimitExceeded"


def test_a_clock_is_asked_once_a_unit() -> None:
    asked: list[int] = []

    def clock() -> int:
        asked.append(1)
        return len(asked)

    events: list[Event] = [
        Start(),
        Open("text"),
        *[Append("a")] * 5,
        Close(),
        Open("text"),
        *[Append("b")] * 5,
        Close(),
    ]
    found = b"".join(encode([*events, Finish()], "unievent-jsonl", clock=clock))
    assert [json.loads(line)["created_at"] for line in found.splitlines()] == list(range(1, len(asked) + 1))


@pytest.mark.parametrize("size", [1 << 20, None])
def test_the_hot_path_is_taken(monkeypatch: pytest.MonkeyPatch, size: int | None) -> None:
    """Else all of the above is about nothing. ``size``: of the chunks; ``None`` for one unit a chunk."""
    data = (EXAMPLES / "claude-turn.unievent.sse").read_bytes()
    counts = {"read": 0, "written": 0, "lane": 0}
    reading, writing = hot.HotReader.read, hot.HotWriter.write

    def counted_read(self: hot.HotReader, *args: Any, **options: Any) -> forms.Run | None:
        run = reading(self, *args, **options)
        counts["read"] += 0 if run is None else len(run.texts)
        return run

    def counted_write(self: hot.HotWriter, form: forms.Form, run: forms.Run) -> bytes:
        counts["written"] += len(run.texts)
        return writing(self, form, run)

    class CountedLane(hot.Lane):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            taking = self.take

            def take(chunk: Any) -> list[bytes] | None:
                out = taking(chunk)
                counts["lane"] += out is not None
                return out

            self.take = take

    monkeypatch.setattr(hot.HotReader, "read", counted_read)
    monkeypatch.setattr(hot.HotWriter, "write", counted_write)
    monkeypatch.setattr(translator, "Lane", CountedLane)

    def chunks(whole: bytes) -> list[bytes]:
        return [whole] if size else [block + b"\n\n" for block in whole.split(b"\n\n")[:-1]]

    units = data.count(b'.delta"')
    out = b"".join(convert(chunks(data), "unievent-sse", "gateway-sse"))
    assert counts["read"] + counts["lane"] > units * 0.8
    assert counts["written"] + counts["lane"] > units * 0.6
    assert (counts["lane"] > units * 0.5) == (size is None)
    before = dict(counts)
    list(convert(chunks(out), "gateway-sse", "unievent-sse"))
    assert counts["read"] + counts["lane"] - before["read"] - before["lane"] > units * 0.6
    with without_hot_path():
        before = dict(counts)
        list(convert(chunks(data), "unievent-sse", "gateway-sse"))
        assert counts == before


@pytest.mark.parametrize("odd", [b"5.5", b"7"])
def test_short_runs_in_a_large_chunk_take_linear_time(odd: bytes) -> None:
    form = forms.form_of(TEXT, sse.framing)
    blocks = [unit(form, b"a", odd if i % 2 else b"5") for i in range(20_000)]
    began = time.perf_counter()
    found = same_both_ways([b"".join(blocks)], "unievent-sse", "gateway-sse")
    assert found.error is not None
    assert found.error[0] == "TruncatedStream"
    assert time.perf_counter() - began < 40
