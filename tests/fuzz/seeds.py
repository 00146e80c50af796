"""Inputs to begin with: streams as they are recorded and written here, and choices at random."""

from __future__ import annotations

import random
from functools import lru_cache
from pathlib import Path

from tests import tampering
from translate import convert
from translate.conformance import find_vectors, load_cases

from .choices import HEAD
from .targets import FORMATS, SHAPES

EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = 1500
"""Bytes of a vector's input that is a seed, at most: what is longer costs more than it tells."""
RAW = b"\x05"
"""The choice of bytes as they are."""


@lru_cache
def streams(format: str) -> tuple[bytes, ...]:
    """Short streams of a byte format, and its units in a row where it is told by its first bytes."""
    codec, shape = FORMATS[format]
    named = [f"{codec}-{each}" for each in (["sse", "jsonl"] if shape == "any" else [shape])]
    out: list[bytes] = []
    for path in sorted(EXAMPLES.glob("*.unievent.sse")):
        blocks = path.read_bytes().split(b"\n\n")
        # enough for each kind of unit, and short
        data = b"\n\n".join(blocks[:4] + blocks[-6:])
        out += [b"".join(convert(data, "unievent-sse", name, strict=False, errors="encode")) for name in named]
    for home, units in tampering.BASE.values():
        out += [b"".join(convert(units, home, name, errors="encode")) for name in named]
    short = (data for source, data in vectors() if source in named and len(data) < SHORT)
    return tuple(dict.fromkeys([*out, *short]))


@lru_cache
def vectors() -> tuple[tuple[str, bytes], ...]:
    """The inputs of the conformance vectors, each with its format."""
    return tuple((case.source, b"".join(case.pieces())) for _, case in load_cases(find_vectors()))


def seeds(target: str, spelled: int = 40) -> list[bytes]:
    """Inputs of a target."""
    kind, _, name = target.partition("-")
    rng = random.Random(target)
    if kind == "shape":
        formats = [format for format, (_, shape) in FORMATS.items() if shape == SHAPES[name]] or ["unievent"]
    else:
        formats = [name] if name else ["unievent-sse", "gateway-sse"]
    raw = [bytes(rng.randbytes(HEAD)) + RAW + data for format in formats for data in streams(format)]
    return [b"", *(raw if kind != "carry" else []), *(noise(rng) for _ in range(spelled))]


def noise(rng: random.Random) -> bytes:
    """Choices at random: of short streams mostly, which reach nearly all that long ones do."""
    return rng.randbytes(HEAD + rng.choice((8, 8, 8, 16, 16, 30, 40, 90)))


def mutated(data: bytes, rng: random.Random, dictionary: list[bytes]) -> bytes:
    """An input like ``data``."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, how = rng.randrange(len(data) + 1), rng.randrange(6)
        if how == 0:
            data = data[:at] + rng.choice(dictionary) + data[at:]
        elif how == 1:
            data = data[:at] + data[at + rng.choice((1, 2, 20)) :]
        elif how == 2:
            data = data[:at] + data[max(at - rng.choice((4, 40)), 0) :]
        else:
            data = data[:at] + rng.randbytes(rng.choice((1, 1, 3))) + data[at + (how > 3) :]
    return data[:2048]
