"""Which formats a command line can read and write: those of bytes, and objects that are recognised in bytes."""

from __future__ import annotations

import os
from typing import Any

from translate import Codec, Limits, TranslateError, codec, formats
from translate.shapes import Shape

from ._status import UsageError


def readable(name: str) -> str:
    """``name``, where its streams can be read from bytes. Raises :class:`UsageError`, :class:`UnknownFormat`."""
    found, shape = _find(name)
    if not _reads_bytes(shape):
        raise UsageError(f"--from {name}: its elements are Python objects, which no file holds{_instead(found)}")
    return name


def writable(name: str) -> str:
    """``name``, where its streams are written as bytes. Raises :class:`UsageError`, :class:`UnknownFormat`."""
    found, shape = _find(name)
    if shape.objects:
        raise UsageError(f"--to {name}: its elements are Python objects, which no file holds{_instead(found)}")
    return name


def named(output: str) -> str | None:
    """The format that the name of a file says: ``turn.unievent.jsonl``, compressed or not."""
    plain = output.removesuffix(".gz").removesuffix(".zst").removesuffix(".zstd")
    words = os.path.basename(plain).split(".")[1:]
    name = "-".join(words[-2:])
    return name if len(words) > 1 and name in formats() else None


def assembles(name: str) -> bool:
    """Whether the codec has a form for an assembled message."""
    return type(codec(name)).assemble is not Codec.assemble


def assembling(name: str) -> str:
    """``name``, where its codec assembles messages. Raises :class:`UsageError`, :class:`UnknownFormat`."""
    if not assembles(name):
        able = ", ".join(dict.fromkeys(codec(other).name for other in formats() if assembles(other)))
        raise UsageError(f"--to {name}: it has no form for an assembled message; these have one: {able}")
    return name


def overview() -> dict[str, list[dict[str, Any]]]:
    """All formats and codecs, as ``formats --json`` prints them."""
    rows: list[dict[str, Any]] = []
    codecs: dict[str, dict[str, Any]] = {}
    for name in formats():
        found, shape = _find(name)
        elements = "objects" if shape.objects else "bytes"
        rows.append(
            {
                "format": name,
                "codec": found.name,
                "elements": elements,
                "from": _reads_bytes(shape),
                "to": not shape.objects,
            }
        )
        codecs[found.name] = {
            "codec": found.name,
            "says": sorted(found.says),
            "only": dict(found.only),
            "assembles": assembles(name),
        }
    return {"formats": rows, "codecs": list(codecs.values())}


def _find(name: str) -> tuple[Codec, Shape]:
    found = codec(name)
    return found, found.shapes[name.removeprefix(found.name).removeprefix("-")]


def _reads_bytes(shape: Shape) -> bool:
    """Only the reader knows what an object format makes of bytes, so it is asked."""
    try:
        shape.reader(Limits(), strict=True).feed(b"")
    except TranslateError:
        return False
    return True


def _instead(found: Codec) -> str:
    names = [
        f"{found.name}-{suffix}" if suffix else found.name
        for suffix, shape in sorted(found.shapes.items())
        if not shape.objects
    ]
    return f"; use {' or '.join(names)}" if names else ""
