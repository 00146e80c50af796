"""Fuzz bytes read as choices: of options, of where a stream is cut, and of the units it is made of.

A change of one byte changes one choice, so that what a fuzzer keeps stays mostly valid and gets deep.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
HEAD = 12
"""Bytes of an input that are choices of options."""
MOST = 200
"""Pieces of a stream, at most."""
SINGLY = 120
"""Bytes that are fed one by one, at most: each costs as much as a unit."""


class Choices:
    """Bytes, each a choice. Where they run out, the first is chosen."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        """Bytes that are left."""
        return max(len(self._data) - self._at, 0)

    def below(self, n: int) -> int:
        """A number from 0 on."""
        self._at += 1
        return self._data[self._at - 1] % n if self._at <= len(self._data) else 0

    def of(self, options: Sequence[T]) -> T:
        """One of them; more frequent where it stands more often."""
        return options[self.below(len(options))]

    def rarely(self, n: int = 8) -> bool:
        """Once in ``n``."""
        return self.below(n) == n - 1

    def take(self, n: int) -> bytes:
        """Bytes as they are."""
        self._at += n
        return self._data[self._at - n : self._at]

    def rest(self) -> bytes:
        """All that is left."""
        return self.take(self.left)


def parted(data: bytes) -> tuple[Choices, Choices]:
    """An input: what is chosen of options, and of the stream."""
    return Choices(data[:HEAD]), Choices(data[HEAD:])


def chunks(choices: Choices, pieces: Sequence[bytes]) -> list[bytes]:
    """A stream cut: as it was made, one unit a chunk, in chunks of all sizes, or within its units."""
    whole = b"".join(pieces)
    how = choices.below(8)
    sizes = [choices.below(200) + 1 for _ in range(3)]
    if how < 3:
        return list(pieces)
    if how == 3:
        return [whole]
    if how == 4:
        # some of it byte by byte
        at = len(whole) * sizes[0] // 250
        return [whole[:at], *cut(whole[at : at + SINGLY], [1]), whole[at + SINGLY :]]
    if how == 5:
        return cut(whole, sizes)
    if how == 6:
        # some units together, some by themselves
        return [b"".join(pieces[i : i + sizes[0] % 4 + 2]) for i in range(0, len(pieces), sizes[0] % 4 + 2)]
    # every so many units one that is cut, or followed by nothing
    out: list[bytes] = []
    for i, piece in enumerate(pieces):
        at = len(piece) * sizes[1] // 200 if i % (sizes[0] % 5 + 2) == 0 else 0
        out += [piece[:at], piece[at:]] if at else [piece]
    return out


def cut(data: bytes, sizes: Sequence[int]) -> list[bytes]:
    """Chunks of the sizes given, over and over."""
    out: list[bytes] = []
    at = 0
    while at < len(data):
        out.append(data[at : at + sizes[len(out) % len(sizes)]])
        at += len(out[-1])
    return out


def split(data: bytes) -> list[bytes]:
    """A stream as its blocks, or its lines."""
    end = b"\n\n" if b"\n\n" in data else b"\n"
    *pieces, rest = data.split(end)
    return [*(piece + end for piece in pieces), *([rest] if rest else [])]
