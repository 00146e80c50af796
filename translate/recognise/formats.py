"""The installed format that something begins like."""

from __future__ import annotations

from typing import Any

from ..algebra.events import Failure, Foreign, Ping
from ..engine.translator import EventReader
from ..errors import GrammarError
from ..registry import formats, resolve
from .others import MARKED, other


def format_of(head: bytes) -> str | None:
    """The format that bytes begin like, if any."""
    return best(head)[0]


def best(head: Any, *, objects: bool = False) -> tuple[str | None, int]:
    """The format that something begins like, and how well: 2: it says something there; 1: it may be one; 0: none.

    ``objects``: ``head`` is a unit, not bytes.
    """
    names = sorted((name for name in formats() if not objects or _objects(name)), key=_rank)
    found = {name: likeness(name, head) for name in names}
    first = max(names, key=found.__getitem__)
    return (first, found[first]) if found[first] else (None, 0)


def _rank(name: str) -> tuple[bool, bool]:
    """Formats of objects tell the shape of bytes themselves, and those of others may take anything: they come last."""
    return _objects(name), not type(resolve(name)[0]).__module__.startswith("translate_codecs.")


def _objects(name: str) -> bool:
    return resolve(name)[1].objects


def likeness(format: str, head: Any) -> int:
    """How well something reads as the beginning of a stream of a format: see :func:`best`.

    Some formats demand so little that much would be one of them: these have marks, too.
    """
    codec, _ = resolve(format)
    if codec.name in MARKED and not _is_marked(codec.name, head):
        return 0
    reader = EventReader(format)
    try:
        events = reader.feed(head)
    except GrammarError:
        # well-formed, and not the first of its stream
        return 1
    except Exception:
        # shapes of objects refuse what they are not made for in their own ways
        return 0
    said = {type(event) for event in events} - {Foreign, Ping}
    if not said:
        return 1 if events and codec.name in MARKED else 0
    # all kinds of records have an error
    return 1 if said == {Failure} else 2


def _is_marked(name: str, head: Any) -> bool:
    found = other(head)
    return found is not None and found.codec == name
