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
from translate import Append, Close, Event, Finish, Limits, Open, Start, State, convert, encode, hot
from translate.shapes import Frame
from translate.shapes.lines import Lines
from translate_codecs import gateway_units, unievent_units

EXAMPLES = Path(__file__).parents[1] / "examples"
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

HOT = unievent_units.HOT["text"]
LAYOUT = HOT.compact
CONTENT = gateway_units.HOT["content"]


def read(units: list[bytes], which: hot.Hot = HOT, *, beside: tuple[bytes, ...] = (), carry: int = 1000) -> list[Any]:
    events: list[Event] = []
    frames = [Frame(unit, carries=beside) for unit in units]
    texts = hot.read(which, frames, 0, events, residues=True, window=256, carry=carry)
    assert [event.data for event in events if isinstance(event, Append)] == texts
    return texts


def unit(hole: bytes, number: bytes = b"5") -> bytes:
    return LAYOUT.before + hole + (LAYOUT.between or b"") + number + LAYOUT.after


def content(hole: bytes) -> bytes:
    return CONTENT.compact.before + hole + CONTENT.compact.after


@pytest.mark.parametrize("make", [unit, content])
def test_what_is_read_is_what_json_says(make: Any) -> None:
    which = HOT if make is unit else CONTENT
    for text in LURES:
        for ascii_only in (True, False):
            hole = json.dumps(text, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
            found = read([make(hole), make(hole)], which)
            assert found in ([], [text, text])
            assert found or "\\" in repr(text) or '"' in text or "\ud83d" <= text <= "\ude00"


HOLES = [b'"', b"a", b"b", b",", b"[", b"]", b"{", b"}", b":", b"\\", b" ", b"1", b'"a"', b'","']


@given(st.lists(st.lists(st.sampled_from(HOLES), max_size=6).map(b"".join), min_size=1, max_size=4), st.booleans())
@settings(max_examples=500)
def test_what_no_parser_takes_is_not_read(holes: list[bytes], stamped: bool) -> None:
    """Pieces that only together are JSON, such as a list that begins in one unit and ends in a later one."""
    which, make = (HOT, unit) if stamped else (CONTENT, content)
    units = [make(b'"' + hole + b'"') for hole in holes]
    texts = read(units, which)
    for raw, text in zip(units, texts, strict=False):
        assert is_json(raw)
        value = json.loads(raw)
        assert text == (value["content_items"][0]["text"] if stamped else value["value"]["value"])


@pytest.mark.parametrize(
    "holes",
    [
        [b'"a",["b"', b'"c"', b'"d"],"e"'],
        [b'"a",{"b":"c"', b'"d":"e"', b'"f":"g"},"h"'],
        [b'"a","', b'","b"'],
        [b'"a","b"', b'"c'],
        [b'"a"],["b"'],
        [b'"', b'"'],
        [b'"\\"'],
        [b'""a'],
        [b' "a"'],
    ],
)
def test_pieces_that_are_no_strings(holes: list[bytes]) -> None:
    assert read([unit(hole) for hole in holes]) == []
    assert read([content(hole) for hole in holes], CONTENT) == []


@pytest.mark.parametrize(
    "number", [b"", b"05", b"00", b"-5", b"+5", b"5.0", b"5e1", b" 5", b"5 ", b"null", b'"5"', b"9" * 20, "٣".encode()]
)
def test_numbers_that_are_no_plain_integers(number: bytes) -> None:
    assert read([unit(b'"a"', number)]) == []
    # nor is one among others read by its neighbours
    assert read([unit(b'"a"', b"5"), unit(b'"b"', number)]) in ([], ["a"])


def test_integers_are_exact() -> None:
    events: list[Event] = []
    for number in (b"0", b"9007199254740993", b"9223372036854775807", b"18446744073709551615"):
        hot.read(HOT, [Frame(unit(b'"a"', number))], 0, events, residues=True, window=9, carry=9)
        assert events.pop() == Append("a", None, {"unievent": {"at": int(number)}})


@pytest.mark.parametrize(
    "frame",
    [
        Frame({"a": 1}),
        Frame(None),
        Frame(unit(b'"a"'), pings=1),
        Frame(unit(b'"a"'), whole=False),
        Frame(unit(b'"a"'), name="x"),
        Frame(unit(b'"a"')[:-1]),
        Frame(unit(b'"a"') + b" "),
        Frame(LAYOUT.before),
        Frame(b""),
        Frame(b"{}"),
        Frame(unit(b'"a"').replace(b"null", b"NULL")),
        Frame(unit(b'"a"'), carries=(b'{"x":{"a":1}}', b'{"x":{"a":1}}')),
    ],
)
def test_frames_that_are_not_hot(frame: Frame) -> None:
    plain = Frame(unit(b'"a"'))
    assert hot.read(HOT, [frame], 0, [], residues=True, window=9, carry=99) == []
    assert hot.read(HOT, [plain, frame, plain], 0, [], residues=True, window=9, carry=99) in ([], ["a"])


def test_a_window_is_kept() -> None:
    frames = [Frame(unit(b'"a"'))] * 9
    assert len(hot.read(HOT, frames, 2, [], residues=False, window=4, carry=9)) == 4
    assert len(hot.read(HOT, frames, 7, [], residues=False, window=4, carry=9)) == 2


def test_a_carry_over_the_limit_is_left_to_the_general_way() -> None:
    assert read([unit(b'"a"')], beside=(b'{"x":{"a":1}}',), carry=13) == ["a"]
    assert read([unit(b'"a"')], beside=(b'{"x":{"a":1}}',), carry=12) == []


PLAIN = b'{"x":{"a":1}}'
ODD_CARRIES = [
    *((PLAIN, b'{"y":{"a":1}}'), (PLAIN, b'{"x":{"a":1}} '), (PLAIN, b'{"x":{"a":01}}'), (PLAIN, b'{"x":{"a":1}}}')),
    *((b'{"synthetic":true}', PLAIN), (b'{"v":{"a":1}}', PLAIN), (b'{"unievent":{"a":1}}', PLAIN)),
    *((b'{"x":{"synthetic":1}}', PLAIN), (b"{}", PLAIN), (b'{"x":{"a":"1"}}', PLAIN), (b'{"x":{"a":-1}}', PLAIN)),
]

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
    events: list[Event] = [Open("text", residue=at_home), *fragments, Close(at_home), Finish()]
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


def test_the_hot_path_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else all of the above is about nothing."""
    data = (EXAMPLES / "claude-turn.unievent.sse").read_bytes()
    counts = {"read": 0, "written": 0}
    reading, writing = hot.read, hot.HotWriter.write

    def counted_read(*args: Any, **options: Any) -> list[str]:
        texts = reading(*args, **options)
        counts["read"] += len(texts)
        return texts

    def counted_write(self: hot.HotWriter, *args: Any, **options: Any) -> list[str]:
        texts = writing(self, *args, **options)
        counts["written"] += len(texts)
        return texts

    monkeypatch.setattr(hot, "read", counted_read)
    monkeypatch.setattr(hot.HotWriter, "write", counted_write)
    out = b"".join(convert([data], "unievent-sse", "gateway-sse"))
    units = data.count(b'.delta"')
    assert counts["read"] > units * 0.8
    assert counts["written"] > units * 0.6
    before = dict(counts)
    list(convert([out], "gateway-sse", "unievent-sse"))
    assert counts["read"] - before["read"] > units * 0.6
    with without_hot_path():
        before = dict(counts)
        list(convert([data], "unievent-sse", "gateway-sse"))
        assert counts == before


@pytest.mark.parametrize("odd", [b"5.5", b"7"])
def test_short_runs_in_a_large_chunk_take_linear_time(odd: bytes) -> None:
    blocks = [b"data: " + unit(b'"a"', odd if i % 2 else b"5") + b"\n\n" for i in range(20_000)]
    began = time.perf_counter()
    found = same_both_ways([b"".join(blocks)], "unievent-sse", "gateway-sse")
    assert found.error is not None
    assert found.error[0] == "TruncatedStream"
    assert time.perf_counter() - began < 40


@pytest.mark.parametrize(
    ("carries", "residues"),
    [
        ([b'{"synthetic":true}'] * 2, [{"unievent": {"at": 5, "synthetic": True}}] * 2),
        ([PLAIN, b'{"x":{"a":2}}'], [{"unievent": {"at": 5}, "x": {"a": n}} for n in (1, 2)]),
        *(([first, second], []) for first, second in ODD_CARRIES),
    ],
)
def test_carries(carries: list[bytes], residues: list[Any]) -> None:
    events: list[Event] = []
    frames = [Frame(unit(b'"a"'), carries=(carry,)) for carry in carries]
    texts = hot.read(HOT, frames, 0, events, residues=True, window=9, carry=99)
    assert [event.residue for event in events] == residues
    assert len(texts) == len(residues)
    # members are in the order of the general way
    assert [list(event.residue or {}) for event in events] == [list(residue) for residue in residues]


def test_fragments_that_stop_a_run() -> None:
    state = State(None, {"a": 1})
    for stop in (Close(), Append("b", state), Append("b", None, {"unievent": {"at": 5}})):
        out: list[bytes] = []
        events: list[Event] = [Append("a"), stop]
        framing = Lines().writer().framing
        assert hot.HotWriter(framing, True, lambda: 7).write(HOT, events, 0, out, first=False) == ["a"]
    for stop in (Append("b"), Append("b", None, {"x": {}})):
        events = [Append("a", None, {"unievent": {"at": 5}}), stop]
        assert hot.HotWriter(framing, True, lambda: 7).write(HOT, events, 0, out, first=False) == ["a"]
