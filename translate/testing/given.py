"""Streams of a format's own units, as others write them: they are read by every way alike, and come home."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from .. import jsontext
from ..algebra.events import JsonObject
from ..api import convert, encode
from ..codec import Codec
from ..errors import ToolArgumentsError
from ..registry import resolve
from .comparing import equal
from .recording import NOW, read, without_runs

_ELSEWHERE = ("events-jsonl", "unievent-sse", "gateway-jsonl")
"""The formats through which they go."""


def shapes_of(codec: Codec) -> list[str]:
    """The formats of a codec."""
    return [f"{codec.name}-{suffix}" if suffix else codec.name for suffix in codec.shapes]


def with_runs_or_not(stream: Sequence[Any], src: str, dst: str) -> list[Any]:
    """What a stream becomes, which must not depend on whether fragments are read together."""
    with_runs = list(convert(stream, src, dst, errors="encode", clock=lambda: NOW))
    with without_runs():
        singly = list(convert(stream, src, dst, errors="encode", clock=lambda: NOW))
    assert _joined(with_runs) == _joined(singly), f"{src} to {dst}: `hot` has something else written"
    return with_runs


def _joined(out: list[Any]) -> Any:
    return b"".join(out) if out and isinstance(out[0], bytes) else list(map(repr, out))


def check_given(codec: Codec, units: Sequence[JsonObject]) -> None:
    """Hold one stream to it, through each shape of the codec and through other formats."""
    home = next((each for each in shapes_of(codec) if resolve(each)[1].objects), shapes_of(codec)[0])
    lines = f"{codec.name}-jsonl"
    home = lines if lines in shapes_of(codec) else home
    given = copy.deepcopy(units)
    put: Sequence[Any] = units if resolve(home)[1].objects else [jsontext.dumps(unit) + b"\n" for unit in units]
    for format in shapes_of(codec):
        there: list[Any] = list(convert(put, home, format, errors="encode", clock=lambda: NOW))
        assert jsontext.same([*units], [*given]), "the units that were given were changed"
        long_way = read(format, there, short=False)
        equal(read(format, there, short=True), long_way, f"read as {format} by `plain`")
        if isinstance(there[0], bytes):
            equal(read(format, [b"".join(there)], short=True), long_way, f"read as {format} by `hot`")
        for away in (format, *_ELSEWHERE):
            try:
                list(encode(long_way, away))
            except ToolArgumentsError:
                # half a call, which is not said there
                continue
            out = with_runs_or_not(there, format, away)
            came: list[Any] = list(convert(out, away, home, errors="encode", clock=lambda: NOW + 1))
            if came and isinstance(came[0], bytes):
                came = [jsontext.loads(line) for line in b"".join(came).splitlines()]
            for before, after in zip(given, came, strict=False):
                assert jsontext.same(before, after), f"through {away} the unit {before} came home as {after}"
            assert len(given) == len(came), f"through {away} {given} came home as {came}"
