"""Names of formats → codecs, found when first asked for.

Every codec, the built-in ones too, comes through the entry-point group ``translate.codecs`` (``name =
"module:OBJECT"``, the name being the codec's) or through :func:`register`. A name never changes its meaning: two
codecs with one name are an error, never an overwrite.
"""

from __future__ import annotations

import difflib
from contextlib import suppress
from typing import TYPE_CHECKING

from .algebra.events import JsonObject
from .carry.making import RESERVED
from .codec import Codec
from .errors import CodecError, UnknownFormat
from .shapes import Shape

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "translate.codecs"

_registered: dict[str, Codec] = {}
_found: dict[str, EntryPoint] | None = None
_resolved: dict[str, tuple[Codec, Shape]] = {}
"""Names of formats that were found. Another codec that is registered may claim one of them, too: then it is empty."""


def register(codec: Codec) -> None:
    """Add a codec for this process. Raises :class:`CodecError` where its name is taken or cannot be one."""
    _check(codec, codec.name)
    if codec.name in _registered or codec.name in _entry_points():
        raise CodecError(f"a codec named {codec.name!r} exists already")
    _registered[codec.name] = codec
    _resolved.clear()


def codec(name: str) -> Codec:
    """The codec of that name, or of a format of that name. Raises :class:`UnknownFormat`, :class:`CodecError`."""
    return resolve(name)[0]


def content_in(name: str, residue: object) -> str:
    """What of a residue is content, in the words of the codec that has exactly this ``name``, if there is one."""
    return _load(name).content(residue) if _is_known(name) and isinstance(residue, dict) else ""


def is_content(name: str, unit: JsonObject) -> bool:
    """Whether a foreign unit of the codec that has exactly this ``name`` is content; what no one knows is none."""
    return _is_known(name) and _load(name).is_content(unit)


def _is_known(name: str) -> bool:
    return name in _registered or name in _entry_points()


def formats() -> list[str]:
    """The names of all formats, sorted."""
    return sorted(_format(name, suffix) for name in {*_registered, *_entry_points()} for suffix in _load(name).shapes)


def resolve(format: str) -> tuple[Codec, Shape]:
    """The codec and the shape that a format's name says."""
    known = _resolved.get(format)
    if known is not None and _registered.get(known[0].name) is known[0]:
        return known
    found: list[tuple[Codec, Shape]] = []
    name, dash = format, "-"
    while dash:
        if name in _registered or name in _entry_points():
            candidate = _load(name)
            shape = candidate.shapes.get(format[len(name) + 1 :]) if not format.endswith("-") else None
            if shape is not None:
                found.append((candidate, shape))
        name, dash, _ = name.rpartition("-")
    if len(found) > 1:
        both = " and ".join(repr(candidate.name) for candidate, _ in found)
        raise CodecError(f"the codecs {both} both claim the format {format!r}")
    if found:
        _resolved[format] = found[0]
        return found[0]
    names = _working_formats()
    # names are lower-case, people are not; other dashes and none are slips too
    asked = format.lower().replace("_", "-").replace(" ", "-").replace(".", "-")
    raise UnknownFormat(format, names, next(iter(difflib.get_close_matches(asked, names, 1, 0.5)), None))


def _working_formats() -> list[str]:
    """The names of all formats but those of codecs that cannot be loaded."""
    out: list[str] = []
    for name in {*_registered, *_entry_points()}:
        with suppress(CodecError):
            out += [_format(name, suffix) for suffix in _load(name).shapes]
    return sorted(out)


def _format(name: str, suffix: str) -> str:
    return f"{name}-{suffix}" if suffix else name


def _load(name: str) -> Codec:
    if name not in _registered:
        entry = _entry_points()[name]
        try:
            loaded = entry.load()
        except Exception as error:
            raise CodecError(f"the codec {name!r} ({entry.value}) cannot be loaded: {error}") from error
        _check(loaded, name)
        _registered[name] = loaded
    return _registered[name]


def _check(codec: object, name: str) -> None:
    if not isinstance(codec, Codec):
        raise CodecError(f"the codec {name!r} is no translate.Codec but {type(codec).__name__}")
    if codec.name != name:
        raise CodecError(f"the codec {codec.name!r} is registered under another name, {name!r}")
    if not name or name in RESERVED - {"events"} or not name.replace("-", "").replace("_", "").isalnum():
        raise CodecError(f"{name!r} cannot be the name of a codec")


def _entry_points() -> dict[str, EntryPoint]:
    global _found
    if _found is None:
        # a third of what the whole library takes to import
        from importlib.metadata import entry_points

        found: dict[str, EntryPoint] = {}
        for entry in entry_points(group=GROUP):
            other = found.setdefault(entry.name, entry)
            if other.value != entry.value:
                raise CodecError(f"two codecs are named {entry.name!r}: {other.value} and {entry.value}")
        _found = found
    return _found
