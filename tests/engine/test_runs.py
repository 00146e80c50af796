"""Runs and the short ways say what the long way says: every stream here is converted by each of them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.run_streams import (
    LURES,
    SIZES,
    cut,
    gateway_stream,
    mutate,
    same_all_ways,
    singly,
    unievent_stream,
)
from translate import Append, Close, Event, Finish, Limits, Open, Start, State, convert, encode, jsontext

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
NOTED = st.sampled_from([None, None, False, True])
MUTANTS = st.sampled_from(
    [b'"', b"\\", b"{", b"}", b",", b"[", b"]", b"0", b"x", b"\xff", b" ", b'","', b"\n", b"\x01", b""]
)
STREAMS = {"unievent": unievent_stream, "gateway": gateway_stream}


@pytest.mark.parametrize("example", ["claude-turn.unievent.sse", "cut.unievent.sse"])
@pytest.mark.parametrize("dst", TARGETS)
@pytest.mark.parametrize("loss", ["carry", "drop", "raise"])
def test_the_examples(example: str, dst: str, loss: str) -> None:
    data = (EXAMPLES / example).read_bytes()
    found = [same_all_ways(cut(data, [size]), "unievent-sse", dst, loss=loss) for size in (len(data), 700, 64)]
    found.append(same_all_ways(singly(data), "unievent-sse", dst, loss=loss))
    assert found[0] == found[1] == found[2] == found[3]
    if loss == "carry" and found[0].error is None and dst.startswith("gateway"):
        carried = list(convert([data], "unievent-sse", dst))
        back = b"".join(convert(carried, dst, "unievent-sse"))
        assert [json.loads(x[6:]) for x in back.split(b"\n\n")[:-2]] == [
            json.loads(x[6:]) for x in data.split(b"\n\n")[:-2]
        ]


@given(
    st.data(), st.sampled_from([*STREAMS]), st.sampled_from(["sse", "jsonl"]), st.sampled_from(TARGETS), SIZES, LOSSES
)
@settings(deadline=None, max_examples=200)
def test_streams(data: st.DataObject, src: str, shape: str, dst: str, sizes: list[int], loss: str) -> None:
    chunks = cut(data.draw(STREAMS[src](shape)), sizes)
    options: dict[str, Any] = {"loss": loss, "errors": data.draw(ERRORS), "limits": data.draw(LIMITS)}
    same_all_ways(chunks, f"{src}-{shape}", dst, noted=data.draw(NOTED), strict=data.draw(st.booleans()), **options)


@given(
    st.data(),
    st.sampled_from([*STREAMS]),
    st.sampled_from(["sse", "jsonl"]),
    st.integers(0, 5000),
    MUTANTS,
    st.integers(0, 2),
    SIZES,
)
@settings(deadline=None)
def test_streams_with_an_error_in_them(
    data: st.DataObject, src: str, shape: str, at: int, what: bytes, drop: int, sizes: list[int]
) -> None:
    chunks = cut(mutate(data.draw(STREAMS[src](shape)), at, what, drop), sizes)
    same_all_ways(chunks, f"{src}-{shape}", data.draw(st.sampled_from(TARGETS)), strict=data.draw(st.booleans()))


@given(st.data(), st.sampled_from([*STREAMS]), SIZES)
@settings(deadline=None)
def test_the_output_does_not_depend_on_the_cut(data: st.DataObject, src: str, sizes: list[int]) -> None:
    shape, dst = data.draw(st.sampled_from(["sse", "jsonl"])), data.draw(st.sampled_from(TARGETS))
    stream = data.draw(STREAMS[src](shape))
    options: dict[str, Any] = {"limits": data.draw(LIMITS), "noted": data.draw(NOTED)}
    whole = same_all_ways([stream], f"{src}-{shape}", dst, **options)
    for chunks in (cut(stream, sizes), singly(stream, b"\n\n" if shape == "sse" else b"\n")):
        assert same_all_ways(chunks, f"{src}-{shape}", dst, **options) == whole


# ---- streams of fragments ------------------------------------------------------------------------------

START = {"type": "streamStart", "model": {"name": "m", "tier": "t", "publisher": "P", "provider": "Q"}}
END = {"type": "stop", "usage": {"provider": "q", "inputTokens": 1, "outputTokens": 2, "finishReason": "stop"}}


def framed(value: dict[str, Any], *, carry: bytes | None = None, raw: bytes | None = None) -> bytes:
    """A gateway frame as a block; ``raw``: the text of its ``value`` as it stands in JSON, quotes apart."""
    data = jsontext.dumps({"success": True, "code": 200, "value": value})
    if raw is not None:
        data = data.replace(b'"RAW"', b'"' + raw + b'"')
    return (b": carry " + carry + b"\n" if carry else b"") + b"data: " + data + b"\n\n"


def content(*raws: bytes, carries: dict[int, bytes] | None = None, first: bytes | None = None) -> list[bytes]:
    """A gateway stream whose one run has these fragments."""
    texts = [
        framed({"type": "content", "value": "RAW"}, carry=(carries or {}).get(i), raw=raw) for i, raw in enumerate(raws)
    ]
    head = [framed(START, carry=first), framed({"type": "contentStart"})]
    return [*head, *texts, framed({"type": "contentEnd"}), framed(END)]


RAWS = [
    *(b"", b"a", "é😀".encode(), rb"a\n\t\b\f\r\\", rb"a\"b", rb"\u0041", rb"\u00e9", rb"\ud83d\ude00"),
    *(rb"\uD83D\uDE00", rb"\u0041\",", rb"a\/b", "\u2028".encode(), "\x85".encode(), "a\u2029b".encode(), rb"\u001f"),
    *("\x7fé".encode(), rb"\"}},{", rb"\",\"", b"null", rb"\u0000text", b"138878374216272", rb"\u2028"),
]
ODD = [
    *(b'"', b"\x00", b"\x1f", b"\\", rb"\x", rb"\u00g0", rb"\u12", rb"\ud83d", rb"\ude00", rb"\ud83d\u0041"),
    *(rb"\ud83da", rb"\ude00\ud83d", b"a\tb", b"\xff", b"\xc3", b"\xed\xa0\x80", b"a\xe2\x80", b'a","b', b'","'),
    *(b'a",["b', b'"a', b'a"],["b', b'a",{"b":"c', b"\n", b"\r", b'a"}},"x":{"y":{"z":"b'),
]


@pytest.mark.parametrize("raw", [*RAWS, *ODD])
@pytest.mark.parametrize("strict", [True, False])
def test_the_inside_of_a_string_among_others(raw: bytes, strict: bool) -> None:
    blocks = content(b"a", b"b", b"c", raw, b"d", raw, raw, b"e")
    whole = [same_all_ways([b"".join(blocks)], "gateway-sse", dst, strict=strict) for dst in TARGETS]
    assert whole == [same_all_ways(blocks, "gateway-sse", dst, strict=strict) for dst in TARGETS]
    if raw in RAWS:
        assert whole[0].error is None
        texts = [*"abc", said := json.loads(b'"' + raw + b'"'), "d", said, said, "e"]
        events = convert(blocks, "gateway-sse", "events")
        assert [event.data for event in events if type(event) is Append] == texts


@pytest.mark.parametrize(
    "number",
    [
        *("0", "9" * 18, "1" + "0" * 18, "9" * 19, "9223372036854775808", "9" * 40),
        *("05", "00", "-5", "+5", "5.0", "5e1", " 5", "5 ", "null", '"5"', "", "٣"),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_a_number_among_others(number: str, strict: bool) -> None:
    out = []
    for at, odd in ((5, None), (6, None), (7, None), (None, number), (8, None), (9, None)):
        item = {"type": "text.delta", "text": "a"}
        unit = {"role": "assistant", "event_type": "delta", "content_items": [item], "usage_metadata": None}
        text = json.dumps({**unit, "finish_reason": None, "created_at": at}, separators=(",", ":"))
        out.append(f"{text}\n" if odd is None else text.replace('"created_at":null', f'"created_at":{odd}') + "\n")
    stream = "".join(out).encode()
    for dst in TARGETS:
        whole = same_all_ways([stream], "unievent-jsonl", dst, strict=strict, errors="encode")
        assert whole == same_all_ways(singly(stream, b"\n"), "unievent-jsonl", dst, strict=strict, errors="encode")


CARRIES = [
    *(b'{"x":{"a":1}}', b'{"synthetic":true}', b'{"v":{"a":1}}', b'{"before":{"a":1}}', b'{"gateway":{"a":1}}', b"{}"),
    *(
        b'{"x":{"a":"1"}}',
        b'{"x":{"a":-1}}',
        b'{"x":{"a":01}}',
        b'{"x":{"synthetic":1}}',
        b'{"x":{"a":1}} ',
        b'{"v":2}',
    ),
    *(b'{"x":{"a":1}}}', b'{"x":{"a":1,"b":2}}', b'{"v":1,"x":{"a":1}}', b'{"events":["append"]}', b'{"v":3,"x":{}}'),
    *(b'{"x":{"a":1},"y":{"b":2}}', b'{"events":[{"event":"usage"},"append"]}', b'{"x":{"$a":1}}', b'{"x":[{"a":1}]}'),
]


@pytest.mark.parametrize(
    "carry", [pytest.param(carry) if carry == b'{"x":{"synthetic":1}}' else carry for carry in CARRIES]
)
@pytest.mark.parametrize("among", [None, b'{"x":{"a":7}}', b'{"unievent":{"at":7}}', b'{"synthetic":true}'])
def test_a_carry_among_others(carry: bytes, among: bytes | None) -> None:
    """``among``: what the fragments before and behind it have."""
    beside = {} if among is None else dict.fromkeys(range(8), among)
    for first in (None, b'{"v":1}', b'{"v":2}'):
        blocks = content(*b"a b c d e f g h".split(), carries={**beside, 4: carry}, first=first)
        for strict in (True, False):
            for limits in (None, Limits(carry=len(carry) - 1), Limits(carry=20)):
                for dst in ("gateway-sse", "unievent-sse", "events-jsonl"):
                    options: dict[str, Any] = {"strict": strict, "limits": limits}
                    whole = same_all_ways([b"".join(blocks)], "gateway-sse", dst, **options)
                    assert whole == same_all_ways(blocks, "gateway-sse", dst, **options)


@pytest.mark.parametrize("limits", [Limits(part=n) for n in (0, 1, 7, 8, 9, 19, 20, 21)])
@pytest.mark.parametrize("raw", [b"", b"a", "é".encode(), b"abc"])
def test_a_part_that_passes_its_limit_in_a_run(limits: Limits, raw: bytes) -> None:
    blocks = content(*[raw] * 20)
    whole = same_all_ways([b"".join(blocks)], "gateway-sse", "unievent-sse", limits=limits)
    assert whole == same_all_ways(blocks, "gateway-sse", "unievent-sse", limits=limits)
    size = 20 * (len(raw.decode()) or 1)
    assert (whole.error is None) == (size <= limits.part)


def test_a_unit_that_passes_its_limit_in_a_run() -> None:
    blocks = content(*[b"a"] * 9, b"a" * 300, *[b"a"] * 9)
    for unit in range(330, 420, 7):
        limits = Limits(unit=unit)
        whole = same_all_ways([b"".join(blocks)], "gateway-sse", "unievent-sse", limits=limits)
        assert whole == same_all_ways(blocks, "gateway-sse", "unievent-sse", limits=limits)


# ---- events --------------------------------------------------------------------------------------------

RESIDUES: list[Any] = [
    *(None, {}, {"unievent": {"at": 5}}, {"unievent": {"at": 5.0}}, {"unievent": {"at": True}}),
    *({"unievent": {"at": 2**64}}, {"unievent": {"at": 5, "x": 1}}, {"unievent": {}}, {"gateway": {"patch": []}}),
    *({"unievent": {"synthetic": True}}, {"unievent": {"at": 5, "synthetic": True}}, {"toy": {"a": "}},{"}}),
    *({"toy": {"a": None}}, {"toy": {"a": "null"}}, {"toy": {"$a": 1}}, {"toy": {"a": "é"}}, {"toy": {"a": 2**70}}),
    *({"toy": {"a": float("nan")}}, {"toy": {"a": "\ud83d"}}, {"toy": {"a": 1}, "unievent": {"at": 5}}),
    *(
        {"unievent": {"at": 5}, "toy": {"a": 1}},
        {"toy": {"synthetic": True}},
        {"toy": {"a": [{"b": {"c": 1}}, {"d": {}}]}},
    ),
    *({"toy": {}}, {"unievent": {"at": -1}}, {"unievent": {"at": "5"}}),
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
    same_all_ways(events, "events", dst, loss=loss)


def test_the_first_carry_is_written_by_itself() -> None:
    at_home: Any = {"unievent": {"at": 5}}
    fragments = [Append("a"), Append("b"), Append("c"), Append("d", None, at_home), Append("e")]
    events: list[Event] = [Open("text", residue=at_home), *fragments, Close(residue=at_home), Finish()]
    for dst in ("unievent-sse", "unievent-jsonl"):
        found = same_all_ways(events, "events", dst)
        assert found.error is None
        assert found.output[0].count('"v":1') == 1


def test_an_integer_that_python_does_not_write() -> None:
    events = [Start(), Open("text"), Append("a"), Append("b", None, {"unievent": {"at": 10**5000}}), Close(), Finish()]
    found = same_all_ways(events, "events", "unievent-sse")
    assert found.error is not None
    assert found.error[0] == "LimitExceeded"


def test_a_state_in_a_run_of_fragments() -> None:
    blocks = content(
        *[b"a"] * 3,
        b"b",
        *[b"c"] * 3,
        carries={3: jsontext.dumps({"events": [{"as": "append", "length": 1, "state": {"values": {"k": 1}}}]})},
    )
    for dst in TARGETS:
        assert same_all_ways([b"".join(blocks)], "gateway-sse", dst).error is None
    events = convert(blocks, "gateway-sse", "events")
    assert [event.state for event in events if type(event) is Append] == [
        *[None] * 3,
        State(None, {"k": 1}),
        *[None] * 3,
    ]


def test_a_clock_is_asked_once_a_unit() -> None:
    asked: list[int] = []

    def clock() -> int:
        asked.append(1)
        return len(asked)

    part: list[Event] = [Open("text"), *[Append("a")] * 5, Close()]
    found = b"".join(encode([Start(), *part, *part, Finish()], "unievent-jsonl", clock=clock))
    assert [json.loads(line)["created_at"] for line in found.splitlines()] == list(range(1, len(asked) + 1))
    asked.clear()
    frames = b"".join(content(*[b"a"] * 50))
    found = b"".join(convert(frames, "gateway-sse", "unievent-jsonl", clock=clock))
    assert [json.loads(line)["created_at"] for line in found.splitlines()] == list(range(1, len(asked) + 1))


@pytest.mark.parametrize("odd", [b"5.5", b"7"])
def test_short_runs_in_a_large_chunk_take_linear_time(odd: bytes) -> None:
    item = b'{"type":"text.delta","text":"a"}'
    head = b'data: {"role":"assistant","event_type":"delta","content_items":[' + item
    blocks = [
        head + b'],"usage_metadata":null,"finish_reason":null,"created_at":' + (odd if i % 2 else b"5") + b"}\n\n"
        for i in range(20_000)
    ]
    began = time.perf_counter()
    found = same_all_ways([b"".join(blocks)], "unievent-sse", "gateway-sse")
    assert found.error is not None
    assert found.error[0] == "TruncatedStream"
    assert time.perf_counter() - began < 60
