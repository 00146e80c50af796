"""JSON lines of records: a record holds a stream, or one unit of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

from .. import jsontext
from ..errors import DecodeError, LimitExceeded, TranslateError
from .bodies import opened, text_of
from .grouping import Group, Grouping, Row, is_nan
from .layout import Counts, Layout, Settings, Unaccounted, get, put
from .places import Line, Long
from .selection import selection
from .stream import Content, Reject, Whole, end_of, whole
from .units import convert_units
from .wide import WIDE, Made, Pieces, Wide, read

Lines = Iterable[tuple[int, Line]]
"""Offset and bytes of each line that is not blank; one that is too long is on disk."""


def convert_streams(
    lines: Lines, layout: Layout, settings: Settings, counts: Counts, reject: Callable[[Reject], None]
) -> Iterator[bytes]:
    """Records that hold a stream each: the lines they become. A stream that is broken is rejected with its record."""
    chosen = selection(settings.where)
    for offset, line in lines:
        counts.streams_in += 1
        counts.records_in += 1
        stream: Any = None
        try:
            wide = _record(_short(line))
            record = wide.value
            if chosen is not None and not chosen(record):
                counts.leave_out(stream=True)
                continue
            stream = _optional(record, layout.id)
            done = converted(wide.of(content(record, layout.field)), settings, counts)
            record = put(record, layout.field, wide.hold(done) if isinstance(done, Made) else done)
        except Exception as error:
            # of whatever kind: a fault of a codec is one of its stream, and the others go on
            counts.reject(error, 1)
            reject(Reject(error, kept(line), {"offset": offset}, stream))
        else:
            counts.records_converted += 1
            yield from wide.written(record)
            yield b"\n"


def convert_units_of(
    lines: Lines,
    layout: Layout,
    settings: Settings,
    counts: Counts,
    reject: Callable[[Reject], None],
    grouping: Grouping,
    limit: int | None = None,
) -> Iterator[bytes]:
    """Records that hold a unit each, of streams in any order: the lines they become, stream by stream.

    ``limit``: streams at most; the records of others are not counted.
    """
    left, chosen = 0, selection(settings.where)
    for offset, line in lines:
        counts.records_in += 1
        try:
            record = bytes(_short(line))
            parsed, plain = _parsed(record)
            if chosen is not None and not chosen(parsed):
                counts.leave_out()
                continue
            key = _key(parsed, layout)
        except TranslateError as error:
            # it belongs to no stream that is known
            counts.streams_in += 1
            counts.reject(error, 1)
            reject(Reject(error, kept(line), {"offset": offset}))
        else:
            grouping.add(Row(*key, offset, record, parsed if plain else None))
            left += 1
    groups = grouping.groups()
    for group in islice(groups, limit):
        left -= len(group.rows)
        yield from _group(group, layout, settings, counts, reject)
    if limit is not None:
        counts.records_in -= left
    elif left:
        raise Unaccounted(f"{left} records were taken, and are of no stream")


def _group(
    group: Group, layout: Layout, settings: Settings, counts: Counts, reject: Callable[[Reject], None]
) -> Iterator[bytes]:
    counts.streams_in += 1
    try:
        ordered = group.in_order(layout)
        records = [row.record or _parsed(row.payload)[0] for row in ordered.rows]
        done = convert_units([content(record, layout.field) for record in records], settings, counts)
    except Exception as error:
        counts.reject(error, len(group.rows))
        whole_group = Whole(*(row.payload + b"\n" for row in group.rows))
        at = {"offset": group.rows[0].place, "records": len(group.rows)}
        reject(Reject(error, whole_group, at, group.id))
        return
    counts.records_converted += len(records)
    numbers = layout.numbers if ordered.counted else None
    write = jsontext.dumps if any(row.record is None for row in ordered.rows) else jsontext.dumps_plain
    for number, (source, unit) in enumerate(done):
        record = put(records[source], layout.field, unit)
        if numbers is not None:
            was = get(record, numbers)
            record = put(record, numbers, str(number) if isinstance(was, str) else number)
        yield write(record) + b"\n"


def kept(line: Line) -> Content:
    """A line, as a reject keeps it."""
    return line if isinstance(line, Long) else Whole(line)


def _short(line: Line) -> bytes | bytearray:
    if isinstance(line, Long):
        raise LimitExceeded("record", line.limit, what=f"the record has {line.size} bytes")
    return line


def _record(line: bytes | bytearray) -> Wide:
    # text within text is full of brackets, which are counted where they are some
    wide = Wide(line, len(line))
    _check(wide.value, line)
    return wide


def _parsed(line: bytes) -> tuple[dict[str, Any], bool]:
    """A record whose long strings are strings, too; and whether its numbers are plain."""
    record, plain = read(line, len(line))
    _check(record, line)
    return record, plain


def _check(record: Any, line: bytes | bytearray) -> None:
    if not isinstance(record, dict):
        raise DecodeError("a record is an object", expected="an object")
    if line.count(b"[") + line.count(b"{") > jsontext.NESTING:
        _check_nesting(record)


def _check_nesting(record: dict[str, Any]) -> None:
    level: list[Any] = [record]
    for _ in range(jsontext.NESTING):
        members = chain.from_iterable(each.values() if isinstance(each, dict) else each for each in level)
        level = [each for each in members if isinstance(each, (dict, list))]
        if not level:
            return
    raise LimitExceeded("nesting", jsontext.NESTING)


def _optional(record: dict[str, Any], path: str | None) -> Any:
    try:
        return None if path is None else get(record, path)
    except KeyError:
        return None


def converted(stream: Any, settings: Settings, counts: Counts) -> Any:
    """What becomes of the stream in a record, however it is packed. Raises :class:`TranslateError`."""
    if isinstance(stream, list) and all(isinstance(piece, str) for piece in stream):
        stream = _joined(stream, end_of(settings.src).decode())
    if not isinstance(stream, (str, bytes)):
        return whole(stream, settings, counts)
    body, pack = opened(stream)
    done = whole(body, settings, counts)
    if pack is None and isinstance(stream, str):
        return done
    data = done.encode() if isinstance(done, str) else jsontext.dumps(done)
    return data if pack is None else pack(data)


def _joined(pieces: list[str], end: str) -> str | Pieces | list[str]:
    """Pieces of a stream, cut anywhere, as one; they have the ends of units in them, where units need have none."""
    if sum(map(len, pieces)) > WIDE:
        long = Pieces(pieces)
        return long if long.ends(end) else pieces
    joined = "".join(map(text_of, pieces))
    return joined if end in joined.replace("\r\n", "\n").rstrip("\n") else pieces


def content(record: dict[str, Any], path: str) -> Any:
    """What a record has at a path, that may be a stream, or a unit. Raises :class:`DecodeError`."""
    try:
        found = get(record, path)
    except KeyError:
        raise DecodeError(f"the record lacks the member {path!r}") from None
    if not isinstance(found, (str, bytes, list, dict)):
        raise DecodeError(f"the member {path!r} holds no stream", expected="text, a list of units, or a unit")
    return found


def _key(record: dict[str, Any], layout: Layout) -> tuple[Any, Any]:
    """The id and the order of a record. One without an order spoils its stream: see :meth:`Group.in_order`."""
    id, order = _optional(record, layout.id), _optional(record, layout.order)
    if not isinstance(id, (str, int)) or isinstance(id, bool):
        raise DecodeError(f"the record has no id at {layout.id!r}", expected="text or an integer")
    ordered = isinstance(order, (str, int, float)) and not isinstance(order, bool) and not is_nan(order)
    return id, order if ordered else None
