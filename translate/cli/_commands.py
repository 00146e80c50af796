"""What the commands do. Each takes the parsed arguments and returns a status, or raises what ended it."""

from __future__ import annotations

import base64
import json
import sys
from argparse import Namespace
from collections.abc import Iterable
from itertools import chain
from typing import Any

import translate
from translate import jsontext
from translate.recognise import format_of, what

from ._files import STANDARD, Input, Output, print_lines
from ._formats import assembling, named, overview, readable, writable
from ._report import reporting
from ._status import InputError, Status, UsageError, one_line
from ._values import limits_of

_HEAD = 1 << 16
"""Bytes of an input within which its format must show."""


def convert_any(args: Namespace) -> Status:
    """Convert one stream that is piped through, or logs."""
    if args.what != "stream":
        from . import _documents

        return _documents.convert(args)
    from . import _logs

    args.dst = args.dst or named(args.output)
    if args.dst is None:
        raise UsageError("--to FORMAT is missing: name the format to write, or call the output by it, as in "
                         "-o OUT.unievent.jsonl")

    return _logs.convert_any(args, convert)


def stats(args: Namespace) -> Status:
    """Print what logs hold."""
    from . import _logs

    return _logs.stats(args)


def convert(args: Namespace, begun: Input | None = None) -> Status:
    """Translate a stream, ``begun`` or not. All that arrived is translated and written before more is asked for."""
    src_asked, dst = args.src if args.src == "auto" else readable(args.src), writable(args.dst)
    clock = args.clock
    with (
        begun or Input(args.file) as source,
        Output(args.output, source) as target,
        reporting(args.report, source, target) as report,
    ):
        src, chunks = recognised(source, quiet=args.quiet) if src_asked == "auto" else (src_asked, source)
        target.clear()
        stream = translate.convert(
            chunks,
            src,
            dst,
            model=args.model,
            clock=None if clock is None else lambda: clock,
            loss=args.loss,
            errors=args.errors,
            strict=args.strict,
            limits=limits_of(args),
            report=report,
        )
        with stream:
            for piece in stream:
                target.write(piece)
        if args.verbose:
            print(f"{source.name}: {source.size:,} bytes read, {target.size:,} written", file=sys.stderr)
        if source.error is not None:  # the output says it too, in the target's words
            raise source.error
        if stream.failure is not None:
            raise stream.failure
    return Status.FINE


def recognised(source: Input, *, quiet: bool = False) -> tuple[str, Iterable[bytes]]:
    """The format of an input by its beginning, and all of it. It is told, unless ``quiet``.

    A pipe may begin with a piece of a unit, or with comments: no more is read than it takes to know.
    """
    head, format = b"", None
    while format is None and len(head) < _HEAD and (chunk := next(source, b"")):
        head += chunk
        format = format_of(head)
    if format is None:
        raise InputError(f"{source.name}: {what(head)}")
    if not quiet:
        print(f"{source.name}: {format}", file=sys.stderr)
    return format, chain((head,), source)


def check(args: Namespace) -> Status:
    """Print what is wrong with a stream, a finding a line."""
    if args.what != "stream":
        from . import _documents

        return _documents.check(args)
    with Input(args.file) as source, Output(STANDARD) as target:
        src, chunks = recognised(source) if args.src == "auto" else (readable(args.src), source)
        findings = translate.check(chunks, src, limits=limits_of(args))
        for finding in findings:
            where = "stream" if finding.unit is None else f"unit {finding.unit}"
            about = f"{finding.field}: " if finding.field else ""
            tolerated = " (readers tolerate it)" if finding.tolerated else ""
            print_lines(target, one_line(f"{where}: {about}{finding.reason}{tolerated}"))
    return Status.FAILED if findings else Status.FINE


def assemble(args: Namespace) -> Status:
    """Print the message that a stream adds up to, as JSON."""
    dst = assembling(args.dst)
    with Input(args.file) as source, Output(STANDARD) as target:
        src, chunks = recognised(source) if args.src == "auto" else (readable(args.src), source)
        message = translate.assemble(chunks, src, dst, strict=args.strict, limits=limits_of(args))
        target.write(jsontext.dumps(_plain(message)) + b"\n")
    return Status.FINE


def formats(args: Namespace) -> Status:
    """Print what formats there are, or what one says of another."""
    if args.source is not None:
        from ._matrix import matrix

        return matrix(args)
    found = overview()
    with Output(STANDARD) as target:
        if args.json:
            print_lines(target, json.dumps(found, indent=2))
            return Status.FINE
        rows = [
            (row["format"], row["elements"], "yes" if row["from"] else "no", "yes" if row["to"] else "no")
            for row in found["formats"]
        ]
        lines = _table([("FORMAT", "ELEMENTS", "--from", "--to"), *rows])
        for codec in found["codecs"]:
            lines += ["", f"{codec['codec']} says natively: {', '.join(codec['says'])}"]
            lines += [f"{codec['codec']} alone says: {reason}" for reason in codec["only"].values()]
            lines += [f"{codec['codec']} assembles messages"] if codec["assembles"] else []
        print_lines(target, "\n".join(lines))
    return Status.FINE


def _plain(value: Any) -> Any:
    """A message with its bytes as base64 text."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
