"""The command that shows what becomes of a stream."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import Namespace

from translate import codec, formats, jsontext
from translate.algebra.events import JsonObject

from ._commands import recognised
from ._files import STANDARD, Input, Output
from ._formats import readable
from ._status import Status
from ._values import coloured, limits_of

_OTHER = {"unievent": "gateway", "gateway": "unievent"}


def inspect(args: Namespace) -> Status:
    """Print both sides of a conversion."""
    # what no other command needs
    from translate.inspect import view
    from translate.inspect.terminal import draw

    clock = args.clock
    with Input(args.file) as source, Output(STANDARD) as target:
        src, chunks = recognised(source) if args.src == "auto" else (readable(args.src), source)
        found = view(
            b"".join(chunks),
            src,
            args.dst or _other(src),
            loss=args.loss,
            strict=args.strict,
            model=args.model,
            clock=None if clock is None else lambda: clock,
            limits=limits_of(args),
            file=None if args.file == STANDARD else os.path.basename(args.file),
        )
        _write(found, args, source)
        if args.json:
            target.write(jsontext.dumps_strict(found) + b"\n")
        elif args.html is args.svg is None:
            encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
            columns = args.width or shutil.get_terminal_size((100, 24)).columns
            text = draw(found, columns, colour=coloured(args.color), encoding=encoding, all=args.all)
            target.write(text.encode(encoding, "backslashreplace"))
    return Status.FINE if found["error"] is None else Status.FAILED


def _write(found: JsonObject, args: Namespace, source: Input) -> None:
    """The files that were asked for."""
    from translate.inspect.picture import picture
    from translate.inspect.report import report

    for path, drawn in ((args.html, report), (args.svg, picture)):
        if path is not None:
            with Output(path, source) as file:
                file.clear()
                file.write(drawn(found).encode())


def _other(src: str) -> str:
    """The other built-in format, in the same shape where it has that."""
    name = codec(src).name
    shape = src[len(name) :]
    other = _OTHER.get(name, "unievent")
    return f"{other}{shape}" if f"{other}{shape}" in formats() else f"{other}-sse"
