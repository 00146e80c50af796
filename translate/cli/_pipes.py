"""Logs that are piped through: records, files of several streams, what is compressed; from one input, to one output."""

from __future__ import annotations

import io
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, BinaryIO, cast

from translate import jsontext
from translate.errors import UnknownFormat
from translate.logs import Layout, Settings, outputs
from translate.logs.containers import of_records
from translate.logs.ends import several
from translate.logs.layout import Counts
from translate.logs.places import RECORD, InputFault, MissingExtra, Place, is_compressed, reading, state, unpacked
from translate.logs.plan import check
from translate.logs.recognise import Found, NotRecognised, of_head, recognise
from translate.logs.rejects import Rejects
from translate.logs.stream import Reject
from translate.logs.task import convert_into, convert_open
from translate.logs.work import Task
from translate.recognise import what

from ._files import STANDARD, Input, Output
from ._status import InputError, Status, UsageError, explain, one_line

_HEAD = 1 << 20


def holds_many(path: str, src: str) -> bool:
    """Whether a file holds more than one plain stream: records, several streams, or what is compressed."""
    if not os.path.isfile(path):
        return False
    place = Place(path, os.path.basename(path))
    # what cannot be read, or is not known, is told of where it is converted
    with suppress(InputFault, OSError, UnknownFormat), reading(place) as file:
        if is_compressed(place):
            return True
        try:
            found = recognise(place) if src == "auto" else Found(src, Layout())
        except NotRecognised as error:
            # what it is, is said by what knows logs
            return str(error) != what(file.read(_HEAD))
        pieces = iter(lambda: file.read(_HEAD), b"")
        return found.layout.container != "streams" or several(pieces, Settings(found.format, found.format))
    return False


def first(source: Input) -> bytes:
    """The beginning of an input, as much as tells what it is: of JSON a line at least. No more is waited for."""
    head = b""
    while len(head) < _HEAD and (piece := next(source, b"")):
        head += piece
        if head.strip() and (not head.lstrip().startswith((b"{", b"[")) or b"\n" in head.lstrip()):
            break
    return head


def convert(args: Namespace, layout: Layout | None, settings: Settings, source: Input, head: bytes) -> Status:
    """Convert all that one input holds; ``head`` is what was read of it. A stream that fails is told of, and others go
    on.
    """
    counts = Counts()
    with (
        Output(args.output, source) as target,
        _report(args, source, target, counts),
        _rejects(args, source) as rejects,
        _opened(source, head) as (file, begin),
    ):

        def reject(found: Reject) -> None:
            print(_told(source.name, found), file=sys.stderr)
            if rejects is not None:
                rejects.add(found)

        task = _task(args, layout, settings, source, begin)
        target.clear()
        if task.layout.container == "parquet":
            convert_into(task, counts, target, reject)
        else:
            convert_open(file, task, counts, target, reject)
    if args.verbose or (counts.rejected and not args.quiet):
        said = f"{counts.streams_in:,} streams in, {counts.converted:,} converted, {counts.rejected:,} rejected"
        print(f"{source.name}: {said}", file=sys.stderr)
    return Status.FAULT if counts.faults else Status.FAILED if counts.rejected else Status.FINE


def _task(args: Namespace, layout: Layout | None, settings: Settings, source: Input, head: bytes) -> Task:
    place = Place(source.name, source.name)
    is_file = args.file != STANDARD and os.path.isfile(args.file)
    if settings.clock is None:
        settings = replace(settings, clock=state(place).modified if is_file else time.time_ns() // 1_000_000)
    if layout is not None and layout.container == "records":
        layout = replace(layout, container=of_records(head))
    if not is_file and (head.startswith(b"PAR1") or (layout is not None and layout.container == "parquet")):
        raise UsageError("Parquet is read from a file alone, not from a pipe")
    if settings.src == "auto":
        found = recognise(place, layout) if is_file else of_head(head, layout)
        if not args.quiet:
            print(f"{source.name}: {found}", file=sys.stderr)
        settings, layout = replace(settings, src=found.format), found.layout
    check(layout or Layout(), settings, source.name)
    return Task(place, "", layout or Layout(), settings, limit=args.limit, record=args.max_record or RECORD)


def _told(name: str, reject: Reject) -> str:
    at = ", ".join(f"{what} {number}" for what, number in reject.at.items())
    stream = "a stream" if reject.stream is None else f"the stream {reject.stream!r}"
    return one_line(f"{name}: {stream} at {at} is rejected: {explain(reject.error)}")


@contextmanager
def _opened(source: Input, head: bytes) -> Iterator[tuple[BinaryIO, bytes]]:
    """An input whose beginning was read, its compression undone, and its beginning."""
    raw = cast(BinaryIO, io.BufferedReader(_Rest(head, source), _HEAD))
    try:
        with unpacked(raw, head) as file:
            if not is_compressed(head):
                yield file, head
                return
            inner = io.BufferedReader(_Rest(b"", iter(lambda: file.read(_HEAD), b"")), _HEAD)
            yield cast(BinaryIO, inner), inner.peek(_HEAD)
    except InputFault as fault:
        raise InputError(f"cannot read {source.name}: {fault}") from None
    except MissingExtra as error:
        raise UsageError(str(error)) from None


class _Rest(io.RawIOBase):
    """What was read of an input, and the rest of it."""

    def __init__(self, head: bytes, source: Iterator[bytes]) -> None:
        self._data, self._source = head, source

    def readable(self) -> bool:
        """As of a file."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """As of a file."""
        data = self._data or next(self._source, b"")
        size = min(len(data), len(buffer))
        buffer[:size], self._data = data[:size], data[size:]
        return size


@contextmanager
def _report(args: Namespace, source: Input, target: Output, counts: Counts) -> Iterator[None]:
    """The counts, as the last line of a report, if one is asked for."""
    if args.report is None:
        yield
        return
    with Output(args.report, source, target, errors=True) as report:
        report.clear()
        yield
        report.write(jsontext.dumps_strict({"kind": "summary", "counts": counts.as_json()}) + b"\n")


@contextmanager
def _rejects(args: Namespace, source: Input) -> Iterator[Rejects | None]:
    """Where streams that fail are put, if that is asked for."""
    if args.rejects is None:
        yield None
        return
    rejects = Rejects(args.rejects, source.name)
    try:
        yield rejects
        rejects.close()
        if rejects.count:
            outputs.commit(args.rejects)
    except BaseException:
        rejects.discard()
        raise
