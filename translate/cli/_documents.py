"""Requests, whole answers and stored conversations: documents, one a file or one a line."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import translate
from translate import Report, TranslateError, jsontext
from translate.recognise.documents import document_format

from ._files import STANDARD, Input, Output, print_lines
from ._report import reporting
from ._status import InputError, Status, UsageError, one_line
from ._values import limits_of

WHATS = ("stream", "request", "answer", "messages")
"""What an input may be."""


def convert(args: Namespace) -> Status:
    """Convert the documents of one file."""
    if len(args.files) > 1:
        raise UsageError(f"--what {args.what}: one file at a time")
    with (
        Input(args.files[0] if args.files else STANDARD) as source,
        Output(args.output, source) as target,
        reporting(args.report, source, target) as report,
    ):
        target.clear()
        for document in _documents(source, args):
            src = _format_of(document, args, source)
            target.write(jsontext.dumps(_converted(document, src, args, report)) + b"\n")
    return Status.FINE


def check(args: Namespace) -> Status:
    """Print what is wrong with a document, a finding a line."""
    found = False
    with Input(args.file) as source, Output(STANDARD) as target:
        for document in _documents(source, args):
            src = _format_of(document, args, source)
            for finding in translate.check(document, src, what=args.what, limits=limits_of(args)):
                found = True
                print_lines(target, one_line(f"{finding.path}: {finding.reason}" if finding.path else finding.reason))
    return Status.FAILED if found else Status.FINE


def _converted(document: Any, src: str, args: Namespace, report: Report | None) -> Any:
    loss, limits, model = args.loss, limits_of(args), None if args.model is None else args.model.name
    if args.what == "messages":
        return translate.convert_messages(document, src, args.dst, loss=loss, report=report, limits=limits)
    if args.what == "answer":
        return translate.convert_answer(
            document, src, args.dst, model=model, profile=args.profile, loss=loss, report=report, limits=limits
        )
    return translate.convert_request(
        *(document, src, args.dst),
        model=model,
        profile=args.profile,
        loss=loss,
        report=report,
        strict=args.strict,
        limits=limits,
    )


def _documents(source: Input, args: Namespace) -> Iterator[Any]:
    """The document of a file, or those of its lines."""
    data = b"".join(source)
    nesting = limits_of(args).nesting
    try:
        yield jsontext.loads(data, nesting)
        return
    except TranslateError:
        lines = [line for line in data.splitlines() if line.strip()]
        if len(lines) < 2 or not lines[0].strip().endswith((b"}", b"]")):
            raise
    for line in lines:
        yield jsontext.loads(line, nesting)


def _format_of(document: Any, args: Namespace, source: Input) -> str:
    if args.src != "auto":
        return str(args.src)
    found = document_format(document, args.what)
    if found is None:
        raise InputError(f"{source.name}: of which format the {args.what} is cannot be told: name it by --from")
    if not getattr(args, "quiet", False):
        print(f"{source.name}: {found}", file=sys.stderr)
    return found
