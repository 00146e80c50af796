"""HTTP's names for formats: which answers are streams of one, what a translated one is called, who asked for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..registry import resolve

STREAM_HEADERS = ((b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no"))
"""What keeps caches and proxies from holding a stream back. The second is heeded by nginx and others."""
PARAMETER = "format"
"""The parameter of a media type that names a format, in ``Accept`` and in an answer that heeds it."""


def media_type(format: str) -> str:
    """What an answer in a format is called. Raises ``ValueError`` for formats of objects."""
    _, shape = resolve(format)
    if shape.objects:
        raise ValueError(f"adapters write bytes, and {format!r} is a format of objects")
    name = shape.media_types[0]
    return f"{name}; charset=utf-8" if name.startswith("text/") else name


def is_stream(format: str, status: int, content_type: str | None) -> bool:
    """Whether an answer is a stream of a format: 200, and of a media type of its shape. All others pass untouched."""
    return status == 200 and _essence(content_type or "") in resolve(format)[1].media_types


def _essence(value: str) -> str:
    return value.partition(";")[0].strip().lower()


def chosen(accept: str | None, offers: Sequence[str], own: str) -> str | None:
    """The format that ``Accept`` asks for, of those on offer; ``None``: the answer's ``own``, as it is.

    A media type with the parameter ``format`` names a format; without, it means the first offer of that type, the own
    one being the first of all. The highest ``q`` wins, then the one that is named first.
    """
    best, found = 0.0, own
    for name, wanted, quality in _ranges(accept or ""):
        if quality <= best:
            continue
        for offer in (own, *offers):
            if (wanted == offer) if wanted else _matches(name, resolve(offer)[1].media_types[:1]):
                best, found = quality, offer
                break
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
        yield name.lower(), given.get(PARAMETER, ""), quality


def _matches(name: str, types: Sequence[str]) -> bool:
    return name == "*/*" or name in types or (name.endswith("/*") and any(t.startswith(name[:-1]) for t in types))
