"""Which way units go: runs where there are some, else the short ways, else the long one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.objects import spoiled
from tests.run_streams import singly, the_long_way, without_runs
from translate import (
    Append,
    Close,
    Event,
    Finish,
    Model,
    Open,
    Reason,
    Start,
    TokenCounts,
    Translator,
    convert,
    encode,
)
from translate.codec import Decoder
from translate.engine import run_reader, run_writer, runs
from translate.engine.source import Source
from translate.engine.writing import Writing
from translate_codecs.gateway.encoder import GatewayEncoder
from translate_codecs.unievent.encoder import UniEventEncoder

DATA = (Path(__file__).parents[2] / "examples" / "claude-turn.unievent.sse").read_bytes()
UNITS = DATA.count(b'.delta"')


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many units each way took."""
    counts: dict[str, int] = dict.fromkeys(("run read", "run written", "plain", "say"), 0)
    writing = run_writer.RunWriter.write

    def reading(way: str) -> Any:
        read = getattr(run_reader.RunReader, way)

        def counted(self: Any, *args: Any) -> runs.Run | None:
            run: runs.Run | None = read(self, *args)
            counts["run read"] += 0 if run is None else len(run.texts)
            return run

        return counted

    def write(self: Any, hot: Any, run: runs.Run, *args: Any, **options: Any) -> bytes | None:
        out = writing(self, hot, run, *args, **options)
        counts["run written"] += 0 if out is None else len(run.texts)
        return out

    for reads in ("read", "one"):
        monkeypatch.setattr(run_reader.RunReader, reads, reading(reads))
    monkeypatch.setattr(run_writer.RunWriter, "write", write)
    decoders: tuple[type[Decoder], ...] = (GatewayEncoder, UniEventEncoder)
    for cls in decoders:
        for way in ("plain", "say"):
            (holder,) = (base for base in cls.__mro__[:2] if way in base.__dict__)
            monkeypatch.setattr(holder, way, _counted(getattr(holder, way), counts, way))
    return counts


def _counted(called: Any, counts: dict[str, int], way: str) -> Any:
    def counting(self: Any, *args: Any) -> Any:
        found = called(self, *args)
        counts[way] += found is not None
        return found

    return counting


def test_the_shortest_way_is_taken(taken: dict[str, int]) -> None:
    """Else all of the above is about nothing."""
    out = b"".join(convert([DATA], "unievent-sse", "gateway-sse"))
    assert taken["run read"] > UNITS * 0.7
    assert taken["run written"] > UNITS * 0.6
    assert taken["run read"] + taken["plain"] > UNITS * 0.9
    before = dict(taken)
    list(convert([out], "gateway-sse", "unievent-sse"))
    assert taken["run read"] - before["run read"] > UNITS * 0.6
    assert taken["run written"] - before["run written"] > UNITS * 0.6


def test_one_unit_a_chunk_goes_the_short_way(taken: dict[str, int]) -> None:
    out = list(convert(singly(DATA), "unievent-sse", "gateway-sse"))
    assert taken["run read"] > UNITS * 0.7
    assert taken["run written"] > UNITS * 0.6
    taken.update(dict.fromkeys(taken, 0))
    list(convert(out, "gateway-sse", "unievent-sse"))
    assert taken["run read"] > UNITS * 0.6
    assert taken["run written"] > UNITS * 0.6


def test_what_is_turned_off_is_not_taken(taken: dict[str, int]) -> None:
    with without_runs():
        list(convert([DATA], "unievent-sse", "gateway-sse"))
    assert (taken["run read"], taken["run written"]) == (0, 0)
    assert taken["plain"]
    assert taken["say"]
    taken.update(plain=0, say=0)
    with the_long_way():
        list(convert([DATA], "unievent-sse", "gateway-sse"))
    assert taken == dict.fromkeys(taken, 0)


def test_the_long_way_may_be_asked_of_each_end() -> None:
    made = Translator("unievent-sse", "gateway-sse")
    for end in (made._source, made._writing):
        assert isinstance(end, (Source, Writing))
        end.go_the_long_way()
    assert b"".join([*made.feed(DATA), *made.close()]) == b"".join(convert([DATA], "unievent-sse", "gateway-sse"))


BYTES = [
    *(f"{name}-sse" for name in ("unievent", "gateway", "anthropic", "openai-chat", "openai-responses", "gemini")),
    *("gemini-interactions-sse", "gemini-array", "unievent-jsonl"),
]


@pytest.mark.parametrize("src", BYTES)
def test_fragments_without_text_are_the_same_by_all_ways(src: str) -> None:
    """Among others, first of a run and last: written for others, and as a wire says them that has no words for them."""
    texts = ["a", "b", "d", "", "c", "", "", "e", "d", "d"]
    events: list[Event] = [Start(Model("m"), "r", 1), Open("text"), *map(Append, texts), Close()]
    events.append(Finish(TokenCounts(1, 2), Reason("stop")))
    with the_long_way():
        plain = b"".join(encode(events, src, clock=lambda: 1, loss="drop"))
    for stream in (plain, plain.replace(b'"d"', b'""').replace("".join(texts).encode(), b"abce")):
        for dst in (*BYTES, "gemini", "openai-chat", "events"):
            for pieces in ([stream], [piece + b"\n\n" for piece in stream.split(b"\n\n")[:-1]]):
                if pieces == [stream] or src.endswith("-sse"):
                    found = list(convert(pieces, src, dst, clock=lambda: 1))
                    with the_long_way():
                        assert _joined(found) == _joined(list(convert(pieces, src, dst, clock=lambda: 1)))


def _joined(out: list[Any]) -> Any:
    return b"".join(out) if out and isinstance(out[0], bytes) else out


@pytest.mark.parametrize("dst", [name.removesuffix("-sse") for name in BYTES if name.endswith("-sse")])
def test_units_said_the_short_way_share_nothing(dst: str) -> None:
    events: list[Event] = [Start(Model("m"), "r", 1), Open("text"), *map(Append, "abcdef"), Close()]
    events.append(Finish(TokenCounts(1, 2), Reason("stop")))
    expected = [repr(unit) for unit in encode(events, dst, clock=lambda: 1)]
    found = []
    for unit in encode(events, dst, clock=lambda: 1):
        found.append(repr(unit))
        spoiled(unit)
    assert found == expected
