"""HTTP's names for formats: which answers are streams of one, what a translated one is called, who asked for it."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

from ..registry import resolve

STREAM_HEADERS = ((b"cache-control", b"no-cache, no-transform"), (b"x-accel-buffering", b"no"))
"""What keeps caches and proxies from holding a stream back, or compressing it; nginx and others heed the second."""
_TYPE = re.compile(r"(text|application|audio|image|video|multipart)/[a-z0-9.+-]{1,60}")
_KINDS = 100
"""Kinds that are warned of, at most."""
warned: set[tuple[str, int, str]] = set()
"""The kinds of answers that were warned of: format, status and media type."""
_log = logging.getLogger("translate.adapters")
PARAMETER = "format"
"""The parameter of a media type that names a format, in ``Accept`` and in an answer that heeds it."""


def media_type(format: str) -> str:
    """What an answer in a format is called. Raises ``ValueError`` for formats of objects."""
    _, shape = resolve(format)
    if shape.objects:
        raise ValueError(f"adapters write bytes, and {format!r} is a format of objects")
    name = shape.media_types[0]
    return f"{name}; charset=utf-8" if name.startswith("text/") else name


IsStream: TypeAlias = Callable[[int, str], bool]
"""Says of an answer's status and ``Content-Type`` (empty where there is none) whether it is a stream."""


def is_stream(format: str, status: int, content_type: str | None) -> bool:
    """Whether an answer is a stream of a format: 200, and of a media type of its shape. All others pass untouched."""
    return status == 200 and _essence(content_type or "") in resolve(format)[1].media_types


class Recognition:
    """Tells which answers are streams of a format: those that ``streams`` says are, by default :func:`is_stream`.

    One that passes though it seems to be a stream is warned of, once for each kind: a client cannot read it.
    """

    def __init__(self, format: str, streams: IsStream | None = None) -> None:
        self._format = format
        self._streams = streams or partial(is_stream, format)

    def __call__(self, status: int, content_type: str | None, *, expected: bool = False) -> bool:
        """Whether an answer is one. ``expected``: it was asked for as one."""
        if self._streams(status, content_type or ""):
            return True
        kind = _essence(content_type or "")
        named = kind in resolve(self._format)[1].media_types
        if 200 <= status < 300 and status != 204 and (expected or named):
            self._warn(status, kind if _TYPE.fullmatch(kind) else "none that is known")
        return False

    def _warn(self, status: int, kind: str) -> None:
        if (self._format, status, kind) not in warned and len(warned) < _KINDS:
            warned.add((self._format, status, kind))
            told = "an answer with status %d and media type %s passes as it is: it is not known as a stream of %s"
            _log.warning(told, status, kind, self._format)


def of_types(types: Iterable[str]) -> IsStream:
    """What takes answers of these media types for streams, whatever their status, of those that are successes."""
    wanted = {_essence(each) for each in types}
    return lambda status, content_type: 200 <= status < 300 and _essence(content_type) in wanted


def _essence(value: str) -> str:
    # where a field came twice, its values are joined by commas
    return value.partition(";")[0].partition(",")[0].strip().lower()


def names(fields: Iterable[tuple[bytes, bytes]], format: str) -> bool:
    """Whether the fields of a request ask for the media type of a format by its name."""
    types = resolve(format)[1].media_types
    return any(
        _essence(member) in types
        for name, value in fields
        if name == b"accept"
        for member in value.decode("latin-1").split(",")
    )


def chosen(accept: str | None, offers: Sequence[str], own: str) -> str | None:
    """The format that ``Accept`` asks for, of those on offer; ``None``: the answer's ``own``, as it is.

    A media type with the parameter ``format`` names a format; without, it means all of that type, the own one being
    the first. Of the ranges that mean a format the most specific one says its ``q``. The highest ``q`` wins, then the
    more specific range, then the one that is named first.
    """
    ranges = list(_ranges(accept or ""))
    wanted: list[tuple[float, int, int, int, str]] = []
    for index, offer in enumerate((own, *offers)):
        types = resolve(offer)[1].media_types
        matching = [(_specificity(*each, offer, types), -at) for at, each in enumerate(range[:2] for range in ranges)]
        specificity, at = max(matching, default=(0, 0))
        if specificity and (quality := ranges[-at][2]):
            wanted.append((quality, specificity, at, -index, offer))
    found = max(wanted)[-1] if wanted else own
    return None if found == own else found


def _ranges(accept: str) -> Iterable[tuple[str, str, float]]:
    """Media range, named format and quality of each member of an ``Accept`` field."""
    for member in accept.split(","):
        name, *parameters = (piece.strip() for piece in member.split(";"))
        pairs = (parameter.partition("=") for parameter in parameters)
        given = {key.strip().lower(): value.strip().strip('"') for key, _, value in pairs}
        try:
            quality = float(given.get("q", "1"))
        except ValueError:
            quality = 0.0
        yield name.lower(), given.get(PARAMETER, ""), quality if 0 <= quality <= 1 else 0.0


def _specificity(name: str, format: str, offer: str, types: Sequence[str]) -> int:
    """How specifically a media range means what is on offer; 0: not at all."""
    if not types:
        return 0
    meant = {"*/*": 1, f"{types[0].partition('/')[0]}/*": 2, types[0]: 3}
    if format:
        # a format that is named may go by any of its types
        return 4 if format == offer and (name in meant or name in types) else 0
    return meant.get(name, 0)
