"""What differs between two values, in words: the sentences of :mod:`translate.compare`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any, Final, Literal, TypeAlias

from .. import jsontext

Level: TypeAlias = Literal["message", "events", "incidental"]
LEVELS: Final[tuple[Level, ...]] = ("message", "events", "incidental")
"""How much a difference matters, the most first; :mod:`translate.compare` says what each holds."""

MISSING: Final = object()
_BEFORE, _LENGTH, _SHORT, _MOST = 16, 56, 24, 10
_UNITS: Final[dict[type, str]] = {str: "characters", bytes: "bytes", list: "numbers"}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which two streams, a and b, differ.

    ``where``: such as ``part 2 (text)``, parts counted from 1 in a, or in b for what only b has. ``what``: the member
    that differs, with the path inside it; empty where one side lacks the whole. ``a``, ``b``: what each says, short
    and on one line; ``None`` for nothing. ``position``: how many characters, bytes or numbers (``unit``) both have in
    common before they differ; ``None`` for what is short.
    """

    level: Level
    where: str
    what: str
    a: str | None
    b: str | None
    position: int | None = None
    unit: str = ""

    def __str__(self) -> str:
        a, b = ("nothing" if said is None else said for said in (self.a, self.b))
        return f"{self.about}: {a} | {b}"

    @property
    def about(self) -> str:
        """What differs, without the two values."""
        about = f"{self.where}: {self.what}" if self.what else self.where
        return about if self.position is None else f"{about}, after {self.position:,} {self.unit}"


def differing(level: Level, where: str, what: str, a: Any, b: Any) -> Iterator[Difference]:
    """The places in which two JSON values, or data of parts, differ: ten at most, one where it is incidental.

    ``None`` itself is nothing; inside a value it is ``null``.
    """
    for path, mine, theirs in islice(_paths(a, b, what), 1 if level == "incidental" else _MOST):
        shared = None
        if type(mine) is type(theirs) and type(mine) in _UNITS and (type(mine) is not str or _is_long(mine, theirs)):
            shared = _shared(mine, theirs)
        a_said, b_said = (
            None if value is MISSING or (value is None and path == what) else shown(value, shared or 0)
            for value in (mine, theirs)
        )
        yield Difference(level, where, path, a_said, b_said, shared, "" if shared is None else _UNITS[type(mine)])


def shown(value: Any, at: int = 0) -> str:
    """A value on one line; of what is long the piece from shortly before ``at`` on."""
    start = 0 if at <= _SHORT else at - _BEFORE
    if type(value) is str:
        end, text = start + _LENGTH, repr(value[start : start + _LENGTH])
    elif type(value) is bytes:
        end, text = start + _SHORT, value[start : start + _SHORT].hex(" ") or "no bytes"
    elif _is_vector(value):
        end, text = start + _BEFORE, jsontext.dumps(value[start : start + _BEFORE]).decode()
    else:
        whole = jsontext.dumps(value).decode()
        return whole if len(whole) <= _LENGTH else f"{whole[:_LENGTH]}…"
    return f"{'…' if start else ''}{text}{'…' if end < len(value) else ''}"


def _paths(a: Any, b: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if jsontext.same(a, b):
        return
    if type(a) is dict and type(b) is dict:
        for name in {**a, **b}:
            yield from _paths(a.get(name, MISSING), b.get(name, MISSING), f"{path}.{name}" if path else name)
    elif type(a) is list and type(b) is list and not (_is_vector(a) and _is_vector(b)):
        for i, (mine, theirs) in enumerate(zip_longest(a, b, fillvalue=MISSING)):
            yield from _paths(mine, theirs, f"{path}[{i}]")
    else:
        yield path, a, b


def _is_vector(value: Any) -> bool:
    return type(value) is list and all(isinstance(item, (int, float)) for item in value)


def _is_long(a: str, b: str) -> bool:
    return max(len(a), len(b)) > _SHORT


def _shared(a: Any, b: Any) -> int:
    """How much two sequences have in common from their start."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if jsontext.same(a[low:middle], b[low:middle]):
            low = middle
        else:
            high = middle - 1
    return low
