"""Runs of units that are counted and padded, as those of OpenAI Responses: what the long way says, and taken."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.codecs.responses_streams import (
    CREATED,
    Unit,
    Units,
    added,
    args,
    begin,
    call,
    done,
    end,
    numbered,
    response,
    text,
    whole_args,
)
from tests.run_streams import cut, same_all_ways, singly
from translate import Limits, convert
from translate.engine import run_reader, run_writer
from translate.engine.runs import Run

SRC = "openai-responses-sse"
TARGETS = ["gateway-sse", "gateway-jsonl", "gateway", "unievent-sse", "anthropic-sse", "openai-chat-sse", "events"]
WORDS = ["The ", "café", "", '"', "\\n", "\n", "😀", "x" * 40]
COMPLETED = response("completed", usage={"input_tokens": 1, "output_tokens": 2})


def stream(padded: bool = True, counted: bool = True) -> Units:
    """A message and a call in pieces."""
    pads: list[Any] = [{"obfuscation": "aZ09_-"}, {"obfuscation": ""}]
    said = [text(word, **(pads[i % 2] if padded else {})) for i, word in enumerate(WORDS)]
    pieces = ['{"a', '":', " ", '"é', '"}']
    whole = "".join(pieces)
    grown = [args(1, piece, **(pads[0] if padded else {})) for piece in pieces]
    units = [
        *(CREATED, *begin(), *said, *end("".join(WORDS))),
        *(added(1, call(1)), *grown, whole_args(1, whole), done(1, call(1, whole, status="completed"))),
        COMPLETED,
    ]
    return numbered(units) if counted else units


def sse(units: Units, spelled: Any = json.dumps) -> bytes:
    return b"".join(b"event: %s\ndata: %s\n\n" % (u["type"].encode(), spelled(u).encode()) for u in units)


def compact(unit: Unit) -> str:
    return json.dumps(unit, ensure_ascii=False, separators=(",", ":"))


def as_sent(unit: Unit) -> str:
    """In the order in which members are sent."""
    head = {"type": unit["type"], "sequence_number": unit.get("sequence_number")}
    return compact({**head, **unit} if "sequence_number" in unit else unit)


def backwards(unit: Unit) -> str:
    """In an order that nobody sends."""
    return json.dumps(dict(reversed(unit.items())), ensure_ascii=False)


@pytest.mark.parametrize("dst", TARGETS)
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("loss", ["carry", "drop"])
def test_all_ways_say_the_same(dst: str, padded: bool, counted: bool, loss: str) -> None:
    units = stream(padded, counted)
    for spelled in (json.dumps, compact, as_sent, backwards):
        data = sse(units, spelled)
        found = [same_all_ways(chunks, SRC, dst, loss=loss) for chunks in ([data], cut(data, [97]), singly(data))]
        assert found[0] == found[1] == found[2]
        assert found[0].error is None
    if loss == "carry":
        data = sse(units)
        there = list(convert([data], SRC, dst))
        back = same_all_ways(there, dst, "openai-responses")
        assert back.output == [repr(unit) for unit in convert(units, "openai-responses", "openai-responses")]
        again = same_all_ways(there, dst, SRC)
        got = [json.loads(line[6:]) for line in again.output[0].splitlines() if line.startswith("data: {")]
        assert got == units


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize(("spelled", "until"), [(as_sent, 2), (json.dumps, 3), (compact, 3), (backwards, 3)])
def test_runs_are_read_and_written(
    monkeypatch: pytest.MonkeyPatch, padded: bool, counted: bool, spelled: Any, until: int
) -> None:
    """Else the test above is about nothing."""
    read, written = list[int](), list[int]()
    reading, writing = run_reader.RunReader.read, run_writer.RunWriter.write

    def reads(self: Any, *args: Any) -> Run | None:
        run = reading(self, *args)
        read.append(0 if run is None else len(run.texts))
        return run

    def writes(self: Any, hot: Any, run: Run, *args: Any, **options: Any) -> bytes | None:
        out = writing(self, hot, run, *args, **options)
        written.append(0 if out is None else len(run.texts))
        return out

    monkeypatch.setattr(run_reader.RunReader, "read", reads)
    monkeypatch.setattr(run_writer.RunWriter, "write", writes)
    for dst in ("gateway-sse", "unievent-sse"):
        read.clear()
        written.clear()
        there = b"".join(convert([sse(stream(padded, counted), spelled)], SRC, dst))
        assert sum(read) >= len(WORDS) - until, dst
        read.clear()
        written.clear()
        list(convert([there], dst, SRC))
        assert sum(written) >= len(WORDS) - 3, dst


def odd(at: int, **members: Any) -> Units:
    units = stream()
    units[at] = {**units[at], **members}
    return units


@pytest.mark.parametrize("number", [0, 5, 7, 8, -1, 10**30, 6.0, "6", None, True, False])
@pytest.mark.parametrize("dst", ["gateway-sse", "unievent-sse", SRC])
def test_a_number_that_is_not_the_last_plus_one(number: Any, dst: str) -> None:
    data = sse(odd(6, sequence_number=number), compact)
    found = [same_all_ways(chunks, SRC, dst) for chunks in ([data], singly(data))]
    assert found[0] == found[1]


@pytest.mark.parametrize("pad", ["a b", "é", "\u2028", '"', "\\", "a" * 5000, 7, None, [], True, "a/b", "\n"])
@pytest.mark.parametrize("dst", ["gateway-sse", "unievent-sse", SRC])
@pytest.mark.parametrize("limits", [None, Limits(carry=60), Limits(part=2000)])
def test_padding_that_is_no_word(pad: Any, dst: str, limits: Limits | None) -> None:
    for spelled in (compact, json.dumps):
        data = sse(odd(6, obfuscation=pad), spelled)
        found = [same_all_ways(chunks, SRC, dst, limits=limits) for chunks in ([data], singly(data))]
        assert found[0] == found[1]
        if limits is None and found[0].error is None:
            back = b"".join(convert(list(convert([data], SRC, dst)), dst, SRC)).splitlines()
            assert [json.loads(line[6:]) for line in back if line[:6] == b"data: "] == odd(6, obfuscation=pad)


@pytest.mark.parametrize("pad", [b'a""', b'""a', b'"a"b', b'"a","b"', b'"a', b'"\n"', b"", b'"a"\0"b"'])
def test_bytes_that_are_no_word(pad: bytes) -> None:
    data = sse(odd(6, obfuscation="PAD"), compact).replace(b'"PAD"', pad)
    found = [same_all_ways(chunks, SRC, "gateway-sse") for chunks in ([data], singly(data))]
    assert found[0] == found[1]
    assert found[0].error is not None


@pytest.mark.parametrize("carry", ['{"openai-responses":{"o":"w"}}', '{"openai-responses":{"o":7}}', '{"x":{"o":"w"}}'])
@pytest.mark.parametrize("dst", [SRC, "gateway-sse", "unievent-sse", "events"])
def test_a_word_in_a_carry_among_others(carry: str, dst: str) -> None:
    there = b"".join(convert([sse(stream())], SRC, "gateway-sse"))
    usual = b': carry {"openai-responses":{"o":"aZ09_-"}}\n'
    assert there.count(usual) > 2
    first, _, rest = there.partition(usual)
    middle, _, rest = rest.partition(usual)
    data = first + usual + middle + b": carry " + carry.encode() + b"\n" + rest
    for strict in (True, False):
        found = [same_all_ways(chunks, "gateway-sse", dst, strict=strict) for chunks in ([data], singly(data))]
        assert found[0] == found[1]
